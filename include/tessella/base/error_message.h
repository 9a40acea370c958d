// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_error_message_h
#define tessella_base_error_message_h

#include <exception>
#include <functional>
#include <string>

namespace Tessella
{
  /**
   * Message of an exception, in one line. For deal.II's exceptions this is the
   * sentence alone, without the source location and the stack trace that their
   * what() contains. If there is no such sentence, the whole what() is
   * returned.
   */
  std::string
  error_message(const std::exception &exception);

  /// Calls @p work and returns the message of the exception that it throws, or
  /// an empty text if it throws none.
  std::string
  error_message_of(const std::function<void()> &work);
} // namespace Tessella

#endif

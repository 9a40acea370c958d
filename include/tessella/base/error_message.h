// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_error_message_h
#define tessella_base_error_message_h

#include <exception>
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
} // namespace Tessella

#endif

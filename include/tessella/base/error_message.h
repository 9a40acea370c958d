// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_error_message_h
#define tessella_base_error_message_h

#include <exception>
#include <string>

namespace Tessella
{
  /**
   * What an exception says, in one line. Of deal.II's exceptions the sentence
   * alone, without the place in the source and the stack trace that their
   * what() contains; all of that where there is no sentence.
   */
  std::string
  error_message(const std::exception &exception);
} // namespace Tessella

#endif

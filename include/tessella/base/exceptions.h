// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_exceptions_h
#define tessella_base_exceptions_h

#include <deal.II/base/exceptions.h>

#include <string>

namespace Tessella
{
  /**
   * A mistake of the user: a parameter, a file, an expression. The one argument
   * is a full sentence that says what is wrong and what to change; programs
   * print it alone, without the place in the source that found it:
   *
   *     AssertThrow(n > 0, ExcUserInput("The number of polytopes must be "
   *                                     "positive, but is " + ... + "."));
   *
   * Exceptions with other arguments are declared next to what throws them.
   */
  DeclException1(ExcUserInput, std::string, << arg1);
} // namespace Tessella

#endif

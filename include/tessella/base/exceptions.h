// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_exceptions_h
#define tessella_base_exceptions_h

#include <deal.II/base/exceptions.h>

#include <string>

namespace Tessella
{
  /**
   * A mistake of the user, for example in a parameter, a file or an expression.
   * The only argument is a full sentence that says what is wrong and what to
   * change. Programs print this sentence alone, without the source location of
   * the check:
   *
   *     AssertThrow(n > 0, ExcUserInput("The number of polytopes must be "
   *                                     "positive, but is " + ... + "."));
   *
   * Exceptions with other arguments are declared next to the functions that
   * throw them.
   */
  DeclException1(ExcUserInput, std::string, << arg1);
} // namespace Tessella

#endif

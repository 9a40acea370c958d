// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_program_version_h
#define tessella_applications_common_program_version_h

#include <string>

namespace Tessella
{
  namespace Application
  {
    /// Lines about the version of the program @p name: Tessella with the commit
    /// of its repository, if it was built in a clone, deal.II, Trilinos, MPI,
    /// CUDA and the compiler. Needs no MPI and no device.
    std::string
    version_text(const std::string &name);
  } // namespace Application
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_information_h
#define tessella_base_information_h

#include <string>

namespace Tessella
{
  /// One line for reports and logs: versions of Tessella and deal.II, build
  /// type, and the host kernels that this library contains.
  std::string
  library_information();
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/quadrature/quadrature_compression.h>

namespace Tessella
{
  std::string
  name(const QuadratureCompression compression)
  {
    switch (compression)
      {
        case QuadratureCompression::always:
          return "always";
        case QuadratureCompression::automatic:
          return "automatic";
        default:
          return "never";
      }
  }
} // namespace Tessella

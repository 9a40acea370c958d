// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/config.h>

#include <tessella/base/config.h>
#include <tessella/base/information.h>

namespace Tessella
{
  std::string
  library_information()
  {
    std::string text = "Tessella " TESSELLA_VERSION ", deal.II " //
      DEAL_II_PACKAGE_VERSION;
#ifdef DEBUG
    text += ", Debug";
#else
    text += ", Release";
#endif
    text += ", host kernels: plain";
#ifdef TESSELLA_HAVE_AVX2
    text += ", AVX2";
#endif
#ifdef TESSELLA_HAVE_AVX512
    text += ", AVX-512";
#endif
#ifdef TESSELLA_HAVE_CUDA
    text += ", CUDA";
#endif
    return text;
  }
} // namespace Tessella

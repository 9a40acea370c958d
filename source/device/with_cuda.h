// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_device_with_cuda_h
#define tessella_source_device_with_cuda_h

#include <tessella/base/config.h>

namespace Tessella
{
  namespace internal
  {
    /// Whether the library is built with its CUDA backend, for `if constexpr`:
    /// in a build without it, the branch is compiled, but the functions of
    /// cuda/ that it calls need no definitions.
#ifdef TESSELLA_HAVE_CUDA
    inline constexpr bool with_cuda = true;
#else
    inline constexpr bool with_cuda = false;
#endif
  } // namespace internal
} // namespace Tessella

#endif

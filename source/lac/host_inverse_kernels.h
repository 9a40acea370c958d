// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_host_inverse_kernels_h
#define tessella_source_lac_host_inverse_kernels_h

#include <tessella/base/config.h>

// Interface of the SIMD kernel that inverts blocks. Each translation unit is
// compiled for one instruction set, and this header and the kernel use plain
// types and no library.

namespace Tessella
{
  namespace internal
  {
    namespace HostInverseKernels
    {
      /// The distance of rows of a matrix is a multiple of this length.
      constexpr unsigned int padding = 8;

      /**
       * Inverts a matrix of n rows in place, with row pivoting; returns false
       * if it is singular. Pivots below the rounding error of the largest entry
       * count as zero. Entries from n on to the end of each row, @p pitch, must
       * be zero. @p swaps has room for n numbers. Operations on an entry are
       * the same for all instruction sets, none of them fused, so that results
       * have the same bits.
       */
      typedef bool (*Invert)(unsigned int  n,
                             unsigned int  pitch,
                             double       *a,
                             unsigned int *swaps);

      Invert
      plain();

#ifdef TESSELLA_HAVE_AVX2
      Invert
      avx2();
#endif

#ifdef TESSELLA_HAVE_AVX512
      Invert
      avx512();
#endif
    } // namespace HostInverseKernels
  }   // namespace internal
} // namespace Tessella

#endif

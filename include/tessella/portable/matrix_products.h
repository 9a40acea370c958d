// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_portable_matrix_products_h
#define tessella_portable_matrix_products_h

#include <tessella/portable/host_device.h>

// Products of small matrices of doubles that a warp of a device computes.

#ifdef __CUDACC__

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Products of matrices of 8 x 4 and 4 x 8 entries, one of which each
      /// lane has, on the matrix units if the device has them for doubles.
      struct MatrixProducts
      {
        /// c += a b.
        __device__ __forceinline__ static void
        add(double (&c)[2], const double a, const double b)
        {
#  if __CUDA_ARCH__ >= 800
          asm(
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
            "{%0,%1}, {%2}, {%3}, {%0,%1};"
            : "+d"(c[0]), "+d"(c[1])
            : "d"(a), "d"(b));
#  else
          const unsigned int lane = threadIdx.x & 31u;
          for (unsigned int k = 0; k < 4; ++k)
            {
              const double row = __shfl_sync(~0u, a, (lane & ~3u) + k);
              for (unsigned int e = 0; e < 2; ++e)
                c[e] = fma(row,
                           __shfl_sync(~0u, b, 4 * (2 * (lane & 3u) + e) + k),
                           c[e]);
            }
#  endif
        }

        /// Two products with the same second matrix, which have the full rate
        /// of the matrix units of some devices.
        __device__ __forceinline__ static void
        add(double (&c0)[2],
            double (&c1)[2],
            const double a0,
            const double a1,
            const double b)
        {
#  if __CUDA_ARCH__ >= 900
          asm(
            "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
            "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
            : "+d"(c0[0]), "+d"(c0[1]), "+d"(c1[0]), "+d"(c1[1])
            : "d"(a0), "d"(a1), "d"(b));
#  else
          add(c0, a0, b);
          add(c1, a1, b);
#  endif
        }

        /// n products with the same second matrix; operand(i) is the first one.
        template <int n, typename Operand>
        __device__ __forceinline__ static void
        add_all(double (&c)[n][2], const Operand &operand, const double b)
        {
          TESSELLA_UNROLL_ON_DEVICE
          for (int i = 0; i + 1 < n; i += 2)
            add(c[i], c[i + 1], operand(i), operand(i + 1), b);
          if (n % 2 == 1)
            add(c[n - 1], operand(n - 1), b);
        }
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

#endif

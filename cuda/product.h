// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_cuda_product_h
#define tessella_cuda_product_h

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// C += A B of a warp, C 8 x 8, A 8 x 4, B 4 x 8. Lane l holds A(l/4,
      /// l%4), B(l%4, l/4) and C(l/4, 2(l%4) + {0, 1}).
      __device__ inline void
      product(double (&c)[2], const double a, const double b)
      {
#if __CUDA_ARCH__ >= 800
        asm(
          "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
          "{%0,%1}, {%2}, {%3}, {%0,%1};"
          : "+d"(c[0]), "+d"(c[1])
          : "d"(a), "d"(b));
#else
        // The same product in the same layout, by shuffles.
        const unsigned int lane = threadIdx.x & 31u;
        for (unsigned int k = 0; k < 4; ++k)
          {
            const double row = __shfl_sync(~0u, a, (lane & ~3u) + k);
            for (unsigned int s = 0; s < 2; ++s)
              c[s] = fma(row,
                         __shfl_sync(~0u, b, (2 * (lane & 3u) + s) * 4 + k),
                         c[s]);
          }
#endif
      }

#if __CUDA_ARCH__ >= 900
      /// The same for two tiles of rows at once: on these cards the matrix
      /// units reach their full rate with 16 rows only.
      __device__ inline void
      product(double (&c0)[2],
              double (&c1)[2],
              const double a0,
              const double a1,
              const double b)
      {
        asm(
          "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
          "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
          : "+d"(c0[0]), "+d"(c0[1]), "+d"(c1[0]), "+d"(c1[1])
          : "d"(a0), "d"(a1), "d"(b));
      }
#endif
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

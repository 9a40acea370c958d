// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_cuda_product_h
#define tessella_cuda_product_h

// Products of small matrices by one warp.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * C += A B of a warp for TM x TN tiles of 8 x 8, depth 4: lane l holds
       * A(8 t + l/4, l%4), B(l%4, 8 u + l/4) and C(8 t + l/4, 8 u + 2(l%4) +
       * {0, 1}). wanted(t, u) tells which tiles are needed, the same for all
       * lanes. On matrix units where the device and the number type have them,
       * else by shuffles and fused multiply-adds.
       */
      template <int TM, int TN, int stride, typename Number>
      struct WarpProduct
      {
        template <typename Wanted>
        __device__ static void
        add(Number (&c)[TM][stride][2],
            const Number (&a)[TM],
            const Number (&b)[TN],
            const Wanted &wanted)
        {
          const unsigned int lane = threadIdx.x & 31u;
          Number             row[TM][4];
#pragma unroll
          for (int t = 0; t < TM; ++t)
#pragma unroll
            for (int k = 0; k < 4; ++k)
              row[t][k] = __shfl_sync(~0u, a[t], (lane & ~3u) + k);
#pragma unroll
          for (int u = 0; u < TN; ++u)
#pragma unroll
            for (int s = 0; s < 2; ++s)
              {
                Number column[4];
#pragma unroll
                for (int k = 0; k < 4; ++k)
                  column[k] =
                    __shfl_sync(~0u, b[u], (2 * (lane & 3u) + s) * 4 + k);
#pragma unroll
                for (int t = 0; t < TM; ++t)
                  if (wanted(t, u))
#pragma unroll
                    for (int k = 0; k < 4; ++k)
                      c[t][u][s] += row[t][k] * column[k];
              }
        }
      };

#if __CUDA_ARCH__ >= 800
      template <int TM, int TN, int stride>
      struct WarpProduct<TM, TN, stride, double>
      {
        template <typename Wanted>
        __device__ static void
        add(double (&c)[TM][stride][2],
            const double (&a)[TM],
            const double (&b)[TN],
            const Wanted &wanted)
        {
#  if __CUDA_ARCH__ >= 900
          // These cards reach their full rate with 16 rows only.
          constexpr int paired = TM / 2 * 2;
#  else
          constexpr int paired = 0;
#  endif
#  pragma unroll
          for (int u = 0; u < TN; ++u)
            {
#  if __CUDA_ARCH__ >= 900
#    pragma unroll
              for (int t = 0; t < paired; t += 2)
                if (wanted(t, u))
                  asm(
                    "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
                    "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                    : "+d"(c[t][u][0]),
                      "+d"(c[t][u][1]),
                      "+d"(c[t + 1][u][0]),
                      "+d"(c[t + 1][u][1])
                    : "d"(a[t]), "d"(a[t + 1]), "d"(b[u]));
#  endif
#  pragma unroll
              for (int t = paired; t < TM; ++t)
                if (wanted(t, u))
                  asm(
                    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
                    "{%0,%1}, {%2}, {%3}, {%0,%1};"
                    : "+d"(c[t][u][0]), "+d"(c[t][u][1])
                    : "d"(a[t]), "d"(b[u]));
            }
        }
      };
#endif
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

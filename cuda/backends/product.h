// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_product_h
#define tessella_cuda_backends_product_h

#include <cstdint>
#include <type_traits>

// Products of small matrices that a warp computes.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Pairs of tiles, out of TM x TN, that are computed together by products
       * of 16 rows, which some devices need for their full rate in double
       * precision. A pair consists of two tiles of a column or, in an odd last
       * row, of two tiles of that row, which are then computed transposed. A
       * tile of the last row belongs to a single pair, since the operands of a
       * pair lie in adjacent registers.
       *
       * needed: a symmetric block needs the tiles of the last row from this
       * column on. They are not paired with those before; the first of them
       * stays single if their number is odd. -1: no tile is transposed. below:
       * all pairs below the diagonal are transposed, so that a lane holds the
       * same entries below the diagonal as above.
       */
      template <int TM, int TN, typename Number, int needed, bool below = false>
      struct PairedTiles
      {
#if __CUDA_ARCH__ >= 900
        static constexpr bool exist = std::is_same<Number, double>::value;
#else
        static constexpr bool exist = false;
#endif
        static constexpr int rows =
          exist ? TM / 2 * 2 : 0; ///< number of rows in pairs

        /// Column with which column u of the last row forms a pair; u if it is
        /// single.
        __device__ static constexpr int
        partner(const int u)
        {
          const int begin = u < needed ? 0 : needed + (TN - needed) % 2,
                    end   = u < needed ? needed : TN;
          const int v     = u < begin ? u : begin + ((u - begin) ^ 1);
          return v < end ? v : u;
        }

        __device__ static constexpr bool
        transposed(const int t, const int u)
        {
          return exist && ((needed >= 0 && t == rows && partner(u) != u) ||
                           (below && t < rows && u < t / 2 * 2));
        }
      };

      /**
       * C += A B for TM x TN tiles of 8 x 8 entries and depth 4, computed by a
       * warp: lane l holds A(8 t + l/4, l%4), B(l%4, 8 u + l/4) and C(8 t +
       * l/4, 8 u + 2(l%4) + {0, 1}). stride: number of columns of tiles of C.
       * wanted(t, u) returns whether a tile is needed, the same for all lanes;
       * needed: see PairedTiles. The products run on the matrix units if the
       * device has them for the number type, else by shuffles and fused
       * multiply-adds.
       */
      template <int TM, int TN, int stride, typename Number>
      struct WarpProduct
      {
        template <int needed = -1, bool below = false, typename Wanted>
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
        template <int needed = -1, bool below = false, typename Wanted>
        __device__ static void
        add(double (&c)[TM][stride][2],
            const double (&a)[TM],
            const double (&b)[TN],
            const Wanted &wanted)
        {
          using Pairs = PairedTiles<TM, stride, double, needed, below>;
          // Index of the last row, which may not belong to a pair of rows.
          constexpr int last = TM - 1;
#  pragma unroll
          for (int u = 0; u < TN; ++u)
#  pragma unroll
            for (int t = 0; t < Pairs::rows; t += 2)
              if (Pairs::transposed(t, u))
                {
                  // Pairs contain both tiles of each row.
                  const int s = t + u % 2, v = u / 2 * 2;
                  if (wanted(t, u))
                    product(c[s][v], c[s][v + 1], b[v], b[v + 1], a[s]);
                }
              else if (wanted(t, u))
                product(c[t][u], c[t + 1][u], a[t], a[t + 1], b[u]);
#  pragma unroll
          for (int u = 0; u < TN; ++u)
            {
#  pragma unroll
              for (int t = Pairs::rows; t < TM; ++t)
                {
                  if (t < last || !Pairs::transposed(t, u))
                    {
                      if (wanted(t, u))
                        product(c[t][u], a[t], b[u]);
                      continue;
                    }
                  const int v = Pairs::partner(u);
                  if (v >= TN)
                    {
                      if (wanted(t, u))
                        product(c[t][u], b[u], a[t]);
                    }
                  else if (u < v && (wanted(t, u) || wanted(t, v)))
                    product(c[t][u],
                            c[t][v < TN ? v : u],
                            b[u],
                            b[v < TN ? v : u],
                            a[t]);
                }
            }
        }

        __device__ static void
        product(double (&c)[2], const double a, const double b)
        {
          asm(
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
            "{%0,%1}, {%2}, {%3}, {%0,%1};"
            : "+d"(c[0]), "+d"(c[1])
            : "d"(a), "d"(b));
        }

        // Product of 16 rows.
        __device__ static void
        product(double (&c0)[2],
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
          product(c0, a0, b);
          product(c1, a1, b);
#  endif
        }
      };
#endif

      /**
       * Symmetric sums of products A B of T x T tiles, for which half of the
       * tiles suffices. T = 3: three products of 16 rows yield the tiles (0,
       * 0), (1, 0); (1, 1), (2, 1); (2, 2), (0, 2).
       */
      template <int T, typename Number, bool wanted>
      struct SymmetricSums
      {
        static constexpr bool exist =
          wanted && T == 3 && PairedTiles<T, T, Number, 0>::exist;

        Number c[exist ? T : 1][2][2];

        __device__ void
        clear()
        {
          if constexpr (exist)
#pragma unroll
            for (int u = 0; u < T; ++u)
              c[u][0][0] = c[u][0][1] = c[u][1][0] = c[u][1][1] = 0.;
        }

        __device__ void
        add(const Number (&a)[T], const Number (&b)[T])
        {
          if constexpr (exist)
#pragma unroll
            for (int u = 0; u < T; ++u)
              WarpProduct<T, T, T, Number>::product(
                c[u][0], c[u][1], a[u], a[(u + 1) % T], b[u]);
        }

        /// Position of an entry in the output of store().
        __device__ static constexpr unsigned int
        entry(const unsigned int i, const unsigned int j)
        {
          return i * (8 * T + 1) + j;
        }

        /// Writes all entries to shared memory.
        __device__ void
        store(Number *to) const
        {
          const unsigned int lane = threadIdx.x & 31u;
          __syncwarp();
#pragma unroll
          for (int u = 0; u < T; ++u)
#pragma unroll
            for (int v = 0; v < 2; ++v)
#pragma unroll
              for (int s = 0; s < 2; ++s)
                {
                  const unsigned int i = 8 * ((u + v) % T) + (lane >> 2),
                                     j = 8 * u + 2 * (lane & 3u) + s;
                  to[entry(i, j)]      = c[u][v][s];
                  if (v == 1)
                    to[entry(j, i)] = c[u][v][s];
                }
          __syncwarp();
        }
      };

      /// True if products in single precision run on the matrix units, whose
      /// operands have 11 bits.
#if __CUDA_ARCH__ >= 800
      template <typename Number>
      constexpr bool split_operands = std::is_same<Number, float>::value;
#else
      template <typename Number>
      constexpr bool split_operands = false;
#endif

      /**
       * Sums of the products of TM x TN tiles, in the layout of WarpProduct,
       * except that a lane holds C(8 t + 2(l%4) + {0, 1}, 8 u + l/4) of
       * transposed tiles; needed, below: see PairedTiles.
       */
      template <int TM,
                int TN,
                typename Number,
                int  needed = -1,
                bool below  = false,
                bool split  = split_operands<Number>>
      struct WarpSums
      {
        Number c[TM][TN][2];

        __device__ static constexpr bool
        transposed(const int t, const int u)
        {
          return PairedTiles<TM, TN, Number, needed, below>::transposed(t, u);
        }

        __device__ void
        clear()
        {
#pragma unroll
          for (int t = 0; t < TM; ++t)
#pragma unroll
            for (int u = 0; u < TN; ++u)
              c[t][u][0] = c[t][u][1] = 0.;
        }

        /// Adds products to the first n columns of tiles.
        template <int n, typename Wanted>
        __device__ void
        add(const Number (&a)[TM], const Number (&b)[n], const Wanted &wanted)
        {
          WarpProduct<TM, n, TN, Number>::template add<needed, below>(c,
                                                                      a,
                                                                      b,
                                                                      wanted);
        }

        /// Adds sums that are stored separately to c; must be called before
        /// they contain many summands.
        __device__ void
        collect()
        {}
      };

#if __CUDA_ARCH__ >= 800
      /**
       * Single precision on matrix units. Operands are split into a high and a
       * low part of 11 bits each, and a product is the sum of high times high,
       * high times low and low times high. If the number of tiles is odd, the
       * second half of the last tile's 16 rows processes the low part of A.
       *
       * The units truncate excess bits of sums towards zero. Sums over a small
       * number of points are therefore kept separately, and collect() adds them
       * to the others with rounding.
       */
      template <int TM, int TN, int needed, bool below>
      struct WarpSums<TM, TN, float, needed, below, true>
      {
        float c[TM][TN][2];

        __device__ static constexpr bool
        transposed(const int, const int)
        {
          return false;
        }

        __device__ void
        clear()
        {
#  pragma unroll
          for (int t = 0; t < rows; ++t)
#  pragma unroll
            for (int u = 0; u < TN; ++u)
              {
                part[t][u][0] = part[t][u][1] = 0.f;
                if (t < TM)
                  c[t < TM ? t : 0][u][0] = c[t < TM ? t : 0][u][1] = 0.f;
              }
        }

        template <int n, typename Wanted>
        __device__ void
        add(const float (&a)[TM], const float (&b)[n], const Wanted &wanted)
        {
          Parts A[TM];
#  pragma unroll
          for (int t = 0; t < TM; ++t)
            A[t] = split(a[t]);
#  pragma unroll
          for (int u = 0; u < n; ++u)
            {
              const Parts B = split(b[u]);
#  pragma unroll
              for (int t = 0; t + 1 < TM; t += 2)
                if (wanted(t, u))
                  {
                    pair(t, u, low(A, t), B.high);
                    pair(t, u, high(A, t), high(A, t), B.high, B.low);
                  }
              constexpr int t = TM - 1;
              if (TM % 2 == 1 && wanted(t, u))
                pair(t, u, both(A[t]), both(A[t]), B.high, B.low);
            }
        }

        /// Adds two products, a b + c d, at less cost than two calls: with one
        /// part of an operand at a time, depth 8 holds both products. The
        /// product of low parts is omitted.
        template <int n, typename Wanted>
        __device__ void
        add(const float (&a)[TM],
            const float (&b)[n],
            const float (&c)[TM],
            const float (&d)[n],
            const Wanted &wanted)
        {
          Parts A[TM], C[TM];
#  pragma unroll
          for (int t = 0; t < TM; ++t)
            {
              A[t] = split(a[t]);
              C[t] = split(c[t]);
            }
#  pragma unroll
          for (int u = 0; u < n; ++u)
            {
              const Parts B = split(b[u]), D = split(d[u]);
#  pragma unroll
              for (int t = 0; t + 1 < TM; t += 2)
                if (wanted(t, u))
                  {
                    pair(t, u, low(A, t), low(C, t), B.high, D.high);
                    pair(t, u, high(A, t), high(C, t), B.low, D.low);
                    pair(t, u, high(A, t), high(C, t), B.high, D.high);
                  }
              constexpr int t = TM - 1;
              if (TM % 2 == 1 && wanted(t, u))
                {
                  pair(t, u, both(A[t]), both(C[t]), B.low, D.low);
                  pair(t, u, both(A[t]), both(C[t]), B.high, D.high);
                }
            }
        }

        __device__ void
        collect()
        {
#  pragma unroll
          for (int t = 0; t < rows; ++t)
#  pragma unroll
            for (int u = 0; u < TN; ++u)
#  pragma unroll
              for (int s = 0; s < 2; ++s)
                {
                  c[t < TM ? t : TM - 1][u][s] += part[t][u][s];
                  part[t][u][s] = 0.f;
                }
        }

      private:
        static constexpr int rows = TM + TM % 2;

        float part[rows][TN][2];

        struct Parts
        {
          std::uint32_t high, low;
        };

        __device__ static Parts
        split(const float x)
        {
          const std::uint32_t high = __float_as_uint(x) & 0xffffe000u;
          return {high, __float_as_uint(x - __uint_as_float(high))};
        }

        // Rows of two tiles: one part of tiles t and t + 1, or both parts of a
        // tile.
        struct Rows
        {
          std::uint32_t first, second;
        };

        __device__ __forceinline__ static Rows
        low(const Parts (&a)[TM], const int t)
        {
          return {a[t].low, a[t + 1].low};
        }

        __device__ __forceinline__ static Rows
        high(const Parts (&a)[TM], const int t)
        {
          return {a[t].high, a[t + 1].high};
        }

        __device__ __forceinline__ static Rows
        both(const Parts &a)
        {
          return {a.high, a.low};
        }

        // Adds to tiles t and t + 1 of column u, with depth 4 or 8.
        __device__ void
        pair(const int t, const int u, const Rows a, const std::uint32_t b)
        {
          float(&c0)[2] = part[t][u];
          float(&c1)[2] = part[t + 1 < rows ? t + 1 : t][u];
          asm(
            "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 "
            "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
            : "+f"(c0[0]), "+f"(c0[1]), "+f"(c1[0]), "+f"(c1[1])
            : "r"(a.first), "r"(a.second), "r"(b));
        }

        __device__ void
        pair(const int           t,
             const int           u,
             const Rows          a,
             const Rows          c,
             const std::uint32_t b,
             const std::uint32_t d)
        {
          float(&c0)[2] = part[t][u];
          float(&c1)[2] = part[t + 1 < rows ? t + 1 : t][u];
          asm(
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c0[0]), "+f"(c0[1]), "+f"(c1[0]), "+f"(c1[1])
            : "r"(a.first),
              "r"(a.second),
              "r"(c.first),
              "r"(c.second),
              "r"(b),
              "r"(d));
        }
      };
#endif
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

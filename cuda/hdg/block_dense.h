// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_block_dense_h
#define tessella_cuda_hdg_block_dense_h

#include "../backends/product.h"

// Dense matrices of up to some hundred rows, each processed by one thread
// block. They lie in shared memory or, if they are too large, in global memory.
// Storage is row by row; rows are padded with zeros to multiples of four. All
// threads of the block must call each function. Functions end without a barrier
// unless stated otherwise.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Index of the thread's warp. The shuffle tells the compiler that all
      /// threads of the warp have the same value. Otherwise it checks before
      /// each product that the warp is complete, since matrix units need all
      /// its threads.
      __device__ inline unsigned int
      this_warp()
      {
        return __shfl_sync(~0u, threadIdx.x / 32, 0);
      }

      /// Distance between rows of n values: a multiple of four such that the
      /// operands of a product lie in different banks of shared memory.
      __host__ __device__ constexpr unsigned int
      row_stride(const unsigned int n)
      {
        return (n + 3) / 4 % 2 == 1 ? (n + 3) / 4 * 4 : (n + 3) / 4 * 4 + 4;
      }

      /// n rounded up to a multiple of four.
      __host__ __device__ constexpr unsigned int
      padded(const unsigned int n)
      {
        return (n + 3) / 4 * 4;
      }

      /// Adds the products of tiles of a warp, see WarpProduct.
      template <int TM, int TN, typename Wanted>
      __device__ __forceinline__ void
      add_products(double (&c)[TM][TN][2],
                   const double (&a)[TM],
                   const double (&b)[TN],
                   const Wanted &wanted)
      {
        WarpProduct<TM, TN, TN, double>::add(c, a, b, wanted);
      }

      /// The same for all tiles.
      template <int TM, int TN>
      __device__ __forceinline__ void
      add_products(double (&c)[TM][TN][2],
                   const double (&a)[TM],
                   const double (&b)[TN])
      {
        add_products(c, a, b, [](const int, const int) { return true; });
      }

      /// Calls use(i, j, v) for the values v that the lane has of tiles whose
      /// first entry is (i0, j0).
      template <int TM, int TN, typename Use>
      __device__ __forceinline__ void
      visit_values(double (&c)[TM][TN][2],
                   const unsigned int i0,
                   const unsigned int j0,
                   const Use         &use)
      {
        const unsigned int lane = threadIdx.x & 31u, g = lane / 4, t = lane % 4;
#pragma unroll
        for (int h = 0; h < TM; ++h)
#pragma unroll
          for (int u = 0; u < TN; ++u)
#pragma unroll
            for (int s = 0; s < 2; ++s)
              use(i0 + 8 * h + g, j0 + 8 * u + 2 * t + s, c[h][u][s]);
      }

      /**
       * Calls store(i, j, sum over d < n_sums and k < K of a(d, i, k) b(d, j,
       * k)) for i < M, j < N. K: multiple of four. Tiles of 16 x 8 TN are
       * assigned to the warps in turn, beginning at the value of @p counter,
       * which must be the same for all threads. @p lower: tiles above the
       * diagonal may be left out.
       */
      template <int TN, typename A, typename B, typename Store>
      __device__ inline void
      block_products(const unsigned int n_sums,
                     const unsigned int M,
                     const unsigned int N,
                     const unsigned int K,
                     const A           &a,
                     const B           &b,
                     const Store       &store,
                     unsigned int      &counter,
                     const bool         lower = false)
      {
        const unsigned int lane = threadIdx.x & 31u, warp = this_warp(),
                           n_warps = blockDim.x / 32, g = lane / 4,
                           t = lane % 4;
        for (unsigned int i0 = 0; i0 < M; i0 += 16)
          for (unsigned int j0 = 0; j0 < N; j0 += 8 * TN)
            {
              if (lower && j0 > i0 + 15)
                break;
              const bool mine = counter == warp;
              counter         = counter + 1 == n_warps ? 0 : counter + 1;
              if (!mine)
                continue;
              double             c[2][TN][2] = {};
              const unsigned int row[2]      = {min(i0 + g, M - 1),
                                                min(i0 + 8 + g, M - 1)};
              unsigned int       column[TN];
#pragma unroll
              for (int u = 0; u < TN; ++u)
                column[u] = min(j0 + 8 * u + g, N - 1);
              for (unsigned int d = 0; d < n_sums; ++d)
#pragma unroll 2
                for (unsigned int k0 = 0; k0 < K; k0 += 4)
                  {
                    const unsigned int k = k0 + t;
                    const double left[2] = {a(d, row[0], k), a(d, row[1], k)};
                    double       right[TN];
#pragma unroll
                    for (int u = 0; u < TN; ++u)
                      right[u] = b(d, column[u], k);
                    add_products(c, left, right);
                  }
              // Results may overwrite operands of this warp.
              __syncwarp();
              visit_values(c,
                           i0,
                           j0,
                           [&](const unsigned int i,
                               const unsigned int j,
                               const double       v) {
                             if (i < M && j < N)
                               store(i, j, v);
                           });
            }
      }



      /// Calls store(i, j, sum over k < K of a(i, k) b(j, k)): block_products()
      /// with one sum.
      template <int TN, typename A, typename B, typename Store>
      __device__ inline void
      block_product(const unsigned int M,
                    const unsigned int N,
                    const unsigned int K,
                    const A           &a,
                    const B           &b,
                    const Store       &store,
                    unsigned int      &counter,
                    const bool         lower = false)
      {
        block_products<TN>(
          1,
          M,
          N,
          K,
          [&](const unsigned int, const unsigned int i, const unsigned int k) {
            return a(i, k);
          },
          [&](const unsigned int, const unsigned int j, const unsigned int k) {
            return b(j, k);
          },
          store,
          counter,
          lower);
      }



      /// Factor and inverse of a diagonal block of b <= 8 rows, by one warp.
      /// Returns true if a pivot is too small compared with the entries before
      /// elimination. Each lane holds a row of the block and the row of the
      /// identity beside it; the latter becomes a row of the inverse.
      __device__ inline bool
      factorise_diagonal(const unsigned int b,
                         double            *S,
                         const unsigned int ld,
                         const double      *diagonal,
                         double            *inverse)
      {
        const unsigned int lane = threadIdx.x & 31u, i = lane & 7u;
        double             r[8], x[8];
        bool               bad = false;
#pragma unroll
        for (unsigned int j = 0; j < 8; ++j)
          {
            r[j] = i < b && j <= i ? S[i * ld + j] : 0.;
            x[j] = i < b && i == j ? 1. : 0.;
          }
#pragma unroll
        for (unsigned int j = 0; j < 8; ++j)
          if (j < b)
            {
              const double pivot = __shfl_sync(~0u, r[j], j);
              if (!(pivot > 1e-13 * diagonal[j]))
                bad = true;
              const double reciprocal = rsqrt(pivot > 0. ? pivot : 1.);
              // In row j this is the root of the pivot.
              r[j] *= reciprocal;
#pragma unroll
              for (unsigned int l = j + 1; l < 8; ++l)
                {
                  const double other = __shfl_sync(~0u, r[j], l);
                  r[l] -= r[j] * other;
                }
#pragma unroll
              for (unsigned int l = 0; l <= j; ++l)
                {
                  const double other = __shfl_sync(~0u, x[l], j) * reciprocal;
                  x[l] = i == j ? other : i > j ? x[l] - r[j] * other : x[l];
                }
            }
        // All lanes have read what other lanes overwrite.
        __syncwarp();
        if (lane < 8)
          {
#pragma unroll
            for (unsigned int j = 0; j < 8; ++j)
              {
                if (i < b && j <= i)
                  S[i * ld + j] = r[j];
                inverse[i * 8 + j] = x[j];
              }
          }
        return bad;
      }



      /// S -= P P^T for n <= 8 rows and P with 8 columns, by one warp.
      __device__ inline void
      subtract_square(const unsigned int n,
                      const double      *P,
                      double            *S,
                      const unsigned int ld)
      {
        const unsigned int lane = threadIdx.x & 31u, g = lane / 4, t = lane % 4;
        double             c[1][1][2] = {};
        for (unsigned int l = 0; l < 8; l += 4)
          {
            const double a[1] = {P[min(g, n - 1) * ld + l + t]};
            add_products(c, a, a);
          }
        for (unsigned int s = 0; s < 2; ++s)
          if (g < n && 2 * t + s < n)
            S[g * ld + 2 * t + s] -= c[0][0][s];
        __syncwarp();
      }



      /**
       * S has n columns and n_rows >= n rows. The first n rows are a symmetric
       * positive definite matrix A. Its lower triangle is used and becomes its
       * Cholesky factor L. The other rows X become X L^{-T}: each row x becomes
       * the solution of L y = x. @p inverse: 64 values for every eight rows of
       * A, the inverses of L's diagonal blocks. @p diagonal: n values. @p bad
       * is set if A is singular up to rounding. The caller provides the barrier
       * before the call; the function ends with a barrier.
       */
      __device__ inline void
      block_cholesky(const unsigned int n,
                     const unsigned int n_rows,
                     double            *S,
                     const unsigned int ld,
                     double            *inverse,
                     double            *diagonal,
                     int               *bad)
      {
        for (unsigned int i = threadIdx.x; i < n; i += blockDim.x)
          diagonal[i] = S[i * ld + i];
        __syncthreads();
        const auto factorise = [&](const unsigned int k) {
          if (factorise_diagonal(min(8u, n - k),
                                 S + k * ld + k,
                                 ld,
                                 diagonal + k,
                                 inverse + 8 * k) &&
              threadIdx.x == 0)
            *bad = 1;
        };
        const unsigned int warp = this_warp();
        if (warp == 0)
          factorise(0);
        __syncthreads();
        for (unsigned int k = 0; k < n; k += 8)
          {
            const unsigned int  b = min(8u, n - k);
            const double *const D = inverse + 8 * k;
            if (k + b == n_rows)
              break;
            // A warp reads all of its rows before it writes them.
            unsigned int  counter  = 0;
            double *const panel    = S + (k + b) * ld + k;
            const auto    in_panel = [&](const unsigned int i,
                                      const unsigned int l) {
              return panel[i * ld + l];
            };
            block_product<1>(
              n_rows - k - b,
              b,
              padded(b),
              in_panel,
              [&](const unsigned int j, const unsigned int l) {
                return D[j * 8 + l];
              },
              [&](const unsigned int i, const unsigned int j, const double v) {
                panel[i * ld + j] = v;
              },
              counter);
            __syncthreads();
            if (k + b == n)
              break;
            // The first warp goes on to the next diagonal block, while the
            // others begin with the remaining rows.
            double *const      rest = S + (k + b) * ld + k + b;
            const unsigned int next = min(8u, n - k - b);
            if (warp == 0)
              {
                subtract_square(next, panel, rest, ld);
                factorise(k + b);
              }
            counter = blockDim.x > 32 ? 1 : 0;
            block_product<2>(
              n_rows - k - b,
              n - k - b,
              8,
              in_panel,
              in_panel,
              [&](const unsigned int i, const unsigned int j, const double v) {
                if (i >= next)
                  rest[i * ld + j] -= v;
              },
              counter,
              true);
            __syncthreads();
          }
      }



      /// Rows X of n columns become X L^{-1}, with the factor L and the
      /// inverses of diagonal blocks from block_cholesky(). Begins and ends
      /// with a barrier.
      __device__ inline void
      block_backward(const unsigned int n,
                     const double      *L,
                     const unsigned int ld,
                     const double      *inverse,
                     const unsigned int n_rows,
                     double            *X,
                     const unsigned int ldx)
      {
        __syncthreads();
        if (n_rows == 0)
          return;
        for (unsigned int p = (n + 7) / 8; p-- > 0;)
          {
            const unsigned int  k = 8 * p, b = min(8u, n - k);
            const double *const D       = inverse + 8 * k;
            unsigned int        counter = 0;
            const auto x = [&](const unsigned int i, const unsigned int l) {
              return X[i * ldx + k + l];
            };
            block_product<1>(
              n_rows,
              b,
              padded(b),
              x,
              [&](const unsigned int j, const unsigned int l) {
                return D[l * 8 + j];
              },
              [&](const unsigned int i, const unsigned int j, const double v) {
                X[i * ldx + k + j] = v;
              },
              counter);
            __syncthreads();
            if (k == 0)
              break;
            block_product<2>(
              n_rows,
              k,
              padded(b),
              x,
              [&](const unsigned int j, const unsigned int l) {
                return l < b ? L[(k + l) * ld + j] : 0.;
              },
              [&](const unsigned int i, const unsigned int j, const double v) {
                X[i * ldx + j] -= v;
              },
              counter);
            __syncthreads();
          }
      }



      /**
       * Solves E x = y for rows y of X, which the solutions overwrite. E has n
       * rows. The method is Gauss-Jordan elimination with row pivoting; E is
       * destroyed. @p scratch: n + 2 values. Begins and ends with a barrier. @p
       * bad is set if a pivot is below 1e-13 of the largest entry.
       */
      __device__ inline void
      block_solve(const unsigned int n,
                  double            *E,
                  const unsigned int ld,
                  const unsigned int n_rows,
                  double            *X,
                  const unsigned int ldx,
                  double            *scratch,
                  int               *bad)
      {
        __syncthreads();
        double *const factor = scratch + 2;
        // The first warp finds the largest entry.
        if (threadIdx.x < 32)
          {
            double largest = 0.;
            for (unsigned int e = threadIdx.x; e < n * n; e += 32)
              largest = fmax(largest, fabs(E[e / n * ld + e % n]));
            for (unsigned int s = 16; s > 0; s /= 2)
              largest = fmax(largest, __shfl_xor_sync(~0u, largest, s));
            if (threadIdx.x == 0)
              scratch[0] = largest;
          }
        __syncthreads();
        for (unsigned int k = 0; k < n; ++k)
          {
            if (threadIdx.x < 32)
              {
                // first of the largest entries of the column
                double       largest = -1.;
                unsigned int pivot   = n;
                for (unsigned int i = k + threadIdx.x; i < n; i += 32)
                  if (fabs(E[i * ld + k]) > largest)
                    {
                      largest = fabs(E[i * ld + k]);
                      pivot   = i;
                    }
                for (unsigned int s = 16; s > 0; s /= 2)
                  {
                    const double       other = __shfl_xor_sync(~0u, largest, s);
                    const unsigned int index = __shfl_xor_sync(~0u, pivot, s);
                    if (other > largest || (other == largest && index < pivot))
                      {
                        largest = other;
                        pivot   = index;
                      }
                  }
                if (threadIdx.x == 0)
                  {
                    if (!(largest > 1e-13 * scratch[0]))
                      *bad = 1;
                    scratch[1] = min(pivot, n - 1);
                  }
              }
            __syncthreads();
            const unsigned int p = (unsigned int)scratch[1];
            if (p != k)
              {
                for (unsigned int j = k + threadIdx.x; j < n; j += blockDim.x)
                  {
                    const double e = E[k * ld + j];
                    E[k * ld + j]  = E[p * ld + j];
                    E[p * ld + j]  = e;
                  }
                for (unsigned int m = threadIdx.x; m < n_rows; m += blockDim.x)
                  {
                    const double x = X[m * ldx + k];
                    X[m * ldx + k] = X[m * ldx + p];
                    X[m * ldx + p] = x;
                  }
                __syncthreads();
              }
            const double pivot      = E[k * ld + k];
            const double reciprocal = 1. / (pivot != 0. ? pivot : 1.);
            for (unsigned int i = threadIdx.x; i < n; i += blockDim.x)
              factor[i] = i == k ? 0. : E[i * ld + k] * reciprocal;
            __syncthreads();
            const unsigned int width = n - k - 1;
            for (unsigned int e = threadIdx.x; e < n * width; e += blockDim.x)
              {
                const unsigned int i = e / width, j = k + 1 + e % width;
                if (i != k)
                  E[i * ld + j] -= factor[i] * E[k * ld + j];
              }
            for (unsigned int e = threadIdx.x; e < n * n_rows; e += blockDim.x)
              {
                const unsigned int m = e / n, i = e % n;
                if (i != k)
                  X[m * ldx + i] -= factor[i] * X[m * ldx + k];
              }
            __syncthreads();
          }
        for (unsigned int e = threadIdx.x; e < n * n_rows; e += blockDim.x)
          {
            const unsigned int m = e / n, i = e % n;
            const double       pivot = E[i * ld + i];
            X[m * ldx + i] /= pivot != 0. ? pivot : 1.;
          }
        __syncthreads();
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

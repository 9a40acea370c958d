// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_small_inverse_h
#define tessella_cuda_lac_small_inverse_h

#include <cstdint>

#include "blocks.h"

// Inverses of diagonal blocks of at most 32 rows, with one warp for each block.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Largest number of rows for which SmallInverse exists.
      constexpr unsigned int max_small_rows = 32;
      /// Number of warps of a thread block.
      constexpr unsigned int n_small_warps = 4;

      /**
       * Gauss-Jordan elimination with row pivoting of a matrix in the registers
       * of a warp: the lane (l, m), l < 4, m < 8, has the entries of rows l + 4
       * r, r < n_r, and of columns m + 8 c, c < n_c. Rows stay where they are:
       * pivot_of_row remembers which of them has become which row of the
       * inverse, so that a step needs no access to registers whose index is
       * unknown to the compiler, and no shared memory. A step reads n_r factors
       * and n_c entries of the pivot row from other lanes; a lane for each row
       * or column would read a whole row.
       *
       * The pivot is the largest entry of its column to the 16 leading
       * bits, which fit with the number of the row into a word, so that one
       * instruction finds the largest one of the warp.
       */
      template <int n_r, int n_c>
      struct SmallInverse
      {
        static constexpr unsigned int all = 0xffffffffu;

        double       a[n_r][n_c];
        unsigned int n, row_lane, column_lane;
        /// The step in which each row of this lane was the pivot row, n before
        /// that, and the pivot row of the step of each column.
        unsigned int pivot_of_row[n_r], row_of_pivot[n_c];

        /// Reads the pivot row @p index of step @p p into @p row and its entry
        /// in @p factor, which is the pivot, into @p pivot if it is one of the
        /// rows of registers from @p r on, and prepares it for the update. A
        /// loop over r would make the compiler keep the entries in memory: it
        /// replaces r by the equal, but unknown, number of the pivot row.
        template <int r>
        __device__ __forceinline__ void
        take_row(const unsigned int p,
                 const unsigned int index,
                 double (&factor)[n_r],
                 double (&row)[n_c],
                 double &pivot)
        {
          if constexpr (r < n_r)
            {
              if (index / 4 != r)
                {
                  take_row<r + 1>(p, index, factor, row, pivot);
                  return;
                }
              pivot = __shfl_sync(all, factor[r], index % 4 * 8);
#pragma unroll
              for (int j = 0; j < n_c; ++j)
                row[j] = __shfl_sync(all, a[r][j], index % 4 * 8 + column_lane);
              if (row_lane == index % 4)
                {
                  // The update sets this row to the scaled pivot row.
                  pivot_of_row[r] = p;
                  factor[r]       = -1.;
#pragma unroll
                  for (int j = 0; j < n_c; ++j)
                    a[r][j] = 0.;
                }
            }
        }

        /// Largest @p value of the lanes.
        static __device__ __forceinline__ unsigned int
        maximum(unsigned int value)
        {
#if __CUDA_ARCH__ >= 800
          return __reduce_max_sync(all, value);
#else
          for (int offset = 1; offset < 32; offset *= 2)
            value = max(value, __shfl_xor_sync(all, value, offset));
          return value;
#endif
        }

        /// Step @p p, whose column is column p / 8 = @p c of lanes (., p % 8).
        /// Returns whether the pivot exceeds @p least.
        template <int c>
        __device__ __forceinline__ bool
        step(const unsigned int p, const double least)
        {
          const unsigned int owner = p % 8;
          double             factor[n_r], row[n_c], pivot = 0.;
          unsigned int       key = 0;
#pragma unroll
          for (int r = 0; r < n_r; ++r)
            {
              factor[r] = __shfl_sync(all, a[r][c], row_lane * 8 + owner);
              // The first of equal rows wins.
              if (pivot_of_row[r] == n)
                key = max(key,
                          (__double2hiint(factor[r]) & 0x7fffffe0u) |
                            (31u - (row_lane + 4 * r)));
            }
          const unsigned int index = 31u - maximum(key) % 32u;
          take_row<0>(p, index, factor, row, pivot);
          if (!(fabs(pivot) > least))
            return false;
          const double scale = 1. / pivot;
          if (column_lane == owner)
            {
              row_of_pivot[c] = index;
              row[c]          = 1.;
#pragma unroll
              for (int r = 0; r < n_r; ++r)
                a[r][c] = 0.;
            }
#pragma unroll
          for (int j = 0; j < n_c; ++j)
            {
              row[j] *= scale;
#pragma unroll
              for (int r = 0; r < n_r; ++r)
                a[r][j] = fma(-factor[r], row[j], a[r][j]);
            }
          return true;
        }

        /// Steps of the columns from 8 @p c on.
        template <int c>
        __device__ __forceinline__ bool
        steps(const double least)
        {
          if constexpr (c < n_c)
            {
              const unsigned int end = min(n, 8u * c + 8u);
              for (unsigned int p = 8 * c; p < end; ++p)
                if (!step<c>(p, least))
                  return false;
              return steps<c + 1>(least);
            }
          else
            return true;
        }

        /// Inverts the transpose of the matrix at @p from, whose rows are @p
        /// width entries apart. Returns whether it is regular; if so, @p
        /// result, in shared memory, has the inverse row by row.
        template <typename Number>
        __device__ __forceinline__ bool
        invert(const Number *__restrict__ from,
               const unsigned int width,
               double            *result)
        {
          double largest = 0.;
          bool   finite  = true;
#pragma unroll
          for (int r = 0; r < n_r; ++r)
            {
              const unsigned int i = row_lane + 4 * r;
              pivot_of_row[r]      = i < n ? n : n + 1;
#pragma unroll
              for (int c = 0; c < n_c; ++c)
                {
                  const unsigned int j = column_lane + 8 * c;
                  a[r][c]              = i < n && j < n
                                           ? double(from[std::uint64_t(j) * width + i])
                                           : 0.;
                }
            }
#pragma unroll
          for (int r = 0; r < n_r; ++r)
#pragma unroll
            for (int c = 0; c < n_c; ++c)
              {
                largest = fmax(largest, fabs(a[r][c]));
                finite  = finite && isfinite(a[r][c]);
              }
#pragma unroll
          for (int offset = 1; offset < 32; offset *= 2)
            largest = fmax(largest, __shfl_xor_sync(all, largest, offset));
          if (n > 0 && !(__all_sync(all, finite) && largest > 0.))
            return false;
          if (!steps<0>(n * 2.3e-16 * largest))
            return false;
#pragma unroll
          for (int r = 0; r < n_r; ++r)
#pragma unroll
            for (int c = 0; c < n_c; ++c)
              if (row_lane + 4 * r < n && column_lane + 8 * c < n)
                result[pivot_of_row[r] * n + row_of_pivot[c]] = a[r][c];
          return true;
        }
      };



      /// Inverts the diagonal blocks, whose results are stored column by
      /// column, in double precision for all matrices. The dynamic shared
      /// memory has room for the largest block of each warp.
      template <int n_r, int n_c, typename Number>
      __global__ void __launch_bounds__(32 * n_small_warps)
        small_inverse_kernel(const BlockRows rows,
                             const Number *__restrict__ values,
                             Number       *inverse,
                             unsigned int *first_singular)
      {
        extern __shared__ __align__(16) unsigned char shared[];
        const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32,
                           k = blockIdx.x * n_small_warps + warp;
        if (k >= rows.n || rows.shares_values(k))
          return;
        SmallInverse<n_r, n_c> block;
        block.n           = rows.size(k);
        block.row_lane    = lane / 8;
        block.column_lane = lane % 8;
        double *const result =
          reinterpret_cast<double *>(shared) +
          std::size_t(warp) * rows.max_size * rows.max_size;
        if (!block.invert(values + rows.value_offset[k] + rows.diagonal[k],
                          rows.row_width[k],
                          result))
          {
            if (lane == 0)
              atomicMin(first_singular, k);
            return;
          }
        __syncwarp();
        Number *const      to     = inverse + rows.square_offset[k];
        const unsigned int n_here = block.n * block.n;
        for (unsigned int e = lane; e < n_here; e += 32)
          to[e] = static_cast<Number>(result[e]);
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

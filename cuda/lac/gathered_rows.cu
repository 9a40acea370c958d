// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "../device/memory.h"
#include "gathered_rows.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr unsigned int n_threads = 128, n_rows = gathered_rows_of_piece;

        /// Values of a column of a piece.
        template <typename Number>
        struct alignas(16) Column
        {
          Number value[n_rows];
        };

        template <typename Number>
        __device__ inline void
        add_columns(const unsigned int begin,
                    const unsigned int end,
                    const unsigned int *__restrict__ columns,
                    const Column<Number> *__restrict__ values,
                    const Number *x,
                    Number (&sum)[n_rows])
        {
#pragma unroll 4
          for (unsigned int j = begin + threadIdx.x; j < end; j += n_threads)
            {
              const Number         x_j = x[columns[j]];
              const Column<Number> v   = values[j];
              for (unsigned int r = 0; r < n_rows; ++r)
                sum[r] += v.value[r] * x_j;
            }
        }

        /// One thread block for each piece.
        template <typename Number>
        __global__ void
        __launch_bounds__(n_threads)
          gathered_kernel(const GatheredRows<Number> matrix,
                          const bool                 add,
                          const Number              *first,
                          const Number              *second,
                          Number                    *y)
        {
          __shared__ Number         sums[n_threads / 32][n_rows];
          const GatheredPiece       piece = matrix.pieces[blockIdx.x];
          const unsigned int *const columns =
            matrix.columns + piece.first_column;
          const Column<Number> *const values =
            reinterpret_cast<const Column<Number> *>(matrix.values +
                                                     piece.first_value);
          Number sum[n_rows] = {};
          add_columns(0, piece.n_first, columns, values, first, sum);
          add_columns(
            piece.n_first, piece.n_columns, columns, values, second, sum);
          for (unsigned int r = 0; r < n_rows; ++r)
            for (int offset = 16; offset > 0; offset /= 2)
              sum[r] += __shfl_xor_sync(~0u, sum[r], offset);
          if (threadIdx.x % 32 == 0)
            for (unsigned int r = 0; r < n_rows; ++r)
              sums[threadIdx.x / 32][r] = sum[r];
          __syncthreads();
          const unsigned int r = threadIdx.x;
          if (r >= piece.n_rows)
            return;
          Number result = 0;
          for (unsigned int w = 0; w < n_threads / 32; ++w)
            result += sums[w][r];
          Number &y_r = y[matrix.rows[piece.first_row + r]];
          y_r         = add ? y_r + result : result;
        }
      } // namespace



      template <typename Number>
      void
      multiply_gathered_rows(const GatheredRows<Number> &matrix,
                             const bool                  add,
                             const Number               *first,
                             const Number               *second,
                             Number                     *y)
      {
        if (matrix.n_pieces == 0)
          return;
        gathered_kernel<<<matrix.n_pieces, n_threads, 0, current_stream()>>>(
          matrix, add, first, second, y);
        check(cudaGetLastError(), "the product with dense pieces");
      }



      template void
      multiply_gathered_rows(const GatheredRows<float> &,
                             const bool,
                             const float *,
                             const float *,
                             float *);
      template void
      multiply_gathered_rows(const GatheredRows<double> &,
                             const bool,
                             const double *,
                             const double *,
                             double *);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>

#include "../device/start_kernel.h"
#include "batch_rows.h"
#include "polynomial_entry.h"
#include "product_step.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr std::size_t
        round_to_pieces(const std::size_t bytes)
        {
          return (bytes + 15) / 16 * 16;
        }

        /// Numbers of block rows of a thread block, and of values and of packs
        /// of a vector for which its shared memory has room.
        struct Shape
        {
          unsigned int n_rows, panel, bytes;
        };

        template <typename Number>
        Shape
        shape_of(const BlockRows &rows)
        {
          const unsigned int size     = rows.uniform;
          const std::size_t  n_blocks = rows.max_width / size;
          Shape              result   = {};
          result.n_rows               = std::max(1u, batch_rows / size);
          while (result.n_rows > 1 &&
                 batch_bytes<Number>(result.n_rows * n_blocks, size) >
                   max_batch_bytes)
            --result.n_rows;
          result.panel = static_cast<unsigned int>(
            round_to_pieces(
              batch_panel<Number>(result.n_rows * n_blocks, size) *
              sizeof(Number)) /
            sizeof(Number));
          result.bytes = static_cast<unsigned int>(
            (result.panel + result.n_rows * n_blocks * size) * sizeof(Number));
          return result;
        }

        /// A thread block computes @p n_rows block rows of N rows each, in the
        /// manner and with the order of summation of the product of
        /// BlockMatrix. Residuals of the batch stay in shared memory for the
        /// step.
        template <typename Number, int N>
        __global__ void
        __launch_bounds__(batch_threads)
          product_step_kernel(const BlockRows           rows,
                              const unsigned int        n_rows,
                              const unsigned int        panel,
                              const ProductStep<Number> product)
        {
          constexpr int V = small_pack<Number>(N), n_packs = N / V;
          using PackType = Pack<Number, V>;
          extern __shared__ __align__(16) unsigned char shared[];
          Number *const   a = reinterpret_cast<Number *>(shared);
          PackType *const z = reinterpret_cast<PackType *>(a + panel);
          __shared__ std::uint64_t state;
          __shared__ Number        residual[batch_threads];

          const unsigned int  first_row   = blockIdx.x * n_rows;
          const unsigned int  n           = min(n_rows, rows.n - first_row);
          const std::uint64_t first_block = rows.block_offset[first_row];
          const unsigned int  n_blocks    = static_cast<unsigned int>(
            rows.block_offset[first_row + n] - first_block);
          constexpr unsigned int piece = 16 / sizeof(Number);
          const std::uint64_t    first = rows.value_offset[first_row];
          const unsigned int     skip  = first % piece;
          start_copy(a,
                     product.values + (first - skip),
                     (skip + n_blocks * (N * N) + piece - 1) / piece * 16,
                     &state);

          // Row i of D_k^{-1}, stored column by column.
          const unsigned int  k = threadIdx.x / N, i = threadIdx.x % N;
          const bool          active = k < n;
          const std::uint64_t entry =
            std::uint64_t(first_row) * N + threadIdx.x;
          const PolynomialStep<Number> &step  = product.step;
          unsigned int                  begin = 0, end = 0;
          Number                        inverse[N];
          Number                        beta = 0, b = 0, old = 0, x = 0;
          if (active)
            {
              const std::uint64_t *const offset =
                rows.block_offset + first_row + k;
              begin = static_cast<unsigned int>(offset[0] - first_block);
              end   = static_cast<unsigned int>(offset[1] - first_block);
              beta  = factor_of(step);
              const Number *const column =
                step.inverse + (std::uint64_t(first_row) + k) * N * N + i;
#pragma unroll
              for (int j = 0; j < N; ++j)
                inverse[j] = column[j * N];
            }
          gather_packs<PackType, n_packs>(
            n_blocks,
            [&](const unsigned int m) {
              return std::size_t(rows.block_column[first_block + m]) * N;
            },
            [&] {
              wait_for_previous();
              if (!active)
                return;
              b = product.b[entry];
              if (step.alpha != 0)
                old = product.y[entry];
              if (!product.keep && !step.set)
                x = step.x[entry];
            },
            product.y,
            z);
          finish_copy(&state);

          if (active)
            {
              const Number r =
                b - batch_row_sum<Number, N>(a + skip + begin * (N * N),
                                             z + begin * n_packs,
                                             i,
                                             (end - begin) * n_packs);
              product.r[entry]      = r;
              residual[threadIdx.x] = r;
            }
          __syncthreads();
          if (!active)
            return;
          // The sum of diagonal_entry().
          Number sum = 0;
#pragma unroll
          for (int j = 0; j < N; ++j)
            sum = fma(inverse[j], residual[k * N + j], sum);
          const Number d = new_direction(step.alpha, old, beta, sum);
          step.d[entry]  = d;
          if (product.keep)
            return;
          if (product.earlier_weight != 0)
            x = fma(product.earlier_weight, old, x);
          step.x[entry] = step.set ? step.weight * d : fma(step.weight, d, x);
        }
      } // namespace



      template <typename Number>
      bool
      has_product_step(const BlockRows &rows)
      {
        return rows.n > 0 && rows.order == nullptr && rows.uniform > 0 &&
               rows.uniform <= max_batch_size &&
               fits_batch<Number>(rows.max_width / rows.uniform, rows.uniform);
      }



      template <typename Number>
      void
      product_step(const BlockRows &rows, const ProductStep<Number> &product)
      {
        const Shape shape = shape_of<Number>(rows);
        with_size<max_batch_size>(rows.uniform, [&](const auto N) {
          start_kernel("a preconditioner",
                       product_step_kernel<Number, N()>,
                       (rows.n + shape.n_rows - 1) / shape.n_rows,
                       batch_threads,
                       shape.bytes,
                       rows,
                       shape.n_rows,
                       shape.panel,
                       product);
        });
      }



      template bool
      has_product_step<double>(const BlockRows &);
      template bool
      has_product_step<float>(const BlockRows &);
      template void
      product_step(const BlockRows &, const ProductStep<double> &);
      template void
      product_step(const BlockRows &, const ProductStep<float> &);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

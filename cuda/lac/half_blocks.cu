// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <cuda_fp16.h>

#include "../device/start_kernel.h"
#include "batch_rows.h"
#include "half_blocks.h"
#include "polynomial_entry.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// Eight values of a row.
        struct alignas(16) Piece
        {
          __half2 pair[half_piece / 2];
        };

        /// Number of pieces that a thread loads before the previous kernel has
        /// ended: a row of the traces of triangles, which have four neighbours.
        TESSELLA_HOST_DEVICE constexpr unsigned int
        n_early_pieces(const unsigned int size)
        {
          return n_half_pieces(4, size);
        }

        static_assert(half_threads == batch_threads,
                      "Threads that gather_packs() expects.");

        unsigned int
        n_thread_blocks(const std::uint64_t n)
        {
          return static_cast<unsigned int>((n + half_threads - 1) /
                                           half_threads);
        }

        // ---- set-up

        /// W of a block for each thread, by Cholesky's factorisation A_kk =
        /// L L^T and W = L^{-1}.
        template <int N>
        __global__ void
        __launch_bounds__(half_threads)
          half_bases_kernel(const HalfBlocks matrix,
                            const double *__restrict__ A)
        {
          const BlockRows   &rows = matrix.rows;
          const unsigned int k    = blockIdx.x * half_threads + threadIdx.x;
          if (k >= rows.n)
            return;
          const double *const from =
            A + rows.value_offset[k] + rows.diagonal[k];
          const unsigned int width = rows.row_width[k];
          double             L[N][N];
#pragma unroll
          for (int i = 0; i < N; ++i)
#pragma unroll
            for (int j = 0; j <= i; ++j)
              L[i][j] = 0.5 * (from[std::uint64_t(i) * width + j] +
                               from[std::uint64_t(j) * width + i]);
              // The square root of a negative number and its reciprocal are not
              // finite, and neither is what follows from them; this also holds
              // for zero.
#pragma unroll
          for (int j = 0; j < N; ++j)
            {
              double pivot = L[j][j];
#pragma unroll
              for (int m = 0; m < j; ++m)
                pivot -= L[j][m] * L[j][m];
              const double reciprocal = 1. / sqrt(pivot);
              // The diagonal has the reciprocals.
              L[j][j] = reciprocal;
#pragma unroll
              for (int i = j + 1; i < N; ++i)
                {
                  double sum = L[i][j];
#pragma unroll
                  for (int m = 0; m < j; ++m)
                    sum -= L[i][m] * L[j][m];
                  L[i][j] = sum * reciprocal;
                }
            }
          float *const W = matrix.W + rows.square_offset[k];
#pragma unroll
          for (int j = 0; j < N; ++j)
            {
              // Column j of the inverse.
              double w[N];
#pragma unroll
              for (int i = 0; i < N; ++i)
                {
                  double sum = i == j ? 1. : 0.;
#pragma unroll
                  for (int m = j; m < i; ++m)
                    sum -= L[i][m] * w[m];
                  w[i]         = i < j ? 0. : sum * L[i][i];
                  W[i * N + j] = static_cast<float>(w[i]);
                }
            }
        }

        /// Row i of each block of S but the diagonal one, for each thread.
        template <int N>
        __global__ void
        __launch_bounds__(half_threads)
          half_values_kernel(const HalfBlocks matrix,
                             const double *__restrict__ A)
        {
          const BlockRows   &rows   = matrix.rows;
          const unsigned int k_here = threadIdx.x / N, i = threadIdx.x % N,
                             k = blockIdx.x * matrix.n_rows + k_here;
          if (k_here >= matrix.n_rows || k >= rows.n)
            return;
          const HalfBatch    batch    = matrix.batches[blockIdx.x];
          const unsigned int n_pieces = n_half_pieces(batch.n_blocks, N);
          __half *const      to =
            reinterpret_cast<__half *>(matrix.values) +
            (std::uint64_t(batch.first_piece) + threadIdx.x) * half_piece;
          const unsigned int stride = matrix.n_rows * N * half_piece;
          const auto store = [&](const unsigned int c, const float value) {
            to[std::uint64_t(c / half_piece) * stride + c % half_piece] =
              __float2half_rn(value);
          };
          float              W_k[N];
          const float *const row = matrix.W + rows.square_offset[k] + i * N;
#pragma unroll
          for (int m = 0; m < N; ++m)
            W_k[m] = row[m];
          const unsigned int width  = rows.row_width[k];
          unsigned int       column = 0;
          for (std::uint64_t b = rows.block_offset[k];
               b < rows.block_offset[k + 1];
               ++b)
            {
              const unsigned int l = rows.block_column[b];
              if (l == k)
                continue;
              const double *const block =
                A + rows.value_offset[k] + rows.column_offset[b];
              const float *const W_l        = matrix.W + rows.square_offset[l];
              double             product[N] = {};
#pragma unroll
              for (int m = 0; m < N; ++m)
#pragma unroll
                for (int j = 0; j < N; ++j)
                  product[j] = fma(double(W_k[m]),
                                   block[std::uint64_t(m) * width + j],
                                   product[j]);
#pragma unroll
              for (int j = 0; j < N; ++j)
                {
                  double sum = 0;
#pragma unroll
                  for (int m = 0; m <= j; ++m)
                    sum = fma(double(W_l[j * N + m]), product[m], sum);
                  store(column + j, static_cast<float>(sum));
                }
              column += N;
            }
          for (; column < n_pieces * half_piece; ++column)
            store(column, 0.f);
        }

        __global__ void
        __launch_bounds__(half_threads)
          identities_kernel(const std::uint64_t n_values,
                            const unsigned int  size,
                            float *__restrict__ values)
        {
          const std::uint64_t e =
            std::uint64_t(blockIdx.x) * half_threads + threadIdx.x;
          if (e < n_values)
            values[e] = e % (size * size) % (size + 1) == 0 ? 1.f : 0.f;
        }

        /// A thread for each function of a polytope on each side of a block.
        __global__ void
        __launch_bounds__(half_threads)
          half_injection_kernel(const HalfBlocks                matrix,
                                const InterfaceTransfer<double> from,
                                float                          *to)
        {
          const unsigned int thread = blockIdx.x * half_threads + threadIdx.x;
          const unsigned int side   = thread / from.n_functions,
                             r      = thread % from.n_functions;
          if (side >= 2 * from.n_blocks)
            return;
          const unsigned int k = side / 2, N = matrix.rows.uniform,
                             n_modes = from.n_modes(k);
          const double *const P      = from.matrix_of(side) + r * n_modes;
          float *const        result = to + (P - from.matrix);
          const float *const  W      = matrix.W + matrix.rows.square_offset[k];
          for (unsigned int m = n_modes; m-- > 0;)
            {
              double sum = P[m];
              for (unsigned int j = m + 1; j < n_modes; ++j)
                sum -= double(W[j * N + m]) * result[j];
              result[m] = static_cast<float>(sum / W[m * N + m]);
            }
        }

        // ---- products

        /**
         * Product of the block rows of a thread block. Values of the first
         * pieces are in registers before the previous kernel has ended; entries
         * of the vector lie in shared memory in the order of the values. Calls
         * use(row, own entry of @p x, sum over the other blocks) for each row,
         * and read() before @p x is read.
         */
        template <int N, typename Read, typename Use>
        __device__ inline void
        half_rows(const HalfBlocks &matrix,
                  const float      *x,
                  const Read       &read,
                  const Use        &use)
        {
          constexpr int V = small_pack<float>(N), n_packs = N / V;
          using PackType = Pack<float, V>;
          extern __shared__ __align__(16) unsigned char shared[];
          float *const       z        = reinterpret_cast<float *>(shared);
          const unsigned int n_rows   = matrix.n_rows;
          const unsigned int first    = blockIdx.x * n_rows,
                             n        = min(n_rows, matrix.rows.n - first);
          const HalfBatch    batch    = matrix.batches[blockIdx.x];
          const unsigned int n_pieces = n_half_pieces(batch.n_blocks, N);
          const bool         active   = threadIdx.x < n * N;
          const Piece *const pieces =
            reinterpret_cast<const Piece *>(matrix.values) + batch.first_piece +
            threadIdx.x;
          constexpr unsigned int n_early = n_early_pieces(N);
          Piece                  early[n_early];
#pragma unroll
          for (unsigned int q = 0; q < n_early; ++q)
            if (active && q < n_pieces)
              early[q] = pieces[q * (n_rows * N)];

          // The last piece of the last row may end behind its last block.
          if (threadIdx.x < half_piece)
            z[n * batch.n_blocks * N + threadIdx.x] = 0.f;
          float                     own = 0;
          const unsigned int *const column =
            matrix.columns + batch.first_column;
          gather_packs<PackType, n_packs>(
            n * batch.n_blocks,
            [&](const unsigned int m) { return std::size_t(column[m]) * N; },
            [&] {
              wait_for_previous();
              if (active)
                own = x[std::size_t(first) * N + threadIdx.x];
              read();
            },
            x,
            reinterpret_cast<PackType *>(z));
          __syncthreads();
          if (!active)
            return;
          const float4 *entries = reinterpret_cast<const float4 *>(
            z + threadIdx.x / N * (batch.n_blocks * N));
          float2     sum = {0, 0};
          const auto add = [&](const Piece &piece, const unsigned int q) {
            const float4 a = entries[2 * q], b = entries[2 * q + 1];
            float2       p = __half22float2(piece.pair[0]);
            sum.x          = fmaf(p.x, a.x, sum.x);
            sum.y          = fmaf(p.y, a.y, sum.y);
            p              = __half22float2(piece.pair[1]);
            sum.x          = fmaf(p.x, a.z, sum.x);
            sum.y          = fmaf(p.y, a.w, sum.y);
            p              = __half22float2(piece.pair[2]);
            sum.x          = fmaf(p.x, b.x, sum.x);
            sum.y          = fmaf(p.y, b.y, sum.y);
            p              = __half22float2(piece.pair[3]);
            sum.x          = fmaf(p.x, b.z, sum.x);
            sum.y          = fmaf(p.y, b.w, sum.y);
          };
#pragma unroll
          for (unsigned int q = 0; q < n_early; ++q)
            if (q < n_pieces)
              add(early[q], q);
          for (unsigned int q = n_early; q < n_pieces; ++q)
            add(pieces[q * (n_rows * N)], q);
          use(std::size_t(first) * N + threadIdx.x, own, sum.x + sum.y);
        }

        template <int N>
        __global__ void
        __launch_bounds__(half_threads)
          half_product_kernel(const HalfBlocks         matrix,
                              const Destination<float> y,
                              const float             *x)
        {
          half_rows<N>(
            matrix,
            x,
            [] {},
            [&](const std::size_t i, const float own, const float sum) {
              y.store(i, own + sum);
            });
        }

        template <int N>
        __global__ void
        __launch_bounds__(half_threads)
          half_step_kernel(const HalfBlocks         matrix,
                           const ProductStep<float> product)
        {
          const PolynomialStep<float> &step      = product.step;
          const unsigned int           first_row = blockIdx.x * matrix.n_rows;
          const std::size_t entry = std::size_t(first_row) * N + threadIdx.x;
          const bool        active =
            threadIdx.x < min(matrix.n_rows, matrix.rows.n - first_row) * N;
          // Numbers of the polynomial do not change in a cycle.
          const float beta = factor_of(step);
          float       b = 0, x = 0;
          half_rows<N>(
            matrix,
            product.y,
            [&] {
              if (!active)
                return;
              b = product.b[entry];
              if (!product.keep && !step.set)
                x = step.x[entry];
            },
            [&](const std::size_t i, const float old, const float sum) {
              const float r = b - (old + sum);
              product.r[i]  = r;
              const float d = new_direction(step.alpha, old, beta, r);
              step.d[i]     = d;
              if (product.keep)
                return;
              if (product.earlier_weight != 0)
                x = fmaf(product.earlier_weight, old, x);
              step.x[i] = step.set ? step.weight * d : fmaf(step.weight, d, x);
            });
        }

        /// The step of half_step_kernel() without a product.
        __global__ void
        __launch_bounds__(half_threads)
          half_first_step_kernel(const std::uint64_t         n,
                                 const float                *b,
                                 const PolynomialStep<float> step)
        {
          const std::uint64_t i =
            std::uint64_t(blockIdx.x) * half_threads + threadIdx.x;
          if (i >= n)
            return;
          wait_for_previous();
          const float d = new_direction(step.alpha,
                                        step.alpha != 0 ? step.d[i] : 0.f,
                                        factor_of(step),
                                        b[i]);
          step.d[i]     = d;
          step.x[i] =
            step.set ? step.weight * d : fmaf(step.weight, d, step.x[i]);
        }

        /// Entry of W x or, if @p transpose, W^T x, for each thread.
        template <int N, bool transpose, typename From, typename To>
        __global__ void
        __launch_bounds__(half_threads)
          half_change_kernel(const HalfBlocks matrix, const From *x, To *y)
        {
          const std::uint64_t thread =
            std::uint64_t(blockIdx.x) * half_threads + threadIdx.x;
          const unsigned int k = static_cast<unsigned int>(thread / N),
                             i = static_cast<unsigned int>(thread % N);
          if (k >= matrix.rows.n)
            return;
          const float *const W = matrix.W + matrix.rows.square_offset[k];
          float              w[N];
#pragma unroll
          for (int j = 0; j < N; ++j)
            w[j] = transpose ? W[j * N + i] : W[i * N + j];
          wait_for_previous();
          const From *const entries = x + std::uint64_t(k) * N;
          double            sum     = 0;
#pragma unroll
          for (int j = 0; j < N; ++j)
            sum = fma(double(w[j]), double(entries[j]), sum);
          y[thread] = static_cast<To>(sum);
        }

        /// Starts a kernel of the product.
        template <typename Kernel, typename... Arguments>
        void
        start_product(const HalfBlocks &matrix,
                      const Kernel     &kernel,
                      const Arguments &...arguments)
        {
          start_kernel("a product in half precision",
                       kernel,
                       (matrix.rows.n + matrix.n_rows - 1) / matrix.n_rows,
                       half_threads,
                       half_bytes(matrix.n_rows,
                                  matrix.max_blocks,
                                  matrix.rows.uniform),
                       matrix,
                       arguments...);
        }
      } // namespace



      void
      set_half_blocks(const HalfBlocks &matrix, const double *A)
      {
        const unsigned int n = matrix.rows.n;
        with_size<max_half_size>(matrix.rows.uniform, [&](const auto N) {
          half_bases_kernel<N()>
            <<<n_thread_blocks(n), half_threads, 0, current_stream()>>>(matrix,
                                                                        A);
          half_values_kernel<N()><<<(n + matrix.n_rows - 1) / matrix.n_rows,
                                    half_threads,
                                    0,
                                    current_stream()>>>(matrix, A);
        });
        check(cudaGetLastError(), "a matrix in half precision");
      }



      void
      set_identities(const std::uint64_t n,
                     const unsigned int  size,
                     float              *values)
      {
        const std::uint64_t n_values = n * size * size;
        identities_kernel<<<n_thread_blocks(n_values),
                            half_threads,
                            0,
                            current_stream()>>>(n_values, size, values);
        check(cudaGetLastError(), "a matrix in half precision");
      }



      void
      change_basis_of_interfaces(const HalfBlocks                &matrix,
                                 const InterfaceTransfer<double> &from,
                                 float                           *to)
      {
        const std::uint64_t n =
          std::uint64_t(2) * from.n_blocks * from.n_functions;
        if (n == 0)
          return;
        half_injection_kernel<<<n_thread_blocks(n),
                                half_threads,
                                0,
                                current_stream()>>>(matrix, from, to);
        check(cudaGetLastError(), "a change of basis");
      }



      void
      multiply(const HalfBlocks         &matrix,
               const Destination<float> &y,
               const float              *x)
      {
        with_size<max_half_size>(matrix.rows.uniform, [&](const auto N) {
          start_product(matrix, half_product_kernel<N()>, y, x);
        });
      }



      void
      product_step(const HalfBlocks &matrix, const ProductStep<float> &product)
      {
        if (product.y == nullptr)
          {
            start_kernel("a preconditioner",
                         half_first_step_kernel,
                         n_thread_blocks(matrix.rows.n_dofs),
                         half_threads,
                         0,
                         matrix.rows.n_dofs,
                         product.b,
                         product.step);
            return;
          }
        with_size<max_half_size>(matrix.rows.uniform, [&](const auto N) {
          start_product(matrix, half_step_kernel<N()>, product);
        });
      }



      void
      to_bases(const HalfBlocks &matrix, const double *x, float *y)
      {
        with_size<max_half_size>(matrix.rows.uniform, [&](const auto N) {
          start_kernel("a change of basis",
                       half_change_kernel<N(), false, double, float>,
                       n_thread_blocks(matrix.rows.n_dofs),
                       half_threads,
                       0,
                       matrix,
                       x,
                       y);
        });
      }



      void
      from_bases(const HalfBlocks &matrix, const float *x, double *y)
      {
        with_size<max_half_size>(matrix.rows.uniform, [&](const auto N) {
          start_kernel("a change of basis",
                       half_change_kernel<N(), true, float, double>,
                       n_thread_blocks(matrix.rows.n_dofs),
                       half_threads,
                       0,
                       matrix,
                       x,
                       y);
        });
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <string>

#include "../device/pool_array.h"
#include "../device/start_kernel.h"
#include "blocks.h"
#include "polynomial_entry.h"
#include "small_inverse.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr unsigned int n_threads = 128;

        /// Number of lanes, a power of two, for a block of at most @p size
        /// rows.
        unsigned int
        group_size(const unsigned int size)
        {
          unsigned int group = 1;
          while (group < size && group < 32)
            group *= 2;
          return group;
        }

        unsigned int
        n_thread_blocks(const std::uint64_t n_threads_in_all)
        {
          return static_cast<unsigned int>((n_threads_in_all + n_threads - 1) /
                                           n_threads);
        }

        /// Index of the group of @p size lanes to which a thread belongs.
        __device__ inline std::uint64_t
        group_of_thread(const unsigned int size)
        {
          return (std::uint64_t(blockIdx.x) * n_threads + threadIdx.x) / size;
        }

        /// Starts @p kernel with a group of lanes for each of @p n blocks of
        /// at most @p max_size rows. Its first argument is the size of groups.
        template <typename Kernel, typename... Arguments>
        void
        start_groups(const Kernel       kernel,
                     const char        *what,
                     const unsigned int n,
                     const unsigned int max_size,
                     const Arguments &...arguments)
        {
          if (n == 0)
            return;
          const unsigned int group = group_size(max_size);
          start_kernel(what,
                       kernel,
                       n_thread_blocks(std::uint64_t(n) * group),
                       n_threads,
                       0,
                       group,
                       arguments...);
        }

        /// Allows @p kernel to use @p bytes of shared memory.
        template <typename Kernel>
        void
        allow_shared_memory(const Kernel &kernel, const std::size_t bytes)
        {
          if (bytes <= 48 * 1024)
            return;
          if (cudaFuncSetAttribute(kernel,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(bytes)) != cudaSuccess)
            {
              cudaGetLastError();
              throw Error(
                "The blocks of this matrix are too large for this "
                "CUDA device (" +
                std::to_string(bytes) +
                " bytes of shared memory are needed): use a lower "
                "degree, another smoother, or the host.");
            }
        }

        __global__ void
        number_kernel(const unsigned int value, unsigned int *number)
        {
          *number = value;
        }

        /// Value of @p number when the kernels that @p what names are done.
        unsigned int
        wait_for(const PoolArray<unsigned int> &number, const char *what)
        {
          unsigned int result = 0;
          refuse_recording("a result that the host needs");
          check(cudaMemcpy(&result,
                           number.data(),
                           sizeof(result),
                           cudaMemcpyDeviceToHost),
                what);
          return result;
        }

        /// Starts small_inverse_kernel() with registers for the largest block.
        template <typename Number>
        void
        start_small_inverse(const BlockRows &rows,
                            const Number    *values,
                            Number          *inverse,
                            unsigned int    *first_singular)
        {
          const unsigned int n = rows.max_size;
          const auto kernel    = n <= 8    ? small_inverse_kernel<2, 1, Number>
                                 : n <= 12 ? small_inverse_kernel<3, 2, Number>
                                 : n <= 20 ? small_inverse_kernel<5, 3, Number>
                                 : n <= 24 ? small_inverse_kernel<6, 3, Number>
                                           : small_inverse_kernel<8, 4, Number>;
          kernel<<<(rows.n + n_small_warps - 1) / n_small_warps,
                   32 * n_small_warps,
                   sizeof(double) * n_small_warps * n * n,
                   current_stream()>>>(rows, values, inverse, first_singular);
          check(cudaGetLastError(), "the inversion of diagonal blocks");
        }

        /**
         * Inverts one block per thread block, starting with block @p
         * first_block. The work array is in shared memory if @p buffer is null,
         * and in @p buffer if shared memory is too small. The computation is in
         * double precision for all matrices: blocks of high degree are singular
         * in single precision, although their inverses are accurate in it. The
         * result is stored column by column, the order in which lanes read it.
         */
        template <typename Number>
        __global__ void
        invert_kernel(const BlockRows    rows,
                      const unsigned int first_block,
                      const Number *__restrict__ values,
                      Number       *inverse,
                      double       *buffer,
                      unsigned int *first_singular)
        {
          extern __shared__ __align__(16) unsigned char shared[];
          const unsigned int k = first_block + blockIdx.x, n = rows.size(k);
          if (rows.shares_values(k))
            return;
          unsigned int *swaps = reinterpret_cast<unsigned int *>(shared);
          double       *line =
            reinterpret_cast<double *>(shared + (rows.max_size + 3) / 4 * 16);
          Number *const result = inverse + rows.square_offset[k];
          // The work array lies behind the pivot row.
          double *const       a     = buffer == nullptr
                                        ? line + n
                                        : buffer + std::uint64_t(blockIdx.x) *
                                           rows.max_size * rows.max_size;
          const unsigned int  width = rows.row_width[k];
          const Number *const from =
            values + rows.value_offset[k] + rows.diagonal[k];
          __shared__ double least;
          __shared__ bool   singular;
          // Stored column by column: the kernel computes the inverse of the
          // transpose.
          for (unsigned int e = threadIdx.x; e < n * n; e += blockDim.x)
            a[(e % n) * n + e / n] = from[std::uint64_t(e / n) * width + e % n];
          __syncthreads();

          constexpr double epsilon = 2.3e-16;
          if (threadIdx.x < 32)
            {
              double value  = 0;
              bool   finite = true;
              for (unsigned int e = threadIdx.x; e < n * n; e += 32)
                {
                  value  = max(value, double(fabs(a[e])));
                  finite = finite && isfinite(a[e]);
                }
              for (int offset = 16; offset > 0; offset /= 2)
                value = max(value, __shfl_xor_sync(~0u, value, offset));
              finite = __all_sync(~0u, finite);
              if (threadIdx.x == 0)
                {
                  least    = n * epsilon * value;
                  singular = n > 0 && !(finite && value > 0);
                }
            }
          __syncthreads();
          // Copy of the flag, since warp 0 writes the next value while other
          // threads read.
          bool regular = !singular;
          __syncthreads();
          for (unsigned int p = 0; p < n && regular; ++p)
            {
              if (threadIdx.x < 32)
                {
                  // Largest entry of column p, from row p on.
                  double       value = -1;
                  unsigned int index = p;
                  for (unsigned int i = p + threadIdx.x; i < n; i += 32)
                    {
                      const double x = fabs(a[i * n + p]);
                      if (x > value)
                        {
                          value = x;
                          index = i;
                        }
                    }
                  for (int offset = 16; offset > 0; offset /= 2)
                    {
                      const double other = __shfl_xor_sync(~0u, value, offset);
                      const unsigned int other_index =
                        __shfl_xor_sync(~0u, index, offset);
                      if (other > value ||
                          (other == value && other_index < index))
                        {
                          value = other;
                          index = other_index;
                        }
                    }
                  if (threadIdx.x == 0)
                    {
                      swaps[p] = index;
                      singular = !(value > least);
                    }
                }
              __syncthreads();
              regular = !singular;
              if (!regular)
                break;
              const unsigned int pivot = swaps[p];
              // Stores the scaled pivot row separately; its former position
              // receives row p.
              const double scale = double(1) / a[pivot * n + p];
              __syncthreads();
              for (unsigned int j = threadIdx.x; j < n; j += blockDim.x)
                {
                  line[j] = (j == p ? double(1) : a[pivot * n + j]) * scale;
                  if (pivot != p)
                    a[pivot * n + j] = a[p * n + j];
                }
              __syncthreads();
              // One warp per row, so that all lanes read the factor before it
              // is overwritten.
              for (unsigned int i = threadIdx.x / 32; i < n;
                   i += blockDim.x / 32)
                {
                  const double factor = a[i * n + p];
                  __syncwarp();
                  for (unsigned int j = threadIdx.x % 32; j < n; j += 32)
                    {
                      const double old = j == p ? double(0) : a[i * n + j];
                      a[i * n + j] = i == p ? line[j] : old - factor * line[j];
                    }
                }
              __syncthreads();
            }
          if (!regular)
            {
              if (threadIdx.x == 0)
                atomicMin(first_singular, k);
              return;
            }
          for (unsigned int p = n; p-- > 0;)
            if (swaps[p] != p)
              {
                for (unsigned int i = threadIdx.x; i < n; i += blockDim.x)
                  {
                    const double t      = a[i * n + p];
                    a[i * n + p]        = a[i * n + swaps[p]];
                    a[i * n + swaps[p]] = t;
                  }
                // No barrier is needed: each thread swaps entries of its own
                // rows only.
              }
          __syncthreads();
          for (unsigned int e = threadIdx.x; e < n * n; e += blockDim.x)
            result[e] = static_cast<Number>(a[e]);
        }

        /**
         * Computes W for one block per thread block, in shared memory or, if
         * that is too small, directly in @p W. As on the host, elimination
         * leaves the remainder of the matrix on and right of the diagonal, and
         * M, the product of the elimination steps, left of it.
         */
        __global__ void
        orthonormalise_kernel(const BlockRows    rows,
                              const unsigned int n_components,
                              const bool         in_shared,
                              const double *__restrict__ values,
                              double       *W,
                              unsigned int *first_bad)
        {
          extern __shared__ __align__(16) unsigned char shared[];
          const unsigned int k = blockIdx.x, n = rows.size(k);
          // diagonal entries of the block, and pivots
          double *const diagonal    = reinterpret_cast<double *>(shared),
                        *pivots     = diagonal + rows.max_size;
          double *const to          = W + rows.square_offset[k],
                        *a          = in_shared ? pivots + rows.max_size : to;
          const unsigned int  width = rows.row_width[k];
          const double *const from =
            values + rows.value_offset[k] + rows.diagonal[k];
          const unsigned int n_basis = n / n_components;
          for (unsigned int e = threadIdx.x; e < n * n; e += blockDim.x)
            {
              const unsigned int i = e / n, j = e % n;
              a[e] = i / n_basis == j / n_basis
                       ? 0.5 * (from[std::uint64_t(i) * width + j] +
                                from[std::uint64_t(j) * width + i])
                       : 0.;
            }
          for (unsigned int i = threadIdx.x; i < n; i += blockDim.x)
            diagonal[i] = from[std::uint64_t(i) * width + i];
          __syncthreads();
          bool good = true;
          for (unsigned int p = 0; p < n && good; ++p)
            {
              const double *row   = a + p * n;
              const double  pivot = row[p];
              // All threads get the same result.
              good = isfinite(pivot) && pivot > n * 2.3e-16 * diagonal[p];
              if (threadIdx.x == 0)
                pivots[p] = pivot;
              for (unsigned int i = p + 1 + threadIdx.x / 32; i < n && good;
                   i += blockDim.x / 32)
                {
                  double *const other  = a + i * n;
                  const double  factor = row[i] / pivot;
                  for (unsigned int j = threadIdx.x % 32; j < n; j += 32)
                    if (j == p)
                      other[j] = -factor;
                    else if (j < p || j >= i)
                      other[j] -= factor * row[j];
                }
              __syncthreads();
            }
          if (!good && threadIdx.x == 0)
            atomicMin(first_bad, k);
          // Stored column by column; a pair of entries belongs to one thread.
          for (unsigned int e = threadIdx.x; e < n * n; e += blockDim.x)
            {
              const unsigned int i = e / n, j = e % n;
              if (j > i)
                continue;
              const double scale = good ? 1. / sqrt(pivots[i]) : 1.;
              const double value = i == j ? scale : good ? scale * a[e] : 0.;
              to[j * n + i]      = value;
              if (i != j)
                to[e] = 0.;
            }
        }

        /// Computes the blocks W_k A_kl W_l^T of one block row per thread
        /// block, in strips of @p n_strip columns that fit into shared memory.
        template <typename Number>
        __global__ void
        change_basis_kernel(const BlockRows rows,
                            const std::uint64_t *__restrict__ place,
                            const unsigned int n_strip,
                            const double *__restrict__ W,
                            const double *__restrict__ values,
                            Number *__restrict__ to)
        {
          extern __shared__ __align__(16) unsigned char shared[];
          double *const       half = reinterpret_cast<double *>(shared);
          const unsigned int  k = blockIdx.x, n_k = rows.size(k);
          const unsigned int  width = rows.row_width[k];
          const double *const W_k   = W + place[k];
          for (std::uint64_t b = rows.block_offset[k];
               b < rows.block_offset[k + 1];
               ++b)
            {
              const unsigned int  l = rows.block_column[b], n_l = rows.size(l);
              const std::uint64_t first =
                rows.value_offset[k] + rows.column_offset[b];
              const double *const W_l = W + place[l];
              for (unsigned int start = 0; start < n_l; start += n_strip)
                {
                  const unsigned int n = min(n_strip, n_l - start);
                  for (unsigned int e = threadIdx.x; e < n_k * n;
                       e += blockDim.x)
                    {
                      const unsigned int i = e / n, j = start + e % n;
                      const double      *row =
                        values + first + std::uint64_t(i) * width;
                      double sum = 0;
                      for (unsigned int m = 0; m <= j; ++m)
                        sum += row[m] * W_l[m * n_l + j];
                      half[e] = sum;
                    }
                  __syncthreads();
                  for (unsigned int e = threadIdx.x; e < n_k * n;
                       e += blockDim.x)
                    {
                      const unsigned int i = e / n, j = e % n;
                      double             sum = 0;
                      for (unsigned int m = 0; m <= i; ++m)
                        sum += W_k[m * n_k + i] * half[m * n + j];
                      to[first + std::uint64_t(i) * width + start + j] =
                        fabs(sum) < negligible_in_basis
                          ? Number(0)
                          : static_cast<Number>(sum);
                    }
                  __syncthreads();
                }
            }
        }

        /// One thread per polytope, as the blocks are of low degree.
        template <typename Number>
        __global__ void
        __launch_bounds__(n_threads)
          injection_basis_kernel(const BlockRows rows,
                                 const std::uint64_t *__restrict__ place,
                                 const double *__restrict__ W,
                                 const unsigned int          n_polytopes,
                                 const BlockTransfer<Number> transfer,
                                 Number                     *matrix)
        {
          const unsigned int k = blockIdx.x * n_threads + threadIdx.x;
          if (k >= n_polytopes)
            return;
          const unsigned int stride = rows.size(k), n = transfer.fine_size(k);
          if (n == 0)
            return;
          const std::uint64_t first = transfer.matrix_offset[k],
                              end   = transfer.matrix_offset[k + 1],
                              size  = (end - first) / transfer.n_components;
          const unsigned int shift =
            stride / transfer.n_components * (stride + 1);
          for (std::uint64_t begin = first; begin < end; begin += n)
            {
              const double *const W_k =
                W + place[k] + (begin - first) / size * shift;
              // Backward substitution can overwrite its input.
              for (unsigned int j = n; j-- > 0;)
                {
                  double sum = matrix[begin + j];
                  for (unsigned int m = j + 1; m < n; ++m)
                    sum -= double(matrix[begin + m]) * W_k[j * stride + m];
                  matrix[begin + j] =
                    static_cast<Number>(sum / W_k[j * stride + j]);
                }
            }
        }

        /// A warp sets a diagonal block, see Blocks::set_diagonal().
        template <typename Number>
        __global__ void
        __launch_bounds__(n_threads)
          set_diagonal_kernel(const BlockRows rows,
                              const Number *__restrict__ A,
                              const Number factor,
                              const Number *__restrict__ B,
                              Number *__restrict__ values)
        {
          const std::uint64_t k = group_of_thread(32);
          if (k >= rows.n || rows.shares_values(k))
            return;
          const unsigned int  n    = rows.size(k);
          const std::uint64_t from = rows.square_offset[k];
          Number *const to = values + rows.value_offset[k] + rows.diagonal[k];
          for (unsigned int e = threadIdx.x % 32; e < n * n; e += 32)
            to[std::uint64_t(e / n) * rows.row_width[k] + e % n] =
              fma(factor, B[from + e], A[from + e]);
        }

        /// @p group lanes compute a block of the result.
        template <typename Number>
        __global__ void
        __launch_bounds__(n_threads)
          diagonal_kernel(const unsigned int group,
                          const BlockRows    rows,
                          const Number *__restrict__ inverse,
                          const bool    transpose,
                          const Number *x,
                          Number       *y)
        {
          const std::uint64_t k = group_of_thread(group);
          if (k >= rows.n)
            return;
          const unsigned int  n     = rows.size(k);
          const std::uint64_t first = rows.dof_offset[k];
          wait_for_previous();
          for (unsigned int i = threadIdx.x % group; i < n; i += group)
            y[first + i] = diagonal_entry(
              inverse + rows.square_offset[k], n, i, transpose, x + first);
        }

        template <typename Number>
        __global__ void
        __launch_bounds__(n_threads)
          polynomial_kernel(const unsigned int           group,
                            const BlockRows              rows,
                            const PolynomialStep<Number> step)
        {
          const std::uint64_t k = group_of_thread(group);
          if (k >= rows.n)
            return;
          const Number        beta  = factor_of(step);
          const unsigned int  n     = rows.size(k);
          const std::uint64_t first = rows.dof_offset[k];
          wait_for_previous();
          for (unsigned int i = threadIdx.x % group; i < n; i += group)
            {
              const Number entry =
                diagonal_entry(step.inverse + rows.square_offset[k],
                               n,
                               i,
                               step.transpose,
                               step.r + first);
              const Number d =
                new_direction(step.alpha,
                              step.alpha != 0 ? step.d[first + i] : Number(0),
                              beta,
                              entry);
              step.d[first + i] = d;
              step.x[first + i] = step.set
                                    ? step.weight * d
                                    : fma(step.weight, d, step.x[first + i]);
            }
        }

        /// A thread block computes one block row: it gathers the entries of x
        /// first, then each warp computes a row.
        template <typename Number>
        __global__ void
        relax_kernel(const BlockRows rows,
                     const Number *__restrict__ values,
                     const Number *__restrict__ inverse,
                     const unsigned int *__restrict__ list,
                     const Number *__restrict__ b,
                     const Number *__restrict__ ghosts,
                     Number *x)
        {
          extern __shared__ __align__(16) unsigned char shared[];
          const unsigned int                            k = list[blockIdx.x];
          const unsigned int                            n = rows.size(k);
          const unsigned int  width                       = rows.row_width[k];
          const std::uint64_t first                       = rows.dof_offset[k];
          Number *const       z    = reinterpret_cast<Number *>(shared);
          Number *const       r    = z + width;
          const unsigned int  warp = threadIdx.x / 32, lane = threadIdx.x % 32,
                             n_warps = blockDim.x / 32;
          // Positions of the columns in the row, in the order of summation.
          unsigned int *const places = reinterpret_cast<unsigned int *>(r + n);
          const std::uint64_t begin  = rows.block_offset[k];
          const unsigned int  n_blocks =
            static_cast<unsigned int>(rows.block_offset[k + 1] - begin);
          for (unsigned int m = warp; m < n_blocks; m += n_warps)
            {
              const std::uint64_t block =
                begin + (rows.order == nullptr ? m : rows.order[begin + m]);
              const unsigned int place = rows.column_offset[block];
              const unsigned int to =
                rows.order == nullptr ? place : rows.ordered_offset[begin + m];
              const unsigned int l  = rows.block_column[block];
              const unsigned int nl = rows.size(l);
              const Number      *from =
                l < rows.n ? x + rows.dof_offset[l]
                                : ghosts + (rows.dof_offset[l] - rows.n_dofs);
              for (unsigned int i = lane; i < nl; i += 32)
                {
                  z[to + i] = from[i];
                  if (rows.order != nullptr)
                    places[to + i] = place + i;
                }
            }
          __syncthreads();
          for (unsigned int i = warp; i < n; i += n_warps)
            {
              const Number *row =
                values + rows.value_offset[k] + std::uint64_t(i) * width;
              Number sum = 0;
              if (rows.order == nullptr)
                {
#pragma unroll 4
                  for (unsigned int c = lane; c < width; c += 32)
                    sum = fma(row[c], z[c], sum);
                }
              else
                {
#pragma unroll 4
                  for (unsigned int c = lane; c < width; c += 32)
                    sum = fma(row[places[c]], z[c], sum);
                }
              for (int offset = 16; offset > 0; offset /= 2)
                sum += __shfl_xor_sync(~0u, sum, offset);
              if (lane == 0)
                r[i] = b[first + i] - sum;
            }
          __syncthreads();
          for (unsigned int i = threadIdx.x; i < n; i += blockDim.x)
            x[first + i] =
              x[first + i] +
              diagonal_entry(inverse + rows.square_offset[k], n, i, false, r);
        }

        /// Adds the product of a row of T and a vector of @p n entries to
        /// @p sum. With M > 0, n is at most M, and all entries are loaded
        /// before the first sum, so that the loads of several calls in a row
        /// are under way at the same time.
        template <int M, typename Number>
        struct RowProduct
        {
          Number a[M], x[M];

          __device__ void
          load(const Number *T, const Number *from, const unsigned int n)
          {
#pragma unroll
            for (unsigned int j = 0; j < M; ++j)
              {
                a[j] = j < n ? T[j] : Number(0);
                x[j] = j < n ? from[j] : Number(0);
              }
          }
          __device__ void
          add_to(Number &sum, const unsigned int n) const
          {
#pragma unroll
            for (unsigned int j = 0; j < M; ++j)
              if (j < n)
                sum = fma(a[j], x[j], sum);
          }
        };

        template <typename Number>
        struct RowProduct<0, Number>
        {
          const Number *a = nullptr, *x = nullptr;

          __device__ void
          load(const Number *T, const Number *from, const unsigned int)
          {
            a = T;
            x = from;
          }
          __device__ void
          add_to(Number &sum, const unsigned int n) const
          {
            for (unsigned int j = 0; j < n; ++j)
              sum = fma(a[j], x[j], sum);
          }
        };

        /// The lanes of a group look up one fine polytope each. With M > 0, no
        /// fine polytope has more than M functions of a component.
        template <int M, typename Number>
        __global__ void
        __launch_bounds__(n_threads)
          restrict_kernel(const unsigned int          group,
                          const BlockTransfer<Number> transfer,
                          const Number               *fine,
                          Number                     *coarse)
        {
          const std::uint64_t K = group_of_thread(group);
          if (K >= transfer.n_coarse)
            return;
          const std::uint64_t first = transfer.coarse_offset[K];
          const unsigned int  n_K   = transfer.coarse_size(K),
                             n      = transfer.n_components * n_K;
          const unsigned int lane   = threadIdx.x % group;
          if (transfer.matrix == nullptr)
            {
              wait_for_previous();
              for (unsigned int i = lane; i < n; i += group)
                coarse[first + i] =
                  fine[transfer.fine_offset[K] +
                       i / n_K * transfer.fine_size(K) + i % n_K];
              return;
            }
          const unsigned int lanes = (group == 32 ? ~0u : (1u << group) - 1)
                                     << (threadIdx.x % 32 / group * group);
          const unsigned int begin = transfer.child_offset[K],
                             end   = transfer.child_offset[K + 1];
          bool first_polytopes     = true;
          for (unsigned int i0 = 0; i0 < n; i0 += group)
            {
              const unsigned int i = i0 + lane;
              const unsigned int c = i < n ? i / n_K : 0, // component
                row                = i % n_K;
              Number sum           = 0;
              for (unsigned int e0 = begin; e0 < end; e0 += group)
                {
                  unsigned int  own_size = 0;
                  std::uint64_t own_from = 0, own_matrix = 0;
                  if (e0 + lane < end)
                    {
                      const unsigned int k = transfer.child[e0 + lane];
                      own_size             = transfer.fine_size(k);
                      own_from             = transfer.fine_offset[k];
                      own_matrix           = transfer.matrix_offset[k];
                    }
                  if (first_polytopes)
                    wait_for_previous();
                  first_polytopes          = false;
                  constexpr unsigned int U = 4;
                  for (unsigned int q0 = 0; q0 < group && e0 + q0 < end;
                       q0 += U)
                    {
                      RowProduct<M, Number> product[U];
                      unsigned int          size[U];
#pragma unroll
                      for (unsigned int u = 0; u < U; ++u)
                        {
                          // Lanes of polytopes that do not exist have size 0.
                          const unsigned int q = min(q0 + u, group - 1);
                          size[u] = __shfl_sync(lanes, own_size, q, group);
                          const std::uint64_t
                            from = __shfl_sync(lanes, own_from, q, group),
                            T    = __shfl_sync(lanes, own_matrix, q, group);
                          if (i >= n || q0 + u >= group)
                            size[u] = 0;
                          const std::uint64_t place =
                            (transfer.matrix_of_component ? c * n_K + row
                                                          : row) *
                            std::uint64_t(size[u]);
                          product[u].load(transfer.matrix + T + place,
                                          fine + from +
                                            std::uint64_t(c) * size[u],
                                          size[u]);
                        }
#pragma unroll
                      for (unsigned int u = 0; u < U; ++u)
                        product[u].add_to(sum, size[u]);
                    }
                }
              if (i < n)
                coarse[first + i] = sum;
            }
        }

        template <typename Number>
        __global__ void
        __launch_bounds__(n_threads)
          prolongate_kernel(const unsigned int          group,
                            const BlockTransfer<Number> transfer,
                            const Number               *coarse,
                            Number                     *fine)
        {
          const std::uint64_t k = group_of_thread(group);
          if (k >= transfer.n_fine)
            return;
          const unsigned int K      = transfer.parent ? transfer.parent[k] : k;
          const Number      *from   = coarse + transfer.coarse_offset[K];
          const unsigned int n_K    = transfer.coarse_size(K),
                             n      = transfer.fine_size(k);
          const std::uint64_t first = transfer.fine_offset[k];
          wait_for_previous();
          for (unsigned int j = threadIdx.x % group;
               j < transfer.n_components * n;
               j += group)
            {
              const unsigned int c = j / n, column = j % n; // c: component
              if (transfer.matrix == nullptr)
                {
                  if (column < n_K)
                    fine[first + j] += from[c * n_K + column];
                  continue;
                }
              const Number *T =
                transfer.component_matrix(k, c, std::uint64_t(n) * n_K) +
                column;
              Number sum = 0;
              for (unsigned int i = 0; i < n_K; ++i, T += n)
                sum += *T * from[c * n_K + i];
              fine[first + j] += sum;
            }
        }

        /// Contribution T_k A_kl T_l^T to a coarse block.
        template <typename Number>
        struct Contribution
        {
          const Number *A, *T_k, *T_l;
          unsigned int  stride;   ///< distance of the rows of A
          unsigned int  n_k;      ///< rows of A
          unsigned int  N_k, N_l; ///< functions of a component
        };

        /// Largest number of contributions that a thread block computes side
        /// by side, and limit of the shared memory for their halves unless a
        /// single one needs more.
        constexpr unsigned int max_contributions   = 32,
                               max_bytes_of_halves = 12 * 1024;

        /**
         * A thread block computes one coarse block, the sum of T_k A_kl T_l^T,
         * of one of two matrices (@p values). The products A_kl T_l^T of
         * @p n_at_once contributions are in shared memory at a time, each with
         * room for @p room numbers; every entry is summed in the order of the
         * contributions.
         */
        template <typename Number>
        __global__ void
        galerkin_kernel(const GalerkinPlan           plan,
                        const BlockTransfer<Number>  transfer,
                        const unsigned int           n_at_once,
                        const unsigned int           room,
                        const GalerkinValues<Number> values)
        {
          extern __shared__ __align__(16) unsigned char shared[];
          Number *const half = reinterpret_cast<Number *>(shared);
          __shared__ Contribution<Number> contributions[max_contributions];
          const Number *const             fine_values =
            blockIdx.y == 0 ? values.fine : values.other_fine;
          Number *const coarse_values =
            blockIdx.y == 0 ? values.coarse : values.other_coarse;
          const BlockRows   &fine = plan.fine, &coarse = plan.coarse;
          const unsigned int B = blockIdx.x, K = plan.coarse_row[B],
                             L   = coarse.block_column[B];
          const unsigned int n_K = coarse.size(K), n_L = coarse.size(L);
          const unsigned int N_K   = n_K / transfer.n_components,
                             N_L   = n_L / transfer.n_components;
          const unsigned int width = coarse.row_width[K];
          Number            *to =
            coarse_values + coarse.value_offset[K] + coarse.column_offset[B];
          const std::uint64_t begin = plan.offset[B], end = plan.offset[B + 1];
          for (std::uint64_t e0 = begin; e0 < end; e0 += n_at_once)
            {
              const unsigned int n_now = static_cast<unsigned int>(
                min(std::uint64_t(n_at_once), end - e0));
              if (threadIdx.x < n_now)
                {
                  const unsigned int k = plan.row[e0 + threadIdx.x],
                                     b = plan.block[e0 + threadIdx.x],
                                     l = fine.block_column[b];
                  Contribution<Number> own;
                  own.A =
                    fine_values + fine.value_offset[k] + fine.column_offset[b];
                  own.stride = fine.row_width[k];
                  own.n_k    = fine.size(k);
                  own.N_k    = own.n_k / transfer.n_components;
                  own.N_l    = fine.size(l) / transfer.n_components;
                  own.T_k = own.T_l = nullptr;
                  if (transfer.matrix != nullptr)
                    {
                      own.T_k = transfer.component_matrix(k, 0, 0);
                      own.T_l = transfer.component_matrix(l, 0, 0);
                    }
                  contributions[threadIdx.x] = own;
                }
              __syncthreads();
              if (transfer.matrix == nullptr)
                {
                  for (unsigned int q = 0; q < n_now; ++q)
                    for (unsigned int f = threadIdx.x; f < n_K * n_L;
                         f += blockDim.x)
                      {
                        const unsigned int          i = f / n_L, j = f % n_L;
                        const Contribution<Number> &own = contributions[q];
                        to[std::uint64_t(i) * width + j] =
                          own.A[std::uint64_t(i / N_K * own.N_k + i % N_K) *
                                  own.stride +
                                j / N_L * own.N_l + j % N_L];
                      }
                  __syncthreads();
                  continue;
                }
              for (unsigned int g = threadIdx.x; g < n_now * room;
                   g += blockDim.x)
                {
                  const Contribution<Number> &own = contributions[g / room];
                  const unsigned int          f   = g % room;
                  if (f >= own.n_k * n_L)
                    continue;
                  const unsigned int j = f % n_L, c = j / N_L; // c: component
                  const Number      *row =
                    own.A + std::uint64_t(f / n_L) * own.stride + c * own.N_l;
                  const Number *T =
                    own.T_l +
                    std::uint64_t(transfer.matrix_of_component ? j : j % N_L) *
                      own.N_l;
                  Number sum = 0;
#pragma unroll 4
                  for (unsigned int m = 0; m < own.N_l; ++m)
                    sum = fma(row[m], T[m], sum);
                  half[g] = sum;
                }
              __syncthreads();
              for (unsigned int f = threadIdx.x; f < n_K * n_L; f += blockDim.x)
                {
                  const unsigned int i = f / n_L, j = f % n_L;
                  const unsigned int c     = i / N_K;
                  Number            &entry = to[std::uint64_t(i) * width + j];
                  Number             sum   = e0 == begin ? Number(0) : entry;
#pragma unroll 2
                  for (unsigned int q = 0; q < n_now; ++q)
                    {
                      const Contribution<Number> &own = contributions[q];
                      const Number               *T =
                        own.T_k +
                        (transfer.matrix_of_component ? i : i % N_K) * own.N_k;
                      const Number *column =
                        half + q * room + c * own.N_k * n_L + j;
#pragma unroll 4
                      for (unsigned int m = 0; m < own.N_k; ++m)
                        sum = fma(T[m], column[m * n_L], sum);
                    }
                  entry = sum;
                }
              __syncthreads();
            }
        }

        /// One warp per row.
        template <typename Number>
        __global__ void
        __launch_bounds__(n_threads) dense_kernel(const unsigned int n_rows,
                                                  const unsigned int n_columns,
                                                  const Number *__restrict__ A,
                                                  const Number *x,
                                                  Number       *y)
        {
          const unsigned int thread = blockIdx.x * n_threads + threadIdx.x;
          const unsigned int i      = thread / 32;
          if (i >= n_rows)
            return;
          wait_for_previous();
          Number sum = 0;
#pragma unroll 4
          for (unsigned int j = thread % 32; j < n_columns; j += 32)
            sum += A[std::uint64_t(i) * n_columns + j] * x[j];
          for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_xor_sync(~0u, sum, offset);
          if (thread % 32 == 0)
            y[i] = sum;
        }
      } // namespace



      template <typename Number>
      unsigned int
      Blocks<Number>::invert_diagonal(const BlockRows &rows,
                                      const Number    *values,
                                      Number          *inverse)
      {
        if (rows.n == 0)
          return 0;
        PoolArray<unsigned int> first;
        first.resize(1);
        invert_diagonal(rows, values, inverse, first.data());
        return wait_for(first, "the inversion of diagonal blocks");
      }



      template <typename Number>
      void
      Blocks<Number>::invert_diagonal(const BlockRows &rows,
                                      const Number    *values,
                                      Number          *inverse,
                                      unsigned int    *first_singular)
      {
        number_kernel<<<1, 1, 0, current_stream()>>>(rows.n, first_singular);
        check(cudaGetLastError(), "the inversion of diagonal blocks");
        if (rows.n == 0)
          return;
        const std::size_t n = rows.max_size;
        if (n <= max_small_rows)
          {
            start_small_inverse(rows, values, inverse, first_singular);
            return;
          }
        const std::size_t lists     = (n + 3) / 4 * 16 + n * sizeof(double);
        const std::size_t bytes     = lists + n * n * sizeof(double);
        const bool        in_shared = bytes <= 48 * 1024;
        // The number of warps grows with the number of rows of a block.
        const unsigned int threads = n <= 10 ? 32 : n <= 24 ? 64 : 256;
        // If shared memory is too small, the number of blocks at once is
        // limited, but large enough to keep the device busy.
        const unsigned int n_at_once =
          in_shared ? rows.n : std::min(rows.n, 2048u);
        PoolArray<double> buffer;
        if (!in_shared)
          buffer.resize(n_at_once * n * n);
        for (unsigned int k = 0; k < rows.n; k += n_at_once)
          {
            invert_kernel<<<std::min(n_at_once, rows.n - k),
                            threads,
                            in_shared ? bytes : lists,
                            current_stream()>>>(rows,
                                                k,
                                                values,
                                                inverse,
                                                in_shared ? nullptr
                                                          : buffer.data(),
                                                first_singular);
            check(cudaGetLastError(), "the inversion of diagonal blocks");
          }
      }



      template <typename Number>
      unsigned int
      Blocks<Number>::orthonormalise(const BlockRows   &rows,
                                     const unsigned int n_components,
                                     const double      *values,
                                     double            *W)
      {
        if (rows.n == 0)
          return 0;
        PoolArray<unsigned int> first;
        first.resize(1);
        number_kernel<<<1, 1, 0, current_stream()>>>(rows.n, first.data());
        check(cudaGetLastError(), "a change of basis");
        const std::size_t  n         = rows.max_size;
        const std::size_t  lists     = 2 * n * sizeof(double);
        const std::size_t  bytes     = lists + n * n * sizeof(double);
        const bool         in_shared = bytes <= 48 * 1024;
        const unsigned int threads   = n <= 10 ? 32 : n <= 24 ? 64 : 256;
        orthonormalise_kernel<<<rows.n,
                                threads,
                                in_shared ? bytes : lists,
                                current_stream()>>>(
          rows, n_components, in_shared, values, W, first.data());
        check(cudaGetLastError(), "a change of basis");
        return wait_for(first, "a change of basis");
      }



      template <typename Number>
      void
      Blocks<Number>::change_basis(const BlockRows  &rows,
                                   const BlockBases &bases,
                                   const double     *values,
                                   Number           *to)
      {
        if (rows.n == 0)
          return;
        const unsigned int n       = rows.max_size;
        const unsigned int n_strip = std::max<unsigned int>(
          1, std::min<unsigned int>(n, 48 * 1024 / (n * sizeof(double))));
        change_basis_kernel<<<rows.n,
                              n <= 10 ? 64 : 256,
                              std::size_t(n) * n_strip * sizeof(double),
                              current_stream()>>>(
          rows, bases.place, n_strip, bases.W, values, to);
        check(cudaGetLastError(), "a change of basis");
      }



      template <typename Number>
      void
      Blocks<Number>::change_basis_of_injection(
        const BlockRows             &rows,
        const BlockBases            &bases,
        const BlockTransfer<Number> &transfer,
        const unsigned int           n,
        Number                      *matrix)
      {
        if (n == 0)
          return;
        injection_basis_kernel<<<n_thread_blocks(n),
                                 n_threads,
                                 0,
                                 current_stream()>>>(
          rows, bases.place, bases.W, n, transfer, matrix);
        check(cudaGetLastError(), "a change of basis");
      }



      template <typename Number>
      void
      Blocks<Number>::set_diagonal(const BlockRows &rows,
                                   const Number    *A,
                                   const Number     factor,
                                   const Number    *B,
                                   Number          *values)
      {
        if (rows.n == 0)
          return;
        set_diagonal_kernel<<<n_thread_blocks(std::uint64_t(rows.n) * 32),
                              n_threads,
                              0,
                              current_stream()>>>(rows, A, factor, B, values);
        check(cudaGetLastError(), "an update of diagonal blocks");
      }



      template <typename Number>
      void
      Blocks<Number>::apply_diagonal(const BlockRows &rows,
                                     const Number    *inverse,
                                     const bool       transpose,
                                     const Number    *x,
                                     Number          *y)
      {
        start_groups(diagonal_kernel<Number>,
                     "a preconditioner",
                     rows.n,
                     rows.max_size,
                     rows,
                     inverse,
                     transpose,
                     x,
                     y);
      }



      template <typename Number>
      void
      Blocks<Number>::polynomial_step(const BlockRows              &rows,
                                      const PolynomialStep<Number> &step)
      {
        start_groups(polynomial_kernel<Number>,
                     "a preconditioner",
                     rows.n,
                     rows.max_size,
                     rows,
                     step);
      }



      template <typename Number>
      void
      Blocks<Number>::relax(const BlockRows              &rows,
                            const RelaxationStep<Number> &step)
      {
        if (step.n == 0)
          return;
        const std::size_t bytes =
          (std::size_t(rows.max_width) + rows.max_size) * sizeof(Number) +
          (rows.order == nullptr ? 0 : rows.max_width * sizeof(unsigned int));
        allow_shared_memory(relax_kernel<Number>, bytes);
        const unsigned int threads = rows.max_size <= 4    ? 64
                                     : rows.max_size <= 24 ? 128
                                                           : 256;
        relax_kernel<<<step.n, threads, bytes, current_stream()>>>(rows,
                                                                   step.values,
                                                                   step.inverse,
                                                                   step.list,
                                                                   step.b,
                                                                   step.ghosts,
                                                                   step.x);
        check(cudaGetLastError(), "a preconditioner");
      }



      template <typename Number>
      void
      Blocks<Number>::restrict_to(const BlockTransfer<Number> &transfer,
                                  const Number                *fine,
                                  Number                      *coarse)
      {
        start_groups(transfer.max_fine <= 4 * transfer.n_components
                       ? restrict_kernel<4, Number>
                       : restrict_kernel<0, Number>,
                     "multigrid",
                     transfer.n_coarse,
                     transfer.max_coarse,
                     transfer,
                     fine,
                     coarse);
      }



      template <typename Number>
      void
      Blocks<Number>::prolongate_add(const BlockTransfer<Number> &transfer,
                                     const Number                *coarse,
                                     Number                      *fine)
      {
        start_groups(prolongate_kernel<Number>,
                     "multigrid",
                     transfer.n_fine,
                     transfer.matrix == nullptr ? transfer.max_coarse
                                                : transfer.max_fine,
                     transfer,
                     coarse,
                     fine);
      }



      template <typename Number>
      void
      Blocks<Number>::galerkin(const GalerkinPlan           &plan,
                               const BlockTransfer<Number>  &transfer,
                               const GalerkinValues<Number> &values)
      {
        if (plan.n_blocks == 0)
          return;
        const unsigned int room  = plan.fine.max_size * plan.coarse.max_size;
        const std::size_t  bytes = std::size_t(room) * sizeof(Number);
        const unsigned int n_at_once =
          static_cast<unsigned int>(std::max<std::size_t>(
            1,
            std::min<std::size_t>(max_contributions,
                                  max_bytes_of_halves /
                                    std::max<std::size_t>(1, bytes))));
        const std::size_t all =
          transfer.matrix == nullptr ? 0 : n_at_once * bytes;
        allow_shared_memory(galerkin_kernel<Number>, all);
        const dim3 grid(static_cast<unsigned int>(plan.n_blocks),
                        values.other_fine == nullptr ? 1 : 2);
        // Lists are read by one thread for each contribution.
        const unsigned int threads = room <= 16 ? 64 : 128;
        galerkin_kernel<<<grid, threads, all, current_stream()>>>(
          plan, transfer, n_at_once, room, values);
        check(cudaGetLastError(), "coarse operators of multigrid");
      }



      template <typename Number>
      void
      Blocks<Number>::dense_product(const unsigned int n_rows,
                                    const unsigned int n_columns,
                                    const Number      *A,
                                    const Number      *x,
                                    Number            *y)
      {
        if (n_rows == 0 || n_columns == 0)
          return;
        start_kernel("multigrid",
                     dense_kernel<Number>,
                     n_thread_blocks(32ull * n_rows),
                     n_threads,
                     0,
                     n_rows,
                     n_columns,
                     A,
                     x,
                     y);
      }



      template struct Blocks<double>;
      template struct Blocks<float>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

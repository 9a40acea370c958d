// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "../device/start_kernel.h"
#include "interface_transfer.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr unsigned int n_threads = 128;

        __device__ std::uint64_t
                   thread_number()
        {
          return std::uint64_t(blockIdx.x) * n_threads + threadIdx.x;
        }

        /// A warp for each block row, a lane for each of its blocks: calls
        /// function(k, b) with the index of row and block.
        template <typename Function>
        __device__ void
        for_blocks_of_warp(const BlockRows &rows, const Function &function)
        {
          const unsigned int k =
            blockIdx.x * (n_threads / 32) + threadIdx.x / 32;
          if (k < rows.n)
            for (std::uint64_t b = rows.block_offset[k] + threadIdx.x % 32;
                 b < rows.block_offset[k + 1];
                 b += 32)
              function(k, b);
        }

        /// A thread for each unknown of a polytope.
        template <typename Number>
        __global__ void
        __launch_bounds__(n_threads)
          interface_restrict_kernel(const InterfaceTransfer<Number> transfer,
                                    const EntriesWithGhosts<Number> interfaces,
                                    Number                         *polytopes)
        {
          const std::uint64_t i = thread_number();
          const unsigned int  n = transfer.n_functions;
          if (i >= std::uint64_t(transfer.n_polytopes) * n)
            return;
          const unsigned int k     = static_cast<unsigned int>(i / n),
                             r     = static_cast<unsigned int>(i % n);
          const unsigned int begin = transfer.side_offset[k],
                             end   = transfer.side_offset[k + 1];
          Number sum               = 0;
          wait_for_previous();
          for (unsigned int s = begin; s < end; ++s)
            {
              const unsigned int  e       = transfer.side[s];
              const unsigned int  n_modes = transfer.n_modes(e / 2);
              const Number *const P       = transfer.matrix_of(e) + r * n_modes;
              const Number *const from = interfaces + transfer.first_row[e / 2];
              for (unsigned int m = 0; m < n_modes; ++m)
                sum += P[m] * from[m];
            }
          polytopes[i] = sum;
        }

        /// A thread for each mode of a block, and for those that a block with
        /// fewer modes lacks.
        template <typename Number>
        __global__ void
        __launch_bounds__(n_threads)
          interface_prolongate_kernel(const InterfaceTransfer<Number> transfer,
                                      const EntriesWithGhosts<Number> polytopes,
                                      Number *interfaces)
        {
          const std::uint64_t i = thread_number();
          if (i >= std::uint64_t(transfer.n_blocks) * transfer.max_modes)
            return;
          const unsigned int b       = static_cast<unsigned int>(i /
                                                           transfer.max_modes),
                             m       = static_cast<unsigned int>(i %
                                                           transfer.max_modes);
          const unsigned int n_modes = transfer.n_modes(b);
          if (m >= n_modes)
            return;
          Number sum = 0;
          wait_for_previous();
          for (unsigned int side = 0; side < 2; ++side)
            {
              const unsigned int k =
                transfer.polytope[2 * std::uint64_t(b) + side];
              if (k == InterfaceTransfer<Number>::no_polytope)
                continue;
              const Number *const P = transfer.matrix_of(2 * b + side);
              const Number *const from =
                polytopes + std::uint64_t(k) * transfer.n_functions;
              for (unsigned int r = 0; r < transfer.n_functions; ++r)
                sum += P[r * n_modes + m] * from[r];
            }
          interfaces[transfer.first_row[b] + m] += sum;
        }

        /// A warp for each coarse block row, a lane for each of its blocks: it
        /// finds all pairs of interfaces that contribute, whose sub-blocks of
        /// modes are small.
        template <typename Number, unsigned int n>
        __global__ void
        __launch_bounds__(n_threads)
          interface_galerkin_kernel(const InterfaceTransfer<Number> transfer,
                                    const BlockRows                 fine_rows,
                                    const BlockRows                 coarse_rows,
                                    const Number *__restrict__ fine,
                                    Number *__restrict__ coarse)
        {
          for_blocks_of_warp(
            coarse_rows, [&](const unsigned int k, const std::uint64_t B) {
              const unsigned int l         = coarse_rows.block_column[B];
              Number             sum[n][n] = {};
              for (unsigned int s = transfer.side_offset[k];
                   s < transfer.side_offset[k + 1];
                   ++s)
                {
                  const unsigned int  e = transfer.side[s], i = e / 2;
                  const unsigned int  n_i   = transfer.n_modes(i);
                  const unsigned int  width = fine_rows.row_width[i];
                  const Number *const P     = transfer.matrix_of(e);
                  for (std::uint64_t b = fine_rows.block_offset[i];
                       b < fine_rows.block_offset[i + 1];
                       ++b)
                    {
                      const unsigned int j = fine_rows.block_column[b];
                      for (unsigned int side = 0; side < 2; ++side)
                        {
                          if (transfer.polytope[2 * std::uint64_t(j) + side] !=
                              l)
                            continue;
                          const unsigned int  n_j = transfer.n_modes(j);
                          const Number *const Q =
                            transfer.matrix_of(2 * j + side);
                          const Number *row = fine + fine_rows.value_offset[i] +
                                              fine_rows.column_offset[b];
                          for (unsigned int m = 0; m < n_i; ++m, row += width)
                            {
                              Number half[n] = {};
                              for (unsigned int q = 0; q < n_j; ++q)
                                for (unsigned int c = 0; c < n; ++c)
                                  half[c] += row[q] * Q[c * n_j + q];
                              for (unsigned int r = 0; r < n; ++r)
                                for (unsigned int c = 0; c < n; ++c)
                                  sum[r][c] += P[r * n_i + m] * half[c];
                            }
                        }
                    }
                }
              Number *const to = coarse + coarse_rows.value_offset[k] +
                                 coarse_rows.column_offset[B];
              for (unsigned int r = 0; r < n; ++r)
                for (unsigned int c = 0; c < n; ++c)
                  to[r * coarse_rows.row_width[k] + c] = sum[r][c];
            });
        }

        /// A warp for each block row, a lane for each block of @p from.
        template <typename Number>
        __global__ void
        __launch_bounds__(n_threads)
          add_blocks_kernel(const BlockRows from_rows,
                            const BlockRows to_rows,
                            const Number    factor,
                            const Number *__restrict__ from,
                            Number *__restrict__ to)
        {
          for_blocks_of_warp(
            from_rows, [&](const unsigned int k, const std::uint64_t b) {
              const unsigned int l = from_rows.block_column[b];
              // Columns of a row are in ascending order.
              std::uint64_t low  = to_rows.block_offset[k],
                            high = to_rows.block_offset[k + 1];
              while (high - low > 1)
                {
                  const std::uint64_t middle = (low + high) / 2;
                  if (to_rows.block_column[middle] <= l)
                    low = middle;
                  else
                    high = middle;
                }
              const unsigned int n_k = from_rows.size(k),
                                 n_l = from_rows.size(l);
              const Number *const source =
                from + from_rows.value_offset[k] + from_rows.column_offset[b];
              Number *const target =
                to + to_rows.value_offset[k] + to_rows.column_offset[low];
              for (unsigned int i = 0; i < n_k; ++i)
                for (unsigned int j = 0; j < n_l; ++j)
                  target[i * to_rows.row_width[k] + j] +=
                    factor * source[i * from_rows.row_width[k] + j];
            });
        }

        template <typename Number>
        __global__ void
        __launch_bounds__(n_threads)
          first_entries_kernel(const BlockRows rows,
                               const Number *__restrict__ values,
                               Number *__restrict__ to)
        {
          const std::uint64_t k = thread_number();
          if (k >= rows.n)
            return;
          for (std::uint64_t b = rows.block_offset[k];
               b < rows.block_offset[k + 1];
               ++b)
            to[b] = values[rows.value_offset[k] + rows.column_offset[b]];
        }

        /// Starts a thread for each of @p n numbers. The kernel must call
        /// wait_for_previous().
        template <typename Kernel, typename... Arguments>
        void
        start_for_all(const Kernel        kernel,
                      const char         *what,
                      const std::uint64_t n,
                      const Arguments &...arguments)
        {
          if (n > 0)
            start_kernel(what,
                         kernel,
                         static_cast<unsigned int>((n + n_threads - 1) /
                                                   n_threads),
                         n_threads,
                         0,
                         arguments...);
        }

        template <typename... Arguments>
        void
        start(void (*kernel)(Arguments...),
              const char         *what,
              const std::uint64_t n,
              const std::uint64_t per_block,
              const Arguments... arguments)
        {
          if (n == 0)
            return;
          kernel<<<static_cast<unsigned int>((n + per_block - 1) / per_block),
                   n_threads,
                   0,
                   current_stream()>>>(arguments...);
          check(cudaGetLastError(), what);
        }
      } // namespace



      template <typename Number>
      void
      Interfaces<Number>::restrict_to(
        const InterfaceTransfer<Number> &transfer,
        const EntriesWithGhosts<Number> &interfaces,
        Number                          *polytopes)
      {
        start_for_all(interface_restrict_kernel<Number>,
                      "a restriction to polytopes",
                      std::uint64_t(transfer.n_polytopes) *
                        transfer.n_functions,
                      transfer,
                      interfaces,
                      polytopes);
      }



      template <typename Number>
      void
      Interfaces<Number>::prolongate_add(
        const InterfaceTransfer<Number> &transfer,
        const EntriesWithGhosts<Number> &polytopes,
        Number                          *interfaces)
      {
        start_for_all(interface_prolongate_kernel<Number>,
                      "a prolongation to interfaces",
                      std::uint64_t(transfer.n_blocks) * transfer.max_modes,
                      transfer,
                      polytopes,
                      interfaces);
      }



      template <typename Number>
      void
      Interfaces<Number>::galerkin(const InterfaceTransfer<Number> &transfer,
                                   const BlockRows                 &fine_rows,
                                   const BlockRows                 &coarse_rows,
                                   const Number                    *fine,
                                   Number                          *coarse)
      {
        start<InterfaceTransfer<Number>,
              BlockRows,
              BlockRows,
              const Number *,
              Number *>(transfer.n_functions == 3
                          ? interface_galerkin_kernel<Number, 3>
                          : interface_galerkin_kernel<Number, 4>,
                        "coarse operators of trace multigrid",
                        coarse_rows.n,
                        n_threads / 32,
                        transfer,
                        fine_rows,
                        coarse_rows,
                        fine,
                        coarse);
      }



      template <typename Number>
      void
      Interfaces<Number>::add_blocks(const BlockRows &from_rows,
                                     const BlockRows &to_rows,
                                     const Number     factor,
                                     const Number    *from,
                                     Number          *to)
      {
        start<BlockRows, BlockRows, Number, const Number *, Number *>(
          add_blocks_kernel<Number>,
          "a sum of block matrices",
          from_rows.n,
          n_threads / 32,
          from_rows,
          to_rows,
          factor,
          from,
          to);
      }



      template <typename Number>
      void
      Interfaces<Number>::first_entries(const BlockRows &rows,
                                        const Number    *values,
                                        Number          *to)
      {
        start<BlockRows, const Number *, Number *>(first_entries_kernel<Number>,
                                                   "a copy of first entries",
                                                   rows.n,
                                                   n_threads,
                                                   rows,
                                                   values,
                                                   to);
      }



      template struct Interfaces<double>;
      template struct Interfaces<float>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

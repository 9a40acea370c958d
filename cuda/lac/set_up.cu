// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "../device/memory.h"
#include "set_up.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr unsigned int n_threads = 256;

        unsigned int
        n_thread_blocks(const std::size_t n)
        {
          return static_cast<unsigned int>((n + n_threads - 1) / n_threads);
        }

        __device__ std::size_t
                   index_of_thread()
        {
          return std::size_t(blockIdx.x) * n_threads + threadIdx.x;
        }

        template <typename Number>
        __global__ void
        __launch_bounds__(n_threads) random_kernel(const std::size_t   n,
                                                   const std::uint64_t first,
                                                   Number             *y)
        {
          const std::size_t i = index_of_thread();
          if (i < n)
            y[i] = static_cast<Number>(pseudo_random_number(first + i));
        }

        template <typename Index>
        __global__ void
        __launch_bounds__(n_threads) index_kernel(const std::size_t n, Index *y)
        {
          const std::size_t i = index_of_thread();
          if (i < n)
            y[i] = static_cast<Index>(i);
        }

        /// Eight lanes for each block row.
        __global__ void
        __launch_bounds__(n_threads) rows_kernel(const unsigned int   n,
                                                 const std::uint64_t *offset,
                                                 unsigned int        *row)
        {
          const std::size_t k = index_of_thread() / 8;
          if (k < n)
            for (std::uint64_t i = offset[k] + threadIdx.x % 8;
                 i < offset[k + 1];
                 i += 8)
              row[i] = static_cast<unsigned int>(k);
        }
      } // namespace



      template <typename Number>
      void
      set_pseudo_random(const std::size_t   n,
                        const std::uint64_t first,
                        Number             *y)
      {
        if (n == 0)
          return;
        random_kernel<<<n_thread_blocks(n), n_threads, 0, current_stream()>>>(
          n, first, y);
        check(cudaGetLastError(), "the set-up of a preconditioner");
      }



      template <typename Index>
      void
      set_indices(const std::size_t n, Index *y)
      {
        if (n == 0)
          return;
        index_kernel<<<n_thread_blocks(n), n_threads, 0, current_stream()>>>(n,
                                                                             y);
        check(cudaGetLastError(), "the set-up of a preconditioner");
      }



      void
      set_rows_of_blocks(const unsigned int   n,
                         const std::uint64_t *offset,
                         unsigned int        *row)
      {
        if (n == 0)
          return;
        rows_kernel<<<n_thread_blocks(std::size_t(8) * n),
                      n_threads,
                      0,
                      current_stream()>>>(n, offset, row);
        check(cudaGetLastError(), "the set-up of a preconditioner");
      }



      template void
      set_pseudo_random(const std::size_t, const std::uint64_t, double *);
      template void
      set_pseudo_random(const std::size_t, const std::uint64_t, float *);
      template void
      set_indices(const std::size_t, unsigned int *);
      template void
      set_indices(const std::size_t, std::uint64_t *);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "../device/memory.h"
#include "sub_blocks.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr unsigned int n_threads = 128;

        /// One thread block for each block row; a warp copies a block, so that
        /// its lanes read and write entries that follow each other.
        template <typename Number>
        __global__ void
        __launch_bounds__(n_threads)
          sub_blocks_kernel(const SubBlocks    blocks,
                            const unsigned int test,
                            const unsigned int trial,
                            const Number *__restrict__ from,
                            Number *__restrict__ to)
        {
          const unsigned int k = blockIdx.x, lane = threadIdx.x % 32,
                             n_rows = blocks.n_rows[k],
                             read   = blocks.from_width[k],
                             write  = blocks.to_width[k];
          from += blocks.from_value[k];
          to += blocks.to_value[k] + std::uint64_t(test) * n_rows * write;
          const std::uint64_t end = blocks.block_offset[k + 1];
          for (std::uint64_t b = blocks.block_offset[k] + threadIdx.x / 32;
               b < end;
               b += n_threads / 32)
            {
              const unsigned int  n_columns = blocks.n_columns[b];
              const Number *const source    = from + blocks.from_column[b];
              Number *const       target =
                to + blocks.to_column[b] + trial * n_columns;
              for (unsigned int e = lane; e < n_rows * n_columns; e += 32)
                {
                  const unsigned int i = e / n_columns, j = e - i * n_columns;
                  target[std::uint64_t(i) * write + j] =
                    source[std::uint64_t(i) * read + j];
                }
            }
        }

        template <typename Number>
        __global__ void
        __launch_bounds__(n_threads)
          sub_rows_kernel(const SubBlocks    blocks,
                          const unsigned int test,
                          const Number *__restrict__ from,
                          Number *__restrict__ to)
        {
          // A warp for each block row.
          const unsigned int k =
            blockIdx.x * (n_threads / 32) + threadIdx.x / 32;
          if (k >= blocks.n_block_rows)
            return;
          const unsigned int n = blocks.n_rows[k];
          for (unsigned int i = threadIdx.x % 32; i < n; i += 32)
            to[blocks.to_row[k] + test * n + i] = from[blocks.from_row[k] + i];
        }
      } // namespace



      template <typename Number>
      void
      copy_sub_blocks(const SubBlocks   &blocks,
                      const unsigned int test,
                      const unsigned int trial,
                      const Number      *from,
                      Number            *to)
      {
        if (blocks.n_block_rows == 0)
          return;
        sub_blocks_kernel<<<blocks.n_block_rows,
                            n_threads,
                            0,
                            current_stream()>>>(blocks, test, trial, from, to);
        check(cudaGetLastError(), "a copy of blocks");
      }



      template <typename Number>
      void
      copy_sub_rows(const SubBlocks   &blocks,
                    const unsigned int test,
                    const Number      *from,
                    Number            *to)
      {
        if (blocks.n_block_rows == 0)
          return;
        constexpr unsigned int n_warps = n_threads / 32;
        sub_rows_kernel<<<(blocks.n_block_rows + n_warps - 1) / n_warps,
                          n_threads,
                          0,
                          current_stream()>>>(blocks, test, from, to);
        check(cudaGetLastError(), "a copy of the rows of a component");
      }



#define TESSELLA_INSTANTIATE(Number)                \
  template void copy_sub_blocks(const SubBlocks &,  \
                                const unsigned int, \
                                const unsigned int, \
                                const Number *,     \
                                Number *);          \
  template void copy_sub_rows(const SubBlocks &,    \
                              const unsigned int,   \
                              const Number *,       \
                              Number *);

      TESSELLA_INSTANTIATE(double)
      TESSELLA_INSTANTIATE(float)
#undef TESSELLA_INSTANTIATE
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

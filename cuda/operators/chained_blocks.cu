// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "../device/memory.h"
#include "chained_blocks.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr unsigned int n_threads = 128;

        /// One block row per thread block.
        __global__ void
        __launch_bounds__(n_threads)
          chained_blocks_kernel(const ChainedRows   rows,
                                const unsigned int  begin,
                                const std::uint64_t first_value,
                                const double *__restrict__ given,
                                const double *__restrict__ derivative,
                                double *__restrict__ values)
        {
          const unsigned int  k     = begin + blockIdx.x;
          const std::uint64_t value = rows.value_offset[k];
          const unsigned int  width = rows.row_width[k],
                             n_rows = static_cast<unsigned int>(
                               rows.dof_offset[k + 1] - rows.dof_offset[k]);
          for (std::uint64_t b = rows.block_offset[k];
               b < rows.block_offset[k + 1];
               ++b)
            {
              const unsigned int  j     = rows.block_column[b];
              const std::uint64_t first = rows.dof_offset[j];
              const unsigned int  n =
                static_cast<unsigned int>(rows.dof_offset[j + 1] - first);
              bool is_used = false;
              for (unsigned int c = threadIdx.x; c < n; c += n_threads)
                is_used = is_used || derivative[first + c] != 0.;
              // The derivative vanishes on most polytopes.
              if (__syncthreads_or(is_used) == 0)
                continue;
              const std::uint64_t column = value + rows.column_offset[b];
              for (unsigned int e = threadIdx.x; e < n_rows * n; e += n_threads)
                {
                  const unsigned int  r = e / n, c = e - r * n;
                  const std::uint64_t left = column + std::uint64_t(r) * width;
                  values[left + c] +=
                    given[left - first_value] * derivative[first + c];
                }
            }
        }
      } // namespace



      void
      add_chained_blocks(const ChainedRows  &rows,
                         const unsigned int  begin,
                         const unsigned int  end,
                         const std::uint64_t first_value,
                         const double       *given,
                         const double       *derivative,
                         double             *values)
      {
        if (begin == end)
          return;
        chained_blocks_kernel<<<end - begin, n_threads, 0, current_stream()>>>(
          rows, begin, first_value, given, derivative, values);
        check(cudaGetLastError(), "the derivatives of a field");
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

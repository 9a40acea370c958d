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

        /// One block row per warp. Lanes look at the entries of the first
        /// functions of a pair of components each.
        __global__ void
        __launch_bounds__(n_threads)
          check_blocks_kernel(const ChainedRows  rows,
                              const unsigned int n_test,
                              const unsigned int n_trial,
                              const unsigned int *__restrict__ n_basis,
                              const unsigned int  begin,
                              const unsigned int  end,
                              const std::uint64_t first_value,
                              const double *__restrict__ values,
                              unsigned long long *error)
        {
          const unsigned int k =
            begin + (blockIdx.x * n_threads + threadIdx.x) / 32;
          if (k >= end)
            return;
          const bool          all   = rows.block_offset != nullptr;
          const std::uint64_t block = all ? rows.block_offset[k] : 0;
          const unsigned int  pairs = n_test * n_trial,
                             n_entries =
                               pairs * (all
                                          ? static_cast<unsigned int>(
                                              rows.block_offset[k + 1] - block)
                                          : 1);
          const double *const row =
            values + (rows.value_offset[k] - first_value);
          const std::size_t distance =
            std::size_t(n_basis[k]) * rows.row_width[k];
          for (unsigned int i = threadIdx.x % 32; i < n_entries; i += 32)
            {
              const unsigned int b = i / pairs, pair = i - b * pairs,
                                 c = pair / n_trial, e = pair - c * n_trial,
                                 j = all ? rows.block_column[block + b] : k,
                                 column =
                                   all ? rows.column_offset[block + b] : 0;
              if (!isfinite(row[c * distance + column + e * n_basis[j]]))
                atomicMin(error, polytope_error_code(k, c));
            }
        }
      } // namespace



      void
      check_blocks(const ChainedRows  &rows,
                   const unsigned int  n_test,
                   const unsigned int  n_trial,
                   const unsigned int *n_basis,
                   const unsigned int  begin,
                   const unsigned int  end,
                   const std::uint64_t first_value,
                   const double       *values,
                   unsigned long long *error)
      {
        if (begin == end)
          return;
        constexpr unsigned int n_warps = n_threads / 32;
        check_blocks_kernel<<<(end - begin + n_warps - 1) / n_warps,
                              n_threads,
                              0,
                              current_stream()>>>(rows,
                                                  n_test,
                                                  n_trial,
                                                  n_basis,
                                                  begin,
                                                  end,
                                                  first_value,
                                                  values,
                                                  error);
        check(cudaGetLastError(), "the check of a Jacobian");
      }



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

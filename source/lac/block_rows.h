// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_block_rows_h
#define tessella_source_lac_block_rows_h

#include <deal.II/base/parallel.h>

#include <tessella/lac/block_sparsity.h>

#include <atomic>
#include <cstdint>
#include <vector>

// Loops over the block rows of a matrix and the columns of a block row.

namespace Tessella
{
  namespace internal
  {
    /// Whether all k < n satisfy a condition; the threads share the loop.
    template <typename Condition>
    bool
    all_of_block_rows(const unsigned int n,
                      const unsigned int grain_size,
                      const Condition   &condition)
    {
      std::atomic<bool> result(true);
      dealii::parallel::apply_to_subranges(
        0u,
        n,
        [&](const unsigned int begin, const unsigned int end) {
          for (unsigned int k = begin; k < end; ++k)
            if (!condition(k))
              {
                result = false;
                return;
              }
        },
        grain_size);
      return result;
    }

    /// Calls work(j) for all columns j of block row @p k, block by block.
    template <typename Work>
    void
    for_columns(const BlockSparsity              &sparsity,
                const std::vector<std::uint64_t> &dof_offset,
                const unsigned int                k,
                const Work                       &work)
    {
      for (std::uint64_t b = sparsity.block_offset[k];
           b < sparsity.block_offset[k + 1];
           ++b)
        for (std::uint64_t j = dof_offset[sparsity.block_column[b]];
             j < dof_offset[sparsity.block_column[b] + 1];
             ++j)
          work(j);
    }
  } // namespace internal
} // namespace Tessella

#endif

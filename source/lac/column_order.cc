// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "column_order.h"

#include <algorithm>
#include <numeric>

namespace Tessella
{
  namespace internal
  {
    std::vector<std::uint64_t>
    ordered_blocks(const BlockMatrixBase &matrix)
    {
      const BlockSparsity              &sparsity   = matrix.block_sparsity();
      const std::vector<std::uint64_t> &dof_offset = matrix.dof_offset();
      const auto                       &partition  = matrix.partition();
      const unsigned int                n          = sparsity.row_width.size();
      std::vector<std::uint64_t>        blocks(sparsity.block_column.size());
      std::iota(blocks.begin(), blocks.end(), std::uint64_t(0));
      if (partition == nullptr)
        return blocks;
      const auto first_column = [&](const std::uint64_t b) {
        const unsigned int l = sparsity.block_column[b];
        return l < n ? partition->first_row() + dof_offset[l]
                     : partition->first_ghost_rows()[l - n];
      };
      for (unsigned int k = 0; k < n; ++k)
        {
          const std::uint64_t end = sparsity.block_offset[k + 1];
          // Columns are in ascending order, so the last block shows whether the
          // row has ghosts.
          if (end > sparsity.block_offset[k] &&
              sparsity.block_column[end - 1] >= n)
            std::stable_sort(blocks.begin() + sparsity.block_offset[k],
                             blocks.begin() + end,
                             [&](const std::uint64_t a, const std::uint64_t b) {
                               return first_column(a) < first_column(b);
                             });
        }
      return blocks;
    }
  } // namespace internal
} // namespace Tessella

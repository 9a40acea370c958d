// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_column_order_h
#define tessella_source_lac_column_order_h

#include <tessella/lac/block_matrix_base.h>

#include <cstdint>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /**
     * Indices of the blocks in the order of summation. The blocks of a block
     * row keep their range of positions in @p matrix and are sorted in it by
     * their first column in the global matrix. In rows without ghosts this is
     * the order of the matrix.
     */
    std::vector<std::uint64_t>
    ordered_blocks(const BlockMatrixBase &matrix);
  } // namespace internal
} // namespace Tessella

#endif

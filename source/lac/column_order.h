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
     * The blocks in the order in which sums go through them: those of a block
     * row lie where they do in @p matrix, sorted by the first column that they
     * have in the matrix of all processes. In rows without ghosts they are in
     * this order already.
     */
    std::vector<std::uint64_t>
    ordered_blocks(const BlockMatrixBase &matrix);
  } // namespace internal
} // namespace Tessella

#endif

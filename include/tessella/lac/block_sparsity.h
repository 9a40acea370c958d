// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_block_sparsity_h
#define tessella_lac_block_sparsity_h

#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace Tessella
{
  /**
   * Couplings between polytopes, and positions of the blocks in a CSR matrix,
   * computed per block, in time proportional to the number of blocks.
   *
   * Block row k has n_k = dofs of polytope k rows of equal width W_k (the sum
   * of the dofs of k and its neighbours). Entry (i, j) of the block with index
   * m is at value_offset[k] + i * W_k + column_offset[m] + j.
   *
   * With several processes there are rows for the polytopes that a process
   * owns, and columns for these and the ghosts, numbered as in its
   * PolytopicMesh: owned blocks of a row come first.
   */
  struct BlockSparsity
  {
    /// Blocks of polytope k are block_offset[k] .. block_offset[k+1].
    std::vector<std::uint64_t> block_offset;
    /// Polytope of each block's columns, in ascending order, including the
    /// polytope of the block row itself.
    std::vector<unsigned int> block_column;
    /// First column of each block within the rows of its block row.
    std::vector<unsigned int> column_offset;
    /// Number of entries per row of each block row.
    std::vector<unsigned int> row_width;
    /// First value of each block row, and the number of values at the end.
    std::vector<std::uint64_t> value_offset;

    /// Sparsity of a space on a flat view.
    template <int dim>
    static BlockSparsity
    from_mesh(const PolytopicMesh<dim> &mesh, const PolytopicDoFs &dofs);

    /// Result of find_block() for a block that does not exist.
    static constexpr std::uint64_t no_block = ~std::uint64_t(0);
    /// Index of the block of block row @p row in block column @p column.
    std::uint64_t
    find_block(const unsigned int row, const unsigned int column) const;

    std::uint64_t
    n_nonzero_elements() const
    {
      return value_offset.empty() ? 0 : value_offset.back();
    }

    std::size_t
    memory_consumption() const;
  };
} // namespace Tessella

#endif

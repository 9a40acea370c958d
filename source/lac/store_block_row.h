// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_store_block_row_h
#define tessella_source_lac_store_block_row_h

#include <deal.II/lac/sparse_matrix.h>

#include <tessella/lac/block_sparsity.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /// Writes the values of block row @p k into a deal.II matrix of this
    /// structure. The deal.II matrix stores the diagonal entry first in each
    /// row, and its rows lie one after the other in the array that
    /// diag_element() accesses.
    template <typename Number>
    void
    store_block_row(dealii::SparseMatrix<Number>     &matrix,
                    const BlockSparsity              &sparsity,
                    const std::vector<std::uint64_t> &dof_offset,
                    const unsigned int                k,
                    const Number                     *values)
    {
      const unsigned int width    = sparsity.row_width[k];
      std::size_t        diagonal = 0; // position of the first row's diagonal
      for (std::uint64_t b = sparsity.block_offset[k];
           sparsity.block_column[b] != k;
           ++b)
        diagonal += dof_offset[sparsity.block_column[b] + 1] -
                    dof_offset[sparsity.block_column[b]];
      Number *to = &matrix.diag_element(dof_offset[k]);
      for (std::uint64_t row = dof_offset[k]; row < dof_offset[k + 1];
           ++row, ++diagonal, values += width, to += width)
        {
          to[0] = values[diagonal];
          std::copy(values, values + diagonal, to + 1);
          std::copy(values + diagonal + 1, values + width, to + diagonal + 1);
        }
    }
  } // namespace internal
} // namespace Tessella

#endif

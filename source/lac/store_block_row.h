// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_source_lac_store_block_row_h
#define tessella_source_lac_store_block_row_h

#include <deal.II/lac/sparse_matrix.h>

#include <tessella/assembly/block_sparsity.h>

#include <cstdint>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /// Writes the values of block row @p k into a matrix of deal.II, which
    /// keeps the diagonal entry first in each row.
    template <typename Number>
    void
    store_block_row(dealii::SparseMatrix<Number>     &matrix,
                    const BlockSparsity              &sparsity,
                    const std::vector<std::uint64_t> &dof_offset,
                    const unsigned int                k,
                    const Number                     *values)
    {
      const unsigned int width    = sparsity.row_width[k];
      unsigned int       diagonal = 0; // position of the first row's diagonal
      for (std::uint64_t b = sparsity.block_offset[k];
           sparsity.block_column[b] != k;
           ++b)
        diagonal += dof_offset[sparsity.block_column[b] + 1] -
                    dof_offset[sparsity.block_column[b]];
      for (std::uint64_t row = dof_offset[k]; row < dof_offset[k + 1];
           ++row, ++diagonal, values += width)
        {
          auto entry     = matrix.begin(row);
          entry->value() = values[diagonal];
          ++entry;
          for (unsigned int c = 0; c < width; ++c)
            if (c != diagonal)
              {
                entry->value() = values[c];
                ++entry;
              }
        }
    }
  } // namespace internal
} // namespace Tessella

#endif

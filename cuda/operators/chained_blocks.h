// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_operators_chained_blocks_h
#define tessella_cuda_operators_chained_blocks_h

#include <cstdint>

// Last step of PointwiseOperator::add_chained_jacobian(), for device memory.
// The kernel runs in the present stream (graph.h).

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Block rows of a matrix as in BlockSparsity; dof_offset has the columns
      /// of ghosts, too.
      struct ChainedRows
      {
        const std::uint64_t *dof_offset, *block_offset, *value_offset;
        const unsigned int  *block_column, *column_offset, *row_width;
      };

      /**
       * Adds to each block (k, j) of the block rows from @p begin to @p end - 1
       * of @p values the product of the first column of the same block of
       * @p given and the row of the entries of @p derivative that belong to
       * polytope j. Entry 0 of @p given is the first value of row @p begin.
       */
      void
      add_chained_blocks(const ChainedRows  &rows,
                         const unsigned int  begin,
                         const unsigned int  end,
                         const std::uint64_t first_value,
                         const double       *given,
                         const double       *derivative,
                         double             *values);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_transpose_plan_h
#define tessella_source_lac_transpose_plan_h

#include <tessella/lac/block_matrix_base.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /**
     * Order of summation in y = A^T x. Block k of y is the sum of A_lk^T x_l
     * over the block rows l, whose owners compute these contributions. They are
     * added one by one in the order of the block rows of all processes, which
     * is the same for every number of processes.
     *
     * With @p whole_blocks, the blocks A_lk themselves are exchanged, row by
     * row, and all numbers of entries below are numbers of their values.
     */
    struct TransposePlan
    {
      /// Range of contributions that are sent to or received from another
      /// process.
      struct Partner
      {
        unsigned int rank;
        std::size_t  first_row, last_row; ///< range of entries
      };

      /// Collective. Throws if the structure is not symmetric.
      explicit TransposePlan(const BlockMatrixBase &matrix,
                             const bool             whole_blocks = false);

      /// Contributions to block k have indices offset[k] .. offset[k+1].
      std::vector<std::uint64_t> offset;
      /// Local block row of each contribution.
      std::vector<unsigned int> row;
      /// Index of the block for own block rows, else the first received entry.
      std::vector<std::uint64_t> place;

      // ---- Sent contributions in the order of sending: block rows, indices of
      // the blocks, and first entry of each in the send buffer, with the total
      // at the end.
      std::vector<unsigned int>  sent_row;
      std::vector<std::uint64_t> sent_block, sent_first;
      std::vector<Partner>       sends, receives;
      std::size_t                n_received = 0;

      std::size_t
      memory_consumption() const;

    private:
      struct Exchange;

      Exchange
      list_contributions(const BlockMatrixBase &matrix,
                         const bool             whole_blocks);
      void
      add_messages(const unsigned int rank,
                   const std::size_t  p,
                   const Exchange    &exchange);
    };
  } // namespace internal
} // namespace Tessella

#endif

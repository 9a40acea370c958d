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
     * How y = A^T x is put together. Block k of y is the sum of A_lk^T x_l over
     * the block rows l, whose owners compute these contributions. They are
     * added one by one in the order of the block rows of all processes: the
     * same order for every number of them.
     */
    struct TransposePlan
    {
      /// Contributions that are sent to, or come from, another process.
      struct Partner
      {
        unsigned int rank;
        std::size_t  first_row, last_row; ///< entries
      };

      /// Collective. Throws if the structure is not symmetric.
      explicit TransposePlan(const BlockMatrixBase &matrix);

      /// Contributions to block k are number offset[k] .. offset[k+1].
      std::vector<std::uint64_t> offset;
      /// Block row of each contribution, in the numbers of this process.
      std::vector<unsigned int> row;
      /// Own rows: number of the block; else the first entry of what comes.
      std::vector<std::uint64_t> place;

      // ---- what is sent, in this order: block rows, numbers of blocks, and
      // the first entry of each, their number at the end
      std::vector<unsigned int>  sent_row;
      std::vector<std::uint64_t> sent_block, sent_first;
      std::vector<Partner>       sends, receives;
      std::size_t                n_received = 0;

      std::size_t
      memory_consumption() const;
    };
  } // namespace internal
} // namespace Tessella

#endif

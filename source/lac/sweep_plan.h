// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_sweep_plan_h
#define tessella_source_lac_sweep_plan_h

#include <tessella/lac/block_matrix_base.h>

#include <cstdint>
#include <vector>

#include "../../cuda/lac/sweeps.h"

namespace Tessella
{
  namespace internal
  {
    struct TransposePlan;

    /// Block rows in the order of the steps of a sweep.
    struct SweepPlan
    {
      /// Step s has the rows step_offset[s] .. step_offset[s+1].
      std::vector<unsigned int> step_offset;
      std::vector<SweepRow>     rows;
      std::vector<SweepBlock>   blocks;
      /// Block row of each row; stored block of each block, as an index of the
      /// BlockSparsity.
      std::vector<unsigned int>  row_index;
      std::vector<std::uint64_t> block_index;
      /// See SweepStep.
      unsigned int max_size = 0, divisor = 4;

      /**
       * @p step has the step of each block row, those of ghosts included;
       * blocks in columns of ghosts with step invalid_index are left out.
       * Blocks are read from the matrix, those of the transpose if
       * @p transpose is set; blocks of the transpose in columns of ghosts
       * belong to other processes and must be received, see pack_transposed().
       * Throws if two coupled block rows have the same step or the structure is
       * not symmetric.
       */
      void
      reinit(const BlockMatrixBase           &matrix,
             const std::vector<unsigned int> &step,
             const unsigned int               n_steps,
             const bool                       transpose);

      /// Places of the blocks in storage without gaps in the order of this
      /// plan, for each block of the BlockSparsity, and list of copies into it.
      std::vector<std::uint64_t>
      pack(std::vector<BlockCopy> &copies) const;
      /// The same for a plan of the transpose on several processes, and lets
      /// the blocks be read from there: the values that @p exchange receives
      /// come first, and @p copies lists the copies of this process' blocks.
      /// Returns the number of values. @p exchange is of whole blocks.
      std::uint64_t
      pack_transposed(const BlockMatrixBase  &matrix,
                      const TransposePlan    &exchange,
                      std::vector<BlockCopy> &copies);
      /// Lets the blocks be read from storage without gaps.
      void
      read_packed(const std::vector<std::uint64_t> &place,
                  const bool                        transpose);

      /// Lets max_size and divisor be those of all processes.
      void
      reduce_sizes(const MPI_Comm communicator);

      /// Number of values of the off-diagonal blocks.
      std::uint64_t
      n_values() const;
    };

    /// Updates of an incomplete factorisation in the order of a SweepPlan that
    /// reads packed blocks. The diagonal blocks follow the other values.
    struct FactorPlan
    {
      std::vector<unsigned int>  size; ///< rows of each row of the plan
      std::vector<std::uint64_t> pivot_offset;
      std::vector<FactorPivot>   pivots;
      std::vector<FactorUpdate>  updates;
      /// First value of each diagonal block among those of the diagonal blocks,
      /// in the order of the plan, and their number.
      std::vector<std::uint64_t> square;

      void
      reinit(const BlockMatrixBase            &matrix,
             const std::vector<unsigned int>  &step,
             const SweepPlan                  &plan,
             const std::vector<std::uint64_t> &place);
    };
  } // namespace internal
} // namespace Tessella

#endif

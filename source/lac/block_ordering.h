// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_block_ordering_h
#define tessella_source_lac_block_ordering_h

#include <tessella/lac/block_matrix_base.h>

#include <cstdint>
#include <vector>

// Orders in which sweeps go through the block rows of a matrix.

namespace Tessella
{
  namespace internal
  {
    /// Colour of each owned block row: the lowest one that no coupled block row
    /// with a lower global index has. Collective; sets @p n_colors to the
    /// number of colours of all processes.
    std::vector<unsigned int>
    greedy_colors(const BlockMatrixBase &matrix, unsigned int &n_colors);

    /// Reverse numbering of Cuthill and McKee of the owned block rows: the
    /// number of each of them. Searches start at block rows with few
    /// neighbours.
    std::vector<unsigned int>
    reverse_cuthill_mckee(const BlockSparsity &sparsity);

    /// Numbering of the owned block rows along the flow, see
    /// SweepOrdering::downwind. @p values: those of the matrix, on the host.
    /// Number: double or float. Cost: to read the matrix once, and n log n.
    template <typename Number>
    std::vector<unsigned int>
    downwind_numbering(const BlockSparsity              &sparsity,
                       const std::vector<std::uint64_t> &dof_offset,
                       const Number                     *values);

    /// Step of each owned block row: one more than the largest one of its
    /// neighbours with lower numbers.
    std::vector<unsigned int>
    wave_fronts(const BlockSparsity             &sparsity,
                const std::vector<unsigned int> &numbering,
                unsigned int                    &n_steps);
  } // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_diagonal_blocks_h
#define tessella_source_lac_diagonal_blocks_h

#include <deal.II/base/mpi.h>

#include <tessella/lac/block_partition.h>
#include <tessella/lac/block_sparsity.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /// Structure of diagonal blocks alone.
    inline BlockSparsity
    diagonal_sparsity(const std::vector<std::uint64_t> &dof_offset)
    {
      BlockSparsity      result;
      const unsigned int n = dof_offset.size() - 1;
      result.block_offset.resize(n + 1);
      std::iota(result.block_offset.begin(), result.block_offset.end(), 0);
      result.block_column.resize(n);
      std::iota(result.block_column.begin(), result.block_column.end(), 0);
      result.column_offset.assign(n, 0);
      result.value_offset.assign(1, 0);
      for (unsigned int k = 0; k < n; ++k)
        {
          const std::uint64_t size = dof_offset[k + 1] - dof_offset[k];
          result.row_width.push_back(size);
          result.value_offset.push_back(result.value_offset.back() +
                                        size * size);
        }
      return result;
    }

    /// Distribution of block rows over processes, null on one process; those
    /// of this process begin at @p dof_offset, and there are no ghosts.
    /// Collective.
    inline std::shared_ptr<const BlockPartition>
    partition_without_ghosts(const MPI_Comm                    communicator,
                             const std::vector<std::uint64_t> &dof_offset)
    {
      if (dealii::Utilities::MPI::n_mpi_processes(communicator) == 1)
        return nullptr;
      return std::make_shared<const BlockPartition>(
        communicator,
        dof_offset,
        dof_offset.size() - 1,
        std::vector<std::uint64_t>());
    }
  } // namespace internal
} // namespace Tessella

#endif

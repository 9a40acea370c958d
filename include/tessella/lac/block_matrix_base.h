// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_block_matrix_base_h
#define tessella_lac_block_matrix_base_h

#include <deal.II/base/types.h>

#include <tessella/base/compatibility.h>
#include <tessella/lac/block_partition.h>
#include <tessella/lac/block_sparsity.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace Tessella
{
  /// Structure of a HostBlockMatrix or a DeviceBlockMatrix.
  class BlockMatrixBase : public Subscriptor
  {
  public:
    using size_type = dealii::types::global_dof_index;

    /// Number of rows (columns) of all processes.
    size_type
    m() const
    {
      return structure == nullptr              ? 0
             : structure->partition == nullptr ? structure->dof_offset.back()
                                               : structure->partition->n_rows();
    }
    size_type
    n() const
    {
      return m();
    }
    bool
    empty() const
    {
      return m() == 0;
    }
    /// Number of rows of this process.
    std::uint64_t
    n_owned_rows() const;
    /// Revision of the structure and of the memory of the values, renewed by
    /// each reinit(); zero without a structure.
    std::uint64_t
    revision() const;
    /// Number of stored entries of this process.
    std::uint64_t
    n_nonzero_elements() const;

    /// Block rows of this process, in its local numbering.
    const BlockSparsity &
    block_sparsity() const;
    /// First row of each block, and the number of rows at the end. Blocks of
    /// other processes that occur as columns come last.
    const std::vector<std::uint64_t> &
    dof_offset() const;
    /// Partition of the block rows; null if all rows are on one process.
    const std::shared_ptr<const BlockPartition> &
    partition() const;
    /// Communicator of the partition, or of this process alone if there is
    /// none.
    MPI_Comm
    communicator() const;

  protected:
    BlockMatrixBase() = default;
    BlockMatrixBase(BlockMatrixBase &&matrix) noexcept;
    BlockMatrixBase &
    operator=(BlockMatrixBase &&matrix) noexcept;

    void
    set_structure(BlockSparsity                              &&sparsity,
                  const std::vector<std::uint64_t>            &dof_offset,
                  const std::shared_ptr<const BlockPartition> &partition);
    /// Takes the structure of @p matrix, which both share.
    void
    share_structure(const BlockMatrixBase &matrix);
    void
    clear_structure();
    std::size_t
    structure_memory_consumption() const;

  private:
    struct Structure
    {
      BlockSparsity                         sparsity;
      std::vector<std::uint64_t>            dof_offset;
      std::shared_ptr<const BlockPartition> partition;
    };
    std::shared_ptr<const Structure> structure;
    std::uint64_t                    present_revision = 0;
  };



  namespace internal
  {
    /**
     * Indices of the blocks in the order of summation. The blocks of a block
     * row keep their range of positions in @p matrix and are sorted in it by
     * their first column in the global matrix. In rows without ghosts this is
     * the order of the matrix.
     */
    std::vector<std::uint64_t>
    ordered_blocks(const BlockMatrixBase &matrix);
  } // namespace internal
} // namespace Tessella

#endif

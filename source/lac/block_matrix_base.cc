// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/grid/revision.h>
#include <tessella/lac/block_matrix_base.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace Tessella
{
  using namespace dealii;

  BlockMatrixBase::BlockMatrixBase(BlockMatrixBase &&matrix) noexcept
    : structure(std::move(matrix.structure))
    , present_revision(matrix.present_revision)
  {}



  BlockMatrixBase &
  BlockMatrixBase::operator=(BlockMatrixBase &&matrix) noexcept
  {
    structure        = std::move(matrix.structure);
    present_revision = matrix.present_revision;
    return *this;
  }



  void
  BlockMatrixBase::set_structure(
    BlockSparsity                              &&sparsity,
    const std::vector<std::uint64_t>            &dof_offset,
    const std::shared_ptr<const BlockPartition> &partition)
  {
    const std::size_t n = sparsity.row_width.size();
    AssertThrow(partition == nullptr ? dof_offset.size() == n + 1
                                     : dof_offset.size() > n,
                ExcDimensionMismatch(dof_offset.size(), n + 1));
    AssertThrow(partition == nullptr ||
                  (partition->n_owned_rows() == dof_offset[n] &&
                   partition->n_owned_rows() + partition->n_ghost_rows() ==
                     dof_offset.back()),
                ExcMessage("The partition is not one of the rows of this "
                           "matrix."));
    structure = std::make_shared<const Structure>(
      Structure{std::move(sparsity), dof_offset, partition});
    present_revision = new_revision();
  }



  void
  BlockMatrixBase::share_structure(const BlockMatrixBase &matrix)
  {
    structure        = matrix.structure;
    present_revision = new_revision();
  }



  std::uint64_t
  BlockMatrixBase::revision() const
  {
    return structure == nullptr ? 0 : present_revision;
  }



  void
  BlockMatrixBase::clear_structure()
  {
    structure.reset();
  }



  std::uint64_t
  BlockMatrixBase::n_owned_rows() const
  {
    return structure == nullptr
             ? 0
             : structure->dof_offset[structure->sparsity.row_width.size()];
  }



  std::uint64_t
  BlockMatrixBase::n_nonzero_elements() const
  {
    return structure == nullptr ? 0 : structure->sparsity.n_nonzero_elements();
  }



  const BlockSparsity &
  BlockMatrixBase::block_sparsity() const
  {
    AssertThrow(structure != nullptr, ExcNotInitialized());
    return structure->sparsity;
  }



  const std::vector<std::uint64_t> &
  BlockMatrixBase::dof_offset() const
  {
    AssertThrow(structure != nullptr, ExcNotInitialized());
    return structure->dof_offset;
  }



  const std::shared_ptr<const BlockPartition> &
  BlockMatrixBase::partition() const
  {
    static const std::shared_ptr<const BlockPartition> none;
    return structure == nullptr ? none : structure->partition;
  }



  MPI_Comm
  BlockMatrixBase::communicator() const
  {
    return partition() == nullptr ? MPI_COMM_SELF : partition()->communicator();
  }



  std::size_t
  BlockMatrixBase::structure_memory_consumption() const
  {
    return structure == nullptr
             ? 0
             : structure->sparsity.memory_consumption() +
                 structure->dof_offset.capacity() * sizeof(std::uint64_t);
  }



  namespace internal
  {
    std::vector<std::uint64_t>
    ordered_blocks(const BlockMatrixBase &matrix)
    {
      const BlockSparsity              &sparsity   = matrix.block_sparsity();
      const std::vector<std::uint64_t> &dof_offset = matrix.dof_offset();
      const auto                       &partition  = matrix.partition();
      const unsigned int                n          = sparsity.row_width.size();
      std::vector<std::uint64_t>        blocks(sparsity.block_column.size());
      std::iota(blocks.begin(), blocks.end(), std::uint64_t(0));
      if (partition == nullptr)
        return blocks;
      const auto first_column = [&](const std::uint64_t b) {
        const unsigned int l = sparsity.block_column[b];
        return l < n ? partition->first_row() + dof_offset[l]
                     : partition->first_ghost_rows()[l - n];
      };
      for (unsigned int k = 0; k < n; ++k)
        {
          const std::uint64_t end = sparsity.block_offset[k + 1];
          // Columns are in ascending order, so the last block shows whether the
          // row has ghosts.
          if (end > sparsity.block_offset[k] &&
              sparsity.block_column[end - 1] >= n)
            std::stable_sort(blocks.begin() + sparsity.block_offset[k],
                             blocks.begin() + end,
                             [&](const std::uint64_t a, const std::uint64_t b) {
                               return first_column(a) < first_column(b);
                             });
        }
      return blocks;
    }
  } // namespace internal
} // namespace Tessella

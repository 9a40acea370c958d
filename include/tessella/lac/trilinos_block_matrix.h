// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_trilinos_block_matrix_h
#define tessella_lac_trilinos_block_matrix_h

#include <deal.II/base/mpi.h>

#include <tessella/base/config.h>
#include <tessella/base/epetra.h>
#include <tessella/lac/block_sparsity.h>

#include <array>
#include <cstdint>
#include <vector>

#ifdef TESSELLA_HAVE_EPETRA
namespace Tessella
{
  /**
   * Access to the storage of TrilinosWrappers::SparseMatrix without row-wise
   * insertion.
   */
  namespace TrilinosBlockMatrix
  {
    /// Throws an exception if there are more than 2^31 - 1 entries on one
    /// process, since Epetra's offsets have 32 bits.
    void
    check_size(const BlockSparsity              &sparsity,
               const std::vector<std::uint64_t> &dof_offset);

    /**
     * Builds the structure of @p matrix from finished arrays through Epetra's
     * expert interface; all values are zero. @p dof_offset has the first row of
     * each block row and the number of rows at the end. See check_size() for
     * errors.
     *
     * With several processes, each process passes the rows that it owns, which
     * are numbered process by process. Blocks and @p dof_offset are in the
     * local numbering of rows and columns, with ghost columns last.
     * @p ghost_columns has the global indices of the ghost columns. They become
     * Epetra's local column indices in this order, so that every block has
     * contiguous columns.
     *
     * Cost: every index and value is written once, by all threads; 0.1 to 0.5
     * microseconds per row.
     */
    void
    reinit(
      dealii::TrilinosWrappers::SparseMatrix             &matrix,
      const BlockSparsity                                &sparsity,
      const std::vector<std::uint64_t>                   &dof_offset,
      const MPI_Comm                                      communicator,
      const std::vector<dealii::types::global_dof_index> &ghost_columns = {});

    /**
     * Value array of @p matrix, after a check that its block rows start at the
     * positions of @p sparsity. A matrix with another structure (for another
     * mesh or degree) is an error.
     */
    double *
    values(dealii::TrilinosWrappers::SparseMatrix &matrix,
           const BlockSparsity                    &sparsity,
           const std::vector<std::uint64_t>       &dof_offset);

    /**
     * Checks that the columns of @p matrix are those of @p sparsity, in its
     * order (which is Epetra's on one process): the first column of every block
     * and the last one of every row, and the global indices of all. Any
     * difference is an error.
     */
    void
    check_columns(
      const dealii::TrilinosWrappers::SparseMatrix       &matrix,
      const BlockSparsity                                &sparsity,
      const std::vector<std::uint64_t>                   &dof_offset,
      const std::vector<dealii::types::global_dof_index> &ghost_columns = {});

    /// Addresses of the arrays of @p matrix (offsets, columns, values), which
    /// distinguish matrices that exist at the same time.
    std::array<const void *, 3>
    storage(const dealii::TrilinosWrappers::SparseMatrix &matrix);
  } // namespace TrilinosBlockMatrix
} // namespace Tessella
#endif

#endif

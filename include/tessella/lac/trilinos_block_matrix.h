// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_trilinos_block_matrix_h
#define tessella_lac_trilinos_block_matrix_h

#include <deal.II/base/mpi.h>

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
    /// Epetra's offsets have 32 bits: more than 2^31 - 1 entries on one process
    /// are an error.
    void
    check_size(const BlockSparsity              &sparsity,
               const std::vector<std::uint64_t> &dof_offset);

    /**
     * Builds the structure of @p matrix from finished arrays through Epetra's
     * expert interface; all values are zero. @p dof_offset: first row of each
     * block row and the number of rows at the end. See check_size() for errors.
     *
     * With several processes, each gives the rows that it owns, which are
     * numbered process by process; blocks and @p dof_offset are in its own
     * numbers of rows and columns, ghost columns last. @p ghost_columns are
     * the global numbers of the latter. They become Epetra's local column
     * numbers as they are, so that every block has contiguous columns.
     *
     * Cost: every index and value is written once, by all threads; 0.1 to 0.5
     * microseconds a row.
     */
    void
    reinit(
      dealii::TrilinosWrappers::SparseMatrix             &matrix,
      const BlockSparsity                                &sparsity,
      const std::vector<std::uint64_t>                   &dof_offset,
      const MPI_Comm                                      communicator,
      const std::vector<dealii::types::global_dof_index> &ghost_columns = {});

    /**
     * The value array of @p matrix, after a check that its block rows start
     * where @p sparsity says; a matrix that was set up otherwise (for another
     * mesh or degree) is an error.
     */
    double *
    values(dealii::TrilinosWrappers::SparseMatrix &matrix,
           const BlockSparsity                    &sparsity,
           const std::vector<std::uint64_t>       &dof_offset);

    /**
     * Checks that the columns of @p matrix are those of @p sparsity, in its
     * order (which is Epetra's on one process): the first column of every block
     * and the last one of every row, and the global numbers of all. Anything
     * else is an error.
     */
    void
    check_columns(
      const dealii::TrilinosWrappers::SparseMatrix       &matrix,
      const BlockSparsity                                &sparsity,
      const std::vector<std::uint64_t>                   &dof_offset,
      const std::vector<dealii::types::global_dof_index> &ghost_columns = {});

    /// Where the arrays of @p matrix lie (offsets, columns, values): tells
    /// matrices apart that exist at the same time.
    std::array<const void *, 3>
    storage(const dealii::TrilinosWrappers::SparseMatrix &matrix);
  } // namespace TrilinosBlockMatrix
} // namespace Tessella
#endif

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_matrix_structure_h
#define tessella_source_lac_matrix_structure_h

#include <deal.II/base/mpi.h>
#include <deal.II/base/types.h>

#include <tessella/grid/polytopic_space.h>
#include <tessella/grid/revision.h>
#include <tessella/lac/block_partition.h>
#include <tessella/lac/block_sparsity.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /**
     * Rows, columns and blocks of the matrices on a PolytopicSpace, as matrix
     * classes need them for their structure and for checks of matrices and
     * vectors that a user passes. Computed once for each revision of mesh and
     * space.
     */
    class MatrixStructure
    {
    public:
      explicit MatrixStructure(const MPI_Comm communicator);

      /// Computes all members below for the current degrees of freedom of
      /// @p space, unless they are already known. Not collective.
      template <int dim>
      void
      update(const PolytopicSpace<dim> &space);

      /// Exchange of the columns that other processes own; null on a single
      /// process. Collective, if the structure has changed.
      const std::shared_ptr<const BlockPartition> &
      partition();

      /// Runs @p work, which must not communicate; on an error, all processes
      /// throw.
      void
      on_all_processes(const std::function<void()> &work) const;

      // ---- checks of matrices and vectors
      void
      check_one_process(const std::string &what) const;
      /// @p size is the number of rows of a matrix or of entries of a vector,
      /// which @p what names.
      void
      check_size(const dealii::types::global_dof_index size,
                 const std::string                    &what) const;
      /// Checks the size of a vector and that this process has the entries of
      /// its own degrees of freedom.
      void
      check_distribution(const dealii::types::global_dof_index size,
                         const dealii::types::global_dof_index n_here) const;

      /// Whether set_checked() was called with these addresses of a matrix's
      /// arrays since the structure last changed. The last eight matrices are
      /// remembered, so that several can alternate.
      bool
      is_checked(const std::array<const void *, 3> &arrays) const;
      void
      set_checked(const std::array<const void *, 3> &arrays);

      const MPI_Comm     communicator;
      const unsigned int n_processes;

      BlockSparsity blocks;
      /// First row of each polytope of the flat view, counted on this process,
      /// and the number of rows and ghost columns at the end.
      std::vector<std::uint64_t> dof_offset;
      /// Global indices of the columns that other processes own.
      std::vector<dealii::types::global_dof_index> ghost_columns;
      /// Number of polytopes, and of their rows, that this process owns.
      unsigned int  n_owned_polytopes = 0;
      std::uint64_t n_owned_rows      = 0;
      /// Number of rows of all processes.
      dealii::types::global_dof_index n_dofs = 0;

    private:
      SpaceRevision                            revision;
      std::vector<std::uint64_t>               first_ghost_row;
      std::shared_ptr<const BlockPartition>    block_partition;
      std::vector<std::array<const void *, 3>> checked;
    };
  } // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "matrix_structure.h"

#include <deal.II/base/exceptions.h>

#include <algorithm>

#include "../base/collective.h"

namespace Tessella
{
  namespace internal
  {
    MatrixStructure::MatrixStructure(const MPI_Comm communicator)
      : communicator(communicator)
      , n_processes(internal::n_processes(communicator))
    {}



    template <int dim>
    void
    MatrixStructure::update(const PolytopicSpace<dim> &space)
    {
      const PolytopicMesh<dim> &mesh    = space.polytopic_mesh();
      const PolytopicDoFs      &dofs    = space.polytopic_dofs();
      const SpaceRevision       present = {mesh.revision, dofs.revision};
      n_dofs                            = space.n_dofs();
      if (revision == present && present.is_known())
        return;
      blocks            = BlockSparsity::from_mesh(mesh, dofs);
      dof_offset        = dofs.dof_offset;
      n_owned_polytopes = mesh.n_owned_polytopes();
      n_owned_rows      = dof_offset[n_owned_polytopes];
      ghost_columns.clear();
      first_ghost_row.clear();
      for (unsigned int k = n_owned_polytopes; k < mesh.n_polytopes(); ++k)
        {
          first_ghost_row.push_back(space.first_dof(k));
          for (std::uint64_t i = 0; i < dof_offset[k + 1] - dof_offset[k]; ++i)
            ghost_columns.push_back(first_ghost_row.back() + i);
        }
      block_partition.reset();
      checked.clear();
      revision = present;
    }



    const std::shared_ptr<const BlockPartition> &
    MatrixStructure::partition()
    {
      if (n_processes > 1 && block_partition == nullptr)
        block_partition = std::make_shared<const BlockPartition>(
          communicator, dof_offset, n_owned_polytopes, first_ghost_row);
      return block_partition;
    }



    void
    MatrixStructure::on_all_processes(const std::function<void()> &work) const
    {
      if (n_processes > 1)
        Tessella::on_all_processes(communicator, work);
      else
        work();
    }



    void
    MatrixStructure::check_one_process(const std::string &what) const
    {
      AssertThrow(n_processes == 1,
                  dealii::ExcMessage(
                    "A " + what +
                    " lives on one process, but the mesh is "
                    "distributed over " +
                    std::to_string(n_processes) +
                    ": use the classes of TrilinosWrappers, block "
                    "matrices and their vectors."));
    }



    void
    MatrixStructure::check_size(const dealii::types::global_dof_index size,
                                const std::string &what) const
    {
      AssertThrow(size == n_dofs,
                  dealii::ExcMessage(
                    "The " + what + " has " + std::to_string(size) +
                    " entries, but there are " + std::to_string(n_dofs) +
                    " degrees of freedom: call reinit() of the "
                    "assembler on it, after "
                    "distribute_dofs()."));
    }



    void
    MatrixStructure::check_distribution(
      const dealii::types::global_dof_index size,
      const dealii::types::global_dof_index n_here) const
    {
      check_size(size, "vector");
      AssertThrow(n_here == n_owned_rows,
                  dealii::ExcMessage(
                    "The vector is distributed over processes in "
                    "another way than the degrees of freedom: call "
                    "reinit() of the assembler on it."));
    }



    bool
    MatrixStructure::is_checked(const std::array<const void *, 3> &arrays) const
    {
      return std::find(checked.begin(), checked.end(), arrays) != checked.end();
    }



    void
    MatrixStructure::set_checked(const std::array<const void *, 3> &arrays)
    {
      if (checked.size() == 8)
        checked.erase(checked.begin());
      checked.push_back(arrays);
    }



    template void
    MatrixStructure::update(const PolytopicSpace<2> &);
    template void
    MatrixStructure::update(const PolytopicSpace<3> &);
    template void
    MatrixStructure::update(const PolytopicSpace<4> &);
  } // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "incompressible_device.h"

#include <deal.II/base/mpi.h>

#include <algorithm>

namespace Tessella
{
  namespace Flow
  {
    namespace internal
    {
      using namespace dealii;

      template <int dim>
      std::shared_ptr<const BlockPartition>
      partition_of_components(const AgglomerationHandler<dim>  &handler,
                              const std::vector<std::uint64_t> &dof_offset)
      {
        const MPI_Comm communicator = handler.get_communicator();
        if (Utilities::MPI::n_mpi_processes(communicator) == 1)
          return nullptr;
        const PolytopicDoFs       &dofs    = handler.polytopic_dofs();
        const unsigned int         n_owned = handler.n_polytopes();
        std::vector<std::uint64_t> ghosts;
        for (unsigned int k = n_owned; k < dofs.n_basis.size(); ++k)
          for (unsigned int c = 0; c < dofs.n_components; ++c)
            ghosts.push_back(handler.first_dof(k) +
                             std::uint64_t(c) * dofs.n_basis[k]);
        return std::make_shared<const BlockPartition>(
          communicator, dof_offset, n_owned * dofs.n_components, ghosts);
      }



      // ---- blocks of polytopes

      void
      DeviceBlockInverses::reinit(const PolytopicDoFs &dofs,
                                  const unsigned int   n_polytopes,
                                  const MPI_Comm       communicator)
      {
        const std::vector<std::uint64_t> first(dofs.dof_offset.begin(),
                                               dofs.dof_offset.begin() +
                                                 n_polytopes + 1);
        matrix.reinit(diagonal_sparsity(first),
                      first,
                      partition_without_ghosts(communicator, first));
      }



      void
      DeviceBlockInverses::update(const std::vector<double> &blocks,
                                  const std::vector<char>   &changed)
      {
        const bool any =
          std::find(changed.begin(), changed.end(), 1) != changed.end();
        if (Utilities::MPI::max(any ? 1u : 0u, matrix.communicator()) == 0)
          return;
        matrix.copy_from(blocks);
        inverse.initialize(matrix);
      }



      void
      DeviceBlockInverses::vmult(DeviceVector<double>       &dst,
                                 const DeviceVector<double> &src) const
      {
        inverse.vmult(dst, src);
      }



      template std::shared_ptr<const BlockPartition>
      partition_of_components(const AgglomerationHandler<2> &,
                              const std::vector<std::uint64_t> &);
      template std::shared_ptr<const BlockPartition>
      partition_of_components(const AgglomerationHandler<3> &,
                              const std::vector<std::uint64_t> &);
    } // namespace internal
  }   // namespace Flow
} // namespace Tessella

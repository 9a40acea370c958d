// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "incompressible_device.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <numeric>

namespace Tessella
{
  namespace Flow
  {
    namespace internal
    {
      using namespace dealii;

      ComponentRows::ComponentRows(const BlockSparsity              &one,
                                   const std::vector<std::uint64_t> &offset,
                                   const unsigned int n_components)
      {
        const unsigned int n = one.row_width.size();
        sparsity.block_offset.assign(1, 0);
        sparsity.value_offset.assign(1, 0);
        dof_offset.assign(1, 0);
        for (unsigned int k = 0; k + 1 < offset.size(); ++k)
          for (unsigned int c = 0; c < n_components; ++c)
            dof_offset.push_back(dof_offset.back() + offset[k + 1] - offset[k]);
        for (unsigned int k = 0; k < n; ++k)
          for (unsigned int c = 0; c < n_components; ++c)
            {
              for (std::uint64_t m = one.block_offset[k];
                   m < one.block_offset[k + 1];
                   ++m)
                {
                  sparsity.block_column.push_back(
                    one.block_column[m] * n_components + c);
                  sparsity.column_offset.push_back(one.column_offset[m]);
                }
              sparsity.block_offset.push_back(sparsity.block_column.size());
              sparsity.row_width.push_back(one.row_width[k]);
              sparsity.value_offset.push_back(sparsity.value_offset.back() +
                                              one.value_offset[k + 1] -
                                              one.value_offset[k]);
            }
      }



      std::shared_ptr<const BlockPartition>
      partition_without_ghosts(const MPI_Comm                    communicator,
                               const std::vector<std::uint64_t> &dof_offset)
      {
        if (Utilities::MPI::n_mpi_processes(communicator) == 1)
          return nullptr;
        return std::make_shared<const BlockPartition>(
          communicator,
          dof_offset,
          dof_offset.size() - 1,
          std::vector<std::uint64_t>());
      }



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



      BlockSparsity
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



      // ---- mass

      namespace
      {
        /// First degrees of freedom of the polytopes in a handler with
        /// @p n_components components.
        std::vector<std::uint64_t>
        offsets(const PolytopicDoFs &dofs,
                const unsigned int   n_polytopes,
                const unsigned int   n_components)
        {
          std::vector<std::uint64_t> result(1, 0);
          for (unsigned int k = 0; k < n_polytopes; ++k)
            result.push_back(result.back() +
                             std::uint64_t(n_components) * dofs.n_basis[k]);
          return result;
        }
      } // namespace



      template <int dim>
      DeviceMass<dim>::DeviceMass(const AgglomerationHandler<dim> &handler)
        : mass(handler)
      {
        const PolytopicDoFs &dofs = handler.polytopic_dofs();
        const unsigned int   n = handler.n_polytopes(), m = dofs.n_components;
        // Blocks of all components, of which the first one is needed.
        const auto              all = offsets(dofs, n, m);
        const BlockSparsity     of_all(diagonal_sparsity(all));
        HostBlockMatrix<double> blocks;
        blocks.reinit(of_all, all);
        mass.add_to(1., blocks);
        const auto          one = offsets(dofs, n, 1);
        const ComponentRows rows(diagonal_sparsity(one), one, m);
        std::vector<double> values(rows.sparsity.n_nonzero_elements());
        auto                to = values.begin();
        for (unsigned int k = 0; k < n; ++k)
          for (unsigned int c = 0; c < m; ++c)
            for (unsigned int i = 0; i < dofs.n_basis[k]; ++i)
              to = std::copy_n(blocks.values() + of_all.value_offset[k] +
                                 std::size_t(i) * of_all.row_width[k],
                               dofs.n_basis[k],
                               to);
        matrix.reinit(rows.sparsity,
                      rows.dof_offset,
                      partition_without_ghosts(handler.get_communicator(),
                                               rows.dof_offset));
        matrix.copy_from(values);
        data.reinit(matrix);
        data.invert_diagonal();
        work.reinit(handler.locally_owned_dofs(), handler.get_communicator());
        update.reinit(all.back());
      }



      template <int dim>
      void
      DeviceMass<dim>::step(
        const Tessella::internal::PolynomialStep<double> &step) const
      {
        Tessella::internal::device_call(
          [&] { Data::Blocks::polynomial_step(data.rows, step); });
      }



      template <int dim>
      void
      DeviceMass<dim>::apply_inverse(const double          factor,
                                     DeviceVector<double> &vector) const
      {
        step({data.inverse.data(),
              false,
              0.,
              factor,
              1.,
              vector.begin(),
              update.begin(),
              work.begin(),
              true});
        vector.swap(work);
      }



      template <int dim>
      void
      DeviceMass<dim>::advance(const double                alpha,
                               const double                beta,
                               const double                weight,
                               const DeviceVector<double> &r,
                               DeviceVector<double>       &d,
                               DeviceVector<double>       &x) const
      {
        step({data.inverse.data(),
              false,
              alpha,
              beta,
              weight,
              r.begin(),
              d.begin(),
              x.begin(),
              false});
      }



      template <int dim>
      void
      DeviceMass<dim>::vmult_add(const double                factor,
                                 DeviceVector<double>       &dst,
                                 const DeviceVector<double> &src) const
      {
        matrix.vmult(work, src);
        dst.add(factor, work);
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
      template class DeviceMass<2>;
      template class DeviceMass<3>;
    } // namespace internal
  }   // namespace Flow
} // namespace Tessella

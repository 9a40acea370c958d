// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/lac/component_rows.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/numerics/device_mass_matrix.h>

#include <algorithm>
#include <vector>

#include "../lac/block_space.h"
#include "../lac/diagonal_blocks.h"

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  struct DeviceMassMatrix<dim>::Implementation
  {
    using Data = internal::BlockData<DeviceBlockMatrix<double>>;

    /// One block row for each component of a polytope, with the same values.
    DeviceBlockMatrix<double>    matrix;
    Data                         data;
    mutable DeviceVector<double> work, update;

    void
    step(const internal::PolynomialStep<double> &step) const
    {
      internal::device_call(
        [&] { Data::Blocks::polynomial_step(data.rows, step); });
    }
  };



  template <int dim>
  DeviceMassMatrix<dim>::DeviceMassMatrix(
    const AgglomerationHandler<dim> &handler)
    : mass(handler)
    , implementation(std::make_unique<Implementation>())
  {
    const PolytopicDoFs &dofs = handler.polytopic_dofs();
    const unsigned int   n = handler.n_polytopes(), m = dofs.n_components;
    // Blocks of all components, of which the first one is needed, and one block
    // row for each component, which share their values.
    std::vector<std::uint64_t> all(1, 0), one(1, 0);
    for (unsigned int k = 0; k < n; ++k)
      {
        one.push_back(one.back() + dofs.n_basis[k]);
        all.push_back(all.back() + std::uint64_t(m) * dofs.n_basis[k]);
      }
    const BlockSparsity     of_all(internal::diagonal_sparsity(all));
    HostBlockMatrix<double> blocks;
    blocks.reinit(of_all, all);
    mass.add_to(1., blocks);
    const ComponentRows rows(internal::diagonal_sparsity(one), one, m);
    std::vector<double> values(rows.sparsity.n_nonzero_elements());
    auto                to = values.begin();
    for (unsigned int k = 0; k < n; ++k)
      for (unsigned int i = 0; i < dofs.n_basis[k]; ++i)
        to = std::copy_n(blocks.values() + of_all.value_offset[k] +
                           std::size_t(i) * of_all.row_width[k],
                         dofs.n_basis[k],
                         to);
    Implementation &data = *implementation;
    data.matrix.reinit(rows.sparsity,
                       rows.dof_offset,
                       internal::partition_without_ghosts(
                         handler.get_communicator(), rows.dof_offset));
    data.matrix.copy_from(values);
    data.data.reinit(data.matrix);
    data.data.invert_diagonal();
    data.work.reinit(handler.locally_owned_dofs(), handler.get_communicator());
    data.update.reinit(all.back());
  }



  template <int dim>
  DeviceMassMatrix<dim>::~DeviceMassMatrix() = default;



  template <int dim>
  void
  DeviceMassMatrix<dim>::apply_inverse(const double          factor,
                                       DeviceVector<double> &vector) const
  {
    Implementation &data = *implementation;
    data.step({data.data.inverse.data(),
               false,
               0.,
               factor,
               1.,
               vector.begin(),
               data.update.begin(),
               data.work.begin(),
               true});
    vector.swap(data.work);
  }



  template <int dim>
  void
  DeviceMassMatrix<dim>::advance(const double                alpha,
                                 const double                beta,
                                 const double                weight,
                                 const DeviceVector<double> &r,
                                 DeviceVector<double>       &d,
                                 DeviceVector<double>       &x) const
  {
    implementation->step({implementation->data.inverse.data(),
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
  DeviceMassMatrix<dim>::vmult_add(const double                factor,
                                   DeviceVector<double>       &dst,
                                   const DeviceVector<double> &src) const
  {
    implementation->matrix.vmult(implementation->work, src);
    dst.add(factor, implementation->work);
  }



  template class DeviceMassMatrix<2>;
  template class DeviceMassMatrix<3>;
} // namespace Tessella

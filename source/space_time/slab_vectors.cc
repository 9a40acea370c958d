// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/mpi.h>

#include <deal.II/lac/vector.h>

#include <tessella/base/config.h>
#include <tessella/base/exceptions.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/lac/block_sparsity.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "../backends/host_assembly.h"
#include "../backends/host_dispatch.h"
#include "../base/collective.h"
#include "slab_data.h"

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    /// Address of the entries of a vector to which something is to be added;
    /// VectorView::finish() must follow.
    double *
    start_adding(const VectorView    &vector,
                 const std::size_t    n,
                 std::vector<double> &memory)
    {
      double *const entries = vector.start(n, memory);
      // Entries in memory are not those of the vector yet.
      if (entries == memory.data())
        vector.values(n, memory);
      return memory.empty() ? entries : memory.data();
    }

    /// Square blocks of the given sizes, one in each block row, in the given
    /// columns. There may be more sizes than block rows.
    BlockSparsity
    one_block_per_row(const std::vector<unsigned int> &sizes,
                      const std::vector<unsigned int> &columns)
    {
      const std::size_t n = columns.size();
      BlockSparsity     sparsity;
      sparsity.block_offset.resize(n + 1);
      std::iota(sparsity.block_offset.begin(),
                sparsity.block_offset.end(),
                std::uint64_t(0));
      sparsity.block_column = columns;
      sparsity.column_offset.assign(n, 0);
      sparsity.row_width.assign(sizes.begin(), sizes.begin() + n);
      sparsity.value_offset.assign(n + 1, 0);
      for (std::size_t k = 0; k < n; ++k)
        sparsity.value_offset[k + 1] =
          sparsity.value_offset[k] + std::uint64_t(sizes[k]) * sizes[k];
      return sparsity;
    }
  } // namespace



  // Block-diagonal mass matrix of the handler's space.
  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::compute_mass()
  {
    handler->tabulate(0);
    const PolytopicMesh<dim> &spatial      = handler->polytopic_mesh();
    const PolytopicDoFs      &spatial_dofs = handler->polytopic_dofs();
    const SpaceRevision       revision     = revision_of_handler();
    if (mass_revision == revision && revision.is_known())
      return;
    const unsigned int        n = handler->n_polytopes();
    std::vector<unsigned int> columns(n);
    std::iota(columns.begin(), columns.end(), 0u);
    BlockSparsity sparsity = one_block_per_row(spatial_dofs.n_basis, columns);
    mass.resize(sparsity.value_offset[n]);
    internal::AssemblyTarget<double> target;
    target.host_values = mass.data();
    const MassForm<dim>            form(1.);
    const internal::HostRules<dim> rules(spatial, spatial_dofs, 0);
    internal::assemble_on_host<dim>({spatial,
                                     spatial_dofs,
                                     form,
                                     rules,
                                     internal::select_kernels<dim>(
                                       InstructionSet::automatic)},
                                    sparsity,
                                    std::vector<double>(spatial.n_facets(), 0.),
                                    PolynomialSpaceType::total_degree,
                                    target);
    mass_offset   = std::move(sparsity.value_offset);
    mass_revision = revision;
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::trace(const ConstVectorView &solution,
                            const double           time,
                            const VectorView      &values,
                            const bool             from_above) const
  {
    const Implementation &data         = *implementation;
    const PolytopicDoFs  &spatial_dofs = data.handler->polytopic_dofs();
    AssertThrow(time >= 0. && time <= data.length,
                ExcMessage("The local time " + std::to_string(time) +
                           " lies outside the slab."));
    std::vector<double> memory, values_memory;
    const double       *u =
      solution.values(locally_owned_dofs().n_elements(), memory);
    values.reinit(data.handler->locally_owned_dofs(), get_communicator());
    double *v =
      values.start(data.handler->n_locally_owned_dofs(), values_memory);
    internal::for_all(data.handler->n_polytopes(), [&](const unsigned int k) {
      unsigned int       e   = data.first_element[k];
      const unsigned int end = data.first_element[k + 1];
      while (e + 1 < end &&
             (from_above ? time >= element_end(e) : time > element_end(e)))
        ++e;
      const double lower = element_begin(e), upper = element_end(e),
                   size = upper - lower;
      double factor[Legendre::max_degree + 1];
      Legendre::evaluate(data.dofs.degree[e],
                         time == upper ? 1. : 2. * (time - lower) / size - 1.,
                         factor);
      const double  scale = std::sqrt(1. / size);
      const double *from  = u + data.dofs.dof_offset[e];
      double       *to    = v + spatial_dofs.dof_offset[k];
      for (unsigned int i = 0; i < data.dofs.n_basis[e]; ++i)
        to[data.spatial_function[i]] +=
          scale * factor[data.time_degree[i]] * from[i];
    });
    values.finish(values_memory);
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::add_inflow(const ConstVectorView &value,
                                 const VectorView      &rhs) const
  {
    Implementation      &data         = *implementation;
    const PolytopicDoFs &spatial_dofs = data.handler->polytopic_dofs();
    std::vector<double>  memory, rhs_memory;
    const double *const  v =
      value.values(data.handler->n_locally_owned_dofs(), memory);
    double *const F =
      start_adding(rhs, locally_owned_dofs().n_elements(), rhs_memory);
    data.compute_mass();
    internal::for_all(data.handler->n_polytopes(), [&](const unsigned int k) {
      const unsigned int e = data.first_element[k], n = spatial_dofs.n_basis[k];
      const double      *M = &data.mass[data.mass_offset[k]];
      const double      *u = v + spatial_dofs.dof_offset[k];
      std::vector<double> product(n, 0.);
      for (unsigned int i = 0; i < n; ++i)
        for (unsigned int j = 0; j < n; ++j)
          product[i] += M[std::size_t(i) * n + j] * u[j];
      double factor[Legendre::max_degree + 1];
      Legendre::evaluate(data.dofs.degree[e], -1., factor);
      const double scale = std::sqrt(1. / (element_end(e) - element_begin(e)));
      double      *to    = F + data.dofs.dof_offset[e];
      for (unsigned int i = 0; i < data.dofs.n_basis[e]; ++i)
        to[i] += scale * factor[data.time_degree[i]] *
                 product[data.spatial_function[i]];
    });
    rhs.finish(rhs_memory);
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::extend(const ConstVectorView &value,
                             const VectorView      &solution) const
  {
    const Implementation &data         = *implementation;
    const PolytopicDoFs  &spatial_dofs = data.handler->polytopic_dofs();
    std::vector<double>   memory, solution_memory;
    const double *const   v =
      value.values(data.handler->n_locally_owned_dofs(), memory);
    double *const u =
      solution.start(locally_owned_dofs().n_elements(), solution_memory);
    internal::for_all(n_polytopes(), [&](const unsigned int e) {
      const double *from =
        v + spatial_dofs.dof_offset[data.element_polytope[e]];
      double      *to    = u + data.dofs.dof_offset[e];
      const double scale = std::sqrt(element_end(e) - element_begin(e));
      for (unsigned int i = 0; i < data.dofs.n_basis[e]; ++i)
        to[i] = data.time_degree[i] == 0
                  ? scale * from[data.spatial_function[i]]
                  : 0.;
    });
    solution.finish(solution_memory);
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::make_inflow(DeviceBlockMatrix<double> &matrix) const
  {
    Implementation      &data         = *implementation;
    const PolytopicDoFs &spatial_dofs = data.handler->polytopic_dofs();
    AssertThrow(internal::n_processes(get_communicator()) == 1,
                ExcMessage("A DeviceBlockMatrix lives on one process, but the "
                           "slab is distributed over several: use "
                           "add_inflow() with vectors of TrilinosWrappers."));
    data.compute_mass();
    const unsigned int n_elements = data.element_polytope.size();

    // Each block row has one block. The block of a bottom element is in the
    // column of the top element of its polytope; all other blocks are zero.
    std::vector<unsigned int> columns(n_elements);
    for (unsigned int e = 0; e < n_elements; ++e)
      {
        const unsigned int k = data.element_polytope[e];
        columns[e] =
          e == data.first_element[k] ? data.first_element[k + 1] - 1 : e;
      }
    const BlockSparsity sparsity =
      one_block_per_row(data.dofs.n_basis, columns);
    std::vector<double> values(sparsity.value_offset.back(), 0.);
    internal::for_all(spatial_dofs.degree.size(), [&](const unsigned int k) {
      const unsigned int e = data.first_element[k], n = data.dofs.n_basis[e],
                         n_spatial = spatial_dofs.n_basis[k];
      const double *M              = &data.mass[data.mass_offset[k]];
      double       *to             = &values[sparsity.value_offset[e]];
      double bottom[Legendre::max_degree + 1], top[Legendre::max_degree + 1];
      Legendre::evaluate(data.dofs.degree[e], -1., bottom);
      Legendre::evaluate(data.dofs.degree[e], 1., top);
      // Both elements have 1 / data.intervals[k] of the length of the slab.
      const double scale = data.intervals[k];
      for (unsigned int i = 0; i < n; ++i)
        for (unsigned int j = 0; j < n; ++j)
          to[std::size_t(i) * n + j] =
            scale * bottom[data.time_degree[i]] * top[data.time_degree[j]] *
            M[std::size_t(data.spatial_function[i]) * n_spatial +
              data.spatial_function[j]];
    });
    matrix.reinit(sparsity, data.dofs.dof_offset);
    matrix.copy_from(values);
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::add_inflow(const DeviceBlockMatrix<double> &inflow,
                                 const DeviceVector<double>      &before,
                                 const double                     length_before,
                                 DeviceVector<double>            &rhs) const
  {
    AssertThrow(inflow.m() == n_dofs(),
                ExcDimensionMismatch(inflow.m(), n_dofs()));
    AssertThrow(length_before > 0.,
                ExcMessage("The slab before must have a positive length."));
    DeviceVector<double> product(n_dofs());
    inflow.vmult(product, before);
    rhs.add(1. / std::sqrt(length() * length_before), product);
  }



  // Sum over all processes of what function(k, n, M, u, sum) adds to the sum
  // for polytope k, where M is its mass matrix and u has the n entries of @p
  // value.
  template <int dim>
  template <typename Function>
  double
  SpaceTimeSlab<dim>::Implementation::sum_over_polytopes(
    const ConstVectorView &value, const Function &function)
  {
    const PolytopicDoFs &spatial_dofs = handler->polytopic_dofs();
    std::vector<double>  memory;
    const double *const  v =
      value.values(handler->n_locally_owned_dofs(), memory);
    compute_mass();
    double sum = 0.;
    for (unsigned int k = 0; k < handler->n_polytopes(); ++k)
      function(k,
               spatial_dofs.n_basis[k],
               &mass[mass_offset[k]],
               v + spatial_dofs.dof_offset[k],
               sum);
    return parallel() ? Utilities::MPI::sum(sum, handler->get_communicator())
                      : sum;
  }



  template <int dim>
  double
  SpaceTimeSlab<dim>::L2_norm(const ConstVectorView &value) const
  {
    const double square = implementation->sum_over_polytopes(
      value,
      [](const unsigned int,
         const unsigned int n,
         const double      *M,
         const double      *u,
         double            &sum) {
        for (unsigned int i = 0; i < n; ++i)
          for (unsigned int j = 0; j < n; ++j)
            sum += u[i] * M[std::size_t(i) * n + j] * u[j];
      });
    return std::sqrt(std::max(square, 0.));
  }



  template <int dim>
  double
  SpaceTimeSlab<dim>::integral(const ConstVectorView &value) const
  {
    const PolytopicMesh<dim> &spatial =
      implementation->handler->polytopic_mesh();
    // The first basis function is 1 / sqrt(volume of the box).
    return implementation->sum_over_polytopes(
      value,
      [&spatial](const unsigned int k,
                 const unsigned int n,
                 const double      *M,
                 const double      *u,
                 double            &sum) {
        double volume = 1.;
        for (unsigned int d = 0; d < dim; ++d)
          volume *=
            spatial.box[2 * dim * k + dim + d] - spatial.box[2 * dim * k + d];
        double product = 0.;
        for (unsigned int j = 0; j < n; ++j)
          product += M[j] * u[j];
        sum += std::sqrt(volume) * product;
      });
  }



#define INSTANTIATE(dim)                                                      \
  template void SpaceTimeSlab<dim>::make_inflow(DeviceBlockMatrix<double> &)  \
    const;                                                                    \
  template void SpaceTimeSlab<dim>::add_inflow(                               \
    const DeviceBlockMatrix<double> &,                                        \
    const DeviceVector<double> &,                                             \
    const double,                                                             \
    DeviceVector<double> &) const;                                            \
  template void   SpaceTimeSlab<dim>::trace(const ConstVectorView &,          \
                                          const double,                     \
                                          const VectorView &,               \
                                          const bool) const;                \
  template void   SpaceTimeSlab<dim>::extend(const ConstVectorView &,         \
                                           const VectorView &) const;       \
  template void   SpaceTimeSlab<dim>::add_inflow(const ConstVectorView &,     \
                                               const VectorView &) const;   \
  template double SpaceTimeSlab<dim>::L2_norm(const ConstVectorView &) const; \
  template double SpaceTimeSlab<dim>::integral(const ConstVectorView &) const;

  INSTANTIATE(2)
  INSTANTIATE(3)
#undef INSTANTIATE
} // namespace Tessella

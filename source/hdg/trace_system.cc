// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "trace_system.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/timer.h>

#include <algorithm>
#include <string>

#include "../backends/host_dispatch.h"
#include "../base/collective.h"
#include "interface_sides.h"

namespace Tessella
{
  using namespace dealii;

  namespace internal
  {
    template <int dim>
    TraceSystem<dim>::TraceSystem(const AgglomerationHandler<dim> &handler,
                                  const AdditionalData            &data)
      : handler(handler)
      , data(data)
      , communicator(handler.get_communicator())
      , n_processes(internal::n_processes(communicator))
      , free_parts(handler, numbering)
    {}



    template <int dim>
    void
    TraceSystem<dim>::on_all_processes(const std::function<void()> &work) const
    {
      Tessella::on_all_processes(communicator, work);
    }



    template <int dim>
    std::vector<unsigned int>
    TraceSystem<dim>::orders(const Form<dim> &form) const
    {
      const unsigned int coefficient_order =
        std::max(form.coefficient_order(),
                 form.volume_structure().constant_f ? 1u : 2u);
      std::vector<unsigned int> order(handler.max_degree() + 1);
      for (unsigned int p = 0; p < order.size(); ++p)
        order[p] =
          local_quadrature_order(dim, p, tensor_product(), coefficient_order);
      return order;
    }



    template <int dim>
    LocalProblem<dim>
    TraceSystem<dim>::local_problem(const Form<dim> &form) const
    {
      return {handler,
              mesh(),
              dofs(),
              trace,
              form,
              select_kernels<dim>(data.instruction_set),
              orders(form),
              legendre_exponents(dim, handler.max_degree(), tensor_product()),
              tensor_product(),
              data.advection == AdvectionForm::conservative,
              data.tau,
              data.tau_of_facet,
              data.spaces == LocalSpaces::reduced_flux};
    }



    template <int dim>
    bool
    TraceSystem<dim>::is_dirichlet(const Form<dim>   &form,
                                   const unsigned int interface) const
    {
      return mesh().interface_polytope[2 * std::size_t(interface) + 1] ==
               invalid_index &&
             form.boundary_type(mesh().interface_boundary_id[interface]) ==
               BoundaryType::dirichlet;
    }



    template <int dim>
    void
    TraceSystem<dim>::reinit(const Form<dim> &form)
    {
      const Timer                     timer;
      const PolytopicMesh<dim>       &mesh  = this->mesh();
      const PolytopicDoFs            &dofs  = this->dofs();
      const std::vector<unsigned int> order = orders(form);
      const unsigned int              n     = mesh.n_interfaces();
      std::vector<bool>               fixed(n);
      on_all_processes([&] {
        prepare_quadrature(handler, order.back());
        for (unsigned int k = 0;
             data.spaces == LocalSpaces::reduced_flux && k < mesh.n_polytopes();
             ++k)
          AssertThrow(dofs.degree[k] > 0,
                      ExcMessage("LocalSpaces::reduced_flux needs degree 1 or "
                                 "more, which polytope " +
                                 std::to_string(k) + " does not have."));
        trace.reinit(mesh,
                     dofs,
                     data.trace_space,
                     tensor_product(),
                     order,
                     data.spaces == LocalSpaces::reduced_flux ? 1 : 0);
        dirichlet_offset.assign(n + 1, 0);
        boundary_interfaces.clear();
        for (unsigned int i = 0; i < n; ++i)
          {
            if (mesh.interface_polytope[2 * std::size_t(i) + 1] ==
                invalid_index)
              boundary_interfaces.push_back(i);
            fixed[i] = is_dirichlet(form, i);
            dirichlet_offset[i + 1] =
              dirichlet_offset[i] + (fixed[i] ? trace.n_functions[i] : 0);
          }
        dirichlet.assign(dirichlet_offset[n], 0.);
      });
      present_fixed.clear();
      revision = {mesh.revision, dofs.revision};
      numbering.reinit(handler, trace, fixed);
      halo.reset();
      if (numbering.partition != nullptr)
        halo = std::make_unique<HostHalo<double>>(numbering.partition);
      report.trace_space_time = timer.wall_time();
    }



    template <int dim>
    void
    TraceSystem<dim>::check_reinit(const Form<dim> &form) const
    {
      bool same = revision == SpaceRevision{mesh().revision, dofs().revision} &&
                  numbering.block_of_interface.size() == mesh().n_interfaces();
      // All other interfaces have no boundary condition.
      for (std::size_t b = 0; same && b < boundary_interfaces.size(); ++b)
        {
          const unsigned int i = boundary_interfaces[b];
          same                 = trace.n_functions[i] == 0 ||
                 is_dirichlet(form, i) ==
                   (numbering.block_of_interface[i] == invalid_index);
        }
      AssertThrow(same,
                  ExcMessage("The trace spaces do not belong to this mesh, "
                             "element and set of Dirichlet boundaries: call "
                             "reinit() of the HDG object first."));
    }



    template <int dim>
    void
    TraceSystem<dim>::resize(LocalBlocks &blocks) const
    {
      const unsigned int n = mesh().n_owned_polytopes();
      blocks.matrix_offset.assign(n + 1, 0);
      blocks.rhs_offset.assign(n + 1, 0);
      blocks.balance.resize(n);
      std::vector<unsigned int> columns;
      for (unsigned int k = 0; k < n; ++k)
        {
          numbering.free_columns(k, columns);
          const std::uint64_t m       = columns.back();
          blocks.matrix_offset[k + 1] = blocks.matrix_offset[k] + m * m;
          blocks.rhs_offset[k + 1]    = blocks.rhs_offset[k] + m;
        }
      blocks.matrix.resize(blocks.matrix_offset[n]);
      blocks.rhs.resize(blocks.rhs_offset[n]);
      blocks.integral.resize(blocks.rhs_offset[n]);
    }



    template <int dim>
    void
    TraceSystem<dim>::store_matrix(const unsigned int k,
                                   const double      *K,
                                   const std::size_t  stride,
                                   LocalBlocks       &blocks) const
    {
      std::vector<unsigned int> columns;
      numbering.free_columns(k, columns);
      const auto sides       = interface_sides(mesh(), k);
      const auto n_functions = [&](const unsigned int e) {
        return trace.n_functions[sides[e] / 2];
      };
      double *to = blocks.matrix.data() + blocks.matrix_offset[k];
      for (unsigned int e = 0; e < sides.size(); ++e)
        {
          for (unsigned int i = 0; i < columns[e + 1] - columns[e]; ++i)
            {
              const double *from = K + i * stride;
              for (unsigned int f = 0; f < sides.size(); ++f)
                {
                  to = std::copy_n(from, columns[f + 1] - columns[f], to);
                  from += n_functions(f);
                }
            }
          K += n_functions(e) * stride;
        }
    }



    template <int dim>
    void
    TraceSystem<dim>::gather(const LocalBlocks &blocks,
                             double            *values,
                             double            *rhs)
    {
      const Timer timer;
      numbering.gather(blocks, values, rhs);

      std::vector<char> fixed(mesh().n_owned_polytopes());
      for (unsigned int k = 0; k < fixed.size(); ++k)
        fixed[k] = blocks.balance[k].fixed;
      find_free_parts(fixed);
      std::vector<unsigned int> columns;
      free_parts.fix_constants(
        [&](const unsigned int k) { return blocks.balance[k].size; },
        [&](const unsigned int i) {
          const unsigned int k = mesh().interface_polytope[2 * std::size_t(i)];
          numbering.free_columns(k, columns);
          return blocks.integral.data() + blocks.rhs_offset[k] +
                 columns[numbering.entry_of(i, 0)];
        },
        values,
        rhs);
      report.global_assembly_time += timer.wall_time();
    }



    template <int dim>
    void
    TraceSystem<dim>::find_free_parts(const std::vector<char> &fixed)
    {
      bool changed = fixed != present_fixed;
      if (n_processes > 1)
        changed = Utilities::MPI::max(changed ? 1 : 0, communicator) > 0;
      if (changed)
        {
          std::vector<char> all = fixed;
          for (unsigned int i = 0; i < mesh().n_interfaces(); ++i)
            if (has_dirichlet_coefficients(i))
              all[mesh().interface_polytope[2 * std::size_t(i)]] = true;
          free_parts.reinit(all);
          present_fixed = fixed;
        }
      report.n_free_constants = free_parts.size();
    }



    template <int dim>
    TraceUnknowns
    TraceSystem<dim>::exchange(const double *own) const
    {
      TraceUnknowns result = {own, nullptr, numbering.n_owned_dofs()};
      if (halo != nullptr)
        {
          halo->start(own);
          result.ghosts = halo->finish();
        }
      return result;
    }



    template class TraceSystem<2>;
    template class TraceSystem<3>;
  } // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "device_tabulation.h"

#include <algorithm>
#include <cmath>

#include "../backends/host_dispatch.h"

namespace Tessella
{
  using namespace dealii;

  namespace internal
  {
    namespace
    {
      template <int dim>
      unsigned int
      interface_of_facet(const PolytopicMesh<dim> &mesh,
                         const unsigned int        facet)
      {
        return std::upper_bound(mesh.facet_offset.begin(),
                                mesh.facet_offset.end(),
                                facet) -
               mesh.facet_offset.begin() - 1;
      }

      /// The points of a quadrature of a polytope or of an interface.
      template <typename Batch, typename Quadrature>
      Batch
      batch_of(const Quadrature &quadrature)
      {
        Batch batch;
        batch.n_points = quadrature.size();
        for (unsigned int d = 0; d < quadrature.x.size(); ++d)
          batch.x[d] = quadrature.x[d].data();
        batch.subcell  = quadrature.subcell.data();
        batch.material = quadrature.material.data();
        return batch;
      }

      template <int dim>
      FacetPointBatch<dim>
      batch_of(const InterfaceQuadrature<dim> &quadrature)
      {
        auto batch = batch_of<FacetPointBatch<dim>>(quadrature);
        for (unsigned int d = 0; d < dim; ++d)
          batch.normal[d] = quadrature.normal[d].data();
        return batch;
      }
    } // namespace



    template <int dim>
    struct DeviceTabulation<dim>::Buffers
    {
      PolytopeQuadrature<dim>  quadrature;
      InterfaceQuadrature<dim> facet_quadrature;
      std::vector<double>      values;
    };



    template <int dim>
    DeviceTabulation<dim>::DeviceTabulation(const LocalProblem<dim>    &problem,
                                            const Device::HDGPlan<dim> &plan)
      : problem(problem)
      , mesh(problem.mesh)
      , dofs(problem.dofs)
      , plan(plan)
    {}



    template <int dim>
    Device::HDGForm<dim>
    DeviceTabulation<dim>::form() const
    {
      const VolumeStructure structure = problem.form.volume_structure();
      Device::HDGForm<dim>  form;
      form.tensor       = structure.diffusion == DiffusionType::tensor;
      form.advection    = structure.b;
      form.conservative = problem.conservative;
      form.reaction     = structure.c;
      form.source       = structure.f;
      form.tau          = problem.tau;
      // Without diffusion the evaluation throws, since the method cannot be
      // used.
      if (mesh.n_owned_polytopes() > 0 &&
          (structure.constant || structure.constant_f ||
           structure.diffusion == DiffusionType::none))
        set_constants(form);

      const auto add = [&form](int &entry, const int n) {
        entry = form.n_tables;
        form.n_tables += n;
      };
      if (!structure.constant)
        {
          add(form.table_a, form.tensor ? dim * dim : 1);
          if (form.advection)
            add(form.table_b, dim);
          if (form.reaction)
            add(form.table_c, 1);
          form.facet_table = form.advection;
        }
      if (form.source && !structure.constant_f)
        add(form.table_f, 1);
      return form;
    }



    template <int dim>
    void
    DeviceTabulation<dim>::set_constants(Device::HDGForm<dim> &form) const
    {
      const VolumeStructure structure = problem.form.volume_structure();
      const bool no_diffusion = structure.diffusion == DiffusionType::none;
      double     a[dim * dim] = {}, b[dim] = {}, c = 0., f = 0.;
      VolumeBlocks<dim> blocks = {};
      if (structure.constant)
        {
          if (!no_diffusion)
            for (unsigned int d = 0; d < (form.tensor ? dim * dim : 1); ++d)
              blocks.a[d] = a + d;
          for (unsigned int d = 0; d < dim; ++d)
            blocks.b[d] = structure.b ? b + d : nullptr;
          blocks.c = structure.c ? &c : nullptr;
        }
      blocks.f = structure.f && structure.constant_f ? &f : nullptr;
      PointBatch<dim>    vertex;
      const unsigned int subcell = 0;
      vertex.n_points            = 1;
      for (unsigned int d = 0; d < dim; ++d)
        vertex.x[d] = &mesh.subcell_vertices[d];
      vertex.subcell  = &subcell;
      vertex.material = mesh.subcell_material.data();
      problem.form.evaluate_volume(vertex, blocks);
      if (structure.constant || no_diffusion)
        {
          double *entry[dim * dim], *inverse[dim * dim];
          for (unsigned int d = 0; d < dim * dim; ++d)
            {
              entry[d]   = a + d;
              inverse[d] = form.a_inverse + d;
            }
          problem.invert_diffusion(form.tensor, vertex.x, 1, entry, inverse);
          form.a = a[0];
          std::copy(b, b + dim, form.b);
          form.c = c;
        }
      form.f = f;
    }



    template <int dim>
    std::vector<double>
    DeviceTabulation<dim>::tau() const
    {
      std::vector<double> table(2 * std::size_t(mesh.n_facets()), 0.);
      for_ranges(mesh.n_interfaces(),
                 256,
                 [&](const std::size_t begin, const std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i)
                     for (unsigned int f = mesh.facet_offset[i];
                          f < mesh.facet_offset[i + 1];
                          ++f)
                       for (unsigned int side = 0; side < 2; ++side)
                         {
                           const unsigned int k =
                             mesh.interface_polytope[2 * i + side];
                           if (k != invalid_index && mesh.facet_measure[f] > 0.)
                             table[2 * std::size_t(f) + side] =
                               problem.stabilisation(k, f, side);
                         }
                 });
      return table;
    }



    template <int dim>
    template <typename Function>
    void
    DeviceTabulation<dim>::for_boundary_groups(const unsigned int k,
                                               const bool         dirichlet,
                                               const Function &function) const
    {
      static thread_local std::vector<double> memory;
      InterfaceQuadrature<dim>                quadrature;
      unsigned int                            facet = invalid_index;
      double                                 *g = nullptr, *alpha = nullptr;
      for (unsigned int i = plan.facet_begin[k]; i < plan.facet_begin[k + 1];
           ++i)
        {
          const Device::HDGFacetPointGroup &group = plan.facet_point_groups[i];
          // Bit 2 is set on Dirichlet boundaries.
          if (group.boundary == invalid_index ||
              (!dirichlet && (group.code & 4u) != 0))
            continue;
          if (group.facet != facet)
            {
              facet                        = group.facet;
              const unsigned int interface = interface_of_facet(mesh, facet);
              quadrature.reinit_facet(
                mesh, interface, facet, 0, problem.order[dofs.degree[k]]);
              const unsigned int n = quadrature.size();
              memory.assign((dim + 3) * n, 0.);
              g                          = memory.data();
              alpha                      = g + n;
              double *const        bn    = alpha + n;
              FacetPointBatch<dim> batch = batch_of(quadrature);
              batch.boundary_id = mesh.interface_boundary_id[interface];
              if (problem.form.volume_structure().b &&
                  problem.form.boundary_type(batch.boundary_id) !=
                    BoundaryType::dirichlet)
                {
                  double *b[dim];
                  for (unsigned int d = 0; d < dim; ++d)
                    b[d] = bn + (d + 1) * n;
                  problem.normal_advection(batch, b, bn);
                  problem.check_outflow(batch, b, bn);
                }
              problem.form.evaluate_boundary_data(batch, g, alpha);
            }
          function(group, quadrature, g, alpha);
        }
    }



    template <int dim>
    std::vector<double>
    DeviceTabulation<dim>::boundary() const
    {
      const std::size_t   n_points = 4ull * plan.n_boundary_point_groups;
      std::vector<double> table(2 * n_points, 0.);
      const auto          store = [&](const Device::HDGFacetPointGroup &group,
                             const InterfaceQuadrature<dim>   &quadrature,
                             const double                     *g,
                             const double                     *alpha) {
        for (unsigned int q = 0; q < 4; ++q)
          {
            const unsigned int from =
              std::min(group.first + q, quadrature.size() - 1);
            const std::size_t to = 4ull * group.boundary + q;
            table[to]            = g[from];
            table[n_points + to] = alpha[from];
          }
      };
      for_ranges(plan.boundary_polytopes.size(),
                 16,
                 [&](const std::size_t begin, const std::size_t end) {
                   for (std::size_t l = begin; l < end; ++l)
                     for_boundary_groups(plan.boundary_polytopes[l],
                                         true,
                                         store);
                 });
      return table;
    }



    template <int dim>
    double
    DeviceTabulation<dim>::integral_abs_g(const unsigned int k) const
    {
      double     sum = 0.;
      const auto add = [&](const Device::HDGFacetPointGroup &group,
                           const InterfaceQuadrature<dim>   &quadrature,
                           const double                     *g,
                           const double *) {
        const unsigned int end = std::min(group.first + 4, quadrature.size());
        for (unsigned int q = group.first; q < end; ++q)
          sum += quadrature.JxW[q] * std::abs(g[q]);
      };
      for_boundary_groups(k, false, add);
      return sum;
    }



    template <int dim>
    void
    DeviceTabulation<dim>::tabulate(const Device::HDGForm<dim> &form,
                                    const unsigned int          first,
                                    const unsigned int          last,
                                    const std::uint64_t         n_points,
                                    double                     *volume,
                                    double                     *facets) const
    {
      for_ranges(
        last - first, 16, [&](const std::size_t begin, const std::size_t end) {
          const auto subcell_points = [&](const unsigned int k) {
            return plan.subcell_q[mesh.subcell_offset[k]];
          };
          Buffers buffers;
          for (unsigned int k = first + begin; k < first + end; ++k)
            {
              if (volume != nullptr &&
                  subcell_points(k + 1) > subcell_points(k))
                tabulate_volume(form,
                                k,
                                subcell_points(k) - subcell_points(first),
                                n_points,
                                volume,
                                buffers);
              if (form.facet_table)
                tabulate_facets(k,
                                facets +
                                  4 * std::size_t(plan.facet_begin[k] -
                                                  plan.facet_begin[first]),
                                buffers);
            }
        });
    }



    template <int dim>
    void
    DeviceTabulation<dim>::tabulate_volume(const Device::HDGForm<dim> &form,
                                           const unsigned int          k,
                                           const std::size_t           offset,
                                           const std::uint64_t         n_points,
                                           double                     *volume,
                                           Buffers &buffers) const
    {
      PolytopeQuadrature<dim> &quadrature = buffers.quadrature;
      quadrature.reinit(problem.handler, k, problem.order[dofs.degree[k]]);
      const auto batch = batch_of<PointBatch<dim>>(quadrature);
      const auto array = [&](const int t) {
        return t < 0 ? nullptr : volume + t * n_points + offset;
      };
      const bool        varying = form.table_a >= 0;
      VolumeBlocks<dim> blocks  = {};
      if (varying)
        {
          for (unsigned int d = 0; d < (form.tensor ? dim * dim : 1); ++d)
            blocks.a[d] = array(form.table_a + d);
          if (form.advection)
            for (unsigned int d = 0; d < dim; ++d)
              blocks.b[d] = array(form.table_b + d);
          blocks.c = array(form.table_c);
        }
      blocks.f = array(form.table_f);
      problem.form.evaluate_volume(batch, blocks);
      if (varying)
        problem.invert_diffusion(
          form.tensor, batch.x, batch.n_points, blocks.a, blocks.a);
    }



    template <int dim>
    void
    DeviceTabulation<dim>::tabulate_facets(const unsigned int k,
                                           double            *facets,
                                           Buffers           &buffers) const
    {
      InterfaceQuadrature<dim> &quadrature = buffers.facet_quadrature;
      std::vector<double>      &values     = buffers.values;
      unsigned int              facet = invalid_index, row = invalid_index;
      for (unsigned int i = plan.facet_begin[k]; i < plan.facet_begin[k + 1];
           ++i, facets += 4)
        {
          const Device::HDGFacetPointGroup &group = plan.facet_point_groups[i];
          if (group.facet != facet || group.row != row)
            {
              facet = group.facet;
              row   = group.row;
              quadrature.reinit_facet(mesh,
                                      interface_of_facet(mesh, facet),
                                      facet,
                                      group.code & 1u,
                                      problem.order[group.code >> 4 & 15u]);
              const unsigned int m = quadrature.size();
              values.resize((dim + 1) * m);
              FacetPointBatch<dim> batch = batch_of(quadrature);
              double              *b[dim];
              for (unsigned int d = 0; d < dim; ++d)
                b[d] = values.data() + d * m;
              problem.normal_advection(batch, b, values.data() + dim * m);
            }
          const unsigned int m = quadrature.size();
          for (unsigned int q = 0; q < 4; ++q)
            facets[q] = values[dim * m + std::min(group.first + q, m - 1)];
        }
    }



    template class DeviceTabulation<2>;
    template class DeviceTabulation<3>;
  } // namespace internal
} // namespace Tessella

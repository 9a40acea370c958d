// SPDX-License-Identifier: LGPL-2.1-or-later

// Empty in a build without CUDA.
#include <tessella/base/config.h>

#ifdef TESSELLA_HAVE_CUDA

#  include <deal.II/base/exceptions.h>
#  include <deal.II/base/point.h>

#  include <tessella/fe/reference_quadrature.h>
#  include <tessella/forms/device_coefficients.h>

#  include <algorithm>
#  include <cmath>
#  include <string>

#  include "../../cuda/blocks.h"
#  include "../assembly/host_dispatch.h"
#  include "../lac/device_call.h"
#  include "boundary_data.h"
#  include "cuda_hdg.h"

namespace Tessella
{
  using namespace dealii;

  namespace internal
  {
    namespace
    {
      void
      parallel_ranges(
        const std::size_t                                    n,
        const std::size_t                                    size,
        const std::function<void(std::size_t, std::size_t)> &function)
      {
        for_ranges(n, size, function);
      }

      // Those that PolytopeQuadrature and InterfaceQuadrature take.
      template <int dim>
      Device::RuleTables
      make_rules(const PolytopicMesh<dim>        &mesh,
                 const std::vector<unsigned int> &order)
      {
        Device::RuleTables tables;
        const auto         add = [&](Device::RuleTables::Entry &entry,
                             const ReferenceRule       &rule) {
          entry.n_points = rule.n_points;
          entry.offset   = tables.data.size();
          tables.data.insert(tables.data.end(),
                             rule.points.begin(),
                             rule.points.end());
          tables.data.insert(tables.data.end(),
                             rule.weights.begin(),
                             rule.weights.end());
        };
        const auto has = [](const auto &types, const auto type) {
          return std::find(types.begin(), types.end(), type) != types.end();
        };
        const auto index = [](const auto type) {
          return static_cast<unsigned int>(type);
        };
        for (unsigned int p = 0; p < order.size(); ++p)
          {
            if (has(mesh.subcell_type, SubCellType::simplex))
              add(tables.subcell[index(SubCellType::simplex)][p],
                  simplex_rule(dim, order[p]));
            if (has(mesh.subcell_type, SubCellType::parallelepiped))
              add(tables.subcell[index(SubCellType::parallelepiped)][p],
                  hypercube_rule(dim, order[p]));
            if (has(mesh.subcell_type, SubCellType::hypercube))
              add(tables.subcell[index(SubCellType::hypercube)][p],
                  hypercube_rule(dim, order[p] + dim - 1));
            if (has(mesh.facet_type, FacetType::simplex))
              add(tables.facet[index(FacetType::simplex)][p],
                  simplex_rule(dim - 1, order[p]));
            if (has(mesh.facet_type, FacetType::quadrilateral))
              add(tables.facet[index(FacetType::quadrilateral)][p],
                  hypercube_rule(dim - 1, order[p] + 1));
          }
        return tables;
      }

      /// Points of a batch, growing.
      template <int dim>
      struct Points
      {
        std::vector<double>       x[dim];
        std::vector<unsigned int> subcell, material;

        void
        resize(const unsigned int n)
        {
          for (auto &coordinate : x)
            coordinate.resize(n);
          subcell.resize(n);
          material.resize(n);
        }

        PointBatch<dim>
        batch(const unsigned int n) const
        {
          PointBatch<dim> result;
          result.n_points = n;
          for (unsigned int d = 0; d < dim; ++d)
            result.x[d] = x[d].data();
          result.subcell  = subcell.data();
          result.material = material.data();
          return result;
        }
      };
    } // namespace



    template <int dim>
    CUDAHDG<dim>::CUDAHDG(const LocalProblem<dim>    &problem,
                          const BlockSparsity        &sparsity,
                          const Device::HDGNumbering &numbering,
                          const std::size_t           device_memory)
      : mesh(problem.mesh)
      , revision(problem.mesh.revision)
      , quadrature_revision(problem.mesh.quadrature_revision)
      , order(problem.order)
      , rules(make_rules(problem.mesh, problem.order))
      , exponents(problem.exponents)
    {
      // (rules of lower degrees have lower orders)
      std::vector<unsigned int> mass_degree;
      for (unsigned int p = 0; p < order.size(); ++p)
        {
          unsigned int least = p;
          while (least > 0 &&
                 order[least - 1] >= 2 * p * (problem.tensor_product ? dim : 1))
            --least;
          mass_degree.push_back(least);
        }
      device = device_call([&] {
        return std::make_unique<Device::HDGAssembler<dim>>(
          mesh,
          problem.trace,
          sparsity,
          numbering,
          rules,
          mass_degree,
          exponents,
          problem.tensor_product,
          device_memory,
          Device::Parallel(parallel_ranges));
      });
    }



    template <int dim>
    const Device::HDGSizes &
    CUDAHDG<dim>::sizes() const
    {
      return device->sizes();
    }



    template <int dim>
    void
    CUDAHDG<dim>::upload(const Device::HDGSizes &sizes)
    {
      device_call([&] { device->upload(sizes); });
    }



    template <int dim>
    std::size_t
    CUDAHDG<dim>::memory() const
    {
      return device->memory();
    }



    template <int dim>
    void
    CUDAHDG<dim>::set_device_memory(const std::size_t bytes)
    {
      device->set_device_memory(bytes);
    }



    template <int dim>
    bool
    CUDAHDG<dim>::fits(const LocalProblem<dim> &problem) const
    {
      return problem.mesh.revision == revision &&
             problem.mesh.quadrature_revision == quadrature_revision &&
             problem.order == order;
    }



    template <int dim>
    Device::HDGProblem<dim>
    CUDAHDG<dim>::make_problem(const LocalProblem<dim> &problem)
    {
      const VolumeStructure   structure = problem.form.volume_structure();
      Device::HDGProblem<dim> result;
      Device::HDGForm<dim>   &form = result.form;
      form.tensor       = structure.diffusion == DiffusionType::tensor;
      form.advection    = structure.b;
      form.conservative = problem.conservative;
      form.reaction     = structure.c;
      form.source       = structure.f;
      form.tau          = problem.tau;

      // ---- constants: by evaluation at a vertex
      if (mesh.n_owned_polytopes() > 0 &&
          (structure.constant || structure.constant_f))
        {
          double            a[dim * dim] = {}, b[dim] = {}, c = 0., f = 0.;
          VolumeBlocks<dim> blocks = {};
          if (structure.constant)
            {
              if (structure.diffusion != DiffusionType::none)
                for (unsigned int d = 0; d < (form.tensor ? dim * dim : 1); ++d)
                  blocks.a[d] = a + d;
              for (unsigned int d = 0; d < dim; ++d)
                blocks.b[d] = structure.b ? b + d : nullptr;
              blocks.c = structure.c ? &c : nullptr;
            }
          blocks.f = structure.f && structure.constant_f ? &f : nullptr;
          Points<dim> point;
          point.resize(1);
          for (unsigned int d = 0; d < dim; ++d)
            point.x[d][0] = mesh.subcell_vertices[d];
          point.material[0] = mesh.subcell_material[0];
          problem.form.evaluate_volume(point.batch(1), blocks);
          if (structure.constant)
            {
              double        inverse[dim * dim];
              const double *entry[dim * dim];
              for (unsigned int d = 0; d < dim * dim; ++d)
                entry[d] = a + d;
              const double *x[dim];
              for (unsigned int d = 0; d < dim; ++d)
                x[d] = point.x[d].data();
              invert_diffusion<dim>(form.tensor, x, 0, entry, inverse);
              std::copy(inverse,
                        inverse + (form.tensor ? dim * dim : 1),
                        form.a_inverse);
              form.a = a[0];
              std::copy(b, b + dim, form.b);
              form.c = c;
            }
          form.f = f;
        }
      // ---- tables
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

      fixes_constant.assign(mesh.n_owned_polytopes(),
                            form.advection ||
                              (structure.constant && form.c != 0.));
      reaction.assign(mesh.n_owned_polytopes(), 0);
      integral_abs_g.assign(mesh.n_owned_polytopes(), 0.);
      result.boundary.assign(8ull * device->n_boundary_quads(), 0.);
      tabulate_boundary(problem, result.boundary);

      // ---- stabilisation
      const auto check_tau = [&](const double tau, const unsigned int k) {
        AssertThrow(tau >= 0. && std::isfinite(tau),
                    ExcMessage("The stabilisation tau is " +
                               std::to_string(tau) + " on a facet of " +
                               describe_polytope(mesh, k) +
                               ", but it must be a finite number that is not "
                               "negative."));
      };
      if (problem.tau_of_facet)
        {
          result.tau.assign(2 * std::size_t(mesh.n_facets()), 0.);
          for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
            for (unsigned int f = mesh.facet_offset[i];
                 f < mesh.facet_offset[i + 1];
                 ++f)
              for (unsigned int side = 0; side < 2; ++side)
                {
                  const unsigned int k =
                    mesh.interface_polytope[2 * std::size_t(i) + side];
                  if (k == invalid_index || !(mesh.facet_measure[f] > 0.))
                    continue;
                  const double tau = problem.tau_of_facet(f, side);
                  check_tau(tau, k);
                  result.tau[2 * std::size_t(f) + side] = tau;
                }
        }
      else
        check_tau(problem.tau, 0);

      // (where c varies, the host sees whether it is zero)
      coefficients = problem.form.device_coefficients();
      if (coefficients != nullptr && coefficients->fields().empty() &&
          coefficients->cell_values().empty() && form.table_c < 0)
        result.coefficients = coefficients.get();
      result.tabulate = [this, &problem, form](const unsigned int  begin,
                                               const unsigned int  end,
                                               const std::uint64_t n_points,
                                               double             *volume,
                                               double             *facets) {
        tabulate(problem, form, begin, end, n_points, volume, facets);
      };
      return result;
    }



    template <int dim>
    void
    CUDAHDG<dim>::tabulate_boundary(const LocalProblem<dim> &problem,
                                    std::vector<double>     &table)
    {
      const std::size_t         n_points = table.size() / 2;
      std::vector<unsigned int> boundary_polytopes;
      for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
        {
          bool boundary = false;
          for (unsigned int e = mesh.polytope_interface_offset[k];
               e < mesh.polytope_interface_offset[k + 1];
               ++e)
            boundary = boundary || mesh.neighbor(mesh.polytope_interface[e]) ==
                                     invalid_index;
          if (boundary)
            boundary_polytopes.push_back(k);
        }
      const VolumeStructure structure = problem.form.volume_structure();
      std::vector<char>     robin(mesh.n_owned_polytopes(), 0);
      for_ranges(
        boundary_polytopes.size(),
        16,
        [&](const std::size_t first, const std::size_t last) {
          InterfaceQuadrature<dim> quadrature;
          std::vector<double>      bn, g, alpha, b;
          for (std::size_t l = first; l < last; ++l)
            {
              const unsigned int k     = boundary_polytopes[l];
              unsigned int       facet = invalid_index;
              for (unsigned int i = device->facet_begin()[k];
                   i < device->facet_begin()[k + 1];
                   ++i)
                {
                  const Device::HDGFacetQuad &quad = device->facet_quads()[i];
                  if (quad.boundary == invalid_index)
                    continue;
                  if (quad.facet != facet)
                    {
                      facet = quad.facet;
                      const unsigned int interface =
                        std::upper_bound(mesh.facet_offset.begin(),
                                         mesh.facet_offset.end(),
                                         facet) -
                        mesh.facet_offset.begin() - 1;
                      quadrature.reinit_facet(
                        mesh, interface, facet, 0, order[mesh.degree[k]]);
                      const unsigned int n = quadrature.size();
                      bn.assign(n, 0.);
                      const double *x[dim], *normal[dim];
                      for (unsigned int d = 0; d < dim; ++d)
                        {
                          x[d]      = quadrature.x[d].data();
                          normal[d] = quadrature.normal[d].data();
                        }
                      if (structure.b)
                        {
                          b.resize(dim * n);
                          PointBatch<dim> batch;
                          batch.n_points = n;
                          std::copy(x, x + dim, batch.x);
                          batch.subcell            = quadrature.subcell.data();
                          batch.material           = quadrature.material.data();
                          VolumeBlocks<dim> blocks = {};
                          for (unsigned int d = 0; d < dim; ++d)
                            blocks.b[d] = b.data() + d * n;
                          problem.form.evaluate_volume(batch, blocks);
                          for (unsigned int d = 0; d < dim; ++d)
                            for (unsigned int q = 0; q < n; ++q)
                              bn[q] += b[d * n + q] * normal[d][q];
                        }
                      const unsigned int id =
                        mesh.interface_boundary_id[interface];
                      const BoundaryCondition<dim> &condition =
                        problem.form.boundary_condition(id);
                      g.assign(n, 0.);
                      alpha.assign(n, 0.);
                      evaluate_boundary_data<dim>(condition,
                                                  id,
                                                  n,
                                                  x,
                                                  normal,
                                                  bn.data(),
                                                  g.data(),
                                                  alpha.data());
                      if (condition.type != BoundaryType::dirichlet)
                        for (unsigned int q = 0; q < n; ++q)
                          {
                            integral_abs_g[k] +=
                              quadrature.JxW[q] * std::abs(g[q]);
                            if (quadrature.JxW[q] > 0. && alpha[q] != 0.)
                              robin[k] = 1;
                          }
                    }
                  for (unsigned int q = 0; q < 4; ++q)
                    {
                      const unsigned int from =
                        std::min(quad.first + q, quadrature.size() - 1);
                      const std::size_t to = 4ull * quad.boundary + q;
                      table[to]            = g[from];
                      table[n_points + to] = alpha[from];
                    }
                }
            }
        });
      for (const unsigned int k : boundary_polytopes)
        if (robin[k])
          fixes_constant[k] = true;
    }



    template <int dim>
    void
    CUDAHDG<dim>::tabulate(const LocalProblem<dim>    &problem,
                           const Device::HDGForm<dim> &form,
                           const unsigned int          first,
                           const unsigned int          last,
                           const std::uint64_t         n_points,
                           double                     *volume,
                           double                     *facets)
    {
      const std::vector<std::uint64_t> &subcell_points =
        device->subcell_points();
      const std::vector<unsigned int> &facet_begin = device->facet_begin();
      const bool                       varying     = form.table_a >= 0;
      for_ranges(
        last - first,
        16,
        [&](const std::size_t range_begin, const std::size_t range_end) {
          PolytopeQuadrature<dim>  quadrature;
          InterfaceQuadrature<dim> facet_quadrature;
          Points<dim>              points;
          std::vector<double>      values;
          for (unsigned int k = first + range_begin; k < first + range_end; ++k)
            {
              // ---- the volume: all points of the polytope
              const unsigned int begin = mesh.subcell_offset[k],
                                 end   = mesh.subcell_offset[k + 1];
              const unsigned int n =
                volume == nullptr
                  ? 0
                  : static_cast<unsigned int>(subcell_points[end] -
                                              subcell_points[begin]);
              const std::size_t offset =
                subcell_points[begin] -
                subcell_points[mesh.subcell_offset[first]];
              points.resize(n);
              for (unsigned int s = begin; n > 0 && s < end; ++s)
                {
                  quadrature.reinit_subcell(mesh, s, order[mesh.degree[k]]);
                  const std::size_t to =
                    subcell_points[s] - subcell_points[begin];
                  for (unsigned int q = 0; q < quadrature.size(); ++q)
                    {
                      for (unsigned int d = 0; d < dim; ++d)
                        points.x[d][to + q] = quadrature.x[d][q];
                      points.subcell[to + q]  = s;
                      points.material[to + q] = mesh.subcell_material[s];
                    }
                }
              VolumeBlocks<dim> blocks = {};
              const auto        array  = [&](const int t) {
                return t < 0 || n == 0 ? nullptr
                                               : volume + t * n_points + offset;
              };
              const unsigned int n_a = form.tensor ? dim * dim : 1;
              const bool         no_diffusion =
                problem.form.volume_structure().diffusion ==
                DiffusionType::none;
              if (varying && n > 0)
                {
                  if (no_diffusion)
                    std::fill_n(array(form.table_a), n, 0.);
                  else
                    for (unsigned int d = 0; d < n_a; ++d)
                      blocks.a[d] = array(form.table_a + d);
                  if (form.advection)
                    for (unsigned int d = 0; d < dim; ++d)
                      blocks.b[d] = array(form.table_b + d);
                  blocks.c = array(form.table_c);
                }
              blocks.f = array(form.table_f);
              if (n > 0)
                problem.form.evaluate_volume(points.batch(n), blocks);
              if (varying && n > 0)
                {
                  const double *x[dim];
                  for (unsigned int d = 0; d < dim; ++d)
                    x[d] = points.x[d].data();
                  const double *entry[dim * dim];
                  for (unsigned int d = 0; d < n_a; ++d)
                    entry[d] = array(form.table_a + d);
                  for (unsigned int q = 0; q < n; ++q)
                    {
                      double inverse[dim * dim];
                      invert_diffusion<dim>(form.tensor, x, q, entry, inverse);
                      for (unsigned int d = 0; d < n_a; ++d)
                        array(form.table_a + d)[q] = inverse[d];
                    }
                  if (blocks.c != nullptr)
                    reaction[k] =
                      std::any_of(blocks.c, blocks.c + n, [](const double c) {
                        return c != 0.;
                      });
                }
              if (!form.facet_table)
                continue;

              // ---- b.n on facets
              unsigned int facet = invalid_index, row = invalid_index;
              for (unsigned int i = facet_begin[k]; i < facet_begin[k + 1]; ++i)
                {
                  const Device::HDGFacetQuad &quad = device->facet_quads()[i];
                  const unsigned int          side = quad.code & 1u;
                  if (quad.facet != facet || quad.row != row)
                    {
                      facet = quad.facet;
                      row   = quad.row;
                      const unsigned int interface =
                        std::upper_bound(mesh.facet_offset.begin(),
                                         mesh.facet_offset.end(),
                                         facet) -
                        mesh.facet_offset.begin() - 1;
                      facet_quadrature.reinit_facet(
                        mesh,
                        interface,
                        facet,
                        side,
                        order[quad.code >> 4 & 15u]);
                      const unsigned int m = facet_quadrature.size();
                      values.assign((dim + 1) * m, 0.);
                      PointBatch<dim> batch;
                      batch.n_points = m;
                      for (unsigned int d = 0; d < dim; ++d)
                        batch.x[d] = facet_quadrature.x[d].data();
                      batch.subcell          = facet_quadrature.subcell.data();
                      batch.material         = facet_quadrature.material.data();
                      VolumeBlocks<dim> of_b = {};
                      for (unsigned int d = 0; d < dim; ++d)
                        of_b.b[d] = values.data() + d * m;
                      problem.form.evaluate_volume(batch, of_b);
                      for (unsigned int d = 0; d < dim; ++d)
                        for (unsigned int q = 0; q < m; ++q)
                          values[dim * m + q] +=
                            values[d * m + q] * facet_quadrature.normal[d][q];
                    }
                  const unsigned int m = facet_quadrature.size();
                  for (unsigned int q = 0; q < 4; ++q)
                    facets[4 * std::size_t(i - facet_begin[first]) + q] =
                      values[dim * m + std::min(quad.first + q, m - 1)];
                }
            }
        });
    }



    template <int dim>
    Device::HDGTimes
    CUDAHDG<dim>::assemble(const LocalProblem<dim> &problem,
                           const bool               keep,
                           double                  *values,
                           double                  *rhs)
    {
      const Device::HDGProblem<dim> device_problem = make_problem(problem);
      const Device::HDGTimes        times          = device_call(
        [&] { return device->assemble(device_problem, keep, values, rhs); });
      finish();
      return times;
    }



    template <int dim>
    Device::HDGTimes
    CUDAHDG<dim>::assemble_blocks(
      const LocalProblem<dim>                             &problem,
      const bool                                           keep,
      const typename Device::HDGAssembler<dim>::UseBlocks &use,
      std::vector<double>                                 &rhs)
    {
      const Device::HDGProblem<dim> device_problem = make_problem(problem);
      const Device::HDGTimes        times          = device_call([&] {
        return device->assemble_blocks(device_problem, keep, use, rhs);
      });
      finish();
      return times;
    }



    template <int dim>
    void
    CUDAHDG<dim>::finish()
    {
      for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
        if (reaction[k])
          fixes_constant[k] = true;
      const unsigned int k = device->failed_polytope;
      if (k != invalid_index)
        switch (device->failure)
          {
            case Device::HDGFailure::diffusion:
              throw_local_failure(LocalFailure::diffusion, mesh, k);
            case Device::HDGFailure::schur_complement:
              throw_local_failure(LocalFailure::schur_complement, mesh, k);
            case Device::HDGFailure::no_stabilisation:
              throw_local_failure(LocalFailure::no_stabilisation, mesh, k);
            default:
              throw_local_failure(LocalFailure::basis, mesh, k);
          }
    }



    template <int dim>
    double
    CUDAHDG<dim>::recover(const LocalProblem<dim> &problem,
                          const double            *trace,
                          double                  *solution,
                          double                  *flux)
    {
      const Device::HDGProblem<dim> device_problem = make_problem(problem);
      return device_call(
        [&] { return device->recover(device_problem, trace, solution, flux); });
    }



    template <int dim>
    std::vector<double>
    CUDAHDG<dim>::dirichlet() const
    {
      std::vector<double> values;
      device_call([&] { device->download_dirichlet(values); });
      return values;
    }



    template <int dim>
    void
    CUDAHDG<dim>::balance(std::vector<double> &integral,
                          std::vector<double> &abs_f) const
    {
      device_call([&] { device->download_balance(integral, abs_f); });
    }



    template <int dim>
    const std::vector<std::uint64_t> &
    CUDAHDG<dim>::trace_offset() const
    {
      return device->trace_offset();
    }



    template <int dim>
    void
    CUDAHDG<dim>::download(const double *from, double *to, const std::size_t n)
    {
      device_call([&] {
        Device::download_array(from, to, n, Device::Parallel(parallel_ranges));
      });
    }



    template <int dim>
    void
    CUDAHDG<dim>::upload(const double *from, double *to, const std::size_t n)
    {
      device_call([&] { Device::upload_bytes(to, from, n * sizeof(double)); });
    }



    template class CUDAHDG<2>;
    template class CUDAHDG<3>;
  } // namespace internal
} // namespace Tessella

#endif

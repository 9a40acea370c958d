// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Host side of hybridizable dG on a CUDA device. The file is empty in a build
// without CUDA.
#include <tessella/base/config.h>

#ifdef TESSELLA_HAVE_CUDA

#  include <deal.II/base/exceptions.h>
#  include <deal.II/base/point.h>

#  include <tessella/forms/device_coefficients.h>
#  include <tessella/quadrature/reference_quadrature.h>

#  include <algorithm>
#  include <cmath>
#  include <string>

#  include "../../cuda/lac/blocks.h"
#  include "../backends/host_dispatch.h"
#  include "../device/device_call.h"
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

      // Reference rules that PolytopeQuadrature and InterfaceQuadrature use.
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

      /// Growing arrays of points for a batch.
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

      template <int dim>
      void
      set_points(const InterfaceQuadrature<dim> &quadrature,
                 FacetPointBatch<dim>           &batch)
      {
        batch.n_points = quadrature.size();
        for (unsigned int d = 0; d < dim; ++d)
          {
            batch.x[d]      = quadrature.x[d].data();
            batch.normal[d] = quadrature.normal[d].data();
          }
        batch.subcell  = quadrature.subcell.data();
        batch.material = quadrature.material.data();
      }
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
      for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
        for (unsigned int e = mesh.polytope_interface_offset[k];
             e < mesh.polytope_interface_offset[k + 1];
             ++e)
          if (mesh.neighbor(mesh.polytope_interface[e]) == invalid_index)
            {
              if (boundary_polytopes.empty() || boundary_polytopes.back() != k)
                boundary_polytopes.push_back(k);
              boundary_ids.push_back(
                mesh.interface_boundary_id[mesh.polytope_interface[e] / 2]);
            }
      std::sort(boundary_ids.begin(), boundary_ids.end());
      boundary_ids.erase(std::unique(boundary_ids.begin(), boundary_ids.end()),
                         boundary_ids.end());
      // Lower degrees have rules of lower order.
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

      // ---- constants, by evaluation at a vertex. Without diffusion this
      // throws, since the method cannot be used.
      const bool no_diffusion = structure.diffusion == DiffusionType::none;
      if (mesh.n_owned_polytopes() > 0 &&
          (structure.constant || structure.constant_f || no_diffusion))
        {
          double            a[dim * dim] = {}, b[dim] = {}, c = 0., f = 0.;
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
          Points<dim> point;
          point.resize(1);
          for (unsigned int d = 0; d < dim; ++d)
            point.x[d][0] = mesh.subcell_vertices[d];
          point.material[0] = mesh.subcell_material[0];
          problem.form.evaluate_volume(point.batch(1), blocks);
          if (structure.constant || no_diffusion)
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
      // ---- tables of coefficients that vary
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
      result.robin = std::any_of(boundary_ids.begin(),
                                 boundary_ids.end(),
                                 [&](const unsigned int id) {
                                   return problem.form.boundary_type(id) ==
                                          BoundaryType::robin;
                                 });

      // ---- stabilisation
      if (problem.tau_of_facet)
        tabulate_tau(problem, result.tau);
      else
        check_tau(problem.tau, mesh, 0);

      // ---- evaluation of coefficients, by the device or by the host
      coefficients = problem.form.device_coefficients();
      if (coefficients != nullptr)
        {
          for (const auto &values : coefficients->cell_values())
            AssertThrow(values->size() == mesh.n_subcells(),
                        ExcMessage(
                          "Values of cells are used on another mesh than they "
                          "were made for: make new ones after agglomerate()."));
          result.coefficients = coefficients.get();
          coefficients_are    = coefficients->description();
        }
      else
        {
          result.boundary.assign(8ull * device->n_boundary_point_groups(), 0.);
          tabulate_boundary(problem, result.boundary);
          const std::string reason = problem.form.why_not_on_device();
          coefficients_are         = form.n_tables == 0
                                       ? "constant"
                                       : "evaluated by the host's threads" +
                                   (reason.empty() ? "" : " (" + reason + ")");
        }
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
    CUDAHDG<dim>::tabulate_tau(const LocalProblem<dim> &problem,
                               std::vector<double>     &table) const
    {
      table.assign(2 * std::size_t(mesh.n_facets()), 0.);
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
                           if (k == invalid_index ||
                               !(mesh.facet_measure[f] > 0.))
                             continue;
                           const double tau = problem.tau_of_facet(f, side);
                           check_tau(tau, mesh, k);
                           table[2 * std::size_t(f) + side] = tau;
                         }
                 });
    }



    template <int dim>
    template <typename Function>
    void
    CUDAHDG<dim>::for_boundary_point_groups(const LocalProblem<dim> &problem,
                                            const unsigned int       k,
                                            const bool               dirichlet,
                                            const Function &function) const
    {
      static thread_local std::vector<double> memory;
      InterfaceQuadrature<dim>                quadrature;
      unsigned int                            facet = invalid_index;
      double                                 *g = nullptr, *alpha = nullptr;
      for (unsigned int i = device->facet_begin()[k];
           i < device->facet_begin()[k + 1];
           ++i)
        {
          const Device::HDGFacetPointGroup &point_group =
            device->facet_point_groups()[i];
          // Bit 2 is set on Dirichlet boundaries.
          if (point_group.boundary == invalid_index ||
              (!dirichlet && (point_group.code & 4u) != 0))
            continue;
          if (point_group.facet != facet)
            {
              facet                        = point_group.facet;
              const unsigned int interface = interface_of_facet(mesh, facet);
              quadrature.reinit_facet(
                mesh, interface, facet, 0, order[mesh.degree[k]]);
              const unsigned int n = quadrature.size();
              memory.assign((dim + 3) * n, 0.);
              g                       = memory.data();
              alpha                   = g + n;
              double *const        bn = alpha + n;
              FacetPointBatch<dim> batch;
              set_points(quadrature, batch);
              batch.boundary_id = mesh.interface_boundary_id[interface];
              if (problem.form.volume_structure().b &&
                  problem.form.boundary_type(batch.boundary_id) !=
                    BoundaryType::dirichlet)
                {
                  double *b[dim];
                  for (unsigned int d = 0; d < dim; ++d)
                    b[d] = bn + (d + 1) * n;
                  normal_advection(problem.form, batch, b, bn);
                  check_outflow<dim>(batch, b, bn);
                }
              problem.form.evaluate_boundary_data(batch, g, alpha);
            }
          function(i, quadrature, g, alpha);
        }
    }



    template <int dim>
    void
    CUDAHDG<dim>::tabulate_boundary(const LocalProblem<dim> &problem,
                                    std::vector<double>     &table) const
    {
      const std::size_t n_points = table.size() / 2;
      for_ranges(boundary_polytopes.size(),
                 16,
                 [&](const std::size_t begin, const std::size_t end) {
                   for (std::size_t l = begin; l < end; ++l)
                     for_boundary_point_groups(
                       problem,
                       boundary_polytopes[l],
                       true,
                       [&](const unsigned int              i,
                           const InterfaceQuadrature<dim> &quadrature,
                           const double                   *g,
                           const double                   *alpha) {
                         const Device::HDGFacetPointGroup &point_group =
                           device->facet_point_groups()[i];
                         for (unsigned int q = 0; q < 4; ++q)
                           {
                             const unsigned int from =
                               std::min(point_group.first + q,
                                        quadrature.size() - 1);
                             const std::size_t to =
                               4ull * point_group.boundary + q;
                             table[to]            = g[from];
                             table[n_points + to] = alpha[from];
                           }
                       });
                 });
    }



    template <int dim>
    double
    CUDAHDG<dim>::integral_abs_g(const LocalProblem<dim> &problem,
                                 const unsigned int       k) const
    {
      double sum = 0.;
      for_boundary_point_groups(
        problem,
        k,
        false,
        [&](const unsigned int              i,
            const InterfaceQuadrature<dim> &quadrature,
            const double                   *g,
            const double *) {
          const Device::HDGFacetPointGroup &point_group =
            device->facet_point_groups()[i];
          for (unsigned int q = point_group.first;
               q < std::min(point_group.first + 4, quadrature.size());
               ++q)
            sum += quadrature.JxW[q] * std::abs(g[q]);
        });
      return sum;
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
              if (varying && n > 0)
                {
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
                }
              if (!form.facet_table)
                continue;

              // ---- b.n on facets
              unsigned int facet = invalid_index, row = invalid_index;
              for (unsigned int i = facet_begin[k]; i < facet_begin[k + 1]; ++i)
                {
                  const Device::HDGFacetPointGroup &point_group =
                    device->facet_point_groups()[i];
                  const unsigned int side = point_group.code & 1u;
                  if (point_group.facet != facet || point_group.row != row)
                    {
                      facet = point_group.facet;
                      row   = point_group.row;
                      facet_quadrature.reinit_facet(
                        mesh,
                        interface_of_facet(mesh, facet),
                        facet,
                        side,
                        order[point_group.code >> 4 & 15u]);
                      const unsigned int m = facet_quadrature.size();
                      values.resize((dim + 1) * m);
                      FacetPointBatch<dim> batch;
                      set_points(facet_quadrature, batch);
                      double *of_b[dim];
                      for (unsigned int d = 0; d < dim; ++d)
                        of_b[d] = values.data() + d * m;
                      normal_advection(problem.form,
                                       batch,
                                       of_b,
                                       values.data() + dim * m);
                    }
                  const unsigned int m = facet_quadrature.size();
                  for (unsigned int q = 0; q < 4; ++q)
                    facets[4 * std::size_t(i - facet_begin[first]) + q] =
                      values[dim * m + std::min(point_group.first + q, m - 1)];
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
      finish(device_problem);
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
      finish(device_problem);
      return times;
    }



    template <int dim>
    void
    CUDAHDG<dim>::finish(const Device::HDGProblem<dim> &problem)
    {
      const Device::HDGForm<dim> &form = problem.form;
      if (!form.advection && (form.table_c >= 0 || problem.robin) &&
          mesh.n_owned_polytopes() > 0)
        {
          std::vector<char> fixed;
          device_call([&] { device->download_fixed(fixed); });
          for (unsigned int k = 0; k < fixed.size(); ++k)
            fixes_constant[k] = fixes_constant[k] || fixed[k];
        }
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
      const Device::HDGProblem<dim> device_problem =
        device->is_kept() ? Device::HDGProblem<dim>() : make_problem(problem);
      return device_call(
        [&] { return device->recover(device_problem, trace, solution, flux); });
    }



    template <int dim>
    double
    CUDAHDG<dim>::operations() const
    {
      return device->operations();
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/portable/legendre.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "hdg_plan.h"
#include "hdg_reference.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// Fills the members of a plan.
        template <int dim>
        class Planner
        {
        public:
          explicit Planner(HDGPlan<dim> &plan)
            : plan(plan)
            , mesh(plan.mesh)
            , dofs(plan.dofs)
            , trace(plan.trace)
            , rules(plan.rules)
          {
            allocate();
            const std::vector<unsigned int> first_boundary =
              number_boundary_points();
            const std::vector<unsigned char> suitable =
              find_suitable_interfaces();
            const unsigned int n                    = mesh.n_owned_polytopes();
            unsigned int       n_short_point_groups = 0;
            for (unsigned int k = 0; k < n; ++k)
              count_polytope(k, suitable, n_short_point_groups);
            plan.entry_point_group.back()       = plan.facet_begin[n];
            plan.short_entry_point_group.back() = n_short_point_groups;
            plan.n_face_functions               = Legendre::n_functions(dim - 1,
                                                          plan.max_degree,
                                                          trace.tensor_product);
            for (unsigned int p = 0; p + 1 < trace.facet_offset.size(); ++p)
              if (trace.facet_offset[p + 1] > trace.facet_offset[p] + 1)
                plan.shared_patches = true;
            simplices = all_are_simplices();
            plan.volume_point_groups.resize(plan.volume_begin[n]);
            plan.mass_point_groups.resize(plan.mass_begin[n]);
            plan.facet_point_groups.resize(plan.facet_begin[n]);
            plan.short_facet_point_groups.resize(n_short_point_groups);
            plan.parallel(n,
                          256,
                          [&](const std::size_t begin, const std::size_t end) {
                            for (std::size_t k = begin; k < end; ++k)
                              list_polytope(k, first_boundary);
                          });
            for (unsigned int i = 0; i < plan.facet_point_groups.size(); ++i)
              if (plan.facet_point_groups[i].boundary != invalid_index)
                plan.boundary_point_groups.push_back(i);
            plan.simplices = simplices;
            set_sizes_of_process();
          }

        private:
          void
          allocate()
          {
            const unsigned int n         = mesh.n_owned_polytopes(),
                               n_entries = mesh.polytope_interface.size();
            plan.entry_row.assign(n_entries, 0);
            plan.entry_polytope.assign(n_entries, 0);
            plan.entry_point_group.assign(n_entries + std::size_t(1), 0);
            plan.short_entry_point_group.assign(n_entries + std::size_t(1), 0);
            plan.entry_fixed.assign(n_entries, 0);
            plan.entry_projected.assign(n_entries, 0);
            plan.entry_of_side.assign(2 * std::size_t(mesh.n_interfaces()),
                                      invalid_index);
            plan.trace_offset.assign(n + 1, 0);
            plan.square_offset.assign(n + 1, 0);
            plan.solver_offset.assign(n + 1, 0);
            plan.volume_begin.assign(n + 1, 0);
            plan.mass_begin.assign(n + 1, 0);
            plan.subcell_q.assign(mesh.n_subcells() + 1, 0);
            plan.facet_begin.assign(n + 1, 0);
          }

          // Numbers boundary point groups interface by interface, and returns
          // the first of each interface.
          std::vector<unsigned int>
          number_boundary_points()
          {
            std::vector<unsigned int> first_boundary(mesh.n_interfaces(), 0);
            for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
              if (mesh.interface_polytope[2 * std::size_t(i) + 1] ==
                  invalid_index)
                {
                  first_boundary[i]         = plan.n_boundary_point_groups;
                  const unsigned int degree = interface_degree(mesh, dofs, i);
                  for (unsigned int f = mesh.facet_offset[i];
                       f < mesh.facet_offset[i + 1];
                       ++f)
                    plan.n_boundary_point_groups += n_point_groups(f, degree);
                }
            return first_boundary;
          }

          // For each interface, whether HDGConstantFacets may handle it.
          std::vector<unsigned char>
          find_suitable_interfaces()
          {
            planar.assign(mesh.n_facets(), 0);
            for (unsigned int f = 0; f < mesh.n_facets(); ++f)
              planar[f] = is_planar(f);
            std::vector<unsigned char> suitable(mesh.n_interfaces(), 0);
            plan.parallel(mesh.n_interfaces(),
                          1024,
                          [&](const std::size_t begin, const std::size_t end) {
                            for (std::size_t i = begin; i < end; ++i)
                              suitable[i] = is_suitable(i);
                          });
            return suitable;
          }

          // Sets the entries of polytope k and the offsets behind it.
          void
          count_polytope(const unsigned int                k,
                         const std::vector<unsigned char> &suitable,
                         unsigned int                     &n_short_point_groups)
          {
            // ---- interfaces
            std::uint64_t n_traces     = 0;
            unsigned int  point_groups = 0;
            for (unsigned int e = plan.first_entry(k);
                 e < plan.first_entry(k + 1);
                 ++e)
              {
                const unsigned int code   = mesh.polytope_interface[e],
                                   i      = code / 2;
                plan.entry_of_side[code]  = e;
                plan.entry_row[e]         = n_traces;
                plan.entry_polytope[e]    = k;
                plan.entry_point_group[e] = plan.facet_begin[k] + point_groups;
                plan.short_entry_point_group[e] = n_short_point_groups;
                plan.entry_fixed[e]             = plan.numbering.fixed[i];
                // On the boundary G contains other terms.
                plan.entry_projected[e] =
                  suitable[i] && (plan.numbering.fixed[i] ||
                                  mesh.neighbor(code) != invalid_index);
                if (mesh.neighbor(code) == invalid_index &&
                    (plan.boundary_polytopes.empty() ||
                     plan.boundary_polytopes.back() != k))
                  plan.boundary_polytopes.push_back(k);
                (plan.entry_projected[e] ? plan.projected_entries
                                         : plan.other_entries)
                  .push_back(e);
                n_traces += trace.n_functions[i];
                const unsigned int degree = interface_degree(mesh, dofs, i);
                for (unsigned int f = mesh.facet_offset[i];
                     f < mesh.facet_offset[i + 1];
                     ++f)
                  if (mesh.facet_measure[f] > 0.)
                    {
                      point_groups += n_point_groups(f, degree);
                      n_short_point_groups +=
                        n_point_groups(f, short_degree(code, f));
                    }
              }
            // ---- sub-cells
            unsigned int volume = 0, mass = 0;
            for (unsigned int s = mesh.subcell_offset[k];
                 s < mesh.subcell_offset[k + 1];
                 ++s)
              {
                const unsigned int n_points =
                  n_subcell_points(mesh, rules, s, dofs.degree[k]);
                volume += (n_points + 3) / 4;
                mass += n_mass_point_groups(k, s);
                plan.subcell_q[s + 1] = plan.subcell_q[s] + n_points;
              }
            // ---- offsets, and largest sizes
            plan.trace_offset[k + 1] = plan.trace_offset[k] + n_traces;
            plan.square_offset[k + 1] =
              plan.square_offset[k] + n_traces * n_traces;
            const std::uint64_t n_basis = dofs.n_basis[k];
            plan.solver_offset[k + 1] =
              plan.solver_offset[k] +
              ((n_traces + 1) * (dim + 1) + n_basis) * n_basis;
            plan.volume_begin[k + 1] = plan.volume_begin[k] + volume;
            plan.mass_begin[k + 1]   = plan.mass_begin[k] + mass;
            plan.facet_begin[k + 1]  = plan.facet_begin[k] + point_groups;
            plan.max_traces = std::max(plan.max_traces, (unsigned int)n_traces);
            plan.max_basis  = std::max(plan.max_basis, dofs.n_basis[k]);
            plan.max_degree = std::max(plan.max_degree, dofs.degree[k]);
            plan.max_point_groups =
              std::max({plan.max_point_groups, volume, mass});
          }

          // True if all sub-cells and facets are simplices, each polytope is
          // one sub-cell, and all have the same degree.
          bool
          all_are_simplices() const
          {
            const auto all = [](const auto &values, const auto value) {
              return std::all_of(values.begin(),
                                 values.end(),
                                 [value](const auto v) { return v == value; });
            };
            const unsigned int n = mesh.n_owned_polytopes();
            return mesh.subcell_offset[n] == n && !trace.tensor_product &&
                   all(dofs.degree, plan.max_degree) &&
                   all(mesh.subcell_type, SubCellType::simplex) &&
                   all(mesh.facet_type, FacetType::simplex);
          }

          void
          set_sizes_of_process()
          {
            unsigned int smallest = 10;
            for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
              smallest = std::min(smallest, dofs.degree[k]);
            plan.sizes = {plan.max_traces,
                          plan.max_basis,
                          plan.max_degree,
                          10 - smallest,
                          plan.max_point_groups,
                          simplices ? 0u : 1u,
                          plan.shared_patches ? 1u : 0u};
          }

          unsigned int
          n_mass_point_groups(const unsigned int k,
                              const unsigned int subcell) const
          {
            return (n_subcell_points(
                      mesh, rules, subcell, plan.mass_degree[dofs.degree[k]]) +
                    3) /
                   4;
          }

          // True if all points are in a plane and thus have the same normal.
          bool
          is_planar(const unsigned int f) const
          {
            if (mesh.facet_type[f] == FacetType::simplex)
              return true;
            if (dim < 3 || mesh.facet_type[f] != FacetType::quadrilateral)
              return false;
            const double *v =
              &mesh.facet_vertices[std::size_t(mesh.facet_vertex_offset[f]) *
                                   dim];
            double edge[3][3] = {}, square = 0.;
            for (unsigned int i = 0; i < 3; ++i)
              for (unsigned int d = 0; d < dim; ++d)
                {
                  edge[i][d] = v[(i + 1) * dim + d] - v[d];
                  square += edge[i][d] * edge[i][d];
                }
            double volume = 0.;
            for (unsigned int d = 0; d < 3; ++d)
              volume +=
                edge[2][d] * (edge[0][(d + 1) % 3] * edge[1][(d + 2) % 3] -
                              edge[0][(d + 2) % 3] * edge[1][(d + 1) % 3]);
            return std::abs(volume) <=
                   1e-14 * mesh.facet_measure[f] * std::sqrt(square);
          }

          // True if all facets are planar, and trace functions lose at most
          // three digits by rounding, since their coefficients, which magnify
          // rounding errors, are small enough.
          bool
          is_suitable(const unsigned int i) const
          {
            double measure = 0.;
            for (unsigned int f = mesh.facet_offset[i];
                 f < mesh.facet_offset[i + 1];
                 ++f)
              {
                if (!planar[f])
                  return false;
                measure += mesh.facet_measure[f];
              }
            for (unsigned int p = trace.patch_offset[i];
                 p < trace.patch_offset[i + 1];
                 ++p)
              if (!is_suitable_patch(p))
                return false;
            return measure > 0.;
          }

          // True if the largest coefficients of a patch's trace functions are
          // small enough.
          bool
          is_suitable_patch(const unsigned int p) const
          {
            const unsigned int n = trace.n_patch_functions[p];
            if (n == 0)
              return false;
            const std::uint64_t begin = trace.coefficient_offset[p],
                                size =
                                  (trace.coefficient_offset[p + 1] - begin) / n;
            double patch_measure = 0.;
            for (unsigned int f = trace.facet_offset[p];
                 f < trace.facet_offset[p + 1];
                 ++f)
              patch_measure += mesh.facet_measure[f];
            for (unsigned int m = 0; m < n; ++m)
              {
                double sum = 0.;
                for (std::uint64_t g = 0; g < size; ++g)
                  sum += std::abs(trace.coefficients[begin + m * size + g]);
                if (!(sum * std::sqrt(patch_measure) < 1000.))
                  return false;
              }
            return true;
          }

          // Degree whose rule is exact for products of two functions on a facet
          // of an entry of polytope_interface. Facets on the boundary need the
          // rule of the full degree, since data may be any functions.
          unsigned int
          short_degree(const unsigned int entry, const unsigned int f) const
          {
            const unsigned int degree = interface_degree(mesh, dofs, entry / 2);
            return planar[f] && mesh.neighbor(entry) != invalid_index
                     ? plan.mass_degree[degree]
                     : degree;
          }

          unsigned int
          n_point_groups(const unsigned int facet,
                         const unsigned int degree) const
          {
            return (n_facet_points(mesh, rules, facet, degree) + 3) / 4;
          }

          // Lists the point groups of polytope k.
          void
          list_polytope(const unsigned int               k,
                        const std::vector<unsigned int> &first_boundary)
          {
            list_volume(k);
            unsigned int to = plan.facet_begin[k], faces = 0, n_facets = 0;
            for (unsigned int e = plan.first_entry(k);
                 e < plan.first_entry(k + 1);
                 ++e)
              to = list_entry(k,
                              e,
                              to,
                              first_boundary[mesh.polytope_interface[e] / 2],
                              faces,
                              n_facets);
            // Kernels expect exactly one facet on each face.
            if (n_facets != dim + 1 || faces != (2u << dim) - 1)
              simplices = false;
          }

          void
          list_volume(const unsigned int k)
          {
            unsigned int to      = plan.volume_begin[k],
                         mass_to = plan.mass_begin[k];
            for (unsigned int s = mesh.subcell_offset[k];
                 s < mesh.subcell_offset[k + 1];
                 ++s)
              {
                const unsigned int n_points =
                  n_subcell_points(mesh, rules, s, dofs.degree[k]);
                for (unsigned int q = 0; q < n_points; q += 4)
                  plan.volume_point_groups[to++] = {s, q};
                for (unsigned int i = 0; i < n_mass_point_groups(k, s); ++i)
                  plan.mass_point_groups[mass_to++] = {s, 4 * i};
              }
          }

          // Lists the point groups of an entry of polytope k, the first at
          // facet_point_groups[to], and returns the end of its range. @p
          // boundary_number: the first boundary point group of the interface.
          // @p faces receives bits of the faces that have facets.
          unsigned int
          list_entry(const unsigned int k,
                     const unsigned int e,
                     unsigned int       to,
                     unsigned int       boundary_number,
                     unsigned int      &faces,
                     unsigned int      &n_facets)
          {
            const unsigned int entry    = mesh.polytope_interface[e],
                               i        = entry / 2;
            const bool         boundary = mesh.neighbor(entry) == invalid_index;
            const unsigned int degree   = interface_degree(mesh, dofs, i);
            const unsigned int shift =
              entry % 2 == 1 ? mesh.interface_shift[i] : 0;
            const unsigned int code = entry % 2 | (boundary ? 2u : 0u) |
                                      (plan.numbering.fixed[i] ? 4u : 0u) |
                                      shift << 8;
            unsigned int short_to = plan.short_entry_point_group[e];
            for (unsigned int p = trace.patch_offset[i];
                 p < trace.patch_offset[i + 1];
                 ++p)
              for (unsigned int f = trace.facet_offset[p];
                   f < trace.facet_offset[p + 1];
                   ++f)
                {
                  const unsigned int orientation = orientation_of(k, entry, f);
                  const auto         add =
                    [&](const unsigned int               rule_degree,
                        unsigned int                    &at,
                        std::vector<HDGFacetPointGroup> &point_groups) {
                      for (unsigned int i = 0;
                           i < n_point_groups(f, rule_degree);
                           ++i)
                        point_groups[at++] = {f,
                                              4 * i,
                                              p,
                                              plan.entry_row[e] +
                                                trace.first_function[p],
                                              code | rule_degree << 4,
                                              boundary ? boundary_number + i
                                                       : invalid_index,
                                              orientation};
                    };
                  faces |= 1u << opposite_vertex<dim>(orientation);
                  ++n_facets;
                  if (mesh.facet_measure[f] > 0.)
                    {
                      add(degree, to, plan.facet_point_groups);
                      add(short_degree(entry, f),
                          short_to,
                          plan.short_facet_point_groups);
                    }
                  boundary_number += n_point_groups(f, degree);
                }
            return to;
          }

          // Orientation of a facet in a polytope that is one simplex. If it has
          // none, returns 0 and sets simplices to false.
          unsigned int
          orientation_of(const unsigned int k,
                         const unsigned int entry,
                         const unsigned int f)
          {
            if (!simplices)
              return 0;
            const double *vertices =
              &mesh.subcell_vertices[std::size_t(mesh.subcell_vertex_offset
                                                   [mesh.subcell_offset[k]]) *
                                     dim];
            double shift[dim] = {}, size = 0.;
            for (int d = 0; d < dim; ++d)
              {
                size += mesh.box[(2 * std::size_t(k) + 1) * dim + d] -
                        mesh.box[2 * std::size_t(k) * dim + d];
                if (entry % 2 == 1)
                  shift[d] =
                    mesh.shift[std::size_t(mesh.interface_shift[entry / 2]) *
                                 dim +
                               d];
              }
            unsigned int vertex[dim];
            for (int v = 0; v < dim; ++v)
              {
                const double *x =
                  &mesh.facet_vertices
                     [(std::size_t(mesh.facet_vertex_offset[f]) + v) * dim];
                vertex[v] = dim + 1;
                for (int u = 0; u <= dim; ++u)
                  {
                    double distance = 0.;
                    for (int d = 0; d < dim; ++d)
                      distance +=
                        std::abs(vertices[u * dim + d] - x[d] - shift[d]);
                    if (distance < 1e-12 * size)
                      vertex[v] = u;
                  }
                if (vertex[v] > dim)
                  {
                    simplices = false;
                    return 0;
                  }
              }
            return facet_orientation<dim>(vertex);
          }

          HDGPlan<dim>              &plan;
          const PolytopicMesh<dim>  &mesh;
          const PolytopicDoFs       &dofs;
          const TraceSpace<dim>     &trace;
          const RuleTables          &rules;
          std::vector<unsigned char> planar; // of facets
          // As in HDGPlan. Threads only ever set it to false.
          std::atomic<bool> simplices{false};
        };
      } // namespace



      template <int dim>
      HDGPlan<dim>::HDGPlan(const HDGInput<dim> &input)
        : HDGInput<dim>(input)
      {
        const Planner<dim> planner(*this);
      }



      template <int dim>
      void
      HDGPlan<dim>::set_sizes(const HDGSizes &of_all)
      {
        const auto size = [&of_all](const HDGSize what) {
          return of_all[static_cast<std::size_t>(what)];
        };
        max_traces       = size(HDGSize::traces);
        max_basis        = size(HDGSize::basis);
        max_degree       = size(HDGSize::degree);
        max_point_groups = size(HDGSize::volume_point_groups);
        shared_patches   = size(HDGSize::shared_patches) > 0;
        n_face_functions = Legendre::n_functions(dim - 1,
                                                 max_degree,
                                                 this->trace.tensor_product);
        simplices        = size(HDGSize::others) == 0 &&
                    max_degree + size(HDGSize::ten_less_degree) == 10;
      }



      template class HDGPlan<2>;
      template class HDGPlan<3>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

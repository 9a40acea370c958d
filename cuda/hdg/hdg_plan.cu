// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/portable/legendre.h>

#include <algorithm>
#include <cmath>

#include "hdg_plan.h"
#include "hdg_reference.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      template <int dim>
      HDGPlan<dim>::HDGPlan(const PolytopicMesh<dim>        &mesh,
                            const TraceSpace<dim>           &trace,
                            const HDGNumbering              &numbering,
                            const RuleTables                &rules,
                            const std::vector<unsigned int> &mass_degree,
                            const Parallel                  &parallel)
        : mesh(mesh)
        , trace(trace)
        , numbering(numbering)
        , rules(rules)
        , parallel(parallel)
      {
        std::copy(mass_degree.begin(), mass_degree.end(), this->mass_degree);
        allocate();
        const std::vector<unsigned int> first_boundary =
          number_boundary_points();
        const std::vector<unsigned char> suitable = find_suitable_interfaces();
        const unsigned int               n        = mesh.n_owned_polytopes();
        unsigned int                     n_short_point_groups = 0;
        for (unsigned int k = 0; k < n; ++k)
          count_polytope(k, suitable, n_short_point_groups);
        entry_point_group.back()       = facet_begin[n];
        short_entry_point_group.back() = n_short_point_groups;
        n_face_functions =
          Legendre::n_functions(dim - 1, max_degree, trace.tensor_product);
        for (unsigned int p = 0; p + 1 < trace.facet_offset.size(); ++p)
          if (trace.facet_offset[p + 1] > trace.facet_offset[p] + 1)
            shared_patches = true;
        simplices = all_are_simplices();
        volume_point_groups.resize(volume_begin[n]);
        mass_point_groups.resize(mass_begin[n]);
        facet_point_groups.resize(facet_begin[n]);
        short_facet_point_groups.resize(n_short_point_groups);
        parallel(n, 256, [&](const std::size_t begin, const std::size_t end) {
          for (std::size_t k = begin; k < end; ++k)
            list_polytope(k, first_boundary);
        });
        for (unsigned int i = 0; i < facet_point_groups.size(); ++i)
          if (facet_point_groups[i].boundary != invalid_index)
            boundary_point_groups.push_back(i);
        set_sizes_of_process();
      }



      template <int dim>
      void
      HDGPlan<dim>::allocate()
      {
        const unsigned int n         = mesh.n_owned_polytopes(),
                           n_entries = mesh.polytope_interface.size();
        entry_row.assign(n_entries, 0);
        entry_polytope.assign(n_entries, 0);
        entry_point_group.assign(n_entries + std::size_t(1), 0);
        short_entry_point_group.assign(n_entries + std::size_t(1), 0);
        entry_fixed.assign(n_entries, 0);
        entry_projected.assign(n_entries, 0);
        entry_of_side.assign(2 * std::size_t(mesh.n_interfaces()),
                             invalid_index);
        trace_offset.assign(n + 1, 0);
        square_offset.assign(n + 1, 0);
        solver_offset.assign(n + 1, 0);
        volume_begin.assign(n + 1, 0);
        mass_begin.assign(n + 1, 0);
        subcell_q.assign(mesh.n_subcells() + 1, 0);
        facet_begin.assign(n + 1, 0);
      }



      template <int dim>
      std::vector<unsigned int>
      HDGPlan<dim>::number_boundary_points()
      {
        std::vector<unsigned int> first_boundary(mesh.n_interfaces(), 0);
        for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
          if (mesh.interface_polytope[2 * std::size_t(i) + 1] == invalid_index)
            {
              first_boundary[i]         = n_boundary_point_groups;
              const unsigned int degree = interface_degree(mesh, i);
              for (unsigned int f = mesh.facet_offset[i];
                   f < mesh.facet_offset[i + 1];
                   ++f)
                n_boundary_point_groups += n_point_groups(f, degree);
            }
        return first_boundary;
      }



      template <int dim>
      std::vector<unsigned char>
      HDGPlan<dim>::find_suitable_interfaces()
      {
        planar.assign(mesh.n_facets(), 0);
        for (unsigned int f = 0; f < mesh.n_facets(); ++f)
          planar[f] = is_planar(f);
        std::vector<unsigned char> suitable(mesh.n_interfaces(), 0);
        parallel(mesh.n_interfaces(),
                 1024,
                 [&](const std::size_t begin, const std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i)
                     suitable[i] = is_suitable(i);
                 });
        return suitable;
      }



      template <int dim>
      void
      HDGPlan<dim>::count_polytope(const unsigned int                k,
                                   const std::vector<unsigned char> &suitable,
                                   unsigned int &n_short_point_groups)
      {
        // ---- interfaces
        std::uint64_t n_traces     = 0;
        unsigned int  point_groups = 0;
        for (unsigned int e = first_entry(k); e < first_entry(k + 1); ++e)
          {
            const unsigned int code = mesh.polytope_interface[e], i = code / 2;
            entry_of_side[code]        = e;
            entry_row[e]               = n_traces;
            entry_polytope[e]          = k;
            entry_point_group[e]       = facet_begin[k] + point_groups;
            short_entry_point_group[e] = n_short_point_groups;
            entry_fixed[e]             = numbering.fixed[i];
            // On the boundary G contains other terms.
            entry_projected[e] =
              suitable[i] &&
              (numbering.fixed[i] || mesh.neighbor(code) != invalid_index);
            (entry_projected[e] ? projected_entries : other_entries)
              .push_back(e);
            n_traces += trace.n_functions[i];
            const unsigned int degree = interface_degree(mesh, i);
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
              n_subcell_points(mesh, rules, s, mesh.degree[k]);
            volume += (n_points + 3) / 4;
            mass += n_mass_point_groups(k, s);
            subcell_q[s + 1] = subcell_q[s] + n_points;
          }
        // ---- offsets, and largest sizes
        trace_offset[k + 1]         = trace_offset[k] + n_traces;
        square_offset[k + 1]        = square_offset[k] + n_traces * n_traces;
        const std::uint64_t n_basis = mesh.n_basis[k];
        solver_offset[k + 1] =
          solver_offset[k] + ((n_traces + 1) * (dim + 1) + n_basis) * n_basis;
        volume_begin[k + 1]    = volume_begin[k] + volume;
        mass_begin[k + 1]      = mass_begin[k] + mass;
        facet_begin[k + 1]     = facet_begin[k] + point_groups;
        max_traces             = std::max(max_traces, (unsigned int)n_traces);
        max_basis              = std::max(max_basis, mesh.n_basis[k]);
        max_degree             = std::max(max_degree, mesh.degree[k]);
        max_point_groups       = std::max({max_point_groups, volume, mass});
        max_facet_point_groups = std::max(max_facet_point_groups, point_groups);
      }



      template <int dim>
      bool
      HDGPlan<dim>::all_are_simplices() const
      {
        const auto all = [](const auto &values, const auto value) {
          return std::all_of(values.begin(),
                             values.end(),
                             [value](const auto v) { return v == value; });
        };
        const unsigned int n = mesh.n_owned_polytopes();
        return mesh.subcell_offset[n] == n && !trace.tensor_product &&
               all(mesh.degree, max_degree) &&
               all(mesh.subcell_type, SubCellType::simplex) &&
               all(mesh.facet_type, FacetType::simplex);
      }



      template <int dim>
      void
      HDGPlan<dim>::set_sizes_of_process()
      {
        unsigned int smallest = 10;
        for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
          smallest = std::min(smallest, mesh.degree[k]);
        sizes = {max_traces,
                 max_basis,
                 max_degree,
                 10 - smallest,
                 max_point_groups,
                 max_facet_point_groups,
                 simplices ? 0u : 1u,
                 shared_patches ? 1u : 0u};
      }



      template <int dim>
      unsigned int
      HDGPlan<dim>::n_mass_point_groups(const unsigned int k,
                                        const unsigned int subcell) const
      {
        return (n_subcell_points(
                  mesh, rules, subcell, mass_degree[mesh.degree[k]]) +
                3) /
               4;
      }



      template <int dim>
      bool
      HDGPlan<dim>::is_planar(const unsigned int f) const
      {
        if (mesh.facet_type[f] == FacetType::simplex)
          return true;
        if (dim < 3 || mesh.facet_type[f] != FacetType::quadrilateral)
          return false;
        const double *v =
          &mesh.facet_vertices[std::size_t(mesh.facet_vertex_offset[f]) * dim];
        double edge[3][3] = {}, square = 0.;
        for (unsigned int i = 0; i < 3; ++i)
          for (unsigned int d = 0; d < dim; ++d)
            {
              edge[i][d] = v[(i + 1) * dim + d] - v[d];
              square += edge[i][d] * edge[i][d];
            }
        double volume = 0.;
        for (unsigned int d = 0; d < 3; ++d)
          volume += edge[2][d] * (edge[0][(d + 1) % 3] * edge[1][(d + 2) % 3] -
                                  edge[0][(d + 2) % 3] * edge[1][(d + 1) % 3]);
        return std::abs(volume) <=
               1e-14 * mesh.facet_measure[f] * std::sqrt(square);
      }



      template <int dim>
      bool
      HDGPlan<dim>::is_suitable(const unsigned int i) const
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


      template <int dim>
      bool
      HDGPlan<dim>::is_suitable_patch(const unsigned int p) const
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



      template <int dim>
      unsigned int
      HDGPlan<dim>::short_degree(const unsigned int entry,
                                 const unsigned int f) const
      {
        const unsigned int degree = interface_degree(mesh, entry / 2);
        return planar[f] && mesh.neighbor(entry) != invalid_index
                 ? mass_degree[degree]
                 : degree;
      }



      template <int dim>
      unsigned int
      HDGPlan<dim>::n_point_groups(const unsigned int facet,
                                   const unsigned int degree) const
      {
        return (n_facet_points(mesh, rules, facet, degree) + 3) / 4;
      }



      template <int dim>
      void
      HDGPlan<dim>::list_polytope(
        const unsigned int k, const std::vector<unsigned int> &first_boundary)
      {
        list_volume(k);
        unsigned int to = facet_begin[k], faces = 0, n_facets = 0;
        for (unsigned int e = first_entry(k); e < first_entry(k + 1); ++e)
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



      template <int dim>
      void
      HDGPlan<dim>::list_volume(const unsigned int k)
      {
        unsigned int to = volume_begin[k], mass_to = mass_begin[k];
        for (unsigned int s = mesh.subcell_offset[k];
             s < mesh.subcell_offset[k + 1];
             ++s)
          {
            const unsigned int n_points =
              n_subcell_points(mesh, rules, s, mesh.degree[k]);
            for (unsigned int q = 0; q < n_points; q += 4)
              volume_point_groups[to++] = {s, q};
            for (unsigned int i = 0; i < n_mass_point_groups(k, s); ++i)
              mass_point_groups[mass_to++] = {s, 4 * i};
          }
      }



      template <int dim>
      unsigned int
      HDGPlan<dim>::list_entry(const unsigned int k,
                               const unsigned int e,
                               unsigned int       to,
                               unsigned int       boundary_number,
                               unsigned int      &faces,
                               unsigned int      &n_facets)
      {
        const unsigned int entry = mesh.polytope_interface[e], i = entry / 2;
        const bool         boundary = mesh.neighbor(entry) == invalid_index;
        const unsigned int degree   = interface_degree(mesh, i);
        const unsigned int shift = entry % 2 == 1 ? mesh.interface_shift[i] : 0;
        const unsigned int code  = entry % 2 | (boundary ? 2u : 0u) |
                                  (numbering.fixed[i] ? 4u : 0u) | shift << 8;
        unsigned int short_to = short_entry_point_group[e];
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
                  for (unsigned int i = 0; i < n_point_groups(f, rule_degree);
                       ++i)
                    point_groups[at++] = {f,
                                          4 * i,
                                          p,
                                          entry_row[e] +
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
                  add(degree, to, facet_point_groups);
                  add(short_degree(entry, f),
                      short_to,
                      short_facet_point_groups);
                }
              boundary_number += n_point_groups(f, degree);
            }
        return to;
      }



      template <int dim>
      unsigned int
      HDGPlan<dim>::orientation_of(const unsigned int k,
                                   const unsigned int entry,
                                   const unsigned int f)
      {
        if (!simplices)
          return 0;
        const double *vertices =
          &mesh.subcell_vertices
             [std::size_t(mesh.subcell_vertex_offset[mesh.subcell_offset[k]]) *
              dim];
        double shift[dim] = {}, size = 0.;
        for (int d = 0; d < dim; ++d)
          {
            size += mesh.box[(2 * std::size_t(k) + 1) * dim + d] -
                    mesh.box[2 * std::size_t(k) * dim + d];
            if (entry % 2 == 1)
              shift[d] =
                mesh.shift[std::size_t(mesh.interface_shift[entry / 2]) * dim +
                           d];
          }
        unsigned int vertex[dim];
        for (int v = 0; v < dim; ++v)
          {
            const double *x =
              &mesh.facet_vertices[(std::size_t(mesh.facet_vertex_offset[f]) +
                                    v) *
                                   dim];
            vertex[v] = dim + 1;
            for (int u = 0; u <= dim; ++u)
              {
                double distance = 0.;
                for (int d = 0; d < dim; ++d)
                  distance += std::abs(vertices[u * dim + d] - x[d] - shift[d]);
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



      template <int dim>
      void
      HDGPlan<dim>::set_sizes(const HDGSizes &of_all)
      {
        const auto size = [&of_all](const HDGSize what) {
          return of_all[static_cast<std::size_t>(what)];
        };
        max_traces             = size(HDGSize::traces);
        max_basis              = size(HDGSize::basis);
        max_degree             = size(HDGSize::degree);
        max_point_groups       = size(HDGSize::volume_point_groups);
        max_facet_point_groups = size(HDGSize::facet_point_groups);
        shared_patches         = size(HDGSize::shared_patches) > 0;
        n_face_functions =
          Legendre::n_functions(dim - 1, max_degree, trace.tensor_product);
        simplices = size(HDGSize::others) == 0 &&
                    max_degree + size(HDGSize::ten_less_degree) == 10;
      }



      template class HDGPlan<2>;
      template class HDGPlan<3>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "host_points.h"

#include <tessella/portable/geometry.h>
#include <tessella/quadrature/quadrature_order.h>

#include <cmath>

#include "../../cuda/backends/assembly.h"
#include "../grid/mesh_points.h"

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    bool
    has_total_degree_space(const PolytopicDoFs &dofs)
    {
      for (std::size_t k = 0; k < dofs.degree.size(); ++k)
        if (dofs.n_basis[k] !=
            Legendre::n_functions(dim, dofs.degree[k], false))
          return false;
      return true;
    }



    namespace
    {
      // The types in the list, as bits.
      template <typename Type>
      unsigned int
      bits_of(const std::vector<Type> &types)
      {
        unsigned int result = 0;
        for (const Type type : types)
          result |= 1u << static_cast<unsigned int>(type);
        return result;
      }

      using Geometry::determinant;

      // Expansion along the last column, whose entries are mostly zero in
      // space-time.
      double
      determinant(const double (&J)[4][4])
      {
        double result = 0.;
        for (unsigned int i = 0; i < 4; ++i)
          {
            double       rest[3][3];
            unsigned int row = 0;
            for (unsigned int j = 0; j < 4; ++j)
              if (j != i)
                std::copy_n(J[j], 3, rest[row++]);
            result += (i % 2 == 1 ? 1. : -1.) * J[i][3] * determinant(rest);
          }
        return result;
      }
    } // namespace



    template <int dim>
    unsigned int
    subcell_types(const PolytopicMesh<dim> &mesh)
    {
      return mesh.whole.is_set ? mesh.whole.subcell_types
                               : bits_of(mesh.subcell_type);
    }



    template <int dim>
    unsigned int
    facet_types(const PolytopicMesh<dim> &mesh)
    {
      return mesh.whole.is_set ? mesh.whole.facet_types
                               : bits_of(mesh.facet_type);
    }



    unsigned int
    highest_degree(const PolytopicDoFs &dofs)
    {
      return dofs.whole.is_set
               ? dofs.whole.max_degree
               : *std::max_element(dofs.degree.begin(), dofs.degree.end());
    }



    PaddedRule::PaddedRule(const ReferenceRule &rule)
      : memory((rule.dim + 1) * padded(rule.n_points), 0.)
    {
      const unsigned int n = rule.n_points, m = padded(n);
      for (unsigned int d = 0; d < rule.dim; ++d)
        for (unsigned int q = 0; q < m; ++q)
          memory[d * m + q] = rule.points[d * n + std::min(q, n - 1)];
      std::copy(rule.weights.begin(),
                rule.weights.begin() + n,
                memory.begin() + rule.dim * m);
      view = {n, m, memory.data(), memory.data() + rule.dim * m};
    }



    template <int dim>
    HostRules<dim>::HostRules(const PolytopicMesh<dim> &mesh,
                              const PolytopicDoFs      &dofs,
                              const unsigned int        coefficient_order)
    {
      // The rules determine how points are grouped, so all processes need the
      // same rules.
      const unsigned int subcells   = subcell_types(mesh),
                         facets     = facet_types(mesh),
                         max_degree = highest_degree(dofs);

      // Prismatic meshes have spaces of total degree, at least in all variables
      // but the last one.
      const bool aligned =
        mesh.prismatic ||
        (mesh.whole.is_set
           ? dofs.whole.total_degree || mesh.whole.aligned
           : has_total_degree_space<dim>(dofs) || mesh.is_aligned());

      const auto add = [&](auto &rules, const ReferenceRule &rule) {
        rules.push_back(std::make_unique<PaddedRule>(rule));
        max_points = std::max(max_points, rules.back()->view.n_padded);
      };
      for (unsigned int p = 0; p <= max_degree; ++p)
        {
          const unsigned int order =
            quadrature_order(dim, p, coefficient_order, !aligned);
          for (unsigned int type = 0; type < 5; ++type)
            if (const auto t = static_cast<SubCellType>(type);
                (subcells >> type & 1u) != 0 && t != SubCellType::tabulated)
              add(subcell_rules[type],
                  subcell_rule<dim>(t, order, mesh.prismatic));
          for (unsigned int type = 0; type < 4; ++type)
            if (const auto t = static_cast<FacetType>(type);
                (facets >> type & 1u) != 0 && t != FacetType::tabulated)
              add(facet_rules[type], facet_rule<dim>(t, order));
        }
    }



    template <int dim>
    VolumePointBuffer<dim>::VolumePointBuffer(const unsigned int capacity)
      : capacity(capacity)
      , subcells(capacity)
      , materials(capacity)
    {
      memory.resize_fast((dim + 1) * pitch(capacity));
      for (unsigned int d = 0; d < dim; ++d)
        x[d] = memory.data() + d * pitch(capacity);
      w = memory.data() + dim * pitch(capacity);
    }



    template <int dim>
    unsigned int
    VolumePointBuffer<dim>::fill_stored(const PolytopicMesh<dim> &mesh,
                                        const HostRules<dim>     &rules,
                                        const unsigned int        subcell,
                                        const unsigned int        n,
                                        unsigned int             &point)
    {
      const bool  compressed = rules.compressed != nullptr;
      const auto &offset =
        compressed ? rules.compressed->offset : mesh.subcell_point_offset;
      const unsigned int first = offset[subcell] + point,
                         last  = offset[subcell + 1],
                         n_new = std::min(last - first, capacity - n);
      for (std::size_t q = 0; q < n_new; ++q)
        {
          const double *const from =
            compressed ? &rules.compressed->points[(first + q) * (dim + 1)]
                       : &mesh.subcell_points[(first + q) * dim];
          for (unsigned int d = 0; d < dim; ++d)
            x[d][n + q] = from[d];
          w[n + q] =
            compressed ? from[dim] : mesh.subcell_point_weights[first + q];
        }
      point = first + n_new < last ? point + n_new : 0;
      return n_new;
    }



    template <int dim>
    unsigned int
    VolumePointBuffer<dim>::fill(const PolytopicMesh<dim>        &mesh,
                                 const PolytopicDoFs             &dofs,
                                 const HostRules<dim>            &rules,
                                 const HostKernels::Kernels<dim> &kernels,
                                 const unsigned int               polytope,
                                 unsigned int                    &subcell,
                                 unsigned int                    &point)
    {
      const unsigned int end    = mesh.subcell_offset[polytope + 1];
      const unsigned int degree = dofs.degree[polytope];
      unsigned int       n      = 0;
      for (; subcell < end; ++subcell)
        {
          const SubCellType type = mesh.subcell_type[subcell];
          unsigned int      n_new;
          if (rules.compressed != nullptr || type == SubCellType::tabulated)
            n_new = fill_stored(mesh, rules, subcell, n, point);
          else
            {
              const HostKernels::Rule &rule = rules.subcell(type, degree);
              if (n + rule.n_padded > capacity)
                break;
              n_new = rule.n_points;
              const double *v =
                &mesh
                   .subcell_vertices[mesh.subcell_vertex_offset[subcell] * dim];
              double *target[dim];
              for (unsigned int d = 0; d < dim; ++d)
                target[d] = x[d] + n;
              if (type == SubCellType::hypercube)
                kernels.multilinear_subcell(v, rule, target, w + n);
              else
                {
                  // Edge d ends at vertex d + 1 of a simplex or prism, and at
                  // vertex 2^d of a parallelepiped.
                  double J[dim][dim];
                  for (unsigned int d = 0; d < dim; ++d)
                    {
                      const unsigned int u =
                        type == SubCellType::parallelepiped ? 1 << d : d + 1;
                      for (unsigned int e = 0; e < dim; ++e)
                        J[d][e] = v[u * dim + e] - v[e];
                    }
                  const double measure = std::abs(determinant(J));
                  kernels.affine_points(
                    v, &J[0][0], dim, measure, rule, target, w + n);
                }
            }
          std::fill(subcells.begin() + n,
                    subcells.begin() + n + n_new,
                    subcell);
          std::fill(materials.begin() + n,
                    materials.begin() + n + n_new,
                    mesh.subcell_material[subcell]);
          n += n_new;
          if (point != 0 || n == capacity)
            {
              if (point == 0)
                ++subcell;
              break;
            }
        }

      // Sub-cells without points must not begin a buffer.
      if (rules.compressed != nullptr)
        while (point == 0 && subcell < end &&
               rules.n_subcell_points(mesh, subcell, degree) == 0)
          ++subcell;

      n_points                   = n;
      const unsigned int n_total = padded(n);
      for (unsigned int q = n; q < n_total; ++q)
        {
          for (unsigned int d = 0; d < dim; ++d)
            x[d][q] = x[d][n - 1];
          w[q]         = 0.;
          subcells[q]  = subcells[n - 1];
          materials[q] = materials[n - 1];
        }
      return n_total;
    }



    template <int dim>
    Device::RuleTables
    device_rule_tables(const PolytopicMesh<dim> &mesh,
                       const PolytopicDoFs      &dofs,
                       const HostRules<dim>     &rules,
                       const bool                parallelepipeds)
    {
      Device::RuleTables tables;
      const auto         add_rule = [&](Device::RuleTables::Entry &entry,
                                const unsigned int         n_points,
                                const double              *points,
                                const std::size_t          distance,
                                const double              *weights,
                                const unsigned int         rule_dim) {
        entry.n_points = n_points;
        entry.offset   = tables.data.size();
        for (unsigned int d = 0; d < rule_dim; ++d)
          tables.data.insert(tables.data.end(),
                             points + d * distance,
                             points + d * distance + n_points);
        tables.data.insert(tables.data.end(), weights, weights + n_points);
      };
      const auto add = [&](Device::RuleTables::Entry &entry,
                           const HostKernels::Rule   &rule,
                           const unsigned int         rule_dim) {
        add_rule(entry,
                 rule.n_points,
                 rule.points,
                 rule.n_padded,
                 rule.weights,
                 rule_dim);
      };
      const unsigned int max_degree = highest_degree(dofs);
      for (const SubCellType type : {SubCellType::simplex,
                                     SubCellType::parallelepiped,
                                     SubCellType::hypercube,
                                     SubCellType::prism})
        if (std::find(mesh.subcell_type.begin(),
                      mesh.subcell_type.end(),
                      type) != mesh.subcell_type.end())
          for (unsigned int p = 0; p <= max_degree; ++p)
            add(tables.subcell[static_cast<unsigned int>(type)][p],
                rules.subcell(type, p),
                dim);
      for (const FacetType type :
           {FacetType::simplex, FacetType::quadrilateral, FacetType::prism})
        if (std::find(mesh.facet_type.begin(), mesh.facet_type.end(), type) !=
            mesh.facet_type.end())
          for (unsigned int p = 0; p <= max_degree; ++p)
            add(tables.facet[static_cast<unsigned int>(type)][p],
                rules.facet(type, p),
                dim - 1);
      if (tables.subcell[0][max_degree].n_points > 0)
        for (unsigned int order = 1; order <= 2 * max_degree; ++order)
          {
            const ReferenceRule &rule = simplex_rule(dim, order);
            add_rule(tables.simplex[order],
                     rule.n_points,
                     rule.points.data(),
                     rule.n_points,
                     rule.weights.data(),
                     dim);
          }
      if (parallelepipeds && mesh.n_subcells() > 0)
        for (unsigned int p = 0; p <= max_degree; ++p)
          {
            tables.subcell[0][p] = tables.subcell[static_cast<unsigned int>(
              SubCellType::parallelepiped)][p];
            if (dim == 2)
              continue;
            HostKernels::Rule   rule = rules.facet(FacetType::quadrilateral, p);
            std::vector<double> weights(rule.weights,
                                        rule.weights + rule.n_points);
            for (double &weight : weights)
              weight *= 0.5;
            rule.weights = weights.data();
            add(tables.facet[0][p], rule, dim - 1);
          }
      return tables;
    }



#define INSTANTIATE(dim)                                                     \
  template bool         has_total_degree_space<dim>(const PolytopicDoFs &);  \
  template unsigned int subcell_types(const PolytopicMesh<dim> &);           \
  template unsigned int facet_types(const PolytopicMesh<dim> &);             \
  template class HostRules<dim>;                                             \
  template Device::RuleTables device_rule_tables(const PolytopicMesh<dim> &, \
                                                 const PolytopicDoFs &,      \
                                                 const HostRules<dim> &,     \
                                                 const bool);                \
  template class VolumePointBuffer<dim>

    INSTANTIATE(2);
    INSTANTIATE(3);
    INSTANTIATE(4);
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella

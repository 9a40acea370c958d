// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "host_points.h"

#include <tessella/portable/geometry.h>
#include <tessella/quadrature/reference_quadrature.h>

#include <cmath>

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
    HostRules<dim>::HostRules(const PolytopicMesh<dim> &mesh,
                              const PolytopicDoFs      &dofs,
                              const unsigned int        coefficient_order)
    {
      // The rules determine how points are grouped, so all processes need the
      // same rules.
      bool has_subcell[5] = {}, has_facet[4] = {};
      for (unsigned int type = 0; type < 5; ++type)
        has_subcell[type] = (mesh.whole.subcell_types >> type) & 1u;
      for (unsigned int type = 0; type < 4; ++type)
        has_facet[type] = (mesh.whole.facet_types >> type) & 1u;
      if (!mesh.whole.is_set)
        {
          for (const SubCellType type : mesh.subcell_type)
            has_subcell[static_cast<unsigned int>(type)] = true;
          for (const FacetType type : mesh.facet_type)
            has_facet[static_cast<unsigned int>(type)] = true;
        }
      const unsigned int max_degree =
        dofs.whole.is_set
          ? dofs.whole.max_degree
          : *std::max_element(dofs.degree.begin(), dofs.degree.end());

      // Degree p in each variable corresponds to total degree dim p on a cell
      // that is not aligned with the axes. Prismatic meshes have spaces of
      // total degree, at least in all variables but the last one.
      const bool aligned =
        mesh.prismatic ||
        (mesh.whole.is_set
           ? dofs.whole.total_degree || mesh.whole.aligned
           : has_total_degree_space<dim>(dofs) || mesh.is_aligned());

      const auto add = [&](auto &rules, const ReferenceRule &rule) {
        // The padding repeats the last point, with weight zero.
        const unsigned int n = rule.n_points, m = padded(n);
        memory.emplace_back(new double[(rule.dim + 1) * m]);
        double *const points  = memory.back().get();
        double *const weights = points + rule.dim * m;
        for (unsigned int d = 0; d < rule.dim; ++d)
          for (unsigned int q = 0; q < m; ++q)
            points[d * m + q] = rule.points[d * n + std::min(q, n - 1)];
        std::copy_n(rule.weights.begin(), n, weights);
        std::fill(weights + n, weights + m, 0.);
        rules.push_back({n, m, points, weights});
        max_points = std::max(max_points, m);
      };
      for (unsigned int p = 0; p <= max_degree; ++p)
        {
          unsigned int order = std::max(2 * p + coefficient_order, 1u);
          // The largest available order, less two for the increments below.
          if (!aligned)
            order = std::max(order,
                             std::min(2 * dim * p + coefficient_order,
                                      max_quadrature_order - 2));
          // The Jacobian determinant of a multilinear map has degree dim - 1 in
          // each variable, and the normal of a multilinear facet has degree
          // dim - 2. For a product with an interval, the determinant has the
          // degree of the spatial map.
          const unsigned int map = mesh.prismatic ? dim - 2 : dim - 1;
          if (has_subcell[0])
            add(subcell_rules[0], simplex_rule(dim, order));
          if (has_subcell[1])
            add(subcell_rules[1], hypercube_rule(dim, order));
          if (has_subcell[2])
            add(subcell_rules[2], hypercube_rule(dim, order + map));
          if (has_facet[0])
            add(facet_rules[0], simplex_rule(dim - 1, order));
          if (has_facet[1])
            add(facet_rules[1], hypercube_rule(dim - 1, order + dim - 2));
          if (has_subcell[4])
            add(subcell_rules[4], prism_rule(dim, order));
          if (has_facet[3])
            add(facet_rules[3], prism_rule(dim - 1, order));
        }
    }



    template <int dim>
    VolumePointBuffer<dim>::VolumePointBuffer(const unsigned int capacity)
      : capacity(capacity)
      , subcells(capacity)
      , materials(capacity)
      , memory(new double[(dim + 1) * pitch(capacity)])
    {
      for (unsigned int d = 0; d < dim; ++d)
        x[d] = memory.get() + d * pitch(capacity);
      w = memory.get() + dim * pitch(capacity);
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
          if (type == SubCellType::tabulated)
            {
              const unsigned int first =
                                   mesh.subcell_point_offset[subcell] + point,
                                 last = mesh.subcell_point_offset[subcell + 1];
              n_new                   = std::min(last - first, capacity - n);
              for (unsigned int q = 0; q < n_new; ++q)
                {
                  for (unsigned int d = 0; d < dim; ++d)
                    x[d][n + q] = mesh.subcell_points[(first + q) * dim + d];
                  w[n + q] = mesh.subcell_point_weights[first + q];
                }
              point = (first + n_new < last) ? point + n_new : 0;
            }
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



#define INSTANTIATE(dim)                                            \
  template bool has_total_degree_space<dim>(const PolytopicDoFs &); \
  template class HostRules<dim>;                                    \
  template class VolumePointBuffer<dim>

    INSTANTIATE(2);
    INSTANTIATE(3);
    INSTANTIATE(4);
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_mesh_points_h
#define tessella_source_grid_mesh_points_h

#include <deal.II/base/exceptions.h>

#include <tessella/grid/polytopic_mesh.h>
#include <tessella/portable/geometry.h>
#include <tessella/portable/multilinear_map.h>
#include <tessella/quadrature/reference_quadrature.h>

#include <cmath>
#include <cstddef>

namespace Tessella
{
  /// Quadrature points of the sub-cells and facets of the flat view (dim = 2,
  /// 3) for code that works on one point after the other. Assembly gathers them
  /// by SIMD vectors, see host_points.h.
  namespace internal
  {
    /// Rule that integrates polynomials of degree @p order exactly on a
    /// sub-cell that is not tabulated. The Jacobian determinant of a
    /// multilinear hypercube has degree dim - 1 in every variable; that of a
    /// product with an interval, on @p prismatic meshes, has the degree of the
    /// spatial map.
    template <int dim>
    const ReferenceRule &
    subcell_rule(const SubCellType  type,
                 const unsigned int order,
                 const bool         prismatic = false)
    {
      switch (type)
        {
          case SubCellType::simplex:
            return simplex_rule(dim, order);
          case SubCellType::parallelepiped:
            return hypercube_rule(dim, order);
          case SubCellType::prism:
            return prism_rule(dim, order);
          default:
            return hypercube_rule(dim, order + (prismatic ? dim - 2 : dim - 1));
        }
    }

    /// The rule of a facet that is not tabulated. The normal of a multilinear
    /// facet has degree dim - 2 in every variable.
    template <int dim>
    const ReferenceRule &
    facet_rule(const FacetType type, const unsigned int order)
    {
      switch (type)
        {
          case FacetType::simplex:
            return simplex_rule(dim - 1, order);
          case FacetType::prism:
            return prism_rule(dim - 1, order);
          default:
            return hypercube_rule(dim - 1, order + dim - 2);
        }
    }



    /// Calls store(q, x, weight) for the quadrature points x of sub-cell @p s.
    /// @p rule: subcell_rule(), not read where points are tabulated.
    template <int dim, typename Store>
    inline void
    for_subcell_points(const PolytopicMesh<dim> &mesh,
                       const unsigned int        s,
                       const ReferenceRule      *rule,
                       const Store              &store)
    {
      const SubCellType type = mesh.subcell_type[s];
      double            x[dim];
      if (type == SubCellType::tabulated)
        {
          const unsigned int begin = mesh.subcell_point_offset[s],
                             end   = mesh.subcell_point_offset[s + 1];
          for (unsigned int q = begin; q < end; ++q)
            {
              for (int d = 0; d < dim; ++d)
                x[d] = mesh.subcell_points[std::size_t(q) * dim + d];
              store(q - begin, x, mesh.subcell_point_weights[q]);
            }
          return;
        }
      const double *const v =
        &mesh
           .subcell_vertices[std::size_t(mesh.subcell_vertex_offset[s]) * dim];
      const unsigned int n = rule->n_points;
      double             J[dim][dim];
      if (type == SubCellType::hypercube)
        {
          const Geometry::MultilinearMap<dim, dim> map(v);
          for (unsigned int q = 0; q < n; ++q)
            {
              double xi[dim];
              for (int d = 0; d < dim; ++d)
                xi[d] = rule->points[d * n + q];
              map.evaluate(xi, x, J);
              // Vertices may be numbered such that the map is left-handed.
              store(q,
                    x,
                    rule->weights[q] * std::abs(Geometry::determinant(J)));
            }
          return;
        }
      // Edges from vertex 0: to vertices 1, 2, 3 of a simplex and 1, 2, 4 of a
      // parallelepiped.
      for (int d = 0; d < dim; ++d)
        {
          const int end = type == SubCellType::simplex ? d + 1 : 1 << d;
          for (int e = 0; e < dim; ++e)
            J[d][e] = v[end * dim + e] - v[e];
        }
      const double measure = std::abs(Geometry::determinant(J));
      for (unsigned int q = 0; q < n; ++q)
        {
          for (int e = 0; e < dim; ++e)
            {
              x[e] = v[e];
              for (int d = 0; d < dim; ++d)
                x[e] += J[d][e] * rule->points[d * n + q];
            }
          store(q, x, rule->weights[q] * measure);
        }
    }



    /// Calls store(q, x, normal, weight) for the quadrature points of facet
    /// @p f, with the unit normal from side 0 to side 1. @p rule: facet_rule(),
    /// not read where points are tabulated.
    template <int dim, typename Store>
    inline void
    for_facet_points(const PolytopicMesh<dim> &mesh,
                     const unsigned int        f,
                     const ReferenceRule      *rule,
                     const Store              &store)
    {
      const FacetType type = mesh.facet_type[f];
      double          x[dim], normal[dim];
      if (type == FacetType::tabulated)
        {
          const unsigned int begin = mesh.facet_point_offset[f],
                             end   = mesh.facet_point_offset[f + 1];
          for (unsigned int q = begin; q < end; ++q)
            {
              for (int d = 0; d < dim; ++d)
                {
                  x[d] = mesh.facet_points[std::size_t(q) * dim + d];
                  normal[d] =
                    mesh.facet_point_normals[std::size_t(q) * dim + d];
                }
              store(q - begin, x, normal, mesh.facet_point_weights[q]);
            }
          return;
        }
      const double *const v =
        &mesh.facet_vertices[std::size_t(mesh.facet_vertex_offset[f]) * dim];
      const unsigned int n = rule->n_points;
      if (type == FacetType::quadrilateral)
        {
          if constexpr (dim == 3)
            {
              const Geometry::MultilinearMap<2, 3> map(v);
              for (unsigned int q = 0; q < n; ++q)
                {
                  const double xi[2] = {rule->points[q], rule->points[n + q]};
                  double       J[2][3];
                  map.evaluate(xi, x, J);
                  Geometry::cross_product(J, normal);
                  const double area =
                    std::sqrt(normal[0] * normal[0] + normal[1] * normal[1] +
                              normal[2] * normal[2]);
                  // A facet may have a corner of 180 degrees or two equal
                  // vertices, but Gauss points do not lie there.
                  Assert(area > 0., dealii::ExcMessage("Facet without area."));
                  for (int d = 0; d < dim; ++d)
                    normal[d] /= area;
                  store(q, x, normal, rule->weights[q] * area);
                }
            }
          else
            Assert(false, dealii::ExcInternalError());
          return;
        }
      for (int d = 0; d < dim; ++d)
        normal[d] = mesh.facet_normal[std::size_t(f) * dim + d];
      // Weights add up to 1 on the unit segment and to 1/2 on the triangle.
      const double scale = (dim == 2 ? 1. : 2.) * mesh.facet_measure[f];
      for (unsigned int q = 0; q < n; ++q)
        {
          for (int e = 0; e < dim; ++e)
            {
              x[e] = v[e];
              for (int d = 0; d + 1 < dim; ++d)
                x[e] += (v[(d + 1) * dim + e] - v[e]) * rule->points[d * n + q];
            }
          store(q, x, normal, rule->weights[q] * scale);
        }
    }
  } // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>

#include <tessella/quadrature/reference_quadrature.h>
#include <tessella/values/polytope_quadrature.h>

#include <algorithm>
#include <cmath>

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    /// Quadrature rule for a sub-cell that is not tabulated.
    template <int dim>
    const ReferenceRule &
    subcell_rule(const SubCellType type, const unsigned int order)
    {
      switch (type)
        {
          case SubCellType::simplex:
            return simplex_rule(dim, order);
          case SubCellType::parallelepiped:
            return hypercube_rule(dim, order);
          default:
            return hypercube_rule(dim, order + dim - 1);
        }
    }

    /// Quadrature rule for a facet that is not tabulated.
    template <int dim>
    const ReferenceRule &
    facet_rule(const FacetType type, const unsigned int order)
    {
      return type == FacetType::simplex ? simplex_rule(dim - 1, order)
                                        : hypercube_rule(dim - 1, order + 1);
    }

    template <int dim>
    double
    determinant(const double (&J)[dim][dim])
    {
      if constexpr (dim == 2)
        return J[0][0] * J[1][1] - J[0][1] * J[1][0];
      else
        return J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) -
               J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
               J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
    }

    /**
     * Multilinear map of the unit hypercube with given vertices in
     * lexicographic order, as a polynomial: x = sum over the subsets S of the
     * variables of coefficient[S] prod_{d in S} xi_d. Differences of the
     * vertices, taken in one variable after the other, yield the coefficients.
     */
    template <int dim, int spacedim>
    struct MultilinearMap
    {
      explicit MultilinearMap(const double *vertices)
      {
        constexpr unsigned int n = 1u << dim;
        for (unsigned int v = 0; v < n; ++v)
          for (unsigned int c = 0; c < spacedim; ++c)
            coefficient[v][c] = vertices[v * spacedim + c];
        for (unsigned int d = 0; d < dim; ++d)
          for (unsigned int v = 0; v < n; ++v)
            if (v & (1u << d))
              for (unsigned int c = 0; c < spacedim; ++c)
                coefficient[v][c] -= coefficient[v ^ (1u << d)][c];
      }

      /// Computes the point x and the Jacobian J[c][d] = dx_c / dxi_d.
      void
      evaluate(const double (&xi)[dim],
               double (&x)[spacedim],
               double (&J)[spacedim][dim]) const
      {
        for (unsigned int c = 0; c < spacedim; ++c)
          if constexpr (dim == 2)
            {
              x[c] = coefficient[0][c] + coefficient[1][c] * xi[0] +
                     (coefficient[2][c] + coefficient[3][c] * xi[0]) * xi[1];
              J[c][0] = coefficient[1][c] + coefficient[3][c] * xi[1];
              J[c][1] = coefficient[2][c] + coefficient[3][c] * xi[0];
            }
          else
            {
              // Lower and upper face of the third variable.
              const double a =
                coefficient[0][c] + coefficient[1][c] * xi[0] +
                (coefficient[2][c] + coefficient[3][c] * xi[0]) * xi[1];
              const double b =
                coefficient[4][c] + coefficient[5][c] * xi[0] +
                (coefficient[6][c] + coefficient[7][c] * xi[0]) * xi[1];
              x[c]    = a + b * xi[2];
              J[c][0] = coefficient[1][c] + coefficient[3][c] * xi[1] +
                        (coefficient[5][c] + coefficient[7][c] * xi[1]) * xi[2];
              J[c][1] = coefficient[2][c] + coefficient[3][c] * xi[0] +
                        (coefficient[6][c] + coefficient[7][c] * xi[0]) * xi[2];
              J[c][2] = b;
            }
      }

      double coefficient[1u << dim][spacedim];
    };
  } // namespace



  template <int dim>
  void
  prepare_quadrature(const AgglomerationHandler<dim> &handler,
                     const unsigned int               order)
  {
    const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
    unsigned int              min_degree =
      mesh.degree.empty()
                     ? 0
                     : *std::min_element(mesh.degree.begin(), mesh.degree.end());
    handler.tabulate(order > 2 * min_degree ? order - 2 * min_degree : 0);
  }



  template <int dim>
  void
  PolytopeQuadrature<dim>::resize(const unsigned int n)
  {
    n_points = n;
    for (auto &coordinate : x)
      coordinate.resize(n);
    JxW.resize(n);
    subcell.resize(n);
    material.resize(n);
  }



  namespace
  {
    template <int dim>
    unsigned int
    n_subcell_points(const PolytopicMesh<dim> &mesh,
                     const unsigned int        subcell,
                     const unsigned int        order)
    {
      if (mesh.subcell_type[subcell] != SubCellType::tabulated)
        return subcell_rule<dim>(mesh.subcell_type[subcell], order).n_points;
      Assert(subcell + 1 < mesh.subcell_point_offset.size(),
             ExcMessage("Call prepare_quadrature() first."));
      return mesh.subcell_point_offset[subcell + 1] -
             mesh.subcell_point_offset[subcell];
    }

    template <int dim>
    unsigned int
    n_facet_points(const PolytopicMesh<dim> &mesh,
                   const unsigned int        facet,
                   const unsigned int        order)
    {
      if (mesh.facet_type[facet] != FacetType::tabulated)
        return facet_rule<dim>(mesh.facet_type[facet], order).n_points;
      Assert(facet + 1 < mesh.facet_point_offset.size(),
             ExcMessage("Call prepare_quadrature() first."));
      return mesh.facet_point_offset[facet + 1] -
             mesh.facet_point_offset[facet];
    }

    /// Prepares the tabulated quadrature points that reinit() needs, if there
    /// are tabulated sub-cells or facets.
    template <int dim>
    void
    prepare_tables(const AgglomerationHandler<dim> &handler,
                   const unsigned int               polytope,
                   const unsigned int               order)
    {
      const std::vector<unsigned int> &degree = handler.polytopic_mesh().degree;
      const unsigned int p = degree.empty() ? 0 : degree[polytope];
      handler.tabulate(order > 2 * p ? order - 2 * p : 0);
    }
  } // namespace



  template <int dim>
  void
  PolytopeQuadrature<dim>::reinit(const AgglomerationHandler<dim> &handler,
                                  const unsigned int               polytope,
                                  const unsigned int               order)
  {
    const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
    AssertIndexRange(polytope, mesh.n_polytopes());
    const unsigned int begin = mesh.subcell_offset[polytope];
    const unsigned int end   = mesh.subcell_offset[polytope + 1];

    for (unsigned int s = begin; s < end; ++s)
      if (mesh.subcell_type[s] == SubCellType::tabulated)
        {
          prepare_tables(handler, polytope, order);
          break;
        }

    unsigned int n = 0;
    for (unsigned int s = begin; s < end; ++s)
      n += n_subcell_points(mesh, s, order);
    resize(n);

    unsigned int first = 0;
    for (unsigned int s = begin; s < end; ++s)
      {
        fill_subcell(mesh, s, order, first);
        first += n_subcell_points(mesh, s, order);
      }
  }



  template <int dim>
  void
  PolytopeQuadrature<dim>::reinit_subcell(const PolytopicMesh<dim> &mesh,
                                          const unsigned int        subcell,
                                          const unsigned int        order)
  {
    AssertIndexRange(subcell, mesh.n_subcells());
    resize(n_subcell_points(mesh, subcell, order));
    fill_subcell(mesh, subcell, order, 0);
  }



  template <int dim>
  void
  PolytopeQuadrature<dim>::fill_subcell(const PolytopicMesh<dim> &mesh,
                                        const unsigned int        s,
                                        const unsigned int        order,
                                        const unsigned int        first)
  {
    const SubCellType type = mesh.subcell_type[s];
    unsigned int      n    = 0;

    if (type == SubCellType::tabulated)
      {
        const unsigned int offset = mesh.subcell_point_offset[s];
        n                         = mesh.subcell_point_offset[s + 1] - offset;
        for (unsigned int q = 0; q < n; ++q)
          {
            for (unsigned int d = 0; d < dim; ++d)
              x[d][first + q] =
                mesh.subcell_points[std::size_t(offset + q) * dim + d];
            JxW[first + q] = mesh.subcell_point_weights[offset + q];
          }
      }
    else
      {
        const ReferenceRule &rule = subcell_rule<dim>(type, order);
        const double        *vertices =
          &mesh.subcell_vertices[std::size_t(mesh.subcell_vertex_offset[s]) *
                                 dim];
        n = rule.n_points;
        if (type == SubCellType::hypercube)
          {
            const MultilinearMap<dim, dim> map(vertices);
            double                         xi[dim], point[dim], J[dim][dim];
            // The vertices may be numbered with left-handed orientation.
            for (unsigned int d = 0; d < dim; ++d)
              xi[d] = 0.5;
            map.evaluate(xi, point, J);
            const double sign = determinant(J) < 0. ? -1. : 1.;
            for (unsigned int q = 0; q < n; ++q)
              {
                for (unsigned int d = 0; d < dim; ++d)
                  xi[d] = rule.points[d * n + q];
                map.evaluate(xi, point, J);
                for (unsigned int d = 0; d < dim; ++d)
                  x[d][first + q] = point[d];
                JxW[first + q] = sign * rule.weights[q] * determinant(J);
              }
          }
        else
          {
            // Edges from vertex 0 to vertices 1, 2, 3 of a simplex and to
            // vertices 1, 2, 4 of a parallelepiped.
            double J[dim][dim];
            for (unsigned int d = 0; d < dim; ++d)
              {
                const unsigned int v =
                  type == SubCellType::simplex ? d + 1 : (1u << d);
                for (unsigned int c = 0; c < dim; ++c)
                  J[c][d] = vertices[v * dim + c] - vertices[c];
              }
            const double det = std::abs(determinant(J));
            for (unsigned int c = 0; c < dim; ++c)
              for (unsigned int q = 0; q < n; ++q)
                {
                  double sum = vertices[c];
                  for (unsigned int d = 0; d < dim; ++d)
                    sum += J[c][d] * rule.points[d * n + q];
                  x[c][first + q] = sum;
                }
            for (unsigned int q = 0; q < n; ++q)
              JxW[first + q] = rule.weights[q] * det;
          }
      }
    std::fill_n(subcell.begin() + first, n, s);
    std::fill_n(material.begin() + first, n, mesh.subcell_material[s]);
  }



  template <int dim>
  void
  InterfaceQuadrature<dim>::resize(const unsigned int n)
  {
    n_points = n;
    for (unsigned int d = 0; d < dim; ++d)
      {
        x[d].resize(n);
        neighbor_x[d].resize(n);
        normal[d].resize(n);
      }
    JxW.resize(n);
    facet.resize(n);
    subcell.resize(n);
    material.resize(n);
    neighbor_subcell.resize(n);
    neighbor_material.resize(n);
  }



  template <int dim>
  void
  InterfaceQuadrature<dim>::reinit(const AgglomerationHandler<dim> &handler,
                                   const unsigned int               interface,
                                   const unsigned int               side,
                                   const unsigned int               order)
  {
    const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
    AssertIndexRange(interface, mesh.n_interfaces());
    AssertIndexRange(side, 2);
    const unsigned int begin = mesh.facet_offset[interface];
    const unsigned int end   = mesh.facet_offset[interface + 1];

    for (unsigned int f = begin; f < end; ++f)
      if (mesh.facet_type[f] == FacetType::tabulated)
        {
          // The order of tabulated facets follows from the larger degree of the
          // two sides. The smaller degree would yield an order that is also
          // sufficient, but higher than needed.
          unsigned int       polytope = mesh.interface_polytope[2 * interface];
          const unsigned int other = mesh.interface_polytope[2 * interface + 1];
          if (other != invalid_index && !mesh.degree.empty() &&
              mesh.degree[other] > mesh.degree[polytope])
            polytope = other;
          prepare_tables(handler, polytope, order);
          break;
        }

    unsigned int n = 0;
    for (unsigned int f = begin; f < end; ++f)
      n += n_facet_points(mesh, f, order);
    resize(n);

    unsigned int first = 0;
    for (unsigned int f = begin; f < end; ++f)
      {
        fill_facet(mesh, f, side, order, first);
        first += n_facet_points(mesh, f, order);
      }
    apply_shift(mesh, interface, side);
  }



  template <int dim>
  void
  InterfaceQuadrature<dim>::reinit_facet(const PolytopicMesh<dim> &mesh,
                                         const unsigned int        interface,
                                         const unsigned int        facet,
                                         const unsigned int        side,
                                         const unsigned int        order)
  {
    AssertIndexRange(interface, mesh.n_interfaces());
    AssertIndexRange(side, 2);
    Assert(facet >= mesh.facet_offset[interface] &&
             facet < mesh.facet_offset[interface + 1],
           ExcMessage("The facet does not belong to the interface."));
    resize(n_facet_points(mesh, facet, order));
    fill_facet(mesh, facet, side, order, 0);
    apply_shift(mesh, interface, side);
  }



  template <int dim>
  void
  InterfaceQuadrature<dim>::fill_facet(const PolytopicMesh<dim> &mesh,
                                       const unsigned int        f,
                                       const unsigned int        side,
                                       const unsigned int        order,
                                       const unsigned int        first)
  {
    const FacetType type = mesh.facet_type[f];
    const double    sign = side == 0 ? 1. : -1.;
    unsigned int    n    = 0;

    if (type == FacetType::tabulated)
      {
        const unsigned int offset = mesh.facet_point_offset[f];
        n                         = mesh.facet_point_offset[f + 1] - offset;
        for (unsigned int q = 0; q < n; ++q)
          {
            for (unsigned int d = 0; d < dim; ++d)
              {
                const std::size_t i  = std::size_t(offset + q) * dim + d;
                x[d][first + q]      = mesh.facet_points[i];
                normal[d][first + q] = sign * mesh.facet_point_normals[i];
              }
            JxW[first + q] = mesh.facet_point_weights[offset + q];
          }
      }
    else
      {
        const ReferenceRule &rule = facet_rule<dim>(type, order);
        const double        *vertices =
          &mesh.facet_vertices[std::size_t(mesh.facet_vertex_offset[f]) * dim];
        n = rule.n_points;
        if (type == FacetType::quadrilateral)
          {
            if constexpr (dim == 3)
              {
                const MultilinearMap<2, 3> map(vertices);
                for (unsigned int q = 0; q < n; ++q)
                  {
                    const double xi[2] = {rule.points[q], rule.points[n + q]};
                    double       point[3], J[3][2];
                    map.evaluate(xi, point, J);
                    const double m[3] = {J[1][0] * J[2][1] - J[2][0] * J[1][1],
                                         J[2][0] * J[0][1] - J[0][0] * J[2][1],
                                         J[0][0] * J[1][1] - J[1][0] * J[0][1]};
                    const double area =
                      std::sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
                    // A facet may have a corner of 180 degrees or two equal
                    // vertices, but Gauss points do not lie there.
                    Assert(area > 0., ExcMessage("Facet without area."));
                    for (unsigned int d = 0; d < dim; ++d)
                      {
                        x[d][first + q]      = point[d];
                        normal[d][first + q] = sign * m[d] / area;
                      }
                    JxW[first + q] = rule.weights[q] * area;
                  }
              }
            else
              Assert(false, ExcInternalError());
          }
        else
          {
            for (unsigned int d = 0; d < dim; ++d)
              {
                for (unsigned int q = 0; q < n; ++q)
                  {
                    double sum = vertices[d];
                    for (unsigned int e = 0; e + 1 < dim; ++e)
                      sum += (vertices[(e + 1) * dim + d] - vertices[d]) *
                             rule.points[e * n + q];
                    x[d][first + q] = sum;
                  }
                std::fill_n(normal[d].begin() + first,
                            n,
                            sign * mesh.facet_normal[std::size_t(f) * dim + d]);
              }
            // The weights add up to 1 on the unit segment and to 1/2 on the
            // triangle.
            const double scale = (dim == 2 ? 1. : 2.) * mesh.facet_measure[f];
            for (unsigned int q = 0; q < n; ++q)
              JxW[first + q] = rule.weights[q] * scale;
          }
      }

    const auto material_of = [&](const unsigned int s) {
      return s == invalid_index ? 0u : mesh.subcell_material[s];
    };
    const unsigned int here = mesh.facet_subcell[2 * std::size_t(f) + side];
    const unsigned int there =
      mesh.facet_subcell[2 * std::size_t(f) + 1 - side];
    std::fill_n(facet.begin() + first, n, f);
    std::fill_n(subcell.begin() + first, n, here);
    std::fill_n(material.begin() + first, n, material_of(here));
    std::fill_n(neighbor_subcell.begin() + first, n, there);
    std::fill_n(neighbor_material.begin() + first, n, material_of(there));
  }



  template <int dim>
  void
  InterfaceQuadrature<dim>::apply_shift(const PolytopicMesh<dim> &mesh,
                                        const unsigned int        interface,
                                        const unsigned int        side)
  {
    const unsigned int shift_index = mesh.interface_shift[interface];
    for (unsigned int d = 0; d < dim; ++d)
      {
        neighbor_x[d] = x[d];
        if (shift_index != 0)
          {
            const double shift = mesh.shift[std::size_t(shift_index) * dim + d];
            // Facet coordinates are those of side 0.
            for (double &coordinate : side == 0 ? neighbor_x[d] : x[d])
              coordinate += shift;
          }
      }
  }



  template void
  prepare_quadrature<2>(const AgglomerationHandler<2> &, const unsigned int);
  template void
  prepare_quadrature<3>(const AgglomerationHandler<3> &, const unsigned int);
  template class PolytopeQuadrature<2>;
  template class PolytopeQuadrature<3>;
  template class InterfaceQuadrature<2>;
  template class InterfaceQuadrature<3>;
} // namespace Tessella

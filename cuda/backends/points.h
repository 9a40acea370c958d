// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_points_h
#define tessella_cuda_backends_points_h

#include <tessella/portable/geometry.h>

#include "data.h"

// Quadrature points of sub-cells and facets on the device.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      using Geometry::cross_product;
      using Geometry::determinant;
      using Geometry::multilinear_map;

      /// Factor for the measure of a facet in dim variables. With n = dim - 1,
      /// the weights of a rule sum to 1 / n! on the unit simplex of n
      /// variables, and to 1 / (n - 1)! on the product of a simplex with an
      /// interval.
      __host__ __device__ constexpr int
      facet_factor(const int dim, const bool prism)
      {
        return dim < 4 ? (prism ? 1 : dim - 1) : (prism ? 2 : 6);
      }

      /// Types of sub-cells and facets that a kernel is compiled for. This
      /// matters because registers are scarce, and a function call needs some
      /// even where it is not executed.
      enum class Cells
      {
        simplices,
        prisms, ///< facets are prisms or simplices
        others,
        any ///< determined at run time by Data::affine
      };

      /// True if the vertices of sub-cells and facets are stored at fixed
      /// distances and define affine maps; all sub-cells then have the same
      /// rule for each degree.
      template <Cells cells, int dim>
      __device__ inline bool
      affine(const Data<dim> &D)
      {
        return cells == Cells::simplices || cells == Cells::prisms ||
               (cells == Cells::any && D.affine);
      }

      /// Rule of all sub-cells, if they are affine.
      template <Cells cells, int dim>
      __device__ inline const RuleTables::Entry &
      affine_rule(const Data<dim> &D, const unsigned int degree)
      {
        constexpr unsigned int prism =
          static_cast<unsigned int>(SubCellType::prism);
        return D.subcell_rule[cells == Cells::simplices ? 0
                              : cells == Cells::prisms  ? prism
                                                       : D.affine_type][degree];
      }

      /// Rule of a facet of an affine mesh, which is a prism or a simplex.
      template <Cells cells, int dim>
      __device__ inline const RuleTables::Entry &
      affine_facet_rule(const Data<dim>   &D,
                        const bool         prism,
                        const unsigned int degree)
      {
        constexpr unsigned int type =
          static_cast<unsigned int>(FacetType::prism);
        return D
          .facet_rule[cells != Cells::simplices && prism ? type : 0][degree];
      }

      /// Number of quadrature points of sub-cell s.
      template <Cells cells, int dim>
      __device__ inline unsigned int
      n_volume_points(const Data<dim>   &D,
                      const unsigned int s,
                      const unsigned int degree)
      {
        if (D.volume_points != nullptr)
          return static_cast<unsigned int>(D.subcell_q[s + 1] - D.subcell_q[s]);
        if (affine<cells>(D))
          return affine_rule<cells>(D, degree).n_points;
        const SubCellType type = D.subcell_type[s];
        return type == SubCellType::tabulated
                 ? D.subcell_point_offset[s + 1] - D.subcell_point_offset[s]
                 : D.subcell_rule[static_cast<unsigned int>(type)][degree]
                     .n_points;
      }

      /// Number of quadrature points of facet f; degree: the larger degree of
      /// both sides. prism: type of the facet, if the mesh is affine.
      template <Cells cells, int dim>
      __device__ inline unsigned int
      n_facet_points(const Data<dim>   &D,
                     const unsigned int f,
                     const unsigned int degree,
                     const bool         prism = false)
      {
        if (affine<cells>(D))
          return affine_facet_rule<cells>(D, prism, degree).n_points;
        const FacetType type = D.facet_type[f];
        return type == FacetType::tabulated
                 ? D.facet_point_offset[f + 1] - D.facet_point_offset[f]
                 : D.facet_rule[static_cast<unsigned int>(type)][degree]
                     .n_points;
      }

      /// Volume points that a kernel is compiled for: those of the rules of
      /// sub-cells, those of a compressed quadrature, or what the data has.
      enum class Quadrature
      {
        any,
        rules,
        compressed
      };

      /// Kernels for simplices exist for rules of sub-cells and for compressed
      /// quadratures; all others serve both.
      constexpr Quadrature
      rules_of(const Cells cells)
      {
        return cells == Cells::simplices ? Quadrature::rules : Quadrature::any;
      }

      template <Quadrature quadrature, int dim>
      __device__ inline bool
      is_compressed(const Data<dim> &D)
      {
        return quadrature == Quadrature::any
                 ? D.volume_points != nullptr
                 : quadrature == Quadrature::compressed;
      }

      /// Reads point i of a compressed quadrature; returns the weight.
      template <int dim>
      __device__ inline double
      compressed_point(const Data<dim>    &D,
                       const std::uint64_t i,
                       double (&x)[dim])
      {
        const double *const from = D.volume_points + i * (dim + 1);
#pragma unroll
        for (int e = 0; e < dim; ++e)
          x[e] = __ldg(from + e);
        return __ldg(from + dim);
      }

      /// Computes point q of sub-cell s of a polytope of the given degree;
      /// returns the weight.
      template <int dim>
      __device__ __noinline__ double
      general_volume_point(const Data<dim>   &D,
                           const unsigned int s,
                           const unsigned int q,
                           const unsigned int degree,
                           double (&x)[dim])
      {
        const SubCellType type = D.subcell_type[s];
        if (type == SubCellType::tabulated)
          {
            const std::size_t p = D.subcell_point_offset[s] + q;
            for (int d = 0; d < dim; ++d)
              x[d] = D.subcell_points[p * dim + d];
            return D.subcell_point_weights[p];
          }
        const RuleTables::Entry rule =
          D.subcell_rule[static_cast<unsigned int>(type)][degree];
        const double *data = D.rules + rule.offset;
        double        xi[dim], J[dim][dim];
        for (int d = 0; d < dim; ++d)
          xi[d] = data[d * rule.n_points + q];
        const double  w = data[dim * rule.n_points + q];
        const double *v =
          D.subcell_vertices + std::size_t(D.subcell_vertex_offset[s]) * dim;
        if (type == SubCellType::hypercube)
          {
            multilinear_map<dim, dim>(v, xi, x, J);
            return w * determinant(J);
          }
        for (int e = 0; e < dim; ++e)
          x[e] = v[e];
        for (int d = 0; d < dim; ++d)
          {
            const int u = type == SubCellType::parallelepiped ? 1 << d : d + 1;
            for (int e = 0; e < dim; ++e)
              {
                J[d][e] = v[u * dim + e] - v[e];
                x[e] += xi[d] * J[d][e];
              }
          }
        return w * fabs(determinant(J));
      }

      /// Computes a point of a simplex or prism with an explicit rule. Uses
      /// explicit fused multiply-adds, since two kernels compute the right-hand
      /// side and must agree.
      template <int dim, typename Rule>
      __device__ inline double
      affine_volume_point(const Data<dim>   &D,
                          const unsigned int s,
                          const unsigned int q,
                          const Rule        &rule,
                          double (&x)[dim])
      {
        const double *data = D.rules + rule.offset + q;
        const double *v =
          D.subcell_vertices + std::size_t(s) * (dim * (dim + 1));
        double J[dim][dim];
        for (int e = 0; e < dim; ++e)
          x[e] = __ldg(v + e);
        for (int d = 0; d < dim; ++d)
          for (int e = 0; e < dim; ++e)
            J[d][e] = __ldg(v + (d + 1) * dim + e) - x[e];
        for (int d = 0; d < dim; ++d)
          {
            const double xi = __ldg(data + d * rule.n_points);
            for (int e = 0; e < dim; ++e)
              x[e] = fma(xi, J[d][e], x[e]);
          }
        return __dmul_rn(__ldg(data + dim * rule.n_points),
                         fabs(determinant(J)));
      }

      /// Computes a point of an upright prism: the last variable varies along
      /// its last edge, and half of the vertex coordinates follow from the
      /// others.
      template <int dim, typename Rule>
      __device__ inline double
      prism_volume_point(const Data<dim>   &D,
                         const unsigned int s,
                         const unsigned int q,
                         const Rule        &rule,
                         double (&x)[dim])
      {
        constexpr int n    = dim - 1;
        const double *data = D.rules + rule.offset + q;
        const double *v =
          D.subcell_vertices + std::size_t(s) * (dim * (dim + 1));
        double       J[n][n];
        const double lower  = __ldg(v + n),
                     length = __ldg(v + dim * dim + n) - lower;
        for (int e = 0; e < n; ++e)
          x[e] = __ldg(v + e);
        for (int d = 0; d < n; ++d)
          for (int e = 0; e < n; ++e)
            J[d][e] = __ldg(v + (d + 1) * dim + e) - x[e];
        for (int d = 0; d < n; ++d)
          {
            const double xi = __ldg(data + d * rule.n_points);
            for (int e = 0; e < n; ++e)
              x[e] += xi * J[d][e];
          }
        x[n] = lower + __ldg(data + n * rule.n_points) * length;
        return __ldg(data + dim * rule.n_points) *
               fabs(determinant(J) * length);
      }

      /// Computes a point of an affine sub-cell of the type that the kernel is
      /// compiled for. With compressed quadrature, s is the number of the
      /// point.
      template <Cells      cells,
                Quadrature quadrature = Quadrature::any,
                int        dim,
                typename Rule>
      __device__ inline double
      affine_point(const Data<dim>   &D,
                   const unsigned int s,
                   const unsigned int q,
                   const Rule        &rule,
                   double (&x)[dim])
      {
        if constexpr (cells == Cells::prisms)
          return prism_volume_point(D, s, q, rule, x);
        else
          return is_compressed<quadrature>(D)
                   ? compressed_point(D, s, x)
                   : affine_volume_point(D, s, q, rule, x);
      }

      /// Computes a point of any sub-cell; the general case is a function call.
      template <Cells cells, int dim>
      __device__ inline double
      volume_point(const Data<dim>   &D,
                   const unsigned int s,
                   const unsigned int q,
                   const unsigned int degree,
                   double (&x)[dim])
      {
        if (D.volume_points != nullptr)
          return compressed_point(D, D.subcell_q[s] + q, x);
        if (!affine<cells>(D))
          {
            // Separate array, since a variable whose address is passed to a
            // call stays in memory.
            double       point[dim];
            const double w = general_volume_point(D, s, q, degree, point);
            for (int e = 0; e < dim; ++e)
              x[e] = point[e];
            return w;
          }
        return affine_point<cells>(D, s, q, affine_rule<cells>(D, degree), x);
      }

      /// Computes point q of facet f; degree: the larger degree of both sides.
      /// The normal points to side 1.
      template <int dim>
      __device__ __noinline__ double
      general_facet_point(const Data<dim>   &D,
                          const unsigned int f,
                          const unsigned int q,
                          const unsigned int degree,
                          double (&x)[dim],
                          double (&normal)[dim])
      {
        const FacetType type = D.facet_type[f];
        if (type == FacetType::tabulated)
          {
            const std::size_t p = D.facet_point_offset[f] + q;
            for (int d = 0; d < dim; ++d)
              {
                x[d]      = D.facet_points[p * dim + d];
                normal[d] = D.facet_point_normals[p * dim + d];
              }
            return D.facet_point_weights[p];
          }
        const RuleTables::Entry rule =
          D.facet_rule[static_cast<unsigned int>(type)][degree];
        const double *data = D.rules + rule.offset;
        const double *v =
          D.facet_vertices + std::size_t(D.facet_vertex_offset[f]) * dim;
        double xi[dim - 1];
        for (int d = 0; d + 1 < dim; ++d)
          xi[d] = data[d * rule.n_points + q];
        const double w = data[(dim - 1) * rule.n_points + q];
        if constexpr (dim > 2)
          if (type == FacetType::quadrilateral)
            {
              // The multilinear formula also covers parallelograms.
              double y[dim], J[dim - 1][dim], n[dim];
              multilinear_map<dim - 1, dim>(v, xi, y, J);
              cross_product(J, n);
              double square = n[0] * n[0];
              for (int e = 1; e < dim; ++e)
                square += n[e] * n[e];
              const double area = sqrt(square);
              for (int e = 0; e < dim; ++e)
                {
                  x[e]      = y[e];
                  normal[e] = n[e] / area;
                }
              return w * area;
            }
        for (int e = 0; e < dim; ++e)
          {
            x[e] = v[e];
            for (int d = 0; d + 1 < dim; ++d)
              x[e] += xi[d] * (v[(d + 1) * dim + e] - v[e]);
            normal[e] = D.facet_normal[std::size_t(f) * dim + e];
          }
        return w *
               (type == FacetType::simplex ? facet_factor(dim, false)
                : type == FacetType::prism ? facet_factor(dim, true)
                                           : 1) *
               D.facet_measure[f];
      }

      /// A simplicial facet of an affine mesh.
      template <int dim>
      struct SimplexFacet
      {
        double vertex[dim][dim], normal[dim], measure;

        __device__
        SimplexFacet(const Data<dim> &D, const unsigned int f)
        {
          const double *v = D.facet_vertices + std::size_t(f) * (dim * dim);
#pragma unroll
          for (int i = 0; i < dim; ++i)
#pragma unroll
            for (int e = 0; e < dim; ++e)
              vertex[i][e] = __ldg(v + i * dim + e);
#pragma unroll
          for (int e = 0; e < dim; ++e)
            normal[e] = __ldg(D.facet_normal + std::size_t(f) * dim + e);
          measure = __ldg(D.facet_measure + f);
        }

        /// As facet_point(), with an explicit rule; factor: facet_factor().
        __device__ double
        point(const Data<dim>         &D,
              const RuleTables::Entry &rule,
              const unsigned int       q,
              const int                factor,
              double (&x)[dim],
              double (&n)[dim]) const
        {
          const double *data = D.rules + rule.offset + q;
#pragma unroll
          for (int e = 0; e < dim; ++e)
            {
              x[e] = vertex[0][e];
              n[e] = normal[e];
            }
#pragma unroll
          for (int d = 0; d + 1 < dim; ++d)
            {
              const double xi = __ldg(data + d * rule.n_points);
#pragma unroll
              for (int e = 0; e < dim; ++e)
                x[e] += xi * (vertex[d + 1][e] - vertex[0][e]);
            }
          return __ldg(data + (dim - 1) * rule.n_points) * factor * measure;
        }
      };

      /// Computes a point of any facet; the general case is a function call.
      /// prism: type of the facet, if the mesh is affine.
      template <Cells cells, int dim>
      __device__ inline double
      facet_point(const Data<dim>   &D,
                  const unsigned int f,
                  const unsigned int q,
                  const unsigned int degree,
                  double (&x)[dim],
                  double (&normal)[dim],
                  const bool prism = false)
      {
        if (!affine<cells>(D))
          {
            double       point[dim], n[dim];
            const double w = general_facet_point(D, f, q, degree, point, n);
            for (int e = 0; e < dim; ++e)
              {
                x[e]      = point[e];
                normal[e] = n[e];
              }
            return w;
          }
        const RuleTables::Entry &rule =
          affine_facet_rule<cells>(D, prism, degree);
        if constexpr (cells == Cells::prisms)
          {
            const double *data = D.rules + rule.offset + q;
            const double *v = D.facet_vertices + std::size_t(f) * (dim * dim);
            // The facet is upright with an upward last edge, or horizontal.
            constexpr int n            = dim - 1;
            const double *given_normal = D.facet_normal + std::size_t(f) * dim;
            double        origin[n];
            for (int e = 0; e < n; ++e)
              {
                x[e] = origin[e] = __ldg(v + e);
                normal[e]        = prism ? __ldg(given_normal + e) : 0.;
              }
            x[n]      = __ldg(v + n);
            normal[n] = prism ? 0. : __ldg(given_normal + n);
            for (int d = 0; d < n; ++d)
              {
                const double xi = __ldg(data + d * rule.n_points);
                if (d + 1 < n || !prism)
                  for (int e = 0; e < n; ++e)
                    x[e] += xi * (__ldg(v + (d + 1) * dim + e) - origin[e]);
                else
                  x[n] += xi * (__ldg(v + n * dim + n) - x[n]);
              }
            return __ldg(data + n * rule.n_points) * facet_factor(dim, prism) *
                   __ldg(D.facet_measure + f);
          }
        else
          {
            return SimplexFacet<dim>(D, f).point(
              D,
              rule,
              q,
              facet_factor(dim, cells != Cells::simplices && prism),
              x,
              normal);
          }
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

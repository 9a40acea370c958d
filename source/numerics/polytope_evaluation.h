// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_numerics_polytope_evaluation_h
#define tessella_source_numerics_polytope_evaluation_h

#include <deal.II/base/config.h>

#include <deal.II/base/exceptions.h>
#include <deal.II/base/utilities.h>
#include <deal.II/base/vectorization.h>

#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/vector.h>

#include <tessella/base/epetra.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/portable/legendre.h>
#include <tessella/quadrature/reference_quadrature.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "../lac/vector_access.h"

namespace Tessella
{
  /// Common parts of the functions in numerics: quadrature points gathered from
  /// the flat view, and evaluation of discrete functions at these points.
  namespace internal
  {
    /// Coefficients of the multilinear map of a hypercube in the monomials
    /// prod_d xi_d^{bit d of m}, m = 0 .. 2^dim - 1: c[m][d].
    template <int dim>
    inline void
    multilinear_coefficients(const double *vertices,
                             const int     space_dim,
                             double (*c)[3])
    {
      constexpr int n = 1 << dim;
      for (int v = 0; v < n; ++v)
        for (int e = 0; e < space_dim; ++e)
          c[v][e] = vertices[v * space_dim + e];
      for (int d = 0; d < dim; ++d)
        for (int m = 0; m < n; ++m)
          if (m & (1 << d))
            for (int e = 0; e < space_dim; ++e)
              c[m][e] -= c[m ^ (1 << d)][e];
    }

    /// Computes the point and the derivatives dx/dxi_d of a multilinear map.
    template <int dim>
    inline void
    multilinear_map(const double (*c)[3],
                    const int     space_dim,
                    const double *xi,
                    double       *x,
                    double (*derivative)[3])
    {
      constexpr int n = 1 << dim;
      for (int e = 0; e < space_dim; ++e)
        {
          x[e] = 0.;
          for (int d = 0; d < dim; ++d)
            derivative[d][e] = 0.;
        }
      for (int m = 0; m < n; ++m)
        {
          double monomial = 1.;
          for (int d = 0; d < dim; ++d)
            if (m & (1 << d))
              monomial *= xi[d];
          for (int e = 0; e < space_dim; ++e)
            x[e] += c[m][e] * monomial;
          for (int d = 0; d < dim; ++d)
            if (m & (1 << d))
              {
                double rest = 1.;
                for (int k = 0; k < dim; ++k)
                  if (k != d && (m & (1 << k)))
                    rest *= xi[k];
                for (int e = 0; e < space_dim; ++e)
                  derivative[d][e] += c[m][e] * rest;
              }
        }
    }

    inline double
    determinant(const double (*j)[3], const int dim)
    {
      if (dim == 2)
        return j[0][0] * j[1][1] - j[0][1] * j[1][0];
      return j[0][0] * (j[1][1] * j[2][2] - j[1][2] * j[2][1]) -
             j[0][1] * (j[1][0] * j[2][2] - j[1][2] * j[2][0]) +
             j[0][2] * (j[1][0] * j[2][1] - j[1][1] * j[2][0]);
    }

    /// Reference rules, each looked up once per order.
    class RuleCache
    {
    public:
      const ReferenceRule &
      get(const bool simplex, const unsigned int dim, const unsigned int order)
      {
        auto &list = rules[simplex ? 1 : 0][dim];
        if (order >= list.size())
          list.resize(order + 1, nullptr);
        if (list[order] == nullptr)
          list[order] =
            simplex ? &simplex_rule(dim, order) : &hypercube_rule(dim, order);
        return *list[order];
      }

    private:
      std::array<std::array<std::vector<const ReferenceRule *>, 4>, 2> rules;
    };

    /// Quadrature points of sub-cells or facets, as a structure of arrays.
    template <int dim>
    struct QuadratureBatch
    {
      std::array<std::vector<double>, dim> x;
      std::vector<double>                  weight;
      /// Sub-cell (for volumes) or facet of each point.
      std::vector<unsigned int> entity;
      /// Unit normals, for facets only.
      std::array<std::vector<double>, dim> normal;
      RuleCache                            rules;

      unsigned int
      size() const
      {
        return static_cast<unsigned int>(weight.size());
      }

      void
      clear()
      {
        for (int d = 0; d < dim; ++d)
          {
            x[d].clear();
            normal[d].clear();
          }
        weight.clear();
        entity.clear();
      }

      std::array<const double *, dim>
      pointers(const unsigned int first = 0) const
      {
        std::array<const double *, dim> p;
        for (int d = 0; d < dim; ++d)
          p[d] = x[d].data() + first;
        return p;
      }

      /// Appends a rule that is exact for polynomials of degree @p order on
      /// affine sub-cells. For tabulated sub-cells, the rule stored in the mesh
      /// is used.
      void
      add_subcell(const PolytopicMesh<dim> &mesh,
                  const unsigned int        s,
                  const unsigned int        order)
      {
        const double *const v =
          &mesh.subcell_vertices[std::size_t(mesh.subcell_vertex_offset[s]) *
                                 dim];
        const SubCellType type = mesh.subcell_type[s];
        if (type == SubCellType::tabulated)
          {
            for (unsigned int q = mesh.subcell_point_offset[s];
                 q < mesh.subcell_point_offset[s + 1];
                 ++q)
              {
                for (int d = 0; d < dim; ++d)
                  x[d].push_back(mesh.subcell_points[std::size_t(q) * dim + d]);
                weight.push_back(mesh.subcell_point_weights[q]);
              }
          }
        else if (type == SubCellType::hypercube)
          {
            // The Jacobian determinant has degree dim - 1 in each variable.
            const ReferenceRule &rule = rules.get(false, dim, order + dim - 1);
            double               c[1 << dim][3], derivative[dim][3];
            multilinear_coefficients<dim>(v, dim, c);
            for (unsigned int q = 0; q < rule.n_points; ++q)
              {
                double xi[dim], point[3];
                for (int d = 0; d < dim; ++d)
                  xi[d] = rule.points[d * rule.n_points + q];
                multilinear_map<dim>(c, dim, xi, point, derivative);
                for (int d = 0; d < dim; ++d)
                  x[d].push_back(point[d]);
                weight.push_back(rule.weights[q] *
                                 std::abs(determinant(derivative, dim)));
              }
          }
        else
          {
            const bool           simplex = (type == SubCellType::simplex);
            const ReferenceRule &rule    = rules.get(simplex, dim, order);
            double               edge[dim][3];
            for (int k = 0; k < dim; ++k)
              for (int d = 0; d < dim; ++d)
                edge[k][d] = v[(simplex ? k + 1 : (1 << k)) * dim + d] - v[d];
            const double jacobian = std::abs(determinant(edge, dim));
            for (unsigned int q = 0; q < rule.n_points; ++q)
              {
                for (int d = 0; d < dim; ++d)
                  {
                    double y = v[d];
                    for (int k = 0; k < dim; ++k)
                      y += edge[k][d] * rule.points[k * rule.n_points + q];
                    x[d].push_back(y);
                  }
                weight.push_back(rule.weights[q] * jacobian);
              }
          }
        entity.resize(weight.size(), s);
      }

      /// Appends points, weights, and normals from side 0 to side 1.
      void
      add_facet(const PolytopicMesh<dim> &mesh,
                const unsigned int        f,
                const unsigned int        order)
      {
        const double *const v =
          &mesh.facet_vertices[std::size_t(mesh.facet_vertex_offset[f]) * dim];
        const FacetType type = mesh.facet_type[f];
        if (type == FacetType::tabulated)
          {
            for (unsigned int q = mesh.facet_point_offset[f];
                 q < mesh.facet_point_offset[f + 1];
                 ++q)
              {
                for (int d = 0; d < dim; ++d)
                  {
                    x[d].push_back(mesh.facet_points[std::size_t(q) * dim + d]);
                    normal[d].push_back(
                      mesh.facet_point_normals[std::size_t(q) * dim + d]);
                  }
                weight.push_back(mesh.facet_point_weights[q]);
              }
          }
        else if (type == FacetType::quadrilateral)
          {
            const ReferenceRule &rule = rules.get(false, 2, order + 1);
            double               c[4][3], t[2][3] = {};
            multilinear_coefficients<2>(v, dim, c);
            for (unsigned int q = 0; q < rule.n_points; ++q)
              {
                const double xi[2] = {rule.points[q],
                                      rule.points[rule.n_points + q]};
                double       point[3];
                multilinear_map<2>(c, dim, xi, point, t);
                double       n[3] = {t[0][1] * t[1][2] - t[0][2] * t[1][1],
                                     t[0][2] * t[1][0] - t[0][0] * t[1][2],
                                     t[0][0] * t[1][1] - t[0][1] * t[1][0]};
                const double area =
                  std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
                for (int d = 0; d < dim; ++d)
                  {
                    x[d].push_back(point[d]);
                    normal[d].push_back(n[d] / area);
                  }
                weight.push_back(rule.weights[q] * area);
              }
          }
        else
          {
            const ReferenceRule &rule = rules.get(true, dim - 1, order);
            const double scale = mesh.facet_measure[f] * (dim == 3 ? 2. : 1.);
            for (unsigned int q = 0; q < rule.n_points; ++q)
              {
                for (int d = 0; d < dim; ++d)
                  {
                    double y = v[d];
                    for (int k = 0; k < dim - 1; ++k)
                      y += (v[(k + 1) * dim + d] - v[d]) *
                           rule.points[k * rule.n_points + q];
                    x[d].push_back(y);
                    normal[d].push_back(
                      mesh.facet_normal[std::size_t(f) * dim + d]);
                  }
                weight.push_back(rule.weights[q] * scale);
              }
          }
        entity.resize(weight.size(), f);
      }
    };

    /**
     * Evaluates discrete functions on polytopes by nested sums over the
     * variables: sum_k0 L_k0(x) sum_k1 L_k1(y) sum_k2 .... The cost is about
     * two operations per function and point for values, and two more per
     * derivative. Points are processed in SIMD lanes; the result at a point
     * does not depend on the other points. Several threads may use the same
     * object.
     */
    template <int dim>
    class PolytopeEvaluator
    {
    public:
      explicit PolytopeEvaluator(const AgglomerationHandler<dim> &handler)
        : mesh(handler.polytopic_mesh())
        , tensor(handler.polynomial_space() ==
                 PolynomialSpaceType::tensor_product)
      {
        std::vector<bool> present(Legendre::max_degree + 1, false);
        for (const unsigned int p : mesh.degree)
          present[p] = true;
        for (unsigned int p = 0; p <= Legendre::max_degree; ++p)
          if (present[p])
            {
              const unsigned int n = Legendre::n_functions(dim, p, tensor);
              std::vector<unsigned char> k(n * dim);
              Legendre::exponents(dim, p, tensor, k.data());
              exponents[p] = k;
              // Position of function i in the order of the nested loops.
              auto position = [&](const unsigned int i) {
                unsigned int index = 0;
                for (int d = 0; d < dim; ++d)
                  index = index * (p + 1) + k[i * dim + d];
                return index;
              };
              order[p].resize(n);
              for (unsigned int i = 0; i < n; ++i)
                order[p][i] = i;
              std::sort(order[p].begin(),
                        order[p].end(),
                        [&](const unsigned int i, const unsigned int j) {
                          return position(i) < position(j);
                        });
            }
      }

      /**
       * Evaluates the function with coefficients @p u on @p polytope at @p n
       * points: values, and also gradients unless @p gradients is null.
       */
      void
      evaluate(const unsigned int                     polytope,
               const double                          *u,
               const unsigned int                     n,
               const std::array<const double *, dim> &x,
               double                                *values,
               const std::array<double *, dim>       *gradients) const
      {
        using Lanes                  = dealii::VectorizedArray<double>;
        constexpr unsigned int width = Lanes::size();

        const unsigned int  p   = mesh.degree[polytope];
        const double *const box = &mesh.box[std::size_t(polytope) * 2 * dim];
        double              scale[dim], shift[dim], volume = 1.;
        for (int d = 0; d < dim; ++d)
          {
            const double extent = box[dim + d] - box[d];
            scale[d]            = 2. / extent;
            shift[d]            = box[dim + d] + box[d];
            volume *= extent;
          }
        // Coefficients in the order of the loops, times the factor that makes
        // the functions orthonormal.
        constexpr unsigned int max_functions =
          dealii::Utilities::pow(Legendre::max_degree + 1, dim);
        double       c[max_functions];
        const double factor = 1. / std::sqrt(volume);
        for (unsigned int i = 0; i < order[p].size(); ++i)
          c[i] = factor * u[order[p][i]];

        Lanes l[dim][Legendre::max_degree + 1],
          dl[dim][Legendre::max_degree + 1];
        for (unsigned int q = 0; q < n; q += width)
          {
            const unsigned int lanes = std::min(width, n - q);
            for (int d = 0; d < dim; ++d)
              {
                Lanes y;
                if (lanes == width)
                  y.load(x[d] + q);
                else
                  for (unsigned int lane = 0; lane < width; ++lane)
                    y[lane] = x[d][q + std::min(lane, lanes - 1)];
                // (2 x - l - u) / (u - l) without loss of digits, where l and u
                // are the bounds of the box.
                const Lanes xi = (y + y - shift[d]) * (.5 * scale[d]);
                if (gradients != nullptr)
                  Legendre::evaluate(p, xi, l[d], dl[d]);
                else
                  Legendre::evaluate(p, xi, l[d]);
              }

            Lanes value(0.), gradient[3] = {Lanes(0.), Lanes(0.), Lanes(0.)};
            const double *coefficient = c;
            for (unsigned int i = 0; i <= p; ++i)
              {
                Lanes              s(0.), s_y(0.), s_z(0.);
                const unsigned int pj = tensor ? p : p - i;
                for (unsigned int j = 0; j <= pj; ++j)
                  if (dim == 2)
                    {
                      const double a = *coefficient++;
                      s += l[1][j] * a;
                      if (gradients != nullptr)
                        s_y += dl[1][j] * a;
                    }
                  else
                    {
                      Lanes              t(0.), t_z(0.);
                      const unsigned int pk = tensor ? p : pj - j;
                      for (unsigned int k = 0; k <= pk; ++k)
                        {
                          const double a = *coefficient++;
                          t += l[dim - 1][k] * a;
                          if (gradients != nullptr)
                            t_z += dl[dim - 1][k] * a;
                        }
                      s += l[1][j] * t;
                      if (gradients != nullptr)
                        {
                          s_y += dl[1][j] * t;
                          s_z += l[1][j] * t_z;
                        }
                    }
                value += l[0][i] * s;
                if (gradients != nullptr)
                  {
                    gradient[0] += dl[0][i] * s;
                    gradient[1] += l[0][i] * s_y;
                    if (dim == 3)
                      gradient[2] += l[0][i] * s_z;
                  }
              }
            if (lanes == width)
              value.store(values + q);
            else
              for (unsigned int lane = 0; lane < lanes; ++lane)
                values[q + lane] = value[lane];
            if (gradients != nullptr)
              for (int d = 0; d < dim; ++d)
                {
                  const Lanes g = gradient[d] * scale[d];
                  for (unsigned int lane = 0; lane < lanes; ++lane)
                    (*gradients)[d][q + lane] = g[lane];
                }
          }
      }

      /// Evaluates all functions of @p polytope at one point: @p phi has
      /// n_basis entries.
      void
      basis(const unsigned int polytope, const double *x, double *phi) const
      {
        const unsigned int  p   = mesh.degree[polytope];
        const double *const box = &mesh.box[std::size_t(polytope) * 2 * dim];
        double              l[dim][Legendre::max_degree + 1], volume = 1.;
        for (int d = 0; d < dim; ++d)
          {
            const double extent = box[dim + d] - box[d];
            volume *= extent;
            Legendre::evaluate(p,
                               (2. * x[d] - box[d] - box[dim + d]) / extent,
                               l[d]);
          }
        const double               factor = 1. / std::sqrt(volume);
        const unsigned char *const k      = exponents[p].data();
        for (unsigned int i = 0; i < order[p].size(); ++i)
          {
            double product = factor;
            for (int d = 0; d < dim; ++d)
              product *= l[d][k[i * dim + d]];
            phi[i] = product;
          }
      }

    private:
      const PolytopicMesh<dim> &mesh;
      const bool                tensor;
      std::array<std::vector<unsigned char>, Legendre::max_degree + 1>
                                                                      exponents;
      std::array<std::vector<unsigned int>, Legendre::max_degree + 1> order;
    };

    /// Work item of fixed size: sub-cells [begin, end) of a polytope. Sums are
    /// computed per item and then added in order, so that they do not depend on
    /// the number of threads.
    struct WorkItem
    {
      unsigned int polytope, begin, end;
    };

    template <int dim>
    std::vector<WorkItem>
    work_items(const PolytopicMesh<dim> &mesh, const unsigned int n_subcells)
    {
      std::vector<WorkItem> items;
      items.reserve(mesh.n_owned_polytopes());
      for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
        for (unsigned int s = mesh.subcell_offset[k];
             s < mesh.subcell_offset[k + 1];
             s += n_subcells)
          items.push_back(
            {k, s, std::min(s + n_subcells, mesh.subcell_offset[k + 1])});
      return items;
    }
  } // namespace internal
} // namespace Tessella

#endif

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

#include "../grid/mesh_points.h"
#include "../lac/vector_access.h"

namespace Tessella
{
  /// Common parts of the functions in numerics: quadrature points gathered from
  /// the flat view, and evaluation of discrete functions at these points.
  namespace internal
  {
    /// Reference rules of sub-cells and facets, each looked up once per order.
    template <int dim>
    class RuleCache
    {
    public:
      /// The rule of a sub-cell; null where points are tabulated.
      const ReferenceRule *
      subcell(const SubCellType type, const unsigned int order)
      {
        if (type == SubCellType::tabulated)
          return nullptr;
        const ReferenceRule *&rule =
          entry(subcell_rules[static_cast<unsigned int>(type)], order);
        if (rule == nullptr)
          rule = &subcell_rule<dim>(type, order);
        return rule;
      }

      /// The rule of a facet; null where points are tabulated.
      const ReferenceRule *
      facet(const FacetType type, const unsigned int order)
      {
        if (type == FacetType::tabulated)
          return nullptr;
        const ReferenceRule *&rule =
          entry(facet_rules[static_cast<unsigned int>(type)], order);
        if (rule == nullptr)
          rule = &facet_rule<dim>(type, order);
        return rule;
      }

    private:
      using List = std::vector<const ReferenceRule *>;

      static const ReferenceRule *&
      entry(List &list, const unsigned int order)
      {
        if (order >= list.size())
          list.resize(order + 1, nullptr);
        return list[order];
      }

      std::array<List, 5> subcell_rules;
      std::array<List, 4> facet_rules;
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
      RuleCache<dim>                       rules;

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
        for_subcell_points<dim>(mesh,
                                s,
                                rules.subcell(mesh.subcell_type[s], order),
                                [&](const unsigned int,
                                    const double(&point)[dim],
                                    const double w) {
                                  for (int d = 0; d < dim; ++d)
                                    x[d].push_back(point[d]);
                                  weight.push_back(w);
                                });
        entity.resize(weight.size(), s);
      }

      /// Appends points, weights, and normals from side 0 to side 1.
      void
      add_facet(const PolytopicMesh<dim> &mesh,
                const unsigned int        f,
                const unsigned int        order)
      {
        for_facet_points<dim>(mesh,
                              f,
                              rules.facet(mesh.facet_type[f], order),
                              [&](const unsigned int,
                                  const double(&point)[dim],
                                  const double(&unit_normal)[dim],
                                  const double w) {
                                for (int d = 0; d < dim; ++d)
                                  {
                                    x[d].push_back(point[d]);
                                    normal[d].push_back(unit_normal[d]);
                                  }
                                weight.push_back(w);
                              });
        entity.resize(weight.size(), f);
      }
    };

    /// Evaluates at one point the first @p n_functions orthonormal functions of
    /// degree @p degree on @p box, with dim exponents per function.
    template <int dim>
    inline void
    legendre_basis(const unsigned int         degree,
                   const double *const        box,
                   const unsigned int         n_functions,
                   const unsigned char *const exponents,
                   const double *const        x,
                   double *const              phi)
    {
      double l[dim][Legendre::max_degree + 1], volume = 1.;
      for (int d = 0; d < dim; ++d)
        {
          const double extent = box[dim + d] - box[d];
          volume *= extent;
          Legendre::evaluate(degree,
                             (2. * x[d] - box[d] - box[dim + d]) / extent,
                             l[d]);
        }
      const double factor = 1. / std::sqrt(volume);
      for (unsigned int i = 0; i < n_functions; ++i)
        {
          double product = factor;
          for (int d = 0; d < dim; ++d)
            product *= l[d][exponents[i * dim + d]];
          phi[i] = product;
        }
    }

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
        const unsigned int p = mesh.degree[polytope];
        legendre_basis<dim>(p,
                            &mesh.box[std::size_t(polytope) * 2 * dim],
                            order[p].size(),
                            exponents[p].data(),
                            x,
                            phi);
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

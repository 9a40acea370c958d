// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_numerics_polytope_evaluation_h
#define tessella_source_numerics_polytope_evaluation_h

#include <deal.II/base/utilities.h>

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/portable/legendre.h>
#include <tessella/quadrature/reference_quadrature.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "../grid/mesh_points.h"

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
        const auto rule = [](const SubCellType type, const unsigned int order)
          -> const ReferenceRule & { return subcell_rule<dim>(type, order); };
        return type == SubCellType::tabulated
                 ? nullptr
                 : look_up(subcell_rules, type, order, rule);
      }

      /// The rule of a facet; null where points are tabulated.
      const ReferenceRule *
      facet(const FacetType type, const unsigned int order)
      {
        return type == FacetType::tabulated
                 ? nullptr
                 : look_up(facet_rules, type, order, facet_rule<dim>);
      }

    private:
      using List = std::vector<const ReferenceRule *>;

      template <typename Lists, typename Type, typename Rule>
      static const ReferenceRule *
      look_up(Lists             &lists,
              const Type         type,
              const unsigned int order,
              const Rule        &rule)
      {
        List &list = lists[static_cast<unsigned int>(type)];
        if (order >= list.size())
          list.resize(order + 1, nullptr);
        if (list[order] == nullptr)
          list[order] = &rule(type, order);
        return list[order];
      }

      std::array<List, 5> subcell_rules;
      std::array<List, 4> facet_rules;
    };

    /// Approximate number of points passed to functions and forms in one call:
    /// large enough to make virtual calls cheap, small enough for the data to
    /// stay in the cache.
    constexpr unsigned int batch_size = 256;

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
      pointers() const
      {
        std::array<const double *, dim> p;
        for (int d = 0; d < dim; ++d)
          p[d] = x[d].data();
        return p;
      }

      /// Appends a rule that is exact for polynomials of degree @p order on
      /// affine sub-cells. For tabulated sub-cells, the rule stored in the mesh
      /// is used.
      void
      add_subcell(const PolytopicMesh<dim> &mesh,
                  const unsigned int        s,
                  const unsigned int        order);

      /// Calls function() for sub-cells [@p begin, @p end), several times with
      /// the points of as many whole sub-cells as fit into a batch.
      template <typename Function>
      void
      for_subcells(const PolytopicMesh<dim> &mesh,
                   const unsigned int        begin,
                   const unsigned int        end,
                   const unsigned int        order,
                   const Function           &function)
      {
        for (unsigned int s = begin; s < end;)
          {
            clear();
            for (; s < end && size() < batch_size; ++s)
              add_subcell(mesh, s, order);
            function();
          }
      }

      /// Appends points, weights, and normals from side 0 to side 1.
      void
      add_facet(const PolytopicMesh<dim> &mesh,
                const unsigned int        f,
                const unsigned int        order);
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
      explicit PolytopeEvaluator(const AgglomerationHandler<dim> &handler);

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
               const std::array<double *, dim>       *gradients) const;

      /// Evaluates all functions of @p polytope at one point: @p phi has
      /// n_basis entries.
      void
      basis(const unsigned int polytope, const double *x, double *phi) const;

    private:
      const PolytopicMesh<dim> &mesh;
      const PolytopicDoFs      &dofs;
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

    /// Items of at most @p n_subcells sub-cells for the polytopes that this
    /// process owns.
    template <int dim>
    std::vector<WorkItem>
    work_items(const PolytopicMesh<dim> &mesh, const unsigned int n_subcells);
  } // namespace internal
} // namespace Tessella

#endif

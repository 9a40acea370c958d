// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_mapped_rules_h
#define tessella_source_grid_mapped_rules_h

#include <deal.II/base/point.h>
#include <deal.II/base/tensor.h>

#include <deal.II/fe/fe_nothing.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/mapping.h>
#include <deal.II/grid/tria.h>

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "cell_shapes.h"

// Quadrature rules on reference cells and their faces, and a mapping at their
// points.
//
// Points on faces are points on the boundary of the reference cell. Normals
// follow from the Jacobian of the cell, n dS = |det J| J^-T n^ dS^, in the same
// way for every cell type. The facet of a hanging face is a whole face of the
// finer cell, so that sub-faces never occur.

namespace Tessella
{
  namespace internal
  {
    /// Polynomial degree of a mapping on the reference cell, per variable on
    /// hypercubes.
    template <int dim>
    unsigned int
    mapping_degree(const dealii::Mapping<dim> &mapping);

    /// Image in the reference cell of a point @p xi of the simplex or
    /// hypercube. Pyramids and wedges are hypercubes with coinciding corners.
    template <int dim>
    dealii::Point<dim>
    reference_point(const CellShape<dim> &shape, const dealii::Point<dim> &xi);

    /// Quadrature rule on the reference cell or on one of its faces. The
    /// weights of a cell are volumes; those of a face are multiplied by its
    /// outward normal on the reference cell.
    template <int dim>
    struct CellRule
    {
      std::vector<dealii::Point<dim>>     points;
      std::vector<double>                 weights; ///< for cells
      std::vector<dealii::Tensor<1, dim>> normals; ///< for faces
    };

    template <int dim>
    CellRule<dim>
    cell_rule(const CellShape<dim> &shape, const unsigned int order);

    template <int dim>
    CellRule<dim>
    face_rule(const CellShape<dim> &shape,
              const unsigned int    f,
              const unsigned int    order);

    /// Order of the rule on the reference cell for polynomials of degree @p m
    /// in physical space, for a mapping of degree @p k: see
    /// AgglomerationHandler::tabulate(). The argument @p face selects rules on
    /// faces.
    template <int dim>
    unsigned int
    reference_order(const CellShape<dim> &shape,
                    const unsigned int    k,
                    const unsigned int    m,
                    const bool            face);

    /// Mapping at fixed reference points.
    template <int dim>
    class MappedPoints
    {
    public:
      MappedPoints(const dealii::Mapping<dim>            &mapping,
                   const CellShape<dim>                  &shape,
                   const std::vector<dealii::Point<dim>> &points,
                   const bool                             jacobians)
        : fe(shape.type)
        , fe_values(mapping,
                    fe,
                    dealii::Quadrature<dim>(points),
                    jacobians ? dealii::update_quadrature_points |
                                  dealii::update_jacobians
                              : dealii::update_quadrature_points)
      {}

      void
      reinit(
        const typename dealii::Triangulation<dim>::active_cell_iterator &cell)
      {
        fe_values.reinit(
          typename dealii::Triangulation<dim>::cell_iterator(cell));
      }

      const dealii::Point<dim> &
      point(const unsigned int q) const
      {
        return fe_values.quadrature_point(q);
      }

      double
      determinant(const unsigned int q) const
      {
        return dealii::determinant(
          dealii::Tensor<2, dim>(fe_values.jacobian(q)));
      }

      /// Outward normal times surface element. @p normal is that of the
      /// reference face.
      dealii::Tensor<1, dim>
      surface(const unsigned int q, const dealii::Tensor<1, dim> &normal) const
      {
        const dealii::Tensor<2, dim> j(fe_values.jacobian(q));
        // The cofactor matrix is det J J^-T.
        dealii::Tensor<1, dim> result;
        if constexpr (dim == 2)
          {
            result[0] = j[1][1] * normal[0] - j[1][0] * normal[1];
            result[1] = -j[0][1] * normal[0] + j[0][0] * normal[1];
          }
        else
          for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
              {
                const int a1 = (a + 1) % 3, a2 = (a + 2) % 3, b1 = (b + 1) % 3,
                          b2 = (b + 2) % 3;
                result[a] +=
                  (j[a1][b1] * j[a2][b2] - j[a1][b2] * j[a2][b1]) * normal[b];
              }
        return dealii::determinant(j) < 0. ? -result : result;
      }

    private:
      dealii::FE_Nothing<dim> fe;
      dealii::FEValues<dim>   fe_values;
    };

    /// Quadrature rule and the mapping at its points.
    template <int dim>
    struct MappedRule
    {
      MappedRule(const dealii::Mapping<dim> &mapping,
                 const CellShape<dim>       &shape,
                 CellRule<dim>             &&new_rule)
        : rule(std::move(new_rule))
        , mapped(mapping, shape, rule.points, true)
      {}

      CellRule<dim>     rule;
      MappedPoints<dim> mapped;
    };

    /// Mapped rules, created on first use. Each thread has its own cache.
    template <int dim>
    class MappedRuleCache
    {
    public:
      MappedRuleCache(const dealii::Mapping<dim> &mapping)
        : mapping(mapping)
      {}

      MappedRule<dim> &
      cell(const CellShape<dim> &shape, const unsigned int order)
      {
        auto &rule = rules[std::make_tuple(shape.n_vertices, 0u, order)];
        if (!rule)
          rule = std::make_unique<MappedRule<dim>>(mapping,
                                                   shape,
                                                   cell_rule(shape, order));
        return *rule;
      }

      MappedRule<dim> &
      face(const CellShape<dim> &shape,
           const unsigned int    f,
           const unsigned int    order)
      {
        auto &rule = rules[std::make_tuple(shape.n_vertices, f + 1, order)];
        if (!rule)
          rule = std::make_unique<MappedRule<dim>>(mapping,
                                                   shape,
                                                   face_rule(shape, f, order));
        return *rule;
      }

    private:
      const dealii::Mapping<dim> &mapping;
      std::map<std::tuple<unsigned int, unsigned int, unsigned int>,
               std::unique_ptr<MappedRule<dim>>>
        rules;
    };
  } // namespace internal
} // namespace Tessella

#endif

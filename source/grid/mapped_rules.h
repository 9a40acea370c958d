// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_mapped_rules_h
#define tessella_source_grid_mapped_rules_h

#include <deal.II/base/point.h>
#include <deal.II/base/tensor.h>

#include <deal.II/fe/fe_nothing.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/mapping.h>
#include <deal.II/fe/mapping_cartesian.h>
#include <deal.II/fe/mapping_fe.h>
#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/tria.h>

#include <tessella/portable/geometry.h>
#include <tessella/quadrature/reference_quadrature.h>

#include <algorithm>
#include <array>
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
    /// Polynomial degree of a mapping on the reference cell, per variable
    /// on hypercubes.
    template <int dim>
    unsigned int
    mapping_degree(const dealii::Mapping<dim> &mapping)
    {
      if (const auto *q = dynamic_cast<const dealii::MappingQ<dim> *>(&mapping))
        return q->get_degree();
      if (const auto *fe =
            dynamic_cast<const dealii::MappingFE<dim> *>(&mapping))
        return fe->get_degree();
      if (dynamic_cast<const dealii::MappingCartesian<dim> *>(&mapping) !=
          nullptr)
        return 1;
      return 4;
    }



    /// Image in the reference cell of a point of the hypercube with
    /// coinciding corners, and the Jacobian of this map.
    template <int dim>
    dealii::Point<dim>
    collapse(const CellShape<dim>     &shape,
             const dealii::Point<dim> &xi,
             double (&J)[dim][dim])
    {
      double corners[dim << dim];
      for (unsigned int c = 0; c < shape.n_corners; ++c)
        {
          const dealii::Point<dim> v =
            Compatibility::vertex<dim>(shape.type, shape.corner[c]);
          for (int d = 0; d < dim; ++d)
            corners[c * dim + d] = v[d];
        }
      dealii::Point<dim> p;
      Geometry::multilinear_map<dim, dim>(corners, &xi[0], &p[0], J);
      return p;
    }



    /// Image in the reference cell of a point @p xi of the simplex or
    /// hypercube. Pyramids and wedges are hypercubes with coinciding
    /// corners.
    template <int dim>
    dealii::Point<dim>
    reference_point(const CellShape<dim> &shape, const dealii::Point<dim> &xi)
    {
      double J[dim][dim];
      return shape.is_collapsed() ? collapse(shape, xi, J) : xi;
    }



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
    cell_rule(const CellShape<dim> &shape, const unsigned int order)
    {
      const bool           collapsed = shape.is_collapsed();
      const ReferenceRule &rule =
        shape.is_simplex
          ? simplex_rule(dim, order)
          :
          // the collapse adds up to dim - 1 to the degree of the Jacobian
          hypercube_rule(dim, collapsed ? order + dim - 1 : order);
      CellRule<dim> result;
      for (unsigned int q = 0; q < rule.n_points; ++q)
        {
          dealii::Point<dim> xi;
          for (int d = 0; d < dim; ++d)
            xi[d] = rule.points[d * rule.n_points + q];
          double weight = rule.weights[q];
          if (collapsed)
            {
              double J[dim][dim];
              result.points.push_back(collapse(shape, xi, J));
              // Derivatives are the columns: the determinant of the
              // transpose may round differently.
              dealii::Tensor<2, dim> jacobian;
              for (int i = 0; i < dim; ++i)
                for (int d = 0; d < dim; ++d)
                  jacobian[i][d] = J[d][i];
              weight *= dealii::determinant(jacobian);
            }
          else
            result.points.push_back(xi);
          result.weights.push_back(weight);
        }
      return result;
    }



    template <int dim>
    CellRule<dim>
    face_rule(const CellShape<dim> &shape,
              const unsigned int    f,
              const unsigned int    order)
    {
      const bool           triangle = dim == 3 && shape.n_face_vertices[f] == 3;
      const ReferenceRule &rule =
        triangle ? simplex_rule(2, order) : hypercube_rule(dim - 1, order);
      // Faces of reference cells are parallelograms or triangles.
      const std::array<dealii::Point<dim>, 4> v      = shape.face_vertices(f);
      const dealii::Tensor<1, dim>            s      = v[1] - v[0];
      const dealii::Tensor<1, dim>            t      = v[2] - v[0];
      const dealii::Tensor<1, dim>            normal = normal_of_face(v);
      CellRule<dim>                           result;
      for (unsigned int q = 0; q < rule.n_points; ++q)
        {
          dealii::Point<dim> p = v[0] + rule.points[q] * s;
          if (dim == 3)
            p += rule.points[rule.n_points + q] * t;
          result.points.push_back(p);
          result.normals.push_back(rule.weights[q] * normal);
        }
      return result;
    }



    /// Rule on face @p face of the reference cell, or on the cell itself if
    /// that is invalid_index.
    template <int dim>
    CellRule<dim>
    reference_rule(const CellShape<dim> &shape,
                   const unsigned int    face,
                   const unsigned int    order)
    {
      return face == invalid_index ? cell_rule(shape, order)
                                   : face_rule(shape, face, order);
    }



    /// Order of the rule on the reference cell for polynomials of degree @p
    /// m in physical space, for a mapping of degree @p k: see
    /// CurvedQuadrature::exact. The argument @p face selects rules on faces.
    template <int dim>
    unsigned int
    reference_order(const CellShape<dim> &shape,
                    const unsigned int    k,
                    const unsigned int    m,
                    const bool            face)
    {
      const unsigned int n     = face ? dim - 1 : dim;
      const unsigned int exact = shape.is_simplex
                                   ? k * m + n * (k - 1)
                                   : k * m + (face ? n * k : dim * k - 1);
      const unsigned int most =
        shape.is_simplex ? (dim == 2 ? 60 : 40) : (dim == 2 ? 119 : 39);
      const unsigned int least = m + n * (k - 1);
      const unsigned int order = std::min(exact, std::max(most, least));
      return shape.is_simplex ? std::min(order, 60u) : order;
    }



    /// Order of the rule for normal, area and outline of a curved facet. The
    /// length of the normal is not polynomial; this order yields the area to
    /// many digits. It depends on the mapping's degree @p k alone.
    template <int dim>
    unsigned int
    facet_shape_order(const CellShape<dim> &shape, const unsigned int k)
    {
      return reference_order(shape, k, 5, true);
    }



    /// The same for CurvedQuadrature::consistent, where the functions have
    /// degree @p p. Cells and faces need the same order, but on simplices
    /// faces need less.
    template <int dim>
    unsigned int
    consistent_order(const CellShape<dim> &shape,
                     const unsigned int    k,
                     const unsigned int    p,
                     const unsigned int    m,
                     const bool            face)
    {
      const unsigned int variables = shape.is_simplex && face ? dim - 1 : dim,
                         determinant =
                           shape.is_simplex ? variables * (k - 1) : dim * k - 1,
                         gauss = p * k + (shape.is_simplex ? (dim - 1) * (k - 1)
                                                           : (dim - 1) * k - 1);
      return std::min(std::max(m + determinant, gauss),
                      reference_order(shape, k, m, face));
    }



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

      /// See reference_rule().
      MappedRule<dim> &
      operator()(const CellShape<dim> &shape,
                 const unsigned int    face,
                 const unsigned int    order)
      {
        auto &rule = rules[std::make_tuple(shape.n_vertices, face, order)];
        if (!rule)
          rule = std::make_unique<MappedRule<dim>>(
            mapping, shape, reference_rule(shape, face, order));
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "mapped_rules.h"

#include <deal.II/fe/mapping_cartesian.h>
#include <deal.II/fe/mapping_fe.h>
#include <deal.II/fe/mapping_q.h>

#include <tessella/portable/geometry.h>
#include <tessella/quadrature/reference_quadrature.h>

#include <algorithm>
#include <array>

namespace Tessella
{
  namespace internal
  {
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



    namespace
    {
      // Image in the reference cell of a point of the hypercube with coinciding
      // corners, and the Jacobian of this map.
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
        Geometry::multilinear_map<dim, dim>(corners,
                                            xi.begin_raw(),
                                            p.begin_raw(),
                                            J);
        return p;
      }
    } // namespace



    template <int dim>
    dealii::Point<dim>
    reference_point(const CellShape<dim> &shape, const dealii::Point<dim> &xi)
    {
      double J[dim][dim];
      return shape.is_collapsed() ? collapse(shape, xi, J) : xi;
    }



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
              // Derivatives are the columns: the determinant of the transpose
              // may round differently.
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

#define INSTANTIATE(dim)                                                    \
  template unsigned int       mapping_degree(const dealii::Mapping<dim> &); \
  template dealii::Point<dim> reference_point(const CellShape<dim> &,       \
                                              const dealii::Point<dim> &);  \
  template CellRule<dim>      cell_rule(const CellShape<dim> &,             \
                                        const unsigned int);                \
  template CellRule<dim>      face_rule(const CellShape<dim> &,             \
                                        const unsigned int,                 \
                                        const unsigned int);                \
  template unsigned int       reference_order(const CellShape<dim> &,       \
                                              const unsigned int,           \
                                              const unsigned int,           \
                                              const bool)

    INSTANTIATE(2);
    INSTANTIATE(3);
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella

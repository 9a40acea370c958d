// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_simplex_p.h>
#include <deal.II/grid/tria_accessor.h>
#include <deal.II/grid/tria_iterator.h>

#include <tessella/base/compatibility.h>
#include <tessella/base/exceptions.h>
#include <tessella/grid/mapping_quadratic.h>

#include <cmath>

#include "jacobian_sign.h"
#include "orientation.h"

namespace Tessella
{
  namespace
  {
    // Element with the nodes of the cells of a triangulation.
    template <int dim>
    std::unique_ptr<dealii::FiniteElement<dim>>
    quadratic_element(const dealii::Triangulation<dim> &triangulation,
                      const bool                        by_manifolds)
    {
      const auto types = triangulation.get_reference_cells();
      AssertThrow(types.size() == 1 &&
                    (types[0].is_simplex() || types[0].is_hyper_cube()),
                  ExcUserInput("MappingQuadratic is for meshes whose cells are "
                               "all triangles, quadrilaterals, tetrahedra or "
                               "hexahedra; this mesh has several types of "
                               "cells or wedges or pyramids, or no cells."));
      AssertThrow(types[0].is_simplex() || !by_manifolds,
                  ExcUserInput("MappingQuadratic takes nodes from manifolds "
                               "for triangles and tetrahedra only: take "
                               "dealii::MappingQ for quadrilaterals and "
                               "hexahedra."));
      if (types[0].is_simplex())
        return std::make_unique<dealii::FE_SimplexP<dim>>(2);
      return std::make_unique<dealii::FE_Q<dim>>(2);
    }

    // Point of the manifold of a line between its ends a and b that is equally
    // far from both. It is the manifold's own middle where that is so to 1e-8;
    // otherwise, regula falsi (Illinois) in the weight of b finds it.
    template <typename Line>
    auto
    middle_of_line(const Line &line)
    {
      auto         point = line->center(true);
      const auto  &a = line->vertex(0), &b = line->vertex(1);
      const double tolerance = 1e-8 * a.distance(b);
      double       excess    = point.distance(a) - point.distance(b);
      if (std::abs(excess) <= tolerance)
        return point;
      double w[2] = {0., 1.}, value[2] = {-a.distance(b), a.distance(b)};
      double weight = .5;
      int    last   = -1;
      for (unsigned int i = 0; i < 60 && std::abs(excess) > tolerance; ++i)
        {
          const int side = excess > 0. ? 1 : 0;
          w[side]        = weight;
          value[side]    = excess;
          if (side == last)
            value[1 - side] *= .5;
          last   = side;
          weight = w[0] - value[0] * (w[1] - w[0]) / (value[1] - value[0]);
          point  = line->get_manifold().get_intermediate_point(a, b, weight);
          excess = point.distance(a) - point.distance(b);
        }
      return point;
    }
  } // namespace



  template <int dim>
  MappingQuadratic<dim>::MappingQuadratic(
    const dealii::Triangulation<dim> &triangulation)
    : dealii::MappingFE<dim>(*quadratic_element(triangulation, true))
  {}



  template <int dim>
  MappingQuadratic<dim>::MappingQuadratic(
    const dealii::Triangulation<dim> &triangulation,
    std::vector<dealii::Point<dim>>   nodes)
    : dealii::MappingFE<dim>(*quadratic_element(triangulation, false))
    , table(std::make_shared<const std::vector<dealii::Point<dim>>>(
        std::move(nodes)))
  {
    const unsigned int n = this->fe->n_dofs_per_cell();
    AssertThrow(table->size() == std::size_t(n) * triangulation.n_cells(0),
                ExcUserInput("The table of MappingQuadratic must have " +
                             std::to_string(n) + " nodes for each of the " +
                             std::to_string(triangulation.n_cells(0)) +
                             " coarse cells, but it has " +
                             std::to_string(table->size()) + " nodes."));
  }



  template <int dim>
  std::unique_ptr<dealii::Mapping<dim>>
  MappingQuadratic<dim>::clone() const
  {
    return std::make_unique<MappingQuadratic<dim>>(*this);
  }



  template <int dim>
  bool
  MappingQuadratic<dim>::preserves_vertex_locations() const
  {
    return table == nullptr;
  }



  template <int dim>
  boost::container::small_vector<dealii::Point<dim>,
                                 dealii::GeometryInfo<dim>::vertices_per_cell>
  MappingQuadratic<dim>::get_vertices(const CellIterator &cell) const
  {
    boost::container::small_vector<dealii::Point<dim>,
                                   dealii::GeometryInfo<dim>::vertices_per_cell>
      vertices(cell->n_vertices());
    if (table == nullptr || cell->level() == 0)
      for (unsigned int v = 0; v < vertices.size(); ++v)
        vertices[v] = cell->vertex(v);
    else
      {
        const auto all = compute_mapping_support_points(cell);
        std::copy_n(all.begin(), vertices.size(), vertices.begin());
      }
    return vertices;
  }



  template <int dim>
  typename MappingQuadratic<dim>::CellIterator
  MappingQuadratic<dim>::locate_in_coarse_cell(
    const CellIterator &cell, std::vector<dealii::Point<dim>> &points) const
  {
    CellIterator coarse = cell;
    if (cell->reference_cell().is_simplex())
      {
        // A child may be any part of its parent, but all are straight in the
        // triangulation: the affine inverse of the coarse cell locates their
        // vertices.
        while (coarse->level() > 0)
          coarse = coarse->parent();
        dealii::Tensor<2, dim> edges;
        for (int d = 0; d < dim; ++d)
          for (int i = 0; i < dim; ++i)
            edges[i][d] = coarse->vertex(d + 1)[i] - coarse->vertex(0)[i];
        const dealii::Tensor<2, dim>      inverse = dealii::invert(edges);
        std::array<dealii::Point<dim>, 4> corner;
        for (unsigned int v = 0; v < dim + 1; ++v)
          corner[v] = dealii::Point<dim>(
            inverse *
            dealii::Tensor<1, dim>(cell->vertex(v) - coarse->vertex(0)));
        for (dealii::Point<dim> &p : points)
          {
            dealii::Point<dim> x = corner[0];
            for (int d = 0; d < dim; ++d)
              x += p[d] * (corner[d + 1] - corner[0]);
            p = x;
          }
        return coarse;
      }
    while (coarse->level() > 0)
      {
        const CellIterator parent = coarse->parent();
        AssertThrow(parent->n_children() == (1u << dim),
                    ExcUserInput("MappingQuadratic with a table of nodes "
                                 "needs isotropic refinement."));
        unsigned int child = 0;
        while (parent->child(child) != coarse)
          ++child;
        for (dealii::Point<dim> &p : points)
          for (int d = 0; d < dim; ++d)
            p[d] = .5 * (p[d] + ((child >> d) & 1u));
        coarse = parent;
      }
    return coarse;
  }



  template <int dim>
  std::vector<dealii::Point<dim>>
  MappingQuadratic<dim>::compute_mapping_support_points(
    const CellIterator &cell) const
  {
    const unsigned int n = this->fe->n_dofs_per_cell();
    if (table == nullptr)
      {
        std::vector<dealii::Point<dim>> result;
        result.reserve(n);
        for (const unsigned int v : cell->vertex_indices())
          result.push_back(cell->vertex(v));
        for (const unsigned int l : cell->line_indices())
          result.push_back(middle_of_line(cell->line(l)));
        return result;
      }
    std::vector<dealii::Point<dim>> points =
      this->fe->get_unit_support_points();
    const CellIterator coarse = locate_in_coarse_cell(cell, points);
    const dealii::Point<dim> *const nodes =
      table->data() + std::size_t(n) * coarse->id().get_coarse_cell_id();
    if (cell->level() == 0)
      return std::vector<dealii::Point<dim>>(nodes, nodes + n);
    for (dealii::Point<dim> &p : points)
      {
        dealii::Point<dim> x;
        for (unsigned int i = 0; i < n; ++i)
          x += this->fe->shape_value(i, p) * nodes[i];
        p = x;
      }
    return points;
  }



  template <int dim>
  bool
  MappingQuadratic<dim>::has_positive_jacobian(const CellIterator &cell) const
  {
    const bool is_simplex = cell->reference_cell().is_simplex();
    if (is_simplex && table == nullptr &&
        !internal::has_coarse_orientation(cell))
      return false;
    return internal::JacobianSign<dim>::get(is_simplex)
      .is_positive(*this->fe, compute_mapping_support_points(cell));
  }



  template <int dim>
  void
  MappingQuadratic<dim>::check_jacobians(
    const dealii::Triangulation<dim>                       &triangulation,
    const std::function<std::string(const CellIterator &)> &name) const
  {
    for (const auto &cell : triangulation.active_cell_iterators())
      if (cell->is_locally_owned())
        {
          const CellIterator c(cell);
          if (has_positive_jacobian(c))
            continue;
          const dealii::Point<dim> centre = cell->center();
          std::string              position;
          for (int d = 0; d < dim; ++d)
            position += (d == 0 ? "" : ", ") + std::to_string(centre[d]);
          AssertThrow(false,
                      ExcUserInput(
                        (name ? name(c) : "Cell " + cell->id().to_string()) +
                        " near (" + position +
                        ") turns over: the Jacobian determinant of its curved "
                        "map is not positive everywhere; refine the mesh "
                        "there, or curve inner edges as well."));
        }
  }

  template class MappingQuadratic<2>;
  template class MappingQuadratic<3>;
} // namespace Tessella

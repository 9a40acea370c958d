// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "shape_measures.h"

#include <deal.II/base/parallel.h>
#include <deal.II/base/point.h>

#include <deal.II/grid/tria_accessor.h>
#include <deal.II/grid/tria_iterator.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      /// Part of the boundary of a polytope: an edge, or a triangle.
      template <int dim>
      using Piece = std::array<Point<dim>, dim>;

      template <int dim>
      struct Polytope
      {
        std::vector<Point<dim>> vertices, centers;
        std::vector<Piece<dim>> boundary;
        double                  measure = 0.;
        unsigned int            n_cells = 0;
      };

      template <int dim>
      double
      distance_to_edge(const Point<dim> &x,
                       const Point<dim> &a,
                       const Point<dim> &b)
      {
        const Tensor<1, dim> edge = b - a;
        const double         s    = (x - a) * edge / edge.norm_square();
        return x.distance(a + std::min(1., std::max(0., s)) * edge);
      }

      double
      distance(const Point<2> &x, const Piece<2> &piece)
      {
        return distance_to_edge(x, piece[0], piece[1]);
      }

      double
      distance(const Point<3> &x, const Piece<3> &piece)
      {
        const Tensor<1, 3> u = piece[1] - piece[0], v = piece[2] - piece[0];
        const Tensor<1, 3> normal = cross_product_3d(u, v);
        const double       area   = normal.norm_square();
        const Tensor<1, 3> w      = x - piece[0];
        const double       r      = cross_product_3d(w, v) * normal / area;
        const double       s      = cross_product_3d(u, w) * normal / area;
        if (r >= 0. && s >= 0. && r + s <= 1.)
          return std::abs(w * normal) / std::sqrt(area);
        return std::min({distance_to_edge(x, piece[0], piece[1]),
                         distance_to_edge(x, piece[1], piece[2]),
                         distance_to_edge(x, piece[2], piece[0])});
      }



      template <int dim>
      void
      add_face(const typename Triangulation<dim>::active_cell_iterator &cell,
               const unsigned int                                       f,
               Polytope<dim> &polytope)
      {
        const auto face = cell->face(f);
        if constexpr (dim == 2)
          polytope.boundary.push_back({{face->vertex(0), face->vertex(1)}});
        else
          {
            polytope.boundary.push_back(
              {{face->vertex(0), face->vertex(1), face->vertex(2)}});
            if (face->n_vertices() == 4)
              polytope.boundary.push_back(
                {{face->vertex(1), face->vertex(3), face->vertex(2)}});
          }
      }



      /// Collects polytopes and counts the pairs of neighbours in different
      /// ones. A face with hanging nodes is taken from its finer side.
      template <int dim>
      std::vector<Polytope<dim>>
      collect(const Triangulation<dim>        &triangulation,
              const std::vector<unsigned int> &ids,
              std::size_t                     &n_cut)
      {
        std::vector<Polytope<dim>> polytopes(
          ids.empty() ? 0 : 1 + *std::max_element(ids.begin(), ids.end()));
        std::size_t n_twice = 0;
        for (const auto &cell : triangulation.active_cell_iterators())
          {
            const unsigned int id       = ids[cell->active_cell_index()];
            Polytope<dim>     &polytope = polytopes[id];
            ++polytope.n_cells;
            polytope.measure += cell->measure();
            polytope.centers.push_back(cell->center());
            for (const unsigned int v : cell->vertex_indices())
              polytope.vertices.push_back(cell->vertex(v));
            for (const unsigned int f : cell->face_indices())
              if (cell->at_boundary(f))
                add_face<dim>(cell, f, polytope);
              else if (cell->neighbor(f)->is_active())
                {
                  const auto         neighbor = cell->neighbor(f);
                  const unsigned int other = ids[neighbor->active_cell_index()];
                  if (other == id)
                    continue;
                  add_face<dim>(cell, f, polytope);
                  const bool coarser = cell->neighbor_is_coarser(f);
                  if (coarser)
                    add_face<dim>(cell, f, polytopes[other]);
                  n_twice += coarser ? 2 : 1;
                }
          }
        n_cut = n_twice / 2;
        return polytopes;
      }



      /// Radius of a ball inside of the polytope that is nearly the largest.
      template <int dim>
      double
      inner_radius(const Polytope<dim> &polytope)
      {
        const auto radius = [&](const Point<dim> &x) {
          double result = std::numeric_limits<double>::max();
          for (const Piece<dim> &piece : polytope.boundary)
            result = std::min(result, distance(x, piece));
          return result;
        };
        Point<dim> best_center;
        double     best = -1.;
        for (const Point<dim> &center : polytope.centers)
          if (const double r = radius(center); r > best)
            {
              best        = r;
              best_center = center;
            }
        // Steps that are shorter than the radius stay inside.
        for (double step = 0.8; step > 0.03;)
          {
            const double before = best;
            const double length = step * best;
            for (unsigned int d = 0; d < dim; ++d)
              for (const double sign : {-1., 1.})
                {
                  Point<dim> x = best_center;
                  x[d] += sign * length;
                  if (x.distance(best_center) < best)
                    if (const double r = radius(x); r > best)
                      {
                        best        = r;
                        best_center = x;
                      }
                }
            if (best < (1. + 1e-3) * before)
              step *= 0.5;
          }
        return best;
      }



      /// Radius of the smallest ball around points: its centre moves towards
      /// the most distant point, less and less (Badoiu, Clarkson 2003).
      template <int dim>
      double
      outer_radius(const std::vector<Point<dim>> &points)
      {
        Point<dim> center = points[0];
        double     radius = std::numeric_limits<double>::max();
        for (unsigned int i = 1; i <= 100; ++i)
          {
            const auto farthest = std::max_element(
              points.begin(), points.end(), [&](const auto &a, const auto &b) {
                return center.distance_square(a) < center.distance_square(b);
              });
            radius = std::min(radius, center.distance(*farthest));
            center += (*farthest - center) / (i + 1.);
          }
        return radius;
      }



      /// Removes repeated points.
      template <int dim>
      void
      make_unique(std::vector<Point<dim>> &points)
      {
        const auto less = [](const Point<dim> &a, const Point<dim> &b) {
          for (unsigned int d = 0; d < dim; ++d)
            if (a[d] != b[d])
              return a[d] < b[d];
          return false;
        };
        std::sort(points.begin(), points.end(), less);
        points.erase(std::unique(points.begin(), points.end()), points.end());
      }
    } // namespace



    template <int dim>
    ShapeMeasures
    measure_shapes(const Triangulation<dim>        &triangulation,
                   const std::vector<unsigned int> &ids)
    {
      std::size_t                n_cut     = 0;
      std::vector<Polytope<dim>> polytopes = collect(triangulation, ids, n_cut);
      const std::size_t          n         = polytopes.size();
      std::vector<double> diameters(n, 0.), circle_ratios(n), box_ratios(n);
      parallel::apply_to_subranges(
        std::size_t(0),
        n,
        [&](const std::size_t begin, const std::size_t end) {
          for (std::size_t k = begin; k < end; ++k)
            {
              Polytope<dim> &polytope = polytopes[k];
              make_unique(polytope.vertices);
              Point<dim> lower = polytope.vertices[0], upper = lower;
              for (const Point<dim> &x : polytope.vertices)
                {
                  for (const Point<dim> &y : polytope.vertices)
                    diameters[k] = std::max(diameters[k], x.distance(y));
                  for (unsigned int d = 0; d < dim; ++d)
                    {
                      lower[d] = std::min(lower[d], x[d]);
                      upper[d] = std::max(upper[d], x[d]);
                    }
                }
              double box = 1.;
              for (unsigned int d = 0; d < dim; ++d)
                box *= upper[d] - lower[d];
              box_ratios[k] = polytope.measure / box;
              circle_ratios[k] =
                inner_radius(polytope) / outer_radius(polytope.vertices);
            }
        },
        64);

      ShapeMeasures result;
      result.cut = double(n_cut) / ids.size();
      const double largest =
        *std::max_element(diameters.begin(), diameters.end());
      const double mean = double(ids.size()) / n;
      for (std::size_t k = 0; k < n; ++k)
        {
          result.uniformity += diameters[k] / largest / n;
          result.circle_ratio += circle_ratios[k] / n;
          result.box_ratio += box_ratios[k] / n;
          const double difference = polytopes[k].n_cells / mean - 1.;
          result.deviation += difference * difference / n;
        }
      result.deviation = std::sqrt(result.deviation);
      return result;
    }

    template ShapeMeasures
    measure_shapes(const Triangulation<2> &, const std::vector<unsigned int> &);
    template ShapeMeasures
    measure_shapes(const Triangulation<3> &, const std::vector<unsigned int> &);
  } // namespace Application
} // namespace Tessella

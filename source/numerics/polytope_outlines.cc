// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "polytope_outlines.h"

#include <deal.II/fe/mapping.h>
#include <deal.II/grid/reference_cell.h>
#include <deal.II/grid/tria.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    std::vector<unsigned int>
    color_polytopes(const PolytopicMesh<dim> &mesh, const unsigned int n_colors)
    {
      const unsigned int n = mesh.n_polytopes();
      // Smallest-last order with buckets of equal numbers of neighbours. A
      // polytope that meets another one through several interfaces counts it
      // several times, which is harmless.
      std::vector<unsigned int> n_neighbors(n, 0);
      unsigned int              max_neighbors = 0;
      auto for_neighbors = [&](const unsigned int k, const auto &f) {
        for (unsigned int e = mesh.polytope_interface_offset[k];
             e < mesh.polytope_interface_offset[k + 1];
             ++e)
          {
            const unsigned int m = mesh.neighbor(mesh.polytope_interface[e]);
            if (m != invalid_index && m != k)
              f(m);
          }
      };
      for (unsigned int k = 0; k < n; ++k)
        {
          for_neighbors(k, [&](const unsigned int) { ++n_neighbors[k]; });
          max_neighbors = std::max(max_neighbors, n_neighbors[k]);
        }
      std::vector<std::vector<unsigned int>> bucket(max_neighbors + 1);
      for (unsigned int k = n; k-- > 0;)
        bucket[n_neighbors[k]].push_back(k);
      std::vector<unsigned int> order;
      std::vector<bool>         taken(n, false);
      order.reserve(n);
      for (unsigned int b = 0; b < bucket.size();)
        {
          if (bucket[b].empty())
            {
              ++b;
              continue;
            }
          const unsigned int k = bucket[b].back();
          bucket[b].pop_back();
          // Skip entries whose number of neighbours has changed.
          if (taken[k] || n_neighbors[k] != b)
            continue;
          taken[k] = true;
          order.push_back(k);
          unsigned int lowest = b;
          for_neighbors(k, [&](const unsigned int m) {
            if (!taken[m])
              {
                --n_neighbors[m];
                bucket[n_neighbors[m]].push_back(m);
                lowest = std::min(lowest, n_neighbors[m]);
              }
          });
          b = lowest;
        }

      std::vector<unsigned int> color(n, invalid_index), used;
      std::vector<std::size_t>  count(n_colors, 0);
      for (unsigned int i = n; i-- > 0;)
        {
          const unsigned int k = order[i];
          used.assign(count.size(), 0);
          for_neighbors(k, [&](const unsigned int m) {
            if (color[m] != invalid_index)
              used[color[m]] = 1;
          });
          unsigned int best = invalid_index;
          for (unsigned int c = 0; c < count.size(); ++c)
            if (used[c] == 0 &&
                (best == invalid_index || count[c] < count[best]))
              best = c;
          if (best == invalid_index)
            {
              best = count.size();
              count.push_back(0);
            }
          color[k] = best;
          ++count[best];
        }
      return color;
    }



    template <int dim>
    std::array<double, 2 * dim>
    mesh_box(const PolytopicMesh<dim> &mesh)
    {
      std::array<double, 2 * dim> box;
      for (int d = 0; d < dim; ++d)
        {
          box[d]       = std::numeric_limits<double>::max();
          box[dim + d] = std::numeric_limits<double>::lowest();
        }
      for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
        for (int d = 0; d < dim; ++d)
          {
            const std::size_t i = std::size_t(k) * 2 * dim + d;
            box[d]              = std::min(box[d], mesh.box[i]);
            box[dim + d]        = std::max(box[dim + d], mesh.box[i + dim]);
          }
      return box;
    }



    template <int dim>
    double
    point_tolerance(const PolytopicMesh<dim> &mesh)
    {
      const auto box  = mesh_box(mesh);
      double     size = 0.;
      for (int d = 0; d < dim; ++d)
        size = std::max({size, std::abs(box[d]), std::abs(box[dim + d])});
      return 1e-13 * size + std::numeric_limits<double>::min();
    }



    template <int dim>
    unsigned int
    facet_corners(const PolytopicMesh<dim> &mesh,
                  const unsigned int        interface,
                  const unsigned int        facet,
                  const unsigned int        side,
                  double (&corners)[4][dim])
    {
      const unsigned int n =
        mesh.facet_vertex_offset[facet + 1] - mesh.facet_vertex_offset[facet];
      const double *const v =
        &mesh
           .facet_vertices[std::size_t(mesh.facet_vertex_offset[facet]) * dim];
      const double *const shift =
        &mesh
           .shift[std::size_t(side == 0 ? 0 : mesh.interface_shift[interface]) *
                  dim];
      // Quadrilaterals are stored in lexicographic order, and the corners are
      // returned around the circumference.
      const unsigned int around[4] = {0, 1, n == 4 ? 3U : 2U, 2};
      for (unsigned int i = 0; i < n; ++i)
        for (int d = 0; d < dim; ++d)
          corners[i][d] =
            v[around[side == 0 ? i : n - 1 - i] * dim + d] + shift[d];
      return n;
    }



    namespace
    {
      /// Vertices of a 2-D reference cell in order around its circumference.
      unsigned int
      around(const unsigned int n_vertices, const unsigned int i)
      {
        const unsigned int square[4] = {0, 1, 3, 2};
        return n_vertices == 4 ? square[i] : i;
      }

      /// Appends the inner points of the arc between two points of the unit
      /// cell; appends none if the arc is straight.
      void
      add_arc(const dealii::Mapping<2>                             &mapping,
              const dealii::Triangulation<2>::active_cell_iterator &cell,
              const dealii::Point<2>                               &a,
              const dealii::Point<2>                               &b,
              std::vector<double>                                  &line)
      {
        constexpr unsigned int n_pieces = 8;
        auto                   at       = [&](const double t) {
          return mapping.transform_unit_to_real_cell(
            cell, dealii::Point<2>(a + t * (b - a)));
        };
        const dealii::Point<2> begin = at(0.), end = at(1.);
        const double           length = begin.distance(end);
        // Test at a quarter as well as in the middle, where an S-shaped edge
        // may meet its chord.
        double bend = 0.;
        for (const double t : {.25, .5})
          {
            const dealii::Tensor<1, 2> chord = (end - begin) / length,
                                       x     = at(t) - begin;
            bend = std::max(bend, std::abs(chord[0] * x[1] - chord[1] * x[0]));
          }
        if (bend <= 1e-10 * length)
          return;
        for (unsigned int i = 1; i < n_pieces; ++i)
          {
            const dealii::Point<2> x = at(double(i) / n_pieces);
            line.insert(line.end(), {x[0], x[1]});
          }
      }
    } // namespace



    std::vector<double>
    facet_line(const AgglomerationHandler<2> &handler,
               const unsigned int             interface,
               const unsigned int             facet,
               const unsigned int             side)
    {
      const PolytopicMesh<2> &mesh = handler.polytopic_mesh();
      double                  corners[4][2];
      facet_corners(mesh, interface, facet, side, corners);
      std::vector<double> line(corners[0], corners[0] + 2);
      if (mesh.facet_type[facet] == FacetType::tabulated)
        // The facet is an edge of the cell on at least one of its sides, the
        // finer one if it hangs. Side 0 has the facet without a periodic shift.
        for (unsigned int s = 0; s < 2; ++s)
          {
            const unsigned int subcell = mesh.facet_subcell[2 * facet + s];
            if (subcell == invalid_index ||
                (s == 1 && mesh.interface_shift[interface] != 0))
              continue;
            const auto cell = handler.active_cell(mesh.subcell_cell[subcell]);
            const auto vertices  = handler.get_mapping().get_vertices(cell);
            const unsigned int n = vertices.size();
            double             x[4][2];
            facet_corners(mesh, interface, facet, 0, x);
            unsigned int found[2] = {n, n};
            const double tolerance =
              1e-8 * std::hypot(x[1][0] - x[0][0], x[1][1] - x[0][1]);
            for (unsigned int v = 0; v < n; ++v)
              for (unsigned int end = 0; end < 2; ++end)
                if (std::hypot(vertices[v][0] - x[end][0],
                               vertices[v][1] - x[end][1]) <= tolerance)
                  found[end] = v;
            if (found[0] == n || found[1] == n)
              continue;
            const auto          reference = cell->reference_cell();
            std::vector<double> inner;
            add_arc(handler.get_mapping(),
                    cell,
                    Compatibility::vertex<2>(reference, found[0]),
                    Compatibility::vertex<2>(reference, found[1]),
                    inner);
            const double *const shift =
              &mesh.shift[std::size_t(
                            side == 0 ? 0 : mesh.interface_shift[interface]) *
                          2];
            const unsigned int n_inner = inner.size() / 2;
            for (unsigned int i = 0; i < n_inner; ++i)
              {
                const unsigned int j = side == 0 ? i : n_inner - 1 - i;
                line.insert(line.end(),
                            {inner[2 * j] + shift[0],
                             inner[2 * j + 1] + shift[1]});
              }
            break;
          }
      line.insert(line.end(), corners[1], corners[1] + 2);
      return line;
    }



    std::vector<double>
    subcell_line(const AgglomerationHandler<2> &handler,
                 const unsigned int             subcell)
    {
      const PolytopicMesh<2> &mesh  = handler.polytopic_mesh();
      const unsigned int      first = mesh.subcell_vertex_offset[subcell],
                         n = mesh.subcell_vertex_offset[subcell + 1] - first;
      const bool bent = mesh.subcell_type[subcell] == SubCellType::tabulated;
      std::vector<double> line;
      for (unsigned int i = 0; i < n; ++i)
        {
          const unsigned int v = around(n, i);
          const double *x = &mesh.subcell_vertices[2 * std::size_t(first + v)];
          line.insert(line.end(), x, x + 2);
          if (bent)
            {
              const auto cell = handler.active_cell(mesh.subcell_cell[subcell]);
              const auto reference = cell->reference_cell();
              add_arc(handler.get_mapping(),
                      cell,
                      Compatibility::vertex<2>(reference, v),
                      Compatibility::vertex<2>(reference,
                                               around(n, (i + 1) % n)),
                      line);
            }
        }
      return line;
    }



    namespace
    {
      /// First and last point of an edge.
      using Edge = std::pair<unsigned int, unsigned int>;

      /// Edges of the facets of polytope @p k, with the polytope to the left.
      std::vector<Edge>
      boundary_edges(const AgglomerationHandler<2> &handler,
                     const unsigned int             k,
                     PointNumbering<2>             &numbering)
      {
        std::vector<Edge> edges;
        for_facets(handler.polytopic_mesh(),
                   k,
                   [&](const unsigned int i,
                       const unsigned int f,
                       const unsigned int side) {
                     const std::vector<double> line =
                       facet_line(handler, i, f, side);
                     unsigned int a = numbering.number(&line[0]);
                     for (std::size_t j = 2; j < line.size(); j += 2)
                       {
                         const unsigned int b = numbering.number(&line[j]);
                         if (a != b)
                           edges.emplace_back(a, b);
                         a = b;
                       }
                   });
        return edges;
      }

      /// Joins the edges of one polytope to closed lines.
      class LoopTracer
      {
      public:
        LoopTracer(const std::vector<double> &points,
                   const std::vector<Edge>   &edges)
          : points(points)
          , edges(edges)
          , by_start(edges.size())
          , used(edges.size(), false)
        {
          std::iota(by_start.begin(), by_start.end(), 0U);
          std::stable_sort(by_start.begin(),
                           by_start.end(),
                           [&](const unsigned int a, const unsigned int b) {
                             return edges[a].first < edges[b].first;
                           });
        }

        std::vector<OutlineLoop>
        loops()
        {
          std::vector<OutlineLoop> result;
          for (unsigned int first = 0; first < edges.size(); ++first)
            if (!used[first])
              {
                OutlineLoop  loop;
                unsigned int e = first;
                do
                  {
                    used[e] = true;
                    loop.points.push_back(edges[e].first);
                    e = next_edge(e, first);
                } while (e != invalid_index && e != first);
                result.push_back(std::move(loop));
              }
          return result;
        }

      private:
        /**
         * The edge after edge @p e of the loop that begins with @p first. Where
         * parts of the polytope touch in a point, several edges start there.
         * The sector of the interior to the left of edge @p e ends at the first
         * of them in clockwise direction from this edge.
         */
        unsigned int
        next_edge(const unsigned int e, const unsigned int first) const
        {
          const unsigned int at       = edges[e].second;
          unsigned int       next     = invalid_index;
          double             smallest = 10.;
          for (auto it = std::lower_bound(by_start.begin(),
                                          by_start.end(),
                                          at,
                                          [&](const unsigned int a,
                                              const unsigned int v) {
                                            return edges[a].first < v;
                                          });
               it != by_start.end() && edges[*it].first == at;
               ++it)
            if (!used[*it] || *it == first)
              {
                double angle = direction(at, edges[e].first) -
                               direction(at, edges[*it].second);
                while (angle <= 1e-12)
                  angle += 2. * 3.14159265358979323846;
                if (angle < smallest)
                  {
                    smallest = angle;
                    next     = *it;
                  }
              }
          return next;
        }

        double
        direction(const unsigned int a, const unsigned int b) const
        {
          return std::atan2(points[2 * b + 1] - points[2 * a + 1],
                            points[2 * b] - points[2 * a]);
        }

        const std::vector<double> &points;
        const std::vector<Edge>   &edges;
        /// Edges in the order of their first points.
        std::vector<unsigned int> by_start;
        std::vector<bool>         used;
      };
    } // namespace



    PolygonOutlines::PolygonOutlines(const AgglomerationHandler<2> &handler)
    {
      const PolytopicMesh<2> &mesh = handler.polytopic_mesh();
      PointNumbering<2>       numbering(point_tolerance(mesh));
      for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
        {
          const std::vector<Edge> edges = boundary_edges(handler, k, numbering);
          all_loops.push_back(LoopTracer(numbering.points, edges).loops());
        }
      points = std::move(numbering.points);
      for (auto &loops : all_loops)
        for (OutlineLoop &loop : loops)
          loop.area = area(loop.points);
    }



    double
    PolygonOutlines::area(const std::vector<unsigned int> &loop) const
    {
      double       sum = 0.;
      const double x0 = points[2 * loop[0]], y0 = points[2 * loop[0] + 1];
      for (unsigned int i = 1; i + 1 < loop.size(); ++i)
        sum += (points[2 * loop[i]] - x0) * (points[2 * loop[i + 1] + 1] - y0) -
               (points[2 * loop[i + 1]] - x0) * (points[2 * loop[i] + 1] - y0);
      return .5 * sum;
    }



    namespace
    {
      /// Relations between points, segments and closed lines of points.
      class PlaneGeometry
      {
      public:
        /// @p points: two coordinates per point.
        explicit PlaneGeometry(const std::vector<double> &points)
          : points(points)
        {}

        double
        x(const unsigned int v) const
        {
          return points[2 * v];
        }

        double
        y(const unsigned int v) const
        {
          return points[2 * v + 1];
        }

        double
        squared_distance(const unsigned int a, const unsigned int b) const
        {
          return (x(a) - x(b)) * (x(a) - x(b)) + (y(a) - y(b)) * (y(a) - y(b));
        }

        /// Whether the point (@p px, @p py) is inside the polygon.
        bool
        contains(const std::vector<unsigned int> &polygon,
                 const double                     px,
                 const double                     py) const
        {
          bool inside = false;
          for (std::size_t i = 0, j = polygon.size() - 1; i < polygon.size();
               j = i++)
            {
              const double xi = x(polygon[i]), yi = y(polygon[i]),
                           xj = x(polygon[j]), yj = y(polygon[j]);
              if ((yi > py) != (yj > py) &&
                  px < (xj - xi) * (py - yi) / (yj - yi) + xi)
                inside = !inside;
            }
          return inside;
        }

        /// Whether segment a-b meets an edge of the loop elsewhere than in a
        /// or b.
        bool
        meets(const unsigned int               a,
              const unsigned int               b,
              const std::vector<unsigned int> &loop) const
        {
          for (std::size_t i = 0; i < loop.size(); ++i)
            {
              const unsigned int c = loop[i], d = loop[(i + 1) % loop.size()];
              if (c == a || c == b || d == a || d == b)
                continue;
              const int o1 = orientation(a, b, c), o2 = orientation(a, b, d),
                        o3 = orientation(c, d, a), o4 = orientation(c, d, b);
              if (o1 * o2 <= 0 && o3 * o4 <= 0 &&
                  !(o1 == 0 && o2 == 0 && o3 == 0 && o4 == 0))
                return true;
              if (o1 == 0 && o2 == 0 && overlap(a, b, c, d))
                return true;
            }
          return false;
        }

      private:
        /// 1 if c is to the left of the line from a to b, -1 if to the right.
        int
        orientation(const unsigned int a,
                    const unsigned int b,
                    const unsigned int c) const
        {
          const double o =
            (x(b) - x(a)) * (y(c) - y(a)) - (x(c) - x(a)) * (y(b) - y(a));
          return (o > 0.) - (o < 0.);
        }

        /// Whether the collinear segments a-b and c-d overlap along the larger
        /// extent of the first one.
        bool
        overlap(const unsigned int a,
                const unsigned int b,
                const unsigned int c,
                const unsigned int d) const
        {
          const bool along_x = std::abs(x(b) - x(a)) > std::abs(y(b) - y(a));
          const auto t       = [&](const unsigned int v) {
            return along_x ? x(v) : y(v);
          };
          return std::max(std::min(t(a), t(b)), std::min(t(c), t(d))) <=
                 std::min(std::max(t(a), t(b)), std::max(t(c), t(d)));
        }

        const std::vector<double> &points;
      };

      using Polygon = std::vector<unsigned int>;

      /// Joins the nearest of the holes in @p pending to @p polygon by a cut,
      /// and removes it from @p pending.
      void
      join_nearest_hole(const PlaneGeometry          &plane,
                        std::vector<const Polygon *> &pending,
                        Polygon                      &polygon)
      {
        // The shortest cut between any hole and the current polygon. In
        // general, neither the polygon nor another hole can lie between the
        // ends of the shortest of all cuts. This is tested nevertheless, since
        // several vertices may lie on one line.
        double      shortest  = std::numeric_limits<double>::max();
        std::size_t best_hole = 0, best_i = 0, best_j = 0;
        for (std::size_t h = 0; h < pending.size(); ++h)
          for (std::size_t i = 0; i < polygon.size(); ++i)
            for (std::size_t j = 0; j < pending[h]->size(); ++j)
              {
                const unsigned int a = polygon[i], b = (*pending[h])[j];
                const double       l = plane.squared_distance(a, b);
                if (l >= shortest || plane.meets(a, b, polygon) ||
                    std::any_of(pending.begin(),
                                pending.end(),
                                [&](const Polygon *const other) {
                                  return plane.meets(a, b, *other);
                                }))
                  continue;
                shortest  = l;
                best_hole = h;
                best_i    = i;
                best_j    = j;
              }
        // polygon[..i], then the hole from j around to j, then polygon[i..]
        const Polygon &hole = *pending[best_hole];
        Polygon        joined(polygon.begin(), polygon.begin() + best_i + 1);
        for (std::size_t j = 0; j <= hole.size(); ++j)
          joined.push_back(hole[(best_j + j) % hole.size()]);
        joined.insert(joined.end(), polygon.begin() + best_i, polygon.end());
        polygon = std::move(joined);
        pending.erase(pending.begin() + best_hole);
      }
    } // namespace



    std::vector<std::vector<unsigned int>>
    PolygonOutlines::polygons(const unsigned int polytope) const
    {
      const std::vector<OutlineLoop> &loops = all_loops[polytope];
      std::vector<Polygon>            result;
      std::vector<double>             outer_area;
      for (const OutlineLoop &loop : loops)
        if (loop.area > 0.)
          {
            result.push_back(loop.points);
            outer_area.push_back(loop.area);
          }
      if (result.size() == loops.size())
        return result;

      // Each hole belongs to the smallest outer loop around it. The midpoint of
      // an edge is never on another loop.
      const PlaneGeometry                       plane(points);
      std::vector<std::vector<const Polygon *>> holes(result.size());
      for (const OutlineLoop &hole : loops)
        if (!(hole.area > 0.))
          {
            const unsigned int a = hole.points[0], b = hole.points[1];
            const double       mx = .5 * (plane.x(a) + plane.x(b)),
                         my       = .5 * (plane.y(a) + plane.y(b));
            std::size_t best      = result.size();
            for (std::size_t o = 0; o < result.size(); ++o)
              if (outer_area[o] > -hole.area &&
                  (best == result.size() || outer_area[o] < outer_area[best]) &&
                  plane.contains(result[o], mx, my))
                best = o;
            if (best < result.size())
              holes[best].push_back(&hole.points);
          }
      for (std::size_t o = 0; o < result.size(); ++o)
        while (!holes[o].empty())
          join_nearest_hole(plane, holes[o], result[o]);
      return result;
    }



#define TESSELLA_INSTANTIATE(dim)                                            \
  template std::vector<unsigned int> color_polytopes(                        \
    const PolytopicMesh<dim> &, const unsigned int);                         \
  template std::array<double, 2 * dim> mesh_box(const PolytopicMesh<dim> &); \
  template double       point_tolerance(const PolytopicMesh<dim> &);         \
  template unsigned int facet_corners(const PolytopicMesh<dim> &,            \
                                      const unsigned int,                    \
                                      const unsigned int,                    \
                                      const unsigned int,                    \
                                      double(&)[4][dim]);

    TESSELLA_INSTANTIATE(2)
    TESSELLA_INSTANTIATE(3)
#undef TESSELLA_INSTANTIATE
  } // namespace internal
} // namespace Tessella

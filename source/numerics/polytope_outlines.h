// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_numerics_polytope_outlines_h
#define tessella_source_numerics_polytope_outlines_h

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/polytopic_mesh.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /**
     * Greedy colouring of the polytopes: neighbours have different colours.
     * Polytopes are coloured in smallest-last order: the polytope with the
     * fewest remaining neighbours is removed repeatedly, and the colours are
     * assigned in reverse order. This needs at most six colours if all
     * polytopes of a 2-D mesh are connected. Among at least @p n_colors
     * colours, the function chooses the one that is used least so far and that
     * no neighbour has. Linear cost.
     */
    template <int dim>
    std::vector<unsigned int>
    color_polytopes(const PolytopicMesh<dim> &mesh,
                    const unsigned int        n_colors = 6);

    /**
     * Numbers points such that points that are equal up to rounding have the
     * same index. Facets store their own copies of vertices, and the
     * coordinates of those across a periodic boundary include a shift.
     */
    template <int dim>
    class PointNumbering
    {
    public:
      /// @p tolerance: distance in each coordinate up to which points are
      /// equal.
      explicit PointNumbering(const double tolerance)
        : tolerance(tolerance)
        , spacing(8. * tolerance)
      {}

      unsigned int
      number(const double *x)
      {
        std::array<std::int64_t, dim> low, high, key;
        for (int d = 0; d < dim; ++d)
          {
            low[d]  = std::llround(std::floor((x[d] - tolerance) / spacing));
            high[d] = std::llround(std::floor((x[d] + tolerance) / spacing));
          }
        for (int corner = 0; corner < (1 << dim); ++corner)
          {
            bool repeated = false;
            for (int d = 0; d < dim; ++d)
              {
                key[d] = (corner >> d) & 1 ? high[d] : low[d];
                repeated =
                  repeated || (((corner >> d) & 1) && high[d] == low[d]);
              }
            if (repeated)
              continue;
            const auto it = index.find(key);
            if (it == index.end())
              continue;
            bool equal = true;
            for (int d = 0; d < dim; ++d)
              equal = equal && std::abs(points[it->second * dim + d] - x[d]) <=
                                 tolerance;
            if (equal)
              return it->second;
          }
        const unsigned int n = points.size() / dim;
        points.insert(points.end(), x, x + dim);
        for (int d = 0; d < dim; ++d)
          key[d] = std::llround(std::floor(x[d] / spacing));
        index.emplace(key, n);
        return n;
      }

      /// Coordinates, dim entries per point.
      std::vector<double> points;

    private:
      struct Hash
      {
        std::size_t
        operator()(const std::array<std::int64_t, dim> &key) const
        {
          std::uint64_t h = 0x9e3779b97f4a7c15ull;
          for (const std::int64_t k : key)
            {
              h ^= static_cast<std::uint64_t>(k);
              h *= 0xff51afd7ed558ccdull;
              h ^= h >> 32;
            }
          return static_cast<std::size_t>(h);
        }
      };

      const double tolerance, spacing;
      // The map is only used for look-ups and never traversed, so that its
      // order does not matter.
      std::unordered_map<std::array<std::int64_t, dim>, unsigned int, Hash>
        index;
    };

    /// Lower and upper corner of the bounding box of all polytopes.
    template <int dim>
    std::array<double, 2 * dim>
    mesh_box(const PolytopicMesh<dim> &mesh);

    /// Distance up to which points of @p mesh count as equal.
    template <int dim>
    double
    point_tolerance(const PolytopicMesh<dim> &mesh);

    /// Calls action(interface, facet, side) for all facets of polytope @p k,
    /// which is on side @p side of them.
    template <int dim, typename Action>
    void
    for_facets(const PolytopicMesh<dim> &mesh,
               const unsigned int        k,
               const Action             &action)
    {
      for (unsigned int e = mesh.polytope_interface_offset[k];
           e < mesh.polytope_interface_offset[k + 1];
           ++e)
        {
          const unsigned int i    = mesh.polytope_interface[e] / 2,
                             side = mesh.polytope_interface[e] % 2;
          for (unsigned int f = mesh.facet_offset[i];
               f < mesh.facet_offset[i + 1];
               ++f)
            action(i, f, side);
        }
    }

    /// Corners of a facet as seen from side @p side, in an order along the
    /// circumference whose normal points out of the polytope on that side.
    /// Returns the number of corners: two, three or four.
    template <int dim>
    unsigned int
    facet_corners(const PolytopicMesh<dim> &mesh,
                  const unsigned int        interface,
                  const unsigned int        facet,
                  const unsigned int        side,
                  double (&corners)[4][dim]);

    /**
     * Line of points, two coordinates per point, that represents a 2-D facet as
     * seen from side @p side, with the polytope on that side to its left. It
     * has two points, or several along the arc if a mapping makes the facet
     * curved.
     */
    std::vector<double>
    facet_line(const AgglomerationHandler<2> &handler,
               const unsigned int             interface,
               const unsigned int             facet,
               const unsigned int             side);

    /// Circumference of a 2-D sub-cell, without repetition of the first point.
    std::vector<double>
    subcell_line(const AgglomerationHandler<2> &handler,
                 const unsigned int             subcell);

    /// Closed line of points, with the interior of the polytope to its left.
    struct OutlineLoop
    {
      std::vector<unsigned int> points;
      /// Signed area: positive for an outer boundary, negative for a hole.
      double area = 0.;
    };

    /// Boundary loops of the polytopes of a 2-D mesh.
    class PolygonOutlines
    {
    public:
      explicit PolygonOutlines(const AgglomerationHandler<2> &handler);

      /// Loops of @p polytope: outer loops and holes, in no particular order.
      const std::vector<OutlineLoop> &
      loops(const unsigned int polytope) const
      {
        return all_loops[polytope];
      }

      /// Polygons without holes that cover @p polytope: its outer loops, each
      /// joined to its holes by cuts.
      std::vector<std::vector<unsigned int>>
      polygons(const unsigned int polytope) const;

      /// Two coordinates per point.
      std::vector<double> points;

    private:
      double
      area(const std::vector<unsigned int> &loop) const;

      std::vector<std::vector<OutlineLoop>> all_loops;
    };
  } // namespace internal
} // namespace Tessella

#endif

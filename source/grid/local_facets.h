// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_local_facets_h
#define tessella_source_grid_local_facets_h

#include <tessella/grid/polytopic_mesh.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

// Facets of a polytope as obstacles to a growing simplex or pyramid: see
// penalty.cc.

namespace Tessella
{
  namespace internal
  {
    /// The gauges below are of order one; values smaller than this count as
    /// zero.
    constexpr double gauge_tolerance = 1e-9;



    template <int dim>
    inline double
    dot(const double *a, const double *b)
    {
      double sum = a[0] * b[0];
      for (int d = 1; d < dim; ++d)
        sum += a[d] * b[d];
      return sum;
    }



    /// Facet as seen from its polytope: corners in cyclic order, with the
    /// periodic shift of this side applied.
    template <int dim>
    struct LocalFacet
    {
      static constexpr int max_corners = (dim == 2 ? 2 : 4);

      double corner[max_corners][dim];
      // The same, coordinate by coordinate; a triangle has its first corner
      // once more.
      double       coordinate[dim][max_corners];
      double       centre[dim];
      double       inner_normal[dim];
      int          n_corners;
      bool         warped;
      unsigned int side;    // 2 * facet + side
      unsigned int subcell; // adjacent sub-cell of this polytope
      // Quadrature points of curved facets, and the shift to be added to them.
      const double *points;
      unsigned int  n_points;
      const double *shift;
    };



    /// Values at all corners of a facet. The compiler divides vectors that are
    /// longer than the registers.
    template <int dim>
    struct Corners
    {
      static constexpr int n = LocalFacet<dim>::max_corners;
      typedef double       Type __attribute__((vector_size(8 * n)));
      typedef long long    Integer __attribute__((vector_size(8 * n)));
      typedef double       Unaligned
        __attribute__((vector_size(8 * n), aligned(8), may_alias));
    };

    template <int dim>
    inline typename Corners<dim>::Unaligned &
    corners(double *const x)
    {
      return *reinterpret_cast<typename Corners<dim>::Unaligned *>(x);
    }

    template <int dim>
    inline const typename Corners<dim>::Unaligned &
    corners(const double *const x)
    {
      return *reinterpret_cast<const typename Corners<dim>::Unaligned *>(x);
    }



    /// Evaluates a . x + a_0 at all corners of @p facet, each as dot() does.
    /// @p value has max_corners entries.
    template <int dim>
    inline void
    evaluate_at_corners(const double          *a,
                        const double           a_0,
                        const LocalFacet<dim> &facet,
                        double *const          value)
    {
      typename Corners<dim>::Type sum =
        a[0] * corners<dim>(facet.coordinate[0]);
      for (int d = 1; d < dim; ++d)
        sum += a[d] * corners<dim>(facet.coordinate[d]);
      corners<dim>(value) = sum + a_0;
    }



    /// Affine functions that describe the sets K(h). K(h) is the convex hull of
    /// a base facet and its centre moved inward along a direction by height h.
    /// The functions are the height above the base, and one wall function per
    /// edge of the base, which is 1 on the axis and 0 on the wall that contains
    /// that edge and the direction. A point is inside of K(h) if all wall
    /// functions are larger than height / h > 0.
    template <int dim>
    struct Gauge
    {
      static constexpr int max_walls = LocalFacet<dim>::max_corners;

      double height[dim], height_0;
      double wall[max_walls][dim], wall_0[max_walls];
      int    n_walls;
      double tolerance; // heights up to this value count as zero

      double
      evaluate_height(const double *x) const
      {
        return dot<dim>(height, x) + height_0;
      }

      double
      evaluate_wall(const int i, const double *x) const
      {
        return dot<dim>(wall[i], x) + wall_0[i];
      }

      // Returns false if the base is degenerate. Lane i is wall i.
      bool
      set_direction(const LocalFacet<dim> &base, const double *direction)
      {
        using Walls = typename Corners<dim>::Type;
        n_walls     = base.n_corners;
        Walls p[dim], w[dim];
        for (int d = 0; d < dim; ++d)
          p[d] = corners<dim>(base.coordinate[d]);
        if constexpr (dim == 2)
          {
            w[0] = Walls{} - direction[1];
            w[1] = Walls{} + direction[0];
          }
        else
          {
            // Edges to the next corners. The corner after the last one is the
            // first, which a triangle has twice.
            Walls edge[dim];
            for (int d = 0; d < dim; ++d)
              {
                const double *x = base.coordinate[d];
                edge[d]         = Walls{x[1], x[2], x[3], x[0]} - p[d];
              }
            for (int d = 0; d < dim; ++d)
              {
                const int e = (d + 1) % dim, f = (d + 2) % dim;
                w[d] = edge[e] * direction[f] - edge[f] * direction[e];
              }
          }
        Walls scale = w[0] * (base.centre[0] - p[0]);
        for (int d = 1; d < dim; ++d)
          scale += w[d] * (base.centre[d] - p[d]);
        for (int i = 0; i < max_walls; ++i)
          if (i >= n_walls)
            scale[i] = 1.; // A triangle has no fourth wall.
          else if (!(std::abs(scale[i]) > std::numeric_limits<double>::min()))
            return false;
        for (int d = 0; d < dim; ++d)
          w[d] /= scale;
        Walls constant = w[0] * p[0];
        for (int d = 1; d < dim; ++d)
          constant += w[d] * p[d];
        corners<dim>(wall_0) = -constant;
        for (int i = 0; i < max_walls; ++i)
          for (int d = 0; d < dim; ++d)
            wall[i][d] = w[d][i];
        return true;
      }
    };



    /// Evaluates the height of each corner of @p facet above the base.
    template <int dim>
    inline void
    evaluate_heights(const Gauge<dim>      &gauge,
                     const LocalFacet<dim> &facet,
                     double *const          height)
    {
      evaluate_at_corners<dim>(gauge.height, gauge.height_0, facet, height);
    }

    /// The largest of the values at all corners, see evaluate_at_corners().
    template <int dim>
    inline double
    largest_of_corners(const double *const value)
    {
      double largest = value[0];
      for (int j = 1; j < LocalFacet<dim>::max_corners; ++j)
        largest = std::max(largest, value[j]);
      return largest;
    }

    /// Whether one of the first @p n corners is above the base.
    template <int dim>
    inline bool
    is_above(const Gauge<dim> &gauge, const double *const height, const int n)
    {
      bool above = false;
      for (int j = 0; j < n; ++j)
        above |= height[j] > gauge.tolerance;
      return above;
    }



    /// One facet as an obstacle. s is the inverse of the height up to which
    /// K(h) is known to be free. tighten() returns the inverse of the height
    /// for which this facet does not meet the interior either, which is the
    /// maximum of s and of min_i wall_i / height over the points of the facet
    /// above the base, or any value from limit on if that maximum is at least
    /// limit. This minimum of linear-fractional functions attains its
    /// maximum at a corner, at a point of an edge where two wall functions are
    /// equal, or at the point on the axis where all are equal.
    /// n: number of corners of the facet; w: number of walls.
    template <int dim, int n, int w>
    class Obstacle
    {
    public:
      Obstacle(const Gauge<dim>      &gauge,
               const LocalFacet<dim> &facet,
               const double *const    height,
               const double           s)
        : gauge(gauge)
        , facet(facet)
        , height(height)
        , s(s)
      {}

      double
      tighten(const double limit)
      {
        const bool above = is_above(gauge, height, n);
        if (!above && facet.n_points == 0)
          return s;
        const bool free = evaluate_walls();
        consider_points();
        if (!above || free)
          return s;
        find_sides();
        consider_corners();
        if constexpr (dim == 2)
          {
            consider_edge(0, 1);
            return s;
          }
        // Edges cost the most and come last.
        if (s >= limit)
          return s;
        consider_triangle(0, 1, 2);
        if constexpr (n == 4)
          {
            consider_triangle(0, 2, 3);
            if (facet.warped)
              {
                consider_triangle(0, 1, 3);
                consider_triangle(1, 2, 3);
              }
          }
        if (s >= limit)
          return s;
        for (int j = 0; j < n; ++j)
          consider_edge(j, (j + 1) % n);
        if constexpr (n == 4)
          if (facet.warped)
            {
              consider_edge(0, 2);
              consider_edge(1, 3);
            }
        return s;
      }

    private:
      // Sets bit i of each corner for which wall_i - s height is at most bound.
      typename Corners<dim>::Integer
      find_bits(const double bound) const
      {
        const typename Corners<dim>::Type z = s * corners<dim>(height);
        typename Corners<dim>::Integer    bits =
          (corners<dim>(wall[0]) - z <= bound) & 1;
        for (int i = 1; i < w; ++i)
          bits |= (corners<dim>(wall[i]) - z <= bound) & (1ll << i);
        return bits;
      }

      // Evaluates the wall functions at the corners; true if all corners lie
      // beyond one wall.
      bool
      evaluate_walls()
      {
        for (int i = 0; i < w; ++i)
          evaluate_at_corners<dim>(gauge.wall[i],
                                   gauge.wall_0[i],
                                   facet,
                                   wall[i]);
        const auto bits   = find_bits(gauge_tolerance);
        long long  common = bits[0];
        for (int j = 1; j < max_corners; ++j)
          common &= bits[j];
        return common != 0;
      }

      // Finds the walls beyond which each corner clearly lies. Corners beyond
      // one wall, and edges with both ends beyond the same, cannot increase s.
      void
      find_sides()
      {
        const auto bits = find_bits(-gauge_tolerance);
        for (int j = 0; j < max_corners; ++j)
          side[j] = static_cast<int>(bits[j]);
      }

      // Point of height z where b is the smallest wall function.
      void
      consider(const double z, const double b)
      {
        // The factor keeps all points for which the quotient exceeds s after
        // rounding; the others need no division.
        constexpr double below_one =
          1. - 4. * std::numeric_limits<double>::epsilon();
        if (b > gauge_tolerance && z > gauge.tolerance &&
            b >= s * z * below_one)
          s = std::max(s, b / z);
      }

      // Quadrature points of a curved facet.
      void
      consider_points()
      {
        for (unsigned int q = 0; q < facet.n_points; ++q)
          {
            double x[dim];
            for (int d = 0; d < dim; ++d)
              x[d] = facet.points[q * dim + d] + facet.shift[d];
            double b = gauge.evaluate_wall(0, x);
            for (int i = 1; i < w; ++i)
              b = std::min(b, gauge.evaluate_wall(i, x));
            consider(gauge.evaluate_height(x), b);
          }
      }

      void
      consider_corners()
      {
        for (int j = 0; j < n; ++j)
          if (side[j] == 0)
            {
              double b = wall[0][j];
              for (int i = 1; i < w; ++i)
                b = std::min(b, wall[i][j]);
              consider(height[j], b);
            }
      }

      // Points of the edge between two corners where wall functions are equal.
      void
      consider_edge(const int j, const int k)
      {
        if ((side[j] & side[k]) != 0 ||
            (height[j] <= gauge.tolerance && height[k] <= gauge.tolerance))
          return;
        const auto at = [&](const double t, double &z, double &b) {
          z = height[j] + t * (height[k] - height[j]);
          b = wall[0][j] + t * (wall[0][k] - wall[0][j]);
          for (int i = 1; i < w; ++i)
            b = std::min(b, wall[i][j] + t * (wall[i][k] - wall[i][j]));
        };
        double z, b;
        for (int i = 0; i < w; ++i)
          {
            const int    l   = (i + 1) % w;
            const double d_j = wall[i][j] - wall[l][j];
            const double d_k = wall[i][k] - wall[l][k];
            if (d_j * d_k < 0)
              {
                at(d_j / (d_j - d_k), z, b);
                consider(z, b);
              }
            if (w == 2)
              break;
          }
        // An edge passes through the base itself: the geometry is invalid or
        // strongly warped, and no height is free.
        if (height[j] * height[k] < 0)
          {
            at(height[j] / (height[j] - height[k]), z, b);
            if (b > 0.05)
              s = std::numeric_limits<double>::infinity();
          }
      }

      // Point of the triangle between three corners that lies on the axis.
      void
      consider_triangle(const int j, const int k, const int l)
      {
        const double x[3] = {wall[0][j] - 1., wall[0][k] - 1., wall[0][l] - 1.};
        const double y[3] = {wall[1][j] - 1., wall[1][k] - 1., wall[1][l] - 1.};
        const double a    = x[1] * y[2] - x[2] * y[1];
        const double b    = x[2] * y[0] - x[0] * y[2];
        const double c    = x[0] * y[1] - x[1] * y[0];
        if ((a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0))
          if (const double sum = a + b + c; sum != 0)
            consider((a * height[j] + b * height[k] + c * height[l]) / sum, 1.);
      }

      const Gauge<dim>      &gauge;
      const LocalFacet<dim> &facet;
      const double *const    height; // of the corners
      double                 s;
      // Values at all corners, see evaluate_at_corners().
      static constexpr int max_corners = LocalFacet<dim>::max_corners;
      double               wall[w][max_corners];
      // Bit i: beyond wall i, see find_sides().
      int side[max_corners];
    };



    /// The inverse of the height as Obstacle returns it, for a facet whose
    /// corners have the heights @p height.
    template <int dim>
    inline double
    tighten(const Gauge<dim>      &gauge,
            const LocalFacet<dim> &facet,
            const double *const    height,
            const double           s,
            const double           limit)
    {
      // The compiler unrolls loops whose bounds are constants.
      if constexpr (dim == 2)
        return Obstacle<2, 2, 2>(gauge, facet, height, s).tighten(limit);
      else if (facet.n_corners == 4)
        return gauge.n_walls == 4
                 ? Obstacle<3, 4, 4>(gauge, facet, height, s).tighten(limit)
                 : Obstacle<3, 4, 3>(gauge, facet, height, s).tighten(limit);
      else
        return gauge.n_walls == 4
                 ? Obstacle<3, 3, 4>(gauge, facet, height, s).tighten(limit)
                 : Obstacle<3, 3, 3>(gauge, facet, height, s).tighten(limit);
    }

    /// The same without heights.
    template <int dim>
    inline double
    tighten(const Gauge<dim>      &gauge,
            const LocalFacet<dim> &facet,
            const double           s,
            const double           limit)
    {
      double height[LocalFacet<dim>::max_corners];
      evaluate_heights(gauge, facet, height);
      return tighten(gauge, facet, height, s, limit);
    }



    /// Binary tree of bounding boxes over the facets of a large polytope.
    template <int dim>
    class FacetTree
    {
    public:
      void
      build(const std::vector<LocalFacet<dim>> &facets)
      {
        const unsigned int n = facets.size();
        order.resize(n);
        std::iota(order.begin(), order.end(), 0u);
        nodes.clear();
        nodes.reserve(2 * (n / leaf_size + 1));
        nodes.emplace_back();
        split(facets, 0, 0, n);
      }

      // Ends early when the result exceeds limit.
      double
      tighten(const Gauge<dim>                   &gauge,
              const std::vector<LocalFacet<dim>> &facets,
              const unsigned int                  base,
              double                              s,
              const double                        limit) const
      {
        unsigned int stack[128];
        unsigned int n_stack = 0;
        stack[n_stack++]     = 0;
        while (n_stack > 0)
          {
            const Node &node = nodes[stack[--n_stack]];
            if (misses(gauge, node, s))
              continue;
            if (node.child == 0)
              {
                for (unsigned int i = node.begin; i < node.end; ++i)
                  if (order[i] != base)
                    s = internal::tighten(gauge, facets[order[i]], s, limit);
                if (s > limit)
                  return s;
              }
            else
              {
                // Visit the nearer child first: it is the last on the stack.
                const bool first_is_nearer =
                  distance(facets[base], nodes[node.child]) <=
                  distance(facets[base], nodes[node.child + 1]);
                stack[n_stack++] = node.child + (first_is_nearer ? 1 : 0);
                stack[n_stack++] = node.child + (first_is_nearer ? 0 : 1);
              }
          }
        return s;
      }

    private:
      static constexpr unsigned int leaf_size = 4;

      struct Node
      {
        double       centre[dim], half_width[dim];
        unsigned int begin, end;
        unsigned int child = 0; // the second child is child + 1; 0: a leaf
      };

      static double
      distance(const LocalFacet<dim> &base, const Node &node)
      {
        double sum = 0;
        for (int d = 0; d < dim; ++d)
          {
            const double gap =
              std::max(std::abs(node.centre[d] - base.centre[d]) -
                         node.half_width[d],
                       0.);
            sum += gap * gap;
          }
        return sum;
      }

      static bool
      misses(const Gauge<dim> &gauge, const Node &node, const double s)
      {
        double reach = 0;
        for (int d = 0; d < dim; ++d)
          reach += std::abs(gauge.height[d]) * node.half_width[d];
        if (gauge.evaluate_height(node.centre) + reach <= gauge.tolerance)
          return true;
        for (int i = 0; i < gauge.n_walls; ++i)
          {
            double value = gauge.wall_0[i] - s * gauge.height_0;
            for (int d = 0; d < dim; ++d)
              {
                const double slope = gauge.wall[i][d] - s * gauge.height[d];
                value +=
                  slope * node.centre[d] + std::abs(slope) * node.half_width[d];
              }
            if (value <= gauge_tolerance)
              return true;
          }
        return false;
      }

      void
      split(const std::vector<LocalFacet<dim>> &facets,
            const unsigned int                  index,
            const unsigned int                  begin,
            const unsigned int                  end)
      {
        double lower[dim], upper[dim], centre_lower[dim], centre_upper[dim];
        for (int d = 0; d < dim; ++d)
          {
            lower[d] = centre_lower[d] = std::numeric_limits<double>::max();
            upper[d] = centre_upper[d] = -std::numeric_limits<double>::max();
          }
        for (unsigned int i = begin; i < end; ++i)
          {
            const LocalFacet<dim> &facet = facets[order[i]];
            for (int d = 0; d < dim; ++d)
              {
                for (int j = 0; j < facet.n_corners; ++j)
                  {
                    lower[d] = std::min(lower[d], facet.corner[j][d]);
                    upper[d] = std::max(upper[d], facet.corner[j][d]);
                  }
                for (unsigned int q = 0; q < facet.n_points; ++q)
                  {
                    const double x = facet.points[q * dim + d] + facet.shift[d];
                    lower[d]       = std::min(lower[d], x);
                    upper[d]       = std::max(upper[d], x);
                  }
                centre_lower[d] = std::min(centre_lower[d], facet.centre[d]);
                centre_upper[d] = std::max(centre_upper[d], facet.centre[d]);
              }
          }
        int axis = 0;
        for (int d = 0; d < dim; ++d)
          {
            nodes[index].centre[d]     = 0.5 * (lower[d] + upper[d]);
            nodes[index].half_width[d] = 0.5 * (upper[d] - lower[d]);
            if (centre_upper[d] - centre_lower[d] >
                centre_upper[axis] - centre_lower[axis])
              axis = d;
          }
        nodes[index].begin = begin;
        nodes[index].end   = end;
        if (end - begin <= leaf_size)
          return;
        const unsigned int middle = begin + (end - begin) / 2;
        std::nth_element(order.begin() + begin,
                         order.begin() + middle,
                         order.begin() + end,
                         [&](const unsigned int a, const unsigned int b) {
                           const double x = facets[a].centre[axis];
                           const double y = facets[b].centre[axis];
                           return x < y || (x == y && a < b);
                         });
        const unsigned int child = nodes.size();
        nodes[index].child       = child;
        nodes.emplace_back();
        nodes.emplace_back();
        split(facets, child, begin, middle);
        split(facets, child + 1, middle, end);
      }

      std::vector<unsigned int> order;
      std::vector<Node>         nodes;
    };



    /// Points that outline curved facets, in the position that side 0 sees:
    /// those of facet f are offset[f] .. offset[f + 1]. Without curved facets,
    /// offset may be empty.
    struct Outline
    {
      std::vector<std::size_t> offset;
      std::vector<double>      points;
    };



    /// Facets of one polytope and their search tree.
    template <int dim>
    struct LocalPolytope
    {
      std::vector<LocalFacet<dim>> facets;
      FacetTree<dim>               tree;
      bool                         use_tree;
      bool                         curved;
      bool                         coverable;
    };



    /// Lists the facets of a polytope. The other members of @p local are set
    /// by the caller.
    template <int dim>
    void
    collect_facets(const PolytopicMesh<dim> &mesh,
                   const Outline            &outline,
                   const unsigned int        polytope,
                   LocalPolytope<dim>       &local)
    {
      local.facets.clear();
      local.curved = false;
      for (unsigned int e = mesh.polytope_interface_offset[polytope];
           e < mesh.polytope_interface_offset[polytope + 1];
           ++e)
        {
          const unsigned int interface = mesh.polytope_interface[e] / 2;
          const unsigned int side      = mesh.polytope_interface[e] % 2;
          // Entry 0 of the shifts is zero.
          const double *shift =
            mesh.shift.data() +
            (side == 1 ? dim * mesh.interface_shift[interface] : 0);
          for (unsigned int f = mesh.facet_offset[interface];
               f < mesh.facet_offset[interface + 1];
               ++f)
            {
              local.facets.emplace_back();
              LocalFacet<dim>   &facet = local.facets.back();
              const unsigned int first = mesh.facet_vertex_offset[f];
              facet.n_corners =
                std::min<int>(mesh.facet_vertex_offset[f + 1] - first,
                              LocalFacet<dim>::max_corners);
              const double *vertices = &mesh.facet_vertices[first * dim];
              for (int j = 0; j < facet.n_corners; ++j)
                {
                  // Convert from lexicographic to cyclic order.
                  const int to = (facet.n_corners == 4 && j >= 2 ? 5 - j : j);
                  for (int d = 0; d < dim; ++d)
                    facet.corner[to][d] = vertices[j * dim + d] + shift[d];
                }
              for (int d = 0; d < dim; ++d)
                {
                  for (int j = 0; j < LocalFacet<dim>::max_corners; ++j)
                    facet.coordinate[d][j] =
                      facet.corner[j < facet.n_corners ? j : 0][d];
                  facet.centre[d] = 0;
                  for (int j = 0; j < facet.n_corners; ++j)
                    facet.centre[d] += facet.corner[j][d];
                  facet.centre[d] /= facet.n_corners;
                  facet.inner_normal[d] =
                    (side == 0 ? -1. : 1.) * mesh.facet_normal[f * dim + d];
                }
              facet.warped = false;
              if (facet.n_corners == 4)
                {
                  double warp = 0;
                  for (int d = 0; d < dim; ++d)
                    warp += facet.inner_normal[d] *
                            (facet.corner[0][d] - facet.corner[1][d] +
                             facet.corner[2][d] - facet.corner[3][d]);
                  facet.warped = warp * warp > 1e-16 * mesh.facet_measure[f];
                }
              facet.side     = 2 * f + side;
              facet.subcell  = mesh.facet_subcell[2 * f + side];
              facet.points   = nullptr;
              facet.n_points = 0;
              facet.shift    = shift;
              if (mesh.facet_type[f] == FacetType::tabulated)
                {
                  local.curved = true;
                  if (!outline.offset.empty())
                    {
                      const std::size_t q = outline.offset[f];
                      facet.n_points      = outline.offset[f + 1] - q;
                      facet.points        = outline.points.data() + q * dim;
                    }
                }
            }
        }
    }
  } // namespace internal
} // namespace Tessella

#endif

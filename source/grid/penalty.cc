// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/parallel.h>

#include <tessella/grid/penalty.h>
#include <tessella/portable/geometry.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace Tessella
{
  namespace
  {
    // Largest number of facets of a polytope that is searched without a tree.
    constexpr unsigned int max_facets_without_tree = 64;
    // Number of facets per task of polytopes with more facets.
    constexpr unsigned int facets_per_task = 256;
    // Heights relative to the highest point: the search stops at good_height,
    // and tries more directions below poor_height.
    constexpr double good_height = 0.75;
    constexpr double poor_height = 0.55;
    // The gauges below are of order one; values smaller than this count as
    // zero.
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



    // Facet as seen from its polytope: corners in cyclic order, with the
    // periodic shift of this side applied.
    template <int dim>
    struct LocalFacet
    {
      static constexpr int max_corners = (dim == 2 ? 2 : 4);

      double       corner[max_corners][dim];
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



    // Affine functions that describe the sets K(h). K(h) is the convex hull of
    // a base facet and its centre moved inward along a direction by height h.
    // The functions are the height above the base, and one wall function per
    // edge of the base, which is 1 on the axis and 0 on the wall that contains
    // that edge and the direction. A point is inside of K(h) if all wall
    // functions are larger than height / h > 0.
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

      // Returns false if the base is degenerate.
      bool
      set_direction(const LocalFacet<dim> &base, const double *direction)
      {
        n_walls = base.n_corners;
        for (int i = 0; i < n_walls; ++i)
          {
            const double *p = base.corner[i];
            double        w[3];
            if (dim == 2)
              {
                w[0] = -direction[1];
                w[1] = direction[0];
              }
            else
              {
                const double *q       = base.corner[(i + 1) % n_walls];
                double        edge[3] = {};
                for (int d = 0; d < dim; ++d)
                  edge[d] = q[d] - p[d];
                double e[3] = {direction[0], direction[1], direction[dim - 1]};
                Geometry::cross_product(edge, e, w);
              }
            double scale = 0;
            for (int d = 0; d < dim; ++d)
              scale += w[d] * (base.centre[d] - p[d]);
            if (!(std::abs(scale) > std::numeric_limits<double>::min()))
              return false;
            for (int d = 0; d < dim; ++d)
              wall[i][d] = w[d] / scale;
            wall_0[i] = -dot<dim>(wall[i], p);
          }
        return true;
      }
    };



    // Treats one facet as an obstacle. @p s is the inverse of the height up to
    // which K(h) is known to be free. The function returns the inverse of the
    // height for which this facet does not meet the interior either, which is
    // the maximum of s and of min_i wall_i / height over the points of the
    // facet above the base. This minimum of linear-fractional functions attains
    // its maximum at a corner, at a point of an edge where two wall functions
    // are equal, or at the point on the axis where all are equal.
    template <int dim>
    double
    tighten(const Gauge<dim> &gauge, const LocalFacet<dim> &facet, double s)
    {
      constexpr int m = LocalFacet<dim>::max_corners;
      const int     n = facet.n_corners, w = gauge.n_walls;
      double        height[m], wall[m][m];

      bool above = false;
      for (int j = 0; j < n; ++j)
        {
          height[j] = gauge.evaluate_height(facet.corner[j]);
          above |= height[j] > gauge.tolerance;
        }
      if (!above && facet.n_points == 0)
        return s;

      bool free = false;
      for (int i = 0; i < w; ++i)
        {
          bool beyond = true;
          for (int j = 0; j < n; ++j)
            {
              wall[i][j] = gauge.evaluate_wall(i, facet.corner[j]);
              beyond &= wall[i][j] - s * height[j] <= gauge_tolerance;
            }
          free |= beyond;
          if (free && facet.n_points == 0)
            return s;
        }

      const auto consider = [&](const double z, const double b) {
        if (b > gauge_tolerance && z > gauge.tolerance)
          s = std::max(s, b / z);
      };

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
      if (!above || free)
        return s;

      for (int j = 0; j < n; ++j)
        {
          double b = std::numeric_limits<double>::infinity();
          for (int i = 0; i < w; ++i)
            b = std::min(b, wall[i][j]);
          consider(height[j], b);
        }

      const auto edge = [&](const int j, const int k) {
        if (height[j] <= gauge.tolerance && height[k] <= gauge.tolerance)
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
      };

      if (dim == 2)
        {
          edge(0, 1);
          return s;
        }

      const auto triangle = [&](const int j, const int k, const int l) {
        const double x[3] = {wall[0][j] - 1., wall[0][k] - 1., wall[0][l] - 1.};
        const double y[3] = {wall[1][j] - 1., wall[1][k] - 1., wall[1][l] - 1.};
        const double a    = x[1] * y[2] - x[2] * y[1];
        const double b    = x[2] * y[0] - x[0] * y[2];
        const double c    = x[0] * y[1] - x[1] * y[0];
        if ((a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0))
          if (const double sum = a + b + c; sum != 0)
            consider((a * height[j] + b * height[k] + c * height[l]) / sum, 1.);
      };

      for (int j = 0; j < n; ++j)
        edge(j, (j + 1) % n);
      triangle(0, 1, 2);
      if (n == 4)
        {
          triangle(0, 2, 3);
          if (facet.warped)
            {
              edge(0, 2);
              edge(1, 3);
              triangle(0, 1, 3);
              triangle(1, 2, 3);
            }
        }
      return s;
    }



    // Binary tree of bounding boxes over the facets of a large polytope.
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

      double
      tighten(const Gauge<dim>                   &gauge,
              const std::vector<LocalFacet<dim>> &facets,
              const unsigned int                  base,
              double                              s) const
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
                    s = Tessella::tighten(gauge, facets[order[i]], s);
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



    // Facets of one polytope and their search tree.
    template <int dim>
    struct LocalPolytope
    {
      std::vector<LocalFacet<dim>> facets;
      FacetTree<dim>               tree;
      bool                         use_tree;
      bool                         curved;
      bool                         coverable;
    };



    template <int dim>
    void
    collect_facets(const PolytopicMesh<dim> &mesh,
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
                  facet.warped =
                    std::abs(warp) > 1e-8 * std::sqrt(mesh.facet_measure[f]);
                }
              facet.side     = 2 * f + side;
              facet.subcell  = mesh.facet_subcell[2 * f + side];
              facet.points   = nullptr;
              facet.n_points = 0;
              facet.shift    = shift;
              if (mesh.facet_type[f] == FacetType::tabulated)
                {
                  local.curved = true;
                  if (!mesh.facet_point_offset.empty())
                    {
                      const unsigned int q = mesh.facet_point_offset[f];
                      facet.n_points       = mesh.facet_point_offset[f + 1] - q;
                      facet.points         = mesh.facet_points.data() + q * dim;
                    }
                }
            }
        }
    }



    // Diameter and estimate of the inradius of a sub-cell. The estimate is
    // exact for affine sub-cells and uses mean edge vectors for other
    // hypercubes.
    template <int dim>
    bool
    subcell_size(const PolytopicMesh<dim> &mesh,
                 const unsigned int        subcell,
                 double                   &diameter,
                 double                   &inradius)
    {
      const unsigned int first = mesh.subcell_vertex_offset[subcell];
      const unsigned int n = mesh.subcell_vertex_offset[subcell + 1] - first;
      const double      *x = &mesh.subcell_vertices[first * dim];

      diameter = 0;
      for (unsigned int i = 0; i < n; ++i)
        for (unsigned int j = 0; j < i; ++j)
          {
            double square = 0;
            for (int d = 0; d < dim; ++d)
              square += (x[i * dim + d] - x[j * dim + d]) *
                        (x[i * dim + d] - x[j * dim + d]);
            diameter = std::max(diameter, std::sqrt(square));
          }

      const bool is_simplex   = (n == dim + 1);
      const bool is_hypercube = (n == (1u << dim));
      if (!is_simplex && !is_hypercube)
        return false;

      double edge[3][3] = {};
      for (int e = 0; e < dim; ++e)
        for (int d = 0; d < dim; ++d)
          if (is_simplex)
            edge[e][d] = x[(e + 1) * dim + d] - x[d];
          else
            for (unsigned int i = 0; i < n; ++i)
              edge[e][d] += ((i >> e) & 1u ? 2. : -2.) / n * x[i * dim + d];

      // Volume of the parallelepiped spanned by these edges, and areas of its
      // sides; for the simplex areas of its facets, twice the areas in 3-D.
      double volume, sum = 0, largest = 0;
      if (dim == 2)
        {
          volume = std::abs(edge[0][0] * edge[1][1] - edge[0][1] * edge[1][0]);
          const double a = std::hypot(edge[0][0], edge[0][1]);
          const double b = std::hypot(edge[1][0], edge[1][1]);
          sum            = a + b +
                std::hypot(edge[0][0] - edge[1][0], edge[0][1] - edge[1][1]);
          largest = std::max(a, b);
        }
      else
        {
          double area[3][3], total[3] = {};
          for (int e = 0; e < 3; ++e)
            {
              Geometry::cross_product(edge[e], edge[(e + 1) % 3], area[e]);
              const double norm = std::sqrt(dot<3>(area[e], area[e]));
              sum += norm;
              largest = std::max(largest, norm);
              for (int d = 0; d < 3; ++d)
                total[d] += area[e][d];
            }
          sum += std::sqrt(dot<3>(total, total));
          volume = std::abs(dot<3>(area[0], edge[2]));
        }
      if (!(largest > 0))
        return false;
      // Simplex: dim |K| / |boundary|. In 2-D volume is twice the area; in 3-D
      // it is six times the volume and the areas count twice. Both cases yield
      // volume / sum.
      inradius = is_simplex ? volume / sum : 0.5 * volume / largest;
      return true;
    }



    template <int dim>
    bool
    is_coverable(const PolytopicMesh<dim> &mesh,
                 const unsigned int        polytope,
                 const unsigned int        n_facets)
    {
      if (n_facets > 2 * dim)
        return false;
      double        extent   = std::numeric_limits<double>::max();
      double        diagonal = 0;
      const double *box      = &mesh.box[2 * dim * polytope];
      for (int d = 0; d < dim; ++d)
        {
          const double width = box[dim + d] - box[d];
          extent             = std::min(extent, width);
          diagonal += width * width;
        }
      // The diagonal of the box is an upper bound of the diameter, and half its
      // smallest extent an upper bound of the inradius. A single convex
      // sub-cell always covers itself.
      diagonal                 = std::sqrt(diagonal);
      const unsigned int begin = mesh.subcell_offset[polytope];
      const unsigned int end   = mesh.subcell_offset[polytope + 1];
      if (end - begin == 1 &&
          mesh.subcell_type[begin] != SubCellType::tabulated)
        return true;
      for (unsigned int s = begin; s < end; ++s)
        {
          double diameter, inradius;
          if (mesh.subcell_type[s] == SubCellType::tabulated ||
              !subcell_size(mesh, s, diameter, inradius) ||
              diameter < 0.5 * diagonal || inradius < 0.25 * extent)
            return false;
        }
      return true;
    }



    // Largest height found for a simplex or pyramid on facet @p base.
    template <int dim>
    double
    largest_height(const PolytopicMesh<dim> &mesh,
                   const unsigned int        polytope,
                   const LocalPolytope<dim> &local,
                   const unsigned int        base)
    {
      const LocalFacet<dim> &facet  = local.facets[base];
      const double          *normal = facet.inner_normal;

      Gauge<dim> gauge;
      for (int d = 0; d < dim; ++d)
        gauge.height[d] = normal[d];
      gauge.height_0 = -dot<dim>(normal, facet.centre);

      // Highest point of the polytope above the base.
      const double *box     = &mesh.box[2 * dim * polytope];
      double        highest = gauge.height_0;
      const double *summit  = nullptr;
      if (local.use_tree || local.curved)
        for (int d = 0; d < dim; ++d)
          highest += normal[d] * box[normal[d] > 0 ? dim + d : d];
      else
        {
          highest = 0;
          for (const LocalFacet<dim> &other : local.facets)
            for (int j = 0; j < other.n_corners; ++j)
              {
                const double z = gauge.evaluate_height(other.corner[j]);
                if (z > highest)
                  {
                    highest = z;
                    summit  = other.corner[j];
                  }
              }
        }

      // The vertex of the adjacent sub-cell that is farthest from the base is
      // an apex if the sub-cell is convex.
      const unsigned int s     = facet.subcell;
      const unsigned int first = mesh.subcell_vertex_offset[s];
      const unsigned int n     = mesh.subcell_vertex_offset[s + 1] - first;
      const double      *x     = &mesh.subcell_vertices[first * dim];
      const SubCellType  type  = mesh.subcell_type[s];
      double             centre[dim] = {};
      double             own         = 0;
      const double      *apex        = x;
      for (unsigned int j = 0; j < n; ++j)
        {
          const double z = gauge.evaluate_height(x + j * dim);
          if (z > own)
            {
              own  = z;
              apex = x + j * dim;
            }
          for (int d = 0; d < dim; ++d)
            centre[d] += x[j * dim + d] / n;
        }
      const bool convex = type == SubCellType::simplex ||
                          type == SubCellType::parallelepiped ||
                          (type == SubCellType::hypercube && dim == 2);
      // If the sub-cell may not be convex, the start value is half of its
      // height, which remains if every direction fails.
      double best = convex ? own : 0.5 * own;

      if (!(highest > 0))
        return best;
      gauge.tolerance = gauge_tolerance * highest;

      const auto search = [&](const double *direction) {
        double square = 0, inward = 0;
        for (int d = 0; d < dim; ++d)
          {
            square += direction[d] * direction[d];
            inward += direction[d] * normal[d];
          }
        if (inward < 0.1 * std::sqrt(square) ||
            !gauge.set_direction(facet, direction))
          return false;
        double inverse = 1. / highest;
        // A direction that cannot exceed the present best height is abandoned.
        const double limit =
          best > 0 ? 1. / best : std::numeric_limits<double>::infinity();
        if (local.use_tree)
          inverse = local.tree.tighten(gauge, local.facets, base, inverse);
        else
          for (unsigned int g = 0; g < local.facets.size(); ++g)
            if (g != base)
              {
                inverse = tighten(gauge, local.facets[g], inverse);
                if (inverse >= limit)
                  return false;
              }
        best = std::max(best, (local.curved ? 0.9 : 1.) / inverse);
        return best >= good_height * highest;
      };
      const auto search_to = [&](const double *point) {
        double direction[dim];
        for (int d = 0; d < dim; ++d)
          direction[d] = point[d] - facet.centre[d];
        return search(direction);
      };

      if (best >= good_height * highest)
        return best;
      if (search(normal))
        return best;
      if (search_to(type == SubCellType::simplex ? apex : centre))
        return best;
      double box_centre[dim];
      for (int d = 0; d < dim; ++d)
        box_centre[d] = 0.5 * (box[d] + box[dim + d]);
      if (search_to(box_centre))
        return best;
      if (summit != nullptr && search_to(summit))
        return best;
      if (best < poor_height * highest)
        {
          double tangent[2][3] = {}, length = 0;
          for (int d = 0; d < dim; ++d)
            {
              tangent[0][d] = facet.corner[1][d] - facet.corner[0][d];
              length += tangent[0][d] * tangent[0][d];
            }
          length = std::sqrt(length);
          if (!(length > 0))
            return best;
          for (int d = 0; d < dim; ++d)
            tangent[0][d] /= length;
          if (dim == 3)
            {
              const double m[3] = {normal[0], normal[1], normal[dim - 1]};
              Geometry::cross_product(m, tangent[0], tangent[1]);
            }
          for (const double slope : {0.5, 1.2})
            for (int t = 0; t < dim - 1; ++t)
              for (const double sign : {-1., 1.})
                {
                  double direction[dim];
                  for (int d = 0; d < dim; ++d)
                    direction[d] = normal[d] + sign * slope * tangent[t][d];
                  if (search(direction))
                    return best;
                }
        }
      return best;
    }
  } // namespace



  template <int dim>
  void
  compute_penalty_factors(PolytopicMesh<dim>  &mesh,
                          const PenaltyFormula formula)
  {
    mesh.penalty_revision = PolytopicMesh<dim>::new_revision();
    mesh.penalty_factor.assign(2 * static_cast<std::size_t>(mesh.n_facets()),
                               0.);

    const auto work_on_polytope = [&](const unsigned int  k,
                                      LocalPolytope<dim> &local) {
      const double p = std::max(mesh.degree[k], 1u);

      if (formula == PenaltyFormula::bounding_box)
        {
          const double *box = &mesh.box[2 * dim * k];
          for (unsigned int e = mesh.polytope_interface_offset[k];
               e < mesh.polytope_interface_offset[k + 1];
               ++e)
            {
              const unsigned int interface = mesh.polytope_interface[e] / 2;
              const unsigned int side      = mesh.polytope_interface[e] % 2;
              for (unsigned int f = mesh.facet_offset[interface];
                   f < mesh.facet_offset[interface + 1];
                   ++f)
                {
                  double extent = 0;
                  for (int d = 0; d < dim; ++d)
                    extent += std::abs(mesh.facet_normal[f * dim + d]) *
                              (box[dim + d] - box[d]);
                  mesh.penalty_factor[2 * f + side] = p * p / extent;
                }
            }
          return;
        }

      collect_facets(mesh, k, local);
      const unsigned int n_facets = local.facets.size();
      local.use_tree              = n_facets > max_facets_without_tree;
      local.coverable             = is_coverable(mesh, k, n_facets);
      if (local.use_tree)
        local.tree.build(local.facets);

      const double coverable_factor =
        local.coverable ? std::pow(p, 2 * (dim - 1)) / mesh.measure[k]
                        : std::numeric_limits<double>::infinity();
      const auto work_on_facets = [&](const unsigned int begin,
                                      const unsigned int end) {
        for (unsigned int i = begin; i < end; ++i)
          {
            const unsigned int side   = local.facets[i].side;
            const double       height = largest_height(mesh, k, local, i);
            mesh.penalty_factor[side] =
              p * p *
              std::min(dim / height,
                       coverable_factor * mesh.facet_measure[side / 2]);
          }
      };
      if (n_facets > 2 * facets_per_task)
        dealii::parallel::apply_to_subranges(0u,
                                             n_facets,
                                             work_on_facets,
                                             facets_per_task);
      else
        work_on_facets(0, n_facets);
    };

    const unsigned int grain_size = static_cast<unsigned int>(
      std::min<std::size_t>(64,
                            1 + std::size_t(2) * facets_per_task *
                                  mesh.n_polytopes() / (mesh.n_facets() + 1)));
    dealii::parallel::apply_to_subranges(
      0u,
      mesh.n_owned_polytopes(),
      [&](const unsigned int begin, const unsigned int end) {
        LocalPolytope<dim> local;
        for (unsigned int k = begin; k < end; ++k)
          work_on_polytope(k, local);
      },
      grain_size);
  }



  template <int dim>
  void
  compute_penalty_factors(const AgglomerationHandler<dim> &handler,
                          const PenaltyFormula             formula)
  {
    if (handler.penalty_state == static_cast<int>(formula))
      return;
    compute_penalty_factors(handler.mutable_polytopic_mesh(), formula);
    handler.exchange_facet_values(
      handler.mutable_polytopic_mesh().penalty_factor);
    handler.penalty_state = static_cast<int>(formula);
  }



  template void
  compute_penalty_factors(PolytopicMesh<2> &, const PenaltyFormula);
  template void
  compute_penalty_factors(PolytopicMesh<3> &, const PenaltyFormula);
  template void
  compute_penalty_factors(const AgglomerationHandler<2> &,
                          const PenaltyFormula);
  template void
  compute_penalty_factors(const AgglomerationHandler<3> &,
                          const PenaltyFormula);
} // namespace Tessella

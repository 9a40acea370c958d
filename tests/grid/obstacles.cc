// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Facets as obstacles in the search for penalty factors: the fast evaluation,
// which leaves out points that cannot matter and ends early, has the same bits
// as a plain one, and so has its code for AVX2. Affine cells with hanging
// nodes, distorted cells, simplices.

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>

#include <tessella/grid/agglomeration_handler.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "../../source/grid/local_facets.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;

constexpr double infinity = std::numeric_limits<double>::infinity();

// All points at which the smallest wall function over the height can be
// largest, each evaluated by itself.
template <int dim>
class PlainObstacle
{
public:
  PlainObstacle(const Tessella::internal::Gauge<dim>      &gauge,
                const Tessella::internal::LocalFacet<dim> &facet,
                const double                               s)
    : gauge(gauge)
    , w(gauge.n_walls)
    , n(facet.n_corners)
    , s(s)
  {
    for (int j = 0; j < n; ++j)
      {
        height[j] = gauge.evaluate_height(facet.corner[j]);
        for (int i = 0; i < w; ++i)
          wall[i][j] = gauge.evaluate_wall(i, facet.corner[j]);
      }
    warped = facet.warped;
  }

  double
  tighten()
  {
    if (*std::max_element(height, height + n) <= gauge.tolerance)
      return s;
    for (int i = 0; i < w; ++i)
      {
        bool beyond = true;
        for (int j = 0; j < n; ++j)
          beyond &=
            wall[i][j] - s * height[j] <= Tessella::internal::gauge_tolerance;
        if (beyond)
          return s;
      }
    for (int j = 0; j < n; ++j)
      consider_point(j, j, 0.);
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < j; ++k)
        if (n < 4 || warped || (j - k) % 2 == 1)
          {
            // The last edge leads from the last corner to the first.
            const bool last = n > 2 && j - k == n - 1;
            consider_edge(last ? j : k, last ? k : j);
          }
    if (dim == 3)
      {
        consider_triangle(0, 1, 2);
        if (n == 4)
          {
            consider_triangle(0, 2, 3);
            if (warped)
              {
                consider_triangle(0, 1, 3);
                consider_triangle(1, 2, 3);
              }
          }
      }
    return s;
  }

private:
  void
  consider(const double z, const double b)
  {
    if (b > Tessella::internal::gauge_tolerance && z > gauge.tolerance)
      s = std::max(s, b / z);
  }

  double
  evaluate(const int j, const int k, const double t, double &z) const
  {
    z        = height[j] + t * (height[k] - height[j]);
    double b = infinity;
    for (int i = 0; i < w; ++i)
      b = std::min(b, wall[i][j] + t * (wall[i][k] - wall[i][j]));
    return b;
  }

  void
  consider_point(const int j, const int k, const double t)
  {
    double       z;
    const double b = evaluate(j, k, t, z);
    consider(z, b);
  }

  void
  consider_edge(const int j, const int k)
  {
    if (height[j] <= gauge.tolerance && height[k] <= gauge.tolerance)
      return;
    for (int i = 0; i < (w == 2 ? 1 : w); ++i)
      {
        const double d_j = wall[i][j] - wall[(i + 1) % w][j];
        const double d_k = wall[i][k] - wall[(i + 1) % w][k];
        if (d_j * d_k < 0)
          consider_point(j, k, d_j / (d_j - d_k));
      }
    double z;
    if (height[j] * height[k] < 0 &&
        evaluate(j, k, height[j] / (height[j] - height[k]), z) > 0.05)
      s = infinity;
  }

  void
  consider_triangle(const int j, const int k, const int l)
  {
    const int corner[3] = {j, k, l};
    double    part[3], sum, z = 0;
    for (int c = 0; c < 3; ++c)
      {
        const int p = corner[(c + 1) % 3], q = corner[(c + 2) % 3];
        part[c] = (wall[0][p] - 1.) * (wall[1][q] - 1.) -
                  (wall[0][q] - 1.) * (wall[1][p] - 1.);
        z = c == 0 ? part[c] * height[corner[c]]
                   : z + part[c] * height[corner[c]];
      }
    sum = part[0] + part[1] + part[2];
    if (sum != 0 && (*std::min_element(part, part + 3) >= 0 ||
                     *std::max_element(part, part + 3) <= 0))
      consider(z / sum, 1.);
  }

  const Tessella::internal::Gauge<dim> &gauge;
  const int                             w, n;
  double                                s;
  double                                height[4], wall[4][4];
  bool                                  warped;
};

struct Count
{
  unsigned int compared = 0, tightened = 0, ended_early = 0, different = 0;
  unsigned int different_end = 0, far_from_tree = 0;
  unsigned int tree_ended_early = 0, different_tree_end = 0;
  unsigned int n_wide = 0, different_wide = 0;
};

// All that the search does for a direction: heights, wall functions and every
// facet, by a loop and by the tree. The result is a sum in a fixed order.
template <int dim>
inline double
search_all(const Tessella::internal::LocalPolytope<dim> &local,
           const unsigned int                            base,
           const double                                 *direction,
           const double                                  start)
{
  const Tessella::internal::LocalFacet<dim> &facet = local.facets[base];
  Tessella::internal::Gauge<dim>             gauge;
  for (int d = 0; d < dim; ++d)
    gauge.height[d] = facet.inner_normal[d];
  gauge.height_0 =
    -Tessella::internal::dot<dim>(facet.inner_normal, facet.centre);
  gauge.tolerance = Tessella::internal::gauge_tolerance / start;
  if (!gauge.set_direction(facet, direction))
    return 0;
  double sum = local.tree.tighten(gauge, local.facets, base, start, infinity);
  for (unsigned int g = 0; g < local.facets.size(); ++g)
    if (g != base)
      {
        const double s =
          Tessella::internal::tighten(gauge, local.facets[g], start, infinity);
        sum += s < infinity ? s : 1.;
      }
  return sum;
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  define TESSELLA_WIDE_OBSTACLES
// The same as the copy of the search in the library is compiled.
template <int dim>
__attribute__((flatten, noinline, target("avx2"))) double
search_all_avx2(const Tessella::internal::LocalPolytope<dim> &local,
                const unsigned int                            base,
                const double                                 *direction,
                const double                                  start)
{
  return search_all(local, base, direction, start);
}
#endif

// Compares the search for a direction with its code for AVX2.
template <int dim>
void
compare_wide(const Tessella::internal::LocalPolytope<dim> &local,
             const unsigned int                            base,
             const double                                 *direction,
             const double                                  start,
             Count                                        &count)
{
#ifdef TESSELLA_WIDE_OBSTACLES
  if (__builtin_cpu_supports("avx2"))
    {
      const double wide   = search_all_avx2(local, base, direction, start);
      const double narrow = search_all(local, base, direction, start);
      count.different_wide += std::memcmp(&wide, &narrow, sizeof(double)) != 0;
      ++count.n_wide;
      return;
    }
#endif
  (void)local;
  (void)base;
  (void)direction;
  (void)start;
  ++count.n_wide;
}

// Compares the search by the tree with one that ends early at a limit: it
// reaches the limit exactly if the whole one does, and has its bits otherwise.
// Rounding can make the result with an early end larger than that of the whole
// search.
template <int dim>
void
compare_limits(const Tessella::internal::LocalPolytope<dim> &local,
               const Tessella::internal::Gauge<dim>         &gauge,
               const unsigned int                            base,
               const double                                  start,
               Count                                        &count)
{
  const double whole =
    local.tree.tighten(gauge, local.facets, base, start, infinity);
  for (const double limit :
       {start, 1.0001 * start, 2. * start, 0.999 * whole, whole})
    {
      const double ended =
        local.tree.tighten(gauge, local.facets, base, start, limit);
      count.tree_ended_early += ended != whole;
      count.different_tree_end += (ended >= limit) != (whole >= limit) ||
                                  (whole < limit && ended != whole) ||
                                  ended > (1. + 1e-12) * whole;
    }
}

// Compares all obstacles of a polytope for some directions from one base.
template <int dim>
void
compare_base(const Tessella::internal::LocalPolytope<dim> &local,
             const unsigned int                            base,
             Count                                        &count)
{
  const Tessella::internal::LocalFacet<dim> &facet = local.facets[base];
  Tessella::internal::Gauge<dim>             gauge;
  for (int d = 0; d < dim; ++d)
    gauge.height[d] = facet.inner_normal[d];
  gauge.height_0 =
    -Tessella::internal::dot<dim>(facet.inner_normal, facet.centre);
  double highest = 0;
  for (const auto &other : local.facets)
    for (int j = 0; j < other.n_corners; ++j)
      highest = std::max(highest, gauge.evaluate_height(other.corner[j]));
  gauge.tolerance = Tessella::internal::gauge_tolerance * highest;
  for (unsigned int target = 0; target < local.facets.size(); target += 3)
    {
      double direction[dim];
      for (int d = 0; d < dim; ++d)
        direction[d] = local.facets[target].centre[d] - facet.centre[d] +
                       0.1 * highest * facet.inner_normal[d];
      if (Tessella::internal::dot<dim>(direction, facet.inner_normal) <
            0.1 * highest ||
          !gauge.set_direction(facet, direction))
        continue;
      const double start = 1. / highest;
      double       s     = start;
      for (unsigned int g = 0; g < local.facets.size(); ++g)
        if (g != base)
          {
            const auto  &other = local.facets[g];
            const double plain = PlainObstacle<dim>(gauge, other, s).tighten();
            const double fast =
              Tessella::internal::tighten(gauge, other, s, infinity);
            ++count.compared;
            count.tightened += plain > s;
            count.different += plain != fast;
            for (const double limit : {1.0001 * s, 2. * s})
              {
                const double ended =
                  Tessella::internal::tighten(gauge, other, s, limit);
                count.ended_early += ended != plain;
                count.different_end += (ended >= limit) != (plain >= limit) ||
                                       (plain < limit && ended != plain);
              }
            s = plain;
          }
      const double by_tree =
        local.tree.tighten(gauge, local.facets, base, start, infinity);
      count.far_from_tree +=
        !(by_tree == s || std::abs(by_tree - s) < 1e-7 * s);
      compare_limits(local, gauge, base, start, count);
      compare_wide(local, base, direction, start, count);
    }
}

template <int dim>
void
compare(const std::string        &name,
        const Triangulation<dim> &triangulation,
        const unsigned int        n_cells)
{
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::rtree_parts<dim>(
    std::max(1u, triangulation.n_active_cells() / n_cells)));
  const PolytopicMesh<dim>              &mesh = handler.polytopic_mesh();
  Tessella::internal::LocalPolytope<dim> local;
  Count                                  count;
  for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
    {
      Tessella::internal::collect_facets(mesh,
                                         Tessella::internal::Outline(),
                                         k,
                                         local);
      local.tree.build(local.facets);
      for (unsigned int base = 0; base < local.facets.size(); ++base)
        compare_base(local, base, count);
    }
  deallog << name << ", " << dim << "-D" << std::endl;
  check("enough facets matter", count.tightened > 100);
  check("same bits", count.different == 0);
  if (dim == 3)
    check("some end early", count.ended_early > 10);
  check("early ends lose nothing", count.different_end == 0);
  check("tree", count.far_from_tree == 0);
  // The facets of a quadrilateral are one leaf of a tree.
  if (dim == 3 || n_cells > 1)
    check("tree ends early", count.tree_ended_early > 10);
  check("early ends of the tree lose nothing", count.different_tree_end == 0);
  check("same bits with AVX2", count.n_wide > 100 && count.different_wide == 0);
}

// Sheared cells, which are parallelograms or parallelepipeds, with hanging
// nodes.
template <int dim>
void
affine_cells(const unsigned int n)
{
  Triangulation<dim> triangulation;
  GridGenerator::subdivided_hyper_cube(triangulation, n, 0., 0.7);
  triangulation.refine_global(1);
  for (const auto &cell : triangulation.active_cell_iterators())
    if (cell->center()[0] < cell->center()[1])
      cell->set_refine_flag();
  triangulation.execute_coarsening_and_refinement();
  compare("boxes with hanging nodes", triangulation, 6);
  GridTools::transform(
    [](const Point<dim> &x) {
      Point<dim> y = x;
      for (int d = 0; d + 1 < dim; ++d)
        y[d] += 0.3 * x[d + 1];
      return y;
    },
    triangulation);
  compare("sheared, with hanging nodes", triangulation, 6);
}

template <int dim>
void
other_cells(const unsigned int n)
{
  Triangulation<dim> distorted, simplices;
  GridGenerator::subdivided_hyper_cube(distorted, n);
  GridTools::distort_random(0.2, distorted, true, 3);
  compare("distorted", distorted, 5);
  compare("single distorted cells", distorted, 1);
  GridGenerator::subdivided_hyper_cube_with_simplices(simplices, n / 2);
  compare("simplices", simplices, 7);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  affine_cells<2>(6);
  affine_cells<3>(2);
  other_cells<2>(16);
  other_cells<3>(6);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Every strategy on every kind of mesh: ids are numbered without gaps, sizes
// obey their bounds, levels are nested, results are reproducible, and repair
// makes every polytope connected. Neighbours are found by deal.II's own slower
// function.

#include <deal.II/base/types.h>

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>

#include <tessella/grid/agglomeration.h>
#include <tessella/grid/matching.h>
#include <tessella/grid/partition.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "../../source/grid/dual_graph.h"
#include "../meshes.h"
#include "../tests.h"

using namespace dealii;
namespace Agglomeration = Tessella::Agglomeration;
using Ids               = std::vector<unsigned int>;

unsigned int
n_ids(const Ids &ids)
{
  return std::set<unsigned int>(ids.begin(), ids.end()).size();
}

/// Whether the values are 0 .. n-1, numbered by first occurrence.
bool
is_numbering(const Ids &ids)
{
  unsigned int next = 0;
  for (const unsigned int id : ids)
    if (id > next)
      return false;
    else if (id == next)
      ++next;
  return true;
}

Ids
sizes(const Ids &ids)
{
  Ids result(n_ids(ids), 0);
  for (const unsigned int id : ids)
    ++result[id];
  return result;
}

/// Whether all cells of one fine polytope are in one coarse polytope.
bool
is_nested(const Ids &fine, const Ids &coarse)
{
  std::map<unsigned int, unsigned int> parent;
  for (std::size_t i = 0; i < fine.size(); ++i)
    if (parent.emplace(fine[i], coarse[i]).first->second != coarse[i])
      return false;
  return true;
}

/// Number of disconnected polytopes, computed by flood filling from each
/// polytope's first cell.
unsigned int
n_disconnected(const DynamicSparsityPattern &neighbors, const Ids &ids)
{
  std::vector<char>      reached(ids.size(), 0);
  std::set<unsigned int> seen, broken;
  for (unsigned int cell = 0; cell < ids.size(); ++cell)
    if (!reached[cell])
      {
        if (!seen.insert(ids[cell]).second)
          broken.insert(ids[cell]);
        std::vector<unsigned int> front{cell};
        reached[cell] = 1;
        while (!front.empty())
          {
            const unsigned int c = front.back();
            front.pop_back();
            for (auto e = neighbors.begin(c); e != neighbors.end(c); ++e)
              if (!reached[e->column()] && ids[e->column()] == ids[cell])
                {
                  reached[e->column()] = 1;
                  front.push_back(e->column());
                }
          }
      }
  return broken.size();
}

template <int dim>
void
check_dual_graph(const Triangulation<dim> &triangulation)
{
  const Tessella::internal::DualGraph graph =
    Tessella::internal::make_dual_graph(triangulation, true);
  DynamicSparsityPattern expected;
  GridTools::get_face_connectivity_of_cells(triangulation, expected);

  bool                same = graph.n_cells() == triangulation.n_active_cells();
  std::vector<double> surfaces;
  for (unsigned int i = 0; same && i < graph.n_cells(); ++i)
    {
      Ids    row;
      double surface = 0;
      for (auto e = expected.begin(i); e != expected.end(i); ++e)
        if (e->column() != i)
          row.push_back(e->column());
      same = row == Ids(graph.neighbors.begin() + graph.offsets[i],
                        graph.neighbors.begin() + graph.offsets[i + 1]);
      for (std::size_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e)
        surface += graph.areas[e];
      surfaces.push_back(surface);
    }
  check("neighbours as deal.II finds them", same);

  double error = 0;
  for (const auto &cell : triangulation.active_cell_iterators())
    {
      double surface = surfaces[cell->active_cell_index()];
      for (const unsigned int f : cell->face_indices())
        {
          surface -= cell->face(f)->measure();
          if (cell->at_boundary(f))
            surface += cell->face(f)->measure();
        }
      error = std::max(error, std::abs(surface) / cell->diameter());
    }
  check_below("areas add up to the cells' surfaces", error, 1e-12);
}

template <int dim>
void
check_strategies(const std::string        &name,
                 const Triangulation<dim> &triangulation)
{
  LogStream::Prefix  prefix(name);
  const unsigned int n_cells = triangulation.n_active_cells();
  check_dual_graph(triangulation);
  DynamicSparsityPattern neighbors;
  GridTools::get_face_connectivity_of_cells(triangulation, neighbors);
  const Ids          whole(n_cells, 0);
  const unsigned int n_pieces = n_ids(Agglomeration::repair<dim>(
    Agglomeration::by_id<dim>(whole))(triangulation));

  const auto run = [&](const std::string                  &what,
                       const Agglomeration::Strategy<dim> &strategy,
                       const unsigned int                  n_expected,
                       const unsigned int                  min_cells,
                       const unsigned int                  max_cells,
                       const bool                          connected = false) {
    const Ids ids = strategy(triangulation);
    std::srand(ids.size()); // results must not depend on the random numbers of
                            // the program
    bool good = ids.size() == n_cells && is_numbering(ids) &&
                ids == strategy(triangulation) && n_ids(ids) == n_expected;
    const Ids present = sizes(ids);
    good              = good &&
           *std::min_element(present.begin(), present.end()) >= min_cells &&
           *std::max_element(present.begin(), present.end()) <= max_cells;

    const Agglomeration::Statistics statistics =
      Agglomeration::statistics<dim>(triangulation, ids);
    good = good && statistics.n_polytopes == n_expected &&
           statistics.min_cells ==
             *std::min_element(present.begin(), present.end()) &&
           statistics.max_cells ==
             *std::max_element(present.begin(), present.end()) &&
           statistics.n_disconnected == n_disconnected(neighbors, ids) &&
           !(connected && statistics.n_disconnected > 0);

    Agglomeration::RepairOptions options;
    const Ids                    split =
      Agglomeration::repair<dim>(strategy, options)(triangulation);
    good = good && is_numbering(split) && is_nested(split, ids) &&
           n_disconnected(neighbors, split) == 0 &&
           (statistics.n_disconnected > 0 || split == ids);
    options.min_cells = 4;
    const Ids repaired =
      Agglomeration::repair<dim>(strategy, options)(triangulation);
    const Ids repaired_sizes = sizes(repaired);
    good = good && is_numbering(repaired) && is_nested(split, repaired) &&
           n_disconnected(neighbors, repaired) == 0 &&
           *std::min_element(repaired_sizes.begin(), repaired_sizes.end()) >=
             std::min(4u, n_cells);
    check(what, good);
  };

  run("none", Agglomeration::none<dim>(), n_cells, 1, 1);
  const std::pair<std::string, unsigned int> cases[] = {
    {"one polytope", 1},
    {"two", 2},
    {"seven", 7},
    {"a tenth of the cells", n_cells / 10},
    {"all cells but three", n_cells - 3},
    {"all cells", n_cells}};
  for (const auto &[s, n] : cases)
    {
      const unsigned int floor = n_cells / n, ceil = (n_cells + n - 1) / n;
      run("METIS, " + s,
          Agglomeration::metis<dim>(n),
          n,
          std::max(1u, floor / 2),
          2 * ceil);
      if (n >= n_pieces)
        run("matching, " + s,
            Agglomeration::matching<dim>(n),
            n,
            std::max(1u, floor / 2),
            2 * ceil,
            /*connected=*/true);
      run("Hilbert, " + s,
          Agglomeration::space_filling_curve<dim>(n),
          n,
          floor,
          ceil);
      run("R-tree, " + s, Agglomeration::rtree_parts<dim>(n), n, floor, ceil);
    }

  const unsigned int n_levels   = 5;
  const auto         levels     = Agglomeration::nested<dim>(triangulation,
                                                 Agglomeration::rtree<dim>(0),
                                                 n_levels);
  const unsigned int n_children = 1 << dim;
  unsigned int       n_expected = (n_cells + n_children - 1) / n_children;
  bool               good       = levels.size() == n_levels;
  for (unsigned int l = 0; good && l < n_levels; ++l)
    {
      good = is_numbering(levels[l]) && n_ids(levels[l]) == n_expected &&
             levels[l] == Agglomeration::rtree<dim>(l)(triangulation) &&
             (l == 0 || is_nested(levels[l - 1], levels[l]));
      if (l == 0)
        {
          const Ids present = sizes(levels[l]);
          good =
            good &&
            *std::max_element(present.begin(), present.end()) <= n_children &&
            *std::min_element(present.begin(), present.end()) >= n_children - 1;
        }
      n_expected = (n_expected + n_children - 1) / n_children;
    }
  check("R-tree, levels nest", good);

  const auto metis_levels = Agglomeration::nested<dim>(
    triangulation, Agglomeration::metis<dim>(n_cells / 8), 3, 6);
  check("METIS, nested by R-tree",
        metis_levels.size() == 3 &&
          is_nested(metis_levels[0], metis_levels[1]) &&
          is_nested(metis_levels[1], metis_levels[2]) &&
          n_ids(metis_levels[1]) == (n_cells / 8 + 5) / 6);

  // Ancestors, by walking up from each cell.
  for (const unsigned int up : {0u, 1u, 2u, 100u})
    {
      const Ids ids = Agglomeration::parents<dim>(up)(triangulation);
      const Ids on_up =
        Agglomeration::ancestors_on_level<dim>(up)(triangulation);
      std::map<std::pair<int, int>, unsigned int> number, number_on;
      bool same = is_numbering(ids) && is_numbering(on_up);
      for (const auto &cell : triangulation.active_cell_iterators())
        {
          typename Triangulation<dim>::cell_iterator parent = cell, on = cell;
          for (unsigned int l = 0; l < up && parent->level() > 0; ++l)
            parent = parent->parent();
          while (on->level() > static_cast<int>(up))
            on = on->parent();
          const unsigned int i = cell->active_cell_index();
          same =
            same &&
            number
                .emplace(std::make_pair(parent->level(), parent->index()),
                         ids[i])
                .first->second == ids[i] &&
            number_on
                .emplace(std::make_pair(on->level(), on->index()), on_up[i])
                .first->second == on_up[i];
        }
      check("ancestors, " + std::to_string(up),
            same && number.size() == n_ids(ids) &&
              number_on.size() == n_ids(on_up));
    }
}

template <int dim>
void
refine_locally(Triangulation<dim> &triangulation, const unsigned int n_times)
{
  for (unsigned int k = 0; k < n_times; ++k)
    {
      for (const auto &cell : triangulation.active_cell_iterators())
        if (cell->center().norm() < 0.6)
          cell->set_refine_flag();
      triangulation.execute_coarsening_and_refinement();
    }
}

void
mixed_mesh(Triangulation<2> &triangulation, const unsigned int n)
{
  // Squares in the left half, triangles in the right half.
  std::vector<Point<2>> points;
  for (unsigned int j = 0; j <= n; ++j)
    for (unsigned int i = 0; i <= n; ++i)
      points.emplace_back(double(i) / n, double(j) / n);
  std::vector<CellData<2>> cells;
  for (unsigned int j = 0; j < n; ++j)
    for (unsigned int i = 0; i < n; ++i)
      {
        const unsigned int v = j * (n + 1) + i;
        if (i < n / 2)
          {
            cells.emplace_back(4);
            cells.back().vertices = {v, v + 1, v + n + 1, v + n + 2};
          }
        else
          {
            cells.emplace_back(3);
            cells.back().vertices = {v, v + 1, v + n + 1};
            cells.emplace_back(3);
            cells.back().vertices = {v + 1, v + n + 2, v + n + 1};
          }
      }
  triangulation.create_triangulation(points, cells, SubCellData());
}

void
anisotropic_mesh(Triangulation<2> &triangulation)
{
  GridGenerator::subdivided_hyper_cube(triangulation, 6);
  for (unsigned int k = 0; k < 3; ++k)
    {
      unsigned int n = 0;
      for (const auto &cell : triangulation.active_cell_iterators())
        if (++n % 3 != 0)
          cell->set_refine_flag(RefinementCase<2>::cut_axis((n / 3 + k) % 2));
      triangulation.execute_coarsening_and_refinement();
    }
}

void
separate_squares(Triangulation<2> &triangulation)
{
  Triangulation<2> left, right;
  GridGenerator::subdivided_hyper_cube(left, 5);
  GridGenerator::subdivided_hyper_cube(right, 3, 2., 3.);
  GridGenerator::merge_triangulations(left, right, triangulation);
}

void
check_large()
{
  LogStream::Prefix prefix("160000 quadrilaterals");
  Triangulation<2>  triangulation;
  GridGenerator::subdivided_hyper_cube(triangulation, 400);
  const auto good = [&](const Agglomeration::Strategy<2> &strategy,
                        const unsigned int                max_cells,
                        const unsigned int                max_disconnected) {
    const Agglomeration::Statistics statistics =
      Agglomeration::statistics<2>(triangulation, strategy(triangulation));
    return statistics.n_polytopes == 13000 && statistics.min_cells >= 6 &&
           statistics.max_cells <= max_cells &&
           statistics.n_disconnected <= max_disconnected;
  };
  check("METIS, 13000", good(Agglomeration::metis<2>(13000), 24, 260));
  check("Hilbert, 13000",
        good(Agglomeration::space_filling_curve<2>(13000), 13, 1300));
  check("R-tree, 13000", good(Agglomeration::rtree_parts<2>(13000), 13, 0));

  // Leaves of a structured mesh are squares.
  const Ids ids    = Agglomeration::rtree<2>(0)(triangulation);
  bool      square = n_ids(ids) == 40000;
  for (unsigned int j = 0; j < 400; j += 2)
    for (unsigned int i = 0; i < 400; i += 2)
      for (const unsigned int other : {1, 400, 401})
        square = square && ids[j * 400 + i] == ids[j * 400 + i + other];
  check("R-tree, leaves are squares", square);
}

void
check_weights()
{
  LogStream::Prefix prefix("weights");
  Triangulation<2>  triangulation;
  GridGenerator::subdivided_hyper_cube(triangulation, 60);
  for (const unsigned int factor : {1u, 400000000u})
    {
      Ids    weights;
      double total = 0;
      for (const auto &cell : triangulation.active_cell_iterators())
        {
          weights.push_back(factor * (cell->center()[0] < 0.5 ? 9 : 1));
          total += weights.back();
        }
      const Ids ids = Agglomeration::metis<2>(50, weights)(triangulation);
      std::vector<double> weight_of(50, 0.);
      for (std::size_t i = 0; i < ids.size(); ++i)
        weight_of[ids[i]] += weights[i];
      check("largest polytope, factor " + std::to_string(factor),
            n_ids(ids) == 50 &&
              *std::max_element(weight_of.begin(), weight_of.end()) <
                1.25 * total / 50);
    }
}

// Parts of a mesh of squares (9 points, and 3 on an edge, as polynomials of
// degree 2 need) and triangles (6 points). Each part has its share of the
// points, and each side has half of the points on an edge.
void
check_parts()
{
  LogStream::Prefix      prefix("parts");
  constexpr unsigned int n_parts = 8;
  Triangulation<2>       triangulation;
  mixed_mesh(triangulation, 20);
  // largest part divided by the mean, in points
  const auto largest = [&](const Ids &weights) {
    const Ids           ids = Agglomeration::partition<2>(triangulation,
                                                Agglomeration::metis<2>(150),
                                                n_parts,
                                                weights);
    std::vector<double> points(n_parts, 0.);
    Ids                 owner(150, n_parts);
    double              total = 0.;
    bool                whole = true;
    for (const auto &cell : triangulation.active_cell_iterators())
      {
        const double cost =
          cell->reference_cell().is_simplex() ? 6. + 4.5 : 9. + 6.;
        points[cell->subdomain_id()] += cost;
        total += cost;
        unsigned int &its_owner = owner[ids[cell->active_cell_index()]];
        whole &= its_owner == n_parts || its_owner == cell->subdomain_id();
        its_owner = cell->subdomain_id();
      }
    check("no polytope is cut", whole);
    return *std::max_element(points.begin(), points.end()) / total * n_parts;
  };
  const double by_points = largest({}),
               by_cells  = largest(Ids(triangulation.n_active_cells(), 1));
  check("by points", by_points < 1.12);
  check("by cells is worse", by_cells > by_points + 0.05);
}

void
check_repair()
{
  LogStream::Prefix prefix("repair");
  // Three by two cells of different widths: 3, 1, 3 in both rows.
  Triangulation<2> triangulation;
  GridGenerator::subdivided_hyper_rectangle(
    triangulation,
    std::vector<std::vector<double>>{{3., 1., 3.}, {1., 1.}},
    Point<2>(),
    Point<2>(7., 2.),
    false);
  const auto repaired =
    [&](const Ids &ids, const unsigned int min_cells, const bool split) {
      Agglomeration::RepairOptions options;
      options.split_disconnected = split;
      options.min_cells          = min_cells;
      return Agglomeration::repair<2>(Agglomeration::by_id<2>(ids),
                                      options)(triangulation);
    };
  check("splits",
        repaired({5, 3, 5, 3, 3, 3}, 1, true) == Ids({0, 1, 2, 1, 1, 1}));
  check("keeps",
        repaired({5, 3, 5, 3, 3, 3}, 1, false) == Ids({0, 1, 0, 1, 1, 1}));
  check("corners do not connect",
        repaired({0, 1, 1, 1, 0, 1}, 1, true) == Ids({0, 1, 1, 2, 3, 1}));
  // The lower left cell has length 3 in common with the upper one, 1 with the
  // right one.
  check("merges across the largest face",
        repaired({0, 1, 1, 2, 2, 2}, 2, true) == Ids({0, 1, 1, 0, 0, 0}));
  // The lower middle cell has length 1 in common with each of three neighbours;
  // the upper one then has 2 with the polytope on its left and below.
  check("a tie goes to the lowest id",
        repaired({0, 1, 2, 0, 3, 2}, 2, true) == Ids({0, 0, 1, 0, 0, 1}));
  // 0 joins 3; 1 has the same length in common with 2, 3 and 4 and joins 2, and
  // so does 4, and 5 follows them.
  check("merges until all are large",
        repaired({0, 1, 2, 3, 4, 5}, 2, true) == Ids({0, 1, 1, 0, 1, 1}) &&
          repaired({0, 1, 2, 3, 4, 5}, 3, true) == Ids(6, 0));
  check("more cells asked for than there are",
        repaired({0, 1, 2, 3, 4, 5}, 100, true) == Ids(6, 0));

  Triangulation<2> islands;
  separate_squares(islands);
  Agglomeration::RepairOptions options;
  options.min_cells = 12;
  const Ids ids     = Agglomeration::repair<2>(Agglomeration::by_id<2>(
                                             Ids(islands.n_active_cells(), 7)),
                                           options)(islands);
  check("an island stays", sizes(ids) == Ids({25, 9}));
}

void
check_statistics()
{
  LogStream::Prefix prefix("statistics");
  Triangulation<2>  triangulation;
  GridGenerator::subdivided_hyper_cube(triangulation, 3);
  const Agglomeration::Statistics statistics =
    Agglomeration::statistics<2>(triangulation, {4, 9, 4, 9, 9, 9, 7, 9, 4});
  check("ids with gaps",
        statistics.n_polytopes == 3 && statistics.n_disconnected == 1 &&
          statistics.min_cells == 1 && statistics.max_cells == 5);
}

void
check_periodic()
{
  Triangulation<2> triangulation;
  GridGenerator::subdivided_hyper_cube(triangulation, 4, 0., 1., true);
  add_periodic_faces(triangulation, {0});
  Ids ids(16, 0);
  for (const auto &cell : triangulation.active_cell_iterators())
    ids[cell->active_cell_index()] =
      cell->center()[0] > 0.25 && cell->center()[0] < 0.75;
  check("periodic boundaries do not connect",
        Agglomeration::statistics<2>(triangulation, ids).n_disconnected == 1);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);

  {
    Triangulation<2> triangulation;
    GridGenerator::subdivided_hyper_cube(triangulation, 9);
    triangulation.refine_global(1);
    check_strategies("quadrilaterals", triangulation);
  }
  {
    Triangulation<2> triangulation;
    GridGenerator::hyper_ball(triangulation);
    triangulation.refine_global(2);
    refine_locally(triangulation, 3);
    check_strategies("quadrilaterals, graded", triangulation);
  }
  {
    Triangulation<2> triangulation;
    anisotropic_mesh(triangulation);
    check_strategies("rectangles", triangulation);
  }
  {
    Triangulation<2> triangulation;
    GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, 7);
    triangulation.refine_global(1);
    check_strategies("triangles", triangulation);
  }
  {
    Triangulation<2> triangulation;
    mixed_mesh(triangulation, 10);
    check_strategies("triangles and quadrilaterals", triangulation);
  }
  {
    Triangulation<2> triangulation;
    separate_squares(triangulation);
    triangulation.refine_global(1);
    check_strategies("separate squares", triangulation);
  }
  {
    Triangulation<3> triangulation;
    GridGenerator::subdivided_hyper_cube(triangulation, 3);
    triangulation.refine_global(1);
    refine_locally(triangulation, 1);
    check_strategies("hexahedra, graded", triangulation);
  }
  {
    Triangulation<3> triangulation;
    GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, 3);
    triangulation.refine_global(1);
    check_strategies("tetrahedra", triangulation);
  }
  // The qualities of a large mesh, which assertions do not change.
#ifndef DEBUG
  check_large();
#endif
  check_weights();
  check_parts();
  check_repair();
  check_statistics();
  check_periodic();
}

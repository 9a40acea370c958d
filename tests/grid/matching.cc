// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Agglomeration::matching(): polytopes are connected, their number is the one
// asked for, their sizes lie about the mean, and the ids are the same for any
// number of threads. There are hardly more faces between polytopes than with
// METIS. On several processes, the properties hold for all polytopes together.
// Clusters of arbitrary weighted graphs are connected, too. The
// properties on further meshes are in agglomeration.cc.

#include <deal.II/base/mpi.h>
#include <deal.II/base/multithread_info.h>

#include <deal.II/distributed/shared_tria.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/matching.h>
#include <tessella/multigrid/multigrid_hierarchy.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../../source/grid/dual_graph.h"
#include "../../source/grid/graph_clustering.h"
#include "../tests.h"

using namespace dealii;
namespace Agglomeration       = Tessella::Agglomeration;
namespace NestedAgglomeration = Tessella::NestedAgglomeration;
using Ids                     = std::vector<unsigned int>;

/// Pairs of neighbours with different ids.
template <int dim>
std::size_t
cut(const Triangulation<dim> &triangulation, const Ids &ids)
{
  std::size_t n = 0;
  for (const auto &cell : triangulation.active_cell_iterators())
    for (const unsigned int f : cell->face_indices())
      if (!cell->at_boundary(f) && cell->neighbor(f)->is_active())
        {
          const auto neighbor = cell->neighbor(f);
          if (ids[cell->active_cell_index()] !=
              ids[neighbor->active_cell_index()])
            n += neighbor->level() < cell->level() ? 2 : 1;
        }
  return n / 2;
}

/// Standard deviation of the sizes of the polytopes.
double
spread(const Ids &ids)
{
  std::map<unsigned int, unsigned int> sizes;
  for (const unsigned int id : ids)
    ++sizes[id];
  const double mean = double(ids.size()) / sizes.size();
  double       sum  = 0;
  for (const auto &size : sizes)
    sum += (size.second - mean) * (size.second - mean);
  return std::sqrt(sum / sizes.size());
}

template <int dim>
void
check_quality(const std::string        &name,
              const Triangulation<dim> &triangulation,
              const double              cells_per_polytope)
{
  LogStream::Prefix  prefix(name);
  const unsigned int n = triangulation.n_active_cells() / cells_per_polytope;
  const Agglomeration::Strategy<dim> strategy = Agglomeration::matching<dim>(n);
  Ids                                ids;
  bool                               same = true;
  for (const unsigned int n_threads : {1u, 2u, 4u})
    {
      MultithreadInfo::set_thread_limit(n_threads);
      const Ids present = strategy(triangulation);
      same              = same && (n_threads == 1 || present == ids);
      ids               = present;
    }
  MultithreadInfo::set_thread_limit(n_threads());
  check("same ids for 1, 2 and 4 threads", same);

  const auto statistics = Agglomeration::statistics<dim>(triangulation, ids);
  check("number of polytopes", statistics.n_polytopes == n);
  check("connected", statistics.n_disconnected == 0);
  const double mean = double(ids.size()) / n;
  check("sizes",
        statistics.min_cells >= std::floor(0.5 * mean) &&
          statistics.max_cells <= std::ceil(1.5 * mean));

  const Ids metis = Agglomeration::metis<dim>(n)(triangulation);
  check_below("faces between polytopes, relative to METIS",
              double(cut(triangulation, ids)) / cut(triangulation, metis),
              1.05);
  // Half a cell is allowed, since METIS gives all polytopes the same size on
  // some meshes.
  check_below("standard deviation of sizes",
              spread(ids),
              std::max(0.5, 1.5 * spread(metis)));
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
      const Ids ids = Agglomeration::matching<2>(50, weights)(triangulation);
      std::vector<double> weight_of(50, 0.);
      for (std::size_t i = 0; i < ids.size(); ++i)
        weight_of[ids[i]] += weights[i];
      check_below("largest polytope over the mean, factor " +
                    std::to_string(factor),
                  *std::max_element(weight_of.begin(), weight_of.end()) * 50. /
                    total,
                  1.25);
      check_below("mean over the smallest polytope",
                  total / 50. /
                    *std::min_element(weight_of.begin(), weight_of.end()),
                  1.34);
    }
}

void
check_pieces()
{
  LogStream::Prefix prefix("pieces");
  Triangulation<2>  left, right, triangulation;
  GridGenerator::subdivided_hyper_cube(left, 5);
  GridGenerator::subdivided_hyper_cube(right, 3, 2., 3.);
  GridGenerator::merge_triangulations(left, right, triangulation);
  check_throws<ExceptionBase>(
    "more pieces than polytopes",
    [&]() { Agglomeration::matching<2>(1)(triangulation); },
    "consists of 2 pieces that share no face");
  const Ids ids = Agglomeration::matching<2>(2)(triangulation);
  check("one polytope for each piece",
        cut(triangulation, ids) == 0 &&
          Agglomeration::statistics<2>(triangulation, ids).n_polytopes == 2);

  // Multigrid's levels end where the pieces are reached.
  Tessella::AgglomerationHandler<2> handler(triangulation);
  handler.agglomerate(Agglomeration::none<2>());
  handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<2>(1));
  const auto parents = NestedAgglomeration::matching(handler, 0, 1);
  check("coarsest level",
        std::set<unsigned int>(parents.back().begin(), parents.back().end())
            .size() == 2);
}

/// Levels of multigrid are connected and shrink by the number of children.
template <int dim>
void
check_nested(const Triangulation<dim> &triangulation)
{
  LogStream::Prefix                   prefix("nested");
  Tessella::AgglomerationHandler<dim> handler(triangulation);
  Ids ids = Agglomeration::matching<dim>(triangulation.n_active_cells() /
                                         4)(triangulation);
  handler.agglomerate(Agglomeration::by_id<dim>(ids));
  handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(1));
  ids                = handler.polytope_of_cell();
  unsigned int n     = handler.n_polytopes();
  bool         good  = true;
  unsigned int level = 0;
  for (const Ids &parent : NestedAgglomeration::matching(handler, 8, 20))
    {
      for (unsigned int &id : ids)
        id = parent[id];
      const auto statistics =
        Agglomeration::statistics<dim>(triangulation, ids);
      n = (n + 7) / 8;
      good =
        good && statistics.n_polytopes == n && statistics.n_disconnected == 0;
      ++level;
    }
  check("levels", good && level > 1 && n <= 20);
}

/// Clusters of random weighted graphs: neighbours in a ring and some more.
void
check_graphs()
{
  LogStream::Prefix prefix("graphs");
  std::uint32_t     state  = 1;
  const auto        random = [&]() { // numerical recipes
    return (state = 1664525u * state + 1013904223u) >> 8;
  };
  bool good = true;
  for (unsigned int n = 3; n < 200; n += 14)
    {
      std::vector<std::map<unsigned int, unsigned int>> rows(n);
      for (unsigned int i = 0; i < 2 * n; ++i)
        {
          const unsigned int a = i < n ? i : random() % n,
                             b = i < n ? (i + 1) % n : random() % n;
          if (a != b)
            rows[a][b] = rows[b][a] = 1 + random() % 9;
        }
      Tessella::internal::WeightedGraph graph;
      graph.offsets.push_back(0);
      for (const auto &row : rows)
        {
          for (const auto &edge : row)
            {
              graph.neighbors.push_back(edge.first);
              graph.edge_weights.push_back(edge.second);
            }
          graph.offsets.push_back(graph.neighbors.size());
          graph.vertex_weights.push_back(1 + random() % 5);
        }
      Tessella::internal::DualGraph dual;
      dual.offsets   = graph.offsets;
      dual.neighbors = graph.neighbors;
      for (unsigned int n_parts = 1; n_parts <= n; n_parts += 1 + n_parts / 3)
        {
          Ids ids   = Tessella::internal::cluster_graph(graph, n_parts);
          Ids split = Tessella::internal::connected_parts(dual, ids);
          good      = good && Tessella::internal::renumber(ids) == n_parts &&
                 Tessella::internal::renumber(split) == n_parts;
        }
    }
  check("connected clusters", good);
}

/// Every process groups the cells that it owns. All polytopes together are as
/// many as were asked for.
void
check_distributed()
{
  LogStream::Prefix                  prefix("distributed");
  parallel::shared::Triangulation<2> triangulation(
    MPI_COMM_WORLD,
    Triangulation<2>::none,
    false,
    parallel::shared::Triangulation<2>::partition_zorder);
  GridGenerator::hyper_ball(triangulation);
  triangulation.refine_global(3);
  for (const auto &cell : triangulation.active_cell_iterators())
    if (cell->center()[0] < 0.)
      cell->set_refine_flag();
  triangulation.execute_coarsening_and_refinement();
  const unsigned int n   = triangulation.n_global_active_cells() / 5;
  const Ids          ids = Agglomeration::matching<2>(n)(triangulation);
  const auto statistics  = Agglomeration::statistics<2>(triangulation, ids);
  check("number of polytopes", statistics.n_polytopes == n);
  check("connected", statistics.n_disconnected == 0);
  check("sizes", statistics.min_cells >= 3 && statistics.max_cells <= 8);

  // Pieces of a process's cells beyond its share become polytopes.
  const Ids  whole  = Agglomeration::matching<2>(1)(triangulation);
  const auto pieces = Agglomeration::statistics<2>(triangulation, whole);
  check("at least one for each process",
        pieces.n_polytopes >= Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) &&
          pieces.n_disconnected == 0);

  Tessella::AgglomerationHandler<2> handler(triangulation);
  handler.agglomerate(Agglomeration::matching<2>(n));
  handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<2>(1));
  const auto   parents = NestedAgglomeration::matching(handler, 4, 10);
  unsigned int n_left  = handler.n_polytopes();
  bool         good    = !parents.empty();
  for (const Ids &parent : parents)
    {
      good   = good && parent.size() == n_left;
      n_left = std::set<unsigned int>(parent.begin(), parent.end()).size();
    }
  check("levels of multigrid",
        Utilities::MPI::min(good ? 1 : 0, MPI_COMM_WORLD) == 1 &&
          Utilities::MPI::sum(n_left, MPI_COMM_WORLD) <= 10);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  if (Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) > 1)
    {
      check_distributed();
      return 0;
    }
  {
    Triangulation<2> triangulation;
    GridGenerator::subdivided_hyper_cube(triangulation, 100);
    check_quality("quadrilaterals", triangulation, 12);
  }
  {
    Triangulation<2> triangulation;
    GridGenerator::hyper_ball(triangulation);
    triangulation.refine_global(4);
    for (unsigned int k = 0; k < 2; ++k)
      {
        for (const auto &cell : triangulation.active_cell_iterators())
          if (cell->center().norm() < 0.5)
            cell->set_refine_flag();
        triangulation.execute_coarsening_and_refinement();
      }
    check_quality("quadrilaterals, graded", triangulation, 8);
  }
  {
    Triangulation<2> triangulation;
    GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, 60);
    check_quality("triangles", triangulation, 6);
  }
  {
    Triangulation<3> triangulation;
    GridGenerator::subdivided_hyper_cube(triangulation, 20);
    check_quality("hexahedra", triangulation, 8);
  }
  {
    Triangulation<3> cubes, triangulation;
    GridGenerator::subdivided_hyper_cube(cubes, 8);
    GridGenerator::convert_hypercube_to_simplex_mesh(cubes, triangulation);
    check_quality("tetrahedra", triangulation, 4);
    check_quality("tetrahedra, large polytopes", triangulation, 30);
    check_nested(triangulation);
  }
  check_weights();
  check_pieces();
  check_graphs();
}

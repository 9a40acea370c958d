// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Penalty factors: known values, a search that shares no code with the library,
// formulas, caching, threads, curved facets.

#include <deal.II/base/multithread_info.h>

#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/penalty.h>

#include <algorithm>
#include <functional>
#include <random>

#include "../meshes.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;

template <int dim>
Agglomeration::Strategy<dim>
by_centre(const std::function<unsigned int(const Point<dim> &)> &id)
{
  return [id](const Triangulation<dim> &triangulation) {
    std::vector<unsigned int> ids(triangulation.n_active_cells());
    std::vector<unsigned int> number(1000000, invalid_index);
    unsigned int              next = 0;
    for (const auto &cell : triangulation.active_cell_iterators())
      {
        unsigned int &n = number[id(cell->center())];
        if (n == invalid_index)
          n = next++;
        ids[cell->active_cell_index()] = n;
      }
    return ids;
  };
}

// Factor of the facet with this centre on the side of polytope k.
template <int dim>
double
factor(const AgglomerationHandler<dim> &handler,
       const Point<dim>                &centre,
       const unsigned int               k)
{
  const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
  for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
    for (unsigned int f = mesh.facet_offset[i]; f < mesh.facet_offset[i + 1];
         ++f)
      {
        Point<dim>         c;
        const unsigned int begin = mesh.facet_vertex_offset[f],
                           end   = mesh.facet_vertex_offset[f + 1];
        for (unsigned int v = begin; v < end; ++v)
          for (unsigned int d = 0; d < dim; ++d)
            c[d] += mesh.facet_vertices[v * dim + d] / (end - begin);
        if (c.distance(centre) < 1e-10)
          return handler.polytopic_dofs()
            .penalty_factor[2 * f +
                            (mesh.interface_polytope[2 * i] == k ? 0 : 1)];
      }
  return 0;
}

template <int dim>
const AgglomerationHandler<dim> &
setup(AgglomerationHandler<dim> &handler,
      const unsigned int         p,
      const PenaltyFormula       formula = PenaltyFormula::simplex)
{
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(p));
  compute_penalty_factors(handler, formula);
  return handler;
}

void
known_values_2d()
{
  deallog << "known values, 2-D" << std::endl;
  Triangulation<2> squares;
  GridGenerator::subdivided_hyper_rectangle(squares,
                                            {4, 4},
                                            Point<2>(),
                                            Point<2>(4, 4));
  {
    // Single squares: |k|/|K| = 2 is larger than C_cov only for p <= 1.
    AgglomerationHandler<2> handler(squares);
    handler.agglomerate(Agglomeration::none<2>());
    check_close("square, p = 0",
                factor(setup(handler, 0), Point<2>(1, 0.5), 0),
                1.,
                1e-12);
    check_close("square, p = 1",
                factor(setup(handler, 1), Point<2>(1, 0.5), 0),
                1.,
                1e-12);
    check_close("square, p = 3",
                factor(setup(handler, 3), Point<2>(1, 0.5), 0),
                9 * 2.,
                1e-12);
    check_close("bounding box",
                factor(setup(handler, 3, PenaltyFormula::bounding_box),
                       Point<2>(1, 0.5),
                       0),
                9.,
                1e-12);
  }
  {
    // A bar of four squares and the rest.
    AgglomerationHandler<2> handler(squares);
    handler.agglomerate(
      by_centre<2>([](const Point<2> &x) { return x[1] < 1 ? 0u : 1u; }));
    setup(handler, 2);
    check_close("bar, end", factor(handler, Point<2>(0, 0.5), 0), 2., 1e-10);
    check_close("bar, side", factor(handler, Point<2>(1.5, 1), 0), 8., 1e-10);
    check_close("bar, beyond",
                factor(handler, Point<2>(1.5, 1), 1),
                4 * 2. / 3,
                1e-10);
    check_close("bar, bounding box",
                factor(setup(handler, 2, PenaltyFormula::bounding_box),
                       Point<2>(0, 0.5),
                       0),
                1.,
                1e-10);
  }
  {
    // An L: from the short side of an arm the apex can be as far as the end of
    // the other arm, but then the triangle must be slanted past the corner.
    AgglomerationHandler<2> handler(squares);
    handler.agglomerate(by_centre<2>(
      [](const Point<2> &x) { return x[0] > 2 && x[1] > 2 ? 1u : 0u; }));
    setup(handler, 1);
    check_close("L, long side",
                factor(handler, Point<2>(0.5, 0), 0),
                0.5,
                1e-10);
    check_close("L, slanted", factor(handler, Point<2>(2.5, 0), 0), 0.5, 1e-10);
    check_close("L, notch", factor(handler, Point<2>(2, 2.5), 0), 1., 1e-10);
    check_close("L, inner square",
                factor(handler, Point<2>(2, 2.5), 1),
                1.,
                1e-10);
  }
  {
    // Two squares that do not touch: each square sees only itself.
    AgglomerationHandler<2> handler(squares);
    handler.agglomerate(by_centre<2>([](const Point<2> &x) {
      return x[1] < 1 && (x[0] < 1 || x[0] > 3) ? 1u : 0u;
    }));
    check_close("two parts",
                factor(setup(handler, 1), Point<2>(1, 0.5), 0),
                2.,
                1e-10);
  }
  {
    // More facets than are searched without a tree; a wall in the middle.
    Triangulation<2> fine;
    GridGenerator::subdivided_hyper_rectangle(fine,
                                              {40, 40},
                                              Point<2>(),
                                              Point<2>(40, 40));
    AgglomerationHandler<2> handler(fine);
    handler.agglomerate(by_centre<2>([](const Point<2> &x) {
      return x[1] > 20 && x[1] < 21 && x[0] > 10 ? 1u : 0u;
    }));
    setup(handler, 1);
    check_close("wall, free side",
                factor(handler, Point<2>(4.5, 0), 0),
                2. / 40,
                1e-10);
    // straight up 20; slanted, past the end of the wall, up to 40
    const double before = factor(handler, Point<2>(30.5, 0), 0);
    check("wall, before it", before < 2. / 19.9 && before > 2. / 40.1);
    check_close("wall, along it",
                factor(handler, Point<2>(40, 10.5), 0),
                2. / 40,
                1e-10);
  }
  {
    // Hanging nodes: the facets of the coarse square are those of its small
    // neighbours.
    Triangulation<2> triangulation;
    GridGenerator::subdivided_hyper_rectangle(triangulation,
                                              {2, 1},
                                              Point<2>(),
                                              Point<2>(2, 1));
    triangulation.begin_active()->set_refine_flag();
    triangulation.execute_coarsening_and_refinement();
    AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate(
      by_centre<2>([](const Point<2> &x) { return x[0] > 1 ? 1u : 0u; }));
    setup(handler, 1);
    const unsigned int coarse = handler.polytope_of_cell()[0];
    check_close("hanging, coarse side",
                factor(handler, Point<2>(1, 0.25), coarse),
                2.,
                1e-10);
    check_close("hanging, fine side",
                factor(handler, Point<2>(1, 0.25), 1 - coarse),
                2.,
                1e-10);
  }
  {
    Triangulation<2> triangles;
    GridGenerator::subdivided_hyper_cube_with_simplices(triangles, 1);
    AgglomerationHandler<2> handler(triangles);
    handler.agglomerate(Agglomeration::none<2>());
    // |F| / |k| = sqrt(2) / 0.5
    check_close("triangle",
                factor(setup(handler, 2), Point<2>(0.5, 0.5), 0),
                4 * 2 * std::sqrt(2.),
                1e-10);
  }
}

void
known_values_3d()
{
  deallog << "known values, 3-D" << std::endl;
  Triangulation<3> cubes;
  GridGenerator::subdivided_hyper_rectangle(cubes,
                                            {4, 4, 4},
                                            Point<3>(),
                                            Point<3>(4, 4, 4));
  {
    AgglomerationHandler<3> handler(cubes);
    handler.agglomerate(Agglomeration::none<3>());
    check_close("cube, p = 1",
                factor(setup(handler, 1), Point<3>(1, 0.5, 0.5), 0),
                1.,
                1e-10);
    check_close("cube, p = 2",
                factor(setup(handler, 2), Point<3>(1, 0.5, 0.5), 0),
                4 * 3.,
                1e-10);
  }
  {
    AgglomerationHandler<3> handler(cubes);
    handler.agglomerate(by_centre<3>(
      [](const Point<3> &x) { return x[1] < 1 && x[2] < 1 ? 0u : 1u; }));
    setup(handler, 1);
    check_close("bar, end",
                factor(handler, Point<3>(0, 0.5, 0.5), 0),
                0.75,
                1e-10);
    check_close("bar, side",
                factor(handler, Point<3>(0.5, 1, 0.5), 0),
                3.,
                1e-10);
  }
  {
    AgglomerationHandler<3> handler(cubes);
    handler.agglomerate(by_centre<3>(
      [](const Point<3> &x) { return x[0] > 2 && x[1] > 2 ? 1u : 0u; }));
    setup(handler, 1);
    check_close("L, slanted",
                factor(handler, Point<3>(2.5, 0, 1.5), 0),
                0.75,
                1e-10);
    check_close("L, notch",
                factor(handler, Point<3>(2, 2.5, 0.5), 0),
                1.5,
                1e-10);
  }
  {
    Triangulation<3> tetrahedra;
    GridGenerator::reference_cell(tetrahedra, ReferenceCells::Tetrahedron);
    AgglomerationHandler<3> handler(tetrahedra);
    handler.agglomerate(Agglomeration::none<3>());
    check_close("tetrahedron",
                factor(setup(handler, 2), Point<3>(1. / 3, 1. / 3, 1. / 3), 0),
                4 * std::sqrt(27.),
                1e-9);
  }
}

// Irregular polytopes of unit squares or cubes (cells nearest to random points,
// some moved to other polytopes). The height that the library finds is compared
// with random apexes, for which containment is tested with points.
template <int dim>
void
random_polytopes(const unsigned int n_cells,
                 const unsigned int n_polytopes,
                 const double       noise,
                 const double       smallest_mean)
{
  deallog << "random polytopes, " << dim << "-D, noise " << noise << std::endl;
  Triangulation<dim> triangulation;
  GridGenerator::subdivided_hyper_cube(triangulation, n_cells, 0, n_cells);
  std::mt19937            generator(1);
  const auto              uniform = [&]() { return generator() * 0x1p-32; };
  std::vector<Point<dim>> seeds(n_polytopes);
  for (Point<dim> &seed : seeds)
    for (unsigned int d = 0; d < dim; ++d)
      seed[d] = n_cells * uniform();
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(by_centre<dim>([&](Point<dim> x) {
    for (unsigned int d = 0; d < dim; ++d)
      x[d] += n_cells * noise * (uniform() - 0.5);
    unsigned int nearest = 0;
    for (unsigned int s = 1; s < seeds.size(); ++s)
      if (x.distance_square(seeds[s]) < x.distance_square(seeds[nearest]))
        nearest = s;
    return nearest;
  }));
  const unsigned int        p    = 6; // large bound for coverable ones
  const PolytopicMesh<dim> &mesh = setup(handler, p).polytopic_mesh();

  std::vector<unsigned int> polytope_at(std::pow(n_cells, dim) + 0.5);
  const auto                place = [&](const Point<dim> &x) {
    unsigned int i = 0;
    for (int d = dim - 1; d >= 0; --d)
      i = i * n_cells + static_cast<unsigned int>(x[d]);
    return i;
  };
  for (const auto &cell : triangulation.active_cell_iterators())
    polytope_at[place(cell->center())] =
      handler.polytope_of_cell()[cell->active_cell_index()];

  unsigned int n   = 0;
  double       sum = 0, largest = 0;
  bool         all_positive = true;
  for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
    for (unsigned int f = mesh.facet_offset[i]; f < mesh.facet_offset[i + 1];
         ++f)
      for (unsigned int side = 0; side < 2; ++side)
        {
          const unsigned int k = mesh.interface_polytope[2 * i + side];
          if (k == invalid_index)
            continue;
          const double value =
            handler.polytopic_dofs().penalty_factor[2 * f + side];
          all_positive &= (value > 0 && value < 1e6);
          if (generator() % 23 != 0)
            continue;
          const double            found = p * p * dim / value;
          std::vector<Point<dim>> corner;
          Point<dim>              centre;
          Tensor<1, dim>          inward;
          for (unsigned int v = mesh.facet_vertex_offset[f];
               v < mesh.facet_vertex_offset[f + 1];
               ++v)
            {
              Point<dim> x;
              for (unsigned int d = 0; d < dim; ++d)
                x[d] = mesh.facet_vertices[v * dim + d];
              corner.push_back(x);
              centre += x;
            }
          centre /= corner.size();
          for (unsigned int d = 0; d < dim; ++d)
            inward[d] = (side == 1 ? 1 : -1) * mesh.facet_normal[f * dim + d];

          double best = 0;
          for (unsigned int t = 0; t < 1500; ++t)
            {
              Point<dim> apex;
              for (unsigned int d = 0; d < dim; ++d)
                {
                  const double *box = &mesh.box[2 * dim * k];
                  apex[d] = box[d] + (box[dim + d] - box[d]) * uniform();
                }
              if (t < 200)
                apex = centre + n_cells * uniform() * inward;
              const double height = (apex - centre) * inward;
              if (height <= best)
                continue;
              bool inside = true;
              for (unsigned int q = 0; q < 400 && inside; ++q)
                {
                  // many points near the edges from the corners to the apex
                  double a = uniform(), b = uniform();
                  if (q % 2 == 0)
                    a = a < 0.5 ? 0 : 1;
                  if (q % 3 == 0)
                    b = b < 0.5 ? 0 : 1;
                  Point<dim> x;
                  if (dim == 2)
                    x = (1 - a) * corner[0] + a * corner[1];
                  else
                    x =
                      (1 - a) *
                        ((1 - b) * corner[0] + b * corner[2 % corner.size()]) +
                      a * ((1 - b) * corner[1] + b * corner[3 % corner.size()]);
                  x              = centre + (1 - 1e-4) * (x - centre);
                  const double s = 1e-7 + uniform() * (1 - 1e-7);
                  x              = x + s * (apex - x);
                  for (unsigned int d = 0; d < dim; ++d)
                    inside &= x[d] > 0 && x[d] < n_cells;
                  inside = inside && polytope_at[place(x)] == k;
                }
              if (inside)
                best = height;
            }
          ++n;
          sum += std::min(found / best, 1.);
          // The random search does not find thin simplices. Where it finds a
          // substantial height, the library's must not be much larger.
          if (best > 1)
            largest = std::max(largest, found / best);
        }
  check("all positive", all_positive);
  check("enough facets", n > 40);
  check_below("heights are not too small", smallest_mean, sum / n);
  check_below("heights are not too large", largest, 2.);
}

// A row of cells with joined ends.
void
periodic()
{
  deallog << "periodic" << std::endl;
  Triangulation<2> triangulation;
  GridGenerator::subdivided_hyper_rectangle(
    triangulation, {4, 2}, Point<2>(), Point<2>(4, 2), true);
  add_periodic_faces(triangulation, {0});
  AgglomerationHandler<2> handler(triangulation);
  handler.agglomerate(
    by_centre<2>([](const Point<2> &x) { return x[0] < 3 ? 0u : 1u; }));
  setup(handler, 1);
  // The periodic facets have the position of polytope 0, at x = 0.
  check_close("left", factor(handler, Point<2>(0, 0.5), 0), 2. / 3, 1e-10);
  check_close("right", factor(handler, Point<2>(0, 0.5), 1), 2., 1e-10);
}

void
threads_and_cache()
{
  deallog << "threads and cache" << std::endl;
  Triangulation<3> triangulation;
  GridGenerator::subdivided_hyper_cube(triangulation, 12);
  GridTools::distort_random(0.2, triangulation, true, 3);
  AgglomerationHandler<3> handler(triangulation);
  for (const unsigned int n : {200, 1})
    {
      handler.agglomerate(Agglomeration::rtree_parts<3>(n));
      std::vector<double> one =
        (MultithreadInfo::set_thread_limit(1),
         setup(handler, 2).polytopic_dofs().penalty_factor);
      MultithreadInfo::set_thread_limit(2);
      check("same bits, " + std::to_string(n),
            one == setup(handler, 2).polytopic_dofs().penalty_factor);
      check("all positive",
            *std::min_element(one.begin(), one.end()) >= 0 &&
              *std::max_element(one.begin(), one.end()) < 1e5);
    }
  handler.mutable_polytopic_dofs().penalty_factor[0] = -1;
  compute_penalty_factors(handler, PenaltyFormula::simplex);
  check("cached", handler.polytopic_dofs().penalty_factor[0] == -1);
  compute_penalty_factors(handler, PenaltyFormula::bounding_box);
  check("another formula", handler.polytopic_dofs().penalty_factor[0] > 0);
  handler.mutable_polytopic_dofs().penalty_factor[0] = -1;
  setup(handler, 3, PenaltyFormula::bounding_box);
  check("another degree", handler.polytopic_dofs().penalty_factor[0] > 0);
}

// Factors of curved facets are the same for all quadrature tables, whenever
// these are made.
template <int dim>
void
curved(const unsigned int mapping_degree)
{
  deallog << "curved facets, " << dim << "-D, degree " << mapping_degree
          << std::endl;
  Triangulation<dim> triangulation;
  GridGenerator::hyper_shell(
    triangulation, Point<dim>(), 0.5, 1., dim == 2 ? 8 : 6);
  triangulation.refine_global(1);
  const MappingQ<dim> mapping(mapping_degree);
  const auto          factors =
    [&](const CurvedQuadrature quadrature, const int before, const int after) {
      AgglomerationHandler<dim> handler(triangulation, &mapping);
      handler.agglomerate(Agglomeration::rtree_parts<dim>(11));
      handler.set_curved_quadrature(quadrature);
      handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(2));
      if (before >= 0)
        handler.tabulate(before);
      compute_penalty_factors(handler, PenaltyFormula::simplex);
      if (after >= 0)
        {
          handler.tabulate(after);
          compute_penalty_factors(handler, PenaltyFormula::bounding_box);
          compute_penalty_factors(handler, PenaltyFormula::simplex);
        }
      return handler.polytopic_dofs().penalty_factor;
    };
  const std::vector<double> first = factors(CurvedQuadrature::exact, -1, -1);
  check("all positive",
        *std::min_element(first.begin(), first.end()) >= 0 &&
          *std::max_element(first.begin(), first.end()) < 1e5);
  for (const auto quadrature :
       {CurvedQuadrature::exact, CurvedQuadrature::consistent})
    for (const auto &orders : {std::pair<int, int>(0, 5), {5, -1}, {-1, 0}})
      check(std::string(quadrature == CurvedQuadrature::exact ? "exact"
                                                              : "consistent") +
              " tables of orders " + std::to_string(orders.first) + ", " +
              std::to_string(orders.second),
            factors(quadrature, orders.first, orders.second) == first);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  known_values_2d();
  known_values_3d();
  random_polytopes<2>(60, 200, 0., 0.85);
  random_polytopes<2>(60, 10, 0.03, 0.7);
  random_polytopes<3>(14, 300, 0., 0.85);
  random_polytopes<3>(14, 12, 0.1, 0.7);
  periodic();
  threads_and_cache();
  curved<2>(2);
  curved<2>(4);
  // This takes minutes with assertions. Curved cells in 3-D are a part of
  // handler_special, too.
#ifndef DEBUG
  curved<3>(3);
#endif
}

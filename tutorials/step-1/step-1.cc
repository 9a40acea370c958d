// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Tutorial step-1: polygons from cells. It parallels step-1 of deal.II, which
// makes meshes and draws them. README.md is the introduction.

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>

#include <tessella/base/run_main.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/matching.h>
#include <tessella/numerics/svg.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

using namespace dealii;
using namespace Tessella;

// The mesh is one of deal.II: a plate with a round hole, whose quadrilaterals
// are cut into triangles. Nothing in it knows about polygons. In two quarters
// of the plate the material id is 1.
void
make_mesh(Triangulation<2> &triangulation)
{
  Triangulation<2> quadrilaterals;
  GridGenerator::hyper_cube_with_cylindrical_hole(quadrilaterals, 0.3, 1.);
  quadrilaterals.refine_global(1);
  Triangulation<2> flat;
  GridGenerator::flatten_triangulation(quadrilaterals, flat);
  GridGenerator::convert_hypercube_to_simplex_mesh(flat, triangulation);
  for (const auto &cell : triangulation.active_cell_iterators())
    cell->set_material_id(cell->center()[0] * cell->center()[1] > 0. ? 1 : 0);
}

// A strategy is a function: it receives the mesh and returns a number for each
// cell, that of its polygon. Tessella has many of them. Numbers of your own,
// here of rings around the hole, become a strategy by by_id().
std::vector<unsigned int>
rings(const Triangulation<2> &triangulation)
{
  std::vector<unsigned int> ids(triangulation.n_active_cells());
  for (const auto &cell : triangulation.active_cell_iterators())
    {
      const Point<2>     center = cell->center();
      const unsigned int ring   = static_cast<unsigned int>(
        4. * std::max(std::abs(center[0]), std::abs(center[1])));
      const unsigned int quarter =
        (center[0] > 0. ? 1 : 0) + (center[1] > 0. ? 2 : 0);
      ids[cell->active_cell_index()] = 4 * ring + quarter;
    }
  return ids;
}

// Groups the cells, gives each polygon a polynomial space, and prints and draws
// what has become of the mesh.
void
show(const Triangulation<2>           &triangulation,
     const std::string                &name,
     const Agglomeration::Strategy<2> &strategy)
{
  // The handler plays the role of deal.II's DoFHandler. It knows the polygons,
  // their neighbours and, after distribute_dofs(), the unknowns. Newer versions
  // of deal.II have a class of this name, too.
  Tessella::AgglomerationHandler<2> handler(triangulation);
  handler.agglomerate(strategy);
  handler.distribute_dofs(FE_BoundingBoxLegendre<2>(2));

  // A loop over polygons looks like a loop over cells. A face of a polygon is
  // all that it shares with one neighbour, or with one part of the boundary.
  unsigned int n_faces = 0;
  double       area = 0., fill = 0.;
  for (const auto &polytope : handler.polytope_iterators())
    {
      n_faces += polytope->n_faces();
      area += polytope->volume();
      fill += polytope->volume() / polytope->get_bounding_box().volume();
    }

  const Agglomeration::Statistics statistics =
    Agglomeration::statistics(triangulation, strategy(triangulation));
  std::cout << std::left << std::setw(10) << name << std::right << std::setw(9)
            << handler.n_polytopes() << std::setw(6) << statistics.min_cells
            << std::setw(6) << statistics.max_cells << std::setw(7)
            << statistics.n_disconnected << std::setw(7) << std::fixed
            << std::setprecision(2) << double(n_faces) / handler.n_polytopes()
            << std::setw(6) << fill / handler.n_polytopes() << std::setw(10)
            << handler.n_dofs() << std::setw(8) << std::setprecision(4) << area
            << std::endl;

  // Colours of neighbours differ; thin lines are the cells.
  MeshSvgFlags flags;
  flags.size       = 400;
  flags.fine_cells = true;
  write_mesh_svg(handler, name + ".svg", flags);
}

void
run()
{
  Triangulation<2> triangulation;
  make_mesh(triangulation);
  const unsigned int n_cells = triangulation.n_active_cells(), n = n_cells / 8;
  std::cout << n_cells << " triangles\n"
            << "strategy   polygons   min   max  apart  faces  fill  unknowns"
               "    area\n";
  // Each cell alone: the usual discontinuous Galerkin method.
  show(triangulation, "none", Agglomeration::none<2>());
  // METIS cuts the graph of neighbours, matching joins neighbours in pairs;
  // both keep polygons connected and compact.
  show(triangulation, "metis", Agglomeration::metis<2>(n));
  show(triangulation, "matching", Agglomeration::matching<2>(n));
  // An R-tree cuts the set of centres along the axes. It is faster, and some
  // polygons may fall apart into pieces that share no edge. repair() makes
  // polygons of the pieces.
  show(triangulation, "rtree", Agglomeration::rtree_parts<2>(n));
  show(triangulation,
       "repaired",
       Agglomeration::repair<2>(Agglomeration::rtree_parts<2>(n)));
  // One polygon for each material: polygons may have any size and shape, and
  // even several parts.
  show(triangulation, "materials", Agglomeration::by_material_id<2>());
  show(triangulation, "rings", Agglomeration::by_id<2>(rings(triangulation)));
}

int
main(int argc, char **argv) // an exception becomes one line and exit status 1
{
  return run_main(argc, argv, run);
}

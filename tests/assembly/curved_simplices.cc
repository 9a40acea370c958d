// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Compares every matrix entry on triangles and tetrahedra of degree 2 to the
// reference assembler.

#include <deal.II/grid/manifold_lib.h>

#include <tessella/grid/flow_meshes.h>
#include <tessella/grid/mapping_quadratic.h>
#include <tessella/grid/read_quadratic_msh.h>

#include <set>

#include "reference_meshes.h"

template <int dim>
void
compare_simplices(const std::string              &name,
                  const Triangulation<dim>       &triangulation,
                  const Mapping<dim>             &mapping,
                  const std::vector<std::string> &agglomerations,
                  const std::set<unsigned int>   &degrees,
                  const unsigned int              coefficient_order,
                  const unsigned int              n_points)
{
  Reference::Problem<dim> problem = full_problem<dim>();
  // no facet on which b.n changes its sign
  problem.b = [](const Point<dim> &x) {
    Tensor<1, dim> b = x;
    b[0] -= 0.3 * x[1];
    b[1] += 0.3 * x[0];
    if (dim == 3)
      b = Tensor<1, dim>();
    return b;
  };
  for (const std::string &agglomeration : agglomerations)
    {
      Tessella::AgglomerationHandler<dim> handler(triangulation, &mapping);
      handler.agglomerate(make_strategy<dim>(agglomeration));
      for (const unsigned int p : degrees)
        {
          handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
          compare_and_log(name + ", " + agglomeration +
                            ", p = " + std::to_string(p),
                          handler,
                          problem,
                          coefficient_order,
                          p + n_points,
                          &mapping);
        }
    }
}

// Triangles around a circle, by its manifold.
void
compare_triangles()
{
  Triangulation<2>                 triangulation;
  Tessella::FlowMeshes::Resolution resolution;
  resolution.simplices = true;
  resolution.n_cells   = 2;
  Tessella::FlowMeshes::sphere(triangulation, resolution, .5, 1.2);
  const Tessella::MappingQuadratic<2> mapping(triangulation);
  compare_simplices("triangles",
                    triangulation,
                    mapping,
                    {"none", "steps", "scattered"},
                    {1, 2, 3},
                    8,
                    12);
}

// A ball of tetrahedra, by the nodes of the file and by a manifold.
void
compare_tetrahedra()
{
  Triangulation<3> triangulation;
  const auto       nodes =
    Tessella::read_quadratic_msh<3>(SOURCE_DIR "/../grid/meshes/ball22.msh",
                                    triangulation);
  compare_simplices(
    "tetrahedra, nodes", triangulation, *nodes, {"none", "steps"}, {1}, 12, 12);
  for (const auto &cell : triangulation.active_cell_iterators())
    for (const unsigned int f : cell->face_indices())
      if (cell->face(f)->at_boundary())
        for (const unsigned int l : cell->face(f)->line_indices())
          cell->face(f)->line(l)->set_manifold_id(1);
  triangulation.set_manifold(1, SphericalManifold<3>());
  const Tessella::MappingQuadratic<3> mapping(triangulation);
  compare_simplices(
    "tetrahedra, manifold", triangulation, mapping, {"scattered"}, {1}, 12, 12);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  compare_triangles();
  compare_tetrahedra();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
// The flat view of straight meshes, with and without hanging nodes: every
// polytope is closed, the divergence theorem holds, interfaces are sorted and
// symmetric.

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>

#include "check_mesh.h"

// Number of sub-cells of a type.
template <int dim>
unsigned int
count(const AgglomerationHandler<dim> &handler, const SubCellType type)
{
  const auto &types = handler.polytopic_mesh().subcell_type;
  return std::count(types.begin(), types.end(), type);
}

template <int dim>
void
distort(Triangulation<dim> &tria)
{
  GridTools::distort_random(.2, tria, true, 42);
}

template <int dim>
void
check_dimension()
{
  const std::string d = std::to_string(dim) + "-D ";
  {
    Triangulation<dim> tria;
    GridGenerator::subdivided_hyper_cube(tria, dim == 2 ? 8 : 4, 0, 1, true);
    check_all(d + "hypercubes", tria, 1.);
    {
      AgglomerationHandler<dim> handler(tria);
      handler.agglomerate(mixed_up<dim>(5));
      check(d + "hypercubes are affine",
            count(handler, SubCellType::parallelepiped) ==
              tria.n_active_cells());
    }
    distort(tria);
    check_all(d + "distorted hypercubes", tria, 1.);
    {
      AgglomerationHandler<dim> handler(tria);
      handler.agglomerate(mixed_up<dim>(5));
      check(d + "distorted hypercubes are not affine",
            count(handler, SubCellType::hypercube) == tria.n_active_cells());
    }
  }
  {
    Triangulation<dim> tria, simplices;
    GridGenerator::subdivided_hyper_cube(tria, dim == 2 ? 4 : 2);
    distort(tria);
    GridGenerator::convert_hypercube_to_simplex_mesh(tria, simplices);
    check_all(d + "simplices", simplices, 1.);
    AgglomerationHandler<dim> handler(simplices);
    handler.agglomerate(mixed_up<dim>(5));
    check(d + "simplices are simplices",
          count(handler, SubCellType::simplex) == simplices.n_active_cells());
  }
  {
    Triangulation<dim> tria;
    GridGenerator::subdivided_hyper_cube(tria, 3);
    // A coarse mesh of non-affine cells: hanging nodes lie on bilinear faces.
    distort(tria);
    refine_some(tria, dim == 2 ? 4 : 2);
    check_all(d + "hanging nodes", tria, 1.);
  }
}

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, n_threads());
  initlog();

  check_dimension<2>();
  check_dimension<3>();
}

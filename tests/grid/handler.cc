// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
// The flat view of straight meshes, with and without hanging nodes: every
// polytope is closed, the divergence theorem holds, interfaces are sorted and
// symmetric.

#include <deal.II/base/multithread_info.h>

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

// Cells that are cut in one direction only: unrefined faces next to refined
// neighbours, and faces that are refined twice.
template <int dim>
void
check_anisotropic()
{
  const std::string  d = std::to_string(dim) + "-D ";
  Triangulation<dim> tria;
  GridGenerator::subdivided_hyper_cube(tria, 3);
  for (unsigned int i = 0; i < 2; ++i)
    {
      for (const auto &cell : tria.active_cell_iterators())
        if (cell->active_cell_index() % 4 == i)
          cell->set_refine_flag(RefinementCase<dim>::cut_axis(
            (cell->active_cell_index() / 4 + i) % dim));
        else if (cell->active_cell_index() % 9 == 5)
          cell->set_refine_flag();
      tria.execute_coarsening_and_refinement();
    }
  check_all(d + "anisotropic refinement", tria, 1.);
}

// Triangles with hanging nodes.
void
check_refined_triangles()
{
  Triangulation<2> tria;
  GridGenerator::subdivided_hyper_cube_with_simplices(tria, 3);
  refine_some(tria, 2);
  check_all("2-D triangles with hanging nodes", tria, 1.);
}

// The arrays are the same for any number of threads.
template <int dim>
void
check_threads()
{
  Triangulation<dim> tria;
  GridGenerator::subdivided_hyper_cube(tria, dim == 2 ? 40 : 10);
  distort(tria);
  refine_some(tria, 1);
  std::vector<PolytopicMesh<dim>> views;
  for (const unsigned int n : {1, 2, 3})
    {
      MultithreadInfo::set_thread_limit(n);
      AgglomerationHandler<dim> handler(tria);
      handler.agglomerate(mixed_up<dim>(tria.n_active_cells() / 9));
      handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
      views.push_back(handler.polytopic_mesh());
    }
  MultithreadInfo::set_thread_limit(n_threads());
  bool same = true;
  for (const PolytopicMesh<dim> &v : views)
    same &= v.box == views[0].box && v.measure == views[0].measure &&
            v.subcell_offset == views[0].subcell_offset &&
            v.subcell_type == views[0].subcell_type &&
            v.subcell_cell == views[0].subcell_cell &&
            v.subcell_vertices == views[0].subcell_vertices &&
            v.polytope_interface_offset == views[0].polytope_interface_offset &&
            v.polytope_interface == views[0].polytope_interface &&
            v.interface_polytope == views[0].interface_polytope &&
            v.interface_boundary_id == views[0].interface_boundary_id &&
            v.facet_offset == views[0].facet_offset &&
            v.facet_type == views[0].facet_type &&
            v.facet_vertices == views[0].facet_vertices &&
            v.facet_normal == views[0].facet_normal &&
            v.facet_measure == views[0].facet_measure &&
            v.facet_subcell == views[0].facet_subcell;
  check(std::to_string(dim) + "-D same view for any number of threads", same);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);

  check_dimension<2>();
  check_dimension<3>();
  check_anisotropic<2>();
  check_anisotropic<3>();
  check_refined_triangles();
  check_threads<2>();
  check_threads<3>();
}

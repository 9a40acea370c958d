// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// deal.II reads every mesh file of the repository: cell types, boundary and
// material ids, and the measure of the domain.

#include <deal.II/grid/grid_in.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>

#include <fstream>
#include <map>
#include <set>

#include "../tests.h"

using namespace dealii;

template <int dim>
void
read(const std::string                  &name,
     const typename GridIn<dim>::Format  format,
     const double                        measure,
     const std::set<types::boundary_id> &boundary_ids,
     const double                        tolerance = 1e-10)
{
  Triangulation<dim> triangulation;
  GridIn<dim>        grid_in(triangulation);
  std::ifstream      file(SOURCE_DIR "/../../parameter_files/meshes/" + name);
  grid_in.read(file, format);

  std::map<std::string, unsigned int> n_cells;
  std::set<unsigned int>              material_ids;
  double                              sum = 0.;
  for (const auto &cell : triangulation.active_cell_iterators())
    {
      ++n_cells[cell->reference_cell().to_string()];
      material_ids.insert(cell->material_id());
      sum += cell->measure();
    }
  deallog << name << std::endl;
  for (const auto &n : n_cells)
    check("  has " + n.first + " cells", n.second > 10);
  for (const auto id : material_ids)
    deallog << "  material id " << id << std::endl;
  check_close("  measure", sum, measure, tolerance);
  const auto ids = triangulation.get_boundary_ids();
  check("  boundary ids",
        std::set<types::boundary_id>(ids.begin(), ids.end()) == boundary_ids);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);

  const std::set<types::boundary_id> sides = {1, 2, 3, 4};
  const std::set<types::boundary_id> faces = {1, 2, 3, 4, 5, 6};
  read<2>("square.msh", GridIn<2>::msh, 1., sides);
  read<2>("square_v2.msh", GridIn<2>::msh, 1., sides);
  read<2>("square.vtk", GridIn<2>::vtk, 1., sides);
  read<2>("square_quadrilaterals.msh", GridIn<2>::msh, 1., sides);
  read<2>("square_quadrilaterals.inp", GridIn<2>::ucd, 1., sides);
  read<2>("square_quadrilaterals.unv", GridIn<2>::unv, 1., sides);
  read<2>("mixed.msh", GridIn<2>::msh, 2., sides);
  read<2>("l_shape.msh", GridIn<2>::msh, 3., {1, 2});
  read<2>("oscillating_coarse.msh", GridIn<2>::msh, 1., sides, 2e-3);
  read<3>("cube.msh", GridIn<3>::msh, 1., faces);
  read<3>("cube_hexahedra.msh", GridIn<3>::msh, 1., faces);
}

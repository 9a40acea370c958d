// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Ids from code, material ids and files, and all mistakes of users: each
// message is one sentence that names the cause.

#include <deal.II/base/types.h>

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_in.h>
#include <deal.II/grid/grid_out.h>
#include <deal.II/grid/tria.h>

#include <tessella/grid/agglomeration.h>
#include <tessella/grid/matching.h>

#include <fstream>
#include <string>
#include <vector>

#include "../tests.h"

using namespace dealii;
namespace Agglomeration = Tessella::Agglomeration;
using Ids               = std::vector<unsigned int>;

void
write(const std::string &file_name, const std::string &text)
{
  std::ofstream(file_name) << text;
}

template <int dim>
void
check_error(const std::string                  &name,
            const Triangulation<dim>           &triangulation,
            const Agglomeration::Strategy<dim> &strategy,
            const std::string                  &text)
{
  check_throws<ExceptionBase>(
    name, [&]() { strategy(triangulation); }, text);
}

void
check_ids(const Triangulation<2> &triangulation)
{
  LogStream::Prefix prefix("ids");
  check("renumbered",
        Agglomeration::by_id<2>({7, 7, 4000000000u, 2})(triangulation) ==
          Ids({0, 0, 1, 2}));
  check_error("too few",
              triangulation,
              Agglomeration::by_id<2>({1, 2, 3}),
              "has 3 entries, but the mesh has 4 active cells");
  check_error("no strategy",
              triangulation,
              Agglomeration::repair<2>(Agglomeration::Strategy<2>()),
              "strategy is empty");
  check_error("strategy of the user's own",
              triangulation,
              Agglomeration::repair<2>(
                [](const Triangulation<2> &) { return Ids(5, 0); }),
              "has 5 entries, but the mesh has 4 active cells");
  check_throws<ExceptionBase>(
    "statistics",
    [&]() { Agglomeration::statistics<2>(triangulation, {0}); },
    "has 1 entry, but the mesh has 4 active cells");
  check_throws<ExceptionBase>(
    "one child",
    [&]() {
      Agglomeration::nested<2>(triangulation, Agglomeration::none<2>(), 2, 1);
    },
    "never coarsens");

  for (const unsigned int n : {0u, 5u})
    {
      const std::string text =
        n == 0 ? "zero polytopes"
               : "into 5 polytopes was asked for, but the mesh has only 4";
      check_error("METIS", triangulation, Agglomeration::metis<2>(n), text);
      check_error("matching",
                  triangulation,
                  Agglomeration::matching<2>(n),
                  text);
      check_error("Hilbert",
                  triangulation,
                  Agglomeration::space_filling_curve<2>(n),
                  text);
      check_error("R-tree",
                  triangulation,
                  Agglomeration::rtree_parts<2>(n),
                  text);
    }
  check_error("weights",
              triangulation,
              Agglomeration::metis<2>(2, {1, 1, 1}),
              "has 3 entries, but the mesh has 4 active cells");
  check_error("zero weight",
              triangulation,
              Agglomeration::metis<2>(2, {1, 1, 0, 1}),
              "active cell 2 is zero");
  check_error("zero weight for matching",
              triangulation,
              Agglomeration::matching<2>(2, {1, 1, 0, 1}),
              "weight for matching of active cell 2 is zero");
}

void
check_text_file(const Triangulation<2> &triangulation)
{
  LogStream::Prefix prefix("text file");
  const auto        strategy = Agglomeration::from_file<2>("ids.txt");
  write("ids.txt", "# ids\n3 3# more 9\n\n  1\t\r\n0");
  check("read", strategy(triangulation) == Ids({0, 0, 1, 2}));
  write("ids.txt", "1 2 3");
  check_error("short",
              triangulation,
              strategy,
              "'ids.txt' of polytope ids has 3 entries");
  write("ids.txt", "1 2 3 4 5");
  check_error("long",
              triangulation,
              strategy,
              "has 5 entries, but the mesh has 4");
  write("ids.txt", "");
  check_error("empty", triangulation, strategy, "has 0 entries");
  write("ids.txt", "1 2\n3 x4");
  check_error("word",
              triangulation,
              strategy,
              "Entry 3 of the file 'ids.txt', 'x4' on line 2");
  write("ids.txt", "1 -2 3 4");
  check_error("negative", triangulation, strategy, "Entry 1 of");
  write("ids.txt", "1 2 3 4294967296");
  check_error("too large", triangulation, strategy, "Entry 3 of");
  write("ids.txt", "1 2.5 3 4");
  check_error("fraction", triangulation, strategy, "'2.5' on line 1");
  check_error("missing",
              triangulation,
              Agglomeration::from_file<2>("no such file.txt"),
              "'no such file.txt' cannot be opened");
}

// Four squares and the lines around them.
const std::string vtk_mesh =
  "# vtk DataFile Version 3.0\na title with CELL_DATA 9 in it\nASCII\n"
  "DATASET UNSTRUCTURED_GRID\nPOINTS 9 double\n"
  "0 0 0 1 0 0 2 0 0 0 1 0 1 1 0 2 1 0 0 2 0 1 2 0 2 2 0\n"
  "CELLS 6 26\n4 0 1 4 3\n4 1 2 5 4\n4 3 4 7 6\n4 4 5 8 7\n2 0 1\n2 1 2\n"
  "CELL_TYPES 6\n9 9 9 9 3 3\n";

void
check_vtk(const Triangulation<2> &triangulation)
{
  LogStream::Prefix prefix("vtk");
  const auto        strategy =
    Agglomeration::from_cell_data<2>("mesh.vtk", "polytope");
  write("mesh.vtk",
        vtk_mesh +
          "POINT_DATA 9\nSCALARS polytope int 1\nLOOKUP_TABLE default\n"
          "0 1 2 3 4 5 6 7 8\n"
          "CELL_DATA 6\nVECTORS v double\n"
          "0 0 0 1 1 1 2 2 2 3 3 3 4 4 4 5 5 5\n"
          "SCALARS polytope double\nLOOKUP_TABLE default\n"
          "3.0 1 3e0 0 77 77\n");
  check("scalars", strategy(triangulation) == Ids({0, 1, 0, 2}));
  write("mesh.vtk",
        vtk_mesh +
          "CELL_DATA 6\nFIELD FieldData 2\npressure 2 6 double\n"
          "1 1 2 2 3 3 4 4 5 5 6 6\nMETADATA\nINFORMATION 0\n\n"
          "polytope 1 6 int\n5 5 6 5 0 0\nPOINT_DATA 9\n"
          "SCALARS polytope int 1\nLOOKUP_TABLE default\n"
          "0 1 2 3 4 5 6 7 8\n");
  check("field", strategy(triangulation) == Ids({0, 0, 1, 0}));

  // A refined mesh inherits the ids, and deal.II reads the same cells.
  {
    Triangulation<2> refined;
    GridIn<2>        grid_in(refined);
    std::ifstream    stream("mesh.vtk");
    grid_in.read_vtk(stream);
    check("deal.II reads it", refined.n_active_cells() == 4);
    refined.refine_global(2);
    const Ids ids  = strategy(refined);
    bool      good = ids.size() == 64;
    for (const auto &cell : refined.active_cell_iterators())
      good = good && (ids[cell->active_cell_index()] == 1) ==
                       (cell->center()[0] < 1. && cell->center()[1] > 1.);
    check("refined", good);
  }

  write("mesh.vtk", vtk_mesh);
  check_error("no data",
              triangulation,
              strategy,
              "no cell-data field 'polytope' and no other");
  write(
    "mesh.vtk",
    vtk_mesh +
      "CELL_DATA 6\nSCALARS a int\nLOOKUP_TABLE default\n1 1 1 1 1 1\nSCALARS b int\nLOOKUP_TABLE default\n1 1 1 1 1 1\n");
  check_error("other fields", triangulation, strategy, "fields are 'a', 'b'");
  write("mesh.vtk",
        vtk_mesh +
          "CELL_DATA 6\nSCALARS polytope int\nLOOKUP_TABLE default\n1 1 1 1");
  check_error("truncated",
              triangulation,
              strategy,
              "ends where entry 4 of 6 of field 'polytope'");
  write(
    "mesh.vtk",
    vtk_mesh +
      "CELL_DATA 6\nSCALARS polytope int\nLOOKUP_TABLE default\n1 1 -1 1 1 1");
  check_error(
    "negative",
    triangulation,
    strategy,
    "Entry 2 of field 'polytope' in the file 'mesh.vtk', '-1' on line 19");
  write(
    "mesh.vtk",
    vtk_mesh +
      "CELL_DATA 6\nSCALARS polytope int\nLOOKUP_TABLE default\n1 1 1.5 1 1 1");
  check_error("fraction", triangulation, strategy, "'1.5'");
  write("mesh.vtk",
        vtk_mesh +
          "CELL_DATA 5\nSCALARS polytope int\nLOOKUP_TABLE default\n1 1 1 1 1");
  check_error("too few", triangulation, strategy, "has 5 values for 6 cells");
  write(
    "mesh.vtk",
    vtk_mesh +
      "CELL_DATA 6\nVECTORS polytope int\n0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
  check_error("components", triangulation, strategy, "has 3 components");
  write("mesh.vtk", "# vtk DataFile Version 3.0\ntitle\nBINARY\n");
  check_error("binary", triangulation, strategy, "write it in ASCII form");
  write("mesh.vtk", "something else");
  check_error("not vtk", triangulation, strategy, "not a legacy VTK file");
  write(
    "mesh.vtk",
    vtk_mesh +
      "CELL_DATA 6\nSCALARS polytope int\nLOOKUP_TABLE default\n1 1 1 1 1 1");
  Triangulation<2> other;
  GridGenerator::subdivided_hyper_cube(other, 3);
  check_error(
    "another mesh",
    other,
    strategy,
    "has 4 2-dimensional cells in field 'polytope', but the mesh has 9");
  check_error("unknown ending",
              triangulation,
              Agglomeration::from_cell_data<2>("mesh.inp", "polytope"),
              "must end in .vtk");
  check_error("missing",
              triangulation,
              Agglomeration::from_cell_data<2>("no.vtk", "polytope"),
              "'no.vtk' cannot be opened");
}

template <int dim>
void
check_material_ids()
{
  LogStream::Prefix  prefix("material ids " + std::to_string(dim));
  Triangulation<dim> original;
  GridGenerator::subdivided_hyper_cube(original, 4);
  for (const auto &cell : original.active_cell_iterators())
    {
      cell->set_material_id(cell->center()[0] < 0.3   ? 12
                            : cell->center()[1] < 0.6 ? 5
                                                      : 200);
      for (const unsigned int f : cell->face_indices())
        if (cell->at_boundary(f))
          cell->face(f)->set_boundary_id(3);
    }
  const Ids expected = Agglomeration::by_material_id<dim>()(original);
  check("three",
        Agglomeration::statistics<dim>(original, expected).n_polytopes == 3);

  GridOut grid_out;
  {
    std::ofstream stream("out.vtk");
    grid_out.write_vtk(original, stream);
  }
  {
    std::ofstream stream("out.msh");
    grid_out.set_flags(GridOutFlags::Msh(true, true));
    grid_out.write_msh(original, stream);
  }
  {
    Triangulation<dim> triangulation;
    GridIn<dim>        grid_in(triangulation);
    std::ifstream      stream("out.vtk");
    grid_in.read_vtk(stream);
    check("vtk",
          Agglomeration::by_material_id<dim>()(triangulation) == expected &&
            Agglomeration::from_cell_data<dim>("out.vtk", "MaterialID")(
              triangulation) == expected);
  }
  {
    Triangulation<dim> triangulation;
    GridIn<dim>        grid_in(triangulation);
    std::ifstream      stream("out.msh");
    grid_in.read_msh(stream);
    check("gmsh",
          Agglomeration::by_material_id<dim>()(triangulation) == expected &&
            Agglomeration::from_cell_data<dim>("out.msh", "physical")(
              triangulation) == expected);
  }
}

void
check_gmsh(const Triangulation<2> &triangulation)
{
  LogStream::Prefix prefix("gmsh");
  const std::string nodes_4 =
    "$Nodes\n1 9 1 9\n2 1 0 9\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"
    "0 0 0\n1 0 0\n2 0 0\n0 1 0\n1 1 0\n2 1 0\n0 2 0\n1 2 0\n2 2 0\n"
    "$EndNodes\n";
  const auto elementary =
    Agglomeration::from_cell_data<2>("mesh.msh", "elementary");
  write("mesh.msh",
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
        "$Entities\n0 0 0 0\n$EndEntities\n" +
          nodes_4 +
          "$Elements\n3 6 1 6\n1 40 1 2\n1 1 2\n2 2 3\n2 17 3 1\n3 1 2 5 4\n"
          "2 6 3 3\n4 2 3 6 5\n5 4 5 8 7\n6 5 6 9 8\n$EndElements\n");
  check("format 4.1", elementary(triangulation) == Ids({0, 1, 1, 1}));
  check_error("physical in format 4",
              triangulation,
              Agglomeration::from_cell_data<2>("mesh.msh", "physical"),
              "agglomerate by these");
  write("mesh.msh",
        "$MeshFormat\n4 0 8\n$EndMeshFormat\n"
        "$Elements\n3 6\n40 1 1 2\n1 1 2\n2 2 3\n17 2 3 1\n3 1 2 5 4\n"
        "6 2 3 3\n4 2 3 6 5\n5 4 5 8 7\n6 5 6 9 8\n$EndElements\n");
  check("format 4.0", elementary(triangulation) == Ids({0, 1, 1, 1}));
  const std::string elements_2 =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Elements\n5\n1 1 2 9 9 1 2\n"
    "2 3 2 100 1 1 2 5 4\n3 3 2 100 2 2 3 6 5\n4 3 3 101 2 0 4 5 8 7\n";
  write("mesh.msh", elements_2 + "5 3 2 101 3 5 6 9 8\n$EndElements\n");
  check("format 2",
        elementary(triangulation) == Ids({0, 1, 1, 2}) &&
          Agglomeration::from_cell_data<2>("mesh.msh", "physical")(
            triangulation) == Ids({0, 0, 1, 1}));
  check_error("unknown field",
              triangulation,
              Agglomeration::from_cell_data<2>("mesh.msh", "polytope"),
              "ask for 'elementary' or 'physical'");
  write("mesh.msh", elements_2);
  check_error("truncated", triangulation, elementary, "truncated");
  write("mesh.msh", elements_2 + "5 3 2 x 3 5 6 9 8\n$EndElements\n");
  check_error("word",
              triangulation,
              elementary,
              "has 'x' on line 10 where an element tag should be");
  write("mesh.msh", "$MeshFormat\n2.2 1 8\n");
  check_error("binary", triangulation, elementary, "write it in ASCII form");
  write("mesh.msh", "$MeshFormat\n1 0 8\n");
  check_error("format 1", triangulation, elementary, "format 2 or 4");
  write("mesh.msh", "$nodes\n");
  check_error("not gmsh", triangulation, elementary, "format 1, 2 or 4");
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);

  Triangulation<2> triangulation;
  GridGenerator::subdivided_hyper_cube(triangulation, 2, 0., 2.);
  check_ids(triangulation);
  check_text_file(triangulation);
  check_vtk(triangulation);
  check_gmsh(triangulation);
  check_material_ids<2>();
  check_material_ids<3>();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Compares every matrix entry to the reference assembler in 2-D.

#include "reference_meshes.h"

/// One quadrilateral and two triangles.
void
compare_mixed_2d()
{
  const std::vector<Point<2>> vertices = {Point<2>(0, 0),
                                          Point<2>(1, 0),
                                          Point<2>(2, 0.1),
                                          Point<2>(0, 1),
                                          Point<2>(1.1, 1),
                                          Point<2>(2, 1)};
  std::vector<CellData<2>>    cells(3);
  cells[0].vertices = {0, 1, 3, 4};
  cells[1].vertices = {1, 2, 4};
  cells[2].vertices = {2, 5, 4};
  Triangulation<2> triangulation;
  triangulation.create_triangulation(vertices, cells, SubCellData());
  compare_mixed(triangulation, 4);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  compare_meshes<2>();
  compare_mixed_2d();
  compare_curved<2>();
}

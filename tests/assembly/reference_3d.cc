// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Compares every matrix entry to the reference assembler in 3-D.

#include "reference_meshes.h"

/// One hexahedron, two wedges, and one pyramid.
void
compare_mixed_3d()
{
  const std::vector<Point<3>> vertices = {Point<3>(0, 0, 0),
                                          Point<3>(1, 0, 0),
                                          Point<3>(0, 1, 0),
                                          Point<3>(1, 1, 0),
                                          Point<3>(0, 0, 1),
                                          Point<3>(1, 0, 1),
                                          Point<3>(0, 1, 1),
                                          Point<3>(1, 1, 1),
                                          Point<3>(2, 0, 0),
                                          Point<3>(2, 0, 1),
                                          Point<3>(2, 1, 0),
                                          Point<3>(2, 1, 1),
                                          Point<3>(0.5, 0.5, 1.6)};
  std::vector<CellData<3>>    cells(4);
  cells[0].vertices = {0, 1, 2, 3, 4, 5, 6, 7};
  cells[1].vertices = {1, 8, 3, 5, 9, 7};
  cells[2].vertices = {8, 10, 3, 9, 11, 7};
  cells[3].vertices = {4, 5, 6, 7, 12};
  Triangulation<3> triangulation;
  triangulation.create_triangulation(vertices, cells, SubCellData());
  compare_mixed(triangulation, 3);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  compare_meshes<3>();
  compare_mixed_3d();
  compare_curved<3>();
}

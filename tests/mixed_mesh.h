// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_mixed_mesh_h
#define tessella_tests_mixed_mesh_h

#include <deal.II/grid/tria.h>

#include <vector>

/// A cube, a pyramid on top of it, a wedge beside it, a tetrahedron between.
inline void
make_mixed_mesh(dealii::Triangulation<3> &triangulation)
{
  const std::vector<dealii::Point<3>> vertices = {{0, 0, 0},
                                                  {1, 0, 0},
                                                  {0, 1, 0},
                                                  {1, 1, 0},
                                                  {0, 0, 1},
                                                  {1, 0, 1},
                                                  {0, 1, 1},
                                                  {1, 1, 1},
                                                  {.5, .5, 1.5},
                                                  {2, 0, 0},
                                                  {2, 1, 0},
                                                  {1.5, .5, 1.5}};
  std::vector<dealii::CellData<3>>    cells(4);
  cells[0].vertices = {0, 1, 2, 3, 4, 5, 6, 7};
  cells[1].vertices = {4, 5, 6, 7, 8};
  cells[2].vertices = {3, 10, 7, 1, 9, 5};
  cells[3].vertices = {5, 7, 8, 11};
  triangulation.create_triangulation(vertices, cells, dealii::SubCellData());
}

#endif

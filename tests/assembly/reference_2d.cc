// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Compares every matrix entry to the reference assembler in 2-D.

#include "reference_meshes.h"

/// One quadrilateral and two triangles.
void
compare_mixed()
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
  for (const std::string agglomeration : {"none", "slabs", "one"})
    {
      Tessella::AgglomerationHandler<2> handler(triangulation);
      handler.agglomerate(make_strategy<2>(agglomeration));
      for (unsigned int p = 0; p <= 4; ++p)
        {
          handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<2>(p));
          compare_and_log("mixed, " + agglomeration +
                            ", p = " + std::to_string(p),
                          handler,
                          full_problem<2>(),
                          4,
                          p + 5);
        }
    }
}

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, n_threads());
  initlog();
  compare_meshes<2>();
  compare_mixed();
  compare_curved<2>();
}

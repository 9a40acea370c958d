// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Pointwise operators in 3-D.
//
// Only as Release: deal.II 9.4 finds periodic faces of tetrahedra, but an
// assertion of its Debug build does not know triangles there.

#include "pointwise.h"

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, n_threads());
  initlog();
  test_operators<3>();
}

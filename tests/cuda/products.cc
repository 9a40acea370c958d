// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Products of MatrixFreeOperator on a CUDA device against the matrix that the
// host assembles: the cases of tests/operators/matrix_free.cc. Argument: 2d or
// 3d.

#include "../operators/matrix_free_cases.h"
#include "checks.h"

int
main(int argc, char **argv)
{
  return run_case(argc, argv, [&](const std::string &name) {
    const MatrixFreeTest::Cases<Tessella::DeviceBlockMatrix<double>> cases(
      verify);
    if (name == "2d")
      {
        cases.test_cells<2>();
        cases.test_slab<2>();
      }
    else
      {
        cases.test_cells<3>();
        cases.test_slab<3>();
      }
  });
}

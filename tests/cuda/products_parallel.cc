// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Products without a matrix on CUDA devices have the same bits for every number
// of processes, which may share a device. Argument: 2d or 3d.

#include <tessella/device/cuda_device.h>
#include <tessella/lac/device_block_matrix.h>

#include <iostream>

#include "../operators/matrix_free_processes.h"

template <int dim>
unsigned int
n_failures()
{
  using Vector        = DeviceVector<double>;
  unsigned int result = 0;
  test_processes<dim, DeviceBlockMatrix<double>, Vector, Vector, Vector>(
    [&](const std::string &name, const bool same) {
      if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
        std::cout << name << ": " << (same ? "ok" : "other bits") << std::endl;
      result += !same;
    });
  return result;
}

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  if (!cuda_is_available())
    return 77;
  return argc > 1 && std::string(argv[1]) == "2d" ? n_failures<2>()
                                                  : n_failures<3>();
}

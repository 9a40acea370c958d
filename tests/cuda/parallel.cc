// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Block matrices, preconditioners and multigrid on the devices of several
// processes, which may share one: the checks of tests/multigrid/parallel.cc,
// null spaces, and rectangular matrices. Argument: 2d or 3d. Returns 77 if the
// case cannot run on this machine, 1 if a check fails.

#include <iostream>

#include "../multigrid/check_null_space.h"
#include "../multigrid/check_parallel.h"
#include "../tests.h"
#include "check_rectangular.h"

using namespace MultigridTest;

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  if (!cuda_is_available())
    return 77;
  const bool   first    = Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0;
  unsigned int n_checks = 0, n_failures = 0;
  const auto   verify =
    [&](const std::string &name, const bool good, const std::string &text) {
      ++n_checks;
      n_failures += !good;
      if (!good && first)
        std::cout << name << ": FAILED " << text << std::endl;
    };
  using Matrix = DeviceBlockMatrix<double>;
  if (argc > 1 && std::string(argv[1]) == "2d")
    {
      check_parallel<2, Matrix, DeviceVector<double>>(verify);
      check_null_space_bits<2, Matrix, DeviceVector<double>>(verify);
      RectangularTest::check_processes<2>(verify);
    }
  else
    {
      check_parallel<3, Matrix, DeviceVector<double>>(verify);
      check_null_space_bits<3, Matrix, DeviceVector<double>>(verify);
      RectangularTest::check_processes<3>(verify);
    }
  if (first)
    std::cout << n_checks << " checks, " << n_failures << " failures"
              << std::endl;
  return n_failures == 0 && n_checks > 0 ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Products without a matrix have the same bits for every number of processes.

#include "matrix_free_processes.h"

#include <deal.II/lac/trilinos_vector.h>

#include <tessella/lac/host_vector.h>

template <int dim>
void
test()
{
  test_processes<dim,
                 HostBlockMatrix<double>,
                 HostVector<double>,
                 LinearAlgebra::distributed::Vector<double>,
                 TrilinosWrappers::MPI::Vector>(
    [](const std::string &name, const bool same) {
      deallog << name << ": " << (same ? "ok" : "other bits") << std::endl;
    });
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  test<2>();
  test<3>();
}

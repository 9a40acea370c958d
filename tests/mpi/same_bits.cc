// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Runs on the host; tests/cuda/same_bits.cc runs the same on devices.

#include "same_bits.h"

#include <deal.II/base/function_parser.h>

template <int dim>
void
test()
{
  test<dim>(Backend::host, [](const std::string &text) {
    auto function = std::make_shared<FunctionParser<dim>>(1);
    function->initialize(FunctionParser<dim>::default_variable_names(),
                         text,
                         std::map<std::string, double>());
    return function;
  });
}

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  initlog();
  test<2>();
  test<3>();
}

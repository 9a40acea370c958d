// SPDX-License-Identifier: LGPL-2.1-or-later

// Several processes, which may share devices: the same polytopes give the same
// matrix as on one process, to the last bit. Argument: host, coefficients are
// evaluated by the host's threads, or code, by the devices. Returns 77 where
// the case cannot run on this machine, 1 if a check fails.

#include "../mpi/same_bits.h"

#include <deal.II/base/function_parser.h>

#include <iostream>

#include "../../applications/common/expression.h"

template <int dim>
void
test(const bool code)
{
  const auto variables = Application::coordinate_names(dim);
  test<dim>(
    Backend::cuda,
    [&](const std::string &text) -> std::shared_ptr<Function<dim>> {
      if (code)
        return std::make_shared<Application::ExpressionFunction<dim>>(
          std::vector<Application::Expression>{
            {"f", text, variables, Application::parse_constants("", "")}});
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
  const std::string                which = argc > 1 ? argv[1] : "";
  if (which != "host" && which != "code")
    return 1;
  if (Utilities::MPI::min(cuda_is_available() ? 1 : 0, MPI_COMM_WORLD) == 0)
    return 77;
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
    deallog.attach(std::cout, false);
  deallog.depth_console(0);
  test<2>(which == "code");
  test<3>(which == "code");
  // (of the first process, which compares)
  return Utilities::MPI::max(n_different, MPI_COMM_WORLD) > 0;
}

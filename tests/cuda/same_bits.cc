// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Several processes, which may share devices: the same polytopes have the same
// matrix as on one process, to the last bit. Argument: host (coefficients are
// evaluated by the threads of the host), code (by the devices), or slabs.
// Returns 77 if the case cannot run on this machine, 1 if a check fails.

#include "../mpi/same_bits.h"

#include <tessella/space_time/space_time_form.h>

#include <iostream>

#include "../../applications/common/expression.h"
#include "../mpi/slab_digest.h"

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
      return parse<dim>(text);
    });
}

// One slab with constant coefficients.
template <int dim>
void
test_slabs()
{
  for (const PolynomialSpaceType space :
       {PolynomialSpaceType::total_degree, PolynomialSpaceType::prismatic})
    for (unsigned int p = 1; p <= 2; ++p)
      compare(
        "slab of simplices, METIS, " + std::to_string(dim) +
          " + 1, p = " + std::to_string(p) +
          (space == PolynomialSpaceType::prismatic ? ", prismatic" : ""),
        [&](const MPI_Comm comm) {
          Triangulation<dim> serial;
          GridGenerator::subdivided_hyper_cube_with_simplices(serial,
                                                              dim == 2 ? 9 : 4);
          parallel::fullydistributed::Triangulation<dim> triangulation(comm);
          const auto strategy = Agglomeration::distribute<dim>(
            serial,
            Agglomeration::repair<dim>(
              Agglomeration::metis<dim>(dim == 2 ? 37 : 53)),
            triangulation);
          AgglomerationHandler<dim> handler(triangulation);
          handler.agglomerate(strategy);
          handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(p));
          SpaceTimeSlab<dim> slab(handler, space);
          slab.reinit(0., 0.3);
          Tensor<1, dim> w;
          w[0] = 1.;
          w[1] = -0.5;
          SpaceTimeForm<dim> form;
          form.set_diffusion(0.7);
          form.set_advection(w);
          form.set_reaction(0.4);
          form.set_source(1.5);
          typename PolytopicAssembler<dim + 1>::AdditionalData data;
          data.backend = Backend::cuda;
          PolytopicAssembler<dim + 1>    assembler(slab, data);
          TrilinosWrappers::SparseMatrix matrix;
          TrilinosWrappers::MPI::Vector  rhs;
          assembler.reinit(matrix, rhs);
          assembler.assemble(form, matrix, rhs);
          const auto digests = slab_digests(handler, slab, matrix, rhs, comm);
          return Result{digests[0],
                        digests[1],
                        0.,
                        static_cast<unsigned int>(slab.n_global_polytopes()),
                        slab.n_dofs()};
        });
}

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  const std::string                which = argc > 1 ? argv[1] : "";
  if (which != "host" && which != "code" && which != "slabs")
    return 1;
  if (Utilities::MPI::min(cuda_is_available() ? 1 : 0, MPI_COMM_WORLD) == 0)
    return 77;
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
    deallog.attach(std::cout, false);
  deallog.depth_console(0);
  if (which == "slabs")
    {
      test_slabs<2>();
      test_slabs<3>();
    }
  else
    {
      test<2>(which == "code");
      test<3>(which == "code");
    }
  // The first process compares.
  return Utilities::MPI::max(n_different, MPI_COMM_WORLD) > 0;
}

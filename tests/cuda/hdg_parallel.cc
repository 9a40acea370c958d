// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Hybridizable dG on the devices of several processes, which may share one: the
// same bits for every number of processes; a trace matrix on the device is
// refused. Argument: 2d or 3d. Returns 77 if the case cannot run on this
// machine, 1 if a check fails.

#include <iostream>

#include "../mpi/hdg.h"

template <int dim>
void
refused()
{
  parallel::distributed::Triangulation<dim> triangulation(MPI_COMM_WORLD);
  GridGenerator::hyper_cube(triangulation);
  triangulation.refine_global(2);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::none<dim>());
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
  AdvectionDiffusionReaction<dim> form;
  form.set_diffusion(1.);
  typename HDG<dim>::AdditionalData data;
  data.backend = Backend::cuda;
  HDG<dim>                  hdg(handler, data);
  DeviceBlockMatrix<double> matrix;
  DeviceVector<double>      rhs;
  std::string               message;
  try
    {
      hdg.reinit(form, matrix, rhs);
    }
  catch (const ExceptionBase &exception)
    {
      message = exception.what();
    }
  n_different +=
    !check("  a matrix on the device",
           message.find("TrilinosWrappers::SparseMatrix") != std::string::npos);
}

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  if (Utilities::MPI::min(cuda_is_available() ? 1 : 0, MPI_COMM_WORLD) == 0)
    return 77;
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
    deallog.attach(std::cout, false);
  deallog.depth_console(0);
  if (argc > 1 && std::string(argv[1]) == "2d")
    {
      test<2>(Backend::cuda);
      refused<2>();
    }
  else
    {
      test<3>(Backend::cuda);
      refused<3>();
    }
  return Utilities::MPI::max(n_different, MPI_COMM_WORLD) > 0;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Space-time stepping with several matrices, vectors and solvers: the same
// solution, and files for ParaView.

#include <deal.II/distributed/tria.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/solver_gmres.h>
#include <deal.II/lac/trilinos_precondition.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/device/cuda_device.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/block_preconditioners.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/space_time/space_time_form.h>
#include <tessella/space_time/space_time_stepping.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

#include "../messages.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;

namespace
{
  // u = exp(-t) sin(pi x) sin(pi y)
  double
  exact(const Point<3> &x)
  {
    return std::exp(-x[2]) * std::sin(numbers::PI * x[0]) *
           std::sin(numbers::PI * x[1]);
  }

  using Handler = Tessella::AgglomerationHandler<2>;

  // Error of the solution at t = 0.5.
  template <typename MatrixType,
            typename VectorType,
            typename PreconditionerType>
  double
  run(const Handler &handler, const std::string &file = "")
  {
    using Stepping = SpaceTimeStepping<2, MatrixType, VectorType>;
    SpaceTimeForm<2> form;
    form.set_diffusion(1.);
    form.set_source([](const Point<3> &x) {
      return (2. * numbers::PI * numbers::PI - 1.) * exact(x);
    });
    SolverControl control(500, 1e-12, false, false);
    typename SolverGMRES<VectorType>::AdditionalData data(100);
    SolverGMRES<VectorType>                          gmres(control, data);
    PreconditionerType                               preconditioner;
    Stepping                                         stepping(handler,
                      form,
                      Stepping::make_solver(gmres, preconditioner));
    LinearAlgebra::distributed::Vector<double>       value(
      handler.locally_owned_dofs(), handler.get_communicator());
    Tessella::VectorTools::project(
      handler,
      [](const Point<2> &x) { return exact(Point<3>(x[0], x[1], 0.)); },
      value);
    if (!file.empty())
      stepping.write_pvd(file, "u", 2);
    stepping.initialize(0., value);
    for (unsigned int i = 0; i < 5; ++i)
      stepping.step(.1);
    return Tessella::VectorTools::compute_error(
      handler,
      stepping.value(),
      [](const Point<2> &x) { return exact(Point<3>(x[0], x[1], .5)); },
      dealii::VectorTools::L2_norm);
  }

  std::string
  text_of(const std::string &file)
  {
    std::ifstream      in(file);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram                             program(argc, argv);
  parallel::distributed::Triangulation<2> triangulation(MPI_COMM_WORLD);
  GridGenerator::hyper_cube(triangulation);
  triangulation.refine_global(4);
  Handler handler(triangulation);
  handler.agglomerate(Agglomeration::complete_families<2>());
  handler.distribute_dofs(FE_BoundingBoxLegendre<2>(2));

  using Block  = HostBlockMatrix<double>;
  using Jacobi = BlockJacobi<Block>;
  const double error =
    run<TrilinosWrappers::SparseMatrix,
        TrilinosWrappers::MPI::Vector,
        TrilinosWrappers::PreconditionBlockwiseDirect>(handler, "solution");
  check_below("error", error, 1e-3);
  check_close("HostVector",
              run<Block, HostVector<double>, Jacobi>(handler) / error,
              1.,
              1e-7);
  check_close("LinearAlgebra::distributed::Vector",
              run<Block, LinearAlgebra::distributed::Vector<double>, Jacobi>(
                handler) /
                error,
              1.,
              1e-7);
  // Without a device there is nothing to compare.
  if (cuda_is_available())
    {
      using DeviceMatrix = DeviceBlockMatrix<double>;
      const double other =
        run<DeviceMatrix, DeviceVector<double>, BlockJacobi<DeviceMatrix>>(
          handler);
      AssertThrow(std::abs(other / error - 1.) < 1e-7,
                  ExcMessage("The device gives another solution."));
    }
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
    {
      const std::string pvd = text_of("solution.pvd");
      check("list of files",
            contains(pvd, "solution-0000.vtu") &&
              contains(pvd, "solution-0002.vtu") &&
              contains(pvd, "solution-0004.vtu") &&
              !contains(pvd, "solution-0001.vtu"));
      check("file", contains(text_of("solution-0004.vtu"), "\"u\""));
    }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Projection, errors, point values, estimators, output, transfer and
// checkpoints with vectors of every type: the same numbers for each of them, to
// the last bit where the vector holds doubles.

#include <deal.II/base/function_lib.h>
#include <deal.II/base/multithread_info.h>

#include <deal.II/distributed/tria.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/epetra.h>
#include <tessella/device/cuda_device.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_vector.h>
#include <tessella/numerics/checkpoint.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/error_estimator.h>
#include <tessella/numerics/solution_transfer.h>
#include <tessella/numerics/vector_tools.h>

#ifdef DEAL_II_WITH_PETSC
#  include <deal.II/lac/petsc_vector.h>
#endif

#include <functional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "../messages.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;

namespace
{
  const Functions::CosineFunction<2> exact;

  template <typename VectorType>
  void
  reinit(const AgglomerationHandler<2> &handler, VectorType &vector)
  {
    vector.reinit(handler.locally_owned_dofs(), handler.get_communicator());
  }
  template <typename Number>
  void
  reinit(const AgglomerationHandler<2> &handler, Vector<Number> &vector)
  {
    vector.reinit(handler.n_dofs());
  }

  void
  distribute(AgglomerationHandler<2> &handler)
  {
    handler.agglomerate(Agglomeration::complete_families<2>());
    handler.distribute_dofs(FE_BoundingBoxLegendre<2>(2));
  }

  struct Numbers
  {
    std::vector<double> values;
    std::string         picture;
  };

  double
  L2_error(const AgglomerationHandler<2> &handler,
           const ConstVectorView         &solution)
  {
    Vector<float> error;
    Tessella::VectorTools::integrate_difference(
      handler, solution, exact, error, dealii::VectorTools::L2_norm);
    return Tessella::VectorTools::compute_global_error(
      handler, error, dealii::VectorTools::L2_norm);
  }

  template <typename VectorType>
  Numbers
  numbers_of()
  {
    const MPI_Comm comm = MPI_COMM_WORLD;
    Numbers        result;

    parallel::distributed::Triangulation<2> triangulation(comm);
    GridGenerator::hyper_cube(triangulation);
    triangulation.refine_global(4);
    AgglomerationHandler<2> handler(triangulation);
    distribute(handler);
    AdvectionDiffusionReaction<2> form;
    form.set_diffusion(1.);
    const std::vector<double> sigma =
      PolytopicAssembler<2>(handler).penalty(form);

    VectorType u, v;
    reinit(handler, u);
    reinit(handler, v);
    Tessella::VectorTools::project(handler, exact, u);
    Tessella::VectorTools::interpolate(handler, exact, v);
    result.values = {L2_error(handler, u), L2_error(handler, v)};
    const auto errors =
      Tessella::VectorTools::compute_errors(handler, form, sigma, u, exact);
    result.values.push_back(errors.H1_seminorm);
    result.values.push_back(errors.dG);
    Vector<double> value;
    Tessella::VectorTools::point_value(handler, u, Point<2>(.3, .6), value);
    result.values.push_back(value[0]);
    Vector<double> indicators;
    ErrorEstimator::residual(handler, form, sigma, u, indicators);
    result.values.push_back(ErrorEstimator::global(handler, indicators));
    ErrorEstimator::jumps(handler, form, sigma, u, indicators);
    result.values.push_back(ErrorEstimator::global(handler, indicators));

    PolytopicDataOut<2> data_out(handler);
    data_out.add_data_vector(u, "u");
    data_out.add_data_vector(v, std::vector<std::string>{"v"});
    data_out.build_patches();
    std::ostringstream picture;
    data_out.write_gnuplot(picture);
    // The comments have the time.
    std::istringstream lines(picture.str());
    for (std::string line; std::getline(lines, line);)
      if (line.empty() || line[0] != '#')
        result.picture += line + "\n";

    write_checkpoint("any_vector.checkpoint", triangulation, handler, {u, v});
    {
      parallel::distributed::Triangulation<2> read_mesh(comm);
      GridGenerator::hyper_cube(read_mesh);
      CheckpointReader<2> reader("any_vector.checkpoint", comm);
      reader.load(read_mesh);
      AgglomerationHandler<2> read_handler(read_mesh);
      reader.restore(read_handler);
      VectorType read_u, read_v;
      reinit(read_handler, read_u);
      reinit(read_handler, read_v);
      reader.read(read_handler, {read_u, read_v});
      result.values.push_back(L2_error(read_handler, read_u));
      result.values.push_back(L2_error(read_handler, read_v));
    }

    for (const auto &cell : triangulation.active_cell_iterators())
      if (cell->is_locally_owned() && cell->center()[0] < .5)
        cell->set_refine_flag();
    triangulation.prepare_coarsening_and_refinement();
    PolytopicSolutionTransfer<2> transfer(triangulation);
    transfer.prepare_for_coarsening_and_refinement(handler, {&u, &v});
    triangulation.execute_coarsening_and_refinement();
    AgglomerationHandler<2> finer(triangulation);
    distribute(finer);
    reinit(finer, u);
    reinit(finer, v);
    transfer.project(finer, {&u, &v});
    result.values.push_back(L2_error(finer, u));
    result.values.push_back(L2_error(finer, v));

    return result;
  }

  template <typename VectorType>
  void
  compare(const std::string &name,
          const Numbers     &expected,
          const double       tolerance)
  {
    const Numbers present = numbers_of<VectorType>();
    double        largest = 0.;
    for (unsigned int i = 0; i < present.values.size(); ++i)
      largest = std::max(largest,
                         std::abs(present.values[i] / expected.values[i] - 1.));
    check_close(name, largest, 0., tolerance);
    const bool same = present.picture == expected.picture;
    if (tolerance == 0.)
      check(name + ", output",
            Utilities::MPI::min(same ? 1 : 0, MPI_COMM_WORLD) == 1);
  }

  // Vectors that do not fit.
  template <typename VectorType>
  void
  check_wrong_size(const std::string &name)
  {
    parallel::distributed::Triangulation<2> triangulation(MPI_COMM_WORLD);
    GridGenerator::hyper_cube(triangulation);
    triangulation.refine_global(3);
    AgglomerationHandler<2> handler(triangulation);
    distribute(handler);
    VectorType u;
    reinit(handler, u);
    handler.distribute_dofs(FE_BoundingBoxLegendre<2>(1));
    check(name + ", wrong size, read",
          contains(message_of([&]() { L2_error(handler, u); }), "reinit()"));
    check(name + ", wrong size, write",
          contains(message_of([&]() {
                     Tessella::VectorTools::project(handler, exact, u);
                   }),
                   "reinit()"));
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram   program(argc, argv);
  const Numbers expected =
    numbers_of<LinearAlgebra::distributed::Vector<double>>();
  check_below("L2 error", expected.values[0], 1e-3);
  check("numbers",
        expected.values.size() == 11 && expected.picture.size() > 1000);

  compare<HostVector<double>>("HostVector", expected, 0.);
  check_wrong_size<HostVector<double>>("HostVector");
  if (Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) == 1)
    {
      compare<Vector<double>>("Vector", expected, 0.);
      compare<Vector<float>>("Vector in float", expected, 2e-4);
      check_wrong_size<Vector<float>>("Vector in float");
    }
  compare<HostVector<float>>("HostVector in float", expected, 2e-4);
#ifdef TESSELLA_HAVE_EPETRA
  compare<TrilinosWrappers::MPI::Vector>("Trilinos", expected, 0.);
  check_wrong_size<TrilinosWrappers::MPI::Vector>("Trilinos");
#endif
  // In a build without PETSc and on a machine without a device there is nothing
  // to compare.
  const auto compare_quietly = [&](const Numbers &present) {
    AssertThrow(present.values == expected.values &&
                  present.picture == expected.picture,
                ExcMessage("Another type of vectors gives other numbers."));
  };
  if (cuda_is_available())
    compare_quietly(numbers_of<DeviceVector<double>>());
#if defined(DEAL_II_WITH_PETSC) && !defined(PETSC_USE_COMPLEX)
  // PETSc has no threads, which deal.II asserts in Debug mode.
  MultithreadInfo::set_thread_limit(1);
  compare_quietly(numbers_of<PETScWrappers::MPI::Vector>());
#endif
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// The program of README.md without Trilinos: a block matrix, vectors of
// LinearAlgebra::distributed, multigrid and deal.II's conjugate gradients, then
// errors, output, a checkpoint and a transfer of the solution. The results are
// the same on one process and on all.

#include <deal.II/base/function.h>

#include <deal.II/distributed/tria.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/solver_cg.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/lac/block_preconditioners.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/multigrid/multigrid.h>
#include <tessella/numerics/checkpoint.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/error_estimator.h>
#include <tessella/numerics/solution_transfer.h>
#include <tessella/numerics/vector_tools.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "../tests.h"

using namespace dealii;
using namespace Tessella;

namespace
{
  using VectorType = LinearAlgebra::distributed::Vector<double>;

  // f = 2 pi^2 sin(pi x) sin(pi y)
  class RightHandSide : public Function<2>
  {
  public:
    double
    value(const Point<2> &x, const unsigned int) const override
    {
      return 2 * numbers::PI * numbers::PI * std::sin(numbers::PI * x[0]) *
             std::sin(numbers::PI * x[1]);
    }
  };

  class ExactSolution : public Function<2>
  {
  public:
    double
    value(const Point<2> &x, const unsigned int = 0) const override
    {
      return std::sin(numbers::PI * x[0]) * std::sin(numbers::PI * x[1]);
    }
    Tensor<1, 2>
    gradient(const Point<2> &x, const unsigned int = 0) const override
    {
      Tensor<1, 2> result;
      for (unsigned int d = 0; d < 2; ++d)
        result[d] = numbers::PI * std::cos(numbers::PI * x[d]) *
                    std::sin(numbers::PI * x[1 - d]);
      return result;
    }
  };

  void
  agglomerate(AgglomerationHandler<2> &agglomeration)
  {
    agglomeration.agglomerate(Agglomeration::complete_families<2>());
    agglomeration.distribute_dofs(FE_BoundingBoxLegendre<2>(3));
  }

  double
  L2_error(const AgglomerationHandler<2> &agglomeration,
           const VectorType              &solution)
  {
    Vector<float> error;
    Tessella::VectorTools::integrate_difference(agglomeration,
                                                solution,
                                                ExactSolution(),
                                                error,
                                                dealii::VectorTools::L2_norm);
    return Tessella::VectorTools::compute_global_error(
      agglomeration, error, dealii::VectorTools::L2_norm);
  }

  // Errors, in the order of the names in main(). Checks are written only if the
  // communicator has all processes.
  std::vector<double>
  solve(const MPI_Comm communicator)
  {
    const bool all = communicator == MPI_COMM_WORLD;
    parallel::distributed::Triangulation<2> triangulation(communicator);
    GridGenerator::hyper_cube(triangulation);
    triangulation.refine_global(5);
    auto agglomeration =
      std::make_unique<AgglomerationHandler<2>>(triangulation);
    agglomerate(*agglomeration);

    AdvectionDiffusionReaction<2> problem;
    problem.set_diffusion(1.);
    problem.set_source(std::make_shared<RightHandSide>());

    HostBlockMatrix<double> matrix;
    VectorType              solution, rhs;
    PolytopicAssembler<2>   assembler(*agglomeration);
    assembler.reinit(matrix, rhs);
    assembler.assemble(problem, matrix, rhs);
    const std::vector<double>          penalty = assembler.penalty(problem);
    Multigrid<HostBlockMatrix<double>> multigrid;
    multigrid.initialize(assembler, problem, matrix);

    // From here on the program is plain deal.II.
    solution.reinit(rhs);
    SolverControl        control(40, 1e-11 * rhs.l2_norm(), false, false);
    SolverCG<VectorType> solver(control);
    solver.solve(matrix, solution, rhs, multigrid);

    const auto errors = Tessella::VectorTools::compute_errors(
      *agglomeration, problem, penalty, solution, ExactSolution());
    std::vector<double> result = {L2_error(*agglomeration, solution),
                                  errors.H1_seminorm,
                                  errors.dG};
    Vector<double>      indicators;
    ErrorEstimator::residual(
      *agglomeration, problem, penalty, solution, indicators);
    result.push_back(ErrorEstimator::global(*agglomeration, indicators));
    VectorType other(rhs);
    Tessella::VectorTools::interpolate(*agglomeration, ExactSolution(), other);
    result.push_back(L2_error(*agglomeration, other));
    Tessella::VectorTools::project(*agglomeration, ExactSolution(), other);
    result.push_back(L2_error(*agglomeration, other));

    if (all)
      {
        check("degrees of freedom", agglomeration->n_dofs() == 2560);

        // the same with the diagonal blocks
        other = 0.;
        BlockJacobi<HostBlockMatrix<double>> jacobi;
        jacobi.initialize(matrix);
        SolverControl long_control(2000, 1e-11 * rhs.l2_norm(), false, false);
        SolverCG<VectorType>(long_control).solve(matrix, other, rhs, jacobi);
        other -= solution;
        check_below("block Jacobi", other.l2_norm() / solution.l2_norm(), 1e-8);

        // output, and a checkpoint that is read again
        PolytopicDataOut<2> data_out(*agglomeration);
        data_out.add_data_vector(solution, "solution");
        data_out.build_patches();
        data_out.write_vtu_file("solution.vtu");
        const bool written = bool(std::ifstream("solution.vtu"));
        check("output",
              Utilities::MPI::min(written ? 1 : 0, communicator) == 1);
        write_checkpoint("solution.checkpoint",
                         triangulation,
                         *agglomeration,
                         solution);
        parallel::distributed::Triangulation<2> read_mesh(communicator);
        GridGenerator::hyper_cube(read_mesh);
        CheckpointReader<2> reader("solution.checkpoint", communicator);
        reader.load(read_mesh);
        AgglomerationHandler<2> read_polytopes(read_mesh);
        reader.restore(read_polytopes);
        other.reinit(read_polytopes.locally_owned_dofs(), communicator);
        reader.read(read_polytopes, other);
        check_close("checkpoint",
                    L2_error(read_polytopes, other) / result[0],
                    1.,
                    1e-6);
      }

    // a finer mesh, whose space contains the previous one
    for (const auto &cell : triangulation.active_cell_iterators())
      if (cell->is_locally_owned() && cell->center()[0] < .5)
        cell->set_refine_flag();
    PolytopicSolutionTransfer<2>(triangulation)
      .execute(*agglomeration, Agglomeration::complete_families<2>(), solution);
    result.push_back(L2_error(*agglomeration, solution));
    return result;
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram               program(argc, argv);
  const std::vector<double> all = solve(MPI_COMM_WORLD),
                            one = solve(MPI_COMM_SELF);
  const char *const names[]     = {"L2 error",
                                   "H1 error",
                                   "dG error",
                                   "estimate",
                                   "interpolation",
                                   "projection",
                                   "transfer"};
  for (unsigned int i = 0; i < all.size(); ++i)
    check_close(std::string("all processes and one: ") + names[i],
                all[i] / one[i],
                1.,
                1e-5);
  // h = 1/16, p = 3
  check_below("L2 error", all[0], 1e-5);
  check_below("H1 error", all[1], 1e-3);
  check("estimate", all[3] > all[2] && all[3] < 100. * all[2]);
  check_below("interpolation", all[4], 10. * all[0]);
  check_below("projection", all[5], 1.0001 * all[0]);
  check_close("transfer", all[6] / all[0], 1., 1e-5);
}

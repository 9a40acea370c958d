// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// The program of README.md without Trilinos: a matrix of blocks, vectors of
// LinearAlgebra::distributed, multigrid and deal.II's conjugate gradients, then
// errors, output, a checkpoint and a transfer of the solution, with the same
// numbers on every number of processes.

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
      error, dealii::VectorTools::L2_norm, MPI_COMM_WORLD);
  }

  void
  agglomerate(AgglomerationHandler<2> &agglomeration)
  {
    agglomeration.agglomerate(Agglomeration::complete_families<2>());
    agglomeration.distribute_dofs(FE_BoundingBoxLegendre<2>(3));
  }

  // Does the file exist, on the first process?
  bool
  exists(const std::string &file)
  {
    return Utilities::MPI::max(std::ifstream(file) ? 1 : 0, MPI_COMM_WORLD) ==
           1;
  }
} // namespace

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, n_threads());
  initlog();

  parallel::distributed::Triangulation<2> triangulation(MPI_COMM_WORLD);
  GridGenerator::hyper_cube(triangulation);
  triangulation.refine_global(5);

  auto agglomeration = std::make_unique<AgglomerationHandler<2>>(triangulation);
  agglomerate(*agglomeration);

  AdvectionDiffusionReaction<2> problem;
  problem.set_diffusion(1.);
  problem.set_source(std::make_shared<RightHandSide>());

  HostBlockMatrix<double> matrix, bare;
  VectorType              solution, rhs;
  PolytopicAssembler<2>   assembler(*agglomeration);
  assembler.reinit(matrix, rhs);
  assembler.assemble(problem, matrix, rhs);
  const std::vector<double> penalty = assembler.penalty(problem);
  solution.reinit(rhs);
  SolverControl        control(40, 1e-11 * rhs.l2_norm(), false, false);
  SolverCG<VectorType> solver(control);

  assembler.set_penalty({0.});
  assembler.reinit(bare);
  assembler.assemble_matrix(problem, bare);
  MultigridHierarchy hierarchy(
    *agglomeration,
    NestedAgglomeration::rtree(
      agglomeration->polytopic_mesh(), 0, 64, MPI_COMM_WORLD));
  Multigrid<HostBlockMatrix<double>> multigrid;
  multigrid.initialize(matrix, bare, hierarchy);
  solver.solve(matrix, solution, rhs, multigrid);
  deallog << agglomeration->n_dofs() << " degrees of freedom" << std::endl;
  const double error = L2_error(*agglomeration, solution);
  // (four digits more than numdiff looks at)
  deallog << "L2 error * 10^4: " << 1e4 * error << std::endl;

  // the same with blocks of the diagonal
  VectorType other(rhs);
  other = 0.;
  BlockJacobi<HostBlockMatrix<double>> jacobi;
  jacobi.initialize(matrix);
  SolverControl long_control(2000, 1e-11 * rhs.l2_norm(), false, false);
  SolverCG<VectorType>(long_control).solve(matrix, other, rhs, jacobi);
  other -= solution;
  check_below("block Jacobi", other.l2_norm() / solution.l2_norm(), 1e-8);

  // errors of all kinds, estimates
  const auto errors = Tessella::VectorTools::compute_errors(
    *agglomeration, problem, penalty, solution, ExactSolution());
  check_close("L2 norm", errors.L2 / error, 1., 1e-6);
  Vector<double> indicators;
  ErrorEstimator::residual(
    *agglomeration, problem, penalty, solution, indicators);
  const double estimate = ErrorEstimator::global(indicators, MPI_COMM_WORLD);
  deallog << "H1 error * 100: " << 100 * errors.H1_seminorm << std::endl;
  check("estimate", estimate > errors.dG && estimate < 100. * errors.dG);

  // interpolation and projection
  Tessella::VectorTools::interpolate(*agglomeration, ExactSolution(), other);
  check_below("interpolation", L2_error(*agglomeration, other), 10. * error);
  Tessella::VectorTools::project(*agglomeration, ExactSolution(), other);
  check_below("projection", L2_error(*agglomeration, other), 1.0001 * error);

  // output, a checkpoint that is read again
  PolytopicDataOut<2> data_out(*agglomeration);
  data_out.add_data_vector(solution, "solution");
  data_out.build_patches();
  data_out.write_vtu_file("solution.vtu");
  check("output", exists("solution.vtu"));
  write_checkpoint("solution.checkpoint",
                   triangulation,
                   *agglomeration,
                   std::vector<const VectorType *>{&solution});
  {
    parallel::distributed::Triangulation<2> read_mesh(MPI_COMM_WORLD);
    GridGenerator::hyper_cube(read_mesh);
    CheckpointReader<2> reader("solution.checkpoint", MPI_COMM_WORLD);
    reader.load(read_mesh);
    AgglomerationHandler<2> read_polytopes(read_mesh);
    reader.restore(read_polytopes);
    other.reinit(read_polytopes.locally_owned_dofs(), MPI_COMM_WORLD);
    reader.read(read_polytopes, other);
    check_close("checkpoint",
                L2_error(read_polytopes, other) / error,
                1.,
                1e-6);
  }

  // a finer mesh, whose space contains the old one
  for (const auto &cell : triangulation.active_cell_iterators())
    if (cell->is_locally_owned() && cell->center()[0] < .5)
      cell->set_refine_flag();
  triangulation.prepare_coarsening_and_refinement();
  PolytopicSolutionTransfer<2> transfer(triangulation);
  transfer.prepare_for_coarsening_and_refinement(*agglomeration, solution);
  triangulation.execute_coarsening_and_refinement();
  auto finer = std::make_unique<AgglomerationHandler<2>>(triangulation);
  agglomerate(*finer);
  other.reinit(finer->locally_owned_dofs(), MPI_COMM_WORLD);
  transfer.project(*finer, other);
  check_close("transfer", L2_error(*finer, other) / error, 1., 1e-6);
}

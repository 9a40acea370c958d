// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Pure Neumann and periodic problems by HDG for any number of processes: the
// trace system is solvable, and u with mean value zero is the manufactured
// solution; data that do not balance.

#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/trilinos_precondition.h>

#include <tessella/hdg/hdg.h>

#include "../multigrid/check_null_space.h"
#include "../tests.h"

using namespace MultigridTest;

template <int dim>
void
test(const bool periodic, const TraceSpaceType trace_space)
{
  using Vector = TrilinosWrappers::MPI::Vector;
  using Problem =
    NullSpaceCase<dim, HostBlockMatrix<double>, HostVector<double>>;
  double previous = 0.;
  for (unsigned int level = 0; level < (periodic && dim == 2 ? 2 : 1); ++level)
    {
      Problem                           problem(MPI_COMM_WORLD,
                      periodic,
                      2,
                      dim == 2   ? 4 + level
                                                : periodic ? 3
                                                           : 2);
      typename HDG<dim>::AdditionalData data;
      data.backend     = Backend::host;
      data.trace_space = trace_space;
      HDG<dim>                       hdg(problem.handler, data);
      TrilinosWrappers::SparseMatrix matrix;
      Vector                         rhs, trace, u, q;
      hdg.reinit(problem.form, matrix, rhs);
      hdg.assemble(problem.form, matrix, rhs);
      const std::string name =
        std::to_string(dim) + "-D " + (periodic ? "periodic" : "Neumann") +
        (trace_space == TraceSpaceType::facet ? ", facets" : ", interfaces") +
        ", mesh " + std::to_string(level);
      check(name + ": one free constant", hdg.report().n_free_constants == 1);
      HostBlockMatrix<double> blocks;
      hdg.copy_blocks(matrix, blocks);
      BlockChebyshev<HostBlockMatrix<double>> preconditioner;
      preconditioner.initialize(blocks);
      trace.reinit(rhs);
      SolverControl control(2000, 1e-11 * rhs.l2_norm(), false, false);
      SolverCG<Vector>(control).solve(blocks, trace, rhs, preconditioner);
      hdg.recover(problem.form, trace, u, q);
      const auto constants = NullSpace<Vector>::constants(problem.handler);
      constants.project(u);
      HostVector<double> solution(problem.rhs);
      std::copy(u.begin(), u.end(), solution.begin());
      const double error = problem.error(solution);
      if (periodic)
        check_below(name + ": error",
                    error,
                    level == 0 ? (dim == 2 ? 0.1 : 0.7) : 0.3 * previous);
      else
        check_below(name + ": error", error, 1e-7);
      previous = error;
      check_below(name + ": mean value",
                  std::abs(constants.functional(0) * u),
                  1e-12);

      problem.form.set_source(1.);
      const std::string text =
        message_of([&] { hdg.assemble(problem.form, matrix, rhs); });
      check(name + ": data that do not balance",
            Utilities::MPI::min(contains(text, "has no solution") ? 1 : 0,
                                MPI_COMM_WORLD) == 1);
    }
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv, 1);
  for (const bool periodic : {false, true})
    {
      test<2>(periodic, TraceSpaceType::interface);
      test<2>(periodic, TraceSpaceType::facet);
    }
  test<3>(false, TraceSpaceType::facet);
  test<3>(true, TraceSpaceType::interface);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "system_solver.h"

#include <deal.II/lac/trilinos_precondition.h>

#include <tessella/lac/block_preconditioners.h>

#include <cstdlib>

#include "../common/iteration.h"
#include "../common/linear_solver.h"
#include "../common/program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      void
      solve_and_check(const TrilinosWrappers::SparseMatrix &matrix,
                      TrilinosWrappers::MPI::Vector        &solution,
                      const TrilinosWrappers::MPI::Vector  &rhs)
      {
        SolverControl control;
        solve_directly(control, matrix, solution, rhs);
        // The residual is this large only if the matrix is singular.
        AssertThrow(residual_norm(matrix, solution, rhs) < 1e-4 * rhs.l2_norm(),
                    ExcMessage("The direct solver's result does not solve the "
                               "linear system: the problem may have no unique "
                               "solution."));
      }

      [[noreturn]] void
      throw_no_convergence(const SolverControl::NoConvergence &exception)
      {
        AssertThrow(false,
                    ExcMessage(
                      "The iterative solver did not converge in " +
                      std::to_string(exception.last_step) +
                      " iterations; the residual is " +
                      short_text(exception.last_residual) +
                      ". Raise HDG/Maximum iterations or HDG/Tolerance, or set "
                      "HDG/Solver to direct."));
        std::abort(); // not reached
      }
    } // namespace

    SystemSolver::SystemSolver(const HDGParameters &parameters,
                               const int            dim,
                               const bool           has_advection)
      : parameters(parameters)
      , dim(dim)
      , has_advection(has_advection)
      , iterative_method(has_advection ? "gmres" : "cg")
    {}

    bool
    SystemSolver::is_direct(const types::global_dof_index n_unknowns) const
    {
      // The fill-in is moderate in 2-D but large in 3-D.
      return parameters.method == "direct" ||
             (parameters.method == "automatic" &&
              n_unknowns <= (dim == 2 ? 100000u : 10000u));
    }

    void
    SystemSolver::iterate(
      const std::string                                    &preconditioner,
      SolverControl                                        &control,
      const TrilinosWrappers::SparseMatrix                 &matrix,
      const std::function<void(HostBlockMatrix<double> &)> &copy_blocks,
      TrilinosWrappers::MPI::Vector                        &solution,
      const TrilinosWrappers::MPI::Vector                  &rhs,
      const HostMultigridSolve                             &multigrid) const
    {
      const Iteration iteration = {iterative_method,
                                   parameters.restart,
                                   control};
      if (preconditioner == "ilu")
        {
          TrilinosWrappers::PreconditionILU ilu;
          ilu.initialize(matrix,
                         TrilinosWrappers::PreconditionILU::AdditionalData(2));
          iteration.solve(matrix, solution, rhs, ilu);
        }
      else if (preconditioner == "ssor")
        {
          TrilinosWrappers::PreconditionSSOR ssor;
          ssor.initialize(matrix);
          iteration.solve(matrix, solution, rhs, ssor);
        }
      else
        {
          HostBlockMatrix<double> blocks;
          copy_blocks(blocks);
          if (preconditioner == "trace multigrid")
            {
              multigrid(iteration, blocks, solution, rhs);
              return;
            }
          using Preconditioner = BlockGaussSeidel<HostBlockMatrix<double>>;
          typename Preconditioner::AdditionalData data;
          data.symmetric = !has_advection;
          Preconditioner gauss_seidel;
          gauss_seidel.initialize(blocks, data);
          iteration.solve(blocks, solution, rhs, gauss_seidel);
        }
    }

    SystemSolver::Report
    SystemSolver::solve(
      const TrilinosWrappers::SparseMatrix                 &matrix,
      const std::function<void(HostBlockMatrix<double> &)> &copy_blocks,
      TrilinosWrappers::MPI::Vector                        &solution,
      const TrilinosWrappers::MPI::Vector                  &rhs,
      const HostMultigridSolve                             &multigrid) const
    {
      solution = 0.;
      if (rhs.size() == 0 || rhs.l2_norm() == 0.)
        return {"none", 0};
      if (is_direct(rhs.size()))
        {
          solve_and_check(matrix, solution, rhs);
          return {"direct", 0};
        }
      std::string preconditioner = parameters.preconditioner;
      if (preconditioner == "automatic" ||
          (preconditioner == "trace multigrid" && multigrid == nullptr))
        preconditioner = has_advection ? "ilu" : "ssor";
      const std::string name = iterative_method + " with " + preconditioner;
      SolverControl     control(parameters.max_iterations,
                            parameters.tolerance * rhs.l2_norm(),
                            false,
                            false);
      try
        {
          iterate(preconditioner,
                  control,
                  matrix,
                  copy_blocks,
                  solution,
                  rhs,
                  multigrid);
        }
      catch (const SolverControl::NoConvergence &exception)
        {
          if (parameters.method != "automatic")
            throw_no_convergence(exception);
          screen() << "The iterative solver (" << name
                   << ") did not converge in " << exception.last_step
                   << " iterations on " << rhs.size()
                   << " unknowns; the direct solver takes over." << std::endl;
          solution = 0.;
          solve_and_check(matrix, solution, rhs);
          return {"direct", 0};
        }
      return {name, control.last_step()};
    }

    SystemSolver::Report
    SystemSolver::solve(const DeviceBlockMatrix<double> &matrix,
                        DeviceVector<double>            &solution,
                        const DeviceVector<double>      &rhs,
                        const DeviceMultigridSolve      &multigrid) const
    {
      solution          = 0.;
      const double norm = rhs.size() > 0 ? rhs.l2_norm() : 0.;
      if (norm == 0.)
        return {"none", 0};
      SolverControl   control(parameters.max_iterations,
                            parameters.tolerance * norm,
                            false,
                            false);
      const Iteration iteration = {iterative_method,
                                   parameters.restart,
                                   control};
      const bool chebyshev = !has_advection && parameters.chebyshev_terms > 1;
      const bool by_multigrid = parameters.preconditioner == "trace multigrid";
      try
        {
          if (by_multigrid)
            multigrid(iteration, matrix, solution, rhs);
          else if (chebyshev)
            {
              BlockChebyshev<DeviceBlockMatrix<double>> preconditioner;
              typename BlockChebyshev<DeviceBlockMatrix<double>>::AdditionalData
                data;
              data.degree = parameters.chebyshev_terms;
              preconditioner.initialize(matrix, data);
              iteration.solve(matrix, solution, rhs, preconditioner);
            }
          else
            {
              BlockJacobi<DeviceBlockMatrix<double>> preconditioner;
              preconditioner.initialize(matrix);
              iteration.solve(matrix, solution, rhs, preconditioner);
            }
        }
      catch (const SolverControl::NoConvergence &exception)
        {
          throw_no_convergence(exception);
        }
      return {iterative_method + " with " +
                (by_multigrid ? "trace multigrid"
                 : chebyshev  ? "block chebyshev"
                              : "block jacobi"),
              control.last_step()};
    }
  } // namespace Application
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_linear_solver_h
#define tessella_applications_common_linear_solver_h

#include <deal.II/base/parameter_handler.h>

#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/grid/agglomeration_handler.h>

#include <string>

#include "validation.h"

namespace Tessella
{
  namespace Application
  {
    /// Result of a linear solve.
    struct SolverReport
    {
      unsigned int n_iterations = 0; ///< 0 for direct solvers
      /// Euclidean norm of rhs - matrix * solution divided by that of rhs.
      double relative_residual = 0.;
    };

    /// Form and assembler data from which the matrix was assembled; multigrid
    /// uses them for its coarse operators.
    template <int dim>
    struct MatrixSource
    {
      const Form<dim>                                 &form;
      typename PolytopicAssembler<dim>::AdditionalData data;
    };

    /// Section "Solver" of a parameter file.
    class LinearSolver
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      /// Checks the values that were read.
      void
      parse_parameters();

      /**
       * Solves the system. Throws, with the residual reached, if an iteration
       * does not converge or if the result of a direct solver does not satisfy
       * the system.
       *
       * @param solution initial guess of iterations; has the size and the
       * distribution of @p rhs.
       * @param symmetric whether the matrix is symmetric, which cg requires.
       * @param source form and data that the matrix was assembled from, for
       * multigrid. If it is null, multigrid keeps the penalty of the fine mesh
       * on all levels.
       */
      template <int dim>
      SolverReport
      solve(const PolytopicSpace<dim>                    &handler,
            const dealii::TrilinosWrappers::SparseMatrix &matrix,
            dealii::TrilinosWrappers::MPI::Vector        &solution,
            const dealii::TrilinosWrappers::MPI::Vector  &rhs,
            const bool                                    symmetric,
            const MatrixSource<dim> *source = nullptr) const;

      /// Estimate of the memory of a system on @p handler with this solver, for
      /// validated().
      template <int dim>
      SystemMemory
      memory(const AgglomerationHandler<dim> &handler,
             const bool                       symmetric) const;

      /// Text for the solver that the parameters ask for, e.g. "cg with amg".
      std::string
      description() const;

    private:
      std::string
      present_method(const int                             dim,
                     const dealii::types::global_dof_index n_dofs,
                     const bool                            symmetric) const;

      std::string  method = "auto", preconditioner = "amg";
      double       tolerance      = 1e-10;
      unsigned int max_iterations = 10000, restart = 60;
    };

    /// Solves the system by sparse LU: MUMPS, or KLU if Trilinos has no MUMPS.
    void
    solve_directly(dealii::SolverControl                        &control,
                   const dealii::TrilinosWrappers::SparseMatrix &matrix,
                   dealii::TrilinosWrappers::MPI::Vector        &solution,
                   const dealii::TrilinosWrappers::MPI::Vector  &rhs);

    /// Euclidean norm of rhs - matrix * solution.
    double
    residual_norm(const dealii::TrilinosWrappers::SparseMatrix &matrix,
                  const dealii::TrilinosWrappers::MPI::Vector  &solution,
                  const dealii::TrilinosWrappers::MPI::Vector  &rhs);
  } // namespace Application
} // namespace Tessella

#endif

// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_applications_common_linear_solver_h
#define tessella_applications_common_linear_solver_h

#include <deal.II/base/parameter_handler.h>

#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/grid/agglomeration_handler.h>

#include <string>

namespace Tessella
{
  namespace Application
  {
    /// What a solver did.
    struct SolverReport
    {
      unsigned int n_iterations = 0; ///< 0 for direct solvers
      /// Euclidean norm of rhs - matrix * solution over that of rhs.
      double relative_residual = 0.;
    };

    /// Section "Solver" of a parameter file.
    class LinearSolver
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      void
      parse_parameters(dealii::ParameterHandler &prm);

      /**
       * Solves; throws with the residual reached if an iteration does not
       * converge, or if a direct solver's result does not solve the system.
       *
       * @param symmetric the matrix is; demanded by cg.
       */
      template <int dim>
      SolverReport
      solve(const PolytopicSpace<dim>                    &handler,
            const dealii::TrilinosWrappers::SparseMatrix &matrix,
            dealii::TrilinosWrappers::MPI::Vector        &solution,
            const dealii::TrilinosWrappers::MPI::Vector  &rhs,
            const bool                                    symmetric) const;

      /// What was asked for: "cg with amg" or the like.
      std::string
      description() const;

    private:
      std::string
      present_method(const int                             dim,
                     const dealii::types::global_dof_index n_dofs,
                     const bool                            symmetric) const;

      std::string  method, preconditioner;
      double       tolerance      = 1e-10;
      unsigned int max_iterations = 10000, restart = 60;
    };

    /// The function 1 as a vector of degrees of freedom.
    template <int dim>
    void
    set_to_one(const AgglomerationHandler<dim>       &handler,
               dealii::TrilinosWrappers::MPI::Vector &vector);
  } // namespace Application
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_linear_solver_h
#define tessella_applications_common_linear_solver_h

#include <deal.II/base/parameter_handler.h>

#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/multigrid/multigrid.h>

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

    /// What multigrid needs besides the matrix: where it comes from.
    template <int dim>
    struct MatrixSource
    {
      const Form<dim>                                 &form;
      typename PolytopicAssembler<dim>::AdditionalData data;
    };

    /**
     * Multigrid for @p matrix, the assembled one, on an R-tree of the polytopes
     * down to 64 or less: Galerkin products with the penalty rescaled, where
     * degrees vary re-discretised operators, plain Galerkin products if there
     * is no @p source; Chebyshev's polynomial as smoother for symmetric
     * problems, else Gauss-Seidel by colours. MatrixType:
     * HostBlockMatrix<double> or DeviceBlockMatrix<double>.
     */
    template <typename MatrixType, int dim>
    void
    initialize_multigrid(Multigrid<MatrixType>           &multigrid,
                         const AgglomerationHandler<dim> &handler,
                         const MatrixSource<dim>         *source,
                         const MatrixType                &matrix,
                         const bool                       symmetric);

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
       * @param solution where iterations start; of the size and distribution of
       * @p rhs.
       * @param symmetric the matrix is; demanded by cg.
       * @param source of the matrix, for multigrid, which without it has to
       * make do with the penalty of the mesh on all levels.
       */
      template <int dim>
      SolverReport
      solve(const PolytopicSpace<dim>                    &handler,
            const dealii::TrilinosWrappers::SparseMatrix &matrix,
            dealii::TrilinosWrappers::MPI::Vector        &solution,
            const dealii::TrilinosWrappers::MPI::Vector  &rhs,
            const bool                                    symmetric,
            const MatrixSource<dim> *source = nullptr) const;

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

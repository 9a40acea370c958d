// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_implicit_stage_h
#define tessella_applications_common_implicit_stage_h

#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/lac/lusgs.h>
#include <tessella/numerics/mass_matrix.h>
#include <tessella/operators/pointwise_operator.h>

#include <cstdint>

#include "conservation_problem.h"

namespace Tessella
{
  namespace Application
  {
    /**
     * Solves the equation of a stage of an implicit method,
     *   M (u - known) / tau + R(t, u) = 0,
     * by Newton's method. Linear systems, with M / tau + R'(u), are solved by
     * GMRES with LU-SGS. With Newton/Jacobian = matrix-free GMRES applies the
     * exact tangent, and the blocks for LU-SGS are those of the first state of
     * a time step.
     */
    template <int dim>
    class ImplicitStage
    {
    public:
      ImplicitStage(const TimeIntegrationInput     &input,
                    const ConservationProblem<dim> &problem,
                    PointwiseOperator<dim>         &op,
                    const MassMatrix<dim>          &mass);

      /// Improves the guess @p u. Throws if Newton's method or GMRES fails.
      void
      solve(const double              t,
            const double              tau,
            const HostVector<double> &known,
            HostVector<double>       &u);

      /// Tells that a time step begins.
      void
      start_step()
      {
        present_tau = 0.;
      }

      std::uint64_t n_newton_steps = 0, n_iterations = 0;

    private:
      void
      solve_linear(const double              tau,
                   const HostVector<double> &u,
                   const HostVector<double> &g,
                   HostVector<double>       &du);

      const TimeIntegrationInput     &input;
      const ConservationProblem<dim> &problem;
      PointwiseOperator<dim>         &op;
      const MassMatrix<dim>          &mass;
      HostBlockMatrix<double>         matrix;
      LUSGS<HostBlockMatrix<double>>  preconditioner;
      /// The value of tau in the matrix; 0: there is none yet.
      double present_tau = 0.;
    };
  } // namespace Application
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_implicit_stage_h
#define tessella_applications_common_implicit_stage_h

#include <tessella/lac/lusgs.h>
#include <tessella/operators/pointwise_operator.h>

#include <cstdint>
#include <functional>

#include "conservation_problem.h"
#include "conservation_state.h"

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
     *
     * R is the residual of the problem's integrand by default; all Functions
     * together define another one. A device needs the assembly in any case.
     */
    template <int dim, typename VectorType>
    class ImplicitStage
    {
    public:
      using Matrix = typename ConservationMemory<VectorType>::Matrix;
      using Mass = typename ConservationMemory<VectorType>::template Mass<dim>;

      /// Functions that replace those of the integrand; may be empty.
      struct Functions
      {
        /// Sets the last argument to R(t, u).
        std::function<
          void(const double t, const VectorType &u, VectorType &result)>
          residual;
        /// Called with the state u, before the next two refer to it.
        std::function<void(const VectorType &u)> linearize;
        /// Sets a matrix to M / tau + R'(t, u). Without it, which a device
        /// needs, the matrix follows from the integrand of the problem and the
        /// mass matrix.
        std::function<void(const double      t,
                           const double      tau,
                           const VectorType &u,
                           Matrix           &matrix)>
          assembly;
        /// Sets the last argument to R'(t, u) @p du.
        std::function<void(const double      t,
                           const VectorType &u,
                           const VectorType &du,
                           VectorType       &result)>
          tangent;
      };

      ImplicitStage(const TimeIntegrationInput     &input,
                    const ConservationProblem<dim> &problem,
                    PointwiseOperator<dim>         &op,
                    const Mass                     &mass,
                    const Functions                &functions);

      /// Improves the guess @p u. Throws if Newton's method or GMRES fails.
      void
      solve(const double      t,
            const double      tau,
            const VectorType &known,
            VectorType       &u);

      /// Tells that a time step begins.
      void
      start_step()
      {
        present_tau = 0.;
      }

      std::uint64_t n_newton_steps = 0, n_iterations = 0;

    private:
      /// M / tau + R'(t, u), without a matrix.
      struct TangentOperator;

      void
      solve_linear(const double      tau,
                   const VectorType &u,
                   const VectorType &g,
                   VectorType       &du);

      const TimeIntegrationInput     &input;
      const ConservationProblem<dim> &problem;
      PointwiseOperator<dim>         &op;
      const Mass                     &mass;
      const Functions                 functions;
      Matrix                          matrix;
      LUSGS<Matrix>                   preconditioner;
      /// Time of the stage.
      double time = 0.;
      /// The value of tau in the matrix; 0: there is none yet.
      double present_tau = 0.;
    };
  } // namespace Application
} // namespace Tessella

#endif

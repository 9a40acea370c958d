// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_conservation_solver_h
#define tessella_applications_common_conservation_solver_h

#include <tessella/operators/pointwise_operator.h>
#include <tessella/operators/polytopewise_operator.h>
#include <tessella/time_stepping/bdf.h>
#include <tessella/time_stepping/cfl.h>
#include <tessella/time_stepping/explicit_runge_kutta.h>
#include <tessella/time_stepping/sdirk.h>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "conservation_problem.h"
#include "conservation_state.h"
#include "implicit_stage.h"

namespace Tessella
{
  namespace Application
  {
    /**
     * Method of lines on one mesh with one degree: M u' = -R(u), with limiters.
     *
     * <b>Limiters in stages.</b> Explicit methods store the derivatives of the
     * stages and add them to the old solution. The state of each stage is
     * limited when its derivative is computed, and the new solution is limited
     * at the end. Since limiters keep mean values, the mean values of strong
     * stability preserving methods are those of the form of Shu and Osher,
     * which limits each of the Euler steps of whose convex combinations the
     * method consists; bounds of the mean values follow from those of Euler
     * steps as usual. Implicit methods limit the new solution only.
     *
     * <b>Steps of implicit methods.</b> Where Newton's method fails, the step
     * is repeated with half its length; the following ones grow by at most a
     * factor of two until the CFL number is reached again.
     *
     * <b>Where it runs.</b> With VectorType = DeviceVector<double> the state
     * stays on a CUDA device: residuals, tangents, mass matrices and linear
     * systems are computed there, and so are limiters and wave speeds if their
     * functors have kernels. Nothing is copied in a step then but sums over
     * polytopes at the boundary and one number of each polytope for each
     * functor.
     *
     * <b>Checkpoints</b> hold the state, the history of the BDF method and the
     * balance of the boundary flux. A run that goes on from one computes the
     * same bits as one that was not stopped.
     */
    template <int dim, typename VectorType = HostVector<double>>
    class ConservationSolver
    {
    public:
      using State = ConservationState<VectorType>;

      /// Functions that replace parts of the problem where VectorType matters;
      /// may be empty.
      struct Functions
      {
        /// R where it is not that of the integrand alone, which then gives the
        /// flux through the boundary. Explicit methods use the residual only.
        typename ImplicitStage<dim, VectorType>::Functions stage;
        /// Wave speeds in place of ConservationProblem::largest_speed.
        std::function<std::vector<double>(const VectorType &)> speeds;
      };

      ConservationSolver(const ConservationSettings      &input,
                         const ConservationProblem<dim>  &problem,
                         const AgglomerationHandler<dim> &handler,
                         const AssemblyParameters        &data,
                         const unsigned int               coefficient_order,
                         const Functions &functions = Functions());

      /// Projects the initial condition, or reads Time/Restart from, and
      /// computes the solution at the final time. Checkpoints are written to
      /// @p checkpoint_file.
      void
      run(const std::string &checkpoint_file);

      /// If it is set, steps end at multiples of tick, too, and on_tick is
      /// called at these times and, unless the run goes on from a checkpoint,
      /// at its beginning.
      double                                 tick = 0.;
      std::function<void(const double time)> on_tick;

      /// The present solution in the memory of the host, valid until the next
      /// step. A device costs a copy for each call.
      const ConservationVector              &
      solution() const;
      unsigned int n_steps = 0;
      /// Time of the solution: the final time, unless Time/Stop after has
      /// ended the run.
      double time = 0.;
      /// Whether the final time was reached.
      bool finished = true;
      /// Change of integrals that the flux through the boundary does not
      /// account for, over the largest integral of absolute mean values; the
      /// largest over the components.
      double drift = 0.;

      /// Steps of Newton's method and iterations of GMRES of this run.
      std::uint64_t
      n_newton_steps() const
      {
        return stage_solver == nullptr ? 0 : stage_solver->n_newton_steps;
      }
      std::uint64_t
      n_iterations() const
      {
        return stage_solver == nullptr ? 0 : stage_solver->n_iterations;
      }

      const OperatorReport &
      report() const
      {
        return op.report();
      }

    private:
      /// Chooses the integrator.
      void
      set_method();
      /// A vector with the type that PolytopewiseOperator takes.
      template <typename Vector>
      static auto &
      coefficients(Vector &vector)
      {
        using HostType = std::conditional_t<std::is_const<Vector>::value,
                                            const ConservationVector,
                                            ConservationVector>;
        if constexpr (ConservationMemory<VectorType>::on_device)
          return vector;
        else
          return static_cast<HostType &>(vector);
      }
      /// Applies the limiters to a state at time @p t.
      void
      limit(VectorType &u, const double t);
      /// Derivatives of the limited state and of its boundary flux.
      void
      derivative(const double t, const State &u, State &result);
      /// Adds @p factor times the flux through the boundary to @p outflow.
      void
      add_boundary_flux(const VectorType    &u,
                        const double         factor,
                        std::vector<double> &outflow);
      /// Advances the state from time t; halves the step where an implicit
      /// method fails.
      void
      advance(const double allowed);
      /// The final time, or the next multiple of tick.
      double
      next_end() const;
      /// Method of a checkpoint, see TimeState.
      std::string
      method() const;
      /// The largest step that the CFL number allows.
      double
      largest_step(const double t);
      /// Throws with the first owned polytope whose entry of @p results is
      /// negative or not a number. Collective.
      void
      check(const std::vector<double> &results,
            const std::string         &what,
            const std::string         &remedy,
            const double               t) const;
      /// The largest sum of the absolute mean values times measures.
      double
      size() const;
      void
      start();
      void
      write_checkpoint(const std::string &file) const;
      void
      read_checkpoint(const std::string &file);

      const ConservationSettings       &input;
      const ConservationProblem<dim>   &problem;
      const AgglomerationHandler<dim>  &handler;
      PointwiseOperator<dim>            op;
      mutable PolytopewiseOperator<dim> polytopewise;
      const typename ConservationMemory<VectorType>::template Mass<dim> mass;
      const CFLSteps<dim>                                               cfl;
      const Functions functions;
      State           state;
      /// The solution of a device in the memory of the host.
      mutable HostVector<double> host_copy;
      /// Advances the state by a step from a time.
      std::function<void(const double, const double)> step;
      std::unique_ptr<BDF<State>>                     bdf;
      std::unique_ptr<ImplicitStage<dim, VectorType>> stage_solver;
      bool                                            has_boundary;
      /// Part of the largest step that is taken, after failures less than 1.
      double reduction = 1.;
      /// Whether the next state to be differentiated is limited already.
      bool is_limited = false;
      /// Largest size(); integrals of the initial state.
      double              scale = 0.;
      std::vector<double> before;
    };
  } // namespace Application
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_compressible_flow_steady_solver_h
#define tessella_applications_compressible_flow_steady_solver_h

#include <tessella/flow/pseudo_transient.h>
#include <tessella/lac/host_vector.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "flow_input.h"

namespace Tessella
{
  namespace Application
  {
    /**
     * Steady flow on one mesh with one degree by PseudoTransient, on the host
     * or on a device.
     *
     * Checkpoints hold the solution, the state of the iteration and all steps,
     * so that a run that goes on from one computes and lists the same steps as
     * one that was not stopped. Where the iteration fails, the last state that
     * it reached is written as a checkpoint.
     */
    template <int dim>
    class SteadySolver
    {
    public:
      /// The residual has the order @p coefficient_order; the matrix and all
      /// else, which with a reconstruction are for linear functions, have
      /// @p order_of_linear.
      SteadySolver(const FlowInput                 &input,
                   const FlowProblem<dim>          &problem,
                   const AgglomerationHandler<dim> &handler,
                   const AssemblyParameters        &parameters,
                   const unsigned int               coefficient_order,
                   const unsigned int               order_of_linear);

      /// Makes run() begin with a solution @p start of the space @p dofs on the
      /// same polytopes in place of the initial condition: modes that only one
      /// of the two spaces has are zero or left out.
      void
      start_from(const HostVector<double> &start, const PolytopicDoFs &dofs);

      /// Computes the steady state from the initial condition, or from
      /// Time/Restart from. Checkpoints are written to @p checkpoint_file.
      void
      run(const std::string &checkpoint_file);

      /// Called after each step, for the list of steps; may be empty. It may
      /// call update_solution().
      std::function<void()> on_step;
      /// Makes solution() that of the step before on_step, which costs a copy
      /// from a device and a reconstruction. Collective.
      void
      update_solution()
      {
        fetch();
      }
      /// Replaces Steady/Tolerance if it is positive.
      double tolerance = 0.;

      /// The solution; with Steady/Reconstruction, the reconstructed one.
      const HostVector<double> &
      solution() const
      {
        return reconstruction == nullptr ? u : reconstructed;
      }
      /// Space of the solution.
      const AgglomerationHandler<dim> &
      solution_handler() const
      {
        return reconstruction == nullptr ? handler
                                         : reconstruction->quadratic_handler();
      }
      /// Number of polytopes that a reconstruction leaves linear.
      unsigned int
      n_linear_polytopes() const
      {
        return reconstruction == nullptr ? 0
                                         : reconstruction->n_linear_polytopes();
      }
      /// False if Time/Stop after has ended the run.
      bool                                   finished = true;
      std::vector<Flow::PseudoTransientStep> steps;
      unsigned int
      n_iterations() const;
      void
      write_residuals(std::ostream &out) const;

    private:
      /// Sets u and the reconstructed function to the state of the iteration.
      std::function<void()> fetch;
      template <typename VectorType, typename MatrixType>
      void
      run_on(const std::string &checkpoint_file);
      /// Throws if the initial state, or its reconstruction, is not admissible.
      void
      check_initial_state();
      /// Throws if @p u, a function of @p space, is not admissible, and says
      /// @p what it is.
      void
      check_state(const AgglomerationHandler<dim> &space,
                  const HostVector<double>        &u,
                  const std::string               &what);
      std::string
      method() const;
      void
      write_checkpoint(const std::string                &file,
                       const Flow::PseudoTransientState &state) const;
      Flow::PseudoTransientState
      read_checkpoint(const std::string &file);

      const FlowInput                 &input;
      const FlowProblem<dim>          &problem;
      const AgglomerationHandler<dim> &handler;
      const AssemblyParameters         parameters;
      const unsigned int               coefficient_order, order_of_linear;
      HostVector<double>               u, reconstructed;
      bool                             has_start = false;

      std::unique_ptr<Flow::QuadraticReconstruction<dim>> reconstruction;
      std::unique_ptr<Flow::ArtificialViscosity<dim>>     viscosity;
    };
  } // namespace Application
} // namespace Tessella

#endif

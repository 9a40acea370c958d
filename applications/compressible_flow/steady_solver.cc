// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "steady_solver.h"

#include <deal.II/base/exceptions.h>

#include <tessella/base/error_message.h>
#include <tessella/base/on_all_processes.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/operators/pointwise_operator.h>
#include <tessella/time_stepping/time_state.h>

#include <algorithm>
#include <iomanip>
#include <type_traits>

#include "../common/program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    template <int dim>
    SteadySolver<dim>::SteadySolver(const FlowInput                 &input,
                                    const FlowProblem<dim>          &problem,
                                    const AgglomerationHandler<dim> &handler,
                                    const AssemblyParameters        &data,
                                    const unsigned int coefficient_order,
                                    const unsigned int order_of_linear)
      : input(input)
      , problem(problem)
      , handler(handler)
      , parameters(data)
      , coefficient_order(coefficient_order)
      , order_of_linear(order_of_linear)
    {
      PointwiseOperator<dim>(handler, parameters).reinit(u);
      // The sensor is zero for constants.
      if (handler.max_degree() > 0)
        viscosity = input.shock.create(handler, problem.model.gas);
      if (!input.reconstruct)
        return;
      reconstruction = std::make_unique<Flow::QuadraticReconstruction<dim>>(
        handler, input.reconstruction);
      PointwiseOperator<dim>(reconstruction->quadratic_handler(), parameters)
        .reinit(reconstructed);
    }



    template <int dim>
    void
    SteadySolver<dim>::start_from(const HostVector<double> &start,
                                  const PolytopicDoFs      &dofs)
    {
      const PolytopicDoFs &own = handler.polytopic_dofs();
      u                        = 0.;
      // The functions of lower degree come first.
      for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
        for (unsigned int c = 0; c < own.n_components; ++c)
          std::copy_n(start.begin() + dofs.dof_offset[k] + c * dofs.n_basis[k],
                      std::min(dofs.n_basis[k], own.n_basis[k]),
                      u.begin() + own.dof_offset[k] + c * own.n_basis[k]);
      has_start = true;
    }



    template <int dim>
    unsigned int
    SteadySolver<dim>::n_iterations() const
    {
      unsigned int sum = 0;
      for (const auto &step : steps)
        sum += step.n_iterations;
      return sum;
    }



    template <int dim>
    void
    SteadySolver<dim>::write_residuals(std::ostream &out) const
    {
      out << "step,CFL,residual,reduction,length,iterations,seconds\n";
      for (const auto &step : steps)
        out << step.step << ',' << std::setprecision(6) << step.cfl << ','
            << std::setprecision(17) << step.residual << ',' << step.reduction
            << ',' << step.length << ',' << step.n_iterations << ','
            << std::setprecision(6) << step.seconds << '\n';
    }



    template <int dim>
    std::string
    SteadySolver<dim>::method() const
    {
      return "pseudo-transient continuation, " +
             std::string(!input.reconstruct          ? ""
                         : input.reconstruction.weno ? "P1P2 with WENO, "
                                                     : "P1P2, ") +
             input.shock.description() + problem.data;
    }



    template <int dim>
    void
    SteadySolver<dim>::write_checkpoint(
      const std::string &file, const Flow::PseudoTransientState &state) const
    {
      TimeState saved;
      saved.n_steps = state.n_steps;
      saved.method  = method();
      saved.numbers = {state.first_residual,
                       state.last_residual,
                       state.factor,
                       double(state.n_failures)};
      for (const auto &step : steps)
        for (const double number : {double(step.step),
                                    step.cfl,
                                    step.residual,
                                    step.reduction,
                                    step.length,
                                    double(step.n_iterations),
                                    step.seconds})
          saved.numbers.push_back(number);
      write_time_state(file,
                       handler,
                       saved,
                       std::vector<const HostVector<double> *>{&u});
    }



    template <int dim>
    Flow::PseudoTransientState
    SteadySolver<dim>::read_checkpoint(const std::string &file)
    {
      std::vector<HostVector<double>> vectors;
      const TimeState saved = read_time_state(file, handler, u, vectors);
      AssertThrow(saved.method == method() && vectors.size() == 1 &&
                    saved.numbers.size() % 7 == 4,
                  ExcMessage("The checkpoint '" + file + "' was written by '" +
                             saved.method + "', but this run is '" + method() +
                             "': set sections Flow and Shock capturing to "
                             "those of the checkpoint."));
      u = vectors[0];
      Flow::PseudoTransientState state;
      state.n_steps        = saved.n_steps;
      state.first_residual = saved.numbers[0];
      state.last_residual  = saved.numbers[1];
      state.factor         = saved.numbers[2];
      state.n_failures     = saved.numbers[3];
      for (std::size_t i = 4; i < saved.numbers.size(); i += 7)
        {
          const double *const       n = &saved.numbers[i];
          Flow::PseudoTransientStep step;
          step.step         = n[0];
          step.cfl          = n[1];
          step.residual     = n[2];
          step.reduction    = n[3];
          step.length       = n[4];
          step.n_iterations = n[5];
          step.seconds      = n[6];
          steps.push_back(step);
        }
      return state;
    }



    template <int dim>
    void
    SteadySolver<dim>::check_initial_state()
    {
      const std::string what =
        has_start ? "the solution of the last degree" : "the initial condition";
      check_state(handler,
                  u,
                  (has_start ? "The transfer of " : "The projection of ") +
                    what);
      if (reconstruction == nullptr)
        return;
      reconstruction->reconstruct(u, reconstructed);
      check_state(solution_handler(),
                  reconstructed,
                  "The reconstruction of quadratic functions from " + what);
    }



    template <int dim>
    void
    SteadySolver<dim>::check_state(const AgglomerationHandler<dim> &space,
                                   const HostVector<double>        &u,
                                   const std::string               &what)
    {
      // Rules of this order are those of the residual: a higher one would give
      // curved cells other points than a run has that goes on.
      PolytopewiseOperator<dim> polytopewise(space,
                                             std::max(1U, coefficient_order) -
                                               1);
      const ConservationVector &state = u;
      problem.check_initial(polytopewise, state, what);
    }



    template <int dim>
    template <typename VectorType, typename MatrixType>
    void
    SteadySolver<dim>::run_on(const std::string &checkpoint_file)
    {
      SteadyModelData data;
      data.jacobian          = input.jacobian;
      data.coefficient_order = order_of_linear;
      data.largest_change    = input.largest_change;
      data.n_halvings        = input.n_halvings;
      const auto integrands =
        viscosity == nullptr
          ? make_steady_flow(problem.model, handler.max_degree(), data)
          : make_steady_shock_flow(problem.model, handler.max_degree(), data);
      integrands.residual->set_coefficient_order(coefficient_order);
      Flow::PseudoTransientData control = input.pseudo_transient;
      if (tolerance > 0.)
        control.tolerance = tolerance;
      Flow::PseudoTransient<dim, VectorType, MatrixType> iteration(
        handler,
        parameters,
        integrands,
        control,
        reconstruction.get(),
        viscosity.get());
      if (!has_start)
        {
          problem.initial->set_time(0.);
          ConservationVector &vector = u;
          VectorTools::project(handler, *problem.initial, vector);
        }
      // The projection comes first in any case: it decides for which order the
      // quadrature on curved cells is tabulated, so that a run that goes on
      // from a checkpoint has the points of the run before.
      if (!input.time.restart.empty())
        iteration.set_state(read_checkpoint(input.time.restart));
      else
        check_initial_state();
      VectorType state;
      iteration.reinit(state);
      internal::set_owned_entries(internal::owned_entries(u), state);
      const auto download = [&]() {
        internal::set_owned_entries(internal::owned_entries(state), u);
      };
      fetch = [&]() {
        download();
        if (reconstruction != nullptr)
          reconstruction->reconstruct(u, reconstructed);
      };
      const unsigned int first = iteration.state().n_steps,
                         every = input.time.checkpoint_steps,
                         stop  = input.time.stop_steps;
      const double before      = steps.empty() ? 0. : steps.back().seconds;
      const auto   report      = [&](const Flow::PseudoTransientStep &step) {
        steps.push_back(step);
        steps.back().seconds += before;
        if (on_step)
          on_step();
        const bool ends = stop > 0 && step.step - first == stop;
        if (ends || (every > 0 && step.step % every == 0))
          {
            download();
            write_checkpoint(checkpoint_file, iteration.state());
          }
        finished = !ends;
        return finished;
      };
      try
        {
          iteration.solve(state, report);
        }
      catch (const Flow::ExcNotSteady &exception)
        {
          download();
          write_checkpoint(checkpoint_file, iteration.state());
          AssertThrow(false,
                      Flow::ExcNotSteady(
                        error_message(exception) + " The last state is in '" +
                        checkpoint_file +
                        "', to go on with other parameters (Time/Restart "
                        "from)."));
        }
      if (!finished)
        finished = iteration.has_converged(state);
      fetch();
    }



    template <int dim>
    void
    SteadySolver<dim>::run(const std::string &checkpoint_file)
    {
      if (input.runs_on_device(parameters.backend))
        run_on<DeviceVector<double>, DeviceBlockMatrix<double>>(
          checkpoint_file);
      else
        run_on<HostVector<double>, HostBlockMatrix<double>>(checkpoint_file);
    }



    template class SteadySolver<2>;
    template class SteadySolver<3>;
  } // namespace Application
} // namespace Tessella

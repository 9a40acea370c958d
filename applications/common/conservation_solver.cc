// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "conservation_solver.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <tessella/base/error_message.h>
#include <tessella/base/on_all_processes.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/time_stepping/time_state.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    template <int dim, typename VectorType>
    ConservationSolver<dim, VectorType>::ConservationSolver(
      const ConservationSettings      &input,
      const ConservationProblem<dim>  &problem,
      const AgglomerationHandler<dim> &handler,
      const AssemblyParameters        &data,
      const unsigned int               coefficient_order,
      const Functions                 &functions)
      : input(input)
      , problem(problem)
      , handler(handler)
      , op(handler, data)
      , polytopewise(handler, coefficient_order)
      , mass(handler)
      , cfl(handler)
      , functions(functions)
    {
      problem.integrand->set_coefficient_order(coefficient_order);
      op.reinit(state.u);
      if (ConservationMemory<VectorType>::on_device)
        op.reinit(host_copy);
      state.outflow.assign(handler.n_components(), 0.);
      // Facets of periodic boundaries are not on the boundary of the flat view.
      bool found = false;
      for (const unsigned int id :
           handler.polytopic_mesh().interface_boundary_id)
        found = found || id != invalid_index;
      has_boundary =
        Utilities::MPI::max(found ? 1U : 0U, handler.get_communicator()) > 0;
      set_method();
    }



    template <int dim, typename VectorType>
    void
    ConservationSolver<dim, VectorType>::set_method()
    {
      const TimeIntegrationInput &time_input = input.time;
      const unsigned int order = time_input.order_for(handler.max_degree());
      const TimeDerivative<State> f =
        [this](const double t, const State &u, State &result) {
          derivative(t, u, result);
        };
      if (time_input.method == TimeMethod::low_storage)
        {
          const auto method = std::make_shared<LowStorageRungeKutta<State>>(
            order == 3   ? LowStorageMethod::williamson_3
            : order == 4 ? LowStorageMethod::carpenter_kennedy_4
                         : LowStorageMethod::kennedy_5);
          step = [this, method, f](const double t, const double dt) {
            method->step(f, t, dt, state);
          };
          return;
        }
      if (!time_input.is_implicit())
        {
          const auto method = std::make_shared<ExplicitRungeKutta<State>>(
            order == 1   ? ExplicitMethod::forward_euler
            : order == 2 ? ExplicitMethod::ssp_2
            : order == 3 ? ExplicitMethod::ssp_3
                         : ExplicitMethod::classic_4);
          step = [this, method, f](const double t, const double dt) {
            method->step(f, t, dt, state);
          };
          return;
        }
      stage_solver = std::make_unique<ImplicitStage<dim, VectorType>>(
        time_input, problem, op, mass, functions.stage);
      const StageSolver<State> solve =
        [this](const double t, const double tau, const State &known, State &u) {
          stage_solver->solve(t, tau, known.u, u.u);
          u.outflow = known.outflow;
          add_boundary_flux(u.u, tau, u.outflow);
        };
      if (time_input.method == TimeMethod::bdf)
        {
          bdf  = std::make_unique<BDF<State>>(order);
          step = [this, solve](const double t, const double dt) {
            bdf->step(solve, t, dt, state);
          };
          return;
        }
      const auto method = std::make_shared<SDIRK<State>>(order);
      step = [this, method, solve](const double t, const double dt) {
        method->step(solve, t, dt, state);
      };
    }



    template <int dim, typename VectorType>
    void
    ConservationSolver<dim, VectorType>::check(
      const std::vector<double> &results,
      const std::string         &what,
      const std::string         &remedy,
      const double               t) const
    {
      on_all_processes(handler.get_communicator(), [&]() {
        for (unsigned int k = 0; k < results.size(); ++k)
          {
            if (results[k] >= 0.)
              continue;
            const double *const x = &handler.polytopic_mesh().box[2 * dim * k];
            double              centre[dim];
            for (int d = 0; d < dim; ++d)
              centre[d] = 0.5 * (x[d] + x[dim + d]);
            AssertThrow(false,
                        ExcMessage(
                          what + " on polytope " +
                          std::to_string(handler.global_polytope_index(k)) +
                          " near the point (" + point_text(centre, dim) +
                          ") at time " + short_text(t) + ": " + remedy));
          }
      });
    }



    template <int dim, typename VectorType>
    void
    ConservationSolver<dim, VectorType>::limit(VectorType &u, const double t)
    {
      auto &vector = coefficients(u);
      for (const ConservationLimiter<dim> &limiter : problem.limiters)
        {
          const std::vector<double> results =
            polytopewise.apply(*limiter.function, vector);
          if (!limiter.failure.empty())
            check(results, limiter.failure, limiter.remedy, t);
        }
    }



    template <int dim, typename VectorType>
    double
    ConservationSolver<dim, VectorType>::largest_step(const double t)
    {
      const std::string remedy =
        n_steps == 0 && !problem.check_initial
          ? "change Equation/Initial condition, or set Limiter/Bounds."
          : problem.remedy;
      std::vector<double> speed;
      if (!functions.speeds)
        speed =
          polytopewise.evaluate(*problem.largest_speed, coefficients(state.u));
      else
        try
          {
            speed = functions.speeds(state.u);
          }
        catch (const ExceptionBase &exception)
          {
            // An integral of speeds has no value where a state on a facet is
            // not admissible.
            std::string reason = error_message(exception);
            while (!reason.empty() && reason.back() == '.')
              reason.pop_back();
            AssertThrow(false,
                        ExcMessage(
                          "The wave speeds cannot be computed at time " +
                          short_text(t) + " (" + reason + "): " + remedy));
          }
      check(speed, problem.not_admissible, remedy, t);
      return cfl.smallest(input.time.cfl_number, speed);
    }



    template <int dim, typename VectorType>
    void
    ConservationSolver<dim, VectorType>::add_boundary_flux(
      const VectorType &u, const double factor, std::vector<double> &outflow)
    {
      if (has_boundary)
        for (const auto &flux :
             op.template integrate_boundary<VectorType>(*problem.integrand,
                                                        {&u}))
          for (unsigned int c = 0; c < outflow.size(); ++c)
            outflow[c] += factor * flux.second[c];
    }



    template <int dim, typename VectorType>
    void
    ConservationSolver<dim, VectorType>::derivative(const double t,
                                                    const State &u,
                                                    State       &result)
    {
      VectorType limited;
      // The state of the first stage has been limited already.
      const bool copy = !is_limited && !problem.limiters.empty();
      if (copy)
        {
          limited = u.u;
          limit(limited, t);
        }
      const VectorType &present = copy ? limited : u.u;
      is_limited                = false;
      problem.integrand->set_time(t);
      if (functions.stage.residual)
        functions.stage.residual(t, present, result.u);
      else
        op.template residual<VectorType>(*problem.integrand,
                                         {&present},
                                         result.u);
      result.outflow.assign(state.outflow.size(), 0.);
      add_boundary_flux(present, 1., result.outflow);
      mass.apply_inverse(-1., result.u);
    }



    template <int dim, typename VectorType>
    const ConservationVector &
    ConservationSolver<dim, VectorType>::solution() const
    {
      if constexpr (ConservationMemory<VectorType>::on_device)
        {
          internal::set_owned_entries(internal::owned_entries(state.u),
                                      host_copy);
          return host_copy;
        }
      else
        return state.u;
    }



    template <int dim, typename VectorType>
    double
    ConservationSolver<dim, VectorType>::size() const
    {
      const std::vector<double> means   = polytopewise.mean_values(solution());
      const unsigned int        m       = state.outflow.size();
      double                    largest = 0.;
      for (unsigned int c = 0; c < m; ++c)
        {
          double sum = 0.;
          for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
            sum +=
              std::abs(means[k * m + c]) * handler.polytopic_mesh().measure[k];
          largest =
            std::max(largest,
                     Utilities::MPI::sum(sum, handler.get_communicator()));
        }
      return largest;
    }



    template <int dim, typename VectorType>
    void
    ConservationSolver<dim, VectorType>::start()
    {
      problem.initial->set_time(0.);
      HostVector<double>  projected;
      ConservationVector &vector = projected;
      op.reinit(projected);
      VectorTools::project(handler, *problem.initial, vector);
      internal::set_owned_entries(internal::owned_entries(projected), state.u);
      before = polytopewise.integrals(solution());
      limit(state.u, 0.);
      if (problem.check_initial)
        problem.check_initial(polytopewise,
                              solution(),
                              "The projection of the initial condition");
      scale = size();
    }



    template <int dim, typename VectorType>
    double
    ConservationSolver<dim, VectorType>::next_end() const
    {
      const double end = input.time.final_time;
      if (tick == 0.)
        return end;
      // Times at the end of steps are multiples of tick up to rounding.
      const double next = (std::floor(time / tick + 1e-9) + 1.) * tick;
      return next > end - 1e-9 * tick ? end : next;
    }



    template <int dim, typename VectorType>
    std::string
    ConservationSolver<dim, VectorType>::method() const
    {
      return input.time.description(handler.max_degree()) +
             (problem.data.empty() ? "" : ", " + problem.data);
    }



    template <int dim, typename VectorType>
    void
    ConservationSolver<dim, VectorType>::advance(const double allowed)
    {
      const double end      = next_end();
      const double largest  = std::min(allowed, end - time);
      const bool   implicit = input.time.is_implicit();
      for (unsigned int attempt = 0;; ++attempt)
        {
          // Steps are equal as far as the wave speeds are.
          const FittedStep next = fit_step(time, end, reduction * largest);
          is_limited            = true;
          try
            {
              if (implicit)
                stage_solver->start_step();
              step(time, next.length);
            }
          catch (const ExceptionBase &exception)
            {
              if (implicit && attempt < input.time.step_reductions)
                {
                  reduction = 0.5 * next.length / largest;
                  continue;
                }
              AssertThrow(
                false,
                ExcMessage("In time step " + std::to_string(n_steps + 1) +
                           " at time " + short_text(time) +
                           (implicit ? ", of length " +
                                         short_text(next.length) + " after " +
                                         std::to_string(attempt) + " reductions"
                                     : "") +
                           ": " + error_message(exception)));
            }
          time = next.end;
          break;
        }
      reduction = std::min(1., 2. * reduction);
      limit(state.u, time);
      ++n_steps;
    }



    template <int dim, typename VectorType>
    void
    ConservationSolver<dim, VectorType>::write_checkpoint(
      const std::string &file) const
    {
      TimeState                  saved;
      std::vector<const State *> states{&state};
      if (bdf != nullptr)
        store_history(bdf->history(), saved, states);
      saved.time    = time;
      saved.n_steps = n_steps;
      saved.method  = method();
      saved.numbers = {scale, reduction};
      saved.numbers.insert(saved.numbers.end(), before.begin(), before.end());
      std::vector<const VectorType *> vectors;
      for (const State *s : states)
        {
          vectors.push_back(&s->u);
          saved.numbers.insert(saved.numbers.end(),
                               s->outflow.begin(),
                               s->outflow.end());
        }
      write_time_state(file, handler, saved, vectors);
    }



    template <int dim, typename VectorType>
    void
    ConservationSolver<dim, VectorType>::read_checkpoint(
      const std::string &file)
    {
      std::vector<VectorType> vectors;
      const TimeState saved = read_time_state(file, handler, state.u, vectors);
      AssertThrow(saved.method == method(),
                  ExcMessage("The checkpoint '" + file +
                             "' was written by the time integrator " +
                             saved.method + ", but this run uses " + method() +
                             ": set Time/Method and Time/Order" +
                             (problem.data.empty() ? "" : " and the equation") +
                             " to those of the checkpoint."));
      const unsigned int m = state.outflow.size();
      AssertThrow(!vectors.empty() &&
                    saved.numbers.size() == 2 + m * (1 + vectors.size()),
                  ExcMessage("The checkpoint '" + file +
                             "' was not written by this program for an "
                             "equation of " +
                             std::to_string(m) + " components."));
      time                = saved.time;
      n_steps             = saved.n_steps;
      scale               = saved.numbers[0];
      reduction           = saved.numbers[1];
      const auto *numbers = saved.numbers.data() + 2;
      before.assign(numbers, numbers + m);
      std::vector<State> states;
      for (const VectorType &u : vectors)
        {
          numbers += m;
          states.push_back({u, std::vector<double>(numbers, numbers + m)});
        }
      state = states[0];
      if (bdf != nullptr)
        restore_history(saved, states, 1, bdf->history());
    }



    template <int dim, typename VectorType>
    void
    ConservationSolver<dim, VectorType>::run(const std::string &checkpoint_file)
    {
      const TimeIntegrationInput &t = input.time;
      // The projection of the initial condition decides for which order the
      // quadrature on curved cells is tabulated, so that a run that goes on
      // from a checkpoint has the points of the run before.
      start();
      if (!t.restart.empty())
        read_checkpoint(t.restart);
      const unsigned int first = n_steps;
      // Ticks up to the checkpoint were those of the run that wrote it.
      if (on_tick && t.restart.empty())
        on_tick(time);
      while (time < t.final_time)
        {
          show_progress(t.final_time > 0. ? time / t.final_time : 0.);
          const double end = next_end();
          advance(largest_step(time));
          if (on_tick && tick > 0. && time == end)
            on_tick(time);
          const bool stop = t.stop_steps > 0 && n_steps - first == t.stop_steps;
          if (stop ||
              (t.checkpoint_steps > 0 && n_steps % t.checkpoint_steps == 0))
            write_checkpoint(checkpoint_file);
          if (stop)
            break;
        }
      finished = time >= t.final_time;
      // A last look at the state, which has no next step.
      largest_step(time);
      const std::vector<double> after = polytopewise.integrals(solution());
      for (unsigned int c = 0; c < state.outflow.size(); ++c)
        drift =
          std::max(drift, std::abs(after[c] - before[c] + state.outflow[c]));
      scale = std::max(scale, size());
      if (scale > 0.)
        drift /= scale;
    }



    template class ConservationSolver<2, HostVector<double>>;
    template class ConservationSolver<3, HostVector<double>>;
    template class ConservationSolver<2, DeviceVector<double>>;
    template class ConservationSolver<3, DeviceVector<double>>;
  } // namespace Application
} // namespace Tessella

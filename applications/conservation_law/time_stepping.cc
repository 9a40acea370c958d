// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "time_stepping.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <tessella/base/error_message.h>
#include <tessella/base/on_all_processes.h>
#include <tessella/numerics/vector_tools.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "../common/program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    SSPRungeKutta::SSPRungeKutta(const unsigned int order)
      : ExplicitRungeKutta<ConservationVector>(
          order == 3 ? dealii::TimeStepping::SSP_THIRD_ORDER
                     : dealii::TimeStepping::FORWARD_EULER)
    {
      if (order == 2)
        {
          this->n_stages = 2;
          this->a        = {{}, {1.}};
          this->b        = {0.5, 0.5};
          this->c        = {0., 1.};
        }
    }



    namespace
    {
      /// Functor of PolytopewiseOperator: the length by which step sizes are
      /// measured.
      struct StepLength
      {
        template <int dim>
        double
        operator()(const PolytopeStencil<dim> &s, double *) const
        {
          return 2. * s.measure / (s.surface * (2. * s.degree + 1.));
        }
      };
    } // namespace



    template <int dim>
    ConservationSolver<dim>::ConservationSolver(
      const ConservationInput         &input,
      const ConservationProblem<dim>  &problem,
      const AgglomerationHandler<dim> &handler,
      const AssemblyParameters        &data,
      const unsigned int               coefficient_order)
      : input(input)
      , problem(problem)
      , handler(handler)
      , op(handler, data)
      , polytopewise(handler, coefficient_order)
      , inverse_mass(handler)
      , runge_kutta(input.runge_kutta_order > 0
                      ? input.runge_kutta_order
                      : std::min(handler.max_degree() + 1, 3U))
      , outflow(input.n_components(), 0.)
    {
      problem.integrand->set_coefficient_order(coefficient_order);
      op.reinit(solution);
      length = polytopewise.evaluate(StepLength(), solution);
      // Facets of periodic boundaries are not on the boundary of the flat view.
      bool found = false;
      for (const unsigned int id :
           handler.polytopic_mesh().interface_boundary_id)
        found = found || id != invalid_index;
      has_boundary =
        Utilities::MPI::max(found ? 1U : 0U, handler.get_communicator()) > 0;
    }



    template <int dim>
    void
    ConservationSolver<dim>::check(const std::vector<double> &results,
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



    template <int dim>
    void
    ConservationSolver<dim>::limit(ConservationVector &u, const double t)
    {
      if (input.limit_slopes)
        polytopewise.apply(input.slope_limiter, u);
      if (input.limit_bounds)
        check(polytopewise.apply(input.bound_limiter, u),
              "The mean value of component 0 is outside of Limiter/Bounds",
              "lower Time/CFL number, or change the bounds.",
              t);
    }



    template <int dim>
    double
    ConservationSolver<dim>::largest_step(const double t)
    {
      const std::vector<double> speed =
        problem.largest_speeds(polytopewise, solution);
      check(speed,
            problem.not_admissible,
            n_steps == 0
              ? "change Equation/Initial condition, or set Limiter/Bounds."
              : "lower Time/CFL number, or set Limiter/Bounds and Slopes.",
            t);
      double result = std::numeric_limits<double>::max();
      for (unsigned int k = 0; k < speed.size(); ++k)
        if (speed[k] > 0.)
          result = std::min(result, input.cfl_number * length[k] / speed[k]);
      return Utilities::MPI::min(result, handler.get_communicator());
    }



    template <int dim>
    ConservationVector
    ConservationSolver<dim>::derivative(const double              t,
                                        const ConservationVector &u)
    {
      ConservationVector state(u), result(u);
      // The state of the first stage has been limited already.
      if (stage > 0)
        limit(state, t);
      problem.integrand->set_time(t);
      op.template residual<ConservationVector>(*problem.integrand,
                                               {&state},
                                               result);
      if (has_boundary)
        for (const auto &flux :
             op.template integrate_boundary<ConservationVector>(
               *problem.integrand, {&state}))
          for (unsigned int c = 0; c < outflow.size(); ++c)
            outflow[c] += step * runge_kutta.weights()[stage] * flux.second[c];
      ++stage;
      inverse_mass.apply(-1., result);
      return result;
    }



    template <int dim>
    double
    ConservationSolver<dim>::size_of(const unsigned int component)
    {
      const std::vector<double> means = polytopewise.mean_values(solution);
      const unsigned int        m     = outflow.size();
      double                    sum   = 0.;
      for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
        sum += std::abs(means[k * m + component]) *
               handler.polytopic_mesh().measure[k];
      return Utilities::MPI::sum(sum, handler.get_communicator());
    }



    template <int dim>
    void
    ConservationSolver<dim>::run()
    {
      problem.initial->set_time(0.);
      VectorTools::project(handler, *problem.initial, solution);
      const std::vector<double> before = polytopewise.integrals(solution);
      limit(solution, 0.);
      SSPRungeKutta method = runge_kutta;
      const double  end    = input.final_time;
      double        t      = 0.;
      double        scale  = 0.;
      for (unsigned int c = 0; c < outflow.size(); ++c)
        scale = std::max(scale, size_of(c));
      while (t < end)
        {
          // Steps are equal as far as the wave speeds are.
          const double remaining = end - t,
                       number    = std::ceil(remaining / largest_step(t));
          AssertThrow(number < 1e7,
                      ExcMessage("The computation needs more than 1e7 time "
                                 "steps: raise Time/CFL number, or take larger "
                                 "polytopes."));
          step  = remaining / std::max(number, 1.);
          stage = 0;
          try
            {
              method.evolve_one_time_step(
                [this](const double time, const ConservationVector &u) {
                  return derivative(time, u);
                },
                t,
                step,
                solution);
            }
          catch (const ExceptionBase &exception)
            {
              AssertThrow(false,
                          ExcMessage("In time step " +
                                     std::to_string(n_steps + 1) + " at time " +
                                     short_text(t) + ": " +
                                     error_message(exception)));
            }
          t = number <= 1. ? end : t + step;
          limit(solution, t);
          ++n_steps;
        }
      // A last look at the state, which has no next step.
      largest_step(t);
      const std::vector<double> after = polytopewise.integrals(solution);
      for (unsigned int c = 0; c < outflow.size(); ++c)
        {
          scale = std::max(scale, size_of(c));
          drift = std::max(drift, std::abs(after[c] - before[c] + outflow[c]));
        }
      if (scale > 0.)
        drift /= scale;
    }



    template class ConservationSolver<2>;
    template class ConservationSolver<3>;
  } // namespace Application
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_flow_incompressible_temperature_h
#define tessella_source_flow_incompressible_temperature_h

#include <deal.II/base/function.h>

#include <tessella/flow/incompressible_temperature.h>
#include <tessella/time_stepping/time_history.h>

#include <map>
#include <memory>
#include <vector>

#include "incompressible_transport.h"

// Temperature of IncompressibleFlow.

namespace Tessella
{
  namespace Flow
  {
    namespace internal
    {
      /**
       * Temperature of a flow, with its histories. A step is
       *   (gamma M/dt + kappa A) T^{n+1} = M sum alpha_i T^{n-i}/dt
       *     - sum beta_i N(u^{n-i}, T^{n-i}) + M s^{n+1}
       * with the convection N of TemperatureConvection, or with the sum that
       * SubcycledTransport computes instead of sum alpha_i T^{n-i} and the
       * convection. Where no temperature is given on the boundary, the solution
       * gets the integral that this equation tested with 1 has, so that the
       * iteration does not change it.
       */
      template <int dim, typename VectorType>
      class TemperatureEquation
      {
      public:
        using Step = FlowStep<VectorType>;

        TemperatureEquation(const FlowSpaces<dim>          &spaces,
                            const FlowFunctions<dim>       &functions,
                            const IncompressibleParameters &parameters);

        /// Starts with the projection of a function, which may be null for the
        /// reference temperature.
        void
        initialize(const dealii::Function<dim> *function);
        /// Adds the temperature at a past time to the history, with the length
        /// of the step that began there; later times follow.
        void
        add_past(const double                 time,
                 const double                 length,
                 const VectorType            &velocity,
                 const dealii::Function<dim> *function);
        /// Computes the temperature at the end of a step, which accept() makes
        /// the present one. Returns the number of iterations.
        unsigned int
        solve(const Step &s);
        void
        accept(const double dt);
        /// Adds the buoyancy at the end of a step to a right-hand side of the
        /// velocity.
        void
        add_buoyancy(const VectorType &velocity, VectorType &rhs);

        /// Heat that comes in, see HeatFlux.
        std::map<dealii::types::boundary_id, double>
        heat_fluxes(const double time, const bool consistent);
        double
        integral() const;
        std::size_t
        memory_consumption() const
        {
          return solver.memory_consumption();
        }
        /// Operators whose checks may have been deferred.
        std::vector<PointwiseOperator<dim> *>
        operators()
        {
          std::vector<PointwiseOperator<dim> *> result{&t_op, &tu_op, &ut_op};
          if (subcycles != nullptr)
            for (PointwiseOperator<dim> *op : subcycles->operators())
              result.push_back(op);
          return result;
        }

        /// Present temperature, and the one that solve() computed.
        VectorType present, next;
        /// Temperatures and convections before the present ones.
        TimeHistory<VectorType> past, past_n;

      private:
        template <typename F>
        using Integrand = FlowIntegrand<dim, F>;
        using Data      = FlowFunctionData<dim>;

        void
        make_subcycles(const FlowSpaces<dim>    &spaces,
                       const FlowFunctions<dim> &functions);
        void
        compute_convection(const double      time,
                           const VectorType &temperature,
                           const VectorType &velocity,
                           VectorType       &result);

        const IncompressibleParameters   parameters;
        const AgglomerationHandler<dim> &space;
        PointwiseOperator<dim>           t_op, tu_op, ut_op;
        /// Null without subcycles.
        std::unique_ptr<
          SubcycledTransport<dim,
                             VectorType,
                             TemperatureConvection<dim, Data, true>,
                             TemperatureConvection<dim, Data, true, true>,
                             DerivativeAlong<dim, 1>>>
                                                    subcycles;
        Integrand<TemperatureConvection<dim, Data>> convection;
        Integrand<TemperatureData<dim, Data>>       data;
        Integrand<Buoyancy<dim>>                    buoyancy;
        FlowMass<dim, VectorType>                   mass;
        DiffusionSolver<dim, VectorType>            solver;
        NullSpace<VectorType>                       constants;
        /// Whether a temperature is given somewhere on the boundary.
        const bool is_given;
        VectorType present_convection, rhs, work, force;
      };
    } // namespace internal
  }   // namespace Flow
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "unsteady_shock.h"

#include <cmath>
#include <vector>

namespace Tessella
{
  namespace Application
  {
    namespace
    {
      SteadyModelData
      data_of_order(const unsigned int coefficient_order)
      {
        SteadyModelData result;
        result.coefficient_order = coefficient_order;
        return result;
      }
    } // namespace



    template <int dim>
    UnsteadyShock<dim>::UnsteadyShock(
      const ShockInput                &input,
      FlowProblem<dim>                &problem,
      const AgglomerationHandler<dim> &handler,
      const AgglomerationHandler<dim> &constants,
      const AssemblyParameters        &data,
      const unsigned int               coefficient_order)
      : problem(problem)
      , integrands(make_steady_shock_flow(problem.model,
                                          handler.max_degree(),
                                          data_of_order(coefficient_order)))
      , viscosity(input.create(handler, problem.model.gas))
      , op({&handler, &constants}, 0, data)
      , speeds_without(problem.largest_speeds)
      , data_without(problem.data)
    {
      PointwiseOperator<dim>(constants, data).reinit(eps);
      problem.residual = [this](const HostVector<double> &u,
                                HostVector<double>       &result) {
        viscosity->compute(u, eps);
        op.template residual<HostVector<double>>(*integrands.residual,
                                                 {&u, &eps},
                                                 result);
      };
      const auto sensor = input.sensor(problem.model.gas);
      problem.largest_speeds =
        [this, sensor, &handler](PolytopewiseOperator<dim> &polytopewise,
                                 const ConservationVector  &u) {
          std::vector<double>       speeds   = speeds_without(polytopewise, u);
          const std::vector<double> strength = polytopewise.evaluate(sensor, u);
          for (unsigned int k = 0; k < speeds.size(); ++k)
            if (speeds[k] >= 0.)
              speeds[k] +=
                (2. * handler.polytopic_dofs().degree[k] + 1.) /
                std::pow(handler.polytopic_mesh().measure[k], 1. / dim) *
                strength[k];
          return speeds;
        };
      problem.data = input.description() + problem.data;
    }



    template <int dim>
    UnsteadyShock<dim>::~UnsteadyShock()
    {
      problem.residual       = nullptr;
      problem.largest_speeds = speeds_without;
      problem.data           = data_without;
    }



    template class UnsteadyShock<2>;
    template class UnsteadyShock<3>;
  } // namespace Application
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/flow/shock_capturing.h>

#include "flow_model.h"

namespace Tessella
{
  namespace Application
  {
    namespace
    {
      // Flows without a source evaluate one of zero, which saves the compiler a
      // second version of all functions.
      template <int dim, typename Flux>
      auto
      make_equations(const FlowModel<dim> &model, const unsigned int degree)
      {
        Flow::WithArtificialViscosity<
          dim,
          Flow::Euler<dim, Flux, Flow::ExactStates<dim, true>>>
          result;
        set_model(model, result);
        result.data.is_active = model.with_source;
        result.order          = 2. * degree + 1.;
        return result;
      }
    } // namespace



    template <int dim>
    Flow::SteadyIntegrands<dim>
    make_steady_shock_flow(const FlowModel<dim>  &model,
                           const unsigned int     degree,
                           const SteadyModelData &data)
    {
      if (model.is_viscous())
        return make_steady_viscous_shock_flow(model, degree, data);
      return make_steady<dim>(
        model,
        make_equations<dim, Flow::ChosenFlux>(model, degree),
        make_equations<dim, Flow::ChosenFrozenFlux>(model, degree),
        data);
    }



    template Flow::SteadyIntegrands<2>
    make_steady_shock_flow(const FlowModel<2> &,
                           const unsigned int,
                           const SteadyModelData &);
    template Flow::SteadyIntegrands<3>
    make_steady_shock_flow(const FlowModel<3> &,
                           const unsigned int,
                           const SteadyModelData &);
  } // namespace Application
} // namespace Tessella

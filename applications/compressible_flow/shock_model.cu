// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/flow/shock_capturing.h>

#include "flow_model.h"

namespace Tessella
{
  namespace Application
  {
    // Flows without a source evaluate one of zero, which saves the compiler a
    // second version of all functions.
    template <int dim>
    Flow::SteadyIntegrands<dim>
    make_steady_shock_flow(const FlowModel<dim>  &model,
                           const unsigned int     degree,
                           const SteadyModelData &data)
    {
      using States = Flow::ExactStates<dim, true>;
      using Euler  = Flow::Euler<dim, Flow::ChosenFlux, States>;
      Flow::WithArtificialViscosity<dim, Euler> equations;
      set_model(model, equations);
      equations.data.is_active = model.with_source;
      equations.order          = 2. * degree + 1.;
      return make_steady<dim>(equations, data);
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

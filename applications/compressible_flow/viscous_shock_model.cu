// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/flow/shock_capturing.h>

#include "flow_model.h"

namespace Tessella
{
  namespace Application
  {
    namespace
    {
      template <int dim, typename Flux>
      auto
      make_equations(const FlowModel<dim> &model, const unsigned int degree)
      {
        using NavierStokes =
          Flow::NavierStokes<dim, Flux, Flow::ExactStates<dim, true>>;
        Flow::WithArtificialViscosity<dim, NavierStokes> result;
        // The members that both have are those of the artificial viscosity.
        set_viscous_model(model, degree, static_cast<NavierStokes &>(result));
        result.order = 2. * degree + 1.;
        return result;
      }
    } // namespace



    template <int dim>
    Flow::SteadyIntegrands<dim>
    make_steady_viscous_shock_flow(const FlowModel<dim>  &model,
                                   const unsigned int     degree,
                                   const SteadyModelData &data)
    {
      return make_steady<dim>(
        model,
        make_equations<dim, Flow::ChosenFlux>(model, degree),
        make_equations<dim, Flow::ChosenFrozenFlux>(model, degree),
        data);
    }



    template Flow::SteadyIntegrands<2>
    make_steady_viscous_shock_flow(const FlowModel<2> &,
                                   const unsigned int,
                                   const SteadyModelData &);
    template Flow::SteadyIntegrands<3>
    make_steady_viscous_shock_flow(const FlowModel<3> &,
                                   const unsigned int,
                                   const SteadyModelData &);
  } // namespace Application
} // namespace Tessella

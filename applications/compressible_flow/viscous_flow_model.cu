// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "flow_model.h"

namespace Tessella
{
  namespace Application
  {
    namespace
    {
      // Flows without a source evaluate one of zero, which saves the compiler
      // a second version of all kernels.
      template <int dim>
      using NavierStokes =
        Flow::NavierStokes<dim, Flow::ChosenFlux, Flow::ExactStates<dim, true>>;

      template <int dim>
      NavierStokes<dim>
      make_equations(const FlowModel<dim> &model, const unsigned int degree)
      {
        NavierStokes<dim> result;
        set_model(model, result);
        result.data.viscosity   = model.viscosity;
        result.data.is_active   = model.with_source;
        result.viscosity        = model.viscosity;
        result.penalty_constant = model.penalty_constant;
        result.order            = 2. * degree + 1.;
        return result;
      }
    } // namespace



    template <int dim>
    std::unique_ptr<PointwiseIntegrand<dim>>
    make_viscous_integrand(const FlowModel<dim> &model,
                           const unsigned int    degree)
    {
      return std::make_unique<FunctorIntegrand<dim, NavierStokes<dim>>>(
        make_equations(model, degree));
    }



    template <int dim>
    Flow::SteadyIntegrands<dim>
    make_steady_viscous_flow(const FlowModel<dim>  &model,
                             const unsigned int     degree,
                             const SteadyModelData &data)
    {
      return make_steady<dim>(make_equations(model, degree), data);
    }



#define INSTANTIATE(dim)                                                    \
  template std::unique_ptr<PointwiseIntegrand<dim>> make_viscous_integrand( \
    const FlowModel<dim> &, const unsigned int);                            \
  template Flow::SteadyIntegrands<dim> make_steady_viscous_flow(            \
    const FlowModel<dim> &, const unsigned int, const SteadyModelData &);
    INSTANTIATE(2)
    INSTANTIATE(3)
#undef INSTANTIATE
  } // namespace Application
} // namespace Tessella

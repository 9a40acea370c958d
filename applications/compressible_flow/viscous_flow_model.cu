// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "flow_model.h"

namespace Tessella
{
  namespace Application
  {
    namespace
    {
      template <int dim, typename Flux>
      using NavierStokes =
        Flow::NavierStokes<dim, Flux, Flow::ExactStates<dim, true>>;

      template <int dim, typename Flux>
      NavierStokes<dim, Flux>
      make_equations(const FlowModel<dim> &model, const unsigned int degree)
      {
        NavierStokes<dim, Flux> result;
        set_viscous_model(model, degree, result);
        return result;
      }
    } // namespace



    template <int dim>
    std::unique_ptr<PointwiseIntegrand<dim>>
    make_viscous_integrand(const FlowModel<dim> &model,
                           const unsigned int    degree)
    {
      return std::make_unique<
        FunctorIntegrand<dim, NavierStokes<dim, Flow::ChosenFlux>>>(
        make_equations<dim, Flow::ChosenFlux>(model, degree));
    }



    template <int dim>
    Flow::SteadyIntegrands<dim>
    make_steady_viscous_flow(const FlowModel<dim>  &model,
                             const unsigned int     degree,
                             const SteadyModelData &data)
    {
      return make_steady<dim>(
        model,
        make_equations<dim, Flow::ChosenFlux>(model, degree),
        make_equations<dim, Flow::ChosenFrozenFlux>(model, degree),
        data);
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "flow_model.h"

namespace Tessella
{
  namespace Application
  {
    namespace
    {
      template <int dim, bool with_source>
      using Euler =
        Flow::Euler<dim, Flow::ChosenFlux, Flow::ExactStates<dim, with_source>>;

      template <int dim, bool with_source>
      Euler<dim, with_source>
      make_euler(const FlowModel<dim> &model)
      {
        Euler<dim, with_source> euler;
        euler.gas            = model.gas;
        euler.numerical_flux = model.numerical_flux;
        euler.boundary       = model.boundary;
        euler.data.flow      = model.exact;
        return euler;
      }

      template <int dim, bool with_source>
      Flow::SteadyIntegrands<dim>
      make_steady(const FlowModel<dim> &model,
                  const bool            frozen_rusanov,
                  const unsigned int    coefficient_order,
                  const double          largest_change,
                  const unsigned int    n_halvings)
      {
        const auto euler         = make_euler<dim, with_source>(model);
        auto       approximation = euler;
        if (frozen_rusanov)
          approximation.numerical_flux.type =
            Flow::NumericalFlux::frozen_rusanov;
        return Flow::make_steady_integrands<dim>(
          euler, approximation, coefficient_order, largest_change, n_halvings);
      }
    } // namespace



    template <int dim>
    std::unique_ptr<PointwiseIntegrand<dim>>
    make_flow_integrand(const FlowModel<dim> &model, const unsigned int degree)
    {
      if (model.is_viscous())
        return make_viscous_integrand(model, degree);
      if (model.with_source)
        return std::make_unique<FunctorIntegrand<dim, Euler<dim, true>>>(
          make_euler<dim, true>(model));
      return std::make_unique<FunctorIntegrand<dim, Euler<dim, false>>>(
        make_euler<dim, false>(model));
    }



    template <int dim>
    Flow::SteadyIntegrands<dim>
    make_steady_flow(const FlowModel<dim> &model,
                     const unsigned int    degree,
                     const bool            frozen_rusanov,
                     const unsigned int    coefficient_order,
                     const double          largest_change,
                     const unsigned int    n_halvings)
    {
      if (model.is_viscous())
        return make_steady_viscous_flow(model,
                                        degree,
                                        frozen_rusanov,
                                        coefficient_order,
                                        largest_change,
                                        n_halvings);
      return model.with_source ? make_steady<dim, true>(model,
                                                        frozen_rusanov,
                                                        coefficient_order,
                                                        largest_change,
                                                        n_halvings)
                               : make_steady<dim, false>(model,
                                                         frozen_rusanov,
                                                         coefficient_order,
                                                         largest_change,
                                                         n_halvings);
    }



#define INSTANTIATE(dim)                                                 \
  template std::unique_ptr<PointwiseIntegrand<dim>> make_flow_integrand( \
    const FlowModel<dim> &, const unsigned int);                         \
  template Flow::SteadyIntegrands<dim> make_steady_flow(                 \
    const FlowModel<dim> &,                                              \
    const unsigned int,                                                  \
    const bool,                                                          \
    const unsigned int,                                                  \
    const double,                                                        \
    const unsigned int);
    INSTANTIATE(2)
    INSTANTIATE(3)
#undef INSTANTIATE
  } // namespace Application
} // namespace Tessella

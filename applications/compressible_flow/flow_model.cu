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
        set_model(model, euler);
        return euler;
      }

      template <int dim, bool with_source>
      Flow::SteadyIntegrands<dim>
      make_steady_euler(const FlowModel<dim>  &model,
                        const SteadyModelData &data)
      {
        // Without a source one of zero is evaluated, which saves the compiler
        // a second version.
        Flow::Euler<dim, Flow::ChosenFrozenFlux, Flow::ExactStates<dim, true>>
          frozen;
        set_model(model, frozen);
        frozen.data.is_active = with_source;
        return make_steady<dim>(model,
                                make_euler<dim, with_source>(model),
                                frozen,
                                data);
      }
    } // namespace



    template <int dim>
    std::unique_ptr<PointwiseIntegrand<dim>>
    make_flow_integrand(const FlowModel<dim> &model, const unsigned int degree)
    {
      if (model.is_viscous())
        return make_viscous_integrand(model, degree);
      const MakeIntegrand<dim> make{model.instruction_set};
      return model.with_source ? make(make_euler<dim, true>(model))
                               : make(make_euler<dim, false>(model));
    }



    template <int dim>
    Flow::SteadyIntegrands<dim>
    make_steady_flow(const FlowModel<dim>  &model,
                     const unsigned int     degree,
                     const SteadyModelData &data)
    {
      if (model.is_viscous())
        return make_steady_viscous_flow(model, degree, data);
      return model.with_source ? make_steady_euler<dim, true>(model, data)
                               : make_steady_euler<dim, false>(model, data);
    }



#define INSTANTIATE(dim)                                                 \
  template std::unique_ptr<PointwiseIntegrand<dim>> make_flow_integrand( \
    const FlowModel<dim> &, const unsigned int);                         \
  template Flow::SteadyIntegrands<dim> make_steady_flow(                 \
    const FlowModel<dim> &, const unsigned int, const SteadyModelData &);
    INSTANTIATE(2)
    INSTANTIATE(3)
#undef INSTANTIATE
  } // namespace Application
} // namespace Tessella

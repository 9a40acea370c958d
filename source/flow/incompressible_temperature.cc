// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "incompressible_temperature.h"

#include <algorithm>
#include <set>

namespace Tessella
{
  namespace Flow
  {
    namespace internal
    {
      using namespace dealii;

      namespace
      {
        /// Boundary ids with a given temperature.
        std::set<types::boundary_id>
        ids_of_temperatures(const TemperatureConditions &boundary)
        {
          std::set<types::boundary_id> result;
          for (unsigned int i = 0; i < boundary.n_conditions; ++i)
            if (boundary.type[i] == TemperatureCondition::temperature)
              result.insert(boundary.boundary_id[i]);
          return result;
        }
      } // namespace



      template <int dim, typename VectorType>
      TemperatureEquation<dim, VectorType>::TemperatureEquation(
        const FlowSpaces<dim>          &spaces,
        const FlowFunctions<dim>       &functions,
        const IncompressibleParameters &parameters)
        : past(std::max(parameters.order, 2U) - 1)
        , past_n(std::max(parameters.order, 2U) - 1)
        , parameters(parameters)
        , space(spaces.scalar)
        , t_op(space, parameters.assembly)
        , tu_op({&space, &spaces.velocity}, 0, parameters.assembly)
        , ut_op({&spaces.velocity, &space}, 0, parameters.assembly)
        , convection("TemperatureConvection", ", FlowData", &functions)
        , data("TemperatureData", ", FlowData", &functions)
        , buoyancy("Buoyancy")
        , mass(space)
        , solver("temperature",
                 space,
                 space,
                 parameters,
                 parameters.temperature.diffusivity,
                 {ids_of_temperatures(parameters.temperature.boundary)})
        , constants(NullSpace<VectorType>::constants(space))
        , is_given(
            !ids_of_temperatures(parameters.temperature.boundary).empty())
      {
        const TemperatureParameters &given = parameters.temperature;
        // Every operator has one order of quadrature.
        const unsigned int order         = std::max(parameters.degree, 2U);
        convection.functor().boundary    = parameters.boundary;
        convection.functor().data        = Data{&functions};
        convection.functor().temperature = given.boundary;
        convection.functor().zeta        = parameters.zeta;
        convection.functor().reference   = given.reference;
        data.functor().data              = Data{&functions};
        data.functor().temperature       = given.boundary;
        data.functor().diffusivity       = given.diffusivity;
        data.functor().penalty_constant  = parameters.assembly.penalty.constant;
        for (unsigned int d = 0; d < dim; ++d)
          buoyancy.functor().force[d] = -given.expansion * given.gravity[d];
        buoyancy.functor().reference = given.reference;
        convection.set_coefficient_order(order);
        data.set_coefficient_order(order);
        buoyancy.set_coefficient_order(0);
        t_op.reinit(present);
        ut_op.reinit(force);
        for (VectorType *v : {&next, &present_convection, &rhs, &work})
          v->reinit(present);
        if (parameters.n_subcycles > 0)
          make_subcycles(spaces, functions);
      }



      template <int dim, typename VectorType>
      void
      TemperatureEquation<dim, VectorType>::make_subcycles(
        const FlowSpaces<dim> &spaces, const FlowFunctions<dim> &functions)
      {
        using Subcycles = typename decltype(subcycles)::element_type;
        const TemperatureConditions &boundary = parameters.temperature.boundary;
        bool                         has_values = false;
        for (unsigned int i = 0; i < boundary.n_conditions; ++i)
          has_values =
            has_values || boundary.type[i] != TemperatureCondition::heat_flux;
        subcycles = std::make_unique<Subcycles>("TemperatureConvection",
                                                ", 1",
                                                space,
                                                spaces.velocity,
                                                functions,
                                                parameters,
                                                mass,
                                                has_values);
        subcycles->set_functors([&](auto &functor) {
          functor.boundary    = parameters.boundary;
          functor.data        = Data{&functions};
          functor.temperature = boundary;
          functor.zeta        = parameters.zeta;
          functor.reference   = parameters.temperature.reference;
        });
      }



      template <int dim, typename VectorType>
      void
      TemperatureEquation<dim, VectorType>::initialize(
        const Function<dim> *function)
      {
        past.clear();
        past_n.clear();
        if (function != nullptr)
          project_function(space, *function, present);
        else
          present.equ(parameters.temperature.reference, constants.vector(0));
      }



      template <int dim, typename VectorType>
      void
      TemperatureEquation<dim, VectorType>::add_past(
        const double         time,
        const double         length,
        const VectorType    &velocity,
        const Function<dim> *function)
      {
        VectorType before(present), n(present);
        if (function != nullptr)
          project_function(space, *function, before);
        compute_convection(time, before, velocity, n);
        past.push(length, before);
        past_n.push(length, n);
      }



      template <int dim, typename VectorType>
      void
      TemperatureEquation<dim, VectorType>::compute_convection(
        const double      time,
        const VectorType &temperature,
        const VectorType &velocity,
        VectorType       &result)
      {
        convection.set_time(time);
        tu_op.template residual<VectorType>(convection,
                                            {&temperature, &velocity},
                                            result);
      }



      template <int dim, typename VectorType>
      unsigned int
      TemperatureEquation<dim, VectorType>::solve(const Step &s)
      {
        // Also with subcycles, for runs that go on without them.
        compute_convection(s.begin, present, *s.past[0], present_convection);
        std::vector<const VectorType *> values(1, &present);
        for (unsigned int i = 1; i < s.order; ++i)
          values.push_back(&past.value(i - 1));
        if (subcycles != nullptr)
          subcycles->run(s, values, work);
        else
          set_to_sum(terms_of(s.order, s.bdf.alpha, values), work);
        rhs = 0.;
        mass.vmult_add(1. / s.dt, rhs, work);
        if (subcycles == nullptr)
          for (unsigned int i = 0; i < s.order; ++i)
            rhs.add(-s.bdf.beta[i],
                    i == 0 ? present_convection : past_n.value(i - 1));
        data.set_time(s.end);
        t_op.template residual<VectorType>(data, {&present}, work);
        rhs += work;
        set_to_sum(terms_of(s.order, s.bdf.beta, values), next);
        const unsigned int n = solver.solve(s.gamma_over_dt, rhs, next);
        if (!is_given)
          {
            const VectorType &one = constants.vector(0),
                             &of  = constants.functional(0);
            next.add((one * rhs / s.gamma_over_dt - of * next) / (of * one),
                     one);
          }
        return n;
      }



      template <int dim, typename VectorType>
      void
      TemperatureEquation<dim, VectorType>::accept(const double dt)
      {
        past.push(dt, present);
        past_n.push(dt, present_convection);
        present = next;
      }



      template <int dim, typename VectorType>
      void
      TemperatureEquation<dim, VectorType>::add_buoyancy(
        const VectorType &velocity, VectorType &result)
      {
        if (parameters.temperature.expansion == 0.)
          return;
        ut_op.template residual<VectorType>(buoyancy,
                                            {&velocity, &next},
                                            force);
        result += force;
      }



      template <int dim, typename VectorType>
      std::map<types::boundary_id, double>
      TemperatureEquation<dim, VectorType>::heat_fluxes(const double time,
                                                        const bool   consistent)
      {
        FunctorIntegrand<dim, HeatFlux<dim, Data>> integrand;
        integrand.functor().given      = data.functor();
        integrand.functor().consistent = consistent;
        integrand.set_time(time);
        integrand.set_coefficient_order(std::max(parameters.degree, 2U));
        std::map<types::boundary_id, double> result;
        for (const auto &id :
             t_op.template integrate_boundary<VectorType>(integrand,
                                                          {&present}))
          result[id.first] = id.second[0];
        return result;
      }



      template <int dim, typename VectorType>
      double
      TemperatureEquation<dim, VectorType>::integral() const
      {
        return constants.functional(0) * present;
      }



      template class TemperatureEquation<2, HostVector<double>>;
      template class TemperatureEquation<3, HostVector<double>>;
      template class TemperatureEquation<2, DeviceVector<double>>;
      template class TemperatureEquation<3, DeviceVector<double>>;
    } // namespace internal
  }   // namespace Flow
} // namespace Tessella

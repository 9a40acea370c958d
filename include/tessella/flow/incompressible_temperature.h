// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_incompressible_temperature_h
#define tessella_flow_incompressible_temperature_h

#include <tessella/flow/incompressible_operators.h>

// Operators of the temperature of incompressible flow,
//   T_t + div(u T) - kappa Laplace(T) = s,
// and of its buoyancy, as functors of PointwiseOperator for host and device.
// Notation is that of incompressible_operators.h; v are test functions of the
// temperature, whose degree is that of the velocity.

namespace Tessella
{
  namespace Flow
  {
    /**
     * Convection div(u (T - T_ref)) in conservative form, with the fields T and
     * u,
     *   - int grad v . u (T - T_ref) + sum over facets of int [v] F,
     *   F = {u (T - T_ref)} . n + Lambda / 2 (T0 - T1),
     *   Lambda = zeta max(|u0 . n|, |u1 . n|).
     * Fluxes of both sides are each other's negative, so that the integral of T
     * changes by the flux through the boundary alone. The discrete divergence
     * of u is not zero: what it changes is proportional to T - T_ref, and T =
     * T_ref stays as it is.
     *
     * <b>Boundary.</b> The normal velocity w is that of the data on velocity
     * parts, zero on symmetry parts and u . n on outflow parts of the velocity,
     * as in the continuity equation. Parts with a given heat flux have F = w (T
     * - T_ref). The others have T1 = data.temperature() and w on both sides;
     * with zeta = 1, F then takes T where the flow leaves, and T1 where it
     * enters.
     *
     * If @p subcycled is set, T1 is a sum of data.temperature() at other times,
     * see WeightedTimes, to which a third field is added if @p boundary_field
     * is set, and T_ref is multiplied by the sum of the weights.
     *
     * The integrals are exact for flat polytopes with a coefficient order of k.
     */
    template <int dim,
              typename Data       = NoFlowData<dim>,
              bool subcycled      = false,
              bool boundary_field = false>
    struct TemperatureConvection : WeakDerivativeRows,
                                   ConditionsAndData<dim, Data>
    {
      static constexpr int n_components = 1;
      using Fields                      = std::conditional_t<boundary_field,
                                        FieldComponents<1, dim, 1>,
                                        FieldComponents<1, dim>>;
      static_assert(subcycled || !boundary_field,
                    "Boundary fields are for subcycles.");

      TemperatureConditions temperature;
      double                zeta = 1., reference = 0.;
      WeightedTimes         times;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const OperatorPoint<dim> &, const U &u, R &r) const
      {
        const auto difference = u.value[0] - shift();
        for (int d = 0; d < dim; ++d)
          r.gradient[0][d] = -(difference * u.value[1 + d]);
      }

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      interior_facet(const OperatorPoint<dim> &p,
                     const U                  &u0,
                     const U                  &u1,
                     R                        &r0,
                     R                        &r1) const
      {
        r0.value[0] = flux(u0.value[0],
                           u1.value[0],
                           normal_component<dim>(u0.value + 1, p.normal),
                           normal_component<dim>(u1.value + 1, p.normal));
        r1.value[0] = -r0.value[0];
      }

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
      {
        using Number         = std::decay_t<decltype(u.value[0])>;
        const unsigned int i = this->boundary.find(p.boundary_id),
                           j = temperature.find(p.boundary_id);
        Number outside = u.value[0], normal = Number(0.);
        if (i == this->boundary.n_conditions || j == temperature.n_conditions)
          normal = Number(internal::not_a_number());
        else if (this->boundary.type[i] == IncompressibleCondition::velocity)
          normal = Number(this->normal_velocity(p));
        else if (this->boundary.type[i] == IncompressibleCondition::outflow)
          normal = normal_component<dim>(u.value + 1, p.normal);
        if (j < temperature.n_conditions &&
            temperature.type[j] != TemperatureCondition::heat_flux)
          {
            outside = Number(subcycled ? past_temperatures(p)
                                       : this->data.temperature(p));
            if constexpr (boundary_field)
              outside += u.value[1 + dim];
          }
        r.value[0] = flux(u.value[0], outside, normal, normal);
      }

      /// Sum of weights times the temperatures of the data at other times.
      TESSELLA_HOST_DEVICE double
      past_temperatures(const OperatorPoint<dim> &p) const
      {
        OperatorPoint<dim> past   = p;
        double             result = 0.;
        for (unsigned int i = 0; i < times.n; ++i)
          {
            past.t = times.time[i];
            result += times.weight[i] * this->data.temperature(past);
          }
        return result;
      }

      /// T_ref, or that of the sum.
      TESSELLA_HOST_DEVICE double
      shift() const
      {
        if (!subcycled)
          return reference;
        double sum = 0.;
        for (unsigned int i = 0; i < times.n; ++i)
          sum += times.weight[i];
        return sum * reference;
      }

      template <typename Number>
      TESSELLA_HOST_DEVICE Number
      flux(const Number &t0,
           const Number &t1,
           const Number &normal0,
           const Number &normal1) const
      {
        using namespace PointwiseMath;
        const Number lambda =
          zeta * maximum(Number(fabs(normal0)), Number(fabs(normal1)));
        const double shifted = shift();
        return 0.5 * ((t0 - shifted) * normal0 + (t1 - shifted) * normal1 +
                      lambda * (t0 - t1));
      }
    };



    /**
     * Source and boundary data of the interior penalty method for
     * - kappa Laplace(T): with the temperature as the only field,
     *   int s v, and
     *   on parts with a given temperature g int kappa (sigma g v - g dv/dn),
     *   on parts with a given heat flux     int kappa dT/dn v.
     * sigma is the penalty constant times OperatorPoint::penalty.
     */
    template <int dim, typename Data = NoFlowData<dim>>
    struct TemperatureData
    {
      static constexpr int n_components           = 1;
      using Fields                                = FieldComponents<1>;
      static constexpr unsigned int volume_input  = PointwiseRows::none,
                                    volume_output = PointwiseRows::values,
                                    facet_input   = PointwiseRows::none,
                                    facet_output  = PointwiseRows::all;

      TemperatureConditions temperature;
      Data                  data;
      double                diffusivity = 1., penalty_constant = 2.5;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const OperatorPoint<dim> &p, const U &, R &r) const
      {
        r.value[0] = data.heat_source(p);
      }

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      boundary_facet(const OperatorPoint<dim> &p, const U &, R &r) const
      {
        if (temperature.is(p.boundary_id, TemperatureCondition::temperature))
          {
            const double g = diffusivity * data.temperature(p);
            r.value[0]     = penalty_constant * p.penalty * g;
            for (int d = 0; d < dim; ++d)
              r.gradient[0][d] = -g * p.normal[d];
          }
        else if (temperature.is(p.boundary_id, TemperatureCondition::heat_flux))
          r.value[0] = data.heat_flux(p);
      }
    };



    /// Right-hand side int a (T - T_ref) . v with the force a of a unit of
    /// temperature and test functions v of the velocity; the fields are the
    /// velocity, which is not used, and T.
    template <int dim>
    struct Buoyancy : VolumeValueRows
    {
      static constexpr int n_components = dim;
      using Fields                      = FieldComponents<dim, 1>;

      double force[3] = {0., 0., 0.}, reference = 0.;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const OperatorPoint<dim> &, const U &u, R &r) const
      {
        for (int c = 0; c < dim; ++c)
          r.value[c] = force[c] * (u.value[dim] - reference);
      }
    };

    /**
     * For PointwiseOperator::integrate_boundary(): heat that comes in through
     * parts of the boundary by conduction, divided by density and heat
     * capacity. The temperature is the only field.
     * - Direct: int kappa dT/dn.
     * - Consistent: what the discrete equation, tested with a constant, gains
     *   through a part, which converges faster: int kappa (dT/dn - sigma (T -
     *   g)) where T = g is given, the given flux, or zero on outflow parts.
     */
    template <int dim, typename Data = NoFlowData<dim>>
    struct HeatFlux
    {
      static constexpr int n_components          = 1;
      using Fields                               = FieldComponents<1>;
      static constexpr unsigned int facet_input  = PointwiseRows::all,
                                    facet_output = PointwiseRows::values;

      /// Conditions, data and constants.
      TemperatureData<dim, Data> given;
      bool                       consistent = false;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
      {
        if (consistent &&
            given.temperature.is(p.boundary_id, TemperatureCondition::outflow))
          return;
        if (consistent && given.temperature.is(p.boundary_id,
                                               TemperatureCondition::heat_flux))
          {
            r.value[0] = given.data.heat_flux(p);
            return;
          }
        auto derivative = p.normal[0] * u.gradient[0][0];
        for (int d = 1; d < dim; ++d)
          derivative += p.normal[d] * u.gradient[0][d];
        if (consistent)
          derivative -= given.penalty_constant * p.penalty *
                        (u.value[0] - given.data.temperature(p));
        r.value[0] = given.diffusivity * derivative;
      }
    };
  } // namespace Flow
} // namespace Tessella

#endif

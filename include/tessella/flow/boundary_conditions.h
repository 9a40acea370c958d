// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_boundary_conditions_h
#define tessella_flow_boundary_conditions_h

#include <tessella/flow/ideal_gas.h>

// Boundary conditions of compressible flow as plain data, for host and device.

namespace Tessella
{
  namespace Flow
  {
    /// Types of boundary conditions.
    enum class ConditionType
    {
      slip_wall,          ///< u . n = 0 through the flux (0, p n, 0)
      adiabatic_wall,     ///< u = 0 and no heat flux; Navier-Stokes only
      isothermal_wall,    ///< u = 0 and a temperature; Navier-Stokes only
      symmetry,           ///< numerical flux to the mirrored state
      far_field,          ///< state of characteristics, see far_field_state()
      total_pressure,     ///< inflow with total values and a direction
      pressure,           ///< subsonic outflow with a pressure
      supersonic_inflow,  ///< flux of the given state
      supersonic_outflow, ///< flux of the state inside
      given_state         ///< numerical flux to the given state
    };

    /// Boundary id of a condition for all ids without a condition of their own.
    constexpr unsigned int any_boundary = invalid_index;

    /// Condition on the part of the boundary with one boundary id.
    template <int dim>
    struct BoundaryCondition
    {
      unsigned int  boundary_id = 0;
      ConditionType type        = ConditionType::slip_wall;
      /// State outside, for the types far_field, supersonic_inflow and
      /// given_state.
      double state[dim + 2] = {};
      /// Total pressure, total temperature p / rho and unit vector of the
      /// velocity, which points into the domain, for the type total_pressure.
      double total_pressure = 0., total_temperature = 0., direction[dim] = {};
      /// Pressure outside, for the type ConditionType::pressure.
      double pressure = 0.;
      /// Wall temperature p / rho, for the type isothermal_wall.
      double temperature = 0.;
    };

    /// Conditions of all boundary ids. An id without a condition gives results
    /// that are not numbers, which an operator reports;
    /// check_boundary_conditions() finds it earlier.
    template <int dim>
    struct BoundaryConditions
    {
      static constexpr unsigned int max_conditions = 16;

      unsigned int           n_conditions = 0;
      BoundaryCondition<dim> conditions[max_conditions];

      /// Index of the condition of a boundary id; n_conditions if there is
      /// none. An index, because a pointer into the parameters of a kernel
      /// would force the device to copy them.
      TESSELLA_HOST_DEVICE unsigned int
      find(const unsigned int boundary_id) const
      {
        unsigned int result = n_conditions;
        for (unsigned int i = 0; i < n_conditions; ++i)
          if (conditions[i].boundary_id == boundary_id ||
              (conditions[i].boundary_id == any_boundary &&
               result == n_conditions))
            result = i;
        return result;
      }
    };



    /**
     * State on a far-field boundary from the invariants of one-dimensional
     * isentropic flow along the normal: u . n + 2 c / (gamma - 1) is that of
     * the inside unless the flow enters with more than the speed of sound, and
     * u . n - 2 c / (gamma - 1) that of @p given unless it leaves so; entropy
     * and tangential velocity come from the side from which the flow comes
     * (J.-R. Carlson, NASA/TM-2011-217181, section 2.3).
     */
    template <int dim, typename Number>
    TESSELLA_HOST_DEVICE inline void
    far_field_state(const IdealGas<dim> &gas,
                    const Number        *u,
                    const Number        *given,
                    const double        *n,
                    Number              *result)
    {
      using namespace PointwiseMath;
      const double            gamma = gas.gamma, factor = 2. / (gamma - 1.);
      const Primitive<Number> w = gas.primitive(u, n),
                              g = gas.primitive(given, n);
      const Number cw = gas.sound_speed(w), cg = gas.sound_speed(g),
                   vw = w.normal_velocity, vg = g.normal_velocity,
                   plus  = select(-vg > cg, vg + factor * cg, vw + factor * cw),
                   minus = select(vw > cw, vw - factor * cw, vg - factor * cg),
                   v     = 0.5 * (plus + minus),
                   c     = 0.25 * (gamma - 1.) * (plus - minus);
      const auto outflow = v > Number(0.);
      // Entropy p / rho^gamma and c^2 = gamma p / rho give the density.
      const Number base_density = select(outflow, u[0], given[0]),
                   base_c = select(outflow, cw, cg), ratio = c / base_c,
                   density = base_density * pow(ratio, factor),
                   p       = density * c * c * (1. / gamma),
                   base_v  = select(outflow, vw, vg);
      Number velocity[dim];
      for (int d = 0; d < dim; ++d)
        velocity[d] = select(outflow,
                             u[1 + d] * w.inverse_density,
                             given[1 + d] * g.inverse_density) +
                      (v - base_v) * n[d];
      gas.conservative(density, velocity, p, result);
    }



    /**
     * State on a part with inflow at less than the speed of sound: total
     * pressure, total p / rho and the direction of the velocity are given,
     * u . n + 2 c / (gamma - 1) is that of the inside. With U = |u| and a =
     * direction . n < 0, the energy c^2 + (gamma - 1) U^2 / 2 = c_0^2 and the
     * invariant U a + 2 c / (gamma - 1) = R are a quadratic equation for c, of
     * which the larger root is taken.
     */
    template <int dim, typename Number>
    TESSELLA_HOST_DEVICE inline void
    total_pressure_state(const IdealGas<dim>          &gas,
                         const Number                 *u,
                         const BoundaryCondition<dim> &condition,
                         const double                 *n,
                         Number                       *result)
    {
      using namespace PointwiseMath;
      const double gamma = gas.gamma, factor = 2. / (gamma - 1.),
                   total = gamma * condition.total_temperature;
      double a           = 0.;
      for (int d = 0; d < dim; ++d)
        a += condition.direction[d] * n[d];
      const Primitive<Number> w = gas.primitive(u, n);
      const Number r     = w.normal_velocity + factor * gas.sound_speed(w);
      const double first = a * a + factor;
      const Number discriminant =
        r * r - first * ((1. / factor) * r * r - a * a * total);
      const Number c     = (r + sqrt(discriminant)) * (1. / first),
                   speed = (r - factor * c) * (1. / a),
                   p     = condition.total_pressure *
                       pow(c * c * (1. / total), gamma / (gamma - 1.)),
                   density = gamma * p / (c * c);
      Number velocity[dim];
      for (int d = 0; d < dim; ++d)
        velocity[d] = speed * condition.direction[d];
      gas.conservative(density, velocity, p, result);
    }



    /**
     * State on a part with outflow at a given pressure: entropy, tangential
     * velocity and u . n + 2 c / (gamma - 1) are those of the inside. Where the
     * flow leaves at more than the speed of sound, it is the state inside.
     */
    template <int dim, typename Number>
    TESSELLA_HOST_DEVICE inline void
    pressure_state(const IdealGas<dim> &gas,
                   const Number        *u,
                   const double         pressure,
                   const double        *n,
                   Number              *result)
    {
      using namespace PointwiseMath;
      const double            gamma = gas.gamma;
      const Primitive<Number> w     = gas.primitive(u, n);
      const Number            c     = gas.sound_speed(w),
                   density =
                     u[0] * pow(Number(pressure) / w.pressure, 1. / gamma),
                   change = (2. / (gamma - 1.)) *
                            (c - sqrt(gamma * (pressure / density)));
      Number velocity[dim], subsonic[dim + 2];
      for (int d = 0; d < dim; ++d)
        velocity[d] = u[1 + d] * w.inverse_density + change * n[d];
      gas.conservative(density, velocity, Number(pressure), subsonic);
      const auto leaves_fast = w.normal_velocity > c;
      for (int i = 0; i < dim + 2; ++i)
        result[i] = select(leaves_fast, u[i], subsonic[i]);
    }



    /// State with the normal velocity reversed.
    template <int dim, typename Number>
    TESSELLA_HOST_DEVICE inline void
    mirrored_state(const Number *u, const double *n, Number *result)
    {
      Number normal = u[1] * n[0];
      for (int d = 1; d < dim; ++d)
        normal += u[1 + d] * n[d];
      result[0] = u[0];
      for (int d = 0; d < dim; ++d)
        result[1 + d] = u[1 + d] - (2. * n[d]) * normal;
      result[dim + 1] = u[dim + 1];
    }
  } // namespace Flow
} // namespace Tessella

#endif

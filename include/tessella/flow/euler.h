// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_euler_h
#define tessella_flow_euler_h

#include <tessella/flow/boundary_conditions.h>
#include <tessella/flow/numerical_fluxes.h>
#include <tessella/forms/pointwise_lanes.h>

// The compressible Euler equations as a functor of PointwiseOperator, for host
// and device.

namespace Tessella
{
  namespace Flow
  {
    /// Boundary states and sources of Euler: the constant states of the
    /// conditions, and no source.
    template <int dim>
    struct ConstantStates
    {
      static constexpr bool has_source = false;

      /// State outside at a point of a boundary id with type far_field,
      /// supersonic_inflow or given_state.
      TESSELLA_HOST_DEVICE void
      state(const OperatorPoint<dim> &,
            const BoundaryCondition<dim> &condition,
            double                       *u) const
      {
        for (int c = 0; c < dim + 2; ++c)
          u[c] = condition.state[c];
      }
      /// Source s of U_t + div F(U) = s, if has_source.
      TESSELLA_HOST_DEVICE void
      source(const OperatorPoint<dim> &, double *) const
      {}
    };



    /**
     * Spatial part of the Euler equations of an ideal gas as a functor of
     * PointwiseOperator,
     *   U_t + div F(U) = s,
     *   F_j(U) = (rho u_j, rho u_i u_j + p delta_ij, u_j (rho E + p)),
     * by the dG method: M dU/dt = -R(U) with
     *   R(U; v) = - int F(U) : grad v - int s . v
     *             + sum over facets of int H(U0, U1, n) . [v].
     * The fields are one, of dim + 2 components: density, momentum, total
     * energy.
     *
     * @p FluxType is the numerical flux H, see numerical_fluxes.h. @p Data
     * gives states and sources that depend on the point, see ConstantStates;
     * its members are marked TESSELLA_HOST_DEVICE where a device shall run
     * them.
     *
     *     Flow::Euler<dim> euler;
     *     euler.boundary.n_conditions  = 1;
     *     euler.boundary.conditions[0] = ...;
     *     FunctorIntegrand<dim, Flow::Euler<dim>> integrand(euler);
     *
     * <b>Boundary</b> fluxes: see ConditionType; F(U_b) . n with the state U_b
     * of far_field_state(), total_pressure_state() or pressure_state(), the
     * pressure flux of walls, or H(U, U_b, n). Walls without slip are walls
     * with slip here.
     *
     * <b>Quadrature.</b> The flux is rational in U; exactness for degree 3 p,
     * PointwiseIntegrand::set_coefficient_order(p), suffices in practice.
     *
     * <b>Errors.</b> A state without positive density and pressure gives
     * results that are not finite, which the operator reports with the point.
     */
    template <int dim,
              typename FluxType = HLLC,
              typename Data     = ConstantStates<dim>>
    struct Euler
    {
      static constexpr int n_components          = dim + 2;
      using Fields                               = FieldComponents<dim + 2>;
      static constexpr unsigned int volume_input = PointwiseRows::values,
                                    volume_output =
                                      Data::has_source
                                        ? PointwiseRows::all
                                        : PointwiseRows::gradients,
                                    facet_input  = PointwiseRows::values,
                                    facet_output = PointwiseRows::values;
      static constexpr unsigned int lanes =
        PointwiseLanes::interior_facet |
        (Data::has_source ? PointwiseLanes::none : PointwiseLanes::volume);

      IdealGas<dim>           gas;
      FluxType                numerical_flux;
      BoundaryConditions<dim> boundary;
      Data                    data;

      template <typename Point, typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const Point &p, const U &u, R &r) const
      {
        gas.flux(u.value, r.gradient);
        for (int c = 0; c < n_components; ++c)
          for (int d = 0; d < dim; ++d)
            r.gradient[c][d] = -r.gradient[c][d];
        if constexpr (Data::has_source)
          {
            double s[n_components];
            data.source(p, s);
            for (int c = 0; c < n_components; ++c)
              r.value[c] = -s[c];
          }
        else
          (void)p;
      }

      template <typename Point, typename U, typename R>
      TESSELLA_HOST_DEVICE void
      interior_facet(
        const Point &p, const U &u0, const U &u1, R &r0, R &r1) const
      {
        numerical_flux(gas, u0.value, u1.value, p.normal, r0.value);
        for (int c = 0; c < n_components; ++c)
          r1.value[c] = -r0.value[c];
      }

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
      {
        const unsigned int i = boundary.find(p.boundary_id);
        if (i == boundary.n_conditions)
          for (int c = 0; c < n_components; ++c)
            r.value[c] = u.value[c] * nan();
        else
          boundary_flux(p, boundary.conditions[i], u.value, r.value);
      }

      /// Convective flux through the boundary from the state inside.
      template <typename Number>
      TESSELLA_HOST_DEVICE void
      boundary_flux(const OperatorPoint<dim>     &p,
                    const BoundaryCondition<dim> &condition,
                    const Number                 *u,
                    Number                       *result) const
      {
        if (condition.type == ConditionType::slip_wall ||
            condition.type == ConditionType::adiabatic_wall ||
            condition.type == ConditionType::isothermal_wall)
          {
            const Number pressure = gas.pressure(u);
            result[0] = result[dim + 1] = Number(0.);
            for (int d = 0; d < dim; ++d)
              result[1 + d] = pressure * p.normal[d];
            return;
          }
        Number outside[n_components];
        boundary_state(p, condition, u, outside);
        if (condition.type == ConditionType::symmetry ||
            condition.type == ConditionType::given_state)
          numerical_flux(gas, u, outside, p.normal, result);
        else
          gas.normal_flux(outside,
                          gas.primitive(outside, p.normal),
                          p.normal,
                          result);
      }

      /// State on the boundary, of conditions that are no walls.
      template <typename Number>
      TESSELLA_HOST_DEVICE void
      boundary_state(const OperatorPoint<dim>     &p,
                     const BoundaryCondition<dim> &condition,
                     const Number                 *u,
                     Number                       *result) const
      {
        switch (condition.type)
          {
            case ConditionType::symmetry:
              mirrored_state<dim>(u, p.normal, result);
              break;
            case ConditionType::total_pressure:
              total_pressure_state(gas, u, condition, p.normal, result);
              break;
            case ConditionType::pressure:
              pressure_state(gas, u, condition.pressure, p.normal, result);
              break;
            case ConditionType::far_field:
            case ConditionType::supersonic_inflow:
              case ConditionType::given_state: {
                double state[n_components];
                data.state(p, condition, state);
                Number given[n_components];
                for (int c = 0; c < n_components; ++c)
                  given[c] = result[c] = state[c];
                if (condition.type == ConditionType::far_field)
                  far_field_state(gas, u, given, p.normal, result);
                break;
              }
            default:
              for (int c = 0; c < n_components; ++c)
                result[c] = u[c];
          }
      }

      /// |u . n| + c of a state on a facet, from which steps in time follow.
      template <typename Point, typename U>
      TESSELLA_HOST_DEVICE auto
      wave_speed(const Point &p, const U &u, const int) const
      {
        using namespace PointwiseMath;
        const auto w = gas.primitive(&u.value[0], p.normal);
        return fabs(w.normal_velocity) + gas.sound_speed(w);
      }

      TESSELLA_HOST_DEVICE static double
      nan()
      {
        const double zero = 0.;
        return zero / zero;
      }
    };
  } // namespace Flow
} // namespace Tessella

#endif

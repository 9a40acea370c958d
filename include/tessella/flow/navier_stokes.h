// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_navier_stokes_h
#define tessella_flow_navier_stokes_h

#include <tessella/flow/euler.h>
#include <tessella/flow/interior_penalty.h>
#include <tessella/flow/viscosity.h>

// The compressible Navier-Stokes equations as a functor of PointwiseOperator,
// for host and device.

namespace Tessella
{
  namespace Flow
  {
    /**
     * Spatial part of the compressible Navier-Stokes equations, U_t + div F(U)
     * = div (G(U) grad U) + s, by the dG method with symmetric interior penalty
     * (R. Hartmann and P. Houston, J. Comput. Phys. 227, 2008, 9670-9685): to R
     * of Euler are added
     *   int G(U) grad U : grad v
     *   - sum over facets of int {G grad U} n . [v]
     *   - sum over facets of int {G^T grad v} n . [U]
     *   + sum over facets of int C eta {G} ([U] x n) n . [v]
     * with the jump [U] = U0 - U1, the mean value {.} of both sides, the
     * geometric penalty factor eta, OperatorPoint::penalty, which scales like
     * p^2 / h, and C = penalty_constant on the boundary and half of it between
     * polytopes. G is the homogeneity tensor (Viscosity::flux()). At p = 0 the
     * penalty alone is left, which is not consistent.
     *
     * <b>Penalty.</b> With |w|_n the norm of w in the inverse of the block n .
     * G n, Young's inequality bounds the terms of consistency of a side by
     * delta |G grad U n|_n^2 + |[U]|^2 / (4 delta) in the norm of that block on
     * interior facets, where each side counts half, and by four times the
     * second term on the boundary. Coercivity of the viscous part in the
     * variables that make G symmetric hence needs twice the constant on the
     * boundary. Unlike in Poisson's equation, |G grad U n|_n^2 for normals in
     * several directions adds up to more than grad U : G grad U, since a shear
     * stress appears in two of them: squares of degree 1 need C = 4, twice the
     * constant of Poisson's equation. Below, runs become unstable.
     *
     * <b>Orders.</b> Velocity and temperature converge with order p + 1. Where
     * viscosity dominates on the scale of a polytope, pressure and density
     * follow from the balance of the pressure gradient with the viscous stress,
     * whose error is of order p times the viscosity, as in methods of equal
     * order for Stokes flow, until transport along streamlines determines the
     * density on finer meshes. Errors of odd degrees cancel on uniform meshes,
     * those of even degrees do not: between the two regimes, the pressure has
     * order p + 0.7. A larger penalty makes its error larger.
     *
     * <b>Boundary</b> (R. Hartmann and T. Leicht, J. Comput. Phys. 231, 2012,
     * 7873-7891; adjoint consistent): with the state U_b of the boundary, the
     * terms of a facet with {.} taken at U_b and [U] = U - U_b.
     * - Walls without slip: U_b has the density of the inside, no momentum, and
     *   the temperature of the inside or of the wall. An adiabatic wall has no
     *   heat flux in any of the terms.
     * - given_state and supersonic_inflow: U_b is the given state.
     * - far_field, total_pressure, pressure and supersonic_outflow: the flux G
     *   grad U at U_b alone, without jumps.
     * - slip_wall and symmetry: the normal stress alone, and a penalty for the
     *   normal momentum.
     */
    template <int dim,
              typename FluxType = HLLC,
              typename Data     = ConstantStates<dim>>
    struct NavierStokes : public Euler<dim, FluxType, Data>
    {
      using Base                                  = Euler<dim, FluxType, Data>;
      static constexpr int n_components           = dim + 2;
      using Fields                                = FieldComponents<dim + 2>;
      static constexpr unsigned int volume_input  = PointwiseRows::all,
                                    volume_output = Base::volume_output |
                                                    PointwiseRows::gradients,
                                    facet_input  = PointwiseRows::all,
                                    facet_output = PointwiseRows::all,
                                    lanes        = PointwiseLanes::none;

      using Base::boundary;
      using Base::gas;
      Viscosity<dim> viscosity;
      /// C on the boundary.
      double penalty_constant = 4.;
      /// 2 p + 1 with the highest degree p, for wave_speed().
      double order = 3.;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const OperatorPoint<dim> &p, const U &u, R &r) const
      {
        using Number = decltype(without_reference(r.value[0]));
        Base::volume(p, u, r);
        Number f[dim + 2][dim];
        viscosity.flux(gas, &u.value[0], u.gradient, true, f);
        for (int c = 1; c < n_components; ++c)
          for (int d = 0; d < dim; ++d)
            r.gradient[c][d] += f[c][d];
      }

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      interior_facet(const OperatorPoint<dim> &p,
                     const U                  &u0,
                     const U                  &u1,
                     R                        &r0,
                     R                        &r1) const
      {
        using Number = decltype(without_reference(r0.value[0]));
        Base::interior_facet(p, u0, u1, r0, r1);
        Number jump[n_components][dim];
        for (int c = 0; c < n_components; ++c)
          for (int d = 0; d < dim; ++d)
            jump[c][d] = (u0.value[c] - u1.value[c]) * p.normal[d];
        const FacetFlux<Number> flux{*this, &u0.value[0], &u1.value[0]};
        add_interior_penalty<dim, n_components, 1>(
          p, penalty_constant, flux, u0.gradient, u1.gradient, jump, r0, r1);
      }

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
      {
        using Number = decltype(without_reference(r.value[0]));
        Base::boundary_facet(p, u, r);
        for (int c = 0; c < n_components; ++c)
          for (int d = 0; d < dim; ++d)
            r.gradient[c][d] = Number(0.);
        const unsigned int i = boundary.find(p.boundary_id);
        if (i == boundary.n_conditions)
          return;
        const BoundaryCondition<dim> &condition = boundary.conditions[i];
        Number                        value[n_components];
        for (int c = 0; c < n_components; ++c)
          value[c] = Number(0.);
        if (condition.type == ConditionType::slip_wall ||
            condition.type == ConditionType::symmetry)
          slip_terms(p, u, value);
        else
          {
            Number outside[n_components];
            viscous_state(p, condition, u.value, outside);
            const bool heat = condition.type != ConditionType::adiabatic_wall,
                       jumps =
                         condition.type == ConditionType::adiabatic_wall ||
                         condition.type == ConditionType::isothermal_wall ||
                         condition.type == ConditionType::given_state ||
                         condition.type == ConditionType::supersonic_inflow;
            add_normal(outside, u.gradient, heat, p.normal, -1., value);
            if (jumps)
              add_jump_terms(p, u.value, outside, heat, value, r);
          }
        for (int c = 1; c < n_components; ++c)
          r.value[c] += value[c];
      }

      /// |u . n| + c and the viscous part (2 p + 1) mu_eff / (rho h) on
      /// side @p side, see Viscosity::effective().
      template <typename U>
      TESSELLA_HOST_DEVICE auto
      wave_speed(const OperatorPoint<dim> &p, const U &u, const int side) const
      {
        using namespace PointwiseMath;
        const auto w = gas.primitive(&u.value[0], p.normal);
        return fabs(w.normal_velocity) + gas.sound_speed(w) +
               (order / p.h[side]) *
                 (viscosity.effective(gas, w.pressure * w.inverse_density) *
                  w.inverse_density);
      }

    private:
      template <typename Number>
      TESSELLA_HOST_DEVICE static Number
      without_reference(const Number &);

      /// G(U) of both sides of a facet.
      template <typename Number>
      struct FacetFlux
      {
        const NavierStokes &equations;
        const Number       *u0, *u1;

        template <typename Gradient>
        TESSELLA_HOST_DEVICE void
        operator()(const int       side,
                   const Gradient &gradient,
                   Number (*f)[dim]) const
        {
          equations.viscosity.flux(
            equations.gas, side == 0 ? u0 : u1, gradient, true, f);
        }
      };

      /// Adds factor G(u) gradient . n.
      template <typename Number, typename Gradient>
      TESSELLA_HOST_DEVICE void
      add_normal(const Number   *u,
                 const Gradient &gradient,
                 const bool      heat,
                 const double   *n,
                 const double    factor,
                 Number         *value) const
      {
        Number f[dim + 2][dim];
        viscosity.flux(gas, u, gradient, heat, f);
        for (int c = 1; c < n_components; ++c)
          for (int d = 0; d < dim; ++d)
            value[c] += (factor * n[d]) * f[c][d];
      }

      /// Terms with the jump to the state @p outside.
      template <typename Number, typename R>
      TESSELLA_HOST_DEVICE void
      add_jump_terms(const OperatorPoint<dim> &p,
                     const Number             *u,
                     const Number             *outside,
                     const bool                heat,
                     Number                   *value,
                     R                        &r) const
      {
        Number jump[n_components][dim], f[dim + 2][dim];
        for (int c = 0; c < n_components; ++c)
          for (int d = 0; d < dim; ++d)
            jump[c][d] = (u[c] - outside[c]) * p.normal[d];
        viscosity.flux(gas, outside, jump, heat, f);
        for (int c = 1; c < n_components; ++c)
          for (int d = 0; d < dim; ++d)
            {
              r.gradient[c][d] = -f[c][d];
              value[c] +=
                (penalty_constant * p.penalty * p.normal[d]) * f[c][d];
            }
      }

      /// State on the boundary in viscous terms.
      template <typename Number>
      TESSELLA_HOST_DEVICE void
      viscous_state(const OperatorPoint<dim>     &p,
                    const BoundaryCondition<dim> &condition,
                    const Number                 *u,
                    Number                       *result) const
      {
        if (condition.type == ConditionType::adiabatic_wall ||
            condition.type == ConditionType::isothermal_wall)
          {
            result[0] = u[0];
            for (int d = 0; d < dim; ++d)
              result[1 + d] = Number(0.);
            result[dim + 1] =
              condition.type == ConditionType::adiabatic_wall
                ? u[dim + 1] - 0.5 * (gas.momentum_squared(u) / u[0])
                : (condition.temperature / (gas.gamma - 1.)) * u[0];
          }
        else
          Base::boundary_state(p, condition, u, result);
      }

      /// Normal stress and penalty for the normal momentum.
      template <typename U, typename Number>
      TESSELLA_HOST_DEVICE void
      slip_terms(const OperatorPoint<dim> &p, const U &u, Number *value) const
      {
        Number stress[n_components], normal = Number(0.), momentum = Number(0.);
        for (int c = 0; c < n_components; ++c)
          stress[c] = Number(0.);
        add_normal(u.value, u.gradient, false, p.normal, -1., stress);
        for (int d = 0; d < dim; ++d)
          {
            normal += stress[1 + d] * p.normal[d];
            momentum += u.value[1 + d] * p.normal[d];
          }
        const Number inverse = 1. / u.value[0],
                     mu      = viscosity(gas.pressure(&u.value[0]) * inverse);
        normal +=
          (4. / 3. * penalty_constant * p.penalty) * (mu * inverse * momentum);
        for (int d = 0; d < dim; ++d)
          value[1 + d] = normal * p.normal[d];
      }
    };
  } // namespace Flow
} // namespace Tessella

#endif

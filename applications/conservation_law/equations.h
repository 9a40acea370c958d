// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_conservation_law_equations_h
#define tessella_applications_conservation_law_equations_h

#include <tessella/forms/pointwise_terms.h>
#include <tessella/forms/polytope_stencil.h>

#include "boundary_data.h"

// Conservation laws u_t + div f(u) = 0 as functors: three equations, the dG
// method that they have in common, and the largest wave speed of a polytope.

namespace Tessella
{
  namespace Application
  {
    /// Linear advection, f(u) = b u. The velocity b is constant, plus a
    /// rotation about an axis in the direction of z.
    template <int dim>
    struct LinearAdvection
    {
      static constexpr int  n_components = 1;
      static constexpr bool has_walls = false, has_upwind = true;

      double velocity[dim] = {}, angular_velocity = 0., centre[dim] = {};

      TESSELLA_HOST_DEVICE double
      velocity_at(const double *x, const int d) const
      {
        const double rotation = d == 0   ? centre[1] - x[1]
                                : d == 1 ? x[0] - centre[0]
                                         : 0.;
        return velocity[d] + angular_velocity * rotation;
      }
      template <typename Number>
      TESSELLA_HOST_DEVICE void
      flux(const double *x, const Number *u, Number (*f)[dim]) const
      {
        for (int d = 0; d < dim; ++d)
          f[0][d] = velocity_at(x, d) * u[0];
      }
      /// Largest speed of waves in the direction of the unit vector @p n.
      template <typename Number>
      TESSELLA_HOST_DEVICE Number
      speed(const double *x, const Number *, const double *n) const
      {
        double b_n = 0.;
        for (int d = 0; d < dim; ++d)
          b_n += velocity_at(x, d) * n[d];
        return Number(b_n < 0. ? -b_n : b_n);
      }
      TESSELLA_HOST_DEVICE bool
      is_admissible(const double *) const
      {
        return true;
      }
      /// Largest speed in any direction.
      TESSELLA_HOST_DEVICE double
      largest_speed(const double *x, const double *) const
      {
        double square = 0.;
        for (int d = 0; d < dim; ++d)
          square += velocity_at(x, d) * velocity_at(x, d);
        return sqrt(square);
      }
    };



    /// Burgers' equation, f(u) = v u^2 / 2 with a constant vector v.
    template <int dim>
    struct Burgers
    {
      static constexpr int  n_components = 1;
      static constexpr bool has_walls = false, has_upwind = false;

      double direction[dim] = {};

      template <typename Number>
      TESSELLA_HOST_DEVICE void
      flux(const double *, const Number *u, Number (*f)[dim]) const
      {
        for (int d = 0; d < dim; ++d)
          f[0][d] = 0.5 * direction[d] * u[0] * u[0];
      }
      template <typename Number>
      TESSELLA_HOST_DEVICE Number
      speed(const double *, const Number *u, const double *n) const
      {
        using namespace PointwiseMath;
        double v_n = 0.;
        for (int d = 0; d < dim; ++d)
          v_n += direction[d] * n[d];
        return fabs(v_n * u[0]);
      }
      TESSELLA_HOST_DEVICE bool
      is_admissible(const double *) const
      {
        return true;
      }
      TESSELLA_HOST_DEVICE double
      largest_speed(const double *, const double *u) const
      {
        double square = 0.;
        for (int d = 0; d < dim; ++d)
          square += direction[d] * direction[d] * u[0] * u[0];
        return sqrt(square);
      }
    };



    /// Shallow water on a flat bottom: depth h and discharge q = h v, with
    /// f(h) = q and f(q) = q q^T / h + g h^2 / 2 I.
    template <int dim>
    struct ShallowWater
    {
      static constexpr int  n_components = dim + 1;
      static constexpr bool has_walls = true, has_upwind = false;

      double gravity = 9.81;

      template <typename Number>
      TESSELLA_HOST_DEVICE void
      flux(const double *, const Number *u, Number (*f)[dim]) const
      {
        for (int d = 0; d < dim; ++d)
          {
            f[0][d] = u[1 + d];
            for (int c = 0; c < dim; ++c)
              f[1 + c][d] = u[1 + c] * u[1 + d] / u[0];
            f[1 + d][d] += 0.5 * gravity * u[0] * u[0];
          }
      }
      template <typename Number>
      TESSELLA_HOST_DEVICE Number
      speed(const double *, const Number *u, const double *n) const
      {
        using namespace PointwiseMath;
        Number q_n = u[1] * n[0];
        for (int d = 1; d < dim; ++d)
          q_n += u[1 + d] * n[d];
        return fabs(q_n / u[0]) + sqrt(gravity * u[0]);
      }
      TESSELLA_HOST_DEVICE bool
      is_admissible(const double *u) const
      {
        return u[0] > 0.;
      }
      TESSELLA_HOST_DEVICE double
      largest_speed(const double *, const double *u) const
      {
        double square = 0.;
        for (int d = 0; d < dim; ++d)
          square += u[1 + d] * u[1 + d];
        return sqrt(square) / u[0] + sqrt(gravity * u[0]);
      }
      /// State behind a wall with normal @p n: the discharge is reflected.
      template <typename Number>
      TESSELLA_HOST_DEVICE void
      reflect(const Number *u, const double *n, Number *outside) const
      {
        Number q_n = u[1] * n[0];
        for (int d = 1; d < dim; ++d)
          q_n += u[1 + d] * n[d];
        outside[0] = u[0];
        for (int d = 0; d < dim; ++d)
          outside[1 + d] = u[1 + d] - 2. * n[d] * q_n;
      }
    };



    /**
     * The dG method for a conservation law:
     *   R(u; v) = - int f(u) : grad v + sum over facets of int F [v],
     * so that the time derivative of u is -M^{-1} R. The numerical flux from
     * side 0 to side 1 is that of Lax and Friedrichs with the local speed,
     *   F = (f(u0) + f(u1)) . n / 2 + s / 2 (u0 - u1),
     *   s = max(speed(u0), speed(u1)),
     * or for linear advection the upwind flux, which is the same number
     * computed in another way. On the boundary u1 is the given state, the state
     * inside (outflow), or the reflected state (wall).
     */
    template <int dim, typename Equation>
    struct ConservationLaw
    {
      static constexpr int n_components = Equation::n_components;
      using Fields                      = FieldComponents<n_components>;
      static constexpr unsigned int volume_input  = PointwiseRows::values,
                                    volume_output = PointwiseRows::gradients,
                                    facet_input   = PointwiseRows::values,
                                    facet_output  = PointwiseRows::values;

      Equation equation;
      bool     upwind = false;
      /// Boundary states are expressions, which the host evaluates.
      const BoundaryData<dim> *boundary = nullptr;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const OperatorPoint<dim> &p, const U &u, R &r) const
      {
        std::decay_t<decltype(u.value[0])> f[n_components][dim];
        equation.flux(p.x, u.value, f);
        for (int c = 0; c < n_components; ++c)
          for (int d = 0; d < dim; ++d)
            r.gradient[c][d] = -f[c][d];
      }
      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      interior_facet(const OperatorPoint<dim> &p,
                     const U                  &u0,
                     const U                  &u1,
                     R                        &r0,
                     R                        &r1) const
      {
        numerical_flux(p, u0.value, u1.value, r0.value);
        for (int c = 0; c < n_components; ++c)
          r1.value[c] = -r0.value[c];
      }
      template <typename U, typename R>
      void
      boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
      {
        U outside = u;
        switch (boundary->type(p.boundary_id))
          {
              case BoundaryKind::inflow: {
                double state[n_components];
                boundary->state(p.boundary_id, p.x, p.t, state);
                for (int c = 0; c < n_components; ++c)
                  outside.value[c] = state[c];
                break;
              }
            case BoundaryKind::wall:
              if constexpr (Equation::has_walls)
                equation.reflect(u.value, p.normal, outside.value);
              break;
            case BoundaryKind::outflow:
              break;
          }
        numerical_flux(p, u.value, outside.value, r.value);
      }

    private:
      template <typename Number>
      TESSELLA_HOST_DEVICE void
      numerical_flux(const OperatorPoint<dim> &p,
                     const Number             *u0,
                     const Number             *u1,
                     Number                   *result) const
      {
        using namespace PointwiseMath;
        Number f0[n_components][dim], f1[n_components][dim];
        equation.flux(p.x, u0, f0);
        equation.flux(p.x, u1, f1);
        if constexpr (Equation::has_upwind)
          if (upwind)
            {
              double b_n = 0.;
              for (int d = 0; d < dim; ++d)
                b_n += equation.velocity_at(p.x, d) * p.normal[d];
              result[0] = b_n * (b_n > 0. ? u0[0] : u1[0]);
              return;
            }
        const Number s = maximum(equation.speed(p.x, u0, p.normal),
                                 equation.speed(p.x, u1, p.normal));
        for (int c = 0; c < n_components; ++c)
          {
            result[c] = 0.5 * s * (u0[c] - u1[c]);
            for (int d = 0; d < dim; ++d)
              result[c] += 0.5 * p.normal[d] * (f0[c][d] + f1[c][d]);
          }
      }
    };



    /// Functor of PolytopewiseOperator: the largest wave speed at the points of
    /// a polytope, or -1 if the state at a point is not admissible.
    template <int dim, typename Equation>
    struct LargestSpeed
    {
      static constexpr bool point_values = true;

      Equation equation;

      TESSELLA_HOST_DEVICE double
      operator()(const PolytopeStencil<dim> &s, double *) const
      {
        double largest = 0.;
        for (unsigned int q = 0; q < s.n_points; ++q)
          {
            double x[dim], u[Equation::n_components];
            for (int d = 0; d < dim; ++d)
              x[d] = s.x[d][q];
            for (int c = 0; c < Equation::n_components; ++c)
              u[c] = s.value(q, c);
            if (!equation.is_admissible(u))
              return -1.;
            const double speed = equation.largest_speed(x, u);
            largest            = speed > largest ? speed : largest;
          }
        return largest;
      }
    };
  } // namespace Application
} // namespace Tessella

#endif

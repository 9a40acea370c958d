// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_ideal_gas_h
#define tessella_flow_ideal_gas_h

#include <tessella/forms/pointwise_terms.h>

// States of an ideal gas, for host and device. The file uses neither deal.II
// nor the standard library.

namespace Tessella
{
  /**
   * Compressible flow: functors of PointwiseOperator for the Euler and the
   * Navier-Stokes equations.
   *
   * <b>Unknowns</b> are conservative: U = (rho, rho u, rho E) with the density
   * rho, the velocity u of dim components and the total energy rho E per
   * volume; dim + 2 numbers.
   *
   * <b>Number types.</b> All functions are templates over the number type and
   * have no branch on a number, so that a type with several lanes serves as
   * well as double and Dual. Such a type needs the operators of double and,
   * found by its arguments, sqrt(), fabs(), pow(x, double), maximum(a, b),
   * minimum(a, b) and select(mask, a, b) for the masks that its comparisons
   * return: Lanes is such a type. Normals have then several lanes as well.
   */
  namespace Flow
  {
    /// @p a where @p condition holds, else @p b.
    template <typename Number>
    TESSELLA_HOST_DEVICE inline Number
    select(const bool condition, const Number &a, const Number &b)
    {
      return condition ? a : b;
    }

    /// Quantities derived from a state U that numerical fluxes and boundary
    /// states use together with U itself.
    template <typename Number>
    struct Primitive
    {
      /// 1 / rho, u . n for a normal n, and the pressure.
      Number inverse_density, normal_velocity, pressure;
    };

    /**
     * Ideal gas with a constant ratio @p gamma > 1 of specific heats:
     * p = (gamma - 1) (rho E - rho |u|^2 / 2).
     */
    template <int dim>
    struct IdealGas
    {
      static constexpr int n_components = dim + 2;

      double gamma = 1.4;

      /// |rho u|^2.
      template <typename Number>
      TESSELLA_HOST_DEVICE Number
      momentum_squared(const Number *u) const
      {
        Number square = u[1] * u[1];
        for (int d = 1; d < dim; ++d)
          square += u[1 + d] * u[1 + d];
        return square;
      }
      template <typename Number>
      TESSELLA_HOST_DEVICE Number
      pressure(const Number *u) const
      {
        return pressure(u, 1. / u[0]);
      }
      /// The same where 1 / rho is known.
      template <typename Number>
      TESSELLA_HOST_DEVICE Number
      pressure(const Number *u, const Number &inverse_density) const
      {
        return (gamma - 1.) *
               (u[dim + 1] - 0.5 * (momentum_squared(u) * inverse_density));
      }
      /// Speed of sound, sqrt(gamma p / rho).
      template <typename Number>
      TESSELLA_HOST_DEVICE Number
      sound_speed(const Primitive<Number> &w) const
      {
        using namespace PointwiseMath;
        return sqrt(gamma * (w.pressure * w.inverse_density));
      }
      /// Primitive variables with the normal velocity along @p n.
      template <typename Number, typename Normal>
      TESSELLA_HOST_DEVICE Primitive<Number>
                           primitive(const Number *u, const Normal *n) const
      {
        Primitive<Number> w;
        w.inverse_density = 1. / u[0];
        Number momentum   = u[1] * n[0];
        for (int d = 1; d < dim; ++d)
          momentum += u[1 + d] * n[d];
        w.normal_velocity = momentum * w.inverse_density;
        w.pressure        = pressure(u, w.inverse_density);
        return w;
      }
      /// Conservative variables.
      template <typename Number>
      TESSELLA_HOST_DEVICE void
      conservative(const Number &density,
                   const Number *velocity,
                   const Number &pressure,
                   Number       *u) const
      {
        u[0]          = density;
        Number square = velocity[0] * velocity[0];
        u[1]          = density * velocity[0];
        for (int d = 1; d < dim; ++d)
          {
            square += velocity[d] * velocity[d];
            u[1 + d] = density * velocity[d];
          }
        u[dim + 1] = pressure / (gamma - 1.) + 0.5 * (density * square);
      }
      /// Whether density and pressure are positive. A state with an entry that
      /// is not finite is not admissible.
      TESSELLA_HOST_DEVICE bool
      is_admissible(const double *u) const
      {
        return u[0] > 0. && u[0] < 1e300 && pressure(u) > 0. &&
               u[dim + 1] < 1e300;
      }
      /// Flux F_d(U), column @p d of @p f for each component.
      template <typename Number>
      TESSELLA_HOST_DEVICE void
      flux(const Number *u, Number (*f)[dim]) const
      {
        const Number inverse = 1. / u[0], p = pressure(u, inverse),
                     total = (u[dim + 1] + p) * inverse;
        for (int d = 0; d < dim; ++d)
          {
            const Number velocity = u[1 + d] * inverse;
            f[0][d]               = u[1 + d];
            for (int e = 0; e < dim; ++e)
              f[1 + e][d] = u[1 + e] * velocity;
            f[1 + d][d] += p;
            f[dim + 1][d] = u[1 + d] * total;
          }
      }
      /// F(U) . n from the state and its primitive variables.
      template <typename Number, typename Normal>
      TESSELLA_HOST_DEVICE void
      normal_flux(const Number            *u,
                  const Primitive<Number> &w,
                  const Normal            *n,
                  Number                  *f) const
      {
        f[0] = u[0] * w.normal_velocity;
        for (int d = 0; d < dim; ++d)
          f[1 + d] = u[1 + d] * w.normal_velocity + w.pressure * n[d];
        f[dim + 1] = (u[dim + 1] + w.pressure) * w.normal_velocity;
      }
    };
  } // namespace Flow
} // namespace Tessella

#endif

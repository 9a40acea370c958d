// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_numerical_fluxes_h
#define tessella_flow_numerical_fluxes_h

#include <tessella/flow/ideal_gas.h>

// Numerical fluxes of the Euler equations from side 0 to side 1 of a facet with
// the unit normal n. All are consistent, H(U, U, n) = F(U) . n, and
// conservative, H(U0, U1, n) = -H(U1, U0, -n). E. F. Toro, Riemann Solvers and
// Numerical Methods for Fluid Dynamics, 3rd ed., Springer 2009, describes them;
// chapters below are of this book.

namespace Tessella
{
  namespace Flow
  {
    /// Numbers without their derivatives: the value of a Dual, or what the
    /// member val() of other types returns, such as Sacado's.
    struct WithoutDerivative
    {
      template <typename Number>
      TESSELLA_HOST_DEVICE static auto
      of(const Number &v)
      {
        return value(v, 0);
      }

    private:
      template <typename Number>
      TESSELLA_HOST_DEVICE static Number
      value(const Number &v, const long)
      {
        return v;
      }
      template <typename Number>
      static auto
      value(const Number &v, const int) -> decltype(1. * v.val())
      {
        return v.val();
      }
      template <int n>
      TESSELLA_HOST_DEVICE static double
      value(const Dual<n> &v, const int)
      {
        return v.value;
      }
    };

    /// Slowest and fastest wave by the estimate of Davis, the extremes of u . n
    /// -+ c of both sides (section 10.5.1).
    struct DavisSpeeds
    {
      template <int dim, typename Number>
      TESSELLA_HOST_DEVICE static void
      compute(const IdealGas<dim>     &gas,
              const Primitive<Number> &w0,
              const Primitive<Number> &w1,
              Number                  &s0,
              Number                  &s1)
      {
        using namespace PointwiseMath;
        const Number c0 = gas.sound_speed(w0), c1 = gas.sound_speed(w1);
        s0 = minimum(w0.normal_velocity - c0, w1.normal_velocity - c1);
        s1 = maximum(w0.normal_velocity + c0, w1.normal_velocity + c1);
      }
    };

    /// The speeds v -+ c of the mean normal velocity and the mean square of the
    /// speeds of sound.
    struct SpeedsOfMeans
    {
      template <int dim, typename Number>
      TESSELLA_HOST_DEVICE static void
      compute(const IdealGas<dim>     &gas,
              const Primitive<Number> &w0,
              const Primitive<Number> &w1,
              Number                  &s0,
              Number                  &s1)
      {
        using namespace PointwiseMath;
        const Number v = 0.5 * (w0.normal_velocity + w1.normal_velocity),
                     c = sqrt(0.5 * gas.gamma *
                              (w0.pressure * w0.inverse_density +
                               w1.pressure * w1.inverse_density));
        s0             = v - c;
        s1             = v + c;
      }
    };

    /// The speeds of @p Speeds, which count as constant in derivatives.
    template <typename Speeds>
    struct FrozenSpeeds
    {
      template <int dim, typename Number>
      TESSELLA_HOST_DEVICE static void
      compute(const IdealGas<dim>     &gas,
              const Primitive<Number> &w0,
              const Primitive<Number> &w1,
              Number                  &s0,
              Number                  &s1)
      {
        const auto v0 = values(w0), v1 = values(w1);
        auto       slow = v0.pressure, fast = slow;
        Speeds::compute(gas, v0, v1, slow, fast);
        s0 = Number(slow);
        s1 = Number(fast);
      }

    private:
      template <typename Number>
      TESSELLA_HOST_DEVICE static auto
      values(const Primitive<Number> &w)
      {
        using Value = decltype(WithoutDerivative::of(w.pressure));
        Primitive<Value> result;
        result.inverse_density = WithoutDerivative::of(w.inverse_density);
        result.normal_velocity = WithoutDerivative::of(w.normal_velocity);
        result.pressure        = WithoutDerivative::of(w.pressure);
        return result;
      }
    };

    /// Flux of Harten, Lax and van Leer for two waves, whose speeds s0 < s1 @p
    /// Speeds computes (section 10.3). Speeds of one sign give the flux of one
    /// side.
    template <typename Speeds>
    struct TwoWaveFlux
    {
      template <int dim, typename Number, typename Normal>
      TESSELLA_HOST_DEVICE void
      operator()(const IdealGas<dim> &gas,
                 const Number        *u0,
                 const Number        *u1,
                 const Normal        *n,
                 Number              *flux) const
      {
        using namespace PointwiseMath;
        const Primitive<Number> w0 = gas.primitive(u0, n),
                                w1 = gas.primitive(u1, n);
        Number s0, s1;
        Speeds::compute(gas, w0, w1, s0, s1);
        const Number zero = Number(0.), a = minimum(s0, zero),
                     b = maximum(s1, zero), inverse = 1. / (b - a);
        Number f0[dim + 2], f1[dim + 2];
        gas.normal_flux(u0, w0, n, f0);
        gas.normal_flux(u1, w1, n, f1);
        for (int c = 0; c < dim + 2; ++c)
          flux[c] =
            (b * f0[c] - a * f1[c] + (a * b) * (u1[c] - u0[c])) * inverse;
      }
    };

    /// Two waves with the speeds of Davis.
    using HLL = TwoWaveFlux<DavisSpeeds>;

    /// Two waves with the speeds of mean values, as deal.II's step-67 has them.
    /// Less dissipative than HLL, but without its bounds for strong
    /// rarefactions.
    using HLLOfMeans = TwoWaveFlux<SpeedsOfMeans>;

    /**
     * Three waves: HLLC of E. F. Toro, M. Spruce and W. Speares, Shock Waves 4
     * (1994), with the contact speed and star states of sections 10.4 and 10.5.
     * @p Speeds computes the speeds of the two outer waves.
     */
    template <typename Speeds>
    struct ThreeWaveFlux
    {
      template <int dim, typename Number, typename Normal>
      TESSELLA_HOST_DEVICE void
      operator()(const IdealGas<dim> &gas,
                 const Number        *u0,
                 const Number        *u1,
                 const Normal        *n,
                 Number              *flux) const
      {
        using namespace PointwiseMath;
        const Primitive<Number> w0 = gas.primitive(u0, n),
                                w1 = gas.primitive(u1, n);
        const Number v0 = w0.normal_velocity, v1 = w1.normal_velocity;
        Number       s0, s1;
        Speeds::compute(gas, w0, w1, s0, s1);
        const Number zero = Number(0.), m0 = u0[0] * (s0 - v0),
                     m1 = u1[0] * (s1 - v1),
                     s  = (w1.pressure - w0.pressure + m0 * v0 - m1 * v1) /
                         (m0 - m1);
        // The side from which information comes. Its outer wave has the speed
        // zero in the flux if the flow is supersonic.
        const auto   left = s >= zero;
        const Number sk = select(left, s0, s1), vk = select(left, v0, v1),
                     pk = select(left, w0.pressure, w1.pressure),
                     weight =
                       select(left, minimum(s0, zero), maximum(s1, zero));
        Number u[dim + 2];
        for (int c = 0; c < dim + 2; ++c)
          u[c] = select(left, u0[c], u1[c]);
        const Number factor = (sk - vk) / (sk - s), jump = s - vk,
                     density = factor * u[0];
        flux[0]              = u[0] * vk + weight * (density - u[0]);
        for (int d = 0; d < dim; ++d)
          flux[1 + d] =
            u[1 + d] * vk + pk * n[d] +
            weight * (factor * u[1 + d] + density * jump * n[d] - u[1 + d]);
        const Number star =
          factor * (u[dim + 1] + jump * (u[0] * s + pk / (sk - vk)));
        flux[dim + 1] = (u[dim + 1] + pk) * vk + weight * (star - u[dim + 1]);
      }
    };

    /// Three waves with the speeds of Davis.
    using HLLC = ThreeWaveFlux<DavisSpeeds>;

    /**
     * @name Fluxes with wave speeds that are constant in derivatives
     *
     * Their values are those of the fluxes above, to which their Jacobians are
     * approximations: the speeds of the outer waves and, of Roe's flux, all
     * mean values are held fixed, and all else is differentiated. The contact
     * speed of HLLC is a velocity of the solution between the waves rather than
     * a bound of speeds, and through it alone does the flux feel the pressure
     * of the other side: its derivative is kept (P. Batten, M. A. Leschziner
     * and U. C. Goldberg, J. Comput. Phys. 137, 1997, 38-78).
     */
    //@{
    using FrozenHLL        = TwoWaveFlux<FrozenSpeeds<DavisSpeeds>>;
    using FrozenHLLOfMeans = TwoWaveFlux<FrozenSpeeds<SpeedsOfMeans>>;
    using FrozenHLLC       = ThreeWaveFlux<FrozenSpeeds<DavisSpeeds>>;
    //@}

    /// One wave: (F(U0) + F(U1)) . n / 2 + s (U0 - U1) / 2 with the larger
    /// |u . n| + c of both sides (section 10.5.1, V. V. Rusanov 1961). If
    /// @p frozen, s is constant in derivatives.
    template <bool frozen, int dim, typename Number, typename Normal>
    TESSELLA_HOST_DEVICE inline void
    one_wave_flux(const IdealGas<dim> &gas,
                  const Number        *u0,
                  const Number        *u1,
                  const Normal        *n,
                  Number              *flux)
    {
      using namespace PointwiseMath;
      const Primitive<Number> w0 = gas.primitive(u0, n),
                              w1 = gas.primitive(u1, n);
      const Number largest =
        maximum(fabs(w0.normal_velocity) + gas.sound_speed(w0),
                fabs(w1.normal_velocity) + gas.sound_speed(w1));
      Number f0[dim + 2], f1[dim + 2];
      gas.normal_flux(u0, w0, n, f0);
      gas.normal_flux(u1, w1, n, f1);
      for (int c = 0; c < dim + 2; ++c)
        if constexpr (frozen)
          flux[c] = 0.5 * (f0[c] + f1[c] +
                           WithoutDerivative::of(largest) * (u0[c] - u1[c]));
        else
          flux[c] = 0.5 * (f0[c] + f1[c] + largest * (u0[c] - u1[c]));
    }

    /// The flux one_wave_flux().
    struct Rusanov
    {
      template <int dim, typename Number, typename Normal>
      TESSELLA_HOST_DEVICE void
      operator()(const IdealGas<dim> &gas,
                 const Number        *u0,
                 const Number        *u1,
                 const Normal        *n,
                 Number              *flux) const
      {
        one_wave_flux<false>(gas, u0, u1, n, flux);
      }
    };

    /**
     * The same flux, whose speed counts as constant in derivatives. Its
     * Jacobian is that of formulas (11) and (12) of J. Lou et al., AIAA
     * 2016-1815. It serves as an approximate Jacobian of any of the fluxes: it
     * is cheaper, and Newton's method with it converges linearly.
     */
    struct FrozenRusanov
    {
      template <int dim, typename Number, typename Normal>
      TESSELLA_HOST_DEVICE void
      operator()(const IdealGas<dim> &gas,
                 const Number        *u0,
                 const Number        *u1,
                 const Normal        *n,
                 Number              *flux) const
      {
        one_wave_flux<true>(gas, u0, u1, n, flux);
      }
    };

    /**
     * Flux of P. L. Roe, J. Comput. Phys. 43 (1981): the waves of the matrix at
     * Roe's mean values (section 11.2). The absolute speeds of the two
     * acoustic waves get the entropy fix of A. Harten, J. Comput. Phys. 49
     * (1983): |s| below delta becomes (s^2 + delta^2) / (2 delta) with delta =
     * entropy_fix (|v| + c), v and c being the normal velocity and the speed
     * of sound of the mean values. It is differentiable at s = 0. If @p frozen,
     * mean values and speeds are constant in derivatives, while the differences
     * of both sides are not.
     */
    template <bool frozen>
    struct RoeFlux
    {
      double entropy_fix = 0.1; ///< must be positive

      template <int dim, typename Number, typename Normal>
      TESSELLA_HOST_DEVICE void
      operator()(const IdealGas<dim> &gas,
                 const Number        *u0,
                 const Number        *u1,
                 const Normal        *n,
                 Number              *flux) const
      {
        using namespace PointwiseMath;
        const Primitive<Number> w0 = gas.primitive(u0, n),
                                w1 = gas.primitive(u1, n);
        Number f0[dim + 2], f1[dim + 2];
        gas.normal_flux(u0, w0, n, f0);
        gas.normal_flux(u1, w1, n, f1);

        // Roe's mean values: weights sqrt(rho).
        const auto value = [](const Number &x) {
          if constexpr (frozen)
            return WithoutDerivative::of(x);
          else
            return x;
        };
        using Value    = decltype(value(u0[0]));
        const Value r0 = sqrt(value(u0[0])), r1 = sqrt(value(u1[0])),
                    part = r0 / (r0 + r1), density = r0 * r1;
        const auto mean = [&](const Number &a, const Number &b) {
          return value(b) + part * value(a - b);
        };
        Value  velocity[dim], square    = Value(0.);
        Number difference[dim], product = Number(0.);
        for (int d = 0; d < dim; ++d)
          {
            const Number a = u0[1 + d] * w0.inverse_density,
                         b = u1[1 + d] * w1.inverse_density;
            velocity[d]    = mean(a, b);
            difference[d]  = b - a;
            square += velocity[d] * velocity[d];
            product += velocity[d] * difference[d];
          }
        const Value v  = mean(w0.normal_velocity, w1.normal_velocity),
                    h  = mean((u0[dim + 1] + w0.pressure) * w0.inverse_density,
                             (u1[dim + 1] + w1.pressure) * w1.inverse_density),
                    c2 = (gas.gamma - 1.) * (h - 0.5 * square), c = sqrt(c2),
                    half = 0.5 / c2, delta = entropy_fix * (fabs(v) + c),
                    shear = fabs(v) * density;
        const Number dp   = w1.pressure - w0.pressure,
                     dv   = w1.normal_velocity - w0.normal_velocity;
        // Strengths of the waves times their absolute speeds.
        const Number slow =
                       fixed(v - c, delta) * (dp - density * c * dv) * half,
                     fast =
                       fixed(v + c, delta) * (dp + density * c * dv) * half,
                     entropy = fabs(v) * (u1[0] - u0[0] - dp / c2);
        Number wave[dim + 2];
        wave[0] = slow + fast + entropy;
        for (int d = 0; d < dim; ++d)
          wave[1 + d] =
            slow * (velocity[d] - c * n[d]) + fast * (velocity[d] + c * n[d]) +
            entropy * velocity[d] + shear * (difference[d] - dv * n[d]);
        wave[dim + 1] = slow * (h - c * v) + fast * (h + c * v) +
                        entropy * (0.5 * square) + shear * (product - v * dv);
        for (int k = 0; k < dim + 2; ++k)
          flux[k] = 0.5 * (f0[k] + f1[k] - wave[k]);
      }

    private:
      template <typename Number>
      TESSELLA_HOST_DEVICE static Number
      fixed(const Number &speed, const Number &delta)
      {
        using namespace PointwiseMath;
        const Number size   = fabs(speed),
                     smooth = 0.5 * (speed * speed / delta + delta);
        return select(size < delta, smooth, size);
      }
    };

    using Roe       = RoeFlux<false>;
    using FrozenRoe = RoeFlux<true>;


    /// Numerical flux that a parameter chooses when the program runs.
    enum class NumericalFlux
    {
      hllc,
      hll,
      hll_of_means,
      roe,
      rusanov,
      frozen_rusanov
    };

    /// One of the fluxes above. Kernels for a device are smaller and faster
    /// with the flux itself as a template argument.
    struct ChosenFlux
    {
      NumericalFlux type = NumericalFlux::hllc;
      Roe           roe;

      template <int dim, typename Number, typename Normal>
      TESSELLA_HOST_DEVICE void
      operator()(const IdealGas<dim> &gas,
                 const Number        *u0,
                 const Number        *u1,
                 const Normal        *n,
                 Number              *flux) const
      {
        switch (type)
          {
            case NumericalFlux::hllc:
              HLLC()(gas, u0, u1, n, flux);
              break;
            case NumericalFlux::hll:
              HLL()(gas, u0, u1, n, flux);
              break;
            case NumericalFlux::hll_of_means:
              HLLOfMeans()(gas, u0, u1, n, flux);
              break;
            case NumericalFlux::roe:
              roe(gas, u0, u1, n, flux);
              break;
            case NumericalFlux::rusanov:
              Rusanov()(gas, u0, u1, n, flux);
              break;
            case NumericalFlux::frozen_rusanov:
              FrozenRusanov()(gas, u0, u1, n, flux);
              break;
          }
      }
    };

    /// One of the fluxes whose wave speeds are constant in derivatives: the
    /// approximate Jacobian that belongs to a ChosenFlux.
    struct ChosenFrozenFlux
    {
      NumericalFlux type = NumericalFlux::hllc;
      FrozenRoe     roe;

      template <int dim, typename Number, typename Normal>
      TESSELLA_HOST_DEVICE void
      operator()(const IdealGas<dim> &gas,
                 const Number        *u0,
                 const Number        *u1,
                 const Normal        *n,
                 Number              *flux) const
      {
        switch (type)
          {
            case NumericalFlux::hllc:
              FrozenHLLC()(gas, u0, u1, n, flux);
              break;
            case NumericalFlux::hll:
              FrozenHLL()(gas, u0, u1, n, flux);
              break;
            case NumericalFlux::hll_of_means:
              FrozenHLLOfMeans()(gas, u0, u1, n, flux);
              break;
            case NumericalFlux::roe:
              roe(gas, u0, u1, n, flux);
              break;
            case NumericalFlux::rusanov:
            case NumericalFlux::frozen_rusanov:
              FrozenRusanov()(gas, u0, u1, n, flux);
              break;
          }
      }
    };
  } // namespace Flow
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_shock_capturing_h
#define tessella_flow_shock_capturing_h

#include <tessella/flow/euler.h>
#include <tessella/flow/interior_penalty.h>
#include <tessella/forms/polytope_stencil.h>
#include <tessella/portable/legendre.h>

// Sensor of shocks and artificial viscosity, for host and device.

namespace Tessella
{
  namespace Flow
  {
    /**
     * Artificial viscosity of a polytope from the modal decay of the density,
     * as a functor of PolytopewiseOperator (P.-O. Persson and J. Peraire,
     * "Sub-cell shock capturing for discontinuous Galerkin methods", AIAA paper
     * 2006-112).
     *
     * The sensor is S = |rho - rho_(p-1)|^2 / |rho|^2, where rho_(p-1) is the
     * density without its basis functions of degree p, and norms are those of
     * L2 of the bounding box. Where rho is smooth, S is about p^-4 times a
     * small number or less. With s = log10 S and s_0 = threshold - 4 log10 p,
     * the viscosity is eps = strength h / p (|u| + c) ramp(s), where ramp is 0
     * below s_0 - width, 1 above s_0 + width and (1 + sin(pi (s - s_0) / (2
     * width))) / 2 between them, h = |k|^(1/dim), and the largest wave speed
     * |u| + c is that of the mean state. It has a continuous derivative. Degree
     * 0 has no viscosity.
     *
     * The result is eps; the coefficients that it writes are its derivatives
     * with respect to those of the state. A mean state that is not admissible
     * gives a number that is not finite.
     */
    template <int dim>
    struct ShockSensor
    {
      IdealGas<dim> gas;
      double        threshold = -2., width = 1., strength = 0.5;

      TESSELLA_HOST_DEVICE double
      operator()(const PolytopeStencil<dim> &s, double *derivative) const
      {
        for (unsigned int i = 0; i < s.n_components * s.n_basis; ++i)
          derivative[i] = 0.;
        if (s.degree == 0)
          return 0.;
        double             above = 0., all = 0.;
        const unsigned int first = first_function(s);
        for (unsigned int i = 0; i < s.n_basis; ++i)
          {
            const double square = s.coefficients[i] * s.coefficients[i];
            all += square;
            above += i < first ? 0. : square;
          }
        double       slope = 0.;
        const double factor =
          above > 0. ? ramp(s.degree, above / all, slope) : 0.;
        if (factor == 0.)
          return 0.;
        using Number = Dual<dim + 2>;
        Number mean[dim + 2];
        for (int c = 0; c < dim + 2; ++c)
          {
            mean[c]               = Number(s.mean(c));
            mean[c].derivative[c] = 1.;
          }
        const Number largest =
          (strength * pow(s.measure, 1. / dim) / s.degree) * speed(mean);
        for (int c = 0; c < dim + 2; ++c)
          for (unsigned int i = 0; i < s.n_basis; ++i)
            derivative[c * s.n_basis + i] =
              factor * largest.derivative[c] * s.basis_mean[i];
        // d(above / all) / du_i = 2 ([i >= first] - above / all) u_i / all
        for (unsigned int i = 0; i < s.n_basis; ++i)
          derivative[i] += largest.value * slope * 2. *
                           ((i < first ? 0. : 1.) - above / all) *
                           s.coefficients[i] / all;
        return factor * largest.value;
      }

      /// Number of basis functions of degree at most p - 1.
      TESSELLA_HOST_DEVICE static unsigned int
      first_function(const PolytopeStencil<dim> &s)
      {
        return Legendre::n_functions(
          dim,
          s.degree - 1,
          s.n_basis != Legendre::n_functions(dim, s.degree, false));
      }

      /// ramp(log10 S), and its derivative with respect to S.
      TESSELLA_HOST_DEVICE double
      ramp(const unsigned int degree, const double S, double &slope) const
      {
        const double ln_10 = 2.302585092994045684, pi = 3.14159265358979323846;
        const double t =
          (log(S) / ln_10 - threshold + 4. * log(double(degree)) / ln_10) /
          width;
        slope = 0.;
        if (t <= -1.)
          return 0.;
        if (t >= 1.)
          return 1.;
        slope = 0.25 * pi * cos(0.5 * pi * t) / (width * ln_10 * S);
        return 0.5 * (1. + sin(0.5 * pi * t));
      }

    private:
      /// |u| + c.
      template <typename Number>
      TESSELLA_HOST_DEVICE Number
      speed(const Number *u) const
      {
        using namespace PointwiseMath;
        const Number inverse = 1. / u[0], square = gas.momentum_squared(u),
                     sound =
                       sqrt(gas.gamma * (gas.pressure(u, inverse) * inverse));
        // The square root has no derivative at rest.
        return square > 0. ? sqrt(square) * inverse + sound : sound;
      }
    };



    /**
     * The equations @p F, Euler or NavierStokes, with artificial viscosity: a
     * second field of one component, eps, which is constant on each polytope,
     * and, beside all terms of F, those of
     *   - div (eps grad W),   W = (rho, rho u, rho H),   rho H = rho E + p,
     * by the symmetric interior penalty (add_interior_penalty()). The total
     * enthalpy in place of the energy keeps H constant in steady flow with a
     * uniform inflow (G. Barter and D. Darmofal, J. Comput. Phys. 229, 2010,
     * 1810-1827). There is no viscous flux through the boundary. Uniform flow
     * and the integrals of all components are kept.
     */
    template <int dim, typename F>
    struct WithArtificialViscosity : public F
    {
      static constexpr int n_components           = dim + 2;
      using Fields                                = FieldComponents<dim + 2, 1>;
      static constexpr unsigned int volume_input  = PointwiseRows::all,
                                    volume_output = F::volume_output |
                                                    PointwiseRows::gradients,
                                    facet_input  = PointwiseRows::all,
                                    facet_output = PointwiseRows::all,
                                    lanes        = PointwiseLanes::none;
      using F::gas;
      /// Twice the constant with which Poisson's equation is stable. The
      /// physical viscosity of NavierStokes has its own constant.
      double penalty_constant = 4.;
      /// 2 p + 1 with the highest degree p, for wave_speed().
      double order = 3.;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const OperatorPoint<dim> &p, const U &u, R &r) const
      {
        using Number = decltype(without_reference(r.value[0]));
        F::volume(p, u, r);
        Number gradient[n_components][dim];
        gradient_of_w(u, gradient);
        for (int c = 0; c < n_components; ++c)
          for (int d = 0; d < dim; ++d)
            r.gradient[c][d] += u.value[n_components] * gradient[c][d];
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
        F::interior_facet(p, u0, u1, r0, r1);
        Number gradient0[n_components][dim], gradient1[n_components][dim],
          jump[n_components][dim];
        gradient_of_w(u0, gradient0);
        gradient_of_w(u1, gradient1);
        for (int c = 0; c < n_components; ++c)
          {
            Number difference = u0.value[c] - u1.value[c];
            if (c == dim + 1)
              difference +=
                gas.pressure(&u0.value[0]) - gas.pressure(&u1.value[0]);
            for (int d = 0; d < dim; ++d)
              jump[c][d] = difference * p.normal[d];
          }
        const Scaling<Number> flux{u0.value[n_components],
                                   u1.value[n_components]};
        if constexpr ((F::facet_output & PointwiseRows::gradients) != 0)
          {
            // add_interior_penalty() sets gradients.
            Number physical0[n_components][dim], physical1[n_components][dim];
            for (int c = 0; c < n_components; ++c)
              for (int d = 0; d < dim; ++d)
                {
                  physical0[c][d] = r0.gradient[c][d];
                  physical1[c][d] = r1.gradient[c][d];
                }
            add_interior_penalty<dim, n_components, 0>(
              p, penalty_constant, flux, gradient0, gradient1, jump, r0, r1);
            for (int c = 0; c < n_components; ++c)
              for (int d = 0; d < dim; ++d)
                {
                  r0.gradient[c][d] += physical0[c][d];
                  r1.gradient[c][d] += physical1[c][d];
                }
          }
        else
          add_interior_penalty<dim, n_components, 0>(
            p, penalty_constant, flux, gradient0, gradient1, jump, r0, r1);
      }

      /// |u . n| + c and the viscous part (2 p + 1) eps / h on side @p side.
      template <typename U>
      TESSELLA_HOST_DEVICE auto
      wave_speed(const OperatorPoint<dim> &p, const U &u, const int side) const
      {
        return F::wave_speed(p, u, side) +
               (order / p.h[side]) * u.value[n_components];
      }

    private:
      template <typename Number>
      TESSELLA_HOST_DEVICE static Number
      without_reference(const Number &);

      /// Product with eps of a side.
      template <typename Number>
      struct Scaling
      {
        Number eps0, eps1;

        TESSELLA_HOST_DEVICE void
        operator()(const int side,
                   const Number (&gradient)[n_components][dim],
                   Number (*f)[dim]) const
        {
          for (int c = 0; c < n_components; ++c)
            for (int d = 0; d < dim; ++d)
              f[c][d] = (side == 0 ? eps0 : eps1) * gradient[c][d];
        }
      };

      template <typename U, typename Number>
      TESSELLA_HOST_DEVICE void
      gradient_of_w(const U &u, Number (&result)[n_components][dim]) const
      {
        const Number inverse     = 1. / u.value[0],
                     half_square = (0.5 * gas.momentum_squared(&u.value[0])) *
                                   inverse * inverse;
        for (int d = 0; d < dim; ++d)
          {
            for (int c = 0; c < n_components; ++c)
              result[c][d] = u.gradient[c][d];
            Number slope = result[dim + 1][d] + half_square * result[0][d];
            for (int i = 0; i < dim; ++i)
              slope = slope - u.value[1 + i] * inverse * result[1 + i][d];
            result[dim + 1][d] += (gas.gamma - 1.) * slope;
          }
      }
    };
  } // namespace Flow
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_viscosity_h
#define tessella_flow_viscosity_h

#include <tessella/flow/ideal_gas.h>

namespace Tessella
{
  namespace Flow
  {
    /**
     * Viscosity and heat conduction of an ideal gas. Temperatures are T = p /
     * rho, which is the temperature times the gas constant.
     *
     * The viscosity is constant, or follows the law of W. Sutherland (Phil.
     * Mag. 36, 1893), mu = mu_r (T / T_r)^(3/2) (T_r + S) / (T + S). The heat
     * flux is -kappa grad T with kappa = gamma / (gamma - 1) mu / Pr.
     */
    template <int dim>
    struct Viscosity
    {
      /// mu_r; 0: no viscosity.
      double reference = 0.;
      /// Pr.
      double prandtl = 0.72;
      /// Whether the viscosity depends on the temperature, T_r and S.
      bool   sutherland            = false;
      double reference_temperature = 1., sutherland_temperature = 0.4;

      template <typename Number>
      TESSELLA_HOST_DEVICE Number
      operator()(const Number &temperature) const
      {
        using namespace PointwiseMath;
        if (!sutherland)
          return Number(reference);
        const Number ratio = (1. / reference_temperature) * temperature;
        return (reference * (reference_temperature + sutherland_temperature)) *
               ratio * sqrt(ratio) / (temperature + sutherland_temperature);
      }

      /// max(4/3, gamma / Pr) mu, for the size of steps in time.
      template <typename Number>
      TESSELLA_HOST_DEVICE Number
      effective(const IdealGas<dim> &gas, const Number &temperature) const
      {
        const double factor = gas.gamma / prandtl;
        return (factor > 4. / 3. ? factor : 4. / 3.) * (*this)(temperature);
      }

      /// kappa over mu.
      TESSELLA_HOST_DEVICE double
      conduction(const IdealGas<dim> &gas) const
      {
        return gas.gamma / ((gas.gamma - 1.) * prandtl);
      }

      /**
       * Viscous flux G(U) grad U, which is linear in @p gradient, an array
       * with derivative d of component c in entry [c][d]: column d of
       * @p f is
       *   (0, tau_id, u_i tau_id + kappa dT/dx_d),
       *   tau = mu (grad u + grad u^T - 2/3 div u I).
       * Without @p heat there is no heat conduction.
       */
      template <typename Number, typename Gradient>
      TESSELLA_HOST_DEVICE void
      flux(const IdealGas<dim> &gas,
           const Number        *u,
           const Gradient      &gradient,
           const bool           heat,
           Number (*f)[dim]) const
      {
        const Number inverse = 1. / u[0];
        Number       velocity[dim], slope[dim][dim], square = Number(0.);
        for (int i = 0; i < dim; ++i)
          {
            velocity[i] = u[1 + i] * inverse;
            square += velocity[i] * velocity[i];
            for (int d = 0; d < dim; ++d)
              slope[i][d] =
                (gradient[1 + i][d] - velocity[i] * gradient[0][d]) * inverse;
          }
        // rho E / rho = T / (gamma - 1) + |u|^2 / 2
        const Number energy      = u[dim + 1] * inverse,
                     temperature = (gas.gamma - 1.) * (energy - 0.5 * square),
                     mu          = (*this)(temperature);
        Number divergence        = slope[0][0];
        for (int i = 1; i < dim; ++i)
          divergence += slope[i][i];
        for (int d = 0; d < dim; ++d)
          {
            f[0][d]     = Number(0.);
            Number work = Number(0.);
            for (int i = 0; i < dim; ++i)
              {
                Number stress = slope[i][d] + slope[d][i];
                if (i == d)
                  stress = stress - (2. / 3.) * divergence;
                f[1 + i][d] = mu * stress;
                work += velocity[i] * f[1 + i][d];
              }
            f[dim + 1][d] = work;
            if (heat)
              {
                Number slope_of_temperature =
                  (gradient[dim + 1][d] - energy * gradient[0][d]) * inverse;
                for (int i = 0; i < dim; ++i)
                  slope_of_temperature =
                    slope_of_temperature - velocity[i] * slope[i][d];
                f[dim + 1][d] += ((gas.gamma - 1.) * conduction(gas)) *
                                 (mu * slope_of_temperature);
              }
          }
      }
    };
  } // namespace Flow
} // namespace Tessella

#endif

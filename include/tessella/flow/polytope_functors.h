// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_polytope_functors_h
#define tessella_flow_polytope_functors_h

#include <tessella/flow/viscosity.h>
#include <tessella/forms/polytope_stencil.h>

// Functors of PolytopewiseOperator for compressible flow.

namespace Tessella
{
  namespace Flow
  {
    /// Largest |u| + c at the points of a polytope, with the viscous part of
    /// NavierStokes::wave_speed(); -1 if a state is not admissible.
    template <int dim>
    struct LargestSpeed
    {
      static constexpr bool point_values = true;

      IdealGas<dim>  gas;
      Viscosity<dim> viscosity;

      TESSELLA_HOST_DEVICE double
      operator()(const PolytopeStencil<dim> &s, double *) const
      {
        const double order   = (2. * s.degree + 1.) / pow(s.measure, 1. / dim);
        double       largest = 0.;
        for (unsigned int q = 0; q < s.n_points; ++q)
          {
            double u[dim + 2];
            for (unsigned int c = 0; c < dim + 2; ++c)
              u[c] = s.value(q, c);
            if (!gas.is_admissible(u))
              return -1.;
            const double temperature = gas.pressure(u) / u[0],
                         speed =
                           sqrt(gas.momentum_squared(u)) / u[0] +
                           sqrt(gas.gamma * temperature) +
                           order * viscosity.effective(gas, temperature) / u[0];
            largest = speed > largest ? speed : largest;
          }
        return largest;
      }
    };



    /**
     * Limiter of X. Zhang and C.-W. Shu, J. Comput. Phys. 229, 2010,
     * 8918-8934: density and pressure become at least @p part of those of the
     * mean state at all points of PolytopeStencil::x, by scaling towards the
     * mean, first the density alone, then all components. Pressure is a concave
     * function of the state, so that the factor (p_m - p_min) / (p_m - p_q) of
     * the smallest p_q suffices (C. Wang, X. Zhang, C.-W. Shu, J. Ning, J.
     * Comput. Phys. 231, 2012, 653-665). Means stay as they are.
     *
     * The result is the factor of all components. A mean that is not admissible
     * has the result -1, and the function is left as it is.
     */
    template <int dim>
    struct PositivityLimiter
    {
      static constexpr bool point_values = true;

      IdealGas<dim> gas;
      double        part = 1e-8;

      TESSELLA_HOST_DEVICE double
      operator()(const PolytopeStencil<dim> &s, double *u) const
      {
        double mean[dim + 2];
        for (unsigned int c = 0; c < dim + 2; ++c)
          mean[c] = s.mean(c);
        if (!gas.is_admissible(mean))
          return -1.;
        const double smallest_density = part * mean[0];
        double       least            = mean[0];
        for (unsigned int q = 0; q < s.n_points; ++q)
          least = s.value(q, 0) < least ? s.value(q, 0) : least;
        const double of_density =
          least < smallest_density
            ? (mean[0] - smallest_density) / (mean[0] - least)
            : 1.;
        if (of_density < 1.)
          s.scale_towards_mean(0, of_density, u);

        const double p = gas.pressure(mean), smallest_pressure = part * p;
        double       theta = 1.;
        for (unsigned int q = 0; q < s.n_points; ++q)
          {
            double v[dim + 2];
            v[0] = mean[0] + of_density * (s.value(q, 0) - mean[0]);
            for (unsigned int c = 1; c < dim + 2; ++c)
              v[c] = s.value(q, c);
            const double p_q = gas.pressure(v);
            if (p_q < smallest_pressure)
              {
                const double t = (p - smallest_pressure) / (p - p_q);
                theta          = t < theta ? t : theta;
              }
          }
        if (theta < 1.)
          {
            // Component 0 has been scaled about the same mean.
            for (unsigned int c = 0; c < dim + 2; ++c)
              s.scale_towards_mean(c, theta, u);
          }
        return theta;
      }
    };
  } // namespace Flow
} // namespace Tessella

#endif

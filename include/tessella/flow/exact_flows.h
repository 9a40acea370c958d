// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_exact_flows_h
#define tessella_flow_exact_flows_h

#include <tessella/flow/boundary_conditions.h>
#include <tessella/flow/viscosity.h>
#include <tessella/portable/jet.h>

// Solutions of the Euler equations in closed form, for host and device, and
// the data of functors that take boundary states from them.

namespace Tessella
{
  namespace Flow
  {
    /**
     * Isentropic vortex in the plane of x and y (J. S. Hesthaven, T. Warburton,
     * Nodal Discontinuous Galerkin Methods, Springer 2008, section 6.6): with f
     * = strength exp(1 - r^2) / (2 pi) and the distance (a, b) from a centre
     * that moves with the velocity (1, 0),
     *   u = (1 - f b, f a, 0),  rho^(gamma-1) = 1 - (gamma - 1) f^2 / (4 gamma)
     * and p = rho^gamma.
     */
    template <int dim>
    struct IsentropicVortex
    {
      double strength = 5., centre[2] = {5., 0.};

      TESSELLA_HOST_DEVICE void
      state(const IdealGas<dim> &gas,
            const double        *x,
            const double         t,
            double              *u) const
      {
        const double a = x[0] - centre[0] - t, b = x[1] - centre[1],
                     f = strength / 6.2831853071795864769 *
                         ::exp(1. - a * a - b * b),
                     gamma   = gas.gamma,
                     base    = 1. - (gamma - 1.) / gamma * 0.25 * f * f,
                     density = ::pow(base, 1. / (gamma - 1.));
        double velocity[dim];
        for (int d = 0; d < dim; ++d)
          velocity[d] = 0.;
        velocity[0] = 1. - f * b;
        velocity[1] = f * a;
        gas.conservative(density, velocity, base * density, u);
      }
    };



    /// Smooth steady flow in the unit square or cube at Mach numbers around
    /// 0.4, which solves the equations with a source.
    template <int dim>
    struct ManufacturedFlow
    {
      /// Density, velocity and pressure; Number may have derivatives.
      template <typename Number>
      TESSELLA_HOST_DEVICE static void
      primitive(const Number *x,
                Number       &density,
                Number       *velocity,
                Number       &pressure)
      {
        using namespace PointwiseMath;
        const Number y = dim == 3 ? x[1] + 0.5 * x[dim - 1] : x[1];
        density        = 1. + 0.15 * sin(2. * x[0] + 1.1 * y);
        pressure       = 1. + 0.15 * cos(1.3 * x[0] - 1.9 * y + 0.4);
        velocity[0]    = 0.4 + 0.12 * sin(1.7 * x[0] + 0.9 * y + 0.3);
        velocity[1]    = 0.2 + 0.1 * cos(1.2 * x[0] - 1.6 * y);
        if constexpr (dim == 3)
          velocity[2] = 0.1 + 0.1 * sin(1.4 * x[0] + 1.5 * x[2] - 0.8 * x[1]);
      }

      TESSELLA_HOST_DEVICE static void
      state(const IdealGas<dim> &gas, const double *x, double *u)
      {
        double density, velocity[dim], pressure;
        primitive(x, density, velocity, pressure);
        gas.conservative(density, velocity, pressure, u);
      }

      /// div F(U).
      TESSELLA_HOST_DEVICE static void
      euler_source(const IdealGas<dim> &gas, const double *x, double *source)
      {
        using Number = Dual<dim>;
        Number y[dim], density, velocity[dim], pressure, u[dim + 2],
          flux[dim + 2][dim];
        for (int d = 0; d < dim; ++d)
          {
            y[d]               = Number(x[d]);
            y[d].derivative[d] = 1.;
          }
        primitive(y, density, velocity, pressure);
        gas.conservative(density, velocity, pressure, u);
        gas.flux(u, flux);
        for (int c = 0; c < dim + 2; ++c)
          {
            source[c] = 0.;
            for (int d = 0; d < dim; ++d)
              source[c] += flux[c][d].derivative[d];
          }
      }

      /// Subtracts div (G(U) grad U) from @p source.
      TESSELLA_HOST_DEVICE static void
      subtract_viscous_source(const IdealGas<dim>  &gas,
                              const Viscosity<dim> &viscosity,
                              const double         *x,
                              double               *source)
      {
        using Number = Jet<dim>;
        Number y[dim], density, velocity[dim], pressure;
        for (int d = 0; d < dim; ++d)
          y[d] = Number::variable(x[d], d);
        primitive(y, density, velocity, pressure);
        const Number temperature = pressure / density,
                     mu          = viscosity(temperature);
        const double conduction  = viscosity.conduction(gas);
        double       divergence  = 0., slope_of_divergence[dim];
        for (int d = 0; d < dim; ++d)
          {
            slope_of_divergence[d] = 0.;
            divergence += velocity[d].gradient[d];
            for (int i = 0; i < dim; ++i)
              slope_of_divergence[d] += velocity[i].hessian[i][d];
          }
        for (int d = 0; d < dim; ++d)
          {
            // Column d of tau and its derivative with respect to x_d.
            for (int i = 0; i < dim; ++i)
              {
                double rate = velocity[i].gradient[d] + velocity[d].gradient[i],
                       change =
                         velocity[i].hessian[d][d] + velocity[d].hessian[i][d];
                if (i == d)
                  {
                    rate -= 2. / 3. * divergence;
                    change -= 2. / 3. * slope_of_divergence[d];
                  }
                const double stress = mu.value * rate,
                             slope  = mu.gradient[d] * rate + mu.value * change;
                source[1 + i] -= slope;
                source[dim + 1] -=
                  velocity[i].gradient[d] * stress + velocity[i].value * slope;
              }
            source[dim + 1] -=
              conduction * (mu.gradient[d] * temperature.gradient[d] +
                            mu.value * temperature.hessian[d][d]);
          }
      }
    };



    /// Flows that ExactFlow knows.
    enum class ExactFlowType
    {
      none,
      vortex,
      manufactured,
      function ///< a function of the host
    };

    /// A flow whose states at points are known.
    template <int dim>
    struct ExactFlow
    {
      ExactFlowType         type = ExactFlowType::none;
      IdealGas<dim>         gas;
      IsentropicVortex<dim> vortex;
      /// Writes the state at x and t; @p object is the first argument. Not
      /// available on a device.
      void (*function)(const void   *object,
                       const double *x,
                       double        t,
                       double       *u) = nullptr;
      const void *object          = nullptr;

      TESSELLA_HOST_DEVICE void
      state(const double *x, const double t, double *u) const
      {
        const double zero = 0.;
        if (type == ExactFlowType::vortex)
          vortex.state(gas, x, t, u);
        else if (type == ExactFlowType::manufactured)
          ManufacturedFlow<dim>::state(gas, x, u);
#ifndef __CUDA_ARCH__
        else if (type == ExactFlowType::function)
          function(object, x, t, u);
#endif
        else
          for (int c = 0; c < dim + 2; ++c)
            u[c] = zero / zero;
      }
    };

    /// Data of Euler and NavierStokes with the states of an exact flow: a
    /// condition whose state has density zero takes its state from the flow,
    /// all others are constant. With @p with_source, the source is that of
    /// ManufacturedFlow.
    template <int dim, bool with_source>
    struct ExactStates
    {
      static constexpr bool has_source = with_source;

      ExactFlow<dim> flow;
      /// For the source.
      Viscosity<dim> viscosity;
      /// Whether the source is not zero.
      bool is_active = true;

      TESSELLA_HOST_DEVICE void
      state(const OperatorPoint<dim>     &p,
            const BoundaryCondition<dim> &condition,
            double                       *u) const
      {
        if (condition.state[0] == 0.)
          flow.state(p.x, p.t, u);
        else
          for (int c = 0; c < dim + 2; ++c)
            u[c] = condition.state[c];
      }
      TESSELLA_HOST_DEVICE void
      source(const OperatorPoint<dim> &p, double *s) const
      {
        if (!is_active)
          {
            for (int c = 0; c < dim + 2; ++c)
              s[c] = 0.;
            return;
          }
        ManufacturedFlow<dim>::euler_source(flow.gas, p.x, s);
        if (viscosity.reference > 0.)
          ManufacturedFlow<dim>::subtract_viscous_source(flow.gas,
                                                         viscosity,
                                                         p.x,
                                                         s);
      }
    };
  } // namespace Flow
} // namespace Tessella

#endif

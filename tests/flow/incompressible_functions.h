// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_flow_incompressible_functions_h
#define tessella_tests_flow_incompressible_functions_h

// A flow whose velocity and pressure are polynomials in space times functions
// of time, for tests of the time stepping.

#include <deal.II/base/function.h>

#include <tessella/flow/incompressible_flow.h>

#include <cmath>

#include "incompressible.h"

/// Velocity a(t) (x^2 y, -x y^2 [, x y]) and pressure b(t) (x^2 - 3 x y + 2 y),
/// a = 1 + moving sin(2 t), b = 1 + moving cos(3 t), with the force that they
/// need.
template <int dim>
class MovingFlow : public Tessella::Flow::FlowFunctions<dim>
{
public:
  using Point = Tessella::OperatorPoint<dim>;

  double viscosity = 0.1, moving = 0.;

  double
  a(const double t) const
  {
    return 1. + moving * std::sin(2. * t);
  }
  double
  b(const double t) const
  {
    return 1. + moving * std::cos(3. * t);
  }
  void
  velocity(const Point &p, double *u) const override
  {
    flow.velocity(p, u);
    scale(a(p.t), u);
  }
  double
  pressure(const Point &p) const override
  {
    return b(p.t) * flow.pressure(p);
  }
  void
  normal_derivative(const Point &p, double *h) const override
  {
    flow.normal_derivative(p, h);
    scale(a(p.t), h);
  }
  bool
  has_force() const override
  {
    return true;
  }
  void
  force(const Point &p, double *f) const override
  {
    double g[3], u[3];
    flow.convection(p, f);
    scale(a(p.t) * a(p.t), f);
    flow.pressure_gradient(p, g);
    flow.velocity(p, u);
    const double derivative = 2. * moving * std::cos(2. * p.t);
    for (int d = 0; d < dim; ++d)
      f[d] += b(p.t) * g[d] + derivative * u[d];
    f[0] -= viscosity * a(p.t) * 2. * p.x[1];
    f[1] += viscosity * a(p.t) * 2. * p.x[0];
  }

private:
  static void
  scale(const double factor, double *u)
  {
    for (int d = 0; d < dim; ++d)
      u[d] *= factor;
  }
  const PolynomialFlow<dim> flow = {};
};

/// Velocity or pressure of a flow as a function of deal.II.
template <int dim>
class FlowFunction : public dealii::Function<dim>
{
public:
  FlowFunction(const Tessella::Flow::FlowFunctions<dim> &flow,
               const unsigned int                        n_components)
    : dealii::Function<dim>(n_components)
    , flow(flow)
  {}
  double
  value(const dealii::Point<dim> &x, const unsigned int c) const override
  {
    Tessella::OperatorPoint<dim> p = {};
    for (int d = 0; d < dim; ++d)
      p.x[d] = x[d];
    p.t = this->get_time();
    double u[3];
    if (this->n_components == 1)
      return flow.pressure(p);
    flow.velocity(p, u);
    return u[c];
  }

private:
  const Tessella::Flow::FlowFunctions<dim> &flow;
};

#endif

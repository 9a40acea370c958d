// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_flow_incompressible_h
#define tessella_tests_flow_incompressible_h

// Data and boundary conditions for tests of incompressible flow.

#include <tessella/flow/incompressible_operators.h>

/// Polynomials without divergence, their pressure and the force that keeps
/// them steady without viscosity: u = (x^2 y, -x y^2 [, x y]) + t, p = x^2 - 3
/// x y + 2 y.
template <int dim>
struct PolynomialFlow
{
  double moving = 0.; ///< factor of t

  TESSELLA_HOST_DEVICE void
  velocity(const Tessella::OperatorPoint<dim> &p, double *u) const
  {
    const double x = p.x[0], y = p.x[1];
    u[0] = x * x * y + moving * p.t;
    u[1] = -x * y * y;
    if (dim == 3)
      u[dim - 1] = x * y;
  }
  TESSELLA_HOST_DEVICE double
  pressure(const Tessella::OperatorPoint<dim> &p) const
  {
    const double x = p.x[0], y = p.x[1];
    return x * x - 3. * x * y + 2. * y + moving * p.t * p.t;
  }
  TESSELLA_HOST_DEVICE void
  pressure_gradient(const Tessella::OperatorPoint<dim> &p, double *g) const
  {
    g[0] = 2. * p.x[0] - 3. * p.x[1];
    g[1] = -3. * p.x[0] + 2.;
    if (dim == 3)
      g[dim - 1] = 0.;
  }
  /// (u . grad) u for moving = 0.
  TESSELLA_HOST_DEVICE void
  convection(const Tessella::OperatorPoint<dim> &p, double *f) const
  {
    const double x = p.x[0], y = p.x[1];
    double       u[3];
    velocity(p, u);
    f[0] = u[0] * 2. * x * y + u[1] * x * x;
    f[1] = -u[0] * y * y - u[1] * 2. * x * y;
    if (dim == 3)
      f[dim - 1] = u[0] * y + u[1] * x;
  }
  TESSELLA_HOST_DEVICE void
  normal_derivative(const Tessella::OperatorPoint<dim> &p, double *h) const
  {
    const double x = p.x[0], y = p.x[1];
    h[0] = 2. * x * y * p.normal[0] + x * x * p.normal[1];
    h[1] = -y * y * p.normal[0] - 2. * x * y * p.normal[1];
    if (dim == 3)
      h[dim - 1] = y * p.normal[0] + x * p.normal[1];
  }
  TESSELLA_HOST_DEVICE void
  force(const Tessella::OperatorPoint<dim> &p, double *f) const
  {
    convection(p, f);
    double g[3];
    pressure_gradient(p, g);
    for (int d = 0; d < dim; ++d)
      f[d] += g[d];
  }
};

/// Condition of every boundary id up to 5, the types in turn.
inline Tessella::Flow::IncompressibleConditions
all_conditions()
{
  using Type = Tessella::Flow::IncompressibleCondition;
  Tessella::Flow::IncompressibleConditions result;
  const Type types[] = {Type::velocity, Type::outflow, Type::symmetry};
  for (unsigned int id = 0; id < 6; ++id)
    result.add(id, types[id % 3]);
  return result;
}

/// Velocity on all boundary ids except the last of the arguments.
inline Tessella::Flow::IncompressibleConditions
velocity_conditions(const unsigned int outflow = Tessella::invalid_index)
{
  using Type = Tessella::Flow::IncompressibleCondition;
  Tessella::Flow::IncompressibleConditions result;
  for (unsigned int id = 0; id < 6; ++id)
    result.add(id, id == outflow ? Type::outflow : Type::velocity);
  return result;
}

#endif

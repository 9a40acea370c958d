// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_flow_states_h
#define tessella_tests_flow_states_h

// States and boundary conditions for tests of compressible flow.

#include <tessella/flow/boundary_conditions.h>

#include <cmath>
#include <vector>

using namespace Tessella;

/// Pseudo-random number in (-1, 1).
inline double
pseudo_random(const unsigned int i)
{
  return std::sin(12.9898 * i + 78.233 * (i % 7));
}

/// Conservative variables of density, velocity and pressure.
template <int dim>
std::vector<double>
state(const double               density,
      const std::vector<double> &velocity,
      const double               pressure)
{
  std::vector<double> u(dim + 2);
  Flow::IdealGas<dim>().conservative(density,
                                     velocity.data(),
                                     pressure,
                                     u.data());
  return u;
}

/// A state with Mach numbers up to about two.
template <int dim>
std::vector<double>
random_state(const unsigned int i)
{
  std::vector<double> velocity(dim);
  for (int d = 0; d < dim; ++d)
    velocity[d] = 2. * pseudo_random(11 * i + d);
  return state<dim>(1. + 0.6 * pseudo_random(11 * i + 5),
                    velocity,
                    1. + 0.7 * pseudo_random(11 * i + 6));
}

/// Unit vector.
template <int dim>
std::vector<double>
random_normal(const unsigned int i)
{
  std::vector<double> n(dim);
  double              square = 0.;
  for (int d = 0; d < dim; ++d)
    {
      n[d] = pseudo_random(13 * i + d + 1);
      square += n[d] * n[d];
    }
  for (int d = 0; d < dim; ++d)
    n[d] /= std::sqrt(square);
  return n;
}

/// Condition with all its values: the flow of @p u, in its direction.
template <int dim>
Flow::BoundaryCondition<dim>
condition(const unsigned int         id,
          const Flow::ConditionType  type,
          const std::vector<double> &u)
{
  const Flow::IdealGas<dim>    gas;
  Flow::BoundaryCondition<dim> result;
  result.boundary_id = id;
  result.type        = type;
  double square      = 0.;
  for (int c = 0; c < dim + 2; ++c)
    result.state[c] = u[c];
  for (int d = 0; d < dim; ++d)
    square += u[1 + d] * u[1 + d];
  for (int d = 0; d < dim; ++d)
    result.direction[d] = u[1 + d] / std::sqrt(square);
  result.pressure    = gas.pressure(u.data());
  result.temperature = result.pressure / u[0];
  // Isentropic flow: T_0 / T = 1 + (gamma - 1) Ma^2 / 2.
  const double ratio =
    1. + 0.5 * (gas.gamma - 1.) * square / (gas.gamma * u[0] * result.pressure);
  result.total_temperature = result.temperature * ratio;
  result.total_pressure =
    result.pressure * std::pow(ratio, gas.gamma / (gas.gamma - 1.));
  return result;
}

/// Conditions of the ids 0, 1, ...
template <int dim>
Flow::BoundaryConditions<dim>
conditions(const std::vector<Flow::ConditionType> &types,
           const std::vector<double>              &u)
{
  Flow::BoundaryConditions<dim> result;
  for (const Flow::ConditionType type : types)
    {
      const unsigned int id = result.n_conditions++;
      result.conditions[id] = condition<dim>(id, type, u);
    }
  return result;
}

#endif

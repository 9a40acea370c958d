// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_flow_incompressible_domain_h
#define tessella_tests_flow_incompressible_domain_h

// Meshes with conditions and errors, for tests of the time stepping.

#include <tessella/numerics/null_space.h>
#include <tessella/numerics/vector_tools.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "../assembly/compare.h"
#include "incompressible_functions.h"

using namespace Tessella;
using Flow::IncompressibleCondition;
using Flow::IncompressibleFlow;
using Flow::IncompressibleParameters;
using Flow::SplittingMethod;

/// Mesh with conditions: velocity, and outflow at the ids given.
template <int dim>
struct Domain
{
  Domain(const std::string               &mesh,
         const std::string               &agglomeration,
         const std::vector<unsigned int> &outflow)
    : agglomeration(make_strategy<dim>(agglomeration))
  {
    make_mesh(mesh, triangulation);
    for (const unsigned int id : triangulation.get_boundary_ids())
      boundary.add(id,
                   std::count(outflow.begin(), outflow.end(), id) > 0
                     ? IncompressibleCondition::outflow
                     : IncompressibleCondition::velocity);
  }
  IncompressibleParameters
  parameters(const SplittingMethod method, const unsigned int order) const
  {
    IncompressibleParameters result;
    result.method          = method;
    result.order           = order;
    result.viscosity       = 0.1;
    result.degree          = 3;
    result.pressure_degree = 2;
    result.boundary        = boundary;
    result.tolerance       = 1e-12;
    return result;
  }
  Triangulation<dim>             triangulation;
  Agglomeration::Strategy<dim>   agglomeration;
  Flow::IncompressibleConditions boundary;
};

inline std::string
name_of(const IncompressibleParameters &p)
{
  return std::string(p.method == SplittingMethod::dual_splitting
                       ? "dual splitting"
                       : "pressure correction") +
         ", order " + std::to_string(p.order);
}

/// L2 error of a vector.
template <int dim>
double
error_of(const AgglomerationHandler<dim> &handler,
         const HostVector<double>        &vector,
         const Function<dim>             &function)
{
  Vector<float>                            difference;
  const typename HostVector<double>::Base &base = vector;
  Tessella::VectorTools::integrate_difference(
    handler, base, function, difference, dealii::VectorTools::L2_norm);
  return Tessella::VectorTools::compute_global_error(
    handler, difference, dealii::VectorTools::L2_norm);
}

/// L2 errors of velocity and pressure.
template <int dim>
std::pair<double, double>
errors(const IncompressibleFlow<dim> &flow, const MovingFlow<dim> &exact)
{
  FlowFunction<dim> u(exact, dim), p(exact, 1);
  u.set_time(flow.time());
  p.set_time(flow.time());
  double             result[2];
  HostVector<double> pressure(flow.pressure());
  result[0] = error_of(flow.velocity_space(), flow.velocity(), u);
  // In closed domains the mean pressure is free: both get that of the
  // projection.
  const auto constants =
    NullSpace<HostVector<double>>::constants(flow.pressure_space());
  HostVector<double>        projection(pressure);
  HostVector<double>::Base &base = projection;
  Tessella::VectorTools::project(flow.pressure_space(), p, base);
  const double free =
    constants.functional(0) * projection - constants.functional(0) * pressure;
  pressure.add(free / (constants.functional(0) * constants.vector(0)),
               constants.vector(0));
  result[1] = error_of(flow.pressure_space(), pressure, p);
  return {result[0], result[1]};
}

inline bool
same_bits(const HostVector<double> &u, const HostVector<double> &v)
{
  return u.size() == v.size() &&
         std::memcmp(u.begin(), v.begin(), sizeof(double) * u.size()) == 0;
}

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// The Navier-Stokes equations as a pointwise operator: derivatives, uniform
// flow, conservation, and the viscous flux.

#include <tessella/flow/navier_stokes.h>
#include <tessella/flow/shock_capturing.h>
#include <tessella/grid/flow_meshes.h>
#include <tessella/grid/mapping_quadratic.h>

#include "../messages.h"
#include "../operators/pointwise.h"
#include "states.h"

using Flow::ConditionType;

template <int dim>
std::vector<double>
uniform()
{
  std::vector<double> velocity(dim, 0.1);
  velocity[0] = 0.5;
  velocity[1] = 0.3;
  return state<dim>(1.2, velocity, 0.9);
}

template <int dim>
Flow::NavierStokes<dim>
make_equations(const bool sutherland)
{
  Flow::NavierStokes<dim> result;
  result.viscosity.reference             = 0.03;
  result.viscosity.sutherland            = sutherland;
  result.viscosity.reference_temperature = 0.8;
  return result;
}

/// Residual, tangent and Jacobian against the slow operator.
template <int dim>
void
test_derivatives(const std::string &name)
{
  const std::vector<std::vector<ConditionType>> types = {
    {ConditionType::adiabatic_wall,
     ConditionType::isothermal_wall,
     ConditionType::given_state,
     ConditionType::slip_wall},
    {ConditionType::far_field,
     ConditionType::pressure,
     ConditionType::supersonic_inflow,
     ConditionType::symmetry},
    {ConditionType::total_pressure,
     ConditionType::supersonic_outflow,
     ConditionType::adiabatic_wall,
     ConditionType::far_field},
  };
  const std::string names[] = {", first", ", second", ", third"};
  for (unsigned int i = 0; i < types.size(); ++i)
    {
      Triangulation<dim> triangulation;
      make_mesh(i == 0 ? "simplices" : "hanging", triangulation);
      if (i == 0)
        for (const auto &cell : triangulation.active_cell_iterators())
          for (const unsigned int f : cell->face_indices())
            if (cell->at_boundary(f))
              cell->face(f)->set_boundary_id(f % (2 * dim));
      AgglomerationHandler<dim> handler(triangulation);
      handler.agglomerate(make_strategy<dim>("scattered"));
      distribute(handler, dim == 2 ? 2 : 1, true, dim + 2);
      Vector<double> u;
      set_field(handler, uniform<dim>(), 0.2, u);
      auto equations = make_equations<dim>(i == 0);
      auto all       = types[i];
      if (dim == 3)
        all.insert(all.end(), 2, ConditionType::adiabatic_wall);
      equations.boundary = conditions<dim>(all, uniform<dim>());
      compare<dim>(
        name + names[i] + " conditions", {&handler}, 0, equations, {u});
    }
}

/// Artificial viscosity beside that of the gas: derivatives, and a residual
/// that is the sum of the terms of both.
template <int dim>
void
test_artificial_viscosity(const std::string &name)
{
  using NavierStokes = Flow::NavierStokes<dim>;
  using Euler        = Flow::Euler<dim>;
  Triangulation<dim> triangulation;
  make_mesh("hanging", triangulation);
  AgglomerationHandler<dim> handler(triangulation), constants(triangulation);
  handler.agglomerate(make_strategy<dim>("scattered"));
  constants.agglomerate(make_strategy<dim>("scattered"));
  distribute(handler, dim == 2 ? 2 : 1, true, dim + 2);
  distribute(constants, 0, false, 1);
  Vector<double> u, eps;
  set_field(handler, uniform<dim>(), 0.2, u);
  set_field(constants, {0.02}, 0.01, eps);
  std::vector<ConditionType> types{ConditionType::adiabatic_wall,
                                   ConditionType::isothermal_wall,
                                   ConditionType::given_state,
                                   ConditionType::slip_wall};
  if (dim == 3)
    types.insert(types.end(), 2, ConditionType::far_field);
  Flow::WithArtificialViscosity<dim, NavierStokes> both;
  static_cast<NavierStokes &>(both) = make_equations<dim>(true);
  both.boundary                     = conditions<dim>(types, uniform<dim>());
  compare<dim>(name + " with artificial viscosity",
               {&handler, &constants},
               0,
               both,
               {u, eps});

  const auto residual = [&](const auto &f, const bool has_eps) {
    FunctorIntegrand<dim, std::decay_t<decltype(f)>> integrand(f);
    integrand.set_coefficient_order(2);
    PointwiseOperator<dim> op(has_eps ? Handlers<dim>{&handler, &constants}
                                      : Handlers<dim>{&handler},
                              0,
                              Comparison<dim, Euler>::host());
    Vector<double> r;
    op.reinit(r);
    if (has_eps)
      op.template residual<Vector<double>>(integrand, {&u, &eps}, r);
    else
      op.template residual<Vector<double>>(integrand, {&u}, r);
    return r;
  };
  Flow::WithArtificialViscosity<dim, Euler> artificial;
  artificial.boundary = both.boundary;
  Vector<double> sum  = residual(both, true);
  const double   size = sum.linfty_norm();
  sum -= residual(static_cast<NavierStokes &>(both), false);
  sum -= residual(artificial, true);
  const Vector<double> convective =
    residual(static_cast<Euler &>(artificial), false);
  sum += convective;
  check_below(name + ", sum of both viscosities",
              sum.linfty_norm() / size,
              1e-13);
  Vector<double> viscous = residual(artificial, true);
  viscous -= convective;
  check(name + ", there is artificial viscosity",
        viscous.linfty_norm() > 1e-3 * size);
}

/// Uniform flow has no residual; a disturbed one keeps its integrals.
template <int dim>
void
test_uniform_flow(const std::string        &name,
                  const Triangulation<dim> &triangulation,
                  const Mapping<dim>       *mapping)
{
  AgglomerationHandler<dim> handler(triangulation, mapping);
  handler.agglomerate(make_strategy<dim>("scattered"));
  for (const unsigned int degree : {1, 3})
    {
      distribute(handler, degree, false, dim + 2);
      auto equations                  = make_equations<dim>(true);
      equations.boundary.n_conditions = 1;
      equations.boundary.conditions[0] =
        condition<dim>(Flow::any_boundary,
                       ConditionType::given_state,
                       uniform<dim>());
      FunctorIntegrand<dim, Flow::NavierStokes<dim>> integrand(equations);
      integrand.set_coefficient_order(4);
      PointwiseOperator<dim> op(handler,
                                Comparison<dim, Flow::Euler<dim>>::host());
      Vector<double>         u, r;
      op.reinit(r);
      set_field(handler, uniform<dim>(), 0., u);
      op.template residual<Vector<double>>(integrand, {&u}, r);
      const std::string what = name + ", degree " + std::to_string(degree);
      check_below(what + ", uniform flow", r.linfty_norm(), 1e-13);

      set_field(handler, uniform<dim>(), 0.2, u);
      op.template residual<Vector<double>>(integrand, {&u}, r);
      std::vector<double> sum(dim + 2, 0.);
      const auto         &mesh = handler.polytopic_mesh();
      const auto         &dofs = handler.polytopic_dofs();
      for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
        {
          double box = 1.;
          for (int d = 0; d < dim; ++d)
            box *= mesh.box[2 * dim * k + dim + d] - mesh.box[2 * dim * k + d];
          for (int c = 0; c < dim + 2; ++c)
            sum[c] +=
              std::sqrt(box) * r(dofs.dof_offset[k] + c * dofs.n_basis[k]);
        }
      for (const auto &flux :
           op.template integrate_boundary<Vector<double>>(integrand, {&u}))
        for (int c = 0; c < dim + 2; ++c)
          sum[c] -= flux.second[c];
      double largest = 0.;
      for (int c = 0; c < dim + 2; ++c)
        largest = std::max(largest, std::abs(sum[c]));
      check(what + ", disturbed flow has a residual", r.linfty_norm() > 1e-3);
      check_below(what + ", conservation", largest / r.linfty_norm(), 1e-12);
    }
}

/// Viscous flux of a linear velocity and temperature, by hand.
void
test_flux()
{
  const Flow::IdealGas<2> gas;
  Flow::Viscosity<2>      viscosity;
  viscosity.reference = 0.1;
  viscosity.prandtl   = 0.7;
  // rho = 2, u = (3, 1), T = 5; grad rho = (1, -1), grad u = ((1, 2), (4, 3)),
  // grad T = (2, 6).
  const double rho = 2., T = 5., c_v = 1. / (gas.gamma - 1.);
  const double velocity[2] = {3., 1.}, slope[2][2] = {{1., 2.}, {4., 3.}},
               rho_slope[2] = {1., -1.}, T_slope[2] = {2., 6.};
  double u[4], gradient[4][2], f[4][2];
  gas.conservative(rho, velocity, rho * T, u);
  for (int d = 0; d < 2; ++d)
    {
      gradient[0][d] = rho_slope[d];
      gradient[3][d] = rho_slope[d] * (c_v * T + 5.) + rho * c_v * T_slope[d];
      for (int i = 0; i < 2; ++i)
        {
          gradient[1 + i][d] = rho_slope[d] * velocity[i] + rho * slope[i][d];
          gradient[3][d] += rho * velocity[i] * slope[i][d];
        }
    }
  viscosity.flux(gas, u, gradient, true, f);
  // div u = 4; tau = 0.1 ((2 - 8/3, 6), (6, 6 - 8/3)); kappa = 0.5.
  const double tau[2][2] = {{-0.2 / 3., 0.6}, {0.6, 1. / 3.}},
               kappa     = 1.4 / 0.4 * 0.1 / 0.7;
  double difference      = 0.;
  for (int d = 0; d < 2; ++d)
    {
      difference  = std::max(difference, std::abs(f[0][d]));
      double work = kappa * T_slope[d];
      for (int i = 0; i < 2; ++i)
        {
          difference = std::max(difference, std::abs(f[1 + i][d] - tau[i][d]));
          work += velocity[i] * tau[i][d];
        }
      difference = std::max(difference, std::abs(f[3][d] - work));
    }
  check_below("Viscous flux by hand", difference, 1e-13);
  viscosity.sutherland             = true;
  viscosity.reference_temperature  = 2.;
  viscosity.sutherland_temperature = 1.;
  check_below("Sutherland's law",
              std::abs(viscosity(8.) - 0.1 * 8. * 3. / 9.),
              1e-15);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  test_flux();
  test_derivatives<2>("2-D");
  test_derivatives<3>("3-D");
  test_artificial_viscosity<2>("2-D");
  test_artificial_viscosity<3>("3-D");
  {
    Triangulation<2>       triangulation;
    FlowMeshes::Resolution resolution;
    resolution.simplices = true;
    resolution.n_cells   = 4;
    FlowMeshes::sphere<2>(triangulation, resolution, 0.5, 2.);
    const MappingQuadratic<2> mapping(triangulation);
    test_uniform_flow<2>("2-D, curved triangles", triangulation, &mapping);
  }
  {
    Triangulation<3> triangulation;
    make_mesh("simplices", triangulation);
    test_uniform_flow<3>("3-D, tetrahedra", triangulation, nullptr);
  }
}

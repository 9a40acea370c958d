// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// The Euler equations as a pointwise operator: derivatives, uniform flow,
// conservation, and mistakes.

#include <tessella/flow/check_conditions.h>
#include <tessella/flow/euler.h>
#include <tessella/grid/flow_meshes.h>
#include <tessella/grid/mapping_quadratic.h>

#include <limits>

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
std::vector<ConditionType>
all_types(const bool first)
{
  std::vector<ConditionType> types =
    first ? std::vector<ConditionType>{ConditionType::far_field,
                                       ConditionType::pressure,
                                       ConditionType::slip_wall,
                                       ConditionType::symmetry}
          : std::vector<ConditionType>{ConditionType::total_pressure,
                                       ConditionType::supersonic_outflow,
                                       ConditionType::given_state,
                                       ConditionType::supersonic_inflow};
  if (dim == 3)
    {
      types.push_back(ConditionType::far_field);
      types.push_back(ConditionType::slip_wall);
    }
  return types;
}

/// Residual, tangent and Jacobian against the slow operator.
template <int dim, typename FluxType>
void
test_derivatives(const std::string &name)
{
  for (const bool first : {true, false})
    {
      Triangulation<dim> triangulation;
      make_mesh(first ? "simplices" : "hanging", triangulation);
      if (first)
        for (const auto &cell : triangulation.active_cell_iterators())
          for (const unsigned int f : cell->face_indices())
            if (cell->at_boundary(f))
              cell->face(f)->set_boundary_id(f % (2 * dim));
      AgglomerationHandler<dim> handler(triangulation);
      handler.agglomerate(make_strategy<dim>("scattered"));
      distribute(handler, 2, true, dim + 2);
      Vector<double> u;
      set_field(handler, uniform<dim>(), 0.3, u);
      Flow::Euler<dim, FluxType> euler;
      euler.boundary = conditions<dim>(all_types<dim>(first), uniform<dim>());
      compare<dim>(name + (first ? ", first" : ", second") + " conditions",
                   {&handler},
                   0,
                   euler,
                   {u});
    }
}

/// Uniform flow has no residual; a disturbed one keeps its integrals.
template <int dim>
void
test_uniform_flow(const std::string         &name,
                  Triangulation<dim>        &triangulation,
                  const Mapping<dim>        *mapping,
                  const std::string         &agglomeration,
                  std::vector<ConditionType> types,
                  const std::vector<double> &flow)
{
  AgglomerationHandler<dim> handler(triangulation, mapping);
  handler.agglomerate(make_strategy<dim>(agglomeration));
  for (const unsigned int degree : {0, 1, 3})
    {
      distribute(handler, degree, false, dim + 2);
      Flow::Euler<dim> euler;
      euler.boundary = conditions<dim>(types, flow);
      FunctorIntegrand<dim, Flow::Euler<dim>> integrand(euler);
      integrand.set_coefficient_order(4);
      PointwiseOperator<dim> op(handler,
                                Comparison<dim, Flow::Euler<dim>>::host());
      Vector<double>         u, r;
      op.reinit(r);
      set_field(handler, flow, 0., u);
      op.template residual<Vector<double>>(integrand, {&u}, r);
      const std::string what = name + ", degree " + std::to_string(degree);
      // Rounding errors are relative to the flux.
      double size = 1., flux[dim + 2][dim];
      euler.gas.flux(flow.data(), flux);
      for (int c = 0; c < dim + 2; ++c)
        for (int d = 0; d < dim; ++d)
          size = std::max(size, std::abs(flux[c][d]));
      check_below(what + ", uniform flow", r.linfty_norm() / size, 1e-13);

      set_field(handler, flow, 0.2, u);
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
      check_below(what + ", conservation", largest, 2e-13);
    }
}

template <int dim>
void
test_uniform_flows()
{
  const std::string  name = std::to_string(dim) + "-D, ";
  Triangulation<dim> triangulation;
  for (const std::string mesh : {"distorted", "simplices"})
    {
      make_mesh(mesh, triangulation);
      test_uniform_flow<dim>(
        name + mesh,
        triangulation,
        nullptr,
        "steps",
        std::vector<ConditionType>(mesh == "simplices" ? 1 : 2 * dim,
                                   ConditionType::far_field),
        uniform<dim>());
    }
  // Flow along a channel: walls, inflow and outflow.
  make_mesh("hanging", triangulation);
  std::vector<ConditionType> channel{ConditionType::total_pressure,
                                     ConditionType::pressure,
                                     ConditionType::slip_wall,
                                     ConditionType::symmetry};
  if (dim == 3)
    channel.insert(channel.end(), 2, ConditionType::slip_wall);
  std::vector<double> along(dim, 0.);
  along[0] = 0.5;
  test_uniform_flow<dim>(name + "channel",
                         triangulation,
                         nullptr,
                         "scattered",
                         channel,
                         state<dim>(1.2, along, 0.9));
  channel[0] = ConditionType::supersonic_inflow;
  channel[1] = ConditionType::supersonic_outflow;
  along[0]   = 2.5;
  test_uniform_flow<dim>(name + "fast channel",
                         triangulation,
                         nullptr,
                         "none",
                         channel,
                         state<dim>(1.2, along, 0.9));
  // Curved simplices.
  FlowMeshes::Resolution resolution;
  resolution.simplices = true;
  resolution.n_cells   = dim == 2 ? 2 : 8;
  resolution.n_slices  = 2;
  triangulation.clear();
  if (dim == 2)
    FlowMeshes::sphere(triangulation, resolution, 0.5, 1.5);
  else
    FlowMeshes::bump(triangulation, resolution);
  const MappingQuadratic<dim> mapping(triangulation);
  test_uniform_flow<dim>(name + "curved simplices",
                         triangulation,
                         &mapping,
                         "scattered",
                         std::vector<ConditionType>(dim == 2 ? 3 : 6,
                                                    ConditionType::far_field),
                         uniform<dim>());
}



template <int dim>
void
test_mistakes()
{
  Triangulation<dim> triangulation;
  make_mesh("distorted", triangulation);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(make_strategy<dim>("none"));
  const std::vector<ConditionType> types(4, ConditionType::far_field);
  Flow::IdealGas<dim>              gas;
  auto       good    = conditions<dim>(types, uniform<dim>());
  const auto message = [&](const Flow::BoundaryConditions<dim> &boundary) {
    return message_of(
      [&]() { Flow::check_boundary_conditions(handler, gas, boundary); });
  };
  check("good conditions", message(good) == "no exception");
  auto wrong         = good;
  wrong.n_conditions = 3;
  check("an id without a condition",
        contains(message(wrong), "Boundary id 3 has no boundary condition"));
  wrong                           = good;
  wrong.conditions[4]             = good.conditions[3];
  wrong.conditions[4].boundary_id = 7;
  wrong.n_conditions              = 5;
  check("an id that the mesh does not have",
        contains(message(wrong), "id 7, which the mesh does not have"));
  wrong.conditions[4].boundary_id = 2;
  check("two conditions",
        contains(message(wrong), "two conditions for boundary id 2"));
  wrong.conditions[3].boundary_id = wrong.conditions[4].boundary_id =
    Flow::any_boundary;
  check("two conditions for all other ids",
        contains(message(wrong), "two conditions for all other boundary ids"));
  for (int c = 0; c < dim + 2; ++c)
    {
      std::vector<double> infinite = uniform<dim>();
      infinite[c]                  = std::numeric_limits<double>::infinity();
      check("an infinite entry", !gas.is_admissible(infinite.data()));
    }
  wrong                        = good;
  wrong.conditions[1].state[0] = -1.;
  check("negative density",
        contains(message(wrong),
                 "The given state at boundary id 1 has the density -1"));
  wrong.conditions[1].state[dim + 1] = std::nan("");
  check("a state that is not finite",
        contains(message(wrong), "boundary id 1 has entries that are not"));
  wrong                        = good;
  wrong.conditions[2].type     = ConditionType::pressure;
  wrong.conditions[2].pressure = 0.;
  check("pressure of zero",
        contains(message(wrong), "boundary id 2 is 0, but must be positive"));
  wrong.conditions[2].type         = ConditionType::total_pressure;
  wrong.conditions[2].direction[0] = 3.;
  check("a direction that is no unit vector",
        contains(message(wrong), "must be a unit vector"));
  wrong                           = good;
  wrong.conditions[0].boundary_id = Flow::any_boundary;
  check("a condition for all other ids", message(wrong) == "no exception");
  gas.gamma = 1.;
  check("gamma", contains(message(good), "gamma of specific heats is 1, but"));

  // Without the check, the operator finds the missing condition.
  distribute(handler, 1, false, dim + 2);
  Flow::Euler<dim> euler;
  euler.boundary              = good;
  euler.boundary.n_conditions = 3;
  FunctorIntegrand<dim, Flow::Euler<dim>> integrand(euler);
  PointwiseOperator<dim>                  op(handler);
  Vector<double>                          u, r;
  op.reinit(r);
  set_field(handler, uniform<dim>(), 0., u);
  const std::string text = message_of(
    [&]() { op.template residual<Vector<double>>(integrand, {&u}, r); });
  check("a missing condition in the operator", contains(text, "finite"));
}



int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, n_threads());
  initlog();
  test_derivatives<2, Flow::HLLC>("2-D, HLLC");
  test_derivatives<2, Flow::HLL>("2-D, HLL");
  test_derivatives<2, Flow::HLLOfMeans>("2-D, HLL of means");
  test_derivatives<2, Flow::Roe>("2-D, Roe");
  test_derivatives<2, Flow::Rusanov>("2-D, Rusanov");
  test_derivatives<2, Flow::FrozenHLLC>("2-D, frozen HLLC");
  test_derivatives<2, Flow::FrozenHLL>("2-D, frozen HLL");
  test_derivatives<2, Flow::FrozenRoe>("2-D, frozen Roe");
  test_derivatives<2, Flow::FrozenRusanov>("2-D, frozen Rusanov");
  test_derivatives<3, Flow::ChosenFlux>("3-D, chosen flux");
  test_uniform_flows<2>();
  test_uniform_flows<3>();
  test_mistakes<2>();
}

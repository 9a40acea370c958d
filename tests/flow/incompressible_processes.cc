// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Operators of incompressible flow, and its splitting methods where multigrid
// joins no polytopes and these keep their numbers, have the same bits for every
// number of processes.

#include <tessella/forms/functor_integrand.h>
#include <tessella/lac/host_vector.h>
#include <tessella/operators/pointwise_operator.h>

#include "../mpi/cases.h"
#include "../tests.h"
#include "incompressible_functions.h"

using Results = std::vector<std::uint64_t>;

/// Coefficients that depend on the polytope alone.
template <int dim>
HostVector<double>
make_field(const AgglomerationHandler<dim> &handler, const double phase)
{
  HostVector<double> u(handler.locally_owned_dofs(),
                       handler.get_communicator());
  const auto        &mesh = handler.polytopic_mesh();
  const auto        &dofs = handler.polytopic_dofs();
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    for (unsigned int i = 0; i < dofs.n_basis[k] * dofs.n_components; ++i)
      *(u.begin() + dofs.dof_offset[k] + i) =
        std::sin(phase + i + 3. * mesh.box[2 * dim * k] +
                 7. * mesh.box[2 * dim * k + dim + 1]) /
        (1. + i % dofs.n_basis[k]);
  return u;
}

template <int dim, typename F>
void
add_result(const typename PointwiseOperator<dim>::Handlers &handlers,
           const F                                         &f,
           Results                                         &results)
{
  typename PointwiseOperator<dim>::AdditionalData data;
  data.backend = Backend::host;
  PointwiseOperator<dim>   op(handlers, 0, data);
  FunctorIntegrand<dim, F> integrand(f);
  integrand.set_time(0.3);
  std::vector<HostVector<double>> fields;
  for (unsigned int i = 0; i < handlers.size(); ++i)
    fields.push_back(make_field(*handlers[i], 0.3 * i));
  std::vector<const HostVector<double> *> pointers;
  for (const auto &field : fields)
    pointers.push_back(&field);
  HostVector<double> r;
  op.reinit(r);
  op.residual(integrand, pointers, r);
  results.push_back(digest_of_vector(*handlers[0], r));
}

template <int dim>
Results
compute(const Triangulation<dim>           &triangulation,
        const Agglomeration::Strategy<dim> &strategy)
{
  using Data = PolynomialFlow<dim>;
  Results                   results;
  AgglomerationHandler<dim> velocity(triangulation), pressure(triangulation),
    constant(triangulation);
  for (auto *handler : {&velocity, &pressure, &constant})
    handler->agglomerate(strategy);
  const auto space = PolynomialSpaceType::total_degree;
  distribute_by_position(velocity, {{2, 3}}, space, dim);
  distribute_by_position(pressure, {{1, 2}}, space, 1);
  distribute_by_position(constant, {{0, 0}}, space, 1);
  const auto                  boundary = all_conditions();
  Flow::Convection<dim, Data> convection;
  convection.boundary = boundary;
  add_result<dim>({&velocity}, convection, results);
  Flow::PressureGradient<dim, Data> gradient;
  gradient.boundary = boundary;
  add_result<dim>({&velocity, &pressure}, gradient, results);
  Flow::VelocityDivergence<dim, Data> divergence;
  divergence.boundary = boundary;
  add_result<dim>({&pressure, &velocity}, divergence, results);
  add_result<dim>({&velocity, &velocity, &constant},
                  Flow::DivergencePenalty<dim>(),
                  results);
  return results;
}

/// Some steps of each splitting method.
template <int dim>
Results
compute_flow(const Triangulation<dim>           &triangulation,
             const Agglomeration::Strategy<dim> &strategy,
             const unsigned int                  n_boundary_ids)
{
  using Method = Flow::SplittingMethod;
  MovingFlow<dim> functions;
  functions.moving = 0.5;
  Results results;
  for (const Method method :
       {Method::dual_splitting, Method::pressure_correction})
    {
      Flow::IncompressibleParameters p;
      p.method            = method;
      p.order             = method == Method::dual_splitting ? 3 : 2;
      p.viscosity         = 0.1;
      p.tolerance         = 1e-6;
      p.pressure_smoother = MultigridSmoother::chebyshev;
      for (unsigned int id = 0; id < n_boundary_ids; ++id)
        p.boundary.add(id,
                       id == 1 ? Flow::IncompressibleCondition::outflow
                               : Flow::IncompressibleCondition::velocity);
      // Without given temperatures the integral of T is corrected.
      using Type                = Flow::TemperatureCondition;
      p.temperature.enabled     = true;
      p.temperature.diffusivity = 0.05;
      p.temperature.expansion   = 0.7;
      p.temperature.gravity     = {{0., -1., 0.}};
      p.temperature.reference   = 0.3;
      for (unsigned int id = 0; id < n_boundary_ids; ++id)
        p.temperature.boundary.add(id,
                                   id == 0 && method == Method::dual_splitting
                                     ? Type::temperature
                                     : Type::heat_flux);
      Flow::IncompressibleFlow<dim> flow(
        triangulation, nullptr, strategy, functions, p);
      flow.initialize(0., FlowFunction<dim>(functions, dim));
      for (const double dt : {0.01, 0.012, 0.01})
        flow.step(dt);
      results.push_back(
        digest_of_vector(flow.velocity_space(), flow.velocity()));
      results.push_back(
        digest_of_vector(flow.pressure_space(), flow.pressure()));
      results.push_back(
        digest_of_vector(flow.temperature_space(), flow.temperature()));
    }
  return results;
}

template <int dim>
void
report(const std::string &what, const std::vector<Results> &results)
{
  const std::string name = std::to_string(dim) + "-D, " + what;
  for (unsigned int n = 1; n < results.size(); ++n)
    for (unsigned int i = 0; i < results[0].size(); ++i)
      check(name + ": result " + std::to_string(i) + " on " +
              std::to_string(n + 1) + " processes",
            results[n][i] == results[0][i]);
}

template <int dim>
void
test()
{
  report<dim>("periodic, hanging nodes",
              for_numbers_of_processes<Results>([](const MPI_Comm comm) {
                auto triangulation = shared_mesh<dim>(comm);
                make_periodic(triangulation, 1, dim == 2 ? 3 : 2);
                return compute<dim>(triangulation, Agglomeration::none<dim>());
              }));
  report<dim>("agglomerates of simplices",
              for_numbers_of_processes<Results>([](const MPI_Comm comm) {
                parallel::fullydistributed::Triangulation<dim> triangulation(
                  comm);
                const auto strategy = distribute_simplices(triangulation);
                return compute<dim>(triangulation, strategy);
              }));
}

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  initlog();
  test<2>();
  test<3>();
  report<2>("splitting methods",
            for_numbers_of_processes<Results>([](const MPI_Comm comm) {
              auto triangulation = shared_mesh<2>(comm);
              GridGenerator::hyper_cube(triangulation, 0., 1., true);
              triangulation.refine_global(2);
              refine(triangulation,
                     [](const Point<2> &center) { return center[0] < 0.3; });
              return compute_flow<2>(triangulation,
                                     Agglomeration::none<2>(),
                                     4);
            }));
}

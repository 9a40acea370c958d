// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Operators of incompressible flow, and its splitting methods where multigrid
// joins no polytopes and these keep their numbers, have the same bits for every
// number of processes, also after a restart. With ILU(0), whose factors are
// those of each process, results agree to the tolerance of the solvers. The
// matrix of all components that devices have is that of one component for each.

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/forms/functor_integrand.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/operators/pointwise_operator.h>

#include <algorithm>
#include <array>

#include "../../source/flow/incompressible_device.h"
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

/// Parameters of a flow through the part 1 of the boundary.
template <int dim>
Flow::IncompressibleParameters
flow_parameters(const Flow::SplittingMethod method)
{
  const bool dual = method == Flow::SplittingMethod::dual_splitting;
  Flow::IncompressibleParameters p;
  p.method            = method;
  p.order             = dual ? 3 : 2;
  p.viscosity         = 0.1;
  p.tolerance         = 1e-6;
  p.pressure_smoother = MultigridSmoother::chebyshev;
  for (unsigned int id = 0; id < 2 * dim; ++id)
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
  for (unsigned int id = 0; id < 2 * dim; ++id)
    p.temperature.boundary.add(id,
                               id == 0 && dual ? Type::temperature
                                               : Type::heat_flux);
  return p;
}

template <int dim>
void
add_state(const Flow::IncompressibleFlow<dim> &flow, Results &results)
{
  results.push_back(digest_of_vector(flow.velocity_space(), flow.velocity()));
  results.push_back(digest_of_vector(flow.pressure_space(), flow.pressure()));
  results.push_back(
    digest_of_vector(flow.temperature_space(), flow.temperature()));
}

/// Some steps of each splitting method, and of dual splitting with subcycles.
/// A restart must have the same bits on the same number of processes.
template <int dim>
Results
compute_flow(const Triangulation<dim>           &triangulation,
             const Agglomeration::Strategy<dim> &strategy,
             const bool                          with_subcycles)
{
  using Method = Flow::SplittingMethod;
  MovingFlow<dim> functions;
  functions.moving = 0.5;
  Results results;
  for (const unsigned int n_subcycles : {0, 2})
    for (const Method method :
         {Method::dual_splitting, Method::pressure_correction})
      {
        if (n_subcycles > 0 &&
            (!with_subcycles || method == Method::pressure_correction))
          continue;
        auto p        = flow_parameters<dim>(method);
        p.n_subcycles = n_subcycles;
        Flow::IncompressibleFlow<dim> flow(
          triangulation, nullptr, strategy, functions, p),
          again(triangulation, nullptr, strategy, functions, p);
        flow.initialize(0., FlowFunction<dim>(functions, dim));
        for (const double dt : {0.01, 0.012})
          flow.step(dt);
        // Groups of processes work at different times.
        flow.write_state("state");
        again.read_state("state");
        Results with_restart, without;
        for (const double dt : {0.01, 0.012})
          {
            flow.step(dt);
            again.step(dt);
          }
        add_state(flow, without);
        add_state(again, with_restart);
        results.insert(results.end(), without.begin(), without.end());
        results.push_back(with_restart == without);
      }
  return results;
}

/// Energy and enstrophy, norm of the pressure, and the largest number of
/// iterations for the pressure with factors of ILU(0) of each process.
template <int dim>
std::array<double, 4>
compute_ilu(const Triangulation<dim> &triangulation)
{
  MovingFlow<dim> functions;
  functions.moving = 0.5;
  auto p      = flow_parameters<dim>(Flow::SplittingMethod::dual_splitting);
  p.tolerance = 1e-9;
  p.pressure_smoother   = MultigridSmoother::ilu;
  p.temperature.enabled = false;
  Flow::IncompressibleFlow<dim> flow(
    triangulation, nullptr, Agglomeration::none<dim>(), functions, p);
  flow.initialize(0., FlowFunction<dim>(functions, dim));
  unsigned int iterations = 0;
  for (const double dt : {0.01, 0.012, 0.01})
    {
      flow.step(dt);
      iterations = std::max(iterations, flow.report().pressure_iterations);
    }
  const auto energy = flow.energy_and_enstrophy();
  return {{energy.first,
           energy.second,
           flow.pressure().l2_norm(),
           double(iterations)}};
}

/// Products with the matrix of all components and with that of one component.
template <int dim>
bool
same_products(const Triangulation<dim> &triangulation)
{
  AgglomerationHandler<dim> velocity(triangulation), scalar(triangulation);
  for (auto *handler : {&velocity, &scalar})
    handler->agglomerate(Agglomeration::none<dim>());
  const auto space = PolynomialSpaceType::total_degree;
  distribute_by_position(velocity, {{1, 2}}, space, dim);
  distribute_by_position(scalar, {{1, 2}}, space, 1);
  AdvectionDiffusionReaction<dim> form;
  form.set_diffusion(1.);
  BoundaryCondition<dim> condition;
  condition.type = BoundaryType::dirichlet;
  form.set_default_boundary_condition(condition);
  AssemblyParameters parameters;
  parameters.backend = Backend::host;
  PolytopicAssembler<dim> assembler(scalar, parameters);
  HostBlockMatrix<double> one, all;
  assembler.reinit(one);
  assembler.assemble_matrix(form, one);

  const BlockSparsity     &of_one = one.block_sparsity();
  const PolytopicDoFs     &dofs   = scalar.polytopic_dofs();
  const HostVector<double> u      = make_field(velocity, 0.2);
  HostVector<double>       product(u),
    x(scalar.locally_owned_dofs(), scalar.get_communicator()), y(x);
  bool same = true;
  for (const bool shared : {false, true})
    {
      const ComponentRows rows(of_one, dofs.dof_offset, dim, shared);
      std::vector<double> values;
      const auto          factor = [&](const unsigned int c) {
        return shared ? 1. : c + 1.;
      };
      for (unsigned int k = 0; k < scalar.n_polytopes(); ++k)
        for (unsigned int c = 0; c < (shared ? 1 : dim); ++c)
          for (std::uint64_t i = of_one.value_offset[k];
               i < of_one.value_offset[k + 1];
               ++i)
            values.push_back(factor(c) * one.values()[i]);
      all.reinit(rows.sparsity,
                 rows.dof_offset,
                 Flow::internal::partition_of_components(velocity,
                                                         rows.dof_offset));
      all.copy_from(values);
      all.vmult(product, u);
      for (unsigned int c = 0; c < dim; ++c)
        {
          const auto for_entries = [&](const auto &work) {
            const auto &offset = velocity.polytopic_dofs().dof_offset;
            for (unsigned int k = 0; k < scalar.n_polytopes(); ++k)
              for (unsigned int i = 0; i < dofs.n_basis[k]; ++i)
                work(dofs.dof_offset[k] + i,
                     offset[k] + c * dofs.n_basis[k] + i);
          };
          for_entries([&](const std::size_t i, const std::size_t j) {
            *(x.begin() + i) = *(u.begin() + j);
          });
          one.vmult(y, x);
          const double size = y.linfty_norm();
          for_entries([&](const std::size_t i, const std::size_t j) {
            const double expected = factor(c) * *(y.begin() + i);
            same                  = same &&
                   std::abs(*(product.begin() + j) - expected) <= 1e-12 * size;
          });
        }
    }
  return Utilities::MPI::min(same ? 1 : 0, scalar.get_communicator()) == 1;
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

/// A mesh with hanging nodes.
template <int dim>
void
make_flow_mesh(Triangulation<dim> &triangulation)
{
  GridGenerator::hyper_cube(triangulation, 0., 1., true);
  triangulation.refine_global(dim == 2 ? 2 : 1);
  refine(triangulation, [](const Point<dim> &center) {
    return center[0] < 0.3 && (dim == 2 || center[1] < 0.3);
  });
}

template <int dim>
void
test_flow()
{
  const auto results =
    for_numbers_of_processes<Results>([](const MPI_Comm comm) {
      auto triangulation = shared_mesh<dim>(comm);
      make_flow_mesh(triangulation);
      return compute_flow<dim>(triangulation,
                               Agglomeration::none<dim>(),
                               dim == 2);
    });
  report<dim>("splitting methods", results);
  const std::string name = std::to_string(dim) + "-D, ";
  for (unsigned int n = 0; n < results.size(); ++n)
    for (unsigned int i = 3; i < results[n].size(); i += 4)
      check(name + "restart " + std::to_string(i / 4) + " on " +
              std::to_string(n + 1) + " processes",
            results[n][i] == 1);
  const auto with_ilu =
    for_numbers_of_processes<std::array<double, 4>>([](const MPI_Comm comm) {
      auto triangulation = shared_mesh<dim>(comm);
      make_flow_mesh(triangulation);
      return compute_ilu<dim>(triangulation);
    });
  for (unsigned int n = 0; n < with_ilu.size(); ++n)
    {
      const std::string ilu =
        name + "ILU on " + std::to_string(n + 1) + " processes, ";
      check_below(ilu + "iterations", with_ilu[n][3], 25);
      for (unsigned int i = 0; i < 3; ++i)
        check_close(ilu + "result " + std::to_string(i),
                    with_ilu[n][i] / with_ilu[0][i],
                    1.,
                    1e-7);
    }
}

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  initlog();
  test<2>();
  test<3>();
  for (const bool same :
       for_numbers_of_processes<bool>([](const MPI_Comm comm) {
         auto triangulation = shared_mesh<2>(comm);
         make_periodic(triangulation, 1, 3);
         return same_products<2>(triangulation);
       }))
    check("matrix of all components", same);
  test_flow<2>();
  test_flow<3>();
}

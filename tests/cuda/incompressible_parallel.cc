// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Incompressible flow on CUDA devices by several processes, which may share a
// device: operators and flows after some steps agree with the host, and a
// restart has the same bits. Argument: 2d or 3d. Returns 77 without a device.

#include <tessella/device/cuda_device.h>
#include <tessella/grid/matching.h>
#include <tessella/lac/device_vector.h>
#include <tessella/operators/pointwise_operator.h>

#include <filesystem>
#include <iostream>

#include "../../source/flow/flow_integrand.h"
#include "../mpi/cases.h"
#include "device_flow.h"

using Flow::IncompressibleFlow;
using Flow::IncompressibleParameters;
using Flow::SplittingMethod;

namespace
{
  using Values = std::map<std::string, double>;

  double
  relative_difference(const HostVector<double> &a, const HostVector<double> &b)
  {
    HostVector<double> difference(a);
    difference -= b;
    return difference.linfty_norm() / b.linfty_norm();
  }

  /// Convection with data of the flow, and the penalties, which have fields on
  /// both sides of facets.
  template <int dim, typename F>
  double
  difference_of_residuals(
    const typename PointwiseOperator<dim>::Handlers &handlers,
    const F                                         &f,
    const std::string                               &type,
    const std::string                               &arguments,
    const Flow::FlowFunctions<dim>                  *functions)
  {
    Flow::internal::FlowIntegrand<dim, F> integrand(type, arguments, functions);
    integrand.functor() = f;
    integrand.set_coefficient_order(3);
    integrand.set_time(0.7);
    std::vector<HostVector<double>>           fields;
    std::vector<DeviceVector<double>>         copies;
    std::vector<const HostVector<double> *>   on_host;
    std::vector<const DeviceVector<double> *> on_device;
    for (const auto *handler : handlers)
      {
        fields.emplace_back(handler->locally_owned_dofs(),
                            handler->get_communicator());
        std::vector<double> values;
        for (std::size_t i = 0; i < fields.back().locally_owned_size(); ++i)
          values.push_back(std::sin(1.3 * i + fields.size()));
        std::copy(values.begin(), values.end(), fields.back().begin());
        copies.emplace_back();
        copies.back().reinit(handler->locally_owned_dofs(),
                             handler->get_communicator());
        copies.back().copy_from(values);
      }
    for (unsigned int i = 0; i < fields.size(); ++i)
      {
        on_host.push_back(&fields[i]);
        on_device.push_back(&copies[i]);
      }
    AssemblyParameters host, cuda;
    host.backend = Backend::host;
    cuda.backend = Backend::cuda;
    PointwiseOperator<dim> host_op(handlers, 0, host),
      cuda_op(handlers, 0, cuda);
    HostVector<double> expected;
    host_op.reinit(expected);
    host_op.template residual<HostVector<double>>(integrand, on_host, expected);
    DeviceVector<double> r;
    cuda_op.reinit(r);
    cuda_op.template residual<DeviceVector<double>>(integrand, on_device, r);
    std::vector<double> values;
    r.copy_to(values);
    HostVector<double> result(expected);
    std::copy(values.begin(), values.end(), result.begin());
    return relative_difference(result, expected);
  }

  template <int dim>
  void
  compare_operators(const Triangulation<dim>           &triangulation,
                    const Agglomeration::Strategy<dim> &strategy,
                    Values                             &values)
  {
    DeviceFlow<dim> functions;
    functions.moving = 0.5;
    AgglomerationHandler<dim> velocity(triangulation), constant(triangulation);
    for (auto *handler : {&velocity, &constant})
      handler->agglomerate(strategy);
    velocity.distribute_dofs(
      FESystem<dim>(FE_BoundingBoxLegendre<dim>(3), dim));
    constant.distribute_dofs(FE_BoundingBoxLegendre<dim>(0));
    Flow::Convection<dim, Flow::FlowFunctionData<dim>> convection;
    convection.boundary = all_conditions();
    convection.data     = {&functions};
    values["convection, 1e12"] =
      1e12 * difference_of_residuals<dim>(
               {&velocity}, convection, "Convection", ", FlowData", &functions);
    values["penalties, 1e12"] =
      1e12 * difference_of_residuals<dim>({&velocity, &velocity, &constant},
                                          Flow::DivergencePenalty<dim>(),
                                          "DivergencePenalty",
                                          "",
                                          nullptr);
  }

  /// Differences of velocity and pressure, relative to 1e-10, after steps of
  /// different length; those of a restart must vanish.
  template <int dim>
  void
  compare_flows(const Triangulation<dim>           &triangulation,
                const Agglomeration::Strategy<dim> &strategy,
                IncompressibleParameters            p,
                const std::string                  &name,
                Values                             &values)
  {
    DeviceFlow<dim> functions;
    functions.moving  = 0.5;
    p.viscosity       = 0.1;
    p.degree          = 3;
    p.pressure_degree = 2;
    p.tolerance       = 1e-13;
    for (unsigned int id = 0; id < 2 * dim; ++id)
      {
        p.boundary.add(id,
                       id == 1 ? Flow::IncompressibleCondition::outflow
                               : Flow::IncompressibleCondition::velocity);
        p.temperature.boundary.add(id,
                                   id == 1
                                     ? Flow::TemperatureCondition::outflow
                                     : Flow::TemperatureCondition::temperature);
      }
    if (Utilities::MPI::this_mpi_process(triangulation.get_communicator()) == 0)
      std::cout << "# " << name << std::endl;
    const auto make = [&](const Backend backend) {
      p.assembly.backend = backend;
      return std::make_unique<IncompressibleFlow<dim>>(
        triangulation, nullptr, strategy, functions, p);
    };
    const auto host = make(Backend::host), cuda = make(Backend::cuda);
    const FlowFunction<dim> u(functions, dim), q(functions, 1);
    for (const auto *flow : {&host, &cuda})
      {
        (*flow)->initialize(0., u, &q);
        for (const double dt : {0.01, 0.012, 0.009})
          (*flow)->step(dt);
      }
    values[name + ", velocity"] =
      1e10 * relative_difference(cuda->velocity(), host->velocity());
    values[name + ", pressure"] =
      1e10 * relative_difference(cuda->pressure(), host->pressure());
    if (p.temperature.enabled)
      values[name + ", temperature"] =
        1e10 * relative_difference(cuda->temperature(), host->temperature());
    values[name + ", CFL step"] =
      1e9 * std::abs(cuda->cfl_step(1.) / host->cfl_step(1.) - 1.);
    values[name + ", force"] =
      1e9 *
      std::abs(cuda->forces(true).at(0)[0] / host->forces(true).at(0)[0] - 1.);
    const std::string file =
      "incompressible_parallel_" + std::to_string(dim) + "d.checkpoint";
    cuda->write_state(file);
    const auto again = make(Backend::cuda);
    again->read_state(file);
    const MPI_Comm comm = triangulation.get_communicator();
    MPI_Barrier(comm);
    if (Utilities::MPI::this_mpi_process(comm) == 0)
      std::filesystem::remove(file);
    cuda->step(0.01);
    again->step(0.01);
    values[name + ", restart"] =
      relative_difference(cuda->velocity(), again->velocity()) == 0. &&
          relative_difference(cuda->pressure(), again->pressure()) == 0.
        ? 0.
        : 2.;
  }

  template <int dim>
  std::vector<Values>
  compute(const MPI_Comm comm)
  {
    Values values;
    auto   triangulation = shared_mesh<dim>(comm);
    GridGenerator::hyper_cube(triangulation, 0., 1., true);
    triangulation.refine_global(dim == 2 ? 3 : 1);
    refine(triangulation,
           [](const Point<dim> &center) { return center[0] < 0.3; });
    const auto strategy = Agglomeration::none<dim>();
    compare_operators<dim>(triangulation, strategy, values);
    IncompressibleParameters p;
    p.method = SplittingMethod::dual_splitting;
    p.order  = 2;
    compare_flows<dim>(triangulation, strategy, p, "dual splitting", values);
    p.order             = 3;
    p.pressure_smoother = MultigridSmoother::chebyshev;
    compare_flows<dim>(triangulation, strategy, p, "order 3", values);
    // Polygons of different sizes change the blocks of the penalty step at
    // different times.
    if constexpr (dim == 2)
      compare_flows<dim>(
        triangulation, Agglomeration::matching<dim>(50), p, "polygons", values);
    p.order       = 2;
    p.n_subcycles = 2;
    compare_flows<dim>(triangulation, strategy, p, "subcycles", values);
    p.n_subcycles             = 0;
    p.method                  = SplittingMethod::pressure_correction;
    p.temperature.enabled     = true;
    p.temperature.diffusivity = 0.2;
    p.temperature.expansion   = 0.7;
    p.temperature.gravity     = {{1., -2., 0.5}};
    compare_flows<dim>(
      triangulation, strategy, p, "pressure correction", values);
    return {values};
  }

  template <int dim>
  unsigned int
  n_failures()
  {
    unsigned int result = 0;
    const auto   all    = for_numbers_of_processes<std::vector<Values>>(
      [&](const MPI_Comm comm) { return compute<dim>(comm); });
    for (unsigned int n = 0; n < all.size(); ++n)
      for (const auto &value : all[n][0])
        {
          const bool good = value.second < 1.;
          result += !good;
          std::cout << n + 1 << " processes, " << value.first << ": "
                    << (good ? "ok " : "FAILED ") << value.second << std::endl;
        }
    return result;
  }
} // namespace

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  if (!cuda_is_available())
    return 77;
  return argc > 1 && std::string(argv[1]) == "2d" ? n_failures<2>()
                                                  : n_failures<3>();
}

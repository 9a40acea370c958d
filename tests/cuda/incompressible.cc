// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Incompressible flow on a CUDA device: its operators, whose functors are
// compiled at run time with the data of the flow, and flows after some steps
// agree with the host; the vectors of a flow, its forces and checkpoints; the
// messages. Argument: 2d, 3d or unavailable; times, which prints the times of
// operators on triangles. Returns 77 if the case cannot run on this machine, 1
// if a check fails.

#include <deal.II/base/timer.h>

#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>
#include <tessella/numerics/device_mass_matrix.h>
#include <tessella/operators/matrix_free_operator.h>

#include <filesystem>
#include <unistd.h>

#include "../../source/flow/flow_integrand.h"
#include "../assembly/compare.h"
#include "../flow/incompressible_functions.h"
#include "../operators/pointwise.h"
#include "checks.h"
#include "device_flow.h"

using namespace Tessella;
using Flow::IncompressibleFlow;
using Flow::IncompressibleParameters;
using Flow::SplittingMethod;

namespace
{
  double
  relative_difference(const dealii::Vector<double> &a,
                      const dealii::Vector<double> &b)
  {
    dealii::Vector<double> difference(a);
    difference -= b;
    // There may be no part of the boundary with a term.
    return b.linfty_norm() == 0. ? a.linfty_norm()
                                 : difference.linfty_norm() / b.linfty_norm();
  }

  /// Spaces of a flow of degree 3 with fields.
  template <int dim>
  struct Spaces
  {
    Spaces(const std::string &mesh, const std::string &agglomeration)
    {
      make_mesh(mesh, triangulation);
      for (auto *handler : {&velocity, &pressure, &constant, &vorticity})
        {
          *handler = std::make_unique<AgglomerationHandler<dim>>(triangulation);
          (*handler)->agglomerate(make_strategy<dim>(agglomeration));
        }
      distribute(*velocity, 3, false, dim);
      distribute(*pressure, 2, false, 1);
      distribute(*constant, 0, false, 1);
      distribute(*vorticity, 3, false, Flow::n_vorticity<dim>);
      set_field(*velocity, {0.4, 0.2, -0.3}, 0.6, u);
      set_field(*velocity, {-0.2, 0.5, 0.1}, 0.6, w);
      set_field(*pressure, {0.3}, 0.7, p);
      set_field(*constant, {0.8}, 0.1, tau);
      set_field(*vorticity, {0.3, 0.2, 0.1}, 0.7, omega);
    }
    Triangulation<dim>                         triangulation;
    std::unique_ptr<AgglomerationHandler<dim>> velocity, pressure, constant,
      vorticity;
    Vector<double> u, w, p, tau, omega;
  };

  /// A functor with given data, host against device.
  template <int dim, typename F>
  void
  compare(const std::string                         &where,
          const Handlers<dim>                       &handlers,
          const std::vector<const Vector<double> *> &fields,
          const F                                   &f,
          const std::string                         &type,
          const std::string                         &arguments = "",
          const Flow::FlowFunctions<dim>            *functions = nullptr)
  {
    Flow::internal::FlowIntegrand<dim, F> integrand(type, arguments, functions);
    integrand.functor() = f;
    integrand.set_coefficient_order(3);
    integrand.set_time(0.7);
    AssemblyParameters host, cuda;
    host.backend = Backend::host;
    cuda.backend = Backend::cuda;
    PointwiseOperator<dim> on_host(handlers, 0, host), op(handlers, 0, cuda);
    Vector<double>         expected, result;
    on_host.reinit(expected);
    on_host.template residual<Vector<double>>(integrand, fields, expected);
    std::vector<DeviceVector<double>>         copies;
    std::vector<const DeviceVector<double> *> pointers;
    for (const auto *field : fields)
      copies.emplace_back(*field);
    for (const auto &copy : copies)
      pointers.push_back(&copy);
    DeviceVector<double> r;
    op.reinit(r);
    op.template residual<DeviceVector<double>>(integrand, pointers, r);
    r.copy_to(result);
    const double difference = relative_difference(result, expected);
    verify(where + ", " + type + arguments,
           difference < 1e-12,
           std::to_string(difference * 1e12) + "e-12");
  }

  template <int dim>
  void
  compare_operators(const std::string &mesh, const std::string &agglomeration)
  {
    const std::string where =
      std::to_string(dim) + "-D, " + mesh + ", " + agglomeration;
    const Spaces<dim> s(mesh, agglomeration);
    DeviceFlow<dim>   functions;
    functions.moving = 0.5;
    using Data       = Flow::FlowFunctionData<dim>;
    const Data          data{&functions};
    const Handlers<dim> u{s.velocity.get()},
      uu{s.velocity.get(), s.velocity.get()},
      uuu{s.velocity.get(), s.velocity.get(), s.velocity.get()},
      up{s.velocity.get(), s.pressure.get()},
      pu{s.pressure.get(), s.velocity.get()}, p{s.pressure.get()},
      pw{s.pressure.get(), s.vorticity.get()},
      wu{s.vorticity.get(), s.velocity.get()},
      uuc{s.velocity.get(), s.velocity.get(), s.constant.get()},
      cu{s.constant.get(), s.velocity.get()},
      puuu{s.pressure.get(),
           s.velocity.get(),
           s.velocity.get(),
           s.velocity.get()};
    const auto with_data = [&](auto f) {
      f.boundary = all_conditions();
      f.data     = data;
      return f;
    };
    const std::string args = ", FlowData";
    const auto        run  = [&](const Handlers<dim>                       &on,
                         const std::vector<const Vector<double> *> &fields,
                         const auto                                &f,
                         const std::string                         &type) {
      compare<dim>(where, on, fields, with_data(f), type, args, &functions);
    };
    run(u, {&s.u}, Flow::Convection<dim, Data>(), "Convection");
    const auto transport = [&](
                             auto                                       f,
                             const Handlers<dim>                       &on,
                             const std::vector<const Vector<double> *> &fields,
                             const std::string                         &more) {
      f         = with_data(f);
      f.times.n = 2;
      for (unsigned int i = 0; i < 2; ++i)
        {
          f.times.weight[i] = 2. - 2.5 * i;
          f.times.time[i]   = 0.6 - 0.1 * i;
        }
      compare<dim>(where, on, fields, f, "Convection", args + more, &functions);
    };
    transport(Flow::Convection<dim, Data, true>(), uu, {&s.u, &s.w}, ", true");
    transport(Flow::Convection<dim, Data, true, true>(),
              uuu,
              {&s.u, &s.w, &s.u},
              ", true, true");
    run(up,
        {&s.u, &s.p},
        Flow::PressureGradient<dim, Data>(),
        "PressureGradient");
    run(pu,
        {&s.p, &s.u},
        Flow::VelocityDivergence<dim, Data>(),
        "VelocityDivergence");
    run(u,
        {&s.u},
        Flow::ViscousBoundaryData<dim, Data>(),
        "ViscousBoundaryData");
    run(p,
        {&s.p},
        Flow::PressureBoundaryData<dim, Data>(),
        "PressureBoundaryData");
    run(pw,
        {&s.p, &s.omega},
        Flow::PressureNeumannData<dim, Data>(),
        "PressureNeumannData");
    Flow::Force<dim, Data> force;
    force.data = data;
    compare<dim>(where, u, {&s.u}, force, "Force", args, &functions);
    compare<dim>(
      where, uu, {&s.u, &s.w}, Flow::DerivativeAlong<dim>(), "DerivativeAlong");
    compare<dim>(
      where, wu, {&s.omega, &s.u}, Flow::Vorticity<dim>(), "Vorticity");
    compare<dim>(where,
                 uuc,
                 {&s.u, &s.w, &s.tau},
                 Flow::DivergencePenalty<dim>(),
                 "DivergencePenalty");
    compare<dim>(where, cu, {&s.tau, &s.u}, Flow::Speed<dim>(), "Speed");
    Flow::ConvectionDifference<dim> difference;
    difference.boundary  = all_conditions();
    difference.weight[0] = 1.;
    difference.weight[1] = -0.5;
    compare<dim>(where,
                 puuu,
                 {&s.p, &s.u, &s.w, &s.u},
                 difference,
                 "ConvectionDifference");
  }



  double
  relative_difference(const HostVector<double> &a, const HostVector<double> &b)
  {
    HostVector<double> difference(a);
    difference -= b;
    return difference.linfty_norm() / b.linfty_norm();
  }

  /// Steps of different length, and a restart of both.
  template <int dim>
  void
  compare_flows(const std::string              &mesh,
                const std::string              &agglomeration,
                const bool                      outflow,
                const IncompressibleParameters &given)
  {
    Triangulation<dim> triangulation;
    make_mesh(mesh, triangulation);
    DeviceFlow<dim> functions;
    functions.moving           = 0.5;
    IncompressibleParameters p = given;
    p.viscosity                = 0.1;
    p.degree                   = 3;
    p.pressure_degree          = 2;
    p.tolerance                = 1e-13;
    for (const unsigned int id : triangulation.get_boundary_ids())
      p.boundary.add(id,
                     outflow && id == 1
                       ? Flow::IncompressibleCondition::outflow
                       : Flow::IncompressibleCondition::velocity);
    if (p.temperature.enabled)
      for (const unsigned int id : triangulation.get_boundary_ids())
        p.temperature.boundary.add(id,
                                   outflow && id == 1
                                     ? Flow::TemperatureCondition::outflow
                                   : id == 2
                                     ? Flow::TemperatureCondition::heat_flux
                                     : Flow::TemperatureCondition::temperature);
    const std::string where =
      std::to_string(dim) + "-D, " + mesh + ", order " +
      std::to_string(p.order) + ", subcycles " + std::to_string(p.n_subcycles) +
      (p.method == SplittingMethod::dual_splitting ? ", dual splitting"
                                                   : ", pressure correction") +
      (p.temperature.enabled ? ", temperature" : "");
    const auto make = [&](const Backend backend) {
      p.assembly.backend = backend;
      return std::make_unique<IncompressibleFlow<dim>>(triangulation,
                                                       nullptr,
                                                       make_strategy<dim>(
                                                         agglomeration),
                                                       functions,
                                                       p);
    };
    const auto host = make(Backend::host), cuda = make(Backend::cuda);
    const FlowFunction<dim> u(functions, dim), q(functions, 1);
    for (const auto *flow : {&host, &cuda})
      {
        (*flow)->initialize(0., u, &q);
        for (const double dt : {0.01, 0.012, 0.009, 0.01})
          (*flow)->step(dt);
      }
    const auto check = [&](const std::string        &name,
                           const HostVector<double> &a,
                           const HostVector<double> &b,
                           const double              bar = 1e-10) {
      const double difference = relative_difference(a, b);
      verify(where + ", " + name,
             difference < bar,
             std::to_string(1e10 * difference) + "e-10");
    };
    check("velocity", cuda->velocity(), host->velocity());
    check("pressure", cuda->pressure(), host->pressure());
    if (p.temperature.enabled)
      {
        check("temperature", cuda->temperature(), host->temperature());
        const double x = cuda->heat_fluxes(true).at(0),
                     y = host->heat_fluxes(true).at(0);
        verify(where + ", heat flux", std::abs(x - y) <= 1e-9 * std::abs(y));
      }
    HostVector<double> a, b;
    cuda->compute_vorticity(a);
    host->compute_vorticity(b);
    check("vorticity", a, b, 1e-9);
    const auto near =
      [&](const std::string &name, const double x, const double y) {
        verify(where + ", " + name,
               std::abs(x - y) <= 1e-9 * std::abs(y),
               std::to_string(x) + " " + std::to_string(y));
      };
    near("CFL step", cuda->cfl_step(1.), host->cfl_step(1.));
    near("energy",
         cuda->energy_and_enstrophy().first,
         host->energy_and_enstrophy().first);
    near("force", cuda->forces(true).at(0)[0], host->forces(true).at(0)[0]);
    // A restart on the device has the same bits.
    const std::string file =
      "incompressible_" + std::to_string(getpid()) + ".checkpoint";
    cuda->write_state(file);
    const auto again = make(Backend::cuda);
    again->read_state(file);
    std::filesystem::remove(file);
    cuda->step(0.01);
    again->step(0.01);
    verify(where + ", restart",
           relative_difference(cuda->velocity(), again->velocity()) == 0. &&
             relative_difference(cuda->pressure(), again->pressure()) == 0.);
    if (p.temperature.enabled)
      verify(where + ", restart of the temperature",
             relative_difference(cuda->temperature(), again->temperature()) ==
               0.);
  }

  template <int dim>
  void
  compare_all()
  {
    compare_operators<dim>("hanging", "scattered");
    compare_operators<dim>("simplices", "none");
    IncompressibleParameters p;
    p.method = SplittingMethod::dual_splitting;
    p.order  = 2;
    // The mesh of simplices has one boundary id, so that the domain is closed.
    // There the last pivot of ILU(0) is zero up to rounding on small levels.
    for (const auto smoother :
         {MultigridSmoother::chebyshev, MultigridSmoother::ilu})
      {
        p.pressure_smoother = smoother;
        compare_flows<dim>("hanging", "scattered", true, p);
      }
    p.pressure_smoother = MultigridSmoother::chebyshev;
    p.n_subcycles       = 2;
    compare_flows<dim>("simplices", "none", false, p);
    p.n_subcycles = 0;
    p.order       = 3;
    compare_flows<dim>("simplices", "none", false, p);
    p.method = SplittingMethod::pressure_correction;
    p.order  = 2;
    compare_flows<dim>("simplices", "none", false, p);
    p.temperature.enabled     = true;
    p.temperature.diffusivity = 0.2;
    p.temperature.expansion   = 0.7;
    p.temperature.gravity     = {{1., -2., 0.5}};
    p.temperature.reference   = 0.3;
    compare_flows<dim>("hanging", "scattered", true, p);
    p.n_subcycles = 2;
    p.method      = SplittingMethod::dual_splitting;
    compare_flows<dim>("simplices", "none", false, p);
  }



  /// Flows without code for a device, machines without one, and devices with
  /// too little memory.
  void
  check_messages(const bool available)
  {
    Triangulation<2> triangulation;
    make_mesh("box", triangulation);
    IncompressibleParameters p;
    p.assembly.backend = Backend::cuda;
    for (const unsigned int id : triangulation.get_boundary_ids())
      p.boundary.add(id, Flow::IncompressibleCondition::velocity);
    const auto start = [&](const Flow::FlowFunctions<2> &functions) {
      return message_of([&] {
        IncompressibleFlow<2>(
          triangulation, nullptr, make_strategy<2>("none"), functions, p);
      });
    };
    verify("no code",
           contains(start(MovingFlow<2>()), "have no code for a CUDA device"));
    if (!available)
      verify("no device",
             contains(start(DeviceFlow<2>()), "CUDA"),
             start(DeviceFlow<2>()));
    if (!available)
      return;
    p.assembly.device_memory = 10000;
    verify("too little memory",
           contains(start(DeviceFlow<2>()),
                    "bytes of memory on a CUDA device, but 10000 are "
                    "available"),
           start(DeviceFlow<2>()));
    p.assembly.device_memory  = 100000000;
    const std::string message = start(DeviceFlow<2>());
    verify("enough memory", message == "no exception", message);
  }

  // ---- times

  /// Seconds of a call of @p work, the best of some repetitions.
  template <typename Work>
  double
  time_of(const DeviceVector<double> &result, const Work &work)
  {
    const unsigned int n    = 10;
    double             best = 1e300;
    for (unsigned int repetition = 0; repetition < 4; ++repetition)
      {
        result.linfty_norm();
        const dealii::Timer timer;
        for (unsigned int i = 0; i < n; ++i)
          work();
        result.linfty_norm();
        best = std::min(best, timer.wall_time() / n);
      }
    return best;
  }

  /// Picoseconds an unknown on triangles: convection, transport, gradient,
  /// divergence, inverse of the mass matrix; the interior penalty product of a
  /// component with and without a matrix.
  void
  print_times()
  {
    std::cout << "k, velocity unknowns; ps an unknown: convection, transport, "
                 "gradient, divergence, mass; ps a product without and with a "
                 "matrix"
              << std::endl;
    using Data = Flow::FlowFunctionData<2>;
    DeviceFlow<2> functions;
    for (const unsigned int k : {2, 4, 6})
      {
        Triangulation<2> triangulation;
        GridGenerator::subdivided_hyper_cube_with_simplices(triangulation,
                                                            k == 2 ? 800 : 500);
        AgglomerationHandler<2> velocity(triangulation),
          pressure(triangulation), scalar(triangulation);
        for (auto *handler : {&velocity, &pressure, &scalar})
          handler->agglomerate(make_strategy<2>("none"));
        distribute(velocity, k, false, 2);
        distribute(pressure, k - 1, false, 1);
        distribute(scalar, k, false, 1);
        AssemblyParameters cuda;
        cuda.backend = Backend::cuda;
        DeviceVector<double> u, r, p, q, x, y;
        PointwiseOperator<2> one(velocity, cuda),
          two({&velocity, &velocity}, 0, cuda),
          with_pressure({&velocity, &pressure}, 0, cuda),
          of_pressure({&pressure, &velocity}, 0, cuda);
        one.reinit(r);
        of_pressure.reinit(q);
        const auto field = [](const AgglomerationHandler<2> &handler,
                              DeviceVector<double>          &vector) {
          Vector<double> values;
          set_field(handler, {0.4, 0.2}, 0.6, values);
          vector.copy_from(values);
        };
        field(velocity, u);
        field(pressure, p);
        field(scalar, x);
        y.reinit(x);
        const double n = u.size();
        std::cout << k << " " << n << ";";
        const auto print = [&](const double seconds, const double unknowns) {
          std::cout << " " << 1e12 * seconds / unknowns << std::flush;
        };
        const auto run =
          [&](auto                                            &op,
              auto                                             integrand,
              const std::vector<const DeviceVector<double> *> &in,
              DeviceVector<double>                            &out,
              const unsigned int                               order) {
            integrand.functor().boundary = velocity_conditions();
            integrand.functor().data     = Data{&functions};
            integrand.set_coefficient_order(order);
            print(time_of(out,
                          [&] {
                            op.template residual<DeviceVector<double>>(
                              integrand, in, out);
                          }),
                  n);
          };
        using namespace Flow::internal;
        const std::string data = ", FlowData";
        run(one,
            FlowIntegrand<2, Flow::Convection<2, Data>>("Convection",
                                                        data,
                                                        &functions),
            {&u},
            r,
            k);
        run(two,
            FlowIntegrand<2, Flow::Convection<2, Data, true>>("Convection",
                                                              data + ", true",
                                                              &functions),
            {&u, &u},
            r,
            k);
        run(with_pressure,
            FlowIntegrand<2, Flow::PressureGradient<2, Data>>(
              "PressureGradient", data, &functions),
            {&u, &p},
            r,
            2);
        run(of_pressure,
            FlowIntegrand<2, Flow::VelocityDivergence<2, Data>>(
              "VelocityDivergence", data, &functions),
            {&p, &u},
            q,
            2);
        const DeviceMassMatrix<2> mass(velocity);
        print(time_of(r, [&] { mass.apply_inverse(1., r); }), n);
        std::cout << ";";
        AdvectionDiffusionReaction<2> form;
        form.set_diffusion(1.);
        MatrixFreeOperator<2, DeviceBlockMatrix<double>> product;
        product.initialize(scalar, form, cuda);
        print(time_of(y, [&] { product.vmult(y, x); }), n / 2);
        PolytopicAssembler<2>     assembler(scalar, cuda);
        DeviceBlockMatrix<double> matrix;
        assembler.reinit(matrix);
        assembler.assemble_matrix(form, matrix);
        print(time_of(y, [&] { matrix.vmult(y, x); }), n / 2);
        std::cout << "; " << one.report().kernels << std::endl;
      }
    verify("times", true);
  }

  void
  run(const std::string &name)
  {
    check_messages(name != "unavailable");
    if (name == "2d")
      compare_all<2>();
    else if (name == "3d")
      compare_all<3>();
    else if (name == "times")
      print_times();
  }
} // namespace



int
main(int argc, char **argv)
{
  return run_case(argc, argv, run);
}

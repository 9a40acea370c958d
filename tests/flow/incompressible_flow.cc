// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Splitting methods of incompressible flow: steady polynomial flows, orders in
// time, steps of different length, subcycling, restart, threads, mistakes.

#include <deal.II/base/multithread_info.h>

#include <limits>

#include "../messages.h"
#include "incompressible_domain.h"

/// A steady flow in the discrete spaces stays as it is.
template <int dim>
void
test_steady(const std::string               &mesh,
            const std::string               &agglomeration,
            const std::vector<unsigned int> &outflow)
{
  const Domain<dim>     domain(mesh, agglomeration, outflow);
  const MovingFlow<dim> functions;
  for (const auto method :
       {SplittingMethod::dual_splitting, SplittingMethod::pressure_correction})
    for (unsigned int order = 1;
         order <= (method == SplittingMethod::dual_splitting ? 3 : 2);
         ++order)
      {
        const auto              p = domain.parameters(method, order);
        IncompressibleFlow<dim> flow(
          domain.triangulation, nullptr, domain.agglomeration, functions, p);
        flow.initialize(
          0.,
          FlowFunction<dim>(functions, dim),
          std::make_unique<FlowFunction<dim>>(functions, 1).get());
        for (const double dt : {0.01, 0.012, 0.009, 0.01})
          flow.step(dt);
        const auto        e    = errors(flow, functions);
        const std::string name = std::to_string(dim) + "-D, " + mesh + ", " +
                                 (outflow.empty() ? "closed, " : "outflow, ") +
                                 name_of(p) + ": ";
        check_below(name + "steady velocity", e.first, 2e-9);
        check_below(name + "steady pressure", e.second, 2e-8);
        check_below(name + "mass", flow.mass_error(), 1e-8);
      }
}



/// Start from a flow of another degree: the same functions.
void
test_other_degree()
{
  const Domain<2>     domain("hanging", "scattered", {1});
  const MovingFlow<2> functions;
  auto                p = domain.parameters(SplittingMethod::dual_splitting, 2);
  IncompressibleFlow<2> first(
    domain.triangulation, nullptr, domain.agglomeration, functions, p);
  const FlowFunction<2> pressure(functions, 1);
  first.initialize(0., FlowFunction<2>(functions, 2), &pressure);
  p.degree          = 5;
  p.pressure_degree = 4;
  IncompressibleFlow<2> higher(
    domain.triangulation, nullptr, domain.agglomeration, functions, p);
  higher.initialize(0., first);
  check_below("velocity of a higher degree",
              errors(higher, functions).first,
              1e-10);
  check_below("pressure of a higher degree",
              errors(higher, functions).second,
              1e-10);
  first.initialize(0., Functions::ZeroFunction<2>(2));
  first.initialize(0., higher);
  check_below("velocity of a lower degree",
              errors(first, functions).first,
              1e-10);
  const Domain<2>       single("hanging", "none", {1});
  IncompressibleFlow<2> other(
    single.triangulation, nullptr, single.agglomeration, functions, p);
  check("start on other polytopes",
        contains(message_of([&]() { other.initialize(0., first); }),
                 "only on the same polytopes"));
}



/// Error at time 0.5 with steps whose lengths have the ratios given.
template <int dim>
std::pair<double, double>
error_at_end(const Domain<dim>              &domain,
             const MovingFlow<dim>          &functions,
             const IncompressibleParameters &p,
             const unsigned int              n_steps,
             const double                    variation)
{
  IncompressibleFlow<dim> flow(
    domain.triangulation, nullptr, domain.agglomeration, functions, p);
  const double      end = 0.5, dt = end / n_steps;
  FlowFunction<dim> u(functions, dim), pressure(functions, 1);
  flow.initialize_with_past(0., dt, u, pressure);
  for (unsigned int i = 0; i < n_steps; ++i)
    flow.step((i % 2 == 0 ? 1. + variation : 1. - variation) * dt);
  return errors(flow, functions);
}

struct OrderCase
{
  SplittingMethod method;
  unsigned int    order;
  double          variation, velocity_rate, pressure_rate;
  unsigned int    n_subcycles = 0;
  // ---- variants
  std::string  variant         = "";
  double       rotational      = 1.;
  bool         penalty_step    = true;
  unsigned int pressure_degree = 2;
  double       zeta            = 1.;
};

/// Orders in time, with @p n steps and twice as many.
template <int dim>
void
test_order(const Domain<dim> &domain,
           const bool         has_outflow,
           const OrderCase   &c,
           const unsigned int n)
{
  MovingFlow<dim> functions;
  functions.moving           = 0.5;
  IncompressibleParameters p = domain.parameters(c.method, c.order);
  p.n_subcycles              = c.n_subcycles;
  p.rotational               = c.rotational;
  p.penalty_step             = c.penalty_step;
  p.pressure_degree          = c.pressure_degree;
  p.zeta                     = c.zeta;
  const auto coarse = error_at_end(domain, functions, p, n, c.variation),
             fine   = error_at_end(domain, functions, p, 2 * n, c.variation);
  const std::string name = (dim == 3 ? "3-D, " : "") + name_of(p) +
                           (has_outflow ? ", outflow" : ", closed") +
                           (c.variation > 0. ? ", variable steps" : "") +
                           (c.n_subcycles > 0 ? ", subcycles" : "") +
                           c.variant + ": ";
  check_below(name + "order of the velocity",
              c.velocity_rate,
              std::log2(coarse.first / fine.first));
  check_below(name + "order of the pressure",
              c.pressure_rate,
              std::log2(coarse.second / fine.second));
}

void
test_orders(const std::vector<unsigned int> &outflow)
{
  const Domain<2> domain("box", "none", outflow);
  const auto      dual  = SplittingMethod::dual_splitting,
             correction = SplittingMethod::pressure_correction;
  for (const OrderCase &c : {OrderCase{dual, 1, 0., .9, .8},
                             OrderCase{dual, 2, 0., 1.9, 1.8},
                             OrderCase{dual, 2, 0.2, 1.9, 1.4},
                             OrderCase{dual, 3, 0., 2.8, 1.8},
                             OrderCase{dual, 3, 0.2, 2.8, 1.2},
                             OrderCase{correction, 1, 0., .9, .8},
                             OrderCase{correction, 2, 0., 1.9, 1.4},
                             OrderCase{correction, 2, 0.2, 1.9, 1.4},
                             OrderCase{dual, 1, 0., .9, .8, 2},
                             OrderCase{dual, 2, 0., 1.9, 1.8, 2},
                             OrderCase{dual, 2, 0.2, 1.9, 1.4, 2},
                             OrderCase{dual, 3, 0., 2.8, 1.8, 2},
                             OrderCase{correction, 2, 0., 1.9, 1.4, 2}})
    test_order(domain, !outflow.empty(), c, 24);
}

/// Variants of the methods, and 3-D.
void
test_variants()
{
  const Domain<2> closed("box", "none", {}), open("box", "none", {1});
  const auto      dual    = SplittingMethod::dual_splitting,
             correction   = SplittingMethod::pressure_correction;
  const OrderCase cases[] = {
    {correction, 2, 0., 1.9, .8, 0, ", chi = 0", 0.},
    {dual, 2, 0., 1.9, 1.8, 0, ", no penalty step", 1., false},
    {correction, 2, 0., 1.9, 1.4, 0, ", no penalty step", 1., false},
    {dual, 2, 0., 1.9, 1.8, 0, ", equal degrees", 1., true, 3},
    {correction, 2, 0., 1.9, 1.4, 0, ", equal degrees", 1., true, 3},
    {dual, 2, 0., 1.9, 1.8, 0, ", zeta = 2", 1., true, 2, 2.}};
  for (const OrderCase &c : cases)
    test_order(c.zeta == 2. ? open : closed, c.zeta == 2., c, 24);
  test_order(Domain<3>("box", "none", {1}),
             true,
             OrderCase{dual, 2, 0., 1.9, 1.5},
             12);
}



/// chi changes the pressure of a step in proportion, and not its velocity.
void
test_rotational()
{
  const Domain<2> domain("hanging", "scattered", {});
  MovingFlow<2>   functions;
  functions.moving = 0.5;
  auto p           = domain.parameters(SplittingMethod::pressure_correction, 2);
  std::vector<HostVector<double>> velocity, pressure;
  for (const double chi : {0., 0.5, 1.})
    {
      p.rotational = chi;
      IncompressibleFlow<2> flow(
        domain.triangulation, nullptr, domain.agglomeration, functions, p);
      flow.initialize(0., FlowFunction<2>(functions, 2));
      flow.step(0.02);
      velocity.push_back(flow.velocity());
      pressure.push_back(flow.pressure());
    }
  check("chi: velocity",
        same_bits(velocity[0], velocity[1]) &&
          same_bits(velocity[0], velocity[2]));
  HostVector<double> difference(pressure[0]);
  difference -= pressure[2];
  check_below("chi: pressure", 1e-4, difference.l2_norm());
  difference = pressure[0];
  difference.add(-2., pressure[1]);
  difference += pressure[2];
  check_below("chi: proportion", difference.l2_norm(), 1e-12);
}



/// The dissipation of the convective flux is proportional to zeta.
void
test_dissipation()
{
  class Walls : public Flow::FlowFunctions<2>
  {
  public:
    void
    velocity(const OperatorPoint<2> &, double *u) const override
    {
      u[0] = u[1] = 0.;
    }
  };
  /// Zero on the boundary; its projection to degree 2 has jumps.
  class Initial : public Function<2>
  {
  public:
    Initial()
      : Function<2>(2)
    {}
    double
    value(const Point<2> &x, const unsigned int c) const override
    {
      return x[0] * (1.5 - x[0]) * x[1] * (1. - x[1]) *
             std::cos(9. * x[c] + 5. * x[1 - c]);
    }
  };
  const Domain<2> domain("hanging", "scattered", {});
  const Walls     walls;
  auto            p = domain.parameters(SplittingMethod::dual_splitting, 1);
  p.degree          = 2;
  p.pressure_degree = 1;
  p.penalty_step    = false;
  double energy[3];
  for (const unsigned int zeta : {0, 1, 2})
    {
      p.zeta = zeta;
      IncompressibleFlow<2> flow(
        domain.triangulation, nullptr, domain.agglomeration, walls, p);
      flow.initialize(0., Initial());
      flow.step(1e-3);
      energy[zeta] = flow.energy_and_enstrophy().first;
    }
  check_below("dissipation: energy with zeta = 1 and 0", energy[1], energy[0]);
  check_close("dissipation: zeta = 2",
              (energy[1] - energy[2]) / (energy[0] - energy[1]),
              1.,
              1e-2);
}



/// Restart and numbers of threads: the same bits.
void
test_bits()
{
  const Domain<2> domain("hanging", "scattered", {1});
  MovingFlow<2>   functions;
  functions.moving     = 0.5;
  const unsigned int n = MultithreadInfo::n_threads();
  for (const auto method :
       {SplittingMethod::dual_splitting, SplittingMethod::pressure_correction})
    {
      auto p =
        domain.parameters(method,
                          method == SplittingMethod::dual_splitting ? 3 : 2);
      p.tolerance = 1e-7;
      std::vector<std::unique_ptr<IncompressibleFlow<2>>> flows;
      for (unsigned int i = 0; i < 3; ++i)
        flows.push_back(std::make_unique<IncompressibleFlow<2>>(
          domain.triangulation, nullptr, domain.agglomeration, functions, p));
      const FlowFunction<2> u(functions, 2);
      for (unsigned int i = 0; i < 2; ++i)
        {
          MultithreadInfo::set_thread_limit(i == 0 ? n : 1);
          flows[i]->initialize(0., u);
          for (const double dt : {0.02, 0.025, 0.02, 0.03})
            flows[i]->step(dt);
          flows[i]->write_state("state");
          for (const double dt : {0.02, 0.025})
            flows[i]->step(dt);
        }
      MultithreadInfo::set_thread_limit(n);
      check(name_of(p) + ": threads",
            same_bits(flows[0]->velocity(), flows[1]->velocity()) &&
              same_bits(flows[0]->pressure(), flows[1]->pressure()));
      flows[2]->read_state("state");
      for (const double dt : {0.02, 0.025})
        flows[2]->step(dt);
      check(name_of(p) + ": restart",
            same_bits(flows[0]->velocity(), flows[2]->velocity()) &&
              same_bits(flows[0]->pressure(), flows[2]->pressure()));
      p.order -= 1;
      IncompressibleFlow<2> other(
        domain.triangulation, nullptr, domain.agglomeration, functions, p);
      check(name_of(p) + ": state of another order",
            contains(message_of([&]() { other.read_state("state"); }),
                     "was written by"));
    }
}



/// A subcycled run goes on without subcycles, with the convections of the past.
void
test_end_of_subcycling()
{
  const Domain<2> domain("hanging", "scattered", {1});
  MovingFlow<2>   functions;
  functions.moving = 0.5;
  auto p           = domain.parameters(SplittingMethod::dual_splitting, 3);
  p.tolerance      = 1e-10;
  const auto make  = [&](const unsigned int n_subcycles) {
    p.n_subcycles = n_subcycles;
    return std::make_unique<IncompressibleFlow<2>>(
      domain.triangulation, nullptr, domain.agglomeration, functions, p);
  };
  FlowFunction<2> u(functions, 2), pressure(functions, 1);
  // The past is the exact flow: both have the same velocities at first.
  const auto subcycled = make(2), extrapolated = make(0), next = make(0);
  for (auto *flow : {subcycled.get(), extrapolated.get()})
    flow->initialize_with_past(0., 0.02, u, pressure);
  subcycled->step(0.02);
  subcycled->write_state("state");
  next->read_state("state");
  next->step(0.02);
  for (unsigned int n = 0; n < 2; ++n)
    extrapolated->step(0.02);
  check_below("end of subcycling: error",
              errors(*next, functions).first,
              2. * errors(*extrapolated, functions).first);
}



/// Pressures with the inverse by nested dissection as preconditioner, with and
/// without a null space.
void
test_direct_pressure()
{
  for (const bool closed : {true, false})
    {
      const Domain<2> domain("hanging",
                             "none",
                             closed ? std::vector<unsigned int>{}
                                    : std::vector<unsigned int>{1});
      MovingFlow<2>   functions;
      functions.moving = 0.5;
      auto p           = domain.parameters(SplittingMethod::dual_splitting, 2);
      p.tolerance      = 1e-11;
      const FlowFunction<2>                  u(functions, 2);
      std::unique_ptr<IncompressibleFlow<2>> flows[2];
      unsigned int                           iterations = 0;
      for (unsigned int i = 0; i < 2; ++i)
        {
          p.direct_pressure_unknowns = i * 10000;
          flows[i]                   = std::make_unique<IncompressibleFlow<2>>(
            domain.triangulation, nullptr, domain.agglomeration, functions, p);
          flows[i]->initialize(0., u);
          for (unsigned int n = 0; n < 3; ++n)
            {
              flows[i]->step(0.01);
              iterations = std::max(i * flows[i]->report().pressure_iterations,
                                    iterations);
            }
        }
      const std::string name =
        std::string("nested dissection, ") + (closed ? "closed" : "open");
      HostVector<double> difference(flows[0]->velocity());
      difference -= flows[1]->velocity();
      check_below(name + ", velocity", difference.linfty_norm(), 1e-8);
      difference = flows[0]->pressure();
      difference -= flows[1]->pressure();
      check_below(name + ", pressure", difference.linfty_norm(), 1e-6);
      check_below(name + ", iterations", iterations, 5);
    }
}



/// Short steps: the solution stays bounded and its error does not grow.
void
test_short_steps()
{
  const Domain<2> domain("simplices", "none", {});
  MovingFlow<2>   functions;
  functions.moving  = 0.5;
  auto            p = domain.parameters(SplittingMethod::dual_splitting, 2);
  FlowFunction<2> u(functions, 2), pressure(functions, 1);
  double          error[2];
  for (const unsigned int i : {0, 1})
    {
      const double          dt = i == 0 ? 1e-2 : 1e-4;
      IncompressibleFlow<2> flow(
        domain.triangulation, nullptr, domain.agglomeration, functions, p);
      flow.initialize_with_past(0., dt, u, pressure);
      for (unsigned int n = 0; n < (i == 0 ? 2 : 200); ++n)
        flow.step(dt);
      error[i] = errors(flow, functions).first;
    }
  check_below("short steps", error[1], 1.1 * error[0]);
}



/// Quadrature on curved cells: rates of a flow that the spaces do not contain,
/// the same error as with exact rules, and a uniform flow.
void
test_curved_quadrature()
{
  class Uniform : public Flow::FlowFunctions<2>
  {
  public:
    void
    velocity(const OperatorPoint<2> &, double *u) const override
    {
      u[0] = 2.;
      u[1] = -1.;
    }
  };
  const MappingQ<2>   mapping(4);
  Domain<2>           domain("curved", "none", {});
  const MovingFlow<2> functions;
  const Uniform       uniform;
  const auto          start = [](IncompressibleFlow<2>        &flow,
                        const Flow::FlowFunctions<2> &exact) {
    const FlowFunction<2> p(exact, 1);
    flow.initialize(0., FlowFunction<2>(exact, 2), &p);
  };
  std::pair<double, double> error[2][2];
  for (const unsigned int level : {0, 1})
    {
      domain.triangulation.refine_global(1);
      for (const auto quadrature :
           {CurvedQuadrature::exact, CurvedQuadrature::consistent})
        {
          auto p   = domain.parameters(SplittingMethod::pressure_correction, 2);
          p.degree = 2;
          p.pressure_degree   = 1;
          p.tolerance         = 1e-10;
          p.curved_quadrature = quadrature;
          const std::string name =
            quadrature == CurvedQuadrature::exact ? "exact" : "consistent";
          IncompressibleFlow<2> flow(
            domain.triangulation, &mapping, domain.agglomeration, functions, p);
          start(flow, functions);
          for (unsigned int n = 0; n < 20; ++n)
            flow.step(0.05);
          error[quadrature == CurvedQuadrature::exact][level] =
            errors(flow, functions);
          if (level > 0)
            continue;
          IncompressibleFlow<2> constant(
            domain.triangulation, &mapping, domain.agglomeration, uniform, p);
          start(constant, uniform);
          for (unsigned int n = 0; n < 3; ++n)
            constant.step(0.05);
          HostVector<double>        u(constant.velocity());
          HostVector<double>::Base &base = u;
          Tessella::VectorTools::project(constant.velocity_space(),
                                         FlowFunction<2>(uniform, 2),
                                         base);
          u -= constant.velocity();
          check_below("curved, " + name + ": uniform flow",
                      u.linfty_norm(),
                      1e-10);
          check_below("curved, " + name + ": mass of a uniform flow",
                      constant.mass_error(),
                      1e-10);
        }
    }
  for (const unsigned int i : {0, 1})
    {
      const std::string name = i == 1 ? "exact" : "consistent";
      check_below("curved, " + name + ": rate of the velocity",
                  2.8,
                  std::log2(error[i][0].first / error[i][1].first));
      check_below("curved, " + name + ": rate of the pressure",
                  1.8,
                  std::log2(error[i][0].second / error[i][1].second));
    }
  check_below("curved: error of the velocity against exact quadrature",
              error[0][1].first,
              1.02 * error[1][1].first);
  check_below("curved: error of the pressure against exact quadrature",
              error[0][1].second,
              1.02 * error[1][1].second);
}



/// Symmetry planes and forces: flow along a channel whose walls have no
/// friction stays uniform, without a force on them.
template <int dim>
void
test_symmetry()
{
  class Uniform : public Flow::FlowFunctions<dim>
  {
  public:
    void
    velocity(const OperatorPoint<dim> &, double *u) const override
    {
      u[0] = 2.;
      u[1] = u[dim - 1] = 0.;
    }
  };
  Domain<dim> domain("hanging", "scattered", {1});
  for (unsigned int i = 2; i < 2 * dim; ++i)
    domain.boundary.type[i] = IncompressibleCondition::symmetry;
  const Uniform uniform;
  auto          p   = domain.parameters(SplittingMethod::dual_splitting, 2);
  p.degree          = 2;
  p.pressure_degree = 1;
  IncompressibleFlow<dim> flow(
    domain.triangulation, nullptr, domain.agglomeration, uniform, p);
  flow.initialize(0., FlowFunction<dim>(uniform, dim));
  const double step = flow.cfl_step(0.4);
  check(std::to_string(dim) + "-D, step by CFL number", step > 0. && step < 1.);
  IncompressibleFlow<dim> at_rest(
    domain.triangulation, nullptr, domain.agglomeration, uniform, p);
  at_rest.initialize(0., Functions::ZeroFunction<dim>(dim));
  // Polytopes that have no part of the boundary may be smaller.
  const double first = at_rest.cfl_step(0.4);
  check(std::to_string(dim) + "-D, step by boundary velocities",
        first > (1. - 1e-6) * step && first < 4. * step);
  for (unsigned int i = 0; i < 3; ++i)
    flow.step(step);
  const double      volume = 1.5;
  const std::string name   = std::to_string(dim) + "-D, symmetry, ";
  check_close(name + "energy",
              flow.energy_and_enstrophy().first,
              2. * volume,
              1e-9);
  check_close(name + "enstrophy", flow.energy_and_enstrophy().second, 0., 1e-9);
  for (const bool consistent : {false, true})
    for (const auto &force : flow.forces(consistent))
      for (int d = 0; d < dim; ++d)
        check_close(name + (consistent ? "consistent" : "direct") +
                      " force on part " + std::to_string(force.first),
                    force.second[d],
                    consistent && d == 0 && force.first < 2
                      ? (force.first == 0 ? -4. : 4.)
                      : 0.,
                    1e-8);
}



/// Mass errors of polytopes: u = (x, y) has the divergence 2 and gives flux 2
/// |K|.
void
test_mass_errors()
{
  class Source : public Flow::FlowFunctions<2>
  {
  public:
    void
    velocity(const OperatorPoint<2> &p, double *u) const override
    {
      u[0] = p.x[0];
      u[1] = p.x[1];
    }
  };
  const Source          source;
  const Domain<2>       domain("hanging", "scattered", {1});
  IncompressibleFlow<2> flow(domain.triangulation,
                             nullptr,
                             domain.agglomeration,
                             source,
                             domain.parameters(SplittingMethod::dual_splitting,
                                               1));
  flow.initialize(0., Functions::ZeroFunction<2>(2));
  check_below("mass errors at rest", flow.mass_error(), 0.);
  flow.initialize(0., FlowFunction<2>(source, 2));
  const std::vector<double>  errors = flow.mass_errors();
  const std::vector<double> &measure =
    flow.velocity_space().polytopic_mesh().measure;
  // 2 / |u|, the same for all polytopes. The largest mean speed lies between
  // the mean of the domain and its largest one.
  bool   same    = errors.size() == flow.velocity_space().n_polytopes();
  double largest = 0.;
  for (unsigned int k = 0; same && k < errors.size(); ++k)
    {
      same    = std::abs(errors[k] / std::sqrt(measure[k]) -
                      errors[0] / std::sqrt(measure[0])) < 1e-10;
      largest = std::max(largest, errors[k]);
    }
  check("mass errors of polytopes", same);
  const double speed = 2. * std::sqrt(measure[0]) / errors[0];
  check("mass errors, speed", speed > 0.9 && speed < std::sqrt(3.25));
  check_close("mass error", flow.mass_error(), largest, 1e-12);
}



void
test_mistakes()
{
  Domain<2>           domain("hanging", "scattered", {1});
  const MovingFlow<2> functions;
  const auto good    = domain.parameters(SplittingMethod::dual_splitting, 2);
  const auto message = [&](const IncompressibleParameters &p) {
    return message_of([&]() {
      IncompressibleFlow<2> flow(
        domain.triangulation, nullptr, domain.agglomeration, functions, p);
      flow.initialize(0., FlowFunction<2>(functions, 2));
      flow.step(0.01);
    });
  };
  check("good parameters", message(good) == "no exception");
  auto p      = good;
  p.viscosity = -1.;
  check("viscosity", contains(message(p), "The viscosity is -1"));
  p       = good;
  p.order = 4;
  check("order", contains(message(p), "Dual splitting has no order 4"));
  p.method = SplittingMethod::pressure_correction;
  p.order  = 3;
  check("order", contains(message(p), "Pressure correction has no order 3"));
  p                 = good;
  p.pressure_degree = 1;
  check("pressure degree", contains(message(p), "The pressure has degree 1"));
  p = good;
  p.boundary.add(17, IncompressibleCondition::velocity);
  check("an id that the mesh does not have",
        contains(message(p), "boundary id 17, which the mesh does not have"));
  p                       = good;
  p.boundary.n_conditions = 3;
  check("an id without a condition",
        contains(message(p), "has no boundary condition"));
  p                = good;
  p.max_iterations = 1;
  check("iterations", contains(message(p), "did not converge"));
  p                  = good;
  p.assembly.backend = Backend::cuda;
  check("backend", contains(message(p), "have no code for a CUDA device"));

  class Source : public Flow::FlowFunctions<2>
  {
  public:
    void
    velocity(const OperatorPoint<2> &p, double *u) const override
    {
      u[0] = p.x[0];
      u[1] = 0.;
    }
  };
  const Source          source;
  const Domain<2>       closed("hanging", "scattered", {});
  IncompressibleFlow<2> flow(closed.triangulation,
                             nullptr,
                             closed.agglomeration,
                             source,
                             closed.parameters(SplittingMethod::dual_splitting,
                                               2));
  check("net flux",
        contains(message_of(
                   [&]() { flow.initialize(0., FlowFunction<2>(source, 2)); }),
                 "closed domain is 1.5 at time 0"));
}



int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  // The flow leaves through part 1 of the boundary.
  for (const std::string mesh : {"distorted", "hanging"})
    {
      test_steady<2>(mesh, "none", {});
      test_steady<2>(mesh, "scattered", {1});
    }
  test_steady<3>("hanging", "scattered", {1});
  test_other_degree();
  test_orders({});
  test_orders({1});
  test_variants();
  test_rotational();
  test_dissipation();
  test_bits();
  test_end_of_subcycling();
  test_direct_pressure();
  test_short_steps();
  test_curved_quadrature();
  test_symmetry<2>();
  test_symmetry<3>();
  test_mass_errors();
  test_mistakes();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Temperature of incompressible flow: polynomials that are exact in space, heat
// fluxes, orders in time with buoyancy, conservation, restart, mistakes.

#include "../messages.h"
#include "incompressible_domain.h"

using Flow::TemperatureCondition;

/// Adds the temperature c(t) ((x - 3/2)^2 y + y^2 [+ y z]), c = 1 + moving
/// sin(3 t), with its source, and the opposite of the buoyancy to the force.
/// dT/dx is zero at x = 3/2.
template <int dim>
class WarmFlow : public MovingFlow<dim>
{
public:
  using Point = OperatorPoint<dim>;

  Flow::TemperatureParameters temperature_parameters;

  double
  c(const double t) const
  {
    return 1. + this->moving * std::sin(3. * t);
  }
  static void
  gradient(const Point &p, double *g)
  {
    const double x = p.x[0] - 1.5, y = p.x[1];
    g[0] = 2. * x * y;
    g[1] = x * x + 2. * y;
    if (dim == 3)
      {
        g[1] += p.x[dim - 1];
        g[dim - 1] = y;
      }
  }
  double
  temperature(const Point &p) const override
  {
    const double x = p.x[0] - 1.5, y = p.x[1];
    return c(p.t) * (x * x * y + y * y + (dim == 3 ? y * p.x[dim - 1] : 0.));
  }
  double
  heat_flux(const Point &p) const override
  {
    double g[dim], sum = 0.;
    gradient(p, g);
    for (int d = 0; d < dim; ++d)
      sum += g[d] * p.normal[d];
    return temperature_parameters.diffusivity * c(p.t) * sum;
  }
  double
  heat_source(const Point &p) const override
  {
    double u[3], g[dim];
    this->velocity(p, u);
    gradient(p, g);
    double result =
      3. * this->moving * std::cos(3. * p.t) * temperature(p) / c(p.t) -
      temperature_parameters.diffusivity * c(p.t) * (2. * p.x[1] + 2.);
    for (int d = 0; d < dim; ++d)
      result += c(p.t) * u[d] * g[d];
    return result;
  }
  void
  force(const Point &p, double *f) const override
  {
    MovingFlow<dim>::force(p, f);
    const auto &t = temperature_parameters;
    for (int d = 0; d < dim; ++d)
      f[d] += t.expansion * (temperature(p) - t.reference) * t.gravity[d];
  }
};

/// The temperature as a function of deal.II.
template <int dim>
class TemperatureFunction : public Function<dim>
{
public:
  explicit TemperatureFunction(const Flow::FlowFunctions<dim> &flow)
    : flow(flow)
  {}
  double
  value(const Point<dim> &x, const unsigned int) const override
  {
    OperatorPoint<dim> p = {};
    for (int d = 0; d < dim; ++d)
      p.x[d] = x[d];
    p.t = this->get_time();
    return flow.temperature(p);
  }

private:
  const Flow::FlowFunctions<dim> &flow;
};

/// All types of conditions of the temperature; boundary id 1 is an outflow.
template <int dim>
Flow::TemperatureParameters
warm()
{
  Flow::TemperatureParameters t;
  t.enabled                          = true;
  t.diffusivity                      = 0.05;
  t.expansion                        = 0.7;
  t.gravity                          = {{1., -2., 0.5}};
  t.reference                        = 0.3;
  const TemperatureCondition types[] = {TemperatureCondition::temperature,
                                        TemperatureCondition::outflow,
                                        TemperatureCondition::heat_flux};
  for (unsigned int id = 0; id < 2 * dim; ++id)
    t.boundary.add(id, types[id % 3 == 1 && id != 1 ? 0 : id % 3]);
  return t;
}

/// Errors of velocity, pressure and temperature.
template <int dim>
std::vector<double>
all_errors(const IncompressibleFlow<dim> &flow, const WarmFlow<dim> &functions)
{
  const auto               e = errors(flow, functions);
  TemperatureFunction<dim> t(functions);
  t.set_time(flow.time());
  return {e.first,
          e.second,
          error_of(flow.temperature_space(), flow.temperature(), t)};
}



/// A steady state in the discrete spaces stays as it is, and has the heat
/// fluxes of its polynomials.
template <int dim>
void
test_steady(const std::string &mesh, const std::string &agglomeration)
{
  const Domain<dim> domain(mesh, agglomeration, {1});
  WarmFlow<dim>     functions;
  functions.temperature_parameters = warm<dim>();
  for (const auto method :
       {SplittingMethod::dual_splitting, SplittingMethod::pressure_correction})
    {
      auto p        = domain.parameters(method, 2);
      p.temperature = functions.temperature_parameters;
      IncompressibleFlow<dim> flow(
        domain.triangulation, nullptr, domain.agglomeration, functions, p);
      const FlowFunction<dim>        u(functions, dim), pressure(functions, 1);
      const TemperatureFunction<dim> t(functions);
      flow.initialize(0., u, &pressure, &t);
      for (const double dt : {0.01, 0.012, 0.009})
        flow.step(dt);
      const auto        e = all_errors(flow, functions);
      const std::string name =
        std::to_string(dim) + "-D, " + mesh + ", " + name_of(p) + ": ";
      check_below(name + "steady velocity", e[0], 2e-9);
      check_below(name + "steady pressure", e[1], 2e-8);
      check_below(name + "steady temperature", e[2], 1e-10);
      // kappa int Laplace(T) = 3 * 1.5 kappa, and that through y = 0: kappa int
      // - (x - 3/2)^2 [- z] = -1.125 kappa [- 0.75 kappa].
      for (const bool consistent : {false, true})
        {
          const auto fluxes = flow.heat_fluxes(consistent);
          double     sum    = 0.;
          for (const auto &id : fluxes)
            sum += id.second;
          check_below(name + "sum of heat fluxes",
                      std::abs(sum - 4.5 * p.temperature.diffusivity),
                      1e-9);
          check_below(name + "heat flux",
                      std::abs(fluxes.at(2) + (dim == 2 ? 1.125 : 1.875) *
                                                p.temperature.diffusivity),
                      1e-9);
        }
    }
}



void
test_orders()
{
  const Domain<2> domain("box", "none", {1});
  WarmFlow<2>     functions;
  functions.moving                 = 0.5;
  functions.temperature_parameters = warm<2>();
  struct Case
  {
    SplittingMethod method;
    unsigned int    order;
    double          variation, rates[3];
    unsigned int    n_subcycles = 0;
  };
  const auto dual       = SplittingMethod::dual_splitting,
             correction = SplittingMethod::pressure_correction;
  for (const Case &c : {Case{dual, 1, 0., {.9, .8, .9}},
                        Case{dual, 2, 0.2, {1.9, 1.4, 1.9}},
                        Case{dual, 3, 0., {2.8, 1.8, 2.8}},
                        Case{correction, 2, 0., {1.9, 1.4, 1.9}},
                        Case{dual, 3, 0., {2.8, 1.8, 2.8}, 2},
                        Case{correction, 2, 0.2, {1.9, 1.4, 1.9}, 2}})
    {
      auto p        = domain.parameters(c.method, c.order);
      p.temperature = functions.temperature_parameters;
      p.n_subcycles = c.n_subcycles;
      std::vector<double> e[2];
      for (unsigned int i = 0; i < 2; ++i)
        {
          IncompressibleFlow<2> flow(
            domain.triangulation, nullptr, domain.agglomeration, functions, p);
          const unsigned int     n  = 24 << i;
          const double           dt = 0.5 / n;
          FlowFunction<2>        u(functions, 2), pressure(functions, 1);
          TemperatureFunction<2> t(functions);
          flow.initialize_with_past(0., dt, u, pressure, &t);
          for (unsigned int step = 0; step < n; ++step)
            flow.step((step % 2 == 0 ? 1. + c.variation : 1. - c.variation) *
                      dt);
          e[i] = all_errors(flow, functions);
        }
      const std::string names[] = {"velocity", "pressure", "temperature"};
      for (unsigned int i = 0; i < 3; ++i)
        check_below(name_of(p) + (c.n_subcycles > 0 ? ", subcycles" : "") +
                      ": order of the " + names[i],
                    c.rates[i],
                    std::log2(e[0][i] / e[1][i]));
    }
}



/// A flow at rest at the boundary, which is insulated, and which has no data.
class ClosedFlow : public Flow::FlowFunctions<2>
{
public:
  void
  velocity(const OperatorPoint<2> &p, double *u) const override
  {
    u[0] = u[1] = 0.;
    if (p.x[0] > 0. && p.x[0] < 1.5 && p.x[1] > 0. && p.x[1] < 1.)
      {
        u[0] = std::sin(4. * p.x[1]);
        u[1] = std::cos(3. * p.x[0]);
      }
  }
  double
  temperature(const OperatorPoint<2> &p) const override
  {
    return std::exp(p.x[0] - p.x[1]);
  }
};

/// The integral of the temperature stays as it is, whatever the velocity and
/// the tolerance of the solvers.
void
test_conservation()
{
  const Domain<2>  domain("hanging", "scattered", {});
  const ClosedFlow functions;
  for (const unsigned int n_subcycles : {0U, 2U})
    {
      auto p        = domain.parameters(SplittingMethod::dual_splitting, 3);
      p.tolerance   = 1e-3;
      p.n_subcycles = n_subcycles;
      p.temperature.enabled   = true;
      p.temperature.expansion = n_subcycles;
      p.temperature.gravity   = {{0., -1., 0.}};
      p.temperature.reference = 0.4;
      for (unsigned int id = 0; id < 4; ++id)
        p.temperature.boundary.add(id, TemperatureCondition::heat_flux);
      IncompressibleFlow<2> flow(
        domain.triangulation, nullptr, domain.agglomeration, functions, p);
      const FlowFunction<2>        u(functions, 2);
      const TemperatureFunction<2> t(functions);
      flow.initialize(0., u, nullptr, &t);
      const double       before = flow.temperature_integral();
      HostVector<double> change(flow.temperature());
      for (const double dt : {0.01, 0.012, 0.009, 0.01})
        flow.step(dt);
      change -= flow.temperature();
      check_below("integral", std::abs(before - 2.200847), 1e-5);
      check_below("conservation",
                  std::abs(flow.temperature_integral() - before),
                  1e-13);
      check_below("change of the temperature", 1e-3, change.l2_norm());
      // The reference temperature stays as it is.
      flow.initialize(0., u);
      const HostVector<double> reference(flow.temperature());
      for (const double dt : {0.01, 0.012, 0.009, 0.01})
        flow.step(dt);
      change = flow.temperature();
      change -= reference;
      check_below("reference temperature", change.linfty_norm(), 1e-13);
    }
}



void
test_restart()
{
  const Domain<2> domain("hanging", "scattered", {1});
  WarmFlow<2>     functions;
  functions.moving                 = 0.5;
  functions.temperature_parameters = warm<2>();
  for (const auto method :
       {SplittingMethod::dual_splitting, SplittingMethod::pressure_correction})
    {
      auto p =
        domain.parameters(method,
                          method == SplittingMethod::dual_splitting ? 3 : 2);
      p.tolerance     = 1e-7;
      p.temperature   = functions.temperature_parameters;
      const auto flow = [&]() {
        return std::make_unique<IncompressibleFlow<2>>(
          domain.triangulation, nullptr, domain.agglomeration, functions, p);
      };
      const auto                   first = flow(), second = flow();
      const FlowFunction<2>        u(functions, 2);
      const TemperatureFunction<2> t(functions);
      first->initialize(0., u, nullptr, &t);
      for (const double dt : {0.02, 0.025, 0.02, 0.03})
        first->step(dt);
      first->write_state("state");
      second->read_state("state");
      for (auto *f : {first.get(), second.get()})
        for (const double dt : {0.02, 0.025})
          f->step(dt);
      check(name_of(p) + ": restart",
            same_bits(first->velocity(), second->velocity()) &&
              same_bits(first->pressure(), second->pressure()) &&
              same_bits(first->temperature(), second->temperature()));
      second->initialize(0., *first);
      check(name_of(p) + ": start from another flow",
            same_bits(first->temperature(), second->temperature()));
      p.temperature.enabled = false;
      const auto isothermal = flow();
      check(name_of(p) + ": state with a temperature",
            contains(message_of([&]() { isothermal->read_state("state"); }),
                     "with a temperature"));
      check(name_of(p) + ": no temperature",
            contains(message_of([&]() { isothermal->temperature(); }),
                     "The flow has no temperature"));
    }
}



void
test_mistakes()
{
  const Domain<2> domain("hanging", "scattered", {1});
  WarmFlow<2>     functions;
  const auto      message = [&](const IncompressibleParameters &p) {
    return message_of([&]() {
      IncompressibleFlow<2> flow(
        domain.triangulation, nullptr, domain.agglomeration, functions, p);
      flow.initialize(0., FlowFunction<2>(functions, 2));
      flow.step(0.01);
    });
  };
  auto good        = domain.parameters(SplittingMethod::dual_splitting, 2);
  good.temperature = warm<2>();
  check("good parameters", message(good) == "no exception");
  for (const double diffusivity : {0., -1.})
    {
      auto p                    = good;
      p.temperature.diffusivity = diffusivity;
      check("diffusivity",
            contains(message(p), "The diffusivity of the temperature is "));
    }
  auto p = good;
  p.temperature.boundary.add(17, TemperatureCondition::heat_flux);
  check("an id that the mesh does not have",
        contains(message(p),
                 "condition of the temperature for boundary id 17, which the "
                 "mesh does not have"));
  p                                   = good;
  p.temperature.boundary.n_conditions = 3;
  check("an id without a condition",
        contains(message(p),
                 "Boundary id 3 has no boundary condition of the "
                 "temperature"));
  p = good;
  p.temperature.boundary.add(2, TemperatureCondition::heat_flux);
  check("two conditions",
        contains(message(p), "Boundary id 2 has more than one"));
}



int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  test_steady<2>("distorted", "none");
  test_steady<2>("hanging", "scattered");
  test_steady<3>("hanging", "scattered");
  test_orders();
  test_conservation();
  test_restart();
  test_mistakes();
}

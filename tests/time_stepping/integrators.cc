// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Time integrators: order conditions of the tableaux, orders with constant and
// with variable steps for two coupled nonlinear equations with a known
// solution, exactness of BDF coefficients for polynomials, control of steps,
// Newton's method, and mistakes.

#include <deal.II/lac/vector.h>

#include <tessella/time_stepping/bdf.h>
#include <tessella/time_stepping/explicit_runge_kutta.h>
#include <tessella/time_stepping/newton_solver.h>
#include <tessella/time_stepping/sdirk.h>

#include <functional>
#include <random>

#include "../messages.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;
using V = Vector<double>;

// Right-hand side of two equations with the solution u = exp(sin t), v = 1 / (2
// + t).
void
derivative(const double t, const V &u, V &f)
{
  f[0] = u[0] * std::cos(t) + u[0] * (u[1] - 1. / (2. + t));
  f[1] = -u[1] * u[1] + 0.5 * (u[0] - std::exp(std::sin(t)));
}

V
exact(const double t)
{
  V u(2);
  u[0] = std::exp(std::sin(t));
  u[1] = 1. / (2. + t);
  return u;
}

// Solves u = known + tau f(t, u) by Newton's method with the exact derivative.
void
solve_stage(const double t, const double tau, const V &known, V &u)
{
  NewtonSolver<V>::AdditionalData data;
  data.relative_tolerance = 0.;
  data.absolute_tolerance = 1e-14;
  NewtonSolver<V> newton(data);
  newton.solve(
    [&](const V &x, V &g) {
      derivative(t, x, g);
      g.sadd(-tau, 1., x);
      g.add(-1., known);
    },
    [&](const V &x, const V &g, V &dx) {
      const double a = 1. - tau * (std::cos(t) + x[1] - 1. / (2. + t)),
                   b = -tau * x[0], c = -0.5 * tau, d = 1. + 2. * tau * x[1],
                   det = a * d - b * c;
      dx[0]            = (d * g[0] - b * g[1]) / det;
      dx[1]            = (a * g[1] - c * g[0]) / det;
    },
    u);
}

using Step = std::function<void(const double, const double, V &)>;

// Error at the end of [0, 2] with n steps: equal, or with ratios from a pattern
// of eight random lengths between 0.75 and 1.25.
double
error(const Step &step, const unsigned int n, const bool variable)
{
  std::mt19937        random(7);
  std::vector<double> pattern(8, 1.);
  double              sum = 0.;
  for (double &p : pattern)
    {
      if (variable)
        p = 0.75 + 0.5 * (random() / 4294967296.);
      sum += p;
    }
  V      u = exact(0.);
  double t = 0.;
  for (unsigned int i = 0; i < n; ++i)
    {
      const double dt = pattern[i % 8] * 2. * 8. / sum / n;
      step(t, dt, u);
      t += dt;
    }
  u -= exact(2.);
  return u.l2_norm();
}

void
check_order(const std::string           &name,
            const std::function<Step()> &make,
            const unsigned int           order,
            const unsigned int           n)
{
  for (const bool variable : {false, true})
    {
      const double coarse = error(make(), n, variable),
                   fine   = error(make(), 2 * n, variable);
      // A smaller error than the order promises is no mistake.
      check_below(name + (variable ? ", variable steps" : ", equal steps"),
                  order - rate(coarse, fine),
                  0.1);
      check_below("  not of higher order", rate(coarse, fine) - order, 0.25);
    }
}

// All conditions for trees of up to four vertices.
double
order_defect(const RungeKuttaTableau   &t,
             const std::vector<double> &b,
             const unsigned int         order)
{
  const unsigned int s     = b.size();
  const auto         times = [&](const std::vector<double> &x) {
    std::vector<double> y(s, 0.);
    for (unsigned int i = 0; i < s; ++i)
      for (unsigned int j = 0; j <= i; ++j)
        y[i] += t.a[i][j] * x[j];
    return y;
  };
  const auto product = [](std::vector<double> x, const std::vector<double> &y) {
    for (unsigned int i = 0; i < x.size(); ++i)
      x[i] *= y[i];
    return x;
  };
  const auto sum = [&](const std::vector<double> &x) {
    double result = 0.;
    for (unsigned int i = 0; i < s; ++i)
      result += b[i] * x[i];
    return result;
  };
  const std::vector<double> one(s, 1.), c = times(one), c2 = product(c, c);
  double                    defect = std::abs(sum(one) - 1.);
  for (unsigned int i = 0; i < s; ++i)
    defect = std::max(defect, std::abs(c[i] - t.c[i]));
  const auto add = [&](const unsigned int         p,
                       const std::vector<double> &x,
                       const double               value) {
    if (order >= p)
      defect = std::max(defect, std::abs(sum(x) - value));
  };
  add(2, c, 1. / 2.);
  add(3, c2, 1. / 3.);
  add(3, times(c), 1. / 6.);
  add(4, product(c, c2), 1. / 4.);
  add(4, product(c, times(c)), 1. / 8.);
  add(4, times(c2), 1. / 12.);
  add(4, times(times(c)), 1. / 24.);
  return defect;
}

void
check_tableaux()
{
  std::vector<RungeKuttaTableau> all;
  for (const auto m : {ExplicitMethod::forward_euler,
                       ExplicitMethod::ssp_2,
                       ExplicitMethod::ssp_3,
                       ExplicitMethod::classic_4,
                       ExplicitMethod::bogacki_shampine,
                       ExplicitMethod::dormand_prince})
    all.push_back(explicit_tableau(m));
  for (unsigned int order = 1; order <= 4; ++order)
    {
      all.push_back(sdirk_tableau(order));
      check(all.back().name + " ends with its last stage",
            all.back().is_stiffly_accurate());
    }
  for (const RungeKuttaTableau &t : all)
    {
      check_below(t.name, order_defect(t, t.b, t.order), 1e-14);
      if (!t.b_embedded.empty())
        check_below("  embedded method",
                    order_defect(t, t.b_embedded, t.embedded_order),
                    1e-14);
    }
}

// Derivative and value at t^{n+1} of polynomials of all degrees up to the
// order.
void
check_bdf()
{
  std::mt19937 random(3);
  double       worst = 0.;
  for (unsigned int order = 1; order <= 4; ++order)
    for (unsigned int sample = 0; sample < 20; ++sample)
      {
        std::vector<double> steps(order);
        for (double &h : steps)
          h = 0.01 + random() / 4294967296.;
        const BDFCoefficients c = bdf_coefficients(order, steps);
        for (unsigned int degree = 0; degree <= order; ++degree)
          {
            // (t - t^{n+1} + 1)^degree
            double derivative = c.gamma, value = 0., x = 1., size = 1.;
            for (unsigned int i = 0; i < order; ++i)
              {
                x -= steps[i];
                derivative -= c.alpha[i] * std::pow(x, degree);
                value += c.beta[i] * std::pow(x, degree);
                size += std::abs(c.beta[i] * std::pow(x, degree));
              }
            worst =
              std::max(worst, std::abs(derivative - steps[0] * degree) / size);
            if (degree < order)
              worst = std::max(worst, std::abs(value - 1.) / size);
          }
      }
  check_below("BDF coefficients and polynomials", worst, 1e-13);
  const BDFCoefficients c = bdf_coefficients(2, {0.1, 0.1});
  check("BDF of order 2",
        std::abs(c.gamma - 1.5) < 1e-15 && std::abs(c.alpha[0] - 2.) < 1e-15 &&
          std::abs(c.alpha[1] + 0.5) < 1e-15 &&
          std::abs(c.beta[0] - 2.) < 1e-15 && std::abs(c.beta[1] + 1.) < 1e-15);
}

void
check_orders()
{
  for (const auto m : {ExplicitMethod::forward_euler,
                       ExplicitMethod::ssp_2,
                       ExplicitMethod::ssp_3,
                       ExplicitMethod::classic_4,
                       ExplicitMethod::bogacki_shampine,
                       ExplicitMethod::dormand_prince})
    {
      const RungeKuttaTableau t = explicit_tableau(m);
      check_order(
        t.name,
        [m]() {
          auto method = std::make_shared<ExplicitRungeKutta<V>>(m);
          return [method](const double t, const double dt, V &u) {
            method->step(derivative, t, dt, u);
          };
        },
        t.order,
        t.order == 1 ? 512 : 64);
    }
  for (const auto m : {LowStorageMethod::williamson_3,
                       LowStorageMethod::carpenter_kennedy_4,
                       LowStorageMethod::kennedy_3,
                       LowStorageMethod::kennedy_4,
                       LowStorageMethod::kennedy_5})
    check_order(
      "low storage " + std::to_string(int(m)),
      [m]() {
        auto method = std::make_shared<LowStorageRungeKutta<V>>(m);
        return [method](const double t, const double dt, V &u) {
          method->step(derivative, t, dt, u);
        };
      },
      low_storage_tableau(m).order,
      m == LowStorageMethod::kennedy_5 ? 32 : 128);
  for (unsigned int order = 1; order <= 4; ++order)
    {
      check_order(
        "SDIRK " + std::to_string(order),
        [order]() {
          auto method = std::make_shared<SDIRK<V>>(order);
          return [method](const double t, const double dt, V &u) {
            method->step(solve_stage, t, dt, u);
          };
        },
        order,
        order == 1 ? 512 : 128);
      check_order(
        "BDF " + std::to_string(order),
        [order]() {
          auto method = std::make_shared<BDF<V>>(order);
          return [method](const double t, const double dt, V &u) {
            method->step(solve_stage, t, dt, u);
          };
        },
        order,
        order == 1 ? 512 : 128);
    }
}

// Steps by error estimates: the end is hit exactly, and the error is in
// proportion to the tolerance.
void
check_control()
{
  for (const double tolerance : {1e-5, 1e-7})
    for (const bool implicit : {false, true})
      {
        ExplicitRungeKutta<V> rk(ExplicitMethod::dormand_prince);
        SDIRK<V>              sdirk(3);
        PIController          control(implicit ? sdirk.tableau().embedded_order
                                      : rk.tableau().embedded_order);
        V                     u = exact(0.), old(2), e(2);
        double                t = 0., dt = 1.;
        unsigned int          n = 0, n_rejected = 0;
        while (t < 2. && n < 5000)
          {
            const FittedStep next = fit_step(t, 2., dt);
            old                   = u;
            if (implicit)
              sdirk.step(solve_stage, t, next.length, u, e);
            else
              rk.step(derivative, t, next.length, u, e);
            ++n;
            if (control.accept(error_ratio(e, u, tolerance, tolerance)))
              t = next.end;
            else
              {
                u = old;
                ++n_rejected;
              }
            dt = next.length * control.factor();
          }
        u -= exact(2.);
        const std::string name =
          (implicit ? "SDIRK 3, tolerance " : "Dormand-Prince, tolerance ") +
          std::string(tolerance > 1e-6 ? "1e-5" : "1e-7");
        check(name + ": end of the interval", t == 2.);
        check_below("  error", u.l2_norm(), 100. * tolerance);
        check_below("  rejected steps", n_rejected, 0.2 * n + 3.);
      }
  double       t = 0.1;
  unsigned int n = 0;
  for (; t < 0.7; ++n)
    t = fit_step(t, 0.7, 0.07).end;
  check("equal steps to the end", t == 0.7 && n == 9);
}

void
check_mistakes()
{
  const auto fails = [](const std::string           &name,
                        const std::function<void()> &function,
                        const std::string           &part) {
    const std::string message = message_of(function);
    if (!check(name, contains(message, part)))
      deallog << message << std::endl;
  };
  V u(2);
  fails(
    "SDIRK 5", []() { SDIRK<V> m(5); }, "no SDIRK method of order 5");
  fails(
    "BDF 0", []() { BDF<V> m(0); }, "no BDF method of order 0");
  fails(
    "BDF 5", []() { BDF<V> m(5); }, "no BDF method of order 5");
  for (const double dt : {0., -1., std::nan("")})
    fails(
      "step",
      [&]() {
        ExplicitRungeKutta<V>(ExplicitMethod::ssp_3)
          .step(derivative, 0., dt, u);
      },
      "must be positive and finite");
  fails(
    "step of BDF",
    [&]() { BDF<V>(2).step(solve_stage, 0., -0.1, u); },
    "must be positive and finite");
  fails(
    "no embedded method",
    [&]() {
      V e(2);
      SDIRK<V>(1).step(solve_stage, 0., 0.1, u, e);
    },
    "implicit Euler has no embedded method");
  fails(
    "vectors of another size",
    [&]() {
      TimeHistory<V> history(2);
      history.push(0.1, u);
      history.push(0.1, V(3));
    },
    "vectors of 2 entries and cannot take one of 3");
  fails(
    "too many steps",
    []() { fit_step(0., 1., 1e-9); },
    "more than 1e+07 time steps");
  fails(
    "empty interval", []() { fit_step(1., 1., 0.1); }, "must be after");
  // g(u) = u^2 + 1 has no root; g is not defined below 1/2.
  NewtonSolver<V> newton;
  const V         start = exact(0.);
  u                     = start;
  fails(
    "no root",
    [&]() {
      newton.solve(
        [](const V &x, V &g) {
          AssertThrow(x[0] > 0.5, ExcMessage("The state is too small."));
          g[0] = x[0] * x[0] + 1.;
          g[1] = 0.;
        },
        [](const V &x, const V &g, V &dx) { dx[0] = g[0] / (2. * x[0]); },
        u);
    },
    "found no step that makes the residual fall");
  check("the state is left as it was", u == start);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  check_tableaux();
  check_bdf();
  check_orders();
  check_control();
  check_mistakes();
}

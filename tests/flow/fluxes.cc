// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Numerical fluxes of the Euler equations and states on boundaries, at points,
// and functors of flow at several points at once.

#include <deal.II/base/mpi.h>

#include <tessella/flow/boundary_conditions.h>
#include <tessella/flow/euler.h>
#include <tessella/flow/numerical_fluxes.h>
#include <tessella/flow/steady_integrands.h>
#include <tessella/forms/lanes_evaluation.h>
#include <tessella/portable/lanes.h>

#include <string>

#include "../tests.h"
#include "states.h"

using namespace Flow;

template <int dim>
std::vector<double>
physical(const std::vector<double> &u, const std::vector<double> &n)
{
  const IdealGas<dim> gas;
  std::vector<double> f(dim + 2, 0.);
  double              columns[dim + 2][dim];
  gas.flux(u.data(), columns);
  for (int c = 0; c < dim + 2; ++c)
    for (int d = 0; d < dim; ++d)
      f[c] += columns[c][d] * n[d];
  return f;
}

template <int dim, typename F>
std::vector<double>
numerical(const F                   &flux,
          const std::vector<double> &u0,
          const std::vector<double> &u1,
          const std::vector<double> &n)
{
  std::vector<double> f(dim + 2);
  flux(IdealGas<dim>(), u0.data(), u1.data(), n.data(), f.data());
  return f;
}

double
distance(const std::vector<double> &a, const std::vector<double> &b)
{
  double result = 0.;
  for (unsigned int c = 0; c < a.size(); ++c)
    result = std::max(result, std::abs(a[c] - b[c]));
  return result;
}

/// A number for all lanes and the same with each lane alone.
template <int dim, typename F>
double
lanes_against_numbers(const F &flux, const unsigned int i)
{
  const std::vector<double> n = random_normal<dim>(i);
  Lanes<4>                  u0[dim + 2], u1[dim + 2], f[dim + 2];
  for (int l = 0; l < 4; ++l)
    for (int c = 0; c < dim + 2; ++c)
      {
        u0[c].v[l] = random_state<dim>(4 * i + l)[c];
        u1[c].v[l] = random_state<dim>(4 * i + l + 100)[c];
      }
  flux(IdealGas<dim>(), u0, u1, n.data(), f);
  double difference = 0.;
  for (int l = 0; l < 4; ++l)
    {
      const auto one = numerical<dim>(flux,
                                      random_state<dim>(4 * i + l),
                                      random_state<dim>(4 * i + l + 100),
                                      n);
      for (int c = 0; c < dim + 2; ++c)
        difference = std::isfinite(f[c].v[l])
                       ? std::max(difference, std::abs(one[c] - f[c].v[l]))
                       : 1e300;
    }
  return difference;
}

template <int dim, typename F>
void
test_flux(const std::string  &name,
          const F            &flux,
          const NumericalFlux type,
          const bool          has_contact)
{
  const IdealGas<dim> gas;
  ChosenFlux          chosen;
  chosen.type        = type;
  double consistency = 0., conservation = 0., choice = 0., lanes = 0.;
  for (unsigned int i = 0; i < 200; ++i)
    {
      const auto u0 = random_state<dim>(i), u1 = random_state<dim>(i + 300),
                 n = random_normal<dim>(i);
      auto minus   = n;
      for (double &entry : minus)
        entry = -entry;
      consistency  = std::max(consistency,
                             distance(numerical<dim>(flux, u0, u0, n),
                                      physical<dim>(u0, n)));
      const auto f = numerical<dim>(flux, u0, u1, n);
      auto       g = numerical<dim>(flux, u1, u0, minus);
      for (double &entry : g)
        entry = -entry;
      conservation = std::max(conservation, distance(f, g));
      choice = std::max(choice, distance(f, numerical<dim>(chosen, u0, u1, n)));
      lanes  = std::max(lanes, lanes_against_numbers<dim>(flux, i));
    }
  check_below(name + ", consistency", consistency, 1e-13);
  check_below(name + ", conservation", conservation, 2e-13);
  check(name + " is chosen", choice == 0.);
  check_below(name + ", lanes", lanes, 1e-14);

  // Two streams along n meet: all fluxes give the momentum p + rho v^2 +
  // rho v s with the speed s of their fastest wave, and nothing else.
  const auto          n   = random_normal<dim>(7);
  const double        rho = 1.3, v = 0.4, p = 0.9;
  std::vector<double> velocity(dim), opposite(dim), expected(dim + 2, 0.);
  for (int d = 0; d < dim; ++d)
    {
      velocity[d] = v * n[d];
      opposite[d] = -v * n[d];
    }
  const double c     = std::sqrt(1.4 * p / rho),
               roe_c = std::sqrt(0.4 * (1.4 / 0.4 * p / rho + 0.5 * v * v)),
               s     = type == NumericalFlux::roe            ? roe_c
                       : type == NumericalFlux::hll_of_means ? c
                                                             : c + v;
  for (int d = 0; d < dim; ++d)
    expected[1 + d] = (p + rho * v * (v + s)) * n[d];
  check_below(name + ", two streams",
              distance(numerical<dim>(flux,
                                      state<dim>(rho, velocity, p),
                                      state<dim>(rho, opposite, p),
                                      n),
                       expected),
              1e-13);

  // A contact at rest with shear.
  std::vector<double> along0(dim), along1(dim);
  for (int d = 0; d < dim; ++d)
    along0[d] = random_normal<dim>(9)[d];
  double normal = 0.;
  for (int d = 0; d < dim; ++d)
    normal += along0[d] * n[d];
  for (int d = 0; d < dim; ++d)
    {
      along0[d] -= normal * n[d];
      along1[d]       = -0.3 * along0[d];
      expected[1 + d] = p * n[d];
    }
  const double difference =
    distance(numerical<dim>(flux,
                            state<dim>(rho, along0, p),
                            state<dim>(0.5 * rho, along1, p),
                            n),
             expected);
  check(name + (has_contact ? " keeps" : " spreads") + " a contact",
        has_contact ? difference < 1e-13 : difference > 1e-2);

  // Flow through the facet with more than the speed of sound on both sides.
  if (type == NumericalFlux::rusanov)
    return;
  double upwind = 0.;
  for (unsigned int i = 0; i < 20; ++i)
    {
      std::vector<double> fast[2];
      for (unsigned int k = 0; k < 2; ++k)
        {
          const auto          u = random_state<dim>(40 * i + k);
          std::vector<double> w(dim);
          for (int d = 0; d < dim; ++d)
            w[d] = u[1 + d] / u[0] + 9. * n[d];
          fast[k] = state<dim>(u[0], w, gas.pressure(u.data()));
        }
      upwind = std::max(upwind,
                        distance(numerical<dim>(flux, fast[0], fast[1], n),
                                 physical<dim>(fast[0], n)));
    }
  check_below(name + ", upwind", upwind / 1e3, 1e-13);

  // A shock at rest of Mach number 2 (Rankine and Hugoniot): exact for Roe's
  // flux, if no speed is changed, and for HLL and HLLC with exact speeds.
  if (type != NumericalFlux::roe)
    return;
  const double m2 = 4., c0 = std::sqrt(1.4 * p / rho),
               compression = 2.4 * m2 / (0.4 * m2 + 2.);
  for (int d = 0; d < dim; ++d)
    {
      velocity[d] = 2. * c0 * n[d] + along0[d];
      opposite[d] = 2. * c0 / compression * n[d] + along0[d];
    }
  const auto before = state<dim>(rho, velocity, p),
             after  = state<dim>(rho * compression,
                                opposite,
                                p * (1. + 2.8 / 2.4 * (m2 - 1.)));
  Roe without;
  without.entropy_fix = 1e-12;
  check_below(name + ", fluxes at a shock",
              distance(physical<dim>(before, n), physical<dim>(after, n)),
              1e-13);
  check_below(name + ", shock",
              distance(numerical<dim>(without, before, after, n),
                       physical<dim>(before, n)),
              1e-11);
}



/// Speeds that do not depend on the states.
struct HeldSpeeds
{
  inline static double slow, fast;

  template <int dim, typename Number>
  static void
  compute(const IdealGas<dim> &,
          const Primitive<Number> &,
          const Primitive<Number> &,
          Number &s0,
          Number &s1)
  {
    s0 = slow;
    s1 = fast;
  }
};

/// Roe's flux of u0 and u1 with the mean values and speeds of v0 and v1, by the
/// strengths of the waves in Toro's section 11.2.
template <int dim>
std::vector<double>
held_roe(const std::vector<double> &u0,
         const std::vector<double> &u1,
         const std::vector<double> &v0,
         const std::vector<double> &v1,
         const std::vector<double> &n)
{
  const IdealGas<dim> gas;
  const double r0 = std::sqrt(v0[0]), r1 = std::sqrt(v1[0]), density = r0 * r1;
  double       velocity[dim], v = 0., square = 0.;
  for (int d = 0; d < dim; ++d)
    {
      velocity[d] = (v0[1 + d] / r0 + v1[1 + d] / r1) / (r0 + r1);
      v += velocity[d] * n[d];
      square += velocity[d] * velocity[d];
    }
  const double h = ((v0[dim + 1] + gas.pressure(v0.data())) / r0 +
                    (v1[dim + 1] + gas.pressure(v1.data())) / r1) /
                   (r0 + r1),
               c  = std::sqrt(0.4 * (h - 0.5 * square)),
               dp = gas.pressure(u1.data()) - gas.pressure(u0.data());
  double dv       = 0., difference[dim];
  for (int d = 0; d < dim; ++d)
    {
      difference[d] = u1[1 + d] / u1[0] - u0[1 + d] / u0[0];
      dv += difference[d] * n[d];
    }
  const auto fixed = [&](const double s) {
    const double delta = 0.1 * (std::abs(v) + c);
    return std::abs(s) < delta ? 0.5 * (s * s / delta + delta) : std::abs(s);
  };
  std::vector<double> f = physical<dim>(u0, n), g = physical<dim>(u1, n);
  const auto          add = [&](const double speed,
                       const double strength,
                       const double mass,
                       const double along,
                       const double energy) {
    f[0] -= speed * strength * mass;
    for (int d = 0; d < dim; ++d)
      f[1 + d] -= speed * strength * (mass * velocity[d] + along * n[d]);
    f[dim + 1] -= speed * strength * energy;
  };
  add(fixed(v - c), (dp - density * c * dv) / (2. * c * c), 1., -c, h - c * v);
  add(fixed(v + c), (dp + density * c * dv) / (2. * c * c), 1., c, h + c * v);
  add(std::abs(v), u1[0] - u0[0] - dp / (c * c), 1., 0., 0.5 * square);
  for (int d = 0; d < dim; ++d)
    {
      const double shear = std::abs(v) * density * (difference[d] - dv * n[d]);
      f[1 + d] -= shear;
      f[dim + 1] -= shear * velocity[d];
    }
  for (int c = 0; c < dim + 2; ++c)
    f[c] = 0.5 * (f[c] + g[c]);
  return f;
}

/// Derivatives of a flux with constant speeds against differences of @p held,
/// and that they are not those of @p exact.
template <int dim, typename Frozen, typename Exact, typename Held>
void
test_frozen(const std::string &name,
            const Frozen      &frozen,
            const Exact       &exact,
            const Held        &held)
{
  constexpr int n = dim + 2;
  using Number    = Dual<2 * n>;
  double values = 0., derivatives = 0., changes = 0., consistency = 0.;
  for (unsigned int i = 0; i < 100; ++i)
    {
      const std::vector<double> u[2]   = {random_state<dim>(i),
                                          random_state<dim>(i + 300)},
                                normal = random_normal<dim>(i);
      Number v[2][n], f[n], g[n];
      for (int s = 0; s < 2; ++s)
        for (int c = 0; c < n; ++c)
          {
            v[s][c]                       = u[s][c];
            v[s][c].derivative[s * n + c] = 1.;
          }
      frozen(IdealGas<dim>(), v[0], v[1], normal.data(), f);
      exact(IdealGas<dim>(), v[0], v[1], normal.data(), g);
      DavisSpeeds::compute(
        IdealGas<dim>(),
        IdealGas<dim>().primitive(u[0].data(), normal.data()),
        IdealGas<dim>().primitive(u[1].data(), normal.data()),
        HeldSpeeds::slow,
        HeldSpeeds::fast);
      for (int direction = 0; direction < 2 * n; ++direction)
        {
          // Differences of fourth order.
          const double        length = 2e-4;
          std::vector<double> difference(n, 0.);
          for (const auto &term : {std::make_pair(1., 8.),
                                   std::make_pair(-1., -8.),
                                   std::make_pair(2., -1.),
                                   std::make_pair(-2., 1.)})
            {
              std::vector<double> w[2] = {u[0], u[1]};
              w[direction / n][direction % n] += term.first * length;
              const auto h = held(w[0], w[1], u[0], u[1], normal);
              for (int c = 0; c < n; ++c)
                difference[c] += term.second * h[c] / (12. * length);
            }
          for (int c = 0; c < n; ++c)
            {
              derivatives =
                std::max(derivatives,
                         std::abs(f[c].derivative[direction] - difference[c]));
              changes = std::max(changes,
                                 std::abs(f[c].derivative[direction] -
                                          g[c].derivative[direction]));
            }
        }
      for (int c = 0; c < n; ++c)
        values = std::max(values, std::abs(f[c].value - g[c].value));
      // Equal changes of both sides change the flux by that of F.
      for (int s = 0; s < 2; ++s)
        for (int c = 0; c < n; ++c)
          v[s][c].value = u[0][c];
      frozen(IdealGas<dim>(), v[0], v[1], normal.data(), f);
      Number columns[n][dim];
      IdealGas<dim>().flux(v[0], columns);
      for (int c = 0; c < n; ++c)
        for (int k = 0; k < n; ++k)
          {
            double expected = 0.;
            for (int d = 0; d < dim; ++d)
              expected += columns[c][d].derivative[k] * normal[d];
            consistency = std::max(consistency,
                                   std::abs(f[c].derivative[k] +
                                            f[c].derivative[n + k] - expected));
          }
    }
  check(name + ", values of the flux with constant speeds", values < 1e-14);
  check_below(name + ", derivatives with constant speeds", derivatives, 1e-10);
  check(name + ", they are not the exact ones", changes > 1e-2);
  check_below(name + ", equal changes of both sides", consistency, 1e-12);
}

template <int dim>
void
test_all_frozen(const std::string &name)
{
  using Vector           = std::vector<double>;
  const auto with_speeds = [](const auto &flux) {
    return [flux](const Vector &u0,
                  const Vector &u1,
                  const Vector &,
                  const Vector &,
                  const Vector &n) { return numerical<dim>(flux, u0, u1, n); };
  };
  test_frozen<dim>(name + "HLLC",
                   FrozenHLLC(),
                   HLLC(),
                   with_speeds(ThreeWaveFlux<HeldSpeeds>()));
  test_frozen<dim>(name + "HLL",
                   FrozenHLL(),
                   HLL(),
                   with_speeds(TwoWaveFlux<HeldSpeeds>()));
  test_frozen<dim>(name + "Roe", FrozenRoe(), Roe(), held_roe<dim>);
  // The same fluxes by their names.
  ChosenFlux       exact;
  ChosenFrozenFlux frozen;
  for (const NumericalFlux type : {NumericalFlux::hllc,
                                   NumericalFlux::hll,
                                   NumericalFlux::hll_of_means,
                                   NumericalFlux::roe,
                                   NumericalFlux::rusanov})
    {
      exact.type = frozen.type = type;
      double difference        = 0.;
      for (unsigned int i = 0; i < 50; ++i)
        {
          const auto u0 = random_state<dim>(i), u1 = random_state<dim>(i + 300),
                     n = random_normal<dim>(i);
          difference   = std::max(difference,
                                distance(numerical<dim>(exact, u0, u1, n),
                                         numerical<dim>(frozen, u0, u1, n)));
        }
      check(name + "chosen flux with constant speeds", difference == 0.);
    }
}



/// States on boundaries are the given ones in uniform flow, and satisfy the
/// equations that define them otherwise.
template <int dim>
void
test_boundary_states()
{
  const IdealGas<dim> gas;
  const std::string   name = std::to_string(dim) + "-D, ";
  double              same = 0., invariant = 0., total = 0., entropy = 0.;
  const auto          quantities = [&](const std::vector<double> &u,
                              const std::vector<double> &n) {
    const auto w = gas.primitive(u.data(), n.data());
    return std::vector<double>{w.normal_velocity + 5. * gas.sound_speed(w),
                               w.normal_velocity - 5. * gas.sound_speed(w),
                               w.pressure / std::pow(u[0], 1.4)};
  };
  for (unsigned int i = 0; i < 100; ++i)
    {
      auto                n = random_normal<dim>(i);
      const auto          u = random_state<dim>(i);
      std::vector<double> r(dim + 2), slow(dim);
      far_field_state(gas, u.data(), u.data(), n.data(), r.data());
      same   = std::max(same, distance(u, r));
      auto g = condition<dim>(0, ConditionType::pressure, u);
      pressure_state(gas, u.data(), g.pressure, n.data(), r.data());
      same = std::max(same, distance(u, r));

      // Subsonic states.
      for (int d = 0; d < dim; ++d)
        slow[d] = 0.15 * u[1 + d] / u[0];
      const auto v = state<dim>(u[0], slow, 1.2),
                 w = state<dim>(1.1 * u[0], slow, 1.3);
      pressure_state(gas, v.data(), 1.1, n.data(), r.data());
      invariant = std::max(invariant,
                           std::abs(quantities(r, n)[0] - quantities(v, n)[0]) +
                             std::abs(gas.pressure(r.data()) - 1.1));
      entropy =
        std::max(entropy, std::abs(quantities(r, n)[2] - quantities(v, n)[2]));
      far_field_state(gas, v.data(), w.data(), n.data(), r.data());
      invariant =
        std::max(invariant,
                 std::abs(quantities(r, n)[0] - quantities(v, n)[0]) +
                   std::abs(quantities(r, n)[1] - quantities(w, n)[1]));
      const bool outflow = quantities(r, n)[0] + quantities(r, n)[1] > 0.;
      entropy            = std::max(entropy,
                         std::abs(quantities(r, n)[2] -
                                  quantities(outflow ? v : w, n)[2]));

      // Inflow along the direction of v.
      double normal = 0.;
      for (int d = 0; d < dim; ++d)
        normal += slow[d] * n[d];
      for (int d = 0; normal > 0. && d < dim; ++d)
        n[d] = -n[d];
      g = condition<dim>(0, ConditionType::total_pressure, v);
      total_pressure_state(gas, v.data(), g, n.data(), r.data());
      // Rounding errors of the invariant are divided by direction . n.
      double component = 0.;
      for (int d = 0; d < dim; ++d)
        component += g.direction[d] * n[d];
      same = std::max(same, distance(v, r) * std::abs(component));
      total_pressure_state(gas, w.data(), g, n.data(), r.data());
      const auto h = condition<dim>(0, ConditionType::total_pressure, r);
      total        = std::max(total,
                       std::abs(h.total_pressure - g.total_pressure) +
                         std::abs(h.total_temperature - g.total_temperature));
      invariant    = std::max(invariant,
                           std::abs(quantities(r, n)[0] - quantities(w, n)[0]));
    }
  check_below(name + "states of uniform flow", same, 5e-13);
  check_below(name + "invariants", invariant, 1e-12);
  check_below(name + "entropy", entropy, 1e-12);
  check_below(name + "total values", total, 1e-12);
}



/// A functor with lanes against the same at single points: residuals and
/// Jacobians at 13 points, so that the last lanes have none.
template <int dim, int n_lanes = 4, typename F>
double
lanes_against_functor(const F &f, const PointwiseRegion region)
{
  using Traits             = PointwiseTraits<dim, F>;
  constexpr unsigned int n = 13, rows = dim + 1;
  const unsigned int     n_sides = region == PointwiseRegion::volume ? 1 : 2,
                     n_in        = rows * Traits::n_inputs,
                     n_out       = rows * Traits::n_outputs;
  std::vector<OperatorPoint<dim>> points(n, OperatorPoint<dim>());
  std::vector<double>             values(n_sides * n_in * n, 0.);
  for (unsigned int q = 0; q < n; ++q)
    {
      for (int d = 0; d < dim; ++d)
        points[q].normal[d] = random_normal<dim>(q)[d];
      for (unsigned int s = 0; s < n_sides; ++s)
        for (int c = 0; c < Traits::n_inputs; ++c)
          values[(s * n_in + c * rows) * n + q] =
            c < dim + 2
              ? random_state<dim>(3 * q + s)[c]
              : 0.1 * random_state<dim>(5 * q + s)[(c - dim - 2) % (dim + 2)];
    }
  const FunctorIntegrand<dim, F> integrand(f);
  using Evaluation = LanesEvaluation<dim, F, n_lanes>;
  std::vector<const double *> in[2];
  for (unsigned int s = 0; s < n_sides; ++s)
    for (unsigned int i = 0; i < n_in; ++i)
      in[s].push_back(&values[(s * n_in + i) * n]);
  const double *const *const fields[2] = {in[0].data(), in[1].data()};
  // Arrays of both, and pointers to them; every third entry of a Jacobian is
  // not wanted.
  std::vector<double>   results[2];
  std::vector<double *> pointers;
  const auto            set = [&](const unsigned int which,
                       const unsigned int n_arrays,
                       const unsigned int left_out) {
    results[which].assign(n_arrays * n, 0.);
    pointers.clear();
    for (unsigned int i = 0; i < n_arrays; ++i)
      pointers.push_back(i % left_out == left_out - 1 ? nullptr
                                                      : &results[which][i * n]);
  };
  double     difference = 0., size = 0.;
  const auto compare = [&]() {
    for (unsigned int i = 0; i < results[0].size(); ++i)
      {
        const double d = std::abs(results[0][i] - results[1][i]);
        difference     = std::isfinite(d) ? std::max(difference, d) : 1e300;
        size           = std::max(size, std::abs(results[0][i]));
      }
  };
  if constexpr (functor_has_use<F, PointwiseUses::residual>)
    {
      for (const unsigned int which : {0, 1})
        {
          set(which, n_sides * n_out, 1000);
          double *const *const out[2] = {pointers.data(),
                                         pointers.data() + n_out};
          if (which == 0)
            integrand.evaluate(region, n, points.data(), fields, out);
          else
            Evaluation::evaluate(f, region, n, points.data(), fields, out);
        }
      compare();
    }
  if constexpr (functor_has_use<F, PointwiseUses::jacobian>)
    {
      for (const unsigned int which : {0, 1})
        {
          set(which, n_sides * n_in * n_sides * n_out, 3);
          if (which == 0)
            integrand.evaluate_jacobian(
              region, n, points.data(), fields, pointers.data());
          else
            Evaluation::evaluate_jacobian(
              f, region, n, points.data(), fields, pointers.data());
        }
      compare();
    }
  return size > 0. ? difference / size : 1.;
}

template <int dim>
void
test_lanes(const std::string &name)
{
  for (const NumericalFlux type : {NumericalFlux::hllc,
                                   NumericalFlux::hll,
                                   NumericalFlux::hll_of_means,
                                   NumericalFlux::roe,
                                   NumericalFlux::rusanov,
                                   NumericalFlux::frozen_rusanov})
    {
      Euler<dim, ChosenFlux>       euler;
      Euler<dim, ChosenFrozenFlux> frozen;
      euler.numerical_flux.type = frozen.numerical_flux.type = type;
      double difference                                      = 0.;
      for (const auto region :
           {PointwiseRegion::volume, PointwiseRegion::interior_facet})
        {
          difference = std::max({difference,
                                 lanes_against_functor<dim>(euler, region),
                                 lanes_against_functor<dim, 8>(euler, region)});
          difference =
            std::max(difference,
                     lanes_against_functor<dim>(
                       WithTimeTerm<dim, Euler<dim, ChosenFrozenFlux>>{frozen},
                       region));
        }
      check_below(name + "functors with lanes, flux " +
                    std::to_string(int(type)),
                  difference,
                  1e-13);
    }
  const SurfaceSpeed<dim, Euler<dim>> speed{Euler<dim>()};
  check_below(name + "speeds with lanes",
              lanes_against_functor<dim>(speed,
                                         PointwiseRegion::interior_facet),
              1e-13);
  const TimeTerm<dim, dim + 2> time_term;
  check_below(name + "time term with lanes",
              lanes_against_functor<dim>(time_term, PointwiseRegion::volume),
              1e-13);
  // The change is too large at some of the points.
  const AdmissibleStep<dim> step;
  for (const auto region :
       {PointwiseRegion::volume, PointwiseRegion::interior_facet})
    check(name + "admissible steps with lanes",
          lanes_against_functor<dim>(step, region) == 0.);
}



template <int dim>
void
test()
{
  const std::string name = std::to_string(dim) + "-D, ";
  test_flux<dim>(name + "HLLC", HLLC(), NumericalFlux::hllc, true);
  test_flux<dim>(name + "HLL", HLL(), NumericalFlux::hll, false);
  test_flux<dim>(name + "HLL of means",
                 HLLOfMeans(),
                 NumericalFlux::hll_of_means,
                 false);
  test_flux<dim>(name + "Roe", Roe(), NumericalFlux::roe, true);
  test_flux<dim>(name + "Rusanov", Rusanov(), NumericalFlux::rusanov, false);
  test_all_frozen<dim>(name);
  test_boundary_states<dim>();
  test_lanes<dim>(name);
}

int
main(int argc, char **argv)
{
  dealii::Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  initlog();
  test<2>();
  test<3>();
}

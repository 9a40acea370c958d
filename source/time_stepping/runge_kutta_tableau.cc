// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>
#include <deal.II/base/time_stepping.h>

#include <deal.II/lac/vector.h>

#include <tessella/time_stepping/runge_kutta_tableau.h>

#include <cmath>
#include <string>

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    /// Sets c_i to the sum of row i.
    void
    set_abscissas(RungeKuttaTableau &t)
    {
      t.c.clear();
      for (const auto &row : t.a)
        {
          double sum = 0.;
          for (const double entry : row)
            sum += entry;
          t.c.push_back(sum);
        }
    }

    /// Root between 0.4 and 0.5 of x^3 - 3 x^2 + 3/2 x - 1/6, for which the
    /// stability function of Alexander's third-order method vanishes at
    /// infinity.
    double
    alexander_gamma()
    {
      double x = 0.4358665215084590;
      for (unsigned int i = 0; i < 3; ++i)
        x -= (((x - 3.) * x + 1.5) * x - 1. / 6.) / ((3. * x - 6.) * x + 1.5);
      return x;
    }

    RungeKuttaTableau
    dormand_prince()
    {
      RungeKuttaTableau t;
      t.name  = "Dormand-Prince 5(4)";
      t.order = 5;
      t.b     = {35. / 384.,
                 0.,
                 500. / 1113.,
                 125. / 192.,
                 -2187. / 6784.,
                 11. / 84.,
                 0.};
      t.a     = {
            {0.},
            {1. / 5., 0.},
            {3. / 40., 9. / 40., 0.},
            {44. / 45., -56. / 15., 32. / 9., 0.},
            {19372. / 6561., -25360. / 2187., 64448. / 6561., -212. / 729., 0.},
            {9017. / 3168.,
             -355. / 33.,
             46732. / 5247.,
             49. / 176.,
             -5103. / 18656.,
             0.},
            t.b};
      t.b_embedded     = {5179. / 57600.,
                          0.,
                          7571. / 16695.,
                          393. / 640.,
                          -92097. / 339200.,
                          187. / 2100.,
                          1. / 40.};
      t.embedded_order = 4;
      return t;
    }
  } // namespace



  RungeKuttaTableau
  explicit_tableau(const ExplicitMethod method)
  {
    RungeKuttaTableau t;
    switch (method)
      {
        case ExplicitMethod::forward_euler:
          t = {"forward Euler", 1, {{0.}}, {1.}, {}, {}, 0};
          break;
        case ExplicitMethod::ssp_2:
          t = {"SSP(2)", 2, {{0.}, {1., 0.}}, {0.5, 0.5}, {}, {}, 0};
          break;
        case ExplicitMethod::ssp_3:
          t.name  = "SSP(3)";
          t.order = 3;
          t.a     = {{0.}, {1., 0.}, {0.25, 0.25, 0.}};
          t.b     = {1. / 6., 1. / 6., 2. / 3.};
          break;
        case ExplicitMethod::classic_4:
          t.name  = "classical Runge-Kutta";
          t.order = 4;
          t.a     = {{0.}, {0.5, 0.}, {0., 0.5, 0.}, {0., 0., 1., 0.}};
          t.b     = {1. / 6., 1. / 3., 1. / 3., 1. / 6.};
          break;
        case ExplicitMethod::bogacki_shampine:
          t.name           = "Bogacki-Shampine 3(2)";
          t.order          = 3;
          t.b              = {2. / 9., 1. / 3., 4. / 9., 0.};
          t.a              = {{0.}, {0.5, 0.}, {0., 0.75, 0.}, t.b};
          t.b_embedded     = {7. / 24., 0.25, 1. / 3., 0.125};
          t.embedded_order = 2;
          break;
        case ExplicitMethod::dormand_prince:
          t = dormand_prince();
          break;
      }
    set_abscissas(t);
    return t;
  }



  RungeKuttaTableau
  sdirk_tableau(const unsigned int order)
  {
    AssertThrow(order >= 1 && order <= 4,
                ExcMessage("There is no SDIRK method of order " +
                           std::to_string(order) +
                           ": choose an order from 1 to 4."));
    RungeKuttaTableau t;
    t.name =
      order == 1 ? "implicit Euler" : "SDIRK(" + std::to_string(order) + ")";
    t.order = order;
    if (order == 1)
      t.a = {{1.}};
    else if (order == 2)
      {
        const double g   = 1. - std::sqrt(0.5);
        t.a              = {{g}, {1. - g, g}};
        t.b_embedded     = {1., 0.};
        t.embedded_order = 1;
      }
    else if (order == 3)
      {
        const double g = alexander_gamma();
        t.a            = {{g},
                          {0.5 * (1. - g), g},
                          {-0.25 * ((6. * g - 16.) * g + 1.),
                           0.25 * ((6. * g - 20.) * g + 5.),
                           g}};
        // The weights of the first two stages with sums 1 and sum b_i c_i =
        // 1/2.
        t.b_embedded     = {g / (1. - g), (1. - 2. * g) / (1. - g), 0.};
        t.embedded_order = 2;
      }
    else
      {
        t.a              = {{0.25},
                            {0.5, 0.25},
                            {17. / 50., -1. / 25., 0.25},
                            {371. / 1360., -137. / 2720., 15. / 544., 0.25},
                            {25. / 24., -49. / 48., 125. / 16., -85. / 12., 0.25}};
        t.b_embedded     = {59. / 48., -17. / 96., 225. / 32., -85. / 12., 0.};
        t.embedded_order = 3;
      }
    t.b = t.a.back();
    set_abscissas(t);
    return t;
  }



  LowStorageTableau
  low_storage_tableau(const LowStorageMethod method)
  {
    LowStorageTableau t;
    if (method == LowStorageMethod::williamson_3 ||
        method == LowStorageMethod::carpenter_kennedy_4)
      {
        if (method == LowStorageMethod::williamson_3)
          {
            t.order = 3;
            t.a     = {0., -5. / 9., -153. / 128.};
            t.b     = {1. / 3., 15. / 16., 8. / 15.};
          }
        else
          {
            t.order = 4;
            t.a     = {0.,
                       -567301805773. / 1357537059087.,
                       -2404267990393. / 2016746695238.,
                       -3550918686646. / 2091501179385.,
                       -1275806237668. / 842570457699.};
            t.b     = {1432997174477. / 9575080441755.,
                       5161836677717. / 13612068292357.,
                       1720146321549. / 2090206949498.,
                       3134564353537. / 4481467310338.,
                       2277821191437. / 14882151754819.};
          }
        // The abscissas are the solution of the scheme for f = 1.
        double k = 0., u = 0.;
        for (unsigned int i = 0; i < t.a.size(); ++i)
          {
            t.c.push_back(u);
            k = t.a[i] * k + 1.;
            u += t.b[i] * k;
          }
        return t;
      }
    t.n_registers = 3;
    t.order       = method == LowStorageMethod::kennedy_3   ? 3
                    : method == LowStorageMethod::kennedy_4 ? 4
                                                            : 5;
    const TimeStepping::LowStorageRungeKutta<Vector<double>> original(
      t.order == 3   ? TimeStepping::LOW_STORAGE_RK_STAGE3_ORDER3
      : t.order == 4 ? TimeStepping::LOW_STORAGE_RK_STAGE5_ORDER4
                     : TimeStepping::LOW_STORAGE_RK_STAGE9_ORDER5);
    original.get_coefficients(t.a, t.b, t.c);
    // The abscissas are the solution of the scheme for f = 1.
    t.c.clear();
    double r = 0., u = 0.;
    for (unsigned int i = 0; i < t.b.size(); ++i)
      {
        t.c.push_back(r);
        r = i < t.a.size() ? u + t.a[i] : 0.;
        u += t.b[i];
      }
    return t;
  }
} // namespace Tessella

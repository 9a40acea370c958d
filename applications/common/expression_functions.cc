// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/numbers.h>

#include <cmath>

#include "expression_program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace ExpressionProgram
    {
      namespace
      {
        constexpr double two_over_sqrt_pi = 1.1283791670955125739;

        void
        logarithm(const double x, double (&f)[3])
        {
          f[0] = std::log(x);
          f[1] = 1. / x;
          f[2] = -f[1] * f[1];
        }

        // A function that is constant between jumps.
        template <double (*function)(const double)>
        void
        piecewise_constant(const double x, double (&f)[3])
        {
          f[0] = function(x);
          f[1] = f[2] = 0.;
        }

        double
        sign(const double x)
        {
          return (x > 0) - (x < 0);
        }
      } // namespace


      const UnaryFunction functions[n_functions] = {
        {"sin",
         [](const double x) { return std::sin(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::sin(x);
           f[1] = std::cos(x);
           f[2] = -f[0];
         }},
        {"cos",
         [](const double x) { return std::cos(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::cos(x);
           f[1] = -std::sin(x);
           f[2] = -f[0];
         }},
        {"tan",
         [](const double x) { return std::tan(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::tan(x);
           f[1] = 1. + f[0] * f[0];
           f[2] = 2. * f[0] * f[1];
         }},
        {"cot",
         [](const double x) { return 1. / std::tan(x); },
         [](const double x, double (&f)[3]) {
           f[0] = 1. / std::tan(x);
           f[1] = -1. - f[0] * f[0];
           f[2] = -2. * f[0] * f[1];
         }},
        {"sec",
         [](const double x) { return 1. / std::cos(x); },
         [](const double x, double (&f)[3]) {
           const double t = std::tan(x);
           f[0]           = 1. / std::cos(x);
           f[1]           = f[0] * t;
           f[2]           = f[0] * (1. + 2. * t * t);
         }},
        {"csc",
         [](const double x) { return 1. / std::sin(x); },
         [](const double x, double (&f)[3]) {
           const double t = 1. / std::tan(x);
           f[0]           = 1. / std::sin(x);
           f[1]           = -f[0] * t;
           f[2]           = f[0] * (1. + 2. * t * t);
         }},
        {"asin",
         [](const double x) { return std::asin(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::asin(x);
           f[1] = 1. / std::sqrt(1. - x * x);
           f[2] = x * f[1] * f[1] * f[1];
         }},
        {"acos",
         [](const double x) { return std::acos(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::acos(x);
           f[1] = -1. / std::sqrt(1. - x * x);
           f[2] = x * f[1] * f[1] * f[1];
         }},
        {"atan",
         [](const double x) { return std::atan(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::atan(x);
           f[1] = 1. / (1. + x * x);
           f[2] = -2. * x * f[1] * f[1];
         }},
        {"sinh",
         [](const double x) { return std::sinh(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::sinh(x);
           f[1] = std::cosh(x);
           f[2] = f[0];
         }},
        {"cosh",
         [](const double x) { return std::cosh(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::cosh(x);
           f[1] = std::sinh(x);
           f[2] = f[0];
         }},
        {"tanh",
         [](const double x) { return std::tanh(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::tanh(x);
           f[1] = 1. - f[0] * f[0];
           f[2] = -2. * f[0] * f[1];
         }},
        {"asinh",
         [](const double x) { return std::asinh(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::asinh(x);
           f[1] = 1. / std::sqrt(1. + x * x);
           f[2] = -x * f[1] * f[1] * f[1];
         }},
        {"acosh",
         [](const double x) { return std::acosh(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::acosh(x);
           f[1] = 1. / std::sqrt(x * x - 1.);
           f[2] = -x * f[1] * f[1] * f[1];
         }},
        {"atanh",
         [](const double x) { return std::atanh(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::atanh(x);
           f[1] = 1. / (1. - x * x);
           f[2] = 2. * x * f[1] * f[1];
         }},
        {"exp",
         [](const double x) { return std::exp(x); },
         [](const double x, double (&f)[3]) {
           f[0] = f[1] = f[2] = std::exp(x);
         }},
        {"log", [](const double x) { return std::log(x); }, logarithm},
        {"ln", [](const double x) { return std::log(x); }, logarithm},
        {"log2",
         [](const double x) { return std::log2(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::log2(x);
           f[1] = 1. / (x * numbers::LN2);
           f[2] = -f[1] / x;
         }},
        {"log10",
         [](const double x) { return std::log10(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::log10(x);
           f[1] = 1. / (x * numbers::LN10);
           f[2] = -f[1] / x;
         }},
        {"sqrt",
         [](const double x) { return std::sqrt(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::sqrt(x);
           f[1] = 0.5 / f[0];
           f[2] = -0.5 * f[1] / x;
         }},
        {"cbrt",
         [](const double x) { return std::cbrt(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::cbrt(x);
           f[1] = 1. / (3. * f[0] * f[0]);
           f[2] = -2. * f[1] / (3. * x);
         }},
        {"abs",
         [](const double x) { return std::fabs(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::fabs(x);
           f[1] = sign(x);
           f[2] = 0.;
         }},
        {"sign", sign, piecewise_constant<sign>},
        {"floor", std::floor, piecewise_constant<std::floor>},
        {"ceil", std::ceil, piecewise_constant<std::ceil>},
        {"rint", std::rint, piecewise_constant<std::rint>},
        {"int", std::round, piecewise_constant<std::round>},
        {"erf",
         [](const double x) { return std::erf(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::erf(x);
           f[1] = two_over_sqrt_pi * std::exp(-x * x);
           f[2] = -2. * x * f[1];
         }},
        {"erfc",
         [](const double x) { return std::erfc(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::erfc(x);
           f[1] = -two_over_sqrt_pi * std::exp(-x * x);
           f[2] = -2. * x * f[1];
         }}};
    } // namespace ExpressionProgram
  }   // namespace Application
} // namespace Tessella

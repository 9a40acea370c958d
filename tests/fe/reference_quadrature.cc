// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
// Rules on reference simplices and hypercubes: exact for all monomials up to
// the requested order, points inside, positive weights, the same from several
// threads.

#include <tessella/quadrature/reference_quadrature.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "../tests.h"

using namespace dealii;
using namespace Tessella;

// a! b! c! / (a+b+c+dim)!, without overflow
long double
simplex_integral(const unsigned int dim, const std::array<unsigned int, 3> &k)
{
  long double  result = 1.L;
  unsigned int n      = 0;
  for (const unsigned int exponent : k)
    for (unsigned int i = 1; i <= exponent; ++i)
      result *= static_cast<long double>(i) / ++n;
  for (unsigned int i = 0; i < dim; ++i)
    result /= ++n;
  return result;
}

// Largest relative error over all monomials of degree at most order. For large
// orders only the highest degrees are tested.
double
simplex_error(const ReferenceRule &rule, const unsigned int order)
{
  const unsigned int  dim = rule.dim, n = rule.n_points;
  std::vector<double> powers(3 * (order + 1) * std::size_t(n), 1.);
  for (unsigned int d = 0; d < dim; ++d)
    for (unsigned int k = 1; k <= order; ++k)
      for (unsigned int q = 0; q < n; ++q)
        powers[(d * (order + 1) + k) * std::size_t(n) + q] =
          powers[(d * (order + 1) + k - 1) * std::size_t(n) + q] *
          rule.points[d * n + q];

  double     error = 0.;
  const auto check = [&](const std::array<unsigned int, 3> &k) {
    double sum = 0.;
    for (unsigned int q = 0; q < n; ++q)
      sum += rule.weights[q] * powers[k[0] * std::size_t(n) + q] *
             powers[((order + 1) + k[1]) * std::size_t(n) + q] *
             powers[(2 * (order + 1) + k[2]) * std::size_t(n) + q];
    const double relative =
      std::abs(static_cast<double>(sum / simplex_integral(dim, k) - 1.L));
    error = std::isnan(relative) ? 1. : std::max(error, relative);
  };
  const unsigned int first = (dim == 3 && order > 12) ? order : 0;
  const unsigned int step  = order <= 24 ? 1 : (order <= 40 ? 4 : 12);
  for (unsigned int degree = first; degree <= order; ++degree)
    for (unsigned int a = (dim == 1 ? degree : 0); a <= degree; a += step)
      for (unsigned int b = (dim == 2 ? degree - a : 0);
           b <= (dim == 1 ? 0 : degree - a);
           b += step)
        check({{a, b, degree - a - b}});
  return error;
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);

  // Several threads request rules that do not exist yet.
  {
    std::vector<std::thread>             threads;
    std::array<const ReferenceRule *, 4> rules;
    for (unsigned int t = 0; t < 4; ++t)
      threads.emplace_back([t, &rules]() {
        for (unsigned int order = 0; order < 20; ++order)
          rules[t] = &simplex_rule(3, order);
      });
    for (auto &thread : threads)
      thread.join();
    check("the same rule for all threads",
          std::all_of(rules.begin(), rules.end(), [&](const auto *r) {
            return r == &simplex_rule(3, 19);
          }));
  }

  for (unsigned int dim = 1; dim <= 3; ++dim)
    {
      double error = 0., cube_error = 0.;
      bool   good = true;
      for (unsigned int order = 0; order <= max_quadrature_order; ++order)
        {
          const ReferenceRule &rule = simplex_rule(dim, order);
          error = std::max(error, simplex_error(rule, order));
          good  = good && rule.order >= order;
          for (unsigned int q = 0; q < rule.n_points; ++q)
            {
              double last = 1.;
              for (unsigned int d = 0; d < dim; ++d)
                {
                  good = good && rule.points[d * rule.n_points + q] > 0.;
                  last -= rule.points[d * rule.n_points + q];
                }
              good = good && last > 0. && rule.weights[q] > 0.;
            }

          const ReferenceRule &cube = hypercube_rule(dim, order);
          for (unsigned int k = 0; k <= order; ++k)
            {
              double sum = 0.;
              for (unsigned int q = 0; q < cube.n_points; ++q)
                {
                  double value = cube.weights[q];
                  for (unsigned int d = 0; d < dim; ++d)
                    value *= std::pow(cube.points[d * cube.n_points + q],
                                      d == order % dim ? k : order);
                  sum += value;
                }
              cube_error = std::max(
                cube_error,
                std::abs(sum * (k + 1.) * std::pow(order + 1., dim - 1) - 1.));
            }
        }
      const std::string d = std::to_string(dim) + "d ";
      check(d + "simplex: inside, positive, order", good);
      check_below(d + "simplex: monomials", error, 1e-13);
      check_below(d + "hypercube: monomials", cube_error, 1e-13);
    }

  // Numbers of points on which the speed of assembly depends.
  for (const unsigned int order : {1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 20})
    deallog << "order " << order << ": " << simplex_rule(2, order).n_points
            << ' ' << simplex_rule(3, order).n_points << ' '
            << hypercube_rule(3, order).n_points << std::endl;

  check_throws<ExceptionBase>(
    "order too large",
    []() { simplex_rule(2, max_quadrature_order + 1); },
    "Quadrature of order 65");
}

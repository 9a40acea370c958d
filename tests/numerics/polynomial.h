// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_numerics_polynomial_h
#define tessella_tests_numerics_polynomial_h

#include <deal.II/base/function.h>
#include <deal.II/base/point.h>
#include <deal.II/base/tensor.h>

#include <deal.II/grid/tria.h>

#include <cmath>
#include <vector>

// Functions and polytopes of tests of numerics.

using dealii::Function;
using dealii::Point;
using dealii::Tensor;
using dealii::Triangulation;

/// Function whose component c is (c + 1) times a polynomial of total degree p.
template <int dim>
class Polynomial : public Function<dim>
{
public:
  Polynomial(const unsigned int p, const unsigned int n_components = 1)
    : Function<dim>(n_components)
    , p(p)
  {}

  double
  value(const Point<dim> &x, const unsigned int c = 0) const override
  {
    return (c + 1) * (std::pow(linear(x), p) + (p > 0 ? x[0] : 0.));
  }

  Tensor<1, dim>
  gradient(const Point<dim> &x, const unsigned int c = 0) const override
  {
    Tensor<1, dim> g;
    for (int d = 0; d < dim; ++d)
      g[d] = p == 0 ? 0. : p * std::pow(linear(x), p - 1) * (.4 + .3 * d);
    g[0] += p > 0 ? 1. : 0.;
    return (c + 1.) * g;
  }

private:
  double
  linear(const Point<dim> &x) const
  {
    double s = .2;
    for (int d = 0; d < dim; ++d)
      s += (.4 + .3 * d) * x[d];
    return s;
  }
  const unsigned int p;
};

/// Every third cell, in an order that scatters them, so that polytopes are
/// disconnected.
template <int dim>
std::vector<unsigned int>
scattered(const Triangulation<dim> &triangulation)
{
  std::vector<unsigned int> ids;
  for (unsigned int i = 0; i < triangulation.n_active_cells(); ++i)
    ids.push_back((i * i + i / 3) % 7);
  return ids;
}

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_lambda_h
#define tessella_tests_lambda_h

#include <deal.II/base/function.h>

#include <functional>

/// Function whose value at a point is f(point, component).
template <int dim>
class Lambda : public dealii::Function<dim>
{
public:
  using Type =
    std::function<double(const dealii::Point<dim> &, const unsigned int)>;

  explicit Lambda(const Type &f, const unsigned int n_components = 1)
    : dealii::Function<dim>(n_components)
    , f(f)
  {}

  double
  value(const dealii::Point<dim> &x,
        const unsigned int        component) const override
  {
    return f(x, component);
  }

private:
  const Type f;
};

#endif

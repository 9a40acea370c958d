// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_state_function_h
#define tessella_applications_common_state_function_h

#include <deal.II/base/function.h>
#include <deal.II/base/point.h>

#include <string>
#include <vector>

#include "expression.h"

namespace Tessella
{
  namespace Application
  {
    /// State of a conservation law as a function of position and time.
    template <int dim>
    class StateFunction : public dealii::Function<dim>
    {
    public:
      explicit StateFunction(const unsigned int n_components)
        : dealii::Function<dim>(n_components)
      {}

      /// Writes all components at the point @p x. Thread safe.
      virtual void
      state(const double *x, const double t, double *u) const = 0;

      /// Component at the time of set_time().
      double
      value(const dealii::Point<dim> &p,
            const unsigned int        component = 0) const override;
      void
      vector_value(const dealii::Point<dim> &p,
                   dealii::Vector<double>   &values) const override;
    };

    /// State whose components are expressions of the coordinates and t.
    template <int dim>
    class ExpressionState : public StateFunction<dim>
    {
    public:
      explicit ExpressionState(const std::vector<Expression> &components);

      void
      state(const double *x, const double t, double *u) const override;

      /// C++ for a CUDA device: a static function @p name of coordinates, the
      /// time and the components that it writes.
      std::string
      device_code(const std::string &name) const;

    private:
      const std::vector<Expression> components;
    };
  } // namespace Application
} // namespace Tessella

#endif

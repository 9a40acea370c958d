// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "state_function.h"

#include <deal.II/base/exceptions.h>

#include <deal.II/lac/vector.h>

#include <cmath>

#include "program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    template <int dim>
    double
    StateFunction<dim>::value(const Point<dim>  &p,
                              const unsigned int component) const
    {
      Vector<double> values(this->n_components);
      vector_value(p, values);
      return values[component];
    }

    template <int dim>
    void
    StateFunction<dim>::vector_value(const Point<dim> &p,
                                     Vector<double>   &values) const
    {
      state(&p[0], this->get_time(), values.begin());
    }



    template <int dim>
    ExpressionState<dim>::ExpressionState(
      const std::vector<Expression> &components)
      : StateFunction<dim>(components.size())
      , components(components)
    {}

    template <int dim>
    void
    ExpressionState<dim>::state(const double *x,
                                const double  t,
                                double       *u) const
    {
      double x_t[dim + 1];
      for (int d = 0; d < dim; ++d)
        x_t[d] = x[d];
      x_t[dim] = t;
      for (unsigned int c = 0; c < components.size(); ++c)
        {
          u[c] = components[c].value(x_t);
          AssertThrow(std::isfinite(u[c]),
                      Expression::ExcNotFinite(components[c].text(),
                                               components[c].name(),
                                               u[c],
                                               point_text(x, dim) + ", " +
                                                 short_text(t)));
        }
    }



    template <int dim>
    std::string
    ExpressionState<dim>::device_code(const std::string &name) const
    {
      std::vector<std::string> variables = coordinate_names(dim);
      std::string text = "TESSELLA_HOST_DEVICE static void\n" + name +
                         "(const double *X, const double t, double *u)\n{\n";
      for (unsigned int d = 0; d < dim; ++d)
        text += "const double " + variables[d] + " = X[" + std::to_string(d) +
                "];\n(void)" + variables[d] + ";\n";
      text += "(void)t;\n";
      variables.push_back("t");
      for (unsigned int c = 0; c < components.size(); ++c)
        text += "u[" + std::to_string(c) +
                "] = " + components[c].device_code(variables) + ";\n";
      return text + "}\n";
    }



    template class StateFunction<2>;
    template class StateFunction<3>;
    template class ExpressionState<2>;
    template class ExpressionState<3>;
  } // namespace Application
} // namespace Tessella

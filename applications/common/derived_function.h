// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_derived_function_h
#define tessella_applications_common_derived_function_h

#include <deal.II/base/exceptions.h>
#include <deal.II/base/function.h>
#include <deal.II/base/point.h>

#include <tessella/forms/device_function.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "program.h"

namespace Tessella
{
  namespace Application
  {
    /**
     * Function derived from an exact solution: a source, a flux, or boundary
     * data. Its values are computed by a function of many points on the host,
     * and by code on a device. A value that is not finite is an error, whose
     * message names the solution.
     */
    template <int dim>
    class DerivedFunction : public dealii::Function<dim>, public DeviceFunction
    {
    public:
      /// Writes the values of a component at points.
      using Values = std::function<void(const std::vector<dealii::Point<dim>> &,
                                        const unsigned int   component,
                                        std::vector<double> &values)>;
      using Code   = std::function<std::string(const unsigned int component)>;

      /// @p what is a name such as "right-hand side", @p solution the
      /// expression of the exact solution, and @p origin the result of
      /// DeviceFunction::origin().
      DerivedFunction(const unsigned int n_components,
                      const std::string &what,
                      const std::string &solution,
                      const std::string &origin,
                      const Values      &values,
                      const Code        &code)
        : dealii::Function<dim>(n_components)
        , what(what)
        , solution(solution)
        , where_from(origin)
        , values(values)
        , code(code)
      {}

      double
      value(const dealii::Point<dim> &p,
            const unsigned int        component = 0) const override
      {
        std::vector<double> result(1);
        value_list({p}, result, component);
        return result[0];
      }

      void
      value_list(const std::vector<dealii::Point<dim>> &points,
                 std::vector<double>                   &result,
                 const unsigned int component = 0) const override
      {
        AssertDimension(points.size(), result.size());
        values(points, component, result);
        for (std::size_t q = 0; q < points.size(); ++q)
          if (!std::isfinite(result[q]))
            throw_not_finite(component, result[q], &points[q][0]);
      }

      std::string
      device_code(const unsigned int component) const override
      {
        return code(component);
      }

      std::string
      origin(const unsigned int) const override
      {
        return where_from;
      }

      [[noreturn]] void
      throw_not_finite(const unsigned int,
                       const double  value,
                       const double *x) const override
      {
        std::string point;
        for (int d = 0; d < dim; ++d)
          point += (d > 0 ? ", " : "") + short_text(x[d]);
        AssertThrow(false,
                    dealii::ExcMessage(
                      "The " + what + " that belongs to the exact solution '" +
                      solution + "' is " + short_text(value) +
                      " at the point (" + point +
                      "); give it as an expression, or another exact "
                      "solution."));
        std::abort(); // not reached
      }

    private:
      const std::string what, solution, where_from;
      const Values      values;
      const Code        code;
    };
  } // namespace Application
} // namespace Tessella

#endif

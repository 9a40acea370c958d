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
#include <memory>
#include <string>
#include <vector>

#include "expression.h"
#include "program.h"

namespace Tessella
{
  namespace Application
  {
    /// Names of the coordinates as variables of type Jet in device code.
    inline std::vector<std::string>
    jet_names(const int dim)
    {
      std::vector<std::string> names = coordinate_names(dim);
      for (std::string &name : names)
        name += "_";
      return names;
    }

    /// Device code that declares the coordinates as variables of type Jet.
    inline std::string
    jet_declarations(const int dim)
    {
      const std::vector<std::string> x    = coordinate_names(dim),
                                     jets = jet_names(dim);
      const std::string type              = "Jet<" + std::to_string(dim) + ">";
      std::string       text;
      for (int d = 0; d < dim; ++d)
        text += "const " + type + " " + jets[d] + " = " + type + "::variable(" +
                x[d] + ", " + std::to_string(d) + ");\n(void)" + jets[d] +
                ";\n";
      return text;
    }

    /// Device code that declares the value of an expression of the coordinates
    /// and of further variables of type Jet as one more.
    inline std::string
    jet_declaration(const std::string              &name,
                    const Expression               &expression,
                    const int                       dim,
                    const std::vector<std::string> &further = {})
    {
      std::vector<std::string> jets = jet_names(dim);
      jets.insert(jets.end(), further.begin(), further.end());
      return "const Jet<" + std::to_string(dim) + "> " + name + " = " +
             expression.device_code(jets) + ";\n";
    }

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
        AssertThrow(false,
                    dealii::ExcMessage(
                      "The " + what + " that belongs to the exact solution '" +
                      solution + "' is " + short_text(value) +
                      " at the point (" + point_text(x, dim) +
                      "); give it as an expression, or another exact "
                      "solution."));
        std::abort(); // not reached
      }

    private:
      const std::string what, solution, where_from;
      const Values      values;
      const Code        code;
    };

    /// Right-hand side that belongs to an exact solution. @p data has
    /// source(points, values) and device_source(), which returns statements.
    template <int dim, typename DataType>
    std::shared_ptr<const dealii::Function<dim>>
    derived_source(const DataType    &data,
                   const std::string &what,
                   const std::string &solution,
                   const std::string &origin)
    {
      return std::make_shared<DerivedFunction<dim>>(
        1,
        what,
        solution,
        origin,
        [=](const std::vector<dealii::Point<dim>> &points,
            const unsigned int,
            std::vector<double> &values) { data.source(points, values); },
        [=](const unsigned int) { return data.device_source(); });
    }

    /// Flux a grad u of an exact solution, whose normal component is the
    /// Neumann value. @p data has flux(points, values) and
    /// device_flux(component), which returns statements.
    template <int dim, typename DataType>
    std::shared_ptr<const dealii::Function<dim>>
    derived_flux(const DataType    &data,
                 const std::string &solution,
                 const std::string &origin)
    {
      return std::make_shared<DerivedFunction<dim>>(
        dim,
        "flux",
        solution,
        origin,
        [=](const std::vector<dealii::Point<dim>> &points,
            const unsigned int                     component,
            std::vector<double>                   &values) {
          std::vector<dealii::Tensor<1, dim>> flux(points.size());
          data.flux(points, flux);
          for (std::size_t q = 0; q < points.size(); ++q)
            values[q] = flux[q][component];
        },
        [=](const unsigned int component) {
          return data.device_flux(component);
        });
    }
  } // namespace Application
} // namespace Tessella

#endif

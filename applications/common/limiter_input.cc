// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "limiter_input.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/patterns.h>

#include <cmath>
#include <limits>
#include <vector>

#include "expression.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    void
    declare_limiter(ParameterHandler &prm)
    {
      prm.enter_subsection("Limiter");
      prm.declare_entry("Slopes",
                        "none",
                        Patterns::Selection("none|tvb"),
                        "tvb: values half-way to the neighbours stay between "
                        "the extreme means of all neighbours, except where "
                        "differences are below the constant times the square "
                        "of the distance.");
      prm.declare_entry("TVB constant",
                        "0",
                        Patterns::Double(0.),
                        "About the second derivative of smooth extrema.");
      prm.declare_entry("Bounds",
                        "",
                        Patterns::Anything(),
                        "Lower and upper bound, separated by a semicolon, in "
                        "which the first component is kept at quadrature "
                        "points by scaling towards the mean, and with it all "
                        "others; none for the upper bound, or empty: no "
                        "bounds.");
      prm.leave_subsection();
    }



    void
    parse_limiter(ParameterHandler                    &prm,
                  const std::map<std::string, double> &constants,
                  ConservationSettings                &settings)
    {
      const auto number = [&](const std::string &text) {
        const Expression e("Limiter/Bounds", text, {}, constants);
        const double     value = e.value(nullptr);
        AssertThrow(std::isfinite(value),
                    ExcMessage("Limiter/Bounds = " + text + " is not finite."));
        return value;
      };
      prm.enter_subsection("Limiter");
      settings.limit_slopes               = prm.get("Slopes") == "tvb";
      settings.slope_limiter.tvb_constant = prm.get_double("TVB constant");
      const std::string bounds            = prm.get("Bounds");
      settings.limit_bounds               = !bounds.empty();
      if (settings.limit_bounds)
        {
          const std::vector<std::string> parts = split(bounds, ';');
          AssertThrow(parts.size() == 2,
                      ExcMessage("Limiter/Bounds = " + bounds +
                                 " must be two numbers separated by a "
                                 "semicolon, or one and none."));
          BoundLimiter &limiter  = settings.bound_limiter;
          limiter.component      = 0;
          limiter.all_components = true;
          limiter.lower          = number(parts[0]);
          limiter.upper          = parts[1] == "none"
                                     ? std::numeric_limits<double>::max()
                                     : number(parts[1]);
          AssertThrow(limiter.lower < limiter.upper,
                      ExcMessage("Limiter/Bounds = " + bounds +
                                 ": the lower bound must come first."));
          if (parts[1] != "none")
            limiter.tolerance = 1e-12 * (limiter.upper - limiter.lower);
        }
      prm.leave_subsection();
    }
  } // namespace Application
} // namespace Tessella

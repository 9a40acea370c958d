// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>

#include <tessella/time_stepping/step_control.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    std::string
    short_number(const double x)
    {
      std::ostringstream out;
      out << x;
      return out.str();
    }
  } // namespace



  void
  check_step(const double dt)
  {
    AssertThrow(dt > 0. && std::isfinite(dt),
                ExcMessage("The length of a time step is " + short_number(dt) +
                           ", but must be positive and finite."));
  }



  FittedStep
  fit_step(const double t,
           const double end,
           const double largest,
           const double max_steps)
  {
    AssertThrow(largest > 0. && !std::isnan(largest),
                ExcMessage("The largest length of a time step is " +
                           short_number(largest) + ", but must be positive."));
    AssertThrow(end > t && std::isfinite(end),
                ExcMessage("The end of an interval in time, " +
                           short_number(end) + ", must be after its start, " +
                           short_number(t) + "."));
    const double remaining = end - t,
                 number    = std::max(1., std::ceil(remaining / largest));
    AssertThrow(number < max_steps,
                ExcMessage("The rest of the interval, from " + short_number(t) +
                           " to " + short_number(end) +
                           ", would need more than " + short_number(max_steps) +
                           " time steps: raise the size of the steps."));
    FittedStep result;
    result.length  = remaining / number;
    result.is_last = number <= 1.;
    result.end     = result.is_last ? end : t + result.length;
    AssertThrow(result.end > t,
                ExcMessage("A time step of length " +
                           short_number(result.length) +
                           " does not change the time " + short_number(t) +
                           " in double precision."));
    return result;
  }



  PIController::PIController(const unsigned int    embedded_order,
                             const AdditionalData &data)
    : data(data)
    , exponent(1. / (embedded_order + 1.))
  {
    AssertThrow(embedded_order >= 1,
                ExcMessage("The control of time steps by an error estimate "
                           "needs a method with an embedded one."));
    AssertThrow(data.safety > 0. && data.safety <= 1. &&
                  data.smallest_factor > 0. && data.smallest_factor < 1. &&
                  data.largest_factor > 1.,
                ExcMessage("PIController needs 0 < safety <= 1, 0 < "
                           "smallest_factor < 1 and largest_factor > 1."));
  }

  PIController::PIController(const unsigned int embedded_order)
    : PIController(embedded_order, AdditionalData())
  {}

  bool
  PIController::accept(const double ratio)
  {
    const bool good = ratio <= 1.;
    // An error of zero must not make the factor infinite.
    const double e = std::isfinite(ratio) ? std::max(ratio, 1e-10) : 1e10;
    double       f = data.safety;
    if (good)
      {
        f *= std::pow(e, -0.7 * exponent) *
             std::pow(present.previous_ratio, 0.4 * exponent);
        present.previous_ratio = e;
      }
    else
      f *= std::pow(e, -exponent);
    const double largest =
      !good ? data.safety : (present.rejected ? 1. : data.largest_factor);
    present.factor   = std::min(largest, std::max(data.smallest_factor, f));
    present.rejected = !good;
    return good;
  }

  void
  PIController::reject(const double factor)
  {
    AssertThrow(factor > 0. && factor < 1.,
                ExcMessage("The factor after a failed time step must be "
                           "between 0 and 1."));
    present.factor   = factor;
    present.rejected = true;
  }



  void
  internal::check_embedded(const RungeKuttaTableau &tableau)
  {
    AssertThrow(!tableau.b_embedded.empty(),
                ExcMessage("The method " + tableau.name +
                           " has no embedded method that could estimate the "
                           "error of a step: choose another one, or a fixed "
                           "or CFL-based step."));
  }
} // namespace Tessella

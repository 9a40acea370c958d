// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_limiter_input_h
#define tessella_applications_common_limiter_input_h

#include <deal.II/base/parameter_handler.h>

#include <map>
#include <string>

#include "conservation_problem.h"

namespace Tessella
{
  namespace Application
  {
    /// Declares the section "Limiter".
    void
    declare_limiter(dealii::ParameterHandler &prm);

    /// Sets the limiters from that section. Bounds are expressions of
    /// @p constants.
    void
    parse_limiter(dealii::ParameterHandler            &prm,
                  const std::map<std::string, double> &constants,
                  ConservationSettings                &settings);

    /// Adds the limiters of the section to those of @p problem. @p make makes a
    /// PolytopewiseFunction of a limiter.
    template <int dim, typename Make>
    void
    add_limiters(const ConservationSettings &settings,
                 const Make                 &make,
                 ConservationProblem<dim>   &problem)
    {
      if (settings.limit_slopes)
        problem.limiters.push_back({make(settings.slope_limiter), "", ""});
      if (settings.limit_bounds)
        problem.limiters.push_back(
          {make(settings.bound_limiter),
           "The mean value of component 0 is outside of Limiter/Bounds",
           "lower Time/CFL number, or change the bounds."});
    }
  } // namespace Application
} // namespace Tessella

#endif

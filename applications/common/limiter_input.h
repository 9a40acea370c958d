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
  } // namespace Application
} // namespace Tessella

#endif

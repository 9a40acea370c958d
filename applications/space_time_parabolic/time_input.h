// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_space_time_parabolic_time_input_h
#define tessella_applications_space_time_parabolic_time_input_h

#include <deal.II/base/parameter_handler.h>

#include <tessella/portable/legendre.h>

#include <string>
#include <vector>

#include "../common/expression.h"
#include "parabolic_equation.h"

namespace Tessella
{
  namespace Application
  {
    /// Section "Time" of a parameter file.
    struct TimeInput
    {
      /// Spaces of the elements, one run for each.
      std::vector<PolynomialSpaceType> spaces;
      double                           first_time = 0., final_time = 1.;
      double                           step = 0.1, step_factor = 0.5;
      double tolerance = 0., smallest_step = 1e-6, largest_step = 1.;
      std::vector<Expression> intervals; // at most one entry
      /// State to go on from; empty: none.
      std::string  restart;
      unsigned int output_interval = 1, state_interval = 0;

      void
      declare_parameters(dealii::ParameterHandler &prm);
      /// @p equation has the names that expressions may use. The state is also
      /// looked for beside @p parameter_file.
      void
      parse_parameters(dealii::ParameterHandler &prm,
                       const ParabolicEquation  &equation,
                       const std::string        &parameter_file);
    };
  } // namespace Application
} // namespace Tessella

#endif

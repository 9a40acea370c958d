// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_conservation_problem_h
#define tessella_applications_common_conservation_problem_h

#include <deal.II/lac/la_parallel_vector.h>

#include <tessella/forms/limiters.h>
#include <tessella/forms/pointwise_integrand.h>
#include <tessella/forms/polytopewise_function.h>
#include <tessella/operators/polytopewise_operator.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "state_function.h"
#include "time_integration_input.h"

namespace Tessella
{
  namespace Application
  {
    using ConservationVector =
      dealii::LinearAlgebra::distributed::Vector<double>;

    /// Integration in time and limiters of ConservationSolver.
    struct ConservationSettings
    {
      TimeIntegrationInput time;
      bool                 limit_slopes = false, limit_bounds = false;
      SlopeLimiter         slope_limiter;
      BoundLimiter         bound_limiter;
    };

    /// A limiter of a conservation law.
    template <int dim>
    struct ConservationLimiter
    {
      std::shared_ptr<const PolytopewiseFunction<dim>> function;
      /// First words and advice of the sentence that reports a polytope with a
      /// negative result. Without words results do not matter.
      std::string failure, remedy;
    };

    /// A system of conservation laws with its data, ready for time stepping.
    template <int dim>
    struct ConservationProblem
    {
      /// Names of the components in VTU files.
      std::vector<std::string> names;
      /// Degree of the flux in the components, for the order of quadrature.
      unsigned int flux_degree = 1;
      /// Whether components 1 .. dim are a vector.
      bool has_vector = false;
      /// Residual R of M u' = -R(u).
      std::unique_ptr<PointwiseIntegrand<dim>> integrand;
      /// Largest wave speed on a polytope, -1 if a state on it is not
      /// admissible.
      std::shared_ptr<const PolytopewiseFunction<dim>> largest_speed;
      /// Limiters in the order in which they are applied.
      std::vector<ConservationLimiter<dim>> limiters;
      std::shared_ptr<StateFunction<dim>>   initial;
      /// Null if none was given.
      std::shared_ptr<StateFunction<dim>> exact;
      /// Throws, on all processes, if a state at the beginning, of which the
      /// text says what it is, is not admissible at a point; may be empty.
      std::function<void(PolytopewiseOperator<dim> &,
                         const ConservationVector &,
                         const std::string &)>
        check_initial;
      /// Text that a run and the run that it goes on from must have in common,
      /// such as material constants.
      std::string data;
      /// First words of the sentence that reports a polytope whose state is not
      /// admissible.
      std::string not_admissible;
      /// Advice at the end of that sentence.
      std::string remedy =
        "lower Time/CFL number, or set Limiter/Bounds and Slopes.";
    };
  } // namespace Application
} // namespace Tessella

#endif

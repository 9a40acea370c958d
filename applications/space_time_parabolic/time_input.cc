// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "time_input.h"

#include <cmath>

#include "../common/program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    void
    TimeInput::declare_parameters(ParameterHandler &prm)
    {
      prm.enter_subsection("Time");
      prm.add_parameter("First time",
                        first_time,
                        "When the initial value holds.",
                        Patterns::Double());
      prm.add_parameter("Final time",
                        final_time,
                        "When the last slab ends.",
                        Patterns::Double());
      prm.add_parameter("Step",
                        step,
                        "Length of slabs on the first mesh; the last slab "
                        "ends at the final time.",
                        Patterns::Double());
      prm.add_parameter("Step factor",
                        step_factor,
                        "By which the step is multiplied from mesh to mesh.",
                        Patterns::Double());
      prm.declare_entry("Elements",
                        "PQ",
                        Patterns::Anything(),
                        "PQ: degree p in time times total degree p in space; "
                        "P: total degree p in space and time. A list makes a "
                        "table for each.");
      prm.declare_entry("Intervals",
                        "",
                        Patterns::Anything(),
                        "Local time stepping: number of intervals of a "
                        "polytope in a slab, rounded, as an expression of "
                        "the centre x, y, z of its bounding box and the "
                        "slab's first time t. Empty: 1.");
      prm.add_parameter("Tolerance",
                        tolerance,
                        "Adaptive steps: L2 norm of the jump at the "
                        "beginning of a slab that is aimed at; slabs with "
                        "more than twice that are done again. 0: fixed "
                        "steps.",
                        Patterns::Double(0.));
      prm.declare_entry("Smallest step",
                        "1e-6",
                        Patterns::Double(0.),
                        "Adaptive steps do not become smaller.");
      prm.add_parameter("Largest step",
                        largest_step,
                        "Adaptive steps do not become larger.",
                        Patterns::Double(0.));
      prm.add_parameter("Restart from",
                        restart,
                        "A file .state of an earlier run with the same mesh, "
                        "polytopes and degree: one mesh, one degree. Tables, "
                        "errors and the .pvd file are those of a run that "
                        "was not interrupted; in another "
                        "Output/Directory the .pvd file refers to the "
                        "earlier folder's VTU files.");
      prm.add_parameter("Output every",
                        output_interval,
                        "Number of slabs from .vtu file to .vtu file.",
                        Patterns::Integer(1));
      prm.add_parameter("State every",
                        state_interval,
                        "Number of slabs from state to state; 0: at the end "
                        "only. The one before stays as .previous.state.",
                        Patterns::Integer(0));
      prm.leave_subsection();
    }

    void
    TimeInput::parse_parameters(ParameterHandler        &prm,
                                const ParabolicEquation &equation,
                                const std::string       &parameter_file)
    {
      prm.enter_subsection("Time");
      AssertThrow(std::isfinite(final_time - first_time) &&
                    final_time > first_time,
                  ExcMessage("Time/Final time must be larger than Time/First "
                             "time."));
      AssertThrow(std::isfinite(step) && step > 0.,
                  ExcMessage("Time/Step must be positive."));
      AssertThrow(std::isfinite(step_factor) && step_factor > 0.,
                  ExcMessage("Time/Step factor must be positive."));
      for (const std::string &name : split(prm.get("Elements"), ','))
        {
          AssertThrow(name == "P" || name == "PQ",
                      ExcMessage("'" + name +
                                 "' in Time/Elements is unknown: it must be P"
                                 " or PQ."));
          spaces.push_back(name == "P" ? PolynomialSpaceType::total_degree
                                       : PolynomialSpaceType::prismatic);
        }
      AssertThrow(!spaces.empty(),
                  ExcMessage("Time/Elements is empty: give P or PQ."));
      if (!prm.get("Intervals").empty())
        intervals.push_back(
          equation.parse("Time/Intervals", prm.get("Intervals")));
      smallest_step = prm.get_double("Smallest step");
      prm.leave_subsection();
      if (!restart.empty())
        restart = find_file("state to go on from", restart, parameter_file);
    }
  } // namespace Application
} // namespace Tessella

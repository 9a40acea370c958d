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
      prm.declare_entry("First time",
                        "0",
                        Patterns::Double(),
                        "When the initial value holds.");
      prm.declare_entry("Final time",
                        "1",
                        Patterns::Double(),
                        "When the last slab ends.");
      prm.declare_entry("Step",
                        "0.1",
                        Patterns::Double(),
                        "Length of slabs on the first mesh; the last slab "
                        "ends at the final time.");
      prm.declare_entry("Step factor",
                        "0.5",
                        Patterns::Double(),
                        "By which the step is multiplied from mesh to mesh.");
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
      prm.declare_entry("Tolerance",
                        "0",
                        Patterns::Double(0.),
                        "Adaptive steps: L2 norm of the jump at the "
                        "beginning of a slab that is aimed at; slabs with "
                        "more than twice that are done again. 0: fixed "
                        "steps.");
      prm.declare_entry("Smallest step",
                        "1e-6",
                        Patterns::Double(0.),
                        "Adaptive steps do not become smaller.");
      prm.declare_entry("Largest step",
                        "1",
                        Patterns::Double(0.),
                        "Adaptive steps do not become larger.");
      prm.declare_entry("Restart from",
                        "",
                        Patterns::Anything(),
                        "A file .state of an earlier run with the same mesh, "
                        "polytopes and degree: one mesh, one degree. Tables, "
                        "errors and the .pvd file are those of a run that "
                        "was not interrupted; in another "
                        "Output/Directory the .pvd file refers to the "
                        "earlier folder's VTU files.");
      prm.declare_entry("Output every",
                        "1",
                        Patterns::Integer(1),
                        "Number of slabs from .vtu file to .vtu file.");
      prm.declare_entry("State every",
                        "0",
                        Patterns::Integer(0),
                        "Number of slabs from state to state; 0: at the end "
                        "only. The one before stays as .previous.state.");
      prm.leave_subsection();
    }

    void
    TimeInput::parse_parameters(ParameterHandler        &prm,
                                const ParabolicEquation &equation,
                                const std::string       &parameter_file)
    {
      prm.enter_subsection("Time");
      first_time  = prm.get_double("First time");
      final_time  = prm.get_double("Final time");
      step        = prm.get_double("Step");
      step_factor = prm.get_double("Step factor");
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
      tolerance       = prm.get_double("Tolerance");
      smallest_step   = prm.get_double("Smallest step");
      largest_step    = prm.get_double("Largest step");
      restart         = prm.get("Restart from");
      output_interval = prm.get_integer("Output every");
      state_interval  = prm.get_integer("State every");
      prm.leave_subsection();
      if (!restart.empty())
        restart = find_file("state to go on from", restart, parameter_file);
    }
  } // namespace Application
} // namespace Tessella

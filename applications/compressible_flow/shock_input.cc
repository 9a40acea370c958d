// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "shock_input.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/patterns.h>

#include "../common/program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    void
    ShockInput::declare_parameters(ParameterHandler &prm)
    {
      prm.enter_subsection("Shock capturing");
      prm.declare_entry(
        "Sensor",
        "none",
        Patterns::Selection("none|persson-peraire"),
        "Artificial viscosity where the density is not smooth: strength h / p "
        "(|u| + c) on polytopes whose sensor s, the logarithm to "
        "base 10 of the share of the highest modes in the "
        "square of the norm, is above s_0 = Threshold - 4 log10 "
        "p, with a ramp between s_0 - Width and s_0 + Width.");
      prm.add_parameter("Threshold",
                        threshold,
                        "s_0 for degree 1.",
                        Patterns::Double());
      prm.add_parameter("Width",
                        width,
                        "Half the width of the ramp.",
                        Patterns::Double());
      prm.add_parameter("Strength",
                        strength,
                        "Factor of the viscosity.",
                        Patterns::Double());
      prm.declare_entry("Tangent",
                        "exact",
                        Patterns::Selection("exact|frozen"),
                        "exact: Newton's method with the derivative of the "
                        "viscosity; frozen: the viscosity is held fixed in "
                        "each step, which is cheaper but needs more steps. "
                        "Steady flow, and each stage of an implicit "
                        "Time/Method.");
      prm.leave_subsection();
    }



    void
    ShockInput::parse_parameters(ParameterHandler &prm)
    {
      prm.enter_subsection("Shock capturing");
      active = prm.get("Sensor") != "none";
      exact  = prm.get("Tangent") == "exact";
      AssertThrow(width > 0. && strength > 0.,
                  ExcMessage("Shock capturing/Width and Shock capturing/"
                             "Strength must be positive."));
      prm.leave_subsection();
    }



    template <int dim>
    std::unique_ptr<Flow::ArtificialViscosity<dim>>
    ShockInput::create(const AgglomerationHandler<dim> &handler,
                       const Flow::IdealGas<dim>       &gas) const
    {
      if (!active)
        return nullptr;
      return std::make_unique<Flow::ArtificialViscosity<dim>>(handler,
                                                              sensor(gas),
                                                              exact);
    }



    std::string
    ShockInput::description() const
    {
      return active ? "sensor " + short_text(threshold) + ' ' +
                        short_text(width) + ' ' + short_text(strength) + ", "
                    : "";
    }



    template std::unique_ptr<Flow::ArtificialViscosity<2>>
    ShockInput::create(const AgglomerationHandler<2> &,
                       const Flow::IdealGas<2> &) const;
    template std::unique_ptr<Flow::ArtificialViscosity<3>>
    ShockInput::create(const AgglomerationHandler<3> &,
                       const Flow::IdealGas<3> &) const;
  } // namespace Application
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "time_integration_input.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/patterns.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      /// Lowest and highest order of a method.
      std::pair<unsigned int, unsigned int>
      orders(const TimeMethod method)
      {
        switch (method)
          {
            case TimeMethod::ssp:
              return {1, 3};
            case TimeMethod::runge_kutta:
              return {4, 4};
            case TimeMethod::low_storage:
              return {3, 5};
            default:
              return {1, 4};
          }
      }

      const std::map<std::string, TimeMethod> time_methods = {
        {"ssp", TimeMethod::ssp},
        {"runge-kutta", TimeMethod::runge_kutta},
        {"low-storage", TimeMethod::low_storage},
        {"sdirk", TimeMethod::sdirk},
        {"bdf", TimeMethod::bdf}};
    } // namespace



    void
    TimeIntegrationInput::declare_parameters(ParameterHandler &prm)
    {
      prm.enter_subsection("Time");
      prm.declare_entry("Final time",
                        "1",
                        Patterns::Anything(),
                        "When the computation ends; it begins at 0.");
      prm.add_parameter("CFL number",
                        cfl_number,
                        "Steps are this times the least value of 2 |K| / |dK| "
                        "/ ((2 p + 1) s) over polytopes K of volume |K|, "
                        "surface |dK|, degree p and largest wave speed s; "
                        "compressible_flow: see Flow/Wave speeds.",
                        Patterns::Double());
      prm.add_parameter("Method",
                        method_name,
                        "Explicit methods: ssp (strong stability preserving, "
                        "order 1 to 3), runge-kutta (order 4), low-storage "
                        "(order 3 to 5). Implicit methods for large CFL "
                        "numbers: sdirk and bdf (order 1 to 4), which limit "
                        "the solution at the end of steps only.",
                        Patterns::Selection(
                          "ssp|runge-kutta|low-storage|sdirk|bdf"));
      prm.declare_entry("Order",
                        "automatic",
                        Patterns::Selection("automatic|1|2|3|4|5"),
                        "Order of the method; automatic: p + 1, or the next "
                        "one that the method has.");
      prm.declare_alias("Order", "Runge-Kutta order");
      prm.add_parameter("Checkpoint every",
                        checkpoint_steps,
                        "Number of steps after which a checkpoint is written; "
                        "0: never.");
      prm.add_parameter("Stop after",
                        stop_steps,
                        "Number of steps after which the program writes a "
                        "checkpoint and ends; 0: at the final time.");
      prm.add_parameter("Restart from",
                        restart,
                        "Checkpoint to go on from, with the mesh, the degree "
                        "and the method of the run that wrote it.");
      prm.leave_subsection();

      prm.enter_subsection("Newton");
      prm.add_parameter("Tolerance",
                        newton_tolerance,
                        "Implicit methods: Newton's method ends when the norm "
                        "of the residual is below this times that of M u / "
                        "tau.",
                        Patterns::Double());
      prm.add_parameter("Maximum steps",
                        newton_steps,
                        "Number of steps of Newton's method after which the "
                        "time step is reduced.",
                        Patterns::Integer(1));
      prm.add_parameter("Step halvings",
                        step_halvings,
                        "How often a step of Newton's method may be halved "
                        "until the residual falls.");
      prm.add_parameter("Time step reductions",
                        step_reductions,
                        "How often a time step may be halved where Newton's "
                        "method fails.");
      prm.add_parameter("Linear tolerance",
                        linear_tolerance,
                        "GMRES with LU-SGS ends when the norm of the residual "
                        "has fallen by this factor.",
                        Patterns::Double());
      prm.add_parameter("GMRES restart",
                        gmres_vectors,
                        "Number of vectors that GMRES keeps.",
                        Patterns::Integer(1));
      prm.add_parameter("Maximum iterations",
                        gmres_steps,
                        "Largest number of iterations of GMRES in one step "
                        "of Newton's method.",
                        Patterns::Integer(1));
      prm.declare_entry("Jacobian",
                        "matrix",
                        Patterns::Selection("matrix|matrix-free"),
                        "matrix: assembled in every step of Newton's method; "
                        "matrix-free: products use the tangent without a "
                        "matrix, and the matrix for LU-SGS is assembled once "
                        "in a time step and step size.");
      prm.leave_subsection();
    }



    std::string
    TimeIntegrationInput::final_time_text(ParameterHandler &prm) const
    {
      prm.enter_subsection("Time");
      const std::string text = prm.get("Final time");
      prm.leave_subsection();
      return text;
    }



    void
    TimeIntegrationInput::parse_parameters(ParameterHandler &prm,
                                           const double      end)
    {
      final_time = end;
      AssertThrow(final_time >= 0.,
                  ExcMessage("Time/Final time must not be negative."));
      prm.enter_subsection("Time");
      method                 = time_methods.at(method_name);
      const std::string text = prm.get("Order");
      order                  = text == "automatic" ? 0 : std::stoi(text);
      prm.leave_subsection();
      prm.enter_subsection("Newton");
      matrix_free = prm.get("Jacobian") == "matrix-free";
      prm.leave_subsection();
      AssertThrow(cfl_number > 0. && std::isfinite(cfl_number),
                  ExcMessage("Time/CFL number must be positive."));
      const auto range = orders(method);
      AssertThrow(order == 0 || (order >= range.first && order <= range.second),
                  ExcMessage("Time/Method = " + method_name + " has order " +
                             std::to_string(range.first) +
                             (range.first < range.second
                                ? " to " + std::to_string(range.second)
                                : "") +
                             ", but Time/Order is " + text + "."));
      for (const auto &tolerance :
           {std::make_pair("Tolerance", newton_tolerance),
            std::make_pair("Linear tolerance", linear_tolerance)})
        AssertThrow(tolerance.second > 0. && tolerance.second < 1.,
                    ExcMessage("Newton/" + std::string(tolerance.first) +
                               " must be between 0 and 1."));
    }



    unsigned int
    TimeIntegrationInput::order_for(const unsigned int degree) const
    {
      const auto range = orders(method);
      return order > 0
               ? order
               : std::min(std::max(degree + 1, range.first), range.second);
    }



    std::string
    TimeIntegrationInput::description(const unsigned int degree) const
    {
      return method_name + " " + std::to_string(order_for(degree));
    }
  } // namespace Application
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "conservation_input.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/patterns.h>

#include <tessella/forms/functor_integrand.h>
#include <tessella/forms/polytopewise_functor.h>

#include <cmath>

#include "../common/equation_input.h"
#include "../common/limiter_input.h"
#include "../common/program.h"
#include "equations.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      template <int dim, typename F>
      std::shared_ptr<const PolytopewiseFunction<dim>>
      make_functor(const F &f)
      {
        return std::make_shared<const PolytopewiseFunctor<dim, F>>(f);
      }
    } // namespace



    void
    ConservationInput::declare_parameters(ParameterHandler &prm)
    {
      declare_equation(prm);
      time.declare_parameters(prm);
      declare_limiter(prm);
    }



    void
    ConservationInput::declare_equation(ParameterHandler &prm)
    {
      prm.enter_subsection("Equation");
      declare_constants(prm);
      prm.declare_entry("Type",
                        "advection",
                        Patterns::Selection(
                          "advection|burgers|shallow water|text"),
                        "advection: u_t + div(b u) = 0; burgers: u_t + div(v "
                        "u^2/2) = 0; shallow water (2-D): depth and discharge "
                        "on a flat bottom; text: u_t + div f(u) = 0 with the "
                        "entries Components, Flux, Speed and Largest speed.");
      prm.declare_entry("Velocity",
                        "1; 0",
                        Patterns::Anything(),
                        "b of advection, v of burgers: dim numbers separated "
                        "by semicolons.");
      prm.declare_entry("Rotation",
                        "0",
                        Patterns::Anything(),
                        "advection: angular velocity of a rotation about an "
                        "axis in the direction of z, which is added to b.");
      prm.declare_entry("Rotation centre",
                        "",
                        Patterns::Anything(),
                        "A point of that axis; empty: the origin.");
      prm.declare_entry("Gravity",
                        "9.81",
                        Patterns::Anything(),
                        "g of shallow water.");
      declare_text(prm);
      prm.declare_entry("Numerical flux",
                        "lax-friedrichs",
                        Patterns::Selection("lax-friedrichs|upwind"),
                        "lax-friedrichs: with the larger wave speed of both "
                        "sides at each point; upwind: advection only.");
      prm.declare_entry("Initial condition",
                        "",
                        Patterns::Anything(),
                        "Components at time 0, separated by semicolons; empty: "
                        "the exact solution.");
      prm.declare_entry("Exact solution",
                        "",
                        Patterns::Anything(),
                        "Components as expressions of the coordinates and t, "
                        "separated by semicolons, if known: errors are "
                        "measured against it. characteristics: burgers with a "
                        "smooth solution, which follows from the initial "
                        "condition.");
      prm.leave_subsection();

      prm.enter_subsection("Boundary conditions");
      prm.declare_entry("Types",
                        "default: inflow",
                        Patterns::Anything(),
                        "Type per boundary id: 0: inflow, 1: outflow, 2: wall; "
                        "default stands for all other ids. inflow gives the "
                        "state outside, from which the numerical flux takes "
                        "what enters; outflow is the state inside; wall "
                        "(shallow water) reflects the discharge. Periodic "
                        "boundaries are set in the section Mesh.");
      prm.declare_entry("Values",
                        "",
                        Patterns::Anything(),
                        "State outside of inflow parts per boundary id, "
                        "separated by semicolons, with commas between "
                        "components: 0: 2 + sin(t), 0, 0; 1: 1, 0, 0. Ids "
                        "without an entry: the exact solution.");
      prm.leave_subsection();
    }



    void
    ConservationInput::declare_text(ParameterHandler &prm)
    {
      prm.declare_entry("Components",
                        "u",
                        Patterns::Anything(),
                        "text: names of the components of the solution, "
                        "separated by semicolons.");
      prm.declare_entry("Flux",
                        "",
                        Patterns::Anything(),
                        "text: statements of C++ that set the flux f[c][d] of "
                        "all components c = 0, 1, .. in all directions d = 0, "
                        ".., dim - 1, from the names of the components, x[d], "
                        "t and the constants. Names of auxiliary values need "
                        "no declaration; see PointwiseTextTerms.");
      prm.declare_entry("Speed",
                        "",
                        Patterns::Anything(),
                        "text: an expression for the largest speed of waves in "
                        "the direction of the normal n[d], which may use what "
                        "Flux sets.");
      prm.declare_entry("Largest speed",
                        "",
                        Patterns::Anything(),
                        "text: an expression for the largest speed of waves in "
                        "any direction, for the size of time steps.");
      prm.declare_entry("Flux degree",
                        "2",
                        Patterns::Integer(1),
                        "text: degree of the flux in the components, for the "
                        "order of quadrature.");
    }



    void
    ConservationInput::parse_parameters(ParameterHandler  &prm,
                                        const unsigned int dim)
    {
      parse_equation(prm, dim);
      parse_boundary_conditions(prm);
      time.parse_parameters(
        prm,
        parse_numbers("Time/Final time", time.final_time_text(prm), 1).front());
      parse_limiter(prm, constants, *this);
    }



    std::vector<Expression>
    ConservationInput::parse(const std::string &name,
                             const std::string &text,
                             const char         separator,
                             const unsigned int n,
                             const bool         optional,
                             const bool         stationary) const
    {
      std::vector<std::string> names = variables;
      if (stationary)
        names.pop_back();
      std::vector<Expression> result;
      for (const std::string &part : split(text, separator))
        if (!part.empty())
          result.emplace_back(name, part, names, constants);
      AssertThrow(result.size() == n || (optional && result.empty()),
                  ExcMessage(
                    name + " has " + std::to_string(result.size()) +
                    (result.size() == 1 ? " component" : " components") +
                    ", but must have " + std::to_string(n) + "."));
      return result;
    }



    std::vector<double>
    ConservationInput::parse_numbers(const std::string &name,
                                     const std::string &text,
                                     const unsigned int n) const
    {
      std::vector<double> result;
      for (const Expression &e : parse(name, text, ';', n, false))
        {
          AssertThrow(e.is_constant(),
                      ExcMessage(name + " = " + text +
                                 " must not depend on position or time."));
          result.push_back(e.value(nullptr));
          AssertThrow(std::isfinite(result.back()),
                      ExcMessage(name + " = " + text + " is not finite."));
        }
      return result;
    }



    void
    ConservationInput::parse_equation(ParameterHandler  &prm,
                                      const unsigned int dim)
    {
      variables = coordinate_names(dim);
      variables.push_back("t");
      prm.enter_subsection("Equation");
      constants = parse_constants("Equation/Constants", prm.get("Constants"));
      type      = prm.get("Type");
      const bool is_water = type == "shallow water";
      const bool is_text  = type == "text";
      if (is_text)
        parse_text(prm);
      present_n_components = is_text    ? text_equation.components.size()
                             : is_water ? dim + 1
                                        : 1;
      AssertThrow(!is_water || dim == 2,
                  ExcMessage("Equation/Type = shallow water needs a mesh with "
                             "Mesh/Dimension = 2."));
      if (!is_water && !is_text)
        velocity = parse_numbers("Equation/Velocity", prm.get("Velocity"), dim);
      rotation =
        parse_numbers("Equation/Rotation", prm.get("Rotation"), 1).front();
      AssertThrow(rotation == 0. || type == "advection",
                  ExcMessage("Equation/Rotation is for Equation/Type = "
                             "advection only."));
      const std::string text = prm.get("Rotation centre");
      centre                 = text.empty()
                                 ? std::vector<double>(dim, 0.)
                                 : parse_numbers("Equation/Rotation centre", text, dim);
      gravity =
        parse_numbers("Equation/Gravity", prm.get("Gravity"), 1).front();
      AssertThrow(gravity > 0.,
                  ExcMessage("Equation/Gravity must be positive."));
      upwind = prm.get("Numerical flux") == "upwind";
      AssertThrow(!upwind || type == "advection",
                  ExcMessage("Equation/Numerical flux = upwind is for "
                             "Equation/Type = advection only."));

      const std::string solution = prm.get("Exact solution");
      by_characteristics         = solution == "characteristics";
      AssertThrow(!by_characteristics || type == "burgers",
                  ExcMessage("Equation/Exact solution = characteristics is for "
                             "Equation/Type = burgers only."));
      exact.clear();
      if (!by_characteristics)
        exact =
          parse("Equation/Exact solution", solution, ';', n_components(), true);
      initial = parse("Equation/Initial condition",
                      prm.get("Initial condition"),
                      ';',
                      n_components(),
                      !exact.empty(),
                      true);
      prm.leave_subsection();
    }



    void
    ConservationInput::parse_text(ParameterHandler &prm)
    {
      text_equation.components    = split(prm.get("Components"), ';');
      text_equation.flux          = prm.get("Flux");
      text_equation.speed         = prm.get("Speed");
      text_equation.largest_speed = prm.get("Largest speed");
      text_equation.constants     = constants;
      flux_degree                 = prm.get_integer("Flux degree");
      AssertThrow(!text_equation.components.empty(),
                  ExcMessage("Equation/Components must name the components of "
                             "the solution."));
      for (const char *name : {"Flux", "Speed", "Largest speed"})
        AssertThrow(!prm.get(name).empty(),
                    ExcMessage("Equation/Type = text needs Equation/" +
                               std::string(name) + "."));
      text_equation.check_names();
    }



    void
    ConservationInput::parse_boundary_conditions(ParameterHandler &prm)
    {
      prm.enter_subsection("Boundary conditions");
      conditions.clear();
      conditions[-1];
      for (const auto &entry : parse_boundary_map("Boundary conditions/Types",
                                                  prm.get("Types"),
                                                  ','))
        {
          const std::string &kind = entry.second;
          AssertThrow(kind == "inflow" || kind == "outflow" || kind == "wall",
                      ExcMessage("The type '" + kind +
                                 "' in Boundary conditions/Types is unknown: "
                                 "it must be inflow, outflow or wall."));
          AssertThrow(kind != "wall" || type == "shallow water",
                      ExcMessage(
                        "The type wall in Boundary conditions/Types is "
                        "for Equation/Type = shallow water only."));
          conditions[entry.first].type = kind == "inflow" ? BoundaryKind::inflow
                                         : kind == "wall"
                                           ? BoundaryKind::wall
                                           : BoundaryKind::outflow;
        }
      for (const auto &entry : parse_boundary_map("Boundary conditions/Values",
                                                  prm.get("Values"),
                                                  ';'))
        {
          if (conditions.count(entry.first) == 0)
            conditions[entry.first].type = conditions.at(-1).type;
          AssertThrow(conditions[entry.first].type == BoundaryKind::inflow,
                      ExcMessage(
                        "Boundary conditions/Values has an entry for '" +
                        (entry.first < 0 ? "default"
                                         : std::to_string(entry.first)) +
                        "', which is not inflow in Boundary "
                        "conditions/Types."));
          conditions[entry.first].state = parse("Boundary conditions/Values",
                                                entry.second,
                                                ',',
                                                n_components(),
                                                false);
        }
      prm.leave_subsection();
    }



    template <int dim, typename Equation>
    void
    ConservationInput::set_equation(const Equation              &equation,
                                    ConservationLawProblem<dim> &problem) const
    {
      using Law = ConservationLaw<dim, Equation>;
      Law law;
      law.equation      = equation;
      law.upwind        = upwind;
      law.boundary      = problem.boundary.get();
      problem.integrand = std::make_unique<FunctorIntegrand<dim, Law>>(law);
      problem.largest_speed =
        make_functor<dim>(LargestSpeed<dim, Equation>{equation});
    }



    template <int dim>
    void
    ConservationInput::set_text(ConservationLawProblem<dim> &problem) const
    {
      std::map<int, TextEquation::Condition> states;
      for (const auto &condition : conditions)
        {
          TextEquation::Condition &state = states[condition.first];
          state.type                     = condition.second.type;
          if (state.type == BoundaryKind::inflow)
            state.state =
              condition.second.state.empty() ? exact : condition.second.state;
        }
      problem.integrand =
        std::make_unique<TextIntegrand<dim>>(text_equation.terms(states),
                                             problem.boundary);
      problem.speed = std::make_shared<const PointwiseTextIntegrand<dim>>(
        text_equation.speed_terms());
      problem.largest_speed = make_functor<dim>(
        LargestSpeedOfText<dim>{problem.speed.get(), problem.integrand.get()});
    }



    template <int dim>
    ConservationLawProblem<dim>
    ConservationInput::create() const
    {
      ConservationLawProblem<dim> problem;
      if (by_characteristics)
        problem.exact =
          std::make_shared<BurgersCharacteristics<dim>>(initial[0], velocity);
      else if (!exact.empty())
        problem.exact = std::make_shared<ExpressionState<dim>>(exact);
      problem.initial = std::make_shared<ExpressionState<dim>>(
        initial.empty() ? exact : initial);
      std::map<int, typename BoundaryData<dim>::Condition> data;
      for (const auto &condition : conditions)
        {
          auto &entry = data[condition.first];
          entry.type  = condition.second.type;
          if (!condition.second.state.empty())
            entry.state =
              std::make_shared<ExpressionState<dim>>(condition.second.state);
        }
      problem.boundary =
        std::make_shared<BoundaryData<dim>>(data, problem.exact);

      if (type == "text")
        set_text(problem);
      else if (type == "advection")
        {
          LinearAdvection<dim> equation;
          for (int d = 0; d < dim; ++d)
            {
              equation.velocity[d] = velocity[d];
              equation.centre[d]   = centre[d];
            }
          equation.angular_velocity = rotation;
          set_equation(equation, problem);
        }
      else if (type == "burgers")
        {
          Burgers<dim> equation;
          for (int d = 0; d < dim; ++d)
            equation.direction[d] = velocity[d];
          set_equation(equation, problem);
        }
      else if constexpr (dim == 2)
        {
          ShallowWater<dim> equation;
          equation.gravity = gravity;
          set_equation(equation, problem);
        }
      add_limiters(
        *this,
        [](const auto &limiter) { return make_functor<dim>(limiter); },
        problem);
      const bool is_water = type == "shallow water";
      if (type == "text")
        problem.names = text_equation.components;
      else
        problem.names = {is_water ? "depth" : "u"};
      if (is_water)
        problem.names.insert(problem.names.end(), dim, "discharge");
      problem.has_vector     = is_water;
      problem.flux_degree    = type == "advection" ? 1
                               : type == "text"    ? flux_degree
                                                   : 2;
      problem.not_admissible = is_water ? "The water depth is not positive"
                                        : "The solution is not finite";
      return problem;
    }



    template ConservationLawProblem<2>
    ConservationInput::create() const;
    template ConservationLawProblem<3>
    ConservationInput::create() const;
  } // namespace Application
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "flow_input.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/patterns.h>

#include <tessella/forms/device_function.h>

#include <cmath>
#include <locale>
#include <sstream>

#include "../common/discretisation_input.h"
#include "../common/program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    // ---- functions

    namespace
    {
      /// All digits of a number, in C++.
      std::string
      number_text(const double number)
      {
        std::ostringstream text;
        text.imbue(std::locale::classic());
        text.precision(17);
        text << '(' << number << ')';
        return text.str();
      }

      /// Adds factor times the derivative along the normal to @p h, by
      /// differences of fourth order.
      template <int dim>
      void
      add_normal_derivative(const ExpressionState<dim> &f,
                            const unsigned int          n_components,
                            const double                factor,
                            const OperatorPoint<dim>   &p,
                            double                     *h)
      {
        // Weights of f(x + i s n), i = -2, -1, 1, 2.
        const double step      = 1e-3,
                     weight[4] = {1. / 12, -8. / 12, 8. / 12, -1. / 12};
        const int position[4]  = {-2, -1, 1, 2};
        for (int i = 0; i < 4; ++i)
          {
            double x[dim], u[dim];
            for (int d = 0; d < dim; ++d)
              x[d] = p.x[d] + position[i] * step * p.normal[d];
            f.state(x, p.t, u);
            for (unsigned int c = 0; c < n_components; ++c)
              h[c] += factor * weight[i] / step * u[c];
          }
      }

      /// The same in C++ for a function of a device.
      std::string
      normal_derivative_code(const std::string &function,
                             const unsigned int n_components,
                             const unsigned int dim,
                             const double       factor)
      {
        return "const double step = 1e-3, weight[4] = {1. / 12, -8. / 12, "
               "8. / 12, -1. / 12};\nconst int position[4] = {-2, -1, 1, "
               "2};\nfor (int i = 0; i < 4; ++i)\n{\ndouble x[" +
               std::to_string(dim) + "], u[" + std::to_string(dim) +
               "];\nfor (int d = 0; d < " + std::to_string(dim) +
               "; ++d)\n  x[d] = p.x[d] + position[i] * step * "
               "p.normal[d];\n" +
               function + "(x, p.t, u);\nfor (int d = 0; d < " +
               std::to_string(n_components) +
               "; ++d)\n  g[d] += " + number_text(factor) +
               " * weight[i] / step * u[d];\n}\n";
      }

      /// Values of the boundary ids that have their own as functions of a
      /// device, which are added to @p functions, and the choice of one of
      /// them; other ids have what @p others computes.
      template <typename States>
      std::string
      boundary_cases(const States      &states,
                     const std::string &name,
                     const std::string &others,
                     std::string       &functions)
      {
        std::string text = "switch (p.boundary_id)\n{\n";
        for (const auto &id : states)
          {
            const std::string function = name + "_" + std::to_string(id.first);
            functions += id.second->device_code(function);
            text += "case " + std::to_string(id.first) + ":\n" + function +
                    "(p.x, p.t, g);\nreturn;\n";
          }
        return text + "default:\n{\n" + others + "break;\n}\n}\n";
      }
    } // namespace



    template <int dim>
    void
    TextFlow<dim>::velocity(const Point &p, double *g) const
    {
      const auto found = velocities.find(p.boundary_id);
      if (found != velocities.end())
        found->second->state(p.x, p.t, g);
      else if (is_exact)
        initial_velocity->state(p.x, p.t, g);
      else
        for (int d = 0; d < dim; ++d)
          g[d] = 0.;
    }



    template <int dim>
    double
    TextFlow<dim>::pressure(const Point &p) const
    {
      double     result = 0.;
      const auto found  = pressures.find(p.boundary_id);
      if (found != pressures.end())
        found->second->state(p.x, p.t, &result);
      else if (is_exact)
        initial_pressure->state(p.x, p.t, &result);
      return result;
    }



    template <int dim>
    void
    TextFlow<dim>::normal_derivative(const Point &p, double *h) const
    {
      for (int d = 0; d < dim; ++d)
        h[d] = 0.;
      const auto found = normal_derivatives.find(p.boundary_id);
      if (found != normal_derivatives.end())
        found->second->state(p.x, p.t, h);
      else if (is_exact && pressures.count(p.boundary_id) == 0)
        add_normal_derivative(*initial_velocity, dim, 1., p, h);
    }



    template <int dim>
    void
    TextFlow<dim>::force(const Point &p, double *f) const
    {
      source->state(p.x, p.t, f);
    }



    template <int dim>
    double
    TextFlow<dim>::temperature(const Point &p) const
    {
      double     result = reference_temperature;
      const auto found  = temperatures.find(p.boundary_id);
      if (found != temperatures.end())
        found->second->state(p.x, p.t, &result);
      else if (is_exact)
        initial_temperature->state(p.x, p.t, &result);
      return result;
    }



    template <int dim>
    double
    TextFlow<dim>::heat_flux(const Point &p) const
    {
      double     result = 0.;
      const auto found  = heat_fluxes.find(p.boundary_id);
      if (found != heat_fluxes.end())
        found->second->state(p.x, p.t, &result);
      else if (is_exact)
        add_normal_derivative(*initial_temperature, 1, diffusivity, p, &result);
      return result;
    }



    template <int dim>
    double
    TextFlow<dim>::heat_source(const Point &p) const
    {
      double result = 0.;
      if (temperature_source != nullptr)
        temperature_source->state(p.x, p.t, &result);
      return result;
    }



    template <int dim>
    std::string
    TextFlow<dim>::device_code() const
    {
      const std::string head = "TESSELLA_HOST_DEVICE ", n = std::to_string(dim),
                        zero = "for (int d = 0; d < " + n + "; ++d)\n";
      std::string result;
      if (is_exact)
        result += initial_velocity->device_code("exact_velocity") +
                  initial_pressure->device_code("exact_pressure");
      const auto exact_value = [&](const std::string &name) {
        return is_exact ? "exact_" + name + "(p.x, p.t, g);\n" : std::string();
      };
      const std::string of_velocity = boundary_cases(velocities,
                                                     "velocity",
                                                     exact_value("velocity"),
                                                     result),
                        of_pressure = boundary_cases(pressures,
                                                     "pressure",
                                                     exact_value("pressure"),
                                                     result);
      result += head + "void\nvelocity(const Point &p, double *g) const\n{\n" +
                zero + "  g[d] = 0.;\n" + of_velocity + "}\n" + head +
                "void\nset_pressure(const Point &p, double *g) const\n{\n"
                "g[0] = 0.;\n" +
                of_pressure + "}\n" + head +
                "double\npressure(const Point &p) const\n{\ndouble g[1];\n"
                "set_pressure(p, g);\nreturn g[0];\n}\n";
      std::string other_derivatives;
      if (is_exact)
        {
          // Other parts with a given pressure have du/dn = 0.
          for (const auto &id : pressures)
            other_derivatives +=
              "if (p.boundary_id == " + std::to_string(id.first) +
              ")\nreturn;\n";
          other_derivatives +=
            normal_derivative_code("exact_velocity", dim, dim, 1.);
        }
      const std::string of_derivative = boundary_cases(normal_derivatives,
                                                       "normal_derivative",
                                                       other_derivatives,
                                                       result);
      result +=
        head + "void\nnormal_derivative(const Point &p, double *g) const\n{\n" +
        zero + "  g[d] = 0.;\n" + of_derivative + "}\n";
      if (source != nullptr)
        result += source->device_code("force_at");
      return result + head +
             "void\nforce(const Point &p, double *f) const\n{\n" +
             (source != nullptr ? "force_at(p.x, p.t, f);\n"
                                : zero + "  f[d] = 0.;\n") +
             "}\n" + temperature_device_code();
    }



    template <int dim>
    std::string
    TextFlow<dim>::temperature_device_code() const
    {
      if (initial_temperature == nullptr)
        return "";
      const std::string head = "TESSELLA_HOST_DEVICE ";
      std::string       result;
      if (is_exact)
        result += initial_temperature->device_code("exact_temperature");
      if (temperature_source != nullptr)
        result += temperature_source->device_code("heat_source_at");
      const std::string of_temperature =
                          boundary_cases(temperatures,
                                         "temperature",
                                         is_exact
                                           ? "exact_temperature(p.x, p.t, g);\n"
                                           : "",
                                         result),
                        of_flux =
                          boundary_cases(heat_fluxes,
                                         "heat_flux",
                                         is_exact ? "exact_heat_flux(p, g);\n"
                                                  : "",
                                         result);
      if (is_exact)
        result +=
          head + "void\nexact_heat_flux(const Point &p, double *g) const\n{\n" +
          normal_derivative_code("exact_temperature", 1, dim, diffusivity) +
          "}\n";
      // Functions that set a value, and those that return it.
      const auto add = [&](const std::string &name,
                           const double       initial,
                           const std::string &body) {
        result += head + "void\nset_" + name +
                  "(const Point &p, double *g) const\n{\ng[0] = " +
                  number_text(initial) + ";\n" + body + "}\n" + head +
                  "double\n" + name +
                  "(const Point &p) const\n{\ndouble g[1];\nset_" + name +
                  "(p, g);\nreturn g[0];\n}\n";
      };
      add("temperature", reference_temperature, of_temperature);
      add("heat_flux", 0., of_flux);
      add("heat_source",
          0.,
          temperature_source != nullptr ? "heat_source_at(p.x, p.t, g);\n"
                                        : "");
      return result;
    }



    template <int dim>
    TextFlow<dim>
    FlowInput::create() const
    {
      TextFlow<dim> result;
      const auto    state = [](const std::vector<Expression> &components) {
        return std::make_shared<ExpressionState<dim>>(components);
      };
      result.is_exact         = exact;
      result.initial_velocity = state(velocity);
      result.initial_pressure = state(pressure);
      if (!source.empty())
        result.source = state(source);
      for (const auto &id : velocities)
        result.velocities[id.first] = state(id.second);
      for (const auto &id : pressures)
        result.pressures[id.first] = state(id.second);
      for (const auto &id : normal_derivatives)
        result.normal_derivatives[id.first] = state(id.second);
      if (!flow.temperature.enabled)
        return result;
      result.initial_temperature   = state(temperature);
      result.diffusivity           = flow.temperature.diffusivity;
      result.reference_temperature = flow.temperature.reference;
      if (!heat_source.empty())
        result.temperature_source = state(heat_source);
      for (const auto &id : temperatures)
        result.temperatures[id.first] = state(id.second);
      for (const auto &id : heat_fluxes)
        result.heat_fluxes[id.first] = state(id.second);
      return result;
    }



    // ---- parameters

    void
    FlowInput::declare_parameters(ParameterHandler &prm)
    {
      prm.enter_subsection("Flow");
      prm.declare_entry("Constants",
                        "",
                        Patterns::Anything(),
                        "Constants of all expressions: a = 1, b = 2*a.");
      prm.declare_entry("Viscosity",
                        "1",
                        Patterns::Anything(),
                        "Kinematic viscosity nu, positive.");
      prm.declare_entry("Velocity",
                        "0; 0",
                        Patterns::Anything(),
                        "Velocity at time 0: its components as expressions of "
                        "x, y, z and t, separated by semicolons.");
      prm.declare_entry("Pressure",
                        "0",
                        Patterns::Anything(),
                        "Pressure at time 0, which the first step of "
                        "pressure-correction needs.");
      prm.declare_entry(
        "Exact",
        "false",
        Patterns::Bool(),
        "Whether Velocity, Pressure and the temperature are "
        "the solution for all times: errors are measured against it, and it is "
        "the boundary data of ids that have no own.");
      prm.declare_entry("Force",
                        "",
                        Patterns::Anything(),
                        "Force f as components separated by semicolons; "
                        "empty: none.");
      prm.leave_subsection();

      prm.enter_subsection("Boundary conditions");
      prm.declare_entry("Types",
                        "",
                        Patterns::Anything(),
                        "Type per boundary id: 0: velocity, 1: outflow, 2: "
                        "symmetry. velocity: the velocity is given; outflow: "
                        "the pressure and du/dn are given; symmetry: a plane "
                        "normal to an axis. Periodic boundaries are set in the "
                        "section Mesh.");
      prm.declare_entry("Velocities",
                        "",
                        Patterns::Anything(),
                        "Velocities per boundary id, separated by semicolons, "
                        "with commas between components: 0: y*(1-y), 0; 3: 1, "
                        "0. Ids without an entry: the exact solution, or "
                        "zero.");
      prm.declare_entry("Pressures",
                        "",
                        Patterns::Anything(),
                        "Pressures of outflow parts per boundary id, separated "
                        "by semicolons: 1: 0. du/dn is then zero, unless it "
                        "is given. Ids without an entry: the exact solution, "
                        "or zero.");
      prm.declare_entry("Normal derivatives",
                        "",
                        Patterns::Anything(),
                        "du/dn, n outward, of outflow parts per boundary id, "
                        "separated by semicolons, with commas between "
                        "components: 1: 0, 2*x. Ids without an entry: zero if "
                        "they have one of Pressures, else that of the exact "
                        "solution, or zero.");
      prm.leave_subsection();
      declare_temperature(prm);
      declare_time(prm);
      declare_discretisation(prm);
      declare_records(prm);
    }



    void
    FlowInput::declare_temperature(ParameterHandler &prm)
    {
      const auto entry = [&](const std::string &name,
                             const std::string &value,
                             const std::string &text) {
        prm.declare_entry(name, value, Patterns::Anything(), text);
      };
      prm.enter_subsection("Temperature");
      prm.declare_entry("Enabled",
                        "false",
                        Patterns::Bool(),
                        "Whether there is a temperature T, with T_t + div(u T) "
                        "- kappa Laplace(T) = s and the buoyancy - beta (T - "
                        "T_ref) g in the force.");
      entry("Diffusivity", "1", "Thermal diffusivity kappa, positive.");
      entry("Expansion coefficient",
            "0",
            "Thermal expansion beta; 0: the flow does not feel the "
            "temperature.");
      entry("Gravity",
            "",
            "Gravity g as components separated by semicolons; empty: zero.");
      entry("Reference temperature",
            "0",
            "T_ref, at which there is no buoyancy, in the middle of the "
            "temperatures: errors of the convection are proportional to T - "
            "T_ref.");
      entry("Temperature",
            "0",
            "Temperature at time 0 as an expression of x, y, z and t; with "
            "Flow/Exact the exact one for all times.");
      entry("Source", "", "Heat source s; empty: none.");
      entry("Types",
            "",
            "Type per boundary id: 0: temperature, 1: flux, 2: outflow. "
            "temperature: T is given; flux: kappa dT/dn is given; outflow: "
            "dT/dn is zero, and flow that comes back brings a given T.");
      entry("Temperatures",
            "",
            "Temperatures per boundary id of the types temperature and "
            "outflow, separated by semicolons: 0: 1; 1: sin(t). Ids without an "
            "entry: the exact solution, or the reference temperature.");
      entry("Fluxes",
            "",
            "kappa dT/dn per boundary id of the type flux: the heat that comes "
            "in, divided by density and heat capacity. Ids without an entry: "
            "that of the exact solution, or zero.");
      prm.leave_subsection();
    }



    void
    FlowInput::declare_time(ParameterHandler &prm)
    {
      prm.enter_subsection("Time");
      prm.declare_entry("Method",
                        "dual-splitting",
                        Patterns::Selection(
                          "dual-splitting|pressure-correction"),
                        "Splitting method.");
      prm.declare_entry("Order",
                        "2",
                        Patterns::Integer(1),
                        "dual-splitting: 1 to 3; pressure-correction: 1, 2.");
      prm.declare_entry("Start",
                        "low order",
                        Patterns::Selection("low order|exact|last degree"),
                        "low order: the first steps have lower orders; exact: "
                        "past states are those of the exact solution; last "
                        "degree: as low order, but a degree after the first "
                        "one starts from the end of the last degree.");
      prm.declare_entry("Final time",
                        "1",
                        Patterns::Anything(),
                        "Time at the end, positive.");
      prm.declare_entry("Steady tolerance",
                        "0",
                        Patterns::Double(0.),
                        "Ends earlier, as soon as a step changes the "
                        "coefficients of the velocity by less than this number "
                        "times their norm and the length of the step, and "
                        "those of the temperature, too; 0: never.");
      prm.declare_entry("Step",
                        "0",
                        Patterns::Anything(),
                        "Length of the steps; 0: by the CFL number.");
      prm.declare_entry("CFL number",
                        "0.5",
                        Patterns::Double(),
                        "Step = CFL number min 1/(|u| penalty factor), where "
                        "the factor is of the order of p^2/h.");
      prm.declare_entry("Growth",
                        "1.2",
                        Patterns::Double(1.),
                        "Largest ratio of successive steps.");
      prm.declare_entry("Halvings",
                        "0",
                        Patterns::Integer(0, 12),
                        "Further runs with half of Step, a quarter, and so on, "
                        "for rates in time.");
      prm.declare_entry("Subcycles",
                        "0",
                        Patterns::Integer(0),
                        "Runge-Kutta steps of the convection in each step; 0: "
                        "the convection is extrapolated.");
      prm.declare_entry("Checkpoint after steps",
                        "0",
                        Patterns::Integer(0),
                        "Writes a checkpoint after so many steps; 0: never.");
      prm.declare_entry("Stop after steps",
                        "0",
                        Patterns::Integer(0),
                        "Ends with a checkpoint after so many steps of this "
                        "run; 0: at the final time.");
      prm.declare_entry("Restart from",
                        "",
                        Patterns::Anything(),
                        "Checkpoint to go on from. With several degrees (Start "
                        "= last degree) the first one goes on from it.");
      prm.leave_subsection();
    }



    void
    FlowInput::declare_discretisation(ParameterHandler &prm)
    {
      prm.enter_subsection("Discretisation");
      prm.declare_entry("Degree",
                        "2",
                        Patterns::Anything(),
                        "Polynomial degrees k of the velocity from 1 to 10.");
      prm.declare_entry("Pressure degree",
                        "lower",
                        Patterns::Selection("lower|equal"),
                        "lower: k - 1, but 1 for k = 1; equal: k.");
      prm.declare_entry("Curved quadrature",
                        "consistent",
                        Patterns::Selection("exact|consistent"),
                        "Rules on curved cells: exact for polynomials through "
                        "the mapping, or of the order that keeps rates of "
                        "convergence, constant states and the conservation of "
                        "mass.");
      prm.declare_entry("Dissipation",
                        "1",
                        Patterns::Double(0.),
                        "Factor zeta of the largest |u . n| in the convective "
                        "flux; 2: local Lax-Friedrichs.");
      prm.declare_entry("Backflow",
                        "1",
                        Patterns::Double(0., 2.),
                        "Factor theta on outflow parts where flow comes back; "
                        "1: it brings no energy.");
      prm.declare_entry("Divergence penalty",
                        "1",
                        Patterns::Double(0.),
                        "Factor zeta_D of the penalty of the divergence.");
      prm.declare_entry("Continuity penalty",
                        "1",
                        Patterns::Double(0.),
                        "Factor zeta_C of the penalty of jumps of the normal "
                        "velocity. No penalty step if both are 0.");
      prm.declare_entry("Rotational",
                        "1",
                        Patterns::Double(0., 1.),
                        "pressure-correction: factor chi of the divergence in "
                        "the new pressure.");
      prm.declare_entry("Penalty constant",
                        "2.5",
                        Patterns::Double(),
                        "Constant of the interior penalty, positive.");
      prm.leave_subsection();
      prm.enter_subsection("Solver");
      prm.declare_entry("Tolerance",
                        "1e-8",
                        Patterns::Double(),
                        "Residual at which iterations end, relative to the "
                        "right-hand side.");
      prm.declare_entry("Maximum iterations",
                        "200",
                        Patterns::Integer(1),
                        "Of each solver in a step.");
      prm.declare_entry("Pressure smoother",
                        "ilu",
                        Patterns::Selection("ilu|chebyshev"),
                        "Smoother of multigrid. ilu needs fewer iterations and "
                        "less time; with chebyshev results have the same "
                        "bits for any number of processes where polytopes "
                        "have the same numbers and are not joined.");
      prm.declare_entry(
        "Direct pressure unknowns",
        "-1",
        Patterns::Integer(-1),
        "Up to this number of unknowns the preconditioner of "
        "the pressure is the inverse of its matrix by nested "
        "dissection, in single precision, instead of "
        "multigrid; on one process. -1: 100000 in two and 10000 "
        "in three dimensions with Execution/Backend = cuda, "
        "and 0 otherwise.");
      prm.leave_subsection();
      prm.enter_subsection("Execution");
      prm.declare_entry("Backend",
                        "host",
                        Patterns::Selection("host|cuda"),
                        "Where steps are computed. On a CUDA device their "
                        "vectors stay in its memory; systems are set up on "
                        "the host.");
      prm.declare_entry("Kernel cache",
                        "",
                        Patterns::Anything(),
                        "Directory for kernels that are compiled at run time, "
                        "some twenty for a flow; none: no cache; empty: the "
                        "default directory.");
      prm.leave_subsection();
    }



    void
    FlowInput::declare_records(ParameterHandler &prm)
    {
      prm.enter_subsection("Records");
      prm.declare_entry("Force id",
                        "-1",
                        Patterns::Integer(-1),
                        "Boundary id on which the force of the flow is "
                        "computed; -1: none.");
      prm.declare_entry("Force scale",
                        "1",
                        Patterns::Anything(),
                        "Coefficients are the force times this number.");
      prm.declare_entry("Strouhal scale",
                        "1",
                        Patterns::Anything(),
                        "Length divided by speed: the Strouhal number is the "
                        "frequency of the second force coefficient times this "
                        "number, in the second half of the time that was "
                        "recorded, before and after a restart.");
      prm.declare_entry("Heat ids",
                        "",
                        Patterns::Anything(),
                        "Boundary ids through which the heat flux, int kappa "
                        "dT/dn, is recorded, separated by commas.");
      prm.declare_entry("Heat scale",
                        "1",
                        Patterns::Anything(),
                        "Factor of these fluxes, for instance the length of a "
                        "Nusselt number divided by kappa, the area and the "
                        "difference of temperatures.");
      prm.declare_entry("Probes",
                        "",
                        Patterns::Anything(),
                        "Points at which the fields are recorded, "
                        "separated by semicolons, with commas between "
                        "coordinates: 0.15, 0.2; 0.25, 0.2.");
      prm.declare_entry("Steps between records",
                        "1",
                        Patterns::Integer(1),
                        "Number of steps between two lines of the file of "
                        "records.");
      prm.declare_entry("Picture interval",
                        "0",
                        Patterns::Double(0.),
                        "Time between two pictures (VTU files in a PVD file); "
                        "0: the final state only.");
      prm.leave_subsection();
    }



    double
    FlowInput::number(const std::string &name, const std::string &text) const
    {
      const double result =
        Expression(name, text, std::vector<std::string>(), constants)
          .value(nullptr);
      AssertThrow(std::isfinite(result),
                  ExcMessage(name + " is not a finite number."));
      return result;
    }



    std::vector<Expression>
    FlowInput::expressions(const std::string &name,
                           const std::string &text,
                           const char         separator,
                           const unsigned int n) const
    {
      std::vector<Expression> result;
      for (const std::string &part : split(text, separator))
        if (!part.empty())
          result.emplace_back(name, part, variables, constants);
      AssertThrow(result.size() == n,
                  ExcMessage(name + " has " + std::to_string(result.size()) +
                             " components, but " + std::to_string(n) +
                             " are needed."));
      return result;
    }



    std::map<unsigned int, std::vector<Expression>>
    FlowInput::by_boundary_id(const std::string &name,
                              const std::string &text,
                              const unsigned int n) const
    {
      std::map<unsigned int, std::vector<Expression>> result;
      for (const std::string &part : split(text, ';'))
        {
          if (part.empty())
            continue;
          const auto        colon = part.find(':');
          const std::string id    = split(part.substr(0, colon), ';')[0];
          AssertThrow(colon != std::string::npos && is_index(id),
                      ExcMessage("The entry '" + part + "' of " + name +
                                 " must have the form 'id: values'."));
          result[std::stoi(id)] =
            expressions(name, part.substr(colon + 1), ',', n);
        }
      return result;
    }



    void
    FlowInput::parse_parameters(ParameterHandler  &prm,
                                const unsigned int dimension)
    {
      dim       = dimension;
      variables = coordinate_names(dim);
      variables.push_back("t");
      parse_flow(prm);
      parse_boundary_conditions(prm);
      parse_temperature(prm);
      parse_time(prm);
      parse_discretisation(prm);
      parse_records(prm);
    }



    void
    FlowInput::parse_flow(ParameterHandler &prm)
    {
      prm.enter_subsection("Flow");
      constants      = parse_constants("Flow/Constants", prm.get("Constants"));
      flow.viscosity = number("Flow/Viscosity", prm.get("Viscosity"));
      AssertThrow(flow.viscosity > 0.,
                  ExcMessage("Flow/Viscosity is " + short_text(flow.viscosity) +
                             ", but must be positive."));
      velocity = expressions("Flow/Velocity", prm.get("Velocity"), ';', dim);
      pressure = expressions("Flow/Pressure", prm.get("Pressure"), ';', 1);
      exact    = prm.get_bool("Exact");
      if (!prm.get("Force").empty())
        source = expressions("Flow/Force", prm.get("Force"), ';', dim);
      prm.leave_subsection();
    }



    void
    FlowInput::parse_boundary_conditions(ParameterHandler &prm)
    {
      prm.enter_subsection("Boundary conditions");
      for (const std::string &entry : split(prm.get("Types"), ','))
        {
          if (entry.empty())
            continue;
          const std::vector<std::string> parts = split(entry, ':');
          AssertThrow(parts.size() == 2 && is_index(parts[0]) &&
                        (parts[1] == "velocity" || parts[1] == "outflow" ||
                         parts[1] == "symmetry"),
                      ExcMessage("The entry '" + entry +
                                 "' of Boundary conditions/Types must have the "
                                 "form 'id: type' with a type velocity, "
                                 "outflow or symmetry."));
          using Type = Flow::IncompressibleCondition;
          AssertThrow(flow.boundary.n_conditions <
                        Flow::IncompressibleConditions::max_conditions,
                      ExcMessage("Boundary conditions/Types has more than 16 "
                                 "entries."));
          flow.boundary.add(std::stoi(parts[0]),
                            parts[1] == "velocity"  ? Type::velocity
                            : parts[1] == "outflow" ? Type::outflow
                                                    : Type::symmetry);
        }
      velocities = by_boundary_id("Boundary conditions/Velocities",
                                  prm.get("Velocities"),
                                  dim);
      pressures  = by_boundary_id("Boundary conditions/Pressures",
                                 prm.get("Pressures"),
                                 1);
      normal_derivatives =
        by_boundary_id("Boundary conditions/Normal derivatives",
                       prm.get("Normal derivatives"),
                       dim);
      prm.leave_subsection();
      const auto check =
        [&](const auto &values, const auto type, const auto &name) {
          for (const auto &id : values)
            AssertThrow(flow.boundary.is(id.first, type),
                        ExcMessage("Boundary conditions/" + std::string(name) +
                                   " has an entry for boundary id " +
                                   std::to_string(id.first) +
                                   ", whose type is another one."));
        };
      check(velocities, Flow::IncompressibleCondition::velocity, "Velocities");
      check(pressures, Flow::IncompressibleCondition::outflow, "Pressures");
      check(normal_derivatives,
            Flow::IncompressibleCondition::outflow,
            "Normal derivatives");
    }



    void
    FlowInput::parse_temperature(ParameterHandler &prm)
    {
      Flow::TemperatureParameters &t = flow.temperature;
      prm.enter_subsection("Temperature");
      t.enabled = prm.get_bool("Enabled");
      if (!t.enabled)
        {
          prm.leave_subsection();
          return;
        }
      t.diffusivity = number("Temperature/Diffusivity", prm.get("Diffusivity"));
      AssertThrow(t.diffusivity > 0.,
                  ExcMessage("Temperature/Diffusivity is " +
                             short_text(t.diffusivity) +
                             ", but must be positive."));
      t.expansion = number("Temperature/Expansion coefficient",
                           prm.get("Expansion coefficient"));
      t.reference = number("Temperature/Reference temperature",
                           prm.get("Reference temperature"));
      if (!prm.get("Gravity").empty())
        {
          const std::vector<std::string> g = split(prm.get("Gravity"), ';');
          AssertThrow(g.size() == dim,
                      ExcMessage("Temperature/Gravity has " +
                                 std::to_string(g.size()) +
                                 " components, but " + std::to_string(dim) +
                                 " are needed."));
          for (unsigned int d = 0; d < dim; ++d)
            t.gravity[d] = number("Temperature/Gravity", g[d]);
        }
      temperature =
        expressions("Temperature/Temperature", prm.get("Temperature"), ';', 1);
      if (!prm.get("Source").empty())
        heat_source =
          expressions("Temperature/Source", prm.get("Source"), ';', 1);
      parse_temperature_conditions(prm);
      prm.leave_subsection();
    }



    void
    FlowInput::parse_temperature_conditions(ParameterHandler &prm)
    {
      using Type                            = Flow::TemperatureCondition;
      Flow::TemperatureConditions &boundary = flow.temperature.boundary;
      for (const std::string &entry : split(prm.get("Types"), ','))
        {
          if (entry.empty())
            continue;
          const std::vector<std::string> parts = split(entry, ':');
          AssertThrow(parts.size() == 2 && is_index(parts[0]) &&
                        (parts[1] == "temperature" || parts[1] == "flux" ||
                         parts[1] == "outflow"),
                      ExcMessage("The entry '" + entry +
                                 "' of Temperature/Types must have the form "
                                 "'id: type' with a type temperature, flux or "
                                 "outflow."));
          AssertThrow(boundary.n_conditions < boundary.max_conditions,
                      ExcMessage("Temperature/Types has more than 16 "
                                 "entries."));
          boundary.add(std::stoi(parts[0]),
                       parts[1] == "temperature" ? Type::temperature
                       : parts[1] == "flux"      ? Type::heat_flux
                                                 : Type::outflow);
        }
      temperatures =
        by_boundary_id("Temperature/Temperatures", prm.get("Temperatures"), 1);
      heat_fluxes = by_boundary_id("Temperature/Fluxes", prm.get("Fluxes"), 1);
      for (const bool of_fluxes : {false, true})
        for (const auto &id : of_fluxes ? heat_fluxes : temperatures)
          AssertThrow(boundary.find(id.first) < boundary.n_conditions &&
                        of_fluxes == boundary.is(id.first, Type::heat_flux),
                      ExcMessage(std::string("Temperature/") +
                                 (of_fluxes ? "Fluxes" : "Temperatures") +
                                 " has an entry for boundary id " +
                                 std::to_string(id.first) +
                                 ", whose type is another one."));
    }



    void
    FlowInput::parse_time(ParameterHandler &prm)
    {
      prm.enter_subsection("Time");
      flow.method = prm.get("Method") == "dual-splitting"
                      ? Flow::SplittingMethod::dual_splitting
                      : Flow::SplittingMethod::pressure_correction;
      flow.order  = prm.get_integer("Order");
      const unsigned int largest =
        flow.method == Flow::SplittingMethod::dual_splitting ? 3 : 2;
      AssertThrow(flow.order <= largest,
                  ExcMessage("Time/Order is " + std::to_string(flow.order) +
                             ", but " + prm.get("Method") +
                             " has orders from 1 to " +
                             std::to_string(largest) + " only."));
      exact_start      = prm.get("Start") == "exact";
      start_from_last  = prm.get("Start") == "last degree";
      final_time       = number("Time/Final time", prm.get("Final time"));
      step             = number("Time/Step", prm.get("Step"));
      steady_tolerance = prm.get_double("Steady tolerance");
      cfl_number       = prm.get_double("CFL number");
      growth           = prm.get_double("Growth");
      n_halvings       = prm.get_integer("Halvings");
      flow.n_subcycles = prm.get_integer("Subcycles");
      checkpoint_steps = prm.get_integer("Checkpoint after steps");
      stop_steps       = prm.get_integer("Stop after steps");
      restart          = prm.get("Restart from");
      prm.leave_subsection();
      AssertThrow(final_time > 0. && step >= 0. && cfl_number > 0.,
                  ExcMessage("Time/Final time and CFL number must be positive, "
                             "and Step must not be negative."));
      AssertThrow(step > 0. || (n_halvings == 0 && !exact_start),
                  ExcMessage("Time/Halvings and Start = exact need a fixed "
                             "Time/Step."));
      AssertThrow(n_halvings == 0 || !start_from_last,
                  ExcMessage("Time/Start = last degree is for steady flows: "
                             "set Time/Halvings = 0."));
      AssertThrow(exact || !exact_start,
                  ExcMessage("Time/Start = exact needs an exact solution: set "
                             "Flow/Exact."));
    }



    void
    FlowInput::parse_discretisation(ParameterHandler &prm)
    {
      prm.enter_subsection("Discretisation");
      degrees =
        parse_integers("Discretisation/Degree", prm.get("Degree"), 1, 10);
      equal_degrees          = prm.get("Pressure degree") == "equal";
      flow.curved_quadrature = prm.get("Curved quadrature") == "exact"
                                 ? CurvedQuadrature::exact
                                 : CurvedQuadrature::consistent;
      flow.zeta              = prm.get_double("Dissipation");
      flow.theta             = prm.get_double("Backflow");
      flow.divergence_factor = prm.get_double("Divergence penalty");
      flow.continuity_factor = prm.get_double("Continuity penalty");
      flow.penalty_step =
        flow.divergence_factor > 0. || flow.continuity_factor > 0.;
      flow.rotational                = prm.get_double("Rotational");
      flow.assembly.penalty.constant = prm.get_double("Penalty constant");
      AssertThrow(flow.assembly.penalty.constant > 0.,
                  ExcMessage("Discretisation/Penalty constant must be "
                             "positive."));
      prm.leave_subsection();
      prm.enter_subsection("Solver");
      flow.tolerance         = prm.get_double("Tolerance");
      flow.max_iterations    = prm.get_integer("Maximum iterations");
      flow.pressure_smoother = prm.get("Pressure smoother") == "ilu"
                                 ? MultigridSmoother::ilu
                                 : MultigridSmoother::chebyshev;
      if (const int n = prm.get_integer("Direct pressure unknowns"); n >= 0)
        flow.direct_pressure_unknowns = n;
      AssertThrow(flow.tolerance > 0. && flow.tolerance < 1.,
                  ExcMessage("Solver/Tolerance must be between 0 and 1."));
      prm.leave_subsection();
      prm.enter_subsection("Execution");
      flow.assembly.backend = parse_backend(prm.get("Backend"));
      check_backend("Execution/Backend", flow.assembly.backend);
      const std::string cache = prm.get("Kernel cache");
      if (!cache.empty())
        KernelCache::set_directory(cache == "none" ? "" : cache);
      prm.leave_subsection();
    }



    void
    FlowInput::parse_records(ParameterHandler &prm)
    {
      prm.enter_subsection("Records");
      force_id    = prm.get_integer("Force id");
      force_scale = number("Records/Force scale", prm.get("Force scale"));
      strouhal_scale =
        number("Records/Strouhal scale", prm.get("Strouhal scale"));
      for (const std::string &id : split(prm.get("Heat ids"), ','))
        {
          if (id.empty())
            continue;
          AssertThrow(is_index(id) && flow.temperature.enabled,
                      ExcMessage("Records/Heat ids must be boundary ids, and "
                                 "there must be a temperature."));
          heat_ids.push_back(std::stoi(id));
        }
      heat_scale = number("Records/Heat scale", prm.get("Heat scale"));
      for (const std::string &point : split(prm.get("Probes"), ';'))
        {
          if (point.empty())
            continue;
          const std::vector<std::string> x = split(point, ',');
          AssertThrow(x.size() == dim,
                      ExcMessage(
                        "The point '" + point + "' of Records/Probes has " +
                        std::to_string(x.size()) + " coordinates instead of " +
                        std::to_string(dim) + "."));
          for (const std::string &coordinate : x)
            probes.push_back(number("Records/Probes", coordinate));
        }
      record_steps     = prm.get_integer("Steps between records");
      picture_interval = prm.get_double("Picture interval");
      prm.leave_subsection();
    }



    template class TextFlow<2>;
    template class TextFlow<3>;
    template TextFlow<2>
    FlowInput::create() const;
    template TextFlow<3>
    FlowInput::create() const;
  } // namespace Application
} // namespace Tessella

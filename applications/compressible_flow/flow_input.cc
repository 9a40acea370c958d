// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "flow_input.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/numbers.h>
#include <deal.II/base/patterns.h>

#include <tessella/device/cuda_device.h>
#include <tessella/flow/check_conditions.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <sstream>

#include "../common/equation_input.h"
#include "../common/limiter_input.h"
#include "../common/mesh_input.h"
#include "../common/program.h"
#include "flow_states.h"
#include "polytope_functors.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      const std::map<std::string, Flow::NumericalFlux> numerical_fluxes = {
        {"hllc", Flow::NumericalFlux::hllc},
        {"hll", Flow::NumericalFlux::hll},
        {"hll of means", Flow::NumericalFlux::hll_of_means},
        {"roe", Flow::NumericalFlux::roe},
        {"rusanov", Flow::NumericalFlux::rusanov}};

      const std::map<std::string, Flow::ConditionType> condition_types = {
        {"slip wall", Flow::ConditionType::slip_wall},
        {"adiabatic wall", Flow::ConditionType::adiabatic_wall},
        {"isothermal wall", Flow::ConditionType::isothermal_wall},
        {"symmetry", Flow::ConditionType::symmetry},
        {"far field", Flow::ConditionType::far_field},
        {"total pressure", Flow::ConditionType::total_pressure},
        {"pressure", Flow::ConditionType::pressure},
        {"supersonic inflow", Flow::ConditionType::supersonic_inflow},
        {"supersonic outflow", Flow::ConditionType::supersonic_outflow},
        {"given state", Flow::ConditionType::given_state},
        {"exact", Flow::ConditionType::given_state},
        {"exact inflow", Flow::ConditionType::supersonic_inflow}};

      void
      call_state(const void *object, const double *x, double t, double *u)
      {
        static_cast<const StateFunction<2> *>(object)->state(x, t, u);
      }
      void
      call_state_3d(const void *object, const double *x, double t, double *u)
      {
        static_cast<const StateFunction<3> *>(object)->state(x, t, u);
      }

      /// Sections "Boundary conditions" and "Forces".
      void
      declare_boundary(ParameterHandler &prm, ForceInput &forces)
      {
        const auto any = Patterns::Anything();
        prm.enter_subsection("Boundary conditions");
        prm.declare_entry(
          "Types",
          "default: far field",
          any,
          "Type per boundary id: 0: far field, 2: slip wall; default stands for "
          "all other ids. far field: characteristics between the flow and the "
          "free stream; slip wall; adiabatic wall and isothermal wall, without "
          "slip, for viscous flow; symmetry; total pressure: inflow with the "
          "total values and the direction of the free stream; pressure: outflow "
          "with the pressure of the free stream; supersonic inflow, given state: "
          "the free stream, alone or through the numerical flux; supersonic "
          "outflow; exact, exact inflow: the same as given state and supersonic "
          "inflow with the exact solution. Periodic boundaries are set in the "
          "section Mesh.");
        prm.declare_entry(
          "Values",
          "",
          any,
          "Values other than those of the free stream per boundary id, separated "
          "by semicolons: 1: 0.7; 0: 1.2, 1. total pressure: total pressure and "
          "total p / rho; pressure: the pressure; isothermal wall: p / rho; far "
          "field, supersonic inflow, given state: density, velocity, pressure.");
        prm.leave_subsection();

        prm.enter_subsection("Forces");
        prm.declare_entry("Boundary ids",
                          "",
                          any,
                          "Parts of the boundary on which forces act: NAME-"
                          "forces.csv with C_l, C_d and C_m, and NAME-surface"
                          ".csv with the pressure coefficient.");
        prm.add_parameter("Steps",
                          forces.steps,
                          "Steady flow: number of steps after which forces are "
                          "evaluated for NAME-history.csv and NAME-forces.svg, "
                          "beside the last one; 0: only the last one.",
                          Patterns::Integer(0));
        prm.declare_entry("Span stations",
                          "",
                          any,
                          "3-D: coordinates along the span, which is normal to "
                          "x and Lift axis, of sections of the bodies, "
                          "separated by commas: NAME-sections.csv and NAME-"
                          "sections.svg with the pressure coefficient. The "
                          "plane of symmetry, where the mesh ends, cuts no "
                          "face: give a station beside it.");
        prm.add_parameter(
          "Section data",
          forces.section_file,
          "3-D: file with points of sections at Span stations, "
          "such as measured ones, which NAME-sections.svg shows "
          "beside those of the flow. Lines have station, side "
          "(1: upper, -1: lower), part of the chord and C_p, "
          "separated by commas; # begins a comment.");
        prm.add_parameter("Reference length",
                          forces.length,
                          "Length of the coefficient of the moment.",
                          Patterns::Double());
        prm.add_parameter("Reference area",
                          forces.area,
                          "Area (2-D: length) of all coefficients.",
                          Patterns::Double());
        prm.declare_entry(
          "Moment centre",
          "0.25, 0, 0",
          any,
          "Point to which the moment refers; its axis is normal "
          "to x and Lift axis, and it is positive nose-up.");
        prm.leave_subsection();
      }

      /// Part of section "Steady".
      void
      declare_linear_solver(ParameterHandler          &prm,
                            Flow::PseudoTransientData &data)
      {
        prm.declare_entry(
          "Solver",
          "gmres lu-sgs",
          Patterns::Selection("gmres lu-sgs|gmres ilu0|gmres multigrid|lu-sgs"),
          "GMRES with LU-SGS, block ILU(0) or a multigrid cycle "
          "over degrees and joined polytopes; or LU-SGS alone.");
        prm.add_parameter("Sweeps",
                          data.sweeps.n_sweeps,
                          "Number k of sweeps, SGS(k); 1: LU-SGS. Multigrid: "
                          "before and after the coarse correction.",
                          Patterns::Integer(1));
        prm.declare_entry(
          "Ordering",
          "colors",
          Patterns::Selection("automatic|colors|hyperplanes"),
          "Order of the sweeps. colors: the same result for any "
          "number of processes; hyperplanes: fewer iterations; "
          "automatic: hyperplanes on the host, colors on a "
          "device.");
        prm.add_parameter("Single precision",
                          data.single_precision,
                          "Whether the preconditioner stores its blocks in "
                          "float; multigrid for degrees up to 3 only.");
        prm.add_parameter("Linear tolerance",
                          data.linear_tolerance,
                          "GMRES ends when the residual has fallen by this "
                          "factor.",
                          Patterns::Double());
        prm.add_parameter(
          "Tighten tolerance",
          data.tighten,
          "Whether the tolerance follows the convergence of the "
          "steps, for the quadratic convergence of Newton's "
          "method.");
        prm.add_parameter("GMRES restart",
                          data.gmres_vectors,
                          "Number of vectors that GMRES keeps.",
                          Patterns::Integer(1));
        prm.add_parameter("Second orthogonalisation",
                          data.second_below,
                          "A vector of GMRES is made orthogonal to the others "
                          "a second time if the first one leaves less than "
                          "this part of its norm.",
                          Patterns::Double(0., 1.));
        prm.add_parameter("Maximum iterations",
                          data.max_iterations,
                          "Largest number of iterations of GMRES in a step.",
                          Patterns::Integer(1));
      }
    } // namespace



    void
    FlowInput::declare_parameters(ParameterHandler &prm)
    {
      declare_flow(prm);
      declare_steady(prm);
      shock.declare_parameters(prm);
      time.declare_parameters(prm);
      declare_limiter(prm);
    }



    void
    FlowInput::declare_flow(ParameterHandler &prm)
    {
      const auto any = Patterns::Anything();
      prm.enter_subsection("Flow");
      declare_constants(prm);
      prm.add_parameter("Gamma",
                        gamma,
                        "Ratio of specific heats of the ideal gas.",
                        Patterns::Double());
      prm.declare_entry("Density", "1", any, "Density of the free stream.");
      prm.declare_entry("Speed of sound",
                        "1",
                        any,
                        "Speed of sound of the free stream.");
      prm.declare_entry("Mach number",
                        "0.5",
                        any,
                        "Mach number of the free stream.");
      prm.declare_entry("Angle of attack",
                        "0",
                        any,
                        "Angle between the free stream and the x-axis in "
                        "degrees, towards Lift axis.");
      prm.declare_entry("Lift axis",
                        "y",
                        Patterns::Selection("y|z"),
                        "Direction of the lift at angle 0.");
      prm.declare_entry("Reynolds number",
                        "none",
                        any,
                        "rho u L / mu of the free stream with Forces/Reference "
                        "length: the Navier-Stokes equations. none: those of "
                        "Euler.");
      prm.add_parameter("Prandtl number",
                        viscosity.prandtl,
                        "Prandtl number.",
                        Patterns::Double());
      prm.declare_entry("Viscosity",
                        "constant",
                        Patterns::Selection("constant|sutherland"),
                        "constant, or Sutherland's law.");
      prm.add_parameter("Sutherland temperature",
                        sutherland_ratio,
                        "Constant of Sutherland's law over the temperature of "
                        "the free stream.",
                        Patterns::Double());
      prm.add_parameter("Penalty constant",
                        penalty_constant,
                        "Constant of the interior penalty of viscous terms.",
                        Patterns::Double());
      prm.declare_entry("Numerical flux",
                        "hllc",
                        Patterns::Selection(
                          "hllc|hll|hll of means|roe|rusanov"),
                        "hll of means: the one of deal.II's step-67.");
      prm.declare_entry("Initial condition",
                        "free stream",
                        any,
                        "free stream; exact, the exact solution at time 0; or "
                        "density, velocity and pressure as expressions of the "
                        "coordinates, separated by semicolons.");
      prm.declare_entry("Exact solution",
                        "none",
                        any,
                        "none; free stream; vortex, the isentropic one of "
                        "deal.II's step-67; manufactured, a smooth steady flow "
                        "in the unit square or cube, with its source; or "
                        "density, velocity and pressure as expressions of the "
                        "coordinates and t, separated by semicolons. Errors "
                        "are measured against it.");
      prm.add_parameter("Steady",
                        steady,
                        "Whether to compute the steady state, see section "
                        "Steady, instead of the flow at Time/Final time. Of "
                        "section Time, only the entries about checkpoints "
                        "matter then.");
      prm.add_parameter("Tick",
                        tick,
                        "Unsteady flow: times at which steps end, errors are "
                        "measured, of which the table has the largest, and "
                        "VTU files are written, together with a PVD file. 0: "
                        "only the final time.",
                        Patterns::Double(0.));
      prm.declare_entry("Wave speeds",
                        "points",
                        Patterns::Selection("points|surface"),
                        "Unsteady flow: those of Time/CFL number, the same on "
                        "host and device. points: the largest |u| + c at "
                        "quadrature points of a polytope, which the host "
                        "computes, for which a device copies the solution "
                        "once in a step; surface: the mean of |u.n| + c, the "
                        "larger one of both sides, over its surface, which a "
                        "device computes itself. It is smaller, and steps are "
                        "longer for the same CFL number.");
      prm.add_parameter("Positivity",
                        positivity,
                        "Unsteady flow: keeps density and pressure positive at "
                        "quadrature points by scaling towards the mean.");
      prm.leave_subsection();
      declare_boundary(prm, forces);
    }



    void
    FlowInput::declare_steady(ParameterHandler &prm)
    {
      Flow::PseudoTransientData &data = pseudo_transient;
      prm.enter_subsection("Steady");
      prm.add_parameter("CFL number",
                        data.first_cfl,
                        "CFL number of the first step; it grows with the "
                        "reciprocal of the residual.",
                        Patterns::Double());
      prm.add_parameter("Start from last degree",
                        start_from_last,
                        "Whether every degree of the list but the first one of "
                        "a mesh starts from the solution of the one before "
                        "instead of Flow/Initial condition.");
      prm.add_parameter("Start tolerance",
                        start_tolerance,
                        "With Start from last degree: Tolerance of all degrees "
                        "but the last one, whose solutions are only starts; 0: "
                        "Tolerance.",
                        Patterns::Double(0., 1.));
      prm.add_parameter("Largest CFL number",
                        data.largest_cfl,
                        "Bound of the CFL number.",
                        Patterns::Double());
      prm.add_parameter("Exponent",
                        data.exponent,
                        "Exponent of the growth of the CFL number.",
                        Patterns::Double());
      prm.add_parameter("Tolerance",
                        data.tolerance,
                        "The iteration ends when the norm of the residual has "
                        "fallen by this factor.",
                        Patterns::Double());
      prm.add_parameter("Absolute tolerance",
                        data.absolute_tolerance,
                        "It also ends when the norm is below this.",
                        Patterns::Double());
      prm.add_parameter("Maximum steps",
                        data.max_steps,
                        "Number of steps after which the iteration has "
                        "failed.",
                        Patterns::Integer(1));
      prm.add_parameter("Largest change",
                        largest_change,
                        "Part of their values by which density and pressure "
                        "may change in a step at any quadrature point.",
                        Patterns::Double());
      prm.add_parameter("Step halvings",
                        n_halvings,
                        "How often a step may be halved until it is small "
                        "enough and the residual falls.",
                        Patterns::Integer(0));
      prm.add_parameter("Maximum failures",
                        data.max_failures,
                        "Number of failing steps in a row after which the "
                        "iteration gives up; each reduces the CFL number to a "
                        "quarter.",
                        Patterns::Integer(0));
      prm.add_parameter("Field steps",
                        field_steps,
                        "Number of steps after which a VTU file of the state "
                        "is written and listed in the PVD file, beside the "
                        "last one; 0: only the last one.",
                        Patterns::Integer(0));
      prm.declare_entry("Jacobian",
                        "exact",
                        Patterns::Selection("exact|frozen|rusanov"),
                        "exact: the derivative of the residual; frozen: the "
                        "same with fixed wave speeds in the numerical flux; "
                        "rusanov: that of Rusanov's flux with fixed wave "
                        "speeds. The last two need more steps.");
      prm.declare_entry("Reconstruction",
                        "none",
                        Patterns::Selection("none|quadratic|weno"),
                        "Quadratic functions, reconstructed from the linear "
                        "ones of degree 1 by least squares, whose coefficients "
                        "may be those of WENO (P1P2). The matrix is that of "
                        "degree 1.");
      prm.declare_entry("Tangent of WENO",
                        "frozen",
                        Patterns::Selection("exact|frozen"),
                        "exact: GMRES applies the derivative of the weights, "
                        "too, for the quadratic convergence of Newton's "
                        "method; frozen: they are held fixed in each step, "
                        "which is cheaper but needs more steps.");
      declare_linear_solver(prm, data);
      prm.leave_subsection();
    }



    void
    FlowInput::parse_parameters(ParameterHandler &prm, const unsigned int dim)
    {
      space_dimension = dim;
      variables       = coordinate_names(space_dimension);
      variables.push_back("t");
      parse_flow(prm);
      parse_boundary_conditions(prm);
      parse_steady(prm);
      shock.parse_parameters(prm);
      AssertThrow(!shock.active || !reconstruct,
                  ExcMessage("Shock capturing/Sensor is for flow without "
                             "reconstruction: set Steady/Reconstruction = none "
                             "or Sensor = none."));
      parse_forces(prm);
      const std::string end = time.final_time_text(prm);
      time.parse_parameters(prm,
                            parse_numbers("Time/Final time", end, ';').front());
      parse_limiter(prm, constants, *this);
    }



    bool
    FlowInput::runs_on_device(const Backend backend) const
    {
      return backend == Backend::cuda || (backend == Backend::automatic &&
                                          cuda_is_available() && !needs_host());
    }



    void
    FlowInput::check_backend(const Backend backend) const
    {
      AssertThrow(backend != Backend::cuda || !needs_host(),
                  ExcMessage("Execution/Backend = cuda cannot evaluate the "
                             "expressions of Flow/Exact solution: set it to "
                             "host."));
    }



    std::vector<Expression>
    FlowInput::parse_state(const std::string &name,
                           const std::string &text,
                           const bool         with_time) const
    {
      std::vector<std::string> names = variables;
      if (!with_time)
        names.pop_back();
      std::vector<Expression> result;
      for (const std::string &part : split(text, ';'))
        if (!part.empty())
          result.emplace_back(name, part, names, constants);
      AssertThrow(result.size() == space_dimension + 2,
                  ExcMessage(name + " has " + std::to_string(result.size()) +
                             (result.size() == 1 ? " entry" : " entries") +
                             ", but must have " +
                             std::to_string(space_dimension + 2) +
                             ": density, velocity and pressure, separated by "
                             "semicolons."));
      return result;
    }



    std::vector<double>
    FlowInput::parse_numbers(const std::string &name,
                             const std::string &text,
                             const char         separator) const
    {
      std::vector<double> result;
      for (const std::string &part : split(text, separator))
        {
          const Expression e(name, part, {}, constants);
          result.push_back(e.value(nullptr));
          AssertThrow(std::isfinite(result.back()),
                      ExcMessage(name + " = " + text + " is not finite."));
        }
      return result;
    }



    void
    FlowInput::parse_flow(ParameterHandler &prm)
    {
      prm.enter_subsection("Flow");
      constants = parse_constants("Flow/Constants", prm.get("Constants"));
      Flow::check_gas(Flow::IdealGas<2>{gamma});
      parse_free_stream(prm);
      numerical_flux.type = numerical_fluxes.at(prm.get("Numerical flux"));
      exact_text          = prm.get("Exact solution");
      exact.clear();
      if (exact_text != "none" && exact_text != "free stream" &&
          exact_text != "vortex" && exact_text != "manufactured")
        exact = parse_state("Flow/Exact solution", exact_text, true);
      initial_text = prm.get("Initial condition");
      AssertThrow(initial_text != "exact" || exact_text != "none",
                  ExcMessage("Flow/Initial condition = exact needs "
                             "Flow/Exact solution."));
      parse_viscosity(prm);
      wave_speeds = prm.get("Wave speeds");
      initial.clear();
      if (initial_text != "free stream" && initial_text != "exact")
        initial = parse_state("Flow/Initial condition", initial_text, false);
      AssertThrow(!steady || exact_text != "vortex",
                  ExcMessage("Flow/Exact solution = vortex moves: set Flow/"
                             "Steady = false."));
      prm.leave_subsection();
    }



    void
    FlowInput::parse_free_stream(ParameterHandler &prm)
    {
      const auto number = [&](const std::string &name) {
        const auto numbers = parse_numbers("Flow/" + name, prm.get(name), ';');
        AssertThrow(numbers.size() == 1,
                    ExcMessage("Flow/" + name + " must be one number."));
        return numbers[0];
      };
      free_stream.density = number("Density");
      const double c = number("Speed of sound"), mach = number("Mach number");
      free_stream.speed    = mach * c;
      free_stream.pressure = free_stream.density * c * c / gamma;
      AssertThrow(free_stream.density > 0. && c > 0. && mach >= 0.,
                  ExcMessage("Flow/Density and Flow/Speed of sound must be "
                             "positive, but are " +
                             short_text(free_stream.density) + " and " +
                             short_text(c) +
                             ", and Flow/Mach number, which is " +
                             short_text(mach) + ", must not be negative."));
      const double angle = number("Angle of attack") * numbers::PI / 180.;
      const int    axis  = prm.get("Lift axis") == "y" ? 1 : 2;
      AssertThrow(axis == 1 || space_dimension == 3,
                  ExcMessage("Flow/Lift axis = z needs Mesh/Dimension = 3."));
      for (int d = 0; d < 3; ++d)
        free_stream.drag[d] = free_stream.lift[d] = 0.;
      free_stream.drag[0]    = std::cos(angle);
      free_stream.drag[axis] = std::sin(angle);
      free_stream.lift[0]    = -std::sin(angle);
      free_stream.lift[axis] = std::cos(angle);
    }



    void
    FlowInput::parse_viscosity(ParameterHandler &prm)
    {
      const std::string text = prm.get("Reynolds number");
      viscosity.sutherland   = prm.get("Viscosity") == "sutherland";
      viscosity.reference_temperature =
        free_stream.pressure / free_stream.density;
      viscosity.sutherland_temperature =
        sutherland_ratio * viscosity.reference_temperature;
      reynolds = 0.;
      if (text == "none")
        return;
      reynolds = parse_numbers("Flow/Reynolds number", text, ';').front();
      AssertThrow(reynolds > 0. && viscosity.prandtl > 0. &&
                    sutherland_ratio >= 0. && penalty_constant > 0.,
                  ExcMessage("Flow/Reynolds number, Prandtl number and Penalty "
                             "constant must be positive, and Sutherland "
                             "temperature must not be negative."));
      AssertThrow(free_stream.speed > 0.,
                  ExcMessage("Flow/Reynolds number needs a positive Flow/Mach "
                             "number."));
    }



    void
    FlowInput::parse_boundary_conditions(ParameterHandler &prm)
    {
      prm.enter_subsection("Boundary conditions");
      conditions.clear();
      for (const auto &entry : parse_boundary_map("Boundary conditions/Types",
                                                  prm.get("Types"),
                                                  ','))
        {
          AssertThrow(condition_types.count(entry.second) > 0,
                      ExcMessage("The type '" + entry.second +
                                 "' in Boundary conditions/Types is unknown; "
                                 "--print-parameters lists the types."));
          AssertThrow(reynolds > 0. || (entry.second != "adiabatic wall" &&
                                        entry.second != "isothermal wall"),
                      ExcMessage("Boundary conditions/Types = " + entry.second +
                                 " is for viscous flow: set Flow/Reynolds "
                                 "number, or take slip wall."));
          AssertThrow(entry.second.find("exact") != 0 || exact_text != "none",
                      ExcMessage("Boundary conditions/Types = " + entry.second +
                                 " needs Flow/Exact solution."));
          conditions[entry.first].type = entry.second;
        }
      for (const auto &entry : parse_boundary_map("Boundary conditions/Values",
                                                  prm.get("Values"),
                                                  ';'))
        {
          const std::string id =
            entry.first < 0 ? "default" : std::to_string(entry.first);
          AssertThrow(conditions.count(entry.first) > 0,
                      ExcMessage("Boundary conditions/Values has an entry for "
                                 "'" +
                                 id +
                                 "', which Boundary conditions/Types does not "
                                 "have."));
          Condition &condition = conditions[entry.first];
          condition.values =
            parse_numbers("Boundary conditions/Values", entry.second, ',');
          const Flow::ConditionType type = condition_types.at(condition.type);
          const unsigned int        n =
            type == Flow::ConditionType::pressure ||
                type == Flow::ConditionType::isothermal_wall
                     ? 1
                   : type == Flow::ConditionType::total_pressure ? 2
                   : (type == Flow::ConditionType::far_field ||
               condition.type == "supersonic inflow" ||
               condition.type == "given state")
                     ? space_dimension + 2
                     : 0;
          AssertThrow(condition.values.size() == n,
                      ExcMessage("Boundary conditions/Values has " +
                                 std::to_string(condition.values.size()) +
                                 " numbers for '" + id + "', but " +
                                 condition.type + " needs " +
                                 std::to_string(n) + "."));
        }
      prm.leave_subsection();
    }



    void
    FlowInput::parse_steady(ParameterHandler &prm)
    {
      prm.enter_subsection("Steady");
      Flow::PseudoTransientData &data   = pseudo_transient;
      const std::string          solver = prm.get("Solver"),
                        ordering        = prm.get("Ordering");
      data.method          = solver == "lu-sgs" ? Flow::LinearMethod::lusgs
                             : solver == "gmres ilu0" ? Flow::LinearMethod::gmres_ilu0
                             : solver == "gmres multigrid"
                               ? Flow::LinearMethod::gmres_multigrid
                               : Flow::LinearMethod::gmres_lusgs;
      data.sweeps.ordering = ordering == "colors" ? SweepOrdering::colors
                             : ordering == "hyperplanes"
                               ? SweepOrdering::hyperplanes
                               : SweepOrdering::automatic;
      const std::string approximation = prm.get("Jacobian");
      jacobian            = approximation == "frozen" ? SteadyJacobian::frozen
                            : approximation == "rusanov" ? SteadyJacobian::rusanov
                                                         : SteadyJacobian::exact;
      reconstruct         = prm.get("Reconstruction") != "none";
      reconstruction.weno = prm.get("Reconstruction") == "weno";
      reconstruction.exact_tangent = prm.get("Tangent of WENO") == "exact";
      AssertThrow(!reconstruct || steady,
                  ExcMessage("Steady/Reconstruction needs Flow/Steady = "
                             "true."));
      AssertThrow(data.method != Flow::LinearMethod::gmres_ilu0 ||
                    data.sweeps.n_sweeps == 1,
                  ExcMessage("Steady/Solver = gmres ilu0 needs Steady/Sweeps = "
                             "1."));
      for (const auto &number :
           {std::make_pair("CFL number", data.first_cfl),
            std::make_pair("Largest CFL number", data.largest_cfl)})
        AssertThrow(number.second > 0.,
                    ExcMessage("Steady/" + std::string(number.first) +
                               " must be positive."));
      for (const auto &number :
           {std::make_pair("Tolerance", data.tolerance),
            std::make_pair("Linear tolerance", data.linear_tolerance),
            std::make_pair("Largest change", largest_change)})
        AssertThrow(number.second > 0. && number.second < 1.,
                    ExcMessage("Steady/" + std::string(number.first) +
                               " must be between 0 and 1."));
      AssertThrow(data.exponent >= 0.,
                  ExcMessage("Steady/Exponent must not be negative."));
      prm.leave_subsection();
    }



    bool
    is_same_station(const double a, const double b)
    {
      return std::abs(a - b) <= 1e-9 * (1. + std::abs(a));
    }



    std::vector<KnownSectionPoint>
    read_section_data(const std::string         &file,
                      const std::vector<double> &stations)
    {
      std::vector<KnownSectionPoint> points;
      std::ifstream                  in(file);
      AssertThrow(in,
                  ExcMessage("The file '" + file +
                             "' (Forces/Section data) cannot be read."));
      unsigned int number = 0;
      for (std::string line; std::getline(in, line);)
        {
          ++number;
          if (!line.empty() && line.back() == '\r')
            line.pop_back();
          if (line.empty() || line[0] == '#')
            continue;
          std::istringstream words(line);
          KnownSectionPoint  point;
          char               comma[3];
          const bool         good =
            bool(words >> point.station >> comma[0] >> point.side >> comma[1] >>
                 point.chord >> comma[2] >> point.pressure_coefficient) &&
            std::count(comma, comma + 3, ',') == 3 &&
            std::abs(point.side) == 1 && (words >> std::ws).eof();
          // The names of the columns.
          if (!good && points.empty() &&
              std::isalpha(static_cast<unsigned char>(line[0])))
            continue;
          AssertThrow(good,
                      ExcMessage("Line " + std::to_string(number) + " of '" +
                                 file +
                                 "' (Forces/Section data) must have station, "
                                 "side (1 or -1), part of the chord and C_p, "
                                 "separated by commas, but is '" +
                                 line + "'."));
          points.push_back(point);
        }
      for (const double station : stations)
        AssertThrow(std::any_of(points.begin(),
                                points.end(),
                                [&](const KnownSectionPoint &point) {
                                  return is_same_station(point.station,
                                                         station);
                                }),
                    ExcMessage("The file '" + file +
                               "' (Forces/Section data) has no point of the "
                               "section at " +
                               short_text(station) +
                               ", which Forces/Span stations has."));
      return points;
    }



    void
    FlowInput::parse_forces(ParameterHandler &prm)
    {
      prm.enter_subsection("Forces");
      forces.boundary_ids =
        parse_boundary_ids("Forces/Boundary ids", prm.get("Boundary ids"));
      forces.moment_centre =
        parse_numbers("Forces/Moment centre", prm.get("Moment centre"), ',');
      forces.moment_centre.resize(3, 0.);
      const std::string stations = prm.get("Span stations");
      forces.stations =
        stations.empty() ? std::vector<double>()
                         : parse_numbers("Forces/Span stations", stations, ',');
      AssertThrow(forces.stations.empty() ||
                    (space_dimension == 3 && !forces.boundary_ids.empty()),
                  ExcMessage("Forces/Span stations needs Mesh/Dimension = 3 "
                             "and Forces/Boundary ids."));
      AssertThrow(forces.section_file.empty() || !forces.stations.empty(),
                  ExcMessage("Forces/Section data needs Forces/Span "
                             "stations."));
      AssertThrow(forces.length > 0. && forces.area > 0.,
                  ExcMessage("Forces/Reference length and Forces/Reference "
                             "area must be positive."));
      AssertThrow(forces.boundary_ids.empty() || free_stream.speed > 0.,
                  ExcMessage("Forces/Boundary ids needs a positive Flow/Mach "
                             "number, to which coefficients refer."));
      prm.leave_subsection();
    }



    template <int dim>
    Flow::BoundaryConditions<dim>
    FlowInput::create_boundary(
      const Flow::IdealGas<dim> &gas,
      const std::vector<double> &free_stream_state) const
    {
      Flow::BoundaryConditions<dim> boundary;
      AssertThrow(conditions.size() <= boundary.max_conditions,
                  ExcMessage("Boundary conditions/Types has more than " +
                             std::to_string(boundary.max_conditions) +
                             " entries."));
      const FreeStream &f = free_stream;
      const double mach   = f.speed / std::sqrt(gamma * f.pressure / f.density),
                   ratio  = 1. + 0.5 * (gamma - 1.) * mach * mach;
      for (const auto &entry : conditions)
        {
          const std::vector<double>    &values = entry.second.values;
          Flow::BoundaryCondition<dim> &condition =
            boundary.conditions[boundary.n_conditions++];
          condition.boundary_id =
            entry.first < 0 ? Flow::any_boundary : entry.first;
          condition.type = condition_types.at(entry.second.type);
          std::copy(free_stream_state.begin(),
                    free_stream_state.end(),
                    condition.state);
          std::copy(f.drag, f.drag + dim, condition.direction);
          condition.pressure          = f.pressure;
          condition.total_temperature = f.pressure / f.density * ratio;
          condition.total_pressure =
            f.pressure * std::pow(ratio, gamma / (gamma - 1.));
          // See Flow::ExactStates.
          if (entry.second.type.find("exact") == 0 &&
              exact_text != "free stream")
            condition.state[0] = 0.;
          condition.temperature = f.pressure / f.density;
          if (values.size() == 1)
            condition.pressure = condition.temperature = values[0];
          else if (values.size() == 2)
            {
              condition.total_pressure    = values[0];
              condition.total_temperature = values[1];
            }
          else if (values.size() == dim + 2)
            gas.conservative(values[0],
                             &values[1],
                             values[dim + 1],
                             condition.state);
        }
      return boundary;
    }



    template <int dim>
    std::unique_ptr<FlowProblem<dim>>
    FlowInput::create() const
    {
      auto            problem    = std::make_unique<FlowProblem<dim>>();
      FlowModel<dim> &model      = problem->model;
      model.gas.gamma            = gamma;
      model.numerical_flux       = numerical_flux;
      std::vector<double> &state = problem->free_stream_state;
      state.resize(dim + 2);
      double velocity[dim];
      for (int d = 0; d < dim; ++d)
        velocity[d] = free_stream.speed * free_stream.drag[d];
      model.gas.conservative(free_stream.density,
                             velocity,
                             free_stream.pressure,
                             state.data());
      model.boundary            = create_boundary(model.gas, state);
      model.exact.gas           = model.gas;
      model.with_source         = exact_text == "manufactured";
      model.penalty_constant    = penalty_constant;
      Flow::Viscosity<dim> &mu  = model.viscosity;
      mu.prandtl                = viscosity.prandtl;
      mu.sutherland             = viscosity.sutherland;
      mu.reference_temperature  = viscosity.reference_temperature;
      mu.sutherland_temperature = viscosity.sutherland_temperature;
      if (reynolds > 0.)
        mu.reference =
          free_stream.density * free_stream.speed * forces.length / reynolds;
      const auto constant = std::make_shared<ConstantState<dim>>(state);
      if (!exact.empty())
        {
          problem->exact_function =
            std::make_shared<PrimitiveState<dim>>(exact,
                                                  model.gas,
                                                  "Flow/Exact solution");
          model.exact.type     = Flow::ExactFlowType::function;
          model.exact.function = dim == 2 ? call_state : call_state_3d;
          model.exact.object   = problem->exact_function.get();
        }
      else if (exact_text == "vortex" || exact_text == "manufactured")
        {
          model.exact.type = exact_text == "vortex"
                               ? Flow::ExactFlowType::vortex
                               : Flow::ExactFlowType::manufactured;
          problem->exact_function =
            std::make_shared<ExactFlowState<dim>>(model.exact);
        }
      else if (exact_text == "free stream")
        problem->exact_function = constant;
      problem->exact = problem->exact_function;
      if (initial_text == "exact")
        problem->initial = problem->exact_function;
      else if (initial_text == "free stream")
        problem->initial = constant;
      else
        problem->initial =
          std::make_shared<PrimitiveState<dim>>(initial,
                                                model.gas,
                                                "Flow/Initial condition");

      problem->names = {"density"};
      problem->names.insert(problem->names.end(), dim, "momentum");
      problem->names.push_back("energy");
      problem->has_vector     = true;
      problem->flux_degree    = 2;
      problem->not_admissible = "Density or pressure is not positive";
      problem->data =
        "gamma = " + scientific_text(gamma, 15) +
        (reynolds > 0. ? ", Reynolds number " + scientific_text(reynolds, 15)
                       : "");
      const Flow::IdealGas<dim>  gas     = model.gas;
      const Flow::Viscosity<dim> viscous = model.viscosity;
      problem->largest_speed =
        make_polytope_functor<dim>(Flow::LargestSpeed<dim>{gas, viscous});
      add_limiters(
        *this,
        [](const auto &limiter) { return make_polytope_functor<dim>(limiter); },
        *problem);
      problem->remedy =
        std::string("lower Time/CFL number") +
        (positivity ? "." : ", or set Flow/Positivity and Limiter/Slopes.");
      const std::string remedy =
        std::string("change Flow/Initial condition, or take a finer mesh") +
        (steady || positivity ? "." : ", or set Flow/Positivity.");
      problem->check_initial = [=](PolytopewiseOperator<dim> &op,
                                   const ConservationVector  &u,
                                   const std::string         &what) {
        check_points(op, u.get_mpi_communicator(), gas, u, what, remedy);
      };
      if (positivity)
        {
          Flow::PositivityLimiter<dim> limiter;
          limiter.gas = gas;
          problem->limiters.push_back({make_polytope_functor<dim>(limiter),
                                       problem->not_admissible,
                                       "lower Time/CFL number."});
        }
      return problem;
    }



    template std::unique_ptr<FlowProblem<2>>
    FlowInput::create() const;
    template std::unique_ptr<FlowProblem<3>>
    FlowInput::create() const;
  } // namespace Application
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Incompressible Navier-Stokes equations by splitting methods on polytopes. The
// work is done by Flow::IncompressibleFlow; the program makes meshes and data
// from a parameter file, and compares solutions with exact ones.

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/flow/incompressible_flow.h>
#include <tessella/numerics/null_space.h>
#include <tessella/numerics/vector_tools.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/distributed_mesh.h"
#include "common/program.h"
#include "common/study_output.h"
#include "common/study_parameters.h"
#include "common/study_table.h"
#include "common/text_table.h"
#include "common/validation.h"
#include "incompressible_flow/flow_input.h"
#include "incompressible_flow/flow_run.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    const ProgramInfo info = {
      "incompressible_flow",
      "incompressible Navier-Stokes equations by splitting methods",
      "Solves u_t + div(u (x) u) + grad p - nu Laplace(u) = f, div u = 0 and, by\n"
      "option, T_t + div(u T) - kappa Laplace(T) = s with buoyancy in f, on\n"
      "polytopes by the interior penalty dG method and a splitting method in\n"
      "time, for a sequence of meshes, degrees of the velocity and lengths of\n"
      "steps.\n\n"
      "It prints a table with the numbers of steps and iterations and, if the\n"
      "velocity of the parameter file is the exact solution, the errors of\n"
      "velocity, pressure and temperature at the final time (L2) with their\n"
      "rates. It writes\n"
      "to the folder Output/Directory\n"
      "  NAME.txt, .csv                       the table\n"
      "  NAME-LEVEL-pDEGREE-records.csv       energy, heat, forces, probes,\n"
      "                                       iterations and times of steps\n"
      "  NAME-LEVEL-pDEGREE-energy.svg, -forces.svg, -iterations.svg\n"
      "                                       the same against the time, also\n"
      "                                       of the runs before a restart\n"
      "  NAME-LEVEL-pDEGREE-times.svg         times of the stages of steps\n"
      "  NAME-LEVEL-pDEGREE-solution.vtu      velocity, pressure, vorticity,\n"
      "                                       divergence, temperature, mass\n"
      "                                       errors of polytopes\n"
      "  NAME-LEVEL-pDEGREE.pvd               pictures of the flow, as VTU files\n"
      "  NAME-LEVEL-pDEGREE.checkpoint        to go on from (Time/Restart from)\n"
      "NAME is the name of the parameter file; with Time/Halvings, -hNUMBER\n"
      "follows DEGREE. Mistakes in the input end in one sentence and a non-zero\n"
      "exit status.\n\n"
      "On several MPI processes (mpirun) the mesh is distributed over them.\n",
      true};

    struct Parameters : MeshParameters
    {
      FlowInput   flow;
      OutputInput output;

      void
      declare(ParameterHandler &prm)
      {
        MeshParameters::declare(prm);
        flow.declare_parameters(prm);
        output.declare_parameters(prm);
      }

      void
      parse(ParameterHandler &prm, const std::string &file)
      {
        MeshParameters::parse(prm, file);
        flow.parse_parameters(prm, mesh.dimension());
        output.parse_parameters(file);
        if (flow.restart.empty())
          return;
        AssertThrow(mesh.n_levels() == 1 && flow.n_halvings == 0 &&
                      (flow.degrees.size() == 1 || flow.start_from_last),
                    ExcMessage("Time/Restart from goes on with one run: set "
                               "Mesh/Levels = 1, Time/Halvings = 0 and one "
                               "Discretisation/Degree, or several ones with "
                               "Time/Start = last degree."));
        flow.restart =
          find_file("checkpoint (Time/Restart from)", flow.restart, file);
      }
    };



    template <int dim>
    class IncompressibleStudy
    {
    public:
      explicit IncompressibleStudy(const Parameters &parameters)
        : parameters(parameters)
        , problem(parameters.flow.template create<dim>())
      {}

      void
      run()
      {
        for (unsigned int level = 0; level < parameters.mesh.n_levels();
             ++level)
          run_level(level);
        if (table.empty())
          return;
        table.print(screen());
        parameters.output.write_table(table, true);
      }

    private:
      const Parameters   &parameters;
      const TextFlow<dim> problem;
      TextTable           table;
      /// Errors of the last run with the same degree, and its unknowns.
      struct Errors
      {
        double velocity = 0., pressure = 0., temperature = 0., unknowns = 0.;
      };
      std::map<unsigned int, Errors> last;

      void
      run_level(const unsigned int level)
      {
        const AgglomeratedMesh<dim> agglomerated =
          create_agglomerated_mesh<dim>(parameters.mesh,
                                        parameters.agglomeration,
                                        false,
                                        level);
        parameters.output.print("Level " + std::to_string(level) + ": " +
                                agglomerated.description + ".");
        const std::vector<unsigned int> &degrees = parameters.flow.degrees;
        std::unique_ptr<Flow::IncompressibleFlow<dim>> before;
        for (unsigned int i = 0; i < degrees.size(); ++i)
          {
            const unsigned int degree = degrees[i];
            if (run_mode().validate)
              {
                validate_degree(agglomerated, level, degree);
                continue;
              }
            const ProgressPart             part(part_of_study(
              dim, parameters.mesh.n_levels(), degrees, level, i, true));
            Flow::IncompressibleParameters p = parameters.flow.flow;
            p.degree                         = degree;
            p.pressure_degree = parameters.flow.equal_degrees || degree == 1
                                  ? degree
                                  : degree - 1;
            auto flow         = std::make_unique<Flow::IncompressibleFlow<dim>>(
              *agglomerated.mesh.triangulation,
              agglomerated.mesh.mapping.get(),
              agglomerated.strategy,
              problem,
              p);
            for (unsigned int h = 0; h <= parameters.flow.n_halvings; ++h)
              run_flow(*flow, before.get(), level, p, h);
            if (parameters.flow.start_from_last)
              before = std::move(flow);
          }
      }

      /// Estimates the memory of the matrices of a velocity component and of
      /// the pressure, and of the vectors of a time step.
      void
      validate_degree(const AgglomeratedMesh<dim> &agglomerated,
                      const unsigned int           level,
                      const unsigned int           degree) const
      {
        AgglomerationHandler<dim> handler(*agglomerated.mesh.triangulation,
                                          agglomerated.mesh.mapping.get());
        handler.agglomerate(agglomerated.strategy);
        handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(degree));
        SystemSize size            = system_size(handler);
        const bool has_temperature = parameters.flow.flow.temperature.enabled;
        size.n_unknowns *= dim + 1 + has_temperature;
        size.n_entries *= 2. + has_temperature;
        validate_system(level, degree, size, SystemMemory::block_matrix());
      }

      void
      run_flow(Flow::IncompressibleFlow<dim>        &flow,
               const Flow::IncompressibleFlow<dim>  *before,
               const unsigned int                    level,
               const Flow::IncompressibleParameters &p,
               const unsigned int                    halving)
      {
        const FlowInput   &input  = parameters.flow;
        const OutputInput &output = parameters.output;
        const std::string  suffix =
          "-" + std::to_string(level) + "-p" + std::to_string(p.degree) +
          (input.n_halvings > 0 ? "-h" + std::to_string(halving) : "");
        FlowRun<dim> run(input, output, problem, flow, suffix, before);
        const double step = std::ldexp(input.step, -int(halving));
        run.run(step);
        const std::string name = "  degree " + std::to_string(p.degree) + ": ";
        if (!run.finished())
          {
            output.print(
              name + "stopped after " + std::to_string(flow.n_steps()) +
              " steps at time " + short_text(flow.time()) +
              "; to go on, set Time/Restart from = " + run.checkpoint() + ".");
            return;
          }
        run.write_final_state(
          output.fields_of_level(level, parameters.mesh.n_levels()) &&
          halving == input.n_halvings);
        const bool          has_temperature = p.temperature.enabled;
        const std::uint64_t n_dofs =
          flow.velocity_space().n_dofs() + flow.pressure_space().n_dofs() +
          (has_temperature ? flow.temperature_space().n_dofs() : 0);
        table.start_row(level, p.degree);
        table.add("polytopes",
                  std::uint64_t(flow.velocity_space().n_global_polytopes()));
        table.add("unknowns", n_dofs);
        table.add("steps", std::uint64_t(flow.n_steps()));
        if (problem.is_exact)
          add_errors(flow, p.degree, halving, n_dofs);
        add_iterations("pressure", run.pressure);
        add_iterations("velocity", run.velocity);
        add_iterations("penalty", run.penalty);
        if (has_temperature)
          add_iterations("temperature", run.temperature);
        table.add_scientific("mass error", flow.mass_error());
        if (output.print_times)
          table.add("ms/step", 1e3 * run.seconds / std::max(run.n_steps, 1U));
        output.print(name + std::to_string(n_dofs) + " unknowns, " +
                     std::to_string(flow.n_steps()) + " steps");
        if (!run.describe_heat().empty())
          output.print(run.describe_heat());
        if (!run.describe_forces().empty())
          output.print(run.describe_forces());
      }

      void
      add_iterations(const std::string                       &name,
                     const typename FlowRun<dim>::Iterations &iterations)
      {
        table.add(name + " its", iterations.mean, 3);
        table.add(name + " max", std::uint64_t(iterations.largest));
      }

      void
      add_errors(const Flow::IncompressibleFlow<dim> &flow,
                 const unsigned int                   degree,
                 const unsigned int                   halving,
                 const std::uint64_t                  n_dofs)
      {
        Errors present;
        present.unknowns = n_dofs;
        HostVector<double> pressure(flow.pressure());
        problem.initial_velocity->set_time(flow.time());
        problem.initial_pressure->set_time(flow.time());
        set_mean_pressure(flow, pressure);
        present.velocity = error(flow.velocity_space(),
                                 flow.velocity(),
                                 *problem.initial_velocity);
        present.pressure =
          error(flow.pressure_space(), pressure, *problem.initial_pressure);
        if (problem.initial_temperature != nullptr)
          {
            problem.initial_temperature->set_time(flow.time());
            present.temperature = error(flow.temperature_space(),
                                        flow.temperature(),
                                        *problem.initial_temperature);
          }
        check_error(present.velocity + present.pressure + present.temperature);
        table.add_scientific("u L2", present.velocity);
        const auto before = last.find(degree);
        // Rates are with respect to the size of the polytopes, or of steps.
        const double ratio =
          before == last.end() ? 0.
          : halving > 0        ? std::log(2.)
                        : std::log(n_dofs / before->second.unknowns) / dim;
        const auto add_rate =
          [&](const std::string &name, const double old, const double value) {
            table.add(name,
                      ratio > 0. ? std::log(old / value) / ratio
                                 : std::numeric_limits<double>::quiet_NaN(),
                      3);
          };
        const Errors old = before == last.end() ? Errors() : before->second;
        add_rate("u rate", old.velocity, present.velocity);
        table.add_scientific("p L2", present.pressure);
        add_rate("p rate", old.pressure, present.pressure);
        if (problem.initial_temperature != nullptr)
          {
            table.add_scientific("T L2", present.temperature);
            add_rate("T rate", old.temperature, present.temperature);
          }
        last[degree] = present;
      }

      /// Gives the pressure of a domain without outflow the mean value of the
      /// exact one.
      void
      set_mean_pressure(const Flow::IncompressibleFlow<dim> &flow,
                        HostVector<double>                  &pressure) const
      {
        const auto &boundary = parameters.flow.flow.boundary;
        for (unsigned int i = 0; i < boundary.n_conditions; ++i)
          if (boundary.type[i] == Flow::IncompressibleCondition::outflow)
            return;
        const auto constants =
          NullSpace<HostVector<double>>::constants(flow.pressure_space());
        HostVector<double>                 exact(pressure);
        typename HostVector<double>::Base &base = exact;
        Tessella::VectorTools::project(flow.pressure_space(),
                                       *problem.initial_pressure,
                                       base);
        pressure.add((constants.functional(0) * exact -
                      constants.functional(0) * pressure) /
                       (constants.functional(0) * constants.vector(0)),
                     constants.vector(0));
      }

      static double
      error(const AgglomerationHandler<dim> &handler,
            const HostVector<double>        &vector,
            const Function<dim>             &exact)
      {
        Vector<float>                            difference;
        const typename HostVector<double>::Base &base = vector;
        Tessella::VectorTools::integrate_difference(
          handler, base, exact, difference, dealii::VectorTools::L2_norm);
        return Tessella::VectorTools::compute_global_error(
          handler, difference, dealii::VectorTools::L2_norm);
      }
    };

    MainFunction *const main_function =
      run_study<IncompressibleStudy, Parameters>;
  } // namespace Application
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Example of pointwise operators: compressible flow of an ideal gas,
//
//   U_t + div F(U) = s,
//
// by the dG method on polytopes. The equations are a functor of
// tessella/flow/, which nvcc compiles for host and device in
// compressible_flow/flow_model.cu:
//   - PointwiseOperator makes the residual and its exact Jacobian from it.
//   - Steady flows follow from pseudo-transient continuation
//     (Flow::PseudoTransient) with GMRES, LU-SGS and block ILU(0).
//   - Unsteady flows follow from the time integrators of
//     tessella/time_stepping/, as in conservation_law.cc.
//   - Integrals over the boundary give forces; DataPostprocessor gives
//     pressure, Mach number and entropy.

#include <deal.II/base/exceptions.h>
#include <deal.II/base/timer.h>

#include <deal.II/fe/component_mask.h>

#include <tessella/device/device_memory.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/flow/check_conditions.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/svg.h>
#include <tessella/numerics/vector_tools.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/conservation_solver.h"
#include "common/conservation_study.h"
#include "common/conservation_table.h"
#include "common/distributed_mesh.h"
#include "common/program.h"
#include "common/study_output.h"
#include "common/study_parameters.h"
#include "common/study_table.h"
#include "common/validation.h"
#include "compressible_flow/flow_input.h"
#include "compressible_flow/flow_output.h"
#include "compressible_flow/run_files.h"
#include "compressible_flow/steady_solver.h"
#include "compressible_flow/unsteady_flow.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    const ProgramInfo info = {
      "compressible_flow",
      "compressible flow on polytopes: steady or unsteady, forces",
      "Solves the Euler equations of an ideal gas by the dG method on polytopes\n"
      "for a sequence of meshes and a list of polynomial degrees: steady flow by\n"
      "pseudo-transient continuation and Newton's method with GMRES, LU-SGS or\n"
      "block ILU(0), unsteady flow by explicit or implicit time integrators.\n"
      "Units are those of section Flow; the free stream has density 1, speed of\n"
      "sound 1 and the given Mach number by default.\n\n"
      "It prints a table of errors against the exact solution or, in steady flow\n"
      "without one, of the error of the entropy, which is that of the free\n"
      "stream; with rates, steps, iterations and forces. It writes to the folder\n"
      "Output/Directory\n"
      "  NAME.txt, .csv                    the tables\n"
      "  NAME-convergence.svg              errors against unknowns\n"
      "  NAME-LEVEL-pDEGREE-residuals.csv  the steps of a steady run\n"
      "  NAME-LEVEL-pDEGREE-residuals.svg  their residuals as a drawing\n"
      "  NAME-LEVEL-pDEGREE-forces.csv     C_l, C_d, C_m (Forces/Boundary ids)\n"
      "  NAME-LEVEL-pDEGREE-history.csv    the same at each Flow/Tick, and after\n"
      "                                    every Forces/Steps of a steady run\n"
      "  NAME-LEVEL-pDEGREE-forces.svg     the history as a drawing\n"
      "  NAME-LEVEL-pDEGREE-surface.csv    pressure coefficient on the body\n"
      "  NAME-LEVEL-pDEGREE-surface.svg    the same as a drawing, in 3-D of the\n"
      "                                    body with colours\n"
      "  NAME-LEVEL-pDEGREE-sections.csv   that of sections of a wing (3-D,\n"
      "                                    Forces/Span stations)\n"
      "  NAME-LEVEL-pDEGREE-sections.svg   the same as a drawing\n"
      "  NAME-LEVEL-pDEGREE.checkpoint     to go on from (Time/Restart from)\n"
      "  NAME-LEVEL-pDEGREE-solution.vtu   the solution, with pressure, Mach\n"
      "                                    number and entropy\n"
      "  NAME-LEVEL-pDEGREE.pvd            list of the files of a run: those at\n"
      "                                    ticks, those after each Steady/Field\n"
      "                                    steps, and the last one\n"
      "  NAME-LEVEL-mesh.svg               the polytopic mesh (one process)\n"
      "NAME is the name of the parameter file. Mistakes in the input end in one\n"
      "sentence and a non-zero exit status.\n\n"
      "On several MPI processes (mpirun) the mesh is distributed over them, see\n"
      "Mesh/Distribution.\n\n"
      "The program runs on a CUDA device if there is one, see Execution/Backend.\n"
      "Discretisation/Coefficient order = -1 stands for the degree p; variant and\n"
      "penalty do not matter.\n",
      true};

    struct Parameters : MeshParameters
    {
      FlowInput           flow;
      DiscretisationInput discretisation;
      OutputInput         output;

      void
      declare(ParameterHandler &prm)
      {
        MeshParameters::declare(prm);
        flow.declare_parameters(prm);
        discretisation.declare_parameters(prm);
        output.declare_parameters(prm);
      }

      void
      parse(ParameterHandler &prm, const std::string &file)
      {
        MeshParameters::parse(prm, file);
        flow.parse_parameters(prm, mesh.dimension());
        discretisation.parse_parameters(prm, mesh.dimension());
        output.parse_parameters(file);
        for (const unsigned int degree : discretisation.degrees)
          AssertThrow(!flow.reconstruct || degree == 1,
                      ExcMessage("Steady/Reconstruction needs "
                                 "Discretisation/Degree = 1, not " +
                                 std::to_string(degree) + "."));
        ForceInput &forces = flow.forces;
        if (!forces.section_file.empty())
          forces.section_data =
            read_section_data(find_file("section data (Forces/Section data)",
                                        forces.section_file,
                                        file),
                              forces.stations);
        find_restart(mesh, discretisation, file, flow.time.restart);
      }
    };



    template <int dim>
    class FlowStudy
    {
    public:
      explicit FlowStudy(const Parameters &parameters)
        : parameters(parameters)
        , problem(parameters.flow.create<dim>())
        , table(dim,
                parameters.discretisation.study_in_degree,
                error_names(),
                parameters.output.print_times,
                !parameters.flow.steady)
      {
        problem->model.instruction_set =
          parameters.discretisation.template assembler_data<dim>()
            .instruction_set;
      }

      void
      run()
      {
        for (unsigned int level = 0; level < parameters.mesh.n_levels();
             ++level)
          run_level(level);
        write_study(parameters.output, table, !error_names().empty());
      }

    private:
      const Parameters                       &parameters;
      const std::unique_ptr<FlowProblem<dim>> problem;
      ConservationTable                       table;
      /// The last steady solution on the present mesh and its space.
      HostVector<double> last_solution;
      PolytopicDoFs      last_space;

      std::vector<std::string>
      error_names() const
      {
        if (problem->exact != nullptr)
          return {"momentum L2", "density L2", "energy L2", "density L1"};
        return parameters.flow.steady ? std::vector<std::string>{"entropy"}
                                      : std::vector<std::string>();
      }

      void
      run_level(const unsigned int level)
      {
        ConservationRow row;
        row.level = level;
        const AgglomeratedMesh<dim> agglomerated =
          create_agglomerated_mesh<dim>(parameters.mesh,
                                        parameters.agglomeration,
                                        false,
                                        level);
        const Mesh<dim>          &mesh          = agglomerated.mesh;
        const Triangulation<dim> &triangulation = *mesh.triangulation;
        check_boundary_ids(triangulation,
                           parameters.flow.forces.boundary_ids,
                           "Forces/Boundary ids names");
        parameters.output.print("Level " + std::to_string(level) + ": " +
                                agglomerated.description + ".");
        AgglomerationHandler<dim> handler(triangulation, mesh.mapping.get());
        handler.agglomerate(agglomerated.strategy);
        // Space of artificial viscosity and wave speeds.
        AgglomerationHandler<dim> constants(triangulation, mesh.mapping.get());
        if (!parameters.flow.steady)
          {
            constants.agglomerate(agglomerated.strategy);
            constants.distribute_dofs(FE_BoundingBoxLegendre<dim>(0));
          }
        Flow::check_state(problem->model.gas,
                          problem->free_stream_state.data(),
                          "The free stream");
        bool constant_states = true;
        for (unsigned int i = 0; i < problem->model.boundary.n_conditions; ++i)
          constant_states =
            constant_states &&
            problem->model.boundary.conditions[i].state[0] != 0.;
        Flow::check_boundary_conditions(handler,
                                        problem->model.gas,
                                        problem->model.boundary,
                                        constant_states);
        check_stations(handler, parameters.flow);
        row.n_cells         = triangulation.n_global_active_cells();
        row.n_polytopes     = handler.n_global_polytopes();
        last_space          = PolytopicDoFs();
        const auto &degrees = parameters.discretisation.degrees;
        for (unsigned int i = 0; i < degrees.size(); ++i)
          {
            const ProgressPart part(part_of_study(dim,
                                                  parameters.mesh.n_levels(),
                                                  degrees,
                                                  level,
                                                  i,
                                                  !parameters.flow.steady));
            run_degree(handler, constants, degrees[i], row);
          }
      }

      void
      run_degree(AgglomerationHandler<dim>       &handler,
                 const AgglomerationHandler<dim> &constants,
                 const unsigned int               degree,
                 ConservationRow                  row)
      {
        const DiscretisationInput &discretisation = parameters.discretisation;
        discretisation.distribute_dofs(handler, degree, dim + 2);
        row.degree = degree;
        row.n_dofs = handler.n_dofs();
        if (validated(handler,
                      row.level,
                      degree,
                      has_matrix() ? SystemMemory::block_matrix()
                                   : SystemMemory::vectors(10)))
          return;
        check_device_memory(handler, row);
        problem->set_degree(handler.max_degree());
        const FlowEvaluation<dim> evaluation(
          handler,
          assembly_data(),
          parameters.flow,
          *problem,
          coefficient_order(std::max(parameters.flow.reconstruct ? 2U : 1U,
                                     handler.max_degree())));
        if (parameters.flow.steady)
          run_steady(handler, evaluation, row);
        else
          run_unsteady(handler, constants, evaluation, row);
      }

      /// Whether there is a matrix.
      bool
      has_matrix() const
      {
        return parameters.flow.steady || parameters.flow.time.is_implicit();
      }

      /// Throws if the matrix and a few vectors do not fit into the memory of a
      /// device on which the flow would be computed.
      void
      check_device_memory(const AgglomerationHandler<dim> &handler,
                          const ConservationRow           &row) const
      {
        if (!parameters.flow.runs_on_device(assembly_data().backend))
          return;
        const SystemSize size = system_size(handler);
        Tessella::check_device_memory(
          MPI_COMM_WORLD,
          sizeof(double) *
            (has_matrix() ? size.n_entries + 6. * size.n_unknowns
                          : 5. * size.n_unknowns) /
            Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD),
          parameters.discretisation.device_memory,
          "The flow on level " + std::to_string(row.level) + " with degree " +
            std::to_string(row.degree),
          "take fewer cells or a lower degree, more processes with a device "
          "each, a larger Execution/Device memory if there is one, or "
          "Execution/Backend = host");
      }

      /// Expressions are evaluated on the host.
      AssemblyParameters
      assembly_data() const
      {
        AssemblyParameters result =
          parameters.discretisation.assembler_data<dim>();
        parameters.flow.check_backend(result.backend);
        if (parameters.flow.needs_host())
          result.backend = Backend::host;
        return result;
      }

      /// Order of the coefficients for functions of @p degree.
      unsigned int
      coefficient_order(const unsigned int degree) const
      {
        const int order = parameters.discretisation.coefficient_order;
        return order >= 0 ? order : std::max(1U, degree);
      }

      /// Beginning of the names of files of a run.
      std::string
      stem(const ConservationRow &row) const
      {
        return "-" + std::to_string(row.level) + "-p" +
               std::to_string(row.degree);
      }

      void
      run_steady(const AgglomerationHandler<dim> &handler,
                 const FlowEvaluation<dim>       &evaluation,
                 ConservationRow                 &row)
      {
        const OutputInput &output    = parameters.output;
        const bool         continued = !parameters.flow.time.restart.empty();
        SteadySolver<dim>  solver(parameters.flow,
                                 *problem,
                                 handler,
                                 assembly_data(),
                                 evaluation.coefficient_order,
                                 coefficient_order(handler.max_degree()));
        const Timer        timer;
        const auto         write_residuals = [&]() {
          if (output.write_csv)
            write_file(output.file(stem(row) + "-residuals.csv"),
                       [&](std::ostream &out) { solver.write_residuals(out); });
        };
        const AgglomerationHandler<dim> &space = solver.solution_handler();
        const FlowEvaluation<dim>        of_solution(space,
                                              assembly_data(),
                                              parameters.flow,
                                              *problem,
                                              evaluation.coefficient_order);
        FieldSeries                      series(output, stem(row), continued);
        ForceHistory history(output, stem(row), "step", continued);
        const auto   is_due = [&](const unsigned int every) {
          return every > 0 && solver.steps.back().step % every == 0;
        };
        // A user who waits sees in the files how the iteration goes.
        solver.on_step = [&]() {
          write_residuals();
          const bool with_forces =
                       has_forces() && is_due(parameters.flow.forces.steps),
                     with_fields = writes_fields(row) &&
                                   is_due(parameters.flow.field_steps);
          if (with_forces || with_fields)
            solver.update_solution();
          const unsigned int step = solver.steps.back().step;
          if (with_forces)
            history.add(step, of_solution.forces(solver.solution()));
          if (with_fields)
            of_solution.write_fields(series.add(step), solver.solution());
        };
        if (parameters.flow.start_from_last &&
            row.degree != parameters.discretisation.degrees.back())
          solver.tolerance = parameters.flow.start_tolerance;
        if (parameters.flow.start_from_last && !last_space.degree.empty())
          solver.start_from(last_solution, last_space);
        try
          {
            solver.run(output.file(stem(row) + ".checkpoint"));
          }
        catch (const Flow::ExcNotSteady &)
          {
            draw_residuals(output, stem(row), solver.steps);
            throw;
          }
        write_residuals();
        draw_residuals(output, stem(row), solver.steps);
        row.n_steps = solver.steps.size();
        row.step_seconds =
          Utilities::MPI::max(timer.wall_time(), MPI_COMM_WORLD) /
          std::max(row.n_steps, 1U);
        if (!solver.finished)
          {
            print_stopped(output,
                          row.degree,
                          std::to_string(row.n_steps) + " steps",
                          output.file(stem(row) + ".checkpoint"));
            return;
          }
        if (parameters.flow.start_from_last)
          {
            last_solution = solver.solution();
            last_space    = solver.solution_handler().polytopic_dofs();
          }
        row.more.emplace_back("iterations",
                              std::to_string(solver.n_iterations()));
        if (parameters.flow.reconstruct)
          row.more.emplace_back("linear polytopes",
                                std::to_string(solver.n_linear_polytopes()));
        if (problem->exact != nullptr)
          row.errors = errors(space, solver.solution(), 0.);
        else
          row.errors = {of_solution.entropy_error(solver.solution())};
        const double last = solver.steps.empty() ? 0 : solver.steps.back().step;
        if (has_forces())
          {
            history.add(last, of_solution.forces(solver.solution()));
            history.draw();
          }
        finish(space, of_solution, solver.solution(), series, last, row);
      }

      /// On a device if section Execution asks for it, or has it and nothing
      /// needs the host.
      void
      run_unsteady(const AgglomerationHandler<dim> &handler,
                   const AgglomerationHandler<dim> &constants,
                   const FlowEvaluation<dim>       &evaluation,
                   ConservationRow                 &row)
      {
        const FlowInput &flow = parameters.flow;
        if (flow.runs_on_device(assembly_data().backend))
          run_unsteady_on<DeviceVector<double>>(handler,
                                                constants,
                                                evaluation,
                                                row);
        else
          run_unsteady_on<HostVector<double>>(handler,
                                              constants,
                                              evaluation,
                                              row);
      }

      template <typename VectorType>
      void
      run_unsteady_on(const AgglomerationHandler<dim> &handler,
                      const AgglomerationHandler<dim> &constants,
                      const FlowEvaluation<dim>       &evaluation,
                      ConservationRow                 &row)
      {
        const OutputInput                  &output = parameters.output;
        UnsteadyFlow<dim, VectorType>       flow(parameters.flow,
                                           *problem,
                                           handler,
                                           constants,
                                           assembly_data(),
                                           evaluation.coefficient_order);
        ConservationSolver<dim, VectorType> solver(parameters.flow,
                                                   *problem,
                                                   handler,
                                                   assembly_data(),
                                                   evaluation.coefficient_order,
                                                   flow.functions());
        const bool   continued = !parameters.flow.time.restart.empty();
        FieldSeries  series(output, stem(row), continued);
        ForceHistory history(output, stem(row), "time", continued);
        solver.tick    = parameters.flow.tick;
        solver.on_tick = [&](const double time) {
          const ConservationVector &u = solver.solution();
          if (solver.tick > 0. && has_forces())
            history.add(time, evaluation.forces(u));
          if (problem->exact != nullptr)
            add_errors(errors(handler, u, time), row);
          if (solver.tick > 0. && writes_fields(row))
            evaluation.write_fields(series.add(time), u);
        };
        const Timer timer;
        solver.run(output.file(stem(row) + ".checkpoint"));
        if (!solver.finished)
          {
            print_stopped(output,
                          row.degree,
                          std::to_string(solver.n_steps) + " steps at time " +
                            short_text(solver.time),
                          output.file(stem(row) + ".checkpoint"));
            return;
          }
        row.n_steps                      = solver.n_steps;
        row.drift                        = solver.drift;
        const TimeIntegrationInput &time = parameters.flow.time;
        if (time.is_implicit())
          {
            row.drift_bound = 10. * time.newton_tolerance;
            row.more.emplace_back("iterations",
                                  std::to_string(solver.n_iterations()));
          }
        row.step_seconds =
          Utilities::MPI::max(timer.wall_time(), MPI_COMM_WORLD) /
          std::max(solver.n_steps, 1U);
        const ConservationVector &u = solver.solution();
        if (problem->exact != nullptr)
          {
            if (solver.tick == 0.)
              row.errors.clear();
            add_errors(errors(handler, u, solver.time), row);
          }
        if (has_forces())
          history.draw();
        finish(handler, evaluation, u, series, solver.time, row);
      }

      bool
      has_forces() const
      {
        return !parameters.flow.forces.boundary_ids.empty();
      }

      /// Errors in the order of error_names().
      std::vector<double>
      errors(const AgglomerationHandler<dim> &handler,
             const ConservationVector        &u,
             const double                     time) const
      {
        problem->exact->set_time(time);
        const auto error = [&](const unsigned int                  first,
                               const unsigned int                  n,
                               const dealii::VectorTools::NormType norm) {
          ComponentMask mask(dim + 2, false);
          for (unsigned int c = first; c < first + n; ++c)
            mask.set(c, true);
          Vector<float> difference;
          VectorTools::integrate_difference(
            handler,
            u,
            *problem->exact,
            difference,
            norm,
            parameters.discretisation.extra_order,
            2.,
            mask);
          const double result =
            VectorTools::compute_global_error(handler, difference, norm);
          check_error(result);
          return result;
        };
        const auto L2 = dealii::VectorTools::L2_norm;
        return {error(1, dim, L2),
                error(0, 1, L2),
                error(dim + 1, 1, L2),
                error(0, 1, dealii::VectorTools::L1_norm)};
      }

      /// Makes the errors of a row at least those given.
      static void
      add_errors(const std::vector<double> &errors, ConservationRow &row)
      {
        row.errors.resize(errors.size(), 0.);
        for (unsigned int e = 0; e < errors.size(); ++e)
          row.errors[e] = std::max(row.errors[e], errors[e]);
      }

      bool
      writes_fields(const ConservationRow &row) const
      {
        return parameters.output.write_solution &&
               parameters.output.fields_of_level(row.level,
                                                 parameters.mesh.n_levels());
      }

      /// Adds the row to the table, and writes forces and fields; @p time is
      /// that of the fields in their series.
      void
      finish(const AgglomerationHandler<dim> &handler,
             const FlowEvaluation<dim>       &evaluation,
             const ConservationVector        &u,
             FieldSeries                     &series,
             const double                     time,
             ConservationRow                 &row)
      {
        const OutputInput &output = parameters.output;
        if (has_forces())
          write_forces(evaluation, u, row);
        if (writes_fields(row))
          {
            evaluation.write_fields(output.file(stem(row) + "-solution.vtu"),
                                    u);
            // The list has complete files.
            series.add_last(time, "-solution.vtu");
          }
        if (output.fields_of_level(row.level, parameters.mesh.n_levels()) &&
            row.degree == parameters.discretisation.degrees.front())
          write_polytopes(handler, output, row);
        if (output.fields_of_level(row.level, parameters.mesh.n_levels()))
          report_solution(output, handler, u, stem(row));
        table.add(row);
        std::string text = "  degree " + std::to_string(row.degree) + ": " +
                           std::to_string(row.n_dofs) + " unknowns, " +
                           std::to_string(row.n_steps) + " steps";
        if (!row.errors.empty())
          text += ", " + error_names()[0] + " error " +
                  scientific_text(row.errors[0], 2);
        output.print(text);
      }

      void
      write_forces(const FlowEvaluation<dim> &evaluation,
                   const ConservationVector  &u,
                   ConservationRow           &row) const
      {
        const OutputInput      &output = parameters.output;
        const ForceCoefficients forces = evaluation.forces(u);
        const auto              text   = [](const double value) {
          // Forces of symmetric flows are rounding errors.
          return std::abs(value) < 1e-12 ? std::string("0")
                                                        : scientific_text(value, 5);
        };
        row.more.emplace_back("C_l", text(forces.lift));
        row.more.emplace_back("C_d", text(forces.drag));
        row.more.emplace_back("C_m", text(forces.moment));
        if (output.write_csv)
          write_file(output.file(stem(row) + "-forces.csv"),
                     [&](std::ostream &out) {
                       out.precision(12);
                       out << "C_l,C_d,C_m\n"
                           << forces.lift << ',' << forces.drag << ','
                           << forces.moment << '\n';
                     });
        write_surface(output, stem(row), parameters.flow.forces, evaluation, u);
      }
    };

    MainFunction *const main_function = run_study<FlowStudy, Parameters>;
  } // namespace Application
} // namespace Tessella

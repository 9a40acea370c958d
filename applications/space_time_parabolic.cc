// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Parabolic problems solved by space-time dG on polytopes, slab after slab on
// prismatic elements, with steps of fixed or adaptive length and with local
// time stepping. A study is defined by its parameter file alone; see
// parameter_files/space_time_*.prm.

#include <deal.II/base/data_out_base.h>
#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/timer.h>

#include <tessella/base/on_all_processes.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/space_time/space_time_errors.h>
#include <tessella/space_time/space_time_stepping.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/agglomeration_input.h"
#include "common/discretisation_input.h"
#include "common/distributed_mesh.h"
#include "common/linear_solver.h"
#include "common/mesh_input.h"
#include "common/program.h"
#include "common/stage_times.h"
#include "common/study_table.h"
#include "common/text_table.h"
#include "space_time_parabolic/parabolic_equation.h"
#include "space_time_parabolic/state_file.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    const ProgramInfo info = {
      "space_time_parabolic",
      "parabolic problems by space-time dG on polytopes",
      "Solves du/dt - div(a grad u) + w . grad u + c u = f in the plane or in "
      "space by\n"
      "discontinuous Galerkin methods in space and time on prismatic elements\n"
      "(polytope times interval), slab after slab, for a sequence of meshes and "
      "a\n"
      "list of polynomial degrees. Coefficients are expressions of x, y, z and t.\n\n"
      "It prints a table of errors in L2(L2), L2(H1), Linf(L2) and at the final\n"
      "time with their rates, and the wall time of all stages. It writes to the\n"
      "folder Output/Directory\n"
      "  NAME.txt, .csv                       the table\n"
      "  NAME-LEVEL-SPACEp-steps.csv          time, jump, error, mass of each "
      "slab\n"
      "  NAME-LEVEL-SPACEp.pvd, -NUMBER.vtu   the solution at ends of slabs\n"
      "  NAME-LEVEL-SPACEp.state              to go on from (Time/Restart "
      "from)\n"
      "  NAME-LEVEL-SPACEp.previous.state     the state before that one\n"
      "A run that goes on writes what one without an interruption writes, on as\n"
      "many processes to the last bit; only the direct solver on several\n"
      "processes rounds differently from run to run.\n"
      "NAME is the name of the parameter file. Mistakes in the input end in one\n"
      "sentence and a non-zero exit status; if a slab cannot be solved, the "
      "last\n"
      "good state is written before.\n"
      "On several MPI processes (mpirun) the mesh is distributed over them, see\n"
      "Mesh/Distribution; states are for any number of processes.\n",
      true};

    struct Parameters
    {
      MeshInput           mesh;
      AgglomerationInput  agglomeration;
      ParabolicEquation   equation;
      DiscretisationInput discretisation;
      LinearSolver        solver;
      OutputInput         output;

      std::vector<PolynomialSpaceType> spaces;
      double                           first_time = 0., final_time = 1.;
      double                           step = 0.1, step_factor = 0.5;
      double tolerance = 0., smallest_step = 0., largest_step = 0.;
      std::vector<Expression> intervals; // at most one entry
      std::string             restart;
      unsigned int            output_interval = 1, state_interval = 0;

      void
      declare(ParameterHandler &prm)
      {
        mesh.declare_parameters(prm);
        agglomeration.declare_parameters(prm);
        equation.declare_parameters(prm);
        discretisation.declare_parameters(prm);
        solver.declare_parameters(prm);
        output.declare_parameters(prm);
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
      parse(ParameterHandler &prm, const std::string &file)
      {
        mesh.parse_parameters(prm, file);
        agglomeration.parse_parameters(prm, file);
        equation.parse_parameters(prm, mesh.dimension(), file);
        discretisation.parse_parameters(prm, mesh.dimension());
        solver.parse_parameters(prm);
        output.parse_parameters(prm, file);

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
          {
            restart = find_file("state to go on from", restart, file);
            AssertThrow(mesh.n_levels() == 1 &&
                          discretisation.degrees().size() == 1 &&
                          spaces.size() == 1,
                        ExcMessage("Time/Restart from goes on with one run: "
                                   "set Mesh/Levels = 1, and one degree and "
                                   "one kind of elements."));
          }
      }
    };



    struct Stage
    {
      enum
      {
        other, ///< time outside of all other stages
        start, ///< MPI, parameters
        mesh,
        agglomeration,
        set_up, ///< DoFs, data, the initial value
        assembly,
        solver,
        jumps, ///< traces at the ends of slabs, their jumps and masses
        errors,
        output,
        states
      };
    };

    StageTimes
    create_stage_times()
    {
      return StageTimes({"other",
                         "start",
                         "mesh",
                         "agglomeration",
                         "set-up",
                         "assembly",
                         "solver",
                         "jumps",
                         "errors",
                         "output",
                         "states"});
    }



    /// Creates the table with one row per slab.
    TextTable
    table_of_slabs(const RunHistory &history, const bool with_errors)
    {
      TextTable table;
      for (const SlabRecord &slab : history.slabs)
        {
          table.start_row();
          table.add("time", slab.time, 10);
          table.add("length", slab.length, 10);
          table.add("elements", slab.elements);
          table.add("jump", slab.jump, 6);
          table.add("mass", slab.mass, 12);
          if (with_errors)
            table.add("L2 error", slab.error, 6);
          table.add("iterations", slab.iterations);
        }
      return table;
    }



    template <int dim>
    class Study
    {
    public:
      Study(const Parameters &parameters, StageTimes &times)
        : parameters(parameters)
        , times(times)
        , output(parameters.output)
        , problem(parameters.equation.create<dim>(parameters.first_time))
      {
        parameters.discretisation.configure(*problem.form);
      }

      void
      run()
      {
        for (unsigned int level = 0; level < parameters.mesh.n_levels();
             ++level)
          run_level(level);
        std::ostringstream text;
        {
          const StageTimes::Scope scope(times, Stage::output);
          table.print(text);
          if (output.write_csv())
            write_file(output.file(".csv"),
                       [&](std::ostream &out) { table.write_csv(out); });
        }
        if (output.print_times())
          {
            text << "\nWall time of the "
                 << (Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) > 1
                       ? "first process"
                       : "program")
                 << ", all meshes and degrees:\n";
            times.print(text);
          }
        screen() << text.str() << std::flush;
        if (output.write_text())
          write_file(output.file(".txt"),
                     [&](std::ostream &out) { out << text.str(); });
      }

    private:
      const Parameters     &parameters;
      StageTimes           &times;
      const OutputInput    &output;
      ParabolicProblem<dim> problem;
      TextTable             table;
      // errors on the preceding mesh, by run
      std::map<std::string, std::vector<double>> errors_before;

      void
      run_level(const unsigned int level)
      {
        const AgglomeratedMesh<dim> agglomerated = [&]() {
          const StageTimes::Scope scope(times, Stage::mesh);
          return create_agglomerated_mesh<dim>(
            parameters.mesh,
            parameters.agglomeration,
            parameters.equation.cell_values().has_values_per_cell(),
            level);
        }();
        times.move(Stage::mesh,
                   Stage::agglomeration,
                   agglomerated.agglomeration_seconds);
        const Mesh<dim>             &mesh = agglomerated.mesh;
        std::set<types::boundary_id> present;
        for (const types::boundary_id id :
             mesh.triangulation->get_boundary_ids())
          present.insert(id);
        for (const types::boundary_id id : problem.boundary_ids)
          AssertThrow(present.count(id) > 0,
                      ExcMessage("A boundary condition is given for the id " +
                                 std::to_string(id) +
                                 ", which the mesh does not have."));
        output.print("Level " + std::to_string(level) + ": " +
                     agglomerated.description + ".");
        AgglomerationHandler<dim> handler(*mesh.triangulation,
                                          mesh.mapping.get());
        {
          const StageTimes::Scope scope(times, Stage::agglomeration);
          handler.agglomerate(agglomerated.strategy);
        }
        {
          const StageTimes::Scope scope(times, Stage::set_up);
          on_all_processes(MPI_COMM_WORLD, [&]() {
            parameters.equation.cell_values().set_values(*problem.form,
                                                         mesh,
                                                         handler);
          });
        }
        for (const PolynomialSpaceType space : parameters.spaces)
          for (const unsigned int degree : parameters.discretisation.degrees())
            {
              {
                const StageTimes::Scope scope(times, Stage::set_up);
                parameters.discretisation.distribute_dofs(handler, degree);
              }
              run_degree(handler, level, space, degree);
            }
      }

      std::vector<unsigned int>
      intervals(const AgglomerationHandler<dim> &handler, const double t) const
      {
        const StageTimes::Scope   scope(times, Stage::set_up);
        std::vector<unsigned int> result;
        if (parameters.intervals.empty())
          return result;
        on_all_processes(MPI_COMM_WORLD, [&]() {
          for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
            {
              const Point<dim> center = handler.bounding_box(k).center();
              double           x[dim + 1];
              std::string      where;
              for (unsigned int d = 0; d < dim; ++d)
                {
                  x[d] = center[d];
                  where += (d > 0 ? ", " : "") + short_text(x[d]);
                }
              x[dim]              = t;
              const double value  = parameters.intervals[0].value(x);
              const double number = std::round(value);
              AssertThrow(number >= 1. && number <= 1000.,
                          ExcMessage("Time/Intervals is " + short_text(value) +
                                     " at (" + where +
                                     ") for t = " + short_text(t) +
                                     ": it must be between 1 and 1000."));
              result.push_back(static_cast<unsigned int>(number));
            }
        });
        return result;
      }

      /// Prepares a run that continues from @p state. The names of the VTU
      /// files of the earlier run become relative to the output folder. Returns
      /// the file of the run's latest state in that folder; empty if it does
      /// not exist.
      std::string
      go_on(const std::string &run, const bool fields, State &state) const
      {
        namespace fs                  = std::filesystem;
        const std::string &restart    = parameters.restart;
        const std::string  state_file = output.file(run + ".state");
        const fs::path     to         = fs::path(state_file).parent_path();
        const fs::path     from       = fs::path(restart).has_parent_path()
                                          ? fs::path(restart).parent_path()
                                          : fs::path(".");
        std::error_code    error;
        const bool         same_folder = fs::equivalent(from, to, error);

        if (!state.has_history)
          {
            for (const char *const ending : {".pvd", "-steps.csv"})
              AssertThrow(!fs::exists(output.file(run + ending), error),
                          ExcMessage(
                            "The state in '" + restart +
                            "' has format 2, which does not say what was "
                            "written before it, and '" +
                            output.file(run + ending) +
                            "' would be overwritten: set Output/Directory to "
                            "another folder."));
            output.print(
              "The state has format 2, which has no checksum and no history: "
              "tables, errors and files begin at t = " +
              short_text(state.time) + ".");
          }

        unsigned int                                n_missing = 0;
        std::vector<std::pair<double, std::string>> present;
        for (const auto &field : state.history.fields)
          {
            const fs::path file = from / field.second;
            if (!fs::exists(file, error))
              ++n_missing;
            else if (same_folder)
              present.push_back(field);
            else
              {
                const fs::path relative =
                  fs::relative(file.parent_path(), to, error);
                present.emplace_back(field.first,
                                     ((error ? fs::absolute(file.parent_path())
                                             : relative) /
                                      file.filename())
                                       .string());
              }
          }
        state.history.fields = present;
        if (fields && n_missing > 0)
          output.print(
            std::to_string(n_missing) +
            " VTU files of the time before t = " + short_text(state.time) +
            " are missing: the .pvd file is without them.");
        std::size_t n_without = 0;
        for (const SlabRecord &slab : state.history.slabs)
          n_without += std::isfinite(slab.error) ? 0 : 1;
        if (problem.exact_solution != nullptr && n_without > 0)
          output.print("The state has no errors of " +
                       std::to_string(n_without) +
                       " slabs, which were computed without an exact "
                       "solution: they are missing in the table.");

        for (const std::string &file : {state_file, other_state(state_file)})
          if (fs::equivalent(restart, file, error))
            return file;
        return "";
      }

      void
      run_degree(const AgglomerationHandler<dim> &handler,
                 const unsigned int               level,
                 const PolynomialSpaceType        space,
                 const unsigned int               degree)
      {
        const std::string elements =
          (space == PolynomialSpaceType::prismatic ? "PQ" : "P") +
          std::to_string(degree);
        const std::string run = "-" + std::to_string(level) + "-" + elements;

        typename SpaceTimeStepping<dim>::AdditionalData data;
        data.space             = space;
        data.assembler.backend = parameters.discretisation.backend();
        data.assembler.device_memory =
          parameters.discretisation.device_memory();
        data.assembler.device = parameters.discretisation.device();
        data.assembler.instruction_set =
          parameters.discretisation.instruction_set();
        data.assembler.penalty = parameters.discretisation.penalty();
        SolverReport                  solver_report;
        const SpaceTimeStepping<dim> *present = nullptr;
        SpaceTimeStepping<dim>        stepping(
          handler,
          *problem.form,
          [&](const TrilinosWrappers::SparseMatrix &matrix,
              TrilinosWrappers::MPI::Vector        &solution,
              const TrilinosWrappers::MPI::Vector  &rhs,
              const bool) {
            solver_report = parameters.solver.solve(
              static_cast<const PolytopicSpace<dim + 1> &>(present->slab()),
              matrix,
              solution,
              rhs,
              false);
          },
          data);
        present = &stepping;

        // ---- the beginning
        State       state;
        RunHistory &history = state.history;
        const bool  fields =
          output.write_solution() &&
          output.fields_of_level(level, parameters.mesh.n_levels());
        SpaceTimeErrors<dim> errors;
        {
          const StageTimes::Scope scope(times, Stage::set_up);
          state.time = parameters.first_time;
          state.step =
            parameters.step * std::pow(parameters.step_factor, level);
          state.value.reinit(handler.locally_owned_dofs(), MPI_COMM_WORLD);
          if (parameters.restart.empty())
            VectorTools::project(handler, *problem.initial_value, state.value);
          else
            {
              on_all_processes(MPI_COMM_WORLD, [&]() {
                read_state(parameters.restart, handler, state);
              });
              errors.restore(history.error_sums);
            }
          // A state at the final time contains everything that the tables need.
          AssertThrow(state.time < parameters.final_time ||
                        (state.time == parameters.final_time &&
                         !history.slabs.empty()),
                      ExcMessage("The state to go on from is of t = " +
                                 short_text(state.time) +
                                 ", not before Time/Final time."));
          stepping.initialize(state.time, state.value, history.slabs.size());
        }
        // This reports mistakes in the expression before anything is written.
        intervals(handler, state.time);
        std::string latest; // the run's latest state in the output folder
        if (!parameters.restart.empty())
          on_all_processes(MPI_COMM_WORLD,
                           [&]() { latest = go_on(run, fields, state); });

        const auto write_fields = [&]() {
          const StageTimes::Scope scope(times, Stage::output);
          std::ostringstream      name;
          name << run << "-" << std::setw(5) << std::setfill('0')
               << history.next_field << ".vtu";
          PolytopicDataOut<dim> data_out(handler);
          data_out.add_data_vector(stepping.value(), "solution");
          data_out.build_patches();
          const std::string file = output.file(name.str());
          data_out.write_vtu_file(file);
          ++history.next_field;
          history.fields.emplace_back(stepping.time(),
                                      file.substr(file.find_last_of('/') + 1));
          write_file(output.file(run + ".pvd"), [&](std::ostream &out) {
            DataOutBase::write_pvd_record(out, history.fields);
          });
        };
        // A continued run has already written the initial value.
        if (fields && history.next_field == 0)
          write_fields();

        // ---- slab after slab
        const double first = state.time;
        double       said = 0., assembly = 0., solve = 0.;
        Timer        timer;
        const double tiny =
          1e-10 * (parameters.final_time - parameters.first_time);
        const bool with_errors = problem.exact_solution != nullptr;
        double     latest_time = latest.empty()
                                   ? std::numeric_limits<double>::quiet_NaN()
                                   : state.time,
               latest_step     = state.step;
        const auto save        = [&]() {
          const StageTimes::Scope scope(times, Stage::states);
          // Writing the same state twice would overwrite the preceding state.
          if (latest_time == state.time && latest_step == state.step)
            return;
          history.error_sums     = errors.sums();
          state.value            = stepping.value();
          const std::string file = output.file(run + ".state");
          write_state(file, latest, state, handler);
          latest      = file;
          latest_time = state.time;
          latest_step = state.step;
        };
        const auto write_slabs = [&]() {
          const StageTimes::Scope scope(times, Stage::output);
          write_file(output.file(run + "-steps.csv"), [&](std::ostream &out) {
            table_of_slabs(history, with_errors).write_csv(out);
          });
        };
        while (state.time < parameters.final_time - tiny)
          {
            const double remaining = parameters.final_time - state.time;
            // This avoids a last step that is tiny because of rounding.
            const double length = state.step > remaining - 1e-6 * state.step
                                    ? remaining
                                    : state.step;
            const std::vector<unsigned int> n_intervals =
              intervals(handler, state.time);
            try
              {
                const StageTimes::Scope scope(times, Stage::jumps);
                stepping.step(length, n_intervals);
              }
            catch (...)
              {
                save();
                output.print("Wrote the last good state, of t = " +
                             short_text(state.time) + ", to " + latest + ".");
                if (!history.slabs.empty())
                  write_slabs();
                throw;
              }
            times.move(Stage::jumps, Stage::assembly, stepping.assembly_time());
            times.move(Stage::jumps, Stage::solver, stepping.solver_time());
            double next = state.step;
            if (parameters.tolerance > 0.)
              {
                next = std::min(parameters.largest_step,
                                std::max(parameters.smallest_step,
                                         next_step_length(length,
                                                          stepping.jump(),
                                                          parameters.tolerance,
                                                          degree)));
                if (stepping.jump() > 2. * parameters.tolerance &&
                    next < 0.99 * length)
                  {
                    ++history.n_rejected;
                    state.step = next;
                    stepping.initialize(state.time,
                                        state.value,
                                        history.slabs.size());
                    continue;
                  }
                if (length < state.step)
                  next = std::max(next, state.step);
              }
            state.time =
              std::abs(stepping.time() - parameters.final_time) < tiny
                ? parameters.final_time
                : stepping.time();
            state.step  = next;
            state.value = stepping.value();
            assembly += stepping.assembly_time();
            solve += stepping.solver_time();

            SlabRecord slab;
            slab.time       = state.time;
            slab.length     = length;
            slab.elements   = stepping.slab().n_global_polytopes();
            slab.unknowns   = stepping.slab().n_dofs();
            slab.iterations = solver_report.n_iterations;
            slab.jump       = stepping.jump();
            {
              const StageTimes::Scope scope(times, Stage::jumps);
              slab.mass = stepping.slab().integral(state.value);
            }
            if (with_errors)
              {
                const StageTimes::Scope scope(times, Stage::errors);
                errors.add(stepping.slab(),
                           stepping.solution(),
                           *problem.exact_solution);
                AssertThrow(std::isfinite(errors.L2_H1()),
                            ExcMessage("The error against Equation/Exact "
                                       "solution is not finite."));
                slab.error = errors.final_L2();
              }
            history.slabs.push_back(slab);
            const std::size_t n = history.slabs.size();
            const bool last     = !(state.time < parameters.final_time - tiny);
            if (fields && (n % parameters.output_interval == 0 || last))
              write_fields();
            if (last || (parameters.state_interval > 0 &&
                         n % parameters.state_interval == 0))
              save();
            const double seconds = timer.wall_time();
            if (seconds - said > 5. && !last)
              {
                said = seconds;
                std::ostringstream line;
                line << "  " << elements << ": t = " << state.time << " of "
                     << parameters.final_time << ", slab " << n << ", about "
                     << std::ceil(seconds *
                                  (parameters.final_time - state.time) /
                                  (state.time - first))
                     << " s remain";
                output.print_machine(line.str());
              }
          }
        if (output.write_csv())
          write_slabs();

        // ---- the table
        table.start_row();
        table.add("level", static_cast<std::uint64_t>(level));
        table.add("degree", static_cast<std::uint64_t>(degree));
        table.add("elements", elements);
        table.add("polytopes",
                  static_cast<std::uint64_t>(handler.n_global_polytopes()));
        std::uint64_t n_unknowns = 0, n_iterations = 0;
        for (const SlabRecord &slab : history.slabs)
          {
            n_unknowns += slab.unknowns;
            n_iterations = std::max(n_iterations, slab.iterations);
          }
        table.add("slabs", static_cast<std::uint64_t>(history.slabs.size()));
        if (parameters.tolerance > 0.)
          table.add("repeated", history.n_rejected);
        table.add("unknowns", n_unknowns);
        if (with_errors)
          {
            const std::vector<double> present_errors = {errors.L2_L2(),
                                                        errors.L2_H1(),
                                                        errors.Linf_L2(),
                                                        errors.final_L2()};
            const char *const names[] = {"L2L2", "L2H1", "LinfL2", "end"};
            const auto        before  = errors_before.find(elements);
            for (unsigned int i = 0; i < 4; ++i)
              {
                table.add(std::string(names[i]) + " error",
                          present_errors[i],
                          4);
                table.add(std::string(names[i]) + " rate",
                          before == errors_before.end()
                            ? std::numeric_limits<double>::quiet_NaN()
                            : std::log2(before->second[i] / present_errors[i]),
                          3);
              }
            errors_before[elements] = present_errors;
          }
        table.add("iterations", n_iterations);
        if (output.print_times())
          {
            for (double *seconds : {&assembly, &solve})
              *seconds = Utilities::MPI::max(*seconds, MPI_COMM_WORLD);
            table.add("assembly s", assembly);
            table.add("solver s", solve);
          }
      }
    };
  } // namespace Application
} // namespace Tessella

int
main(int argc, char **argv)
{
  using namespace Tessella::Application;

  StageTimes                               times = create_stage_times();
  std::unique_ptr<const StageTimes::Scope> start =
    std::make_unique<StageTimes::Scope>(times, Stage::start);
  Parameters parameters;
  return run_program(
    argc,
    argv,
    info,
    [&](dealii::ParameterHandler &prm) { parameters.declare(prm); },
    [&](dealii::ParameterHandler &prm, const std::string &file) {
      parameters.parse(prm, file);
      start.reset();
      if (parameters.mesh.dimension() == 2)
        Study<2>(parameters, times).run();
      else
        Study<3>(parameters, times).run();
    });
}

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
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/distributed_mesh.h"
#include "common/program.h"
#include "common/stage_times.h"
#include "common/study_parameters.h"
#include "common/study_table.h"
#include "common/text_table.h"
#include "common/validation.h"
#include "space_time_parabolic/parabolic_equation.h"
#include "space_time_parabolic/state_file.h"
#include "space_time_parabolic/time_input.h"

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



    struct Parameters : SolverStudyParameters<ParabolicEquation>
    {
      TimeInput  time;
      StageTimes times = StageTimes({"other",
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

      void
      declare(ParameterHandler &prm)
      {
        SolverStudyParameters::declare(prm);
        time.declare_parameters(prm);
      }

      void
      parse(ParameterHandler &prm, const std::string &file)
      {
        SolverStudyParameters::parse(prm, file);
        time.parse_parameters(prm, equation, file);
        AssertThrow(time.restart.empty() ||
                      (mesh.n_levels() == 1 &&
                       discretisation.degrees.size() == 1 &&
                       time.spaces.size() == 1),
                    ExcMessage("Time/Restart from goes on with one run: "
                               "set Mesh/Levels = 1, and one degree and "
                               "one kind of elements."));
        start.reset();
      }

    private:
      /// Stage from the beginning of the program to the end of parse().
      std::unique_ptr<const StageTimes::Scope> start =
        std::make_unique<StageTimes::Scope>(times, Stage::start);
    };



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



    /// The solution on one mesh, with elements of one space and degree, slab
    /// after slab.
    template <int dim>
    class Run
    {
    public:
      Run(const Parameters                &parameters,
          const ParabolicProblem<dim>     &problem,
          StageTimes                      &times,
          const AgglomerationHandler<dim> &handler,
          const unsigned int               level,
          const PolynomialSpaceType        space,
          const unsigned int               degree)
        : elements((space == PolynomialSpaceType::prismatic ? "PQ" : "P") +
                   std::to_string(degree))
        , parameters(parameters)
        , input(parameters.time)
        , output(parameters.output)
        , problem(problem)
        , times(times)
        , handler(handler)
        , level(level)
        , degree(degree)
        , name("-" + std::to_string(level) + "-" + elements)
        , with_fields(output.write_solution &&
                      output.fields_of_level(level, parameters.mesh.n_levels()))
        , tiny(1e-10 * (input.final_time - input.first_time))
        , stepping(
            handler,
            *problem.form,
            [this](const TrilinosWrappers::SparseMatrix &matrix,
                   TrilinosWrappers::MPI::Vector        &solution,
                   const TrilinosWrappers::MPI::Vector  &rhs,
                   const bool) {
              n_iterations =
                this->parameters.solver
                  .solve(static_cast<const PolytopicSpace<dim + 1> &>(
                           stepping.slab()),
                         matrix,
                         solution,
                         rhs,
                         false)
                  .n_iterations;
            },
            {space,
             parameters.discretisation.template assembler_data<dim + 1>()})
      {}

      void
      run()
      {
        begin();
        while (state.time < input.final_time - tiny)
          {
            show_progress((state.time - begin_time) /
                          (input.final_time - begin_time));
            step();
          }
        write_slabs();
      }

      const RunHistory &
      history() const
      {
        return state.history;
      }

      const std::string    elements; ///< text such as "PQ2"
      SpaceTimeErrors<dim> errors;
      double assembly_seconds = 0., solver_seconds = 0.; ///< of this process

    private:
      const Parameters                &parameters;
      const TimeInput                 &input;
      const OutputInput               &output;
      const ParabolicProblem<dim>     &problem;
      StageTimes                      &times;
      const AgglomerationHandler<dim> &handler;
      const unsigned int               level, degree;
      const std::string                name; ///< of files, after that of output
      const bool                       with_fields;
      const double                     tiny; ///< length without a slab
      unsigned int                     n_iterations = 0;
      SpaceTimeStepping<dim>           stepping;
      State                            state;
      /// File of the run's latest state in the output folder, its time and its
      /// step; empty: there is none.
      std::string latest;
      double      latest_time = std::numeric_limits<double>::quiet_NaN(),
             latest_step      = 0.;
      /// For messages: the beginning, and when the last one was printed.
      double begin_time = 0., said = 0.;
      Timer  timer;

      /// Sets up the initial value, or the state to go on from.
      void
      begin()
      {
        {
          const StageTimes::Scope scope(times, Stage::set_up);
          state.time = input.first_time;
          state.step = input.step * std::pow(input.step_factor, level);
          state.value.reinit(handler.locally_owned_dofs(), MPI_COMM_WORLD);
          if (input.restart.empty())
            VectorTools::project(handler, *problem.initial_value, state.value);
          else
            {
              on_all_processes(MPI_COMM_WORLD, [&]() {
                read_state(input.restart, handler, state);
              });
              errors.restore(state.history.error_sums);
            }
          // A state at the final time contains everything that the tables need.
          AssertThrow(state.time < input.final_time ||
                        (state.time == input.final_time &&
                         !state.history.slabs.empty()),
                      ExcMessage("The state to go on from is of t = " +
                                 short_text(state.time) +
                                 ", not before Time/Final time."));
          stepping.initialize(state.time,
                              state.value,
                              state.history.slabs.size());
        }
        // This reports mistakes in the expression before anything is written.
        intervals();
        if (!input.restart.empty())
          on_all_processes(MPI_COMM_WORLD, [&]() { latest = go_on(); });
        // A continued run has already written the initial value.
        if (with_fields && state.history.next_field == 0)
          write_fields();
        if (!latest.empty())
          latest_time = state.time;
        latest_step = state.step;
        begin_time  = state.time;
        timer.restart();
      }

      /// Numbers of intervals of the polytopes in the slab that begins now.
      std::vector<unsigned int>
      intervals() const
      {
        const StageTimes::Scope   scope(times, Stage::set_up);
        std::vector<unsigned int> result;
        if (input.intervals.empty())
          return result;
        on_all_processes(MPI_COMM_WORLD, [&]() {
          for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
            {
              const Point<dim> center = handler.bounding_box(k).center();
              double           x[dim + 1];
              for (unsigned int d = 0; d < dim; ++d)
                x[d] = center[d];
              x[dim]              = state.time;
              const double value  = input.intervals[0].value(x);
              const double number = std::round(value);
              AssertThrow(number >= 1. && number <= 1000.,
                          ExcMessage("Time/Intervals is " + short_text(value) +
                                     " at (" + point_text(x, dim) +
                                     ") for t = " + short_text(state.time) +
                                     ": it must be between 1 and 1000."));
              result.push_back(static_cast<unsigned int>(number));
            }
        });
        return result;
      }

      /// Prepares a run that continues from the state that was read. The names
      /// of the VTU files of the earlier run become relative to the output
      /// folder. Returns the file of the run's latest state in that folder;
      /// empty if it does not exist.
      std::string
      go_on()
      {
        namespace fs                  = std::filesystem;
        const std::string &restart    = input.restart;
        const std::string  state_file = output.file(name + ".state");
        const fs::path     to         = fs::path(state_file).parent_path();
        const fs::path     from       = fs::path(restart).has_parent_path()
                                          ? fs::path(restart).parent_path()
                                          : fs::path(".");
        std::error_code    error;
        const bool         same_folder = fs::equivalent(from, to, error);

        if (!state.has_history)
          {
            for (const char *const ending : {".pvd", "-steps.csv"})
              AssertThrow(!fs::exists(output.file(name + ending), error),
                          ExcMessage(
                            "The state in '" + restart +
                            "' has format 2, which does not say what was "
                            "written before it, and '" +
                            output.file(name + ending) +
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
        if (with_fields && n_missing > 0)
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

      /// Computes a slab. Repeats it with a shorter step if its jump is too
      /// large: then the state stays as it is, except for the step.
      void
      step()
      {
        const double remaining = input.final_time - state.time;
        // This avoids a last step that is tiny because of rounding.
        const double length =
          state.step > remaining - 1e-6 * state.step ? remaining : state.step;
        compute_slab(length);
        double next = state.step;
        if (input.tolerance > 0.)
          {
            next = std::min(input.largest_step,
                            std::max(input.smallest_step,
                                     next_step_length(length,
                                                      stepping.jump(),
                                                      input.tolerance,
                                                      degree)));
            if (stepping.jump() > 2. * input.tolerance && next < 0.99 * length)
              {
                ++state.history.n_rejected;
                state.step = next;
                stepping.initialize(state.time,
                                    state.value,
                                    state.history.slabs.size());
                return;
              }
            if (length < state.step)
              next = std::max(next, state.step);
          }
        accept_slab(length, next);

        const std::size_t n    = state.history.slabs.size();
        const bool        last = !(state.time < input.final_time - tiny);
        if (with_fields && (n % input.output_interval == 0 || last))
          write_fields();
        if (last || (input.state_interval > 0 && n % input.state_interval == 0))
          save();
        if (!last)
          report_progress();
      }

      /// Solves on a slab. Writes the last good state if that fails.
      void
      compute_slab(const double length)
      {
        const std::vector<unsigned int> n_intervals = intervals();
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
            if (!state.history.slabs.empty())
              write_slabs();
            throw;
          }
        times.move(Stage::jumps, Stage::assembly, stepping.assembly_time());
        times.move(Stage::jumps, Stage::solver, stepping.solver_time());
      }

      /// Takes the solution at the end of the slab, and records the slab.
      void
      accept_slab(const double length, const double next_step)
      {
        state.time  = std::abs(stepping.time() - input.final_time) < tiny
                        ? input.final_time
                        : stepping.time();
        state.step  = next_step;
        state.value = stepping.value();
        assembly_seconds += stepping.assembly_time();
        solver_seconds += stepping.solver_time();

        SlabRecord slab;
        slab.time       = state.time;
        slab.length     = length;
        slab.elements   = stepping.slab().n_global_polytopes();
        slab.unknowns   = stepping.slab().n_dofs();
        slab.iterations = n_iterations;
        slab.jump       = stepping.jump();
        {
          const StageTimes::Scope scope(times, Stage::jumps);
          slab.mass = stepping.slab().integral(state.value);
        }
        if (problem.exact_solution != nullptr)
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
        state.history.slabs.push_back(slab);
      }

      /// Prints how long the rest will take, every five seconds.
      void
      report_progress()
      {
        const double seconds = timer.wall_time();
        if (!(seconds - said > 5.))
          return;
        said = seconds;
        std::ostringstream line;
        line << "  " << elements << ": t = " << state.time << " of "
             << input.final_time << ", slab " << state.history.slabs.size()
             << ", about "
             << std::ceil(seconds * (input.final_time - state.time) /
                          (state.time - begin_time))
             << " s remain";
        output.print_machine(line.str());
      }

      void
      write_fields()
      {
        const StageTimes::Scope scope(times, Stage::output);
        RunHistory             &history = state.history;
        std::ostringstream      ending;
        ending << name << "-" << std::setw(5) << std::setfill('0')
               << history.next_field << ".vtu";
        PolytopicDataOut<dim> data_out(handler);
        data_out.add_data_vector(stepping.value(), "solution");
        data_out.build_patches();
        const std::string file = output.file(ending.str());
        data_out.write_vtu_file(file);
        ++history.next_field;
        history.fields.emplace_back(stepping.time(),
                                    file.substr(file.find_last_of('/') + 1));
        write_file(output.file(name + ".pvd"), [&](std::ostream &out) {
          DataOutBase::write_pvd_record(out, history.fields);
        });
      }

      void
      save()
      {
        const StageTimes::Scope scope(times, Stage::states);
        // Writing the same state twice would overwrite the preceding state.
        if (latest_time == state.time && latest_step == state.step)
          return;
        state.history.error_sums = errors.sums();
        state.value              = stepping.value();
        const std::string file   = output.file(name + ".state");
        write_state(file, latest, state, handler);
        latest      = file;
        latest_time = state.time;
        latest_step = state.step;
      }

      void
      write_slabs() const
      {
        const StageTimes::Scope scope(times, Stage::output);
        const TextTable         table =
          table_of_slabs(state.history, problem.exact_solution != nullptr);
        output.write_csv_file(name + "-steps.csv", table);
      }
    };



    template <int dim>
    class Study
    {
    public:
      explicit Study(Parameters &parameters)
        : parameters(parameters)
        , times(parameters.times)
        , output(parameters.output)
        , problem(parameters.equation.create<dim>(parameters.time.first_time))
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
          output.write_csv_file(".csv", table);
        }
        if (output.print_times)
          {
            text << "\nWall time of the "
                 << (Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) > 1
                       ? "first process"
                       : "program")
                 << ", all meshes and degrees:\n";
            times.print(text);
          }
        screen() << text.str() << std::flush;
        if (output.write_text)
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
        const Mesh<dim> &mesh = agglomerated.mesh;
        check_boundary_ids(*mesh.triangulation,
                           problem.boundary_ids,
                           "A boundary condition is given for",
                           ", which the mesh does not have.");
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
        const auto &degrees = parameters.discretisation.degrees;
        const auto &spaces  = parameters.time.spaces;
        for (unsigned int s = 0; s < spaces.size(); ++s)
          for (unsigned int i = 0; i < degrees.size(); ++i)
            {
              const PolynomialSpaceType space    = spaces[s];
              const unsigned int        degree   = degrees[i];
              const double              n_spaces = spaces.size();
              const ProgressPart        part_of_mesh(part_of_study(
                dim, parameters.mesh.n_levels(), {1}, level, 0, true));
              const ProgressPart        part_of_space(
                {s / n_spaces, (s + 1) / n_spaces});
              const ProgressPart part(
                part_of_study(dim, 1, degrees, 0, i, true));
              {
                const StageTimes::Scope scope(times, Stage::set_up);
                parameters.discretisation.distribute_dofs(handler, degree);
              }
              if (run_mode().validate)
                {
                  validate_slab(handler, level, degree, space);
                  continue;
                }
              Run<dim> run(
                parameters, problem, times, handler, level, space, degree);
              run.run();
              add_row(run, level, degree, handler.n_global_polytopes());
            }
      }

      /// Estimates the memory of a slab whose polytopes have one interval.
      void
      validate_slab(const AgglomerationHandler<dim> &handler,
                    const unsigned int               level,
                    const unsigned int               degree,
                    const PolynomialSpaceType        space) const
      {
        // Functions of an element over those of a polytope: the binomial
        // coefficients are in the ratio (p + d + 1) / (d + 1).
        const double ratio = space == PolynomialSpaceType::prismatic
                               ? degree + 1.
                               : (degree + dim + 1.) / (dim + 1.);
        SystemSize   size  = system_size(handler);
        size.n_unknowns *= ratio;
        size.n_entries *= ratio * ratio;
        validate_system(level,
                        degree,
                        size,
                        parameters.solver.memory(handler, false));
      }

      /// Adds the row of a run to the table.
      void
      add_row(const Run<dim>     &run,
              const std::uint64_t level,
              const std::uint64_t degree,
              const std::uint64_t n_polytopes)
      {
        const RunHistory &history = run.history();
        table.start_row(level, degree);
        table.add("elements", run.elements);
        table.add("polytopes", n_polytopes);
        std::uint64_t n_unknowns = 0, n_iterations = 0;
        for (const SlabRecord &slab : history.slabs)
          {
            n_unknowns += slab.unknowns;
            n_iterations = std::max(n_iterations, slab.iterations);
          }
        table.add("slabs", static_cast<std::uint64_t>(history.slabs.size()));
        if (parameters.time.tolerance > 0.)
          table.add("repeated", history.n_rejected);
        table.add("unknowns", n_unknowns);
        if (problem.exact_solution != nullptr)
          add_errors(run);
        table.add("iterations", n_iterations);
        if (output.print_times)
          {
            const auto slowest = [](const double seconds) {
              return Utilities::MPI::max(seconds, MPI_COMM_WORLD);
            };
            const double assembly = slowest(run.assembly_seconds),
                         solve    = slowest(run.solver_seconds);
            table.add("assembly s", assembly);
            table.add("solver s", solve);
          }
      }

      /// Adds errors and their rates to the last row of the table.
      void
      add_errors(const Run<dim> &run)
      {
        const std::vector<double> errors  = {run.errors.L2_L2(),
                                             run.errors.L2_H1(),
                                             run.errors.Linf_L2(),
                                             run.errors.final_L2()};
        const char *const         names[] = {"L2L2", "L2H1", "LinfL2", "end"};
        const auto                before  = errors_before.find(run.elements);
        for (unsigned int i = 0; i < 4; ++i)
          {
            const std::string name = names[i];
            table.add(name + " error", errors[i], 4);
            table.add(name + " rate",
                      before == errors_before.end()
                        ? std::numeric_limits<double>::quiet_NaN()
                        : std::log2(before->second[i] / errors[i]),
                      3);
          }
        errors_before[run.elements] = errors;
      }
    };

    MainFunction *const main_function = run_study<Study, Parameters>;
  } // namespace Application
} // namespace Tessella

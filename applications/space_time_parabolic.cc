// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// How are parabolic problems solved by space-time dG on polytopes? Slab after
// slab on prismatic elements, with steps of fixed or adaptive length and local
// time stepping. All that defines a study is in a parameter file; see
// parameter_files/space_time_*.prm.

#include <deal.II/base/data_out_base.h>
#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/timer.h>

#include <deal.II/grid/cell_id.h>

#include <tessella/base/on_all_processes.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/space_time_errors.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/space_time/space_time_stepping.h>

#include <algorithm>
#include <cmath>
#include <fstream>
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
#include "common/study_table.h"
#include "common/text_table.h"
#include "space_time_parabolic/parabolic_equation.h"

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
      "time with their rates. It writes to the folder Output/Directory\n"
      "  NAME.txt, .csv                       the table\n"
      "  NAME-LEVEL-SPACEp-steps.csv          time, jump, error, mass of each "
      "slab\n"
      "  NAME-LEVEL-SPACEp.pvd, -NUMBER.vtu   the solution at ends of slabs\n"
      "  NAME-LEVEL-SPACEp.state              to go on from (Time/Restart "
      "from)\n"
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
      std::vector<Expression> intervals; // empty or one
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
                          "polytopes and degree: one mesh, one degree.");
        prm.declare_entry("Output every",
                          "1",
                          Patterns::Integer(1),
                          "Number of slabs from .vtu file to .vtu file.");
        prm.declare_entry("State every",
                          "0",
                          Patterns::Integer(0),
                          "Number of slabs from state to state; 0: at the end "
                          "only.");
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



    /// The solution at the end of a slab.
    struct State
    {
      double                        time = 0., step = 0.;
      TrilinosWrappers::MPI::Vector value;
    };



    /// What stands for a polytope on any number of processes: its first cell.
    template <int dim>
    CellId
    first_cell(const AgglomerationHandler<dim> &handler, const unsigned int k)
    {
      const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
      return handler.active_cell(mesh.subcell_cell[mesh.subcell_offset[k]])
        ->id();
    }



    /// A line per polytope, in the order of first cells.
    template <int dim>
    void
    write_state(const std::string               &file,
                const State                     &state,
                const AgglomerationHandler<dim> &handler)
    {
      const std::vector<std::uint64_t> &offset =
        handler.polytopic_mesh().dof_offset;
      std::vector<std::string> own;
      for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
        {
          std::ostringstream line;
          line << std::setprecision(17) << first_cell(handler, k).to_string()
               << ' ' << offset[k + 1] - offset[k];
          for (auto i = offset[k]; i < offset[k + 1]; ++i)
            line << ' ' << state.value.begin()[i];
          own.push_back(line.str());
        }
      std::vector<std::pair<CellId, std::string>> lines;
      for (const std::vector<std::string> &list :
           Utilities::MPI::gather(MPI_COMM_WORLD, own))
        for (const std::string &line : list)
          lines.emplace_back(CellId(line.substr(0, line.find(' '))), line);
      std::sort(lines.begin(), lines.end());
      const types::global_dof_index n_dofs = handler.n_dofs();
      write_file(file, [&](std::ostream &out) {
        out << std::setprecision(17) << "tessella-space-time-state 2\n"
            << state.time << ' ' << state.step << ' ' << n_dofs << '\n';
        for (const auto &line : lines)
          out << line.second << '\n';
      });
    }



    /// Each process reads what it owns.
    template <int dim>
    void
    read_state(const std::string               &file,
               const AgglomerationHandler<dim> &handler,
               State                           &state)
    {
      std::ifstream in(file);
      std::string   magic, version;
      std::uint64_t n = 0;
      in >> magic >> version;
      AssertThrow(in && magic == "tessella-space-time-state" && version == "2",
                  ExcMessage("The file '" + file +
                             "' of Time/Restart from is not a state that this "
                             "program wrote."));
      in >> state.time >> state.step >> n;
      const std::string advice =
        ": go on with the mesh, polytopes and degree that it was written with.";
      AssertThrow(in && n == handler.n_dofs(),
                  ExcMessage("The state in '" + file + "' has " +
                             std::to_string(n) +
                             " unknowns, but this mesh and degree have " +
                             std::to_string(handler.n_dofs()) + advice));
      std::map<std::string, unsigned int> polytopes;
      for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
        polytopes[first_cell(handler, k).to_string()] = k;
      const std::vector<std::uint64_t> &offset =
        handler.polytopic_mesh().dof_offset;
      std::uint64_t n_read = 0;
      for (std::string line; std::getline(in, line);)
        {
          std::istringstream words(line);
          std::string        id;
          std::uint64_t      n_here = 0;
          if (!(words >> id >> n_here))
            continue;
          n_read += n_here;
          const auto polytope = polytopes.find(id);
          if (polytope == polytopes.end())
            continue;
          const unsigned int k = polytope->second;
          AssertThrow(n_here == offset[k + 1] - offset[k],
                      ExcMessage("The state in '" + file +
                                 "' has another degree on a polytope" +
                                 advice));
          for (auto i = offset[k]; i < offset[k + 1]; ++i)
            words >> state.value.begin()[i];
          AssertThrow(words,
                      ExcMessage("The state in '" + file +
                                 "' has a line that ends too early: take "
                                 "another one."));
          polytopes.erase(polytope);
        }
      AssertThrow(n_read == n,
                  ExcMessage("The state in '" + file +
                             "' ends too early: take another one."));
      AssertThrow(polytopes.empty(),
                  ExcMessage("The state in '" + file + "' has other polytopes" +
                             advice));
    }



    template <int dim>
    class Study
    {
    public:
      explicit Study(const Parameters &parameters)
        : parameters(parameters)
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
        table.print(screen());
        if (output.write_text())
          write_file(output.file(".txt"),
                     [&](std::ostream &out) { table.print(out); });
        if (output.write_csv())
          write_file(output.file(".csv"),
                     [&](std::ostream &out) { table.write_csv(out); });
      }

    private:
      const Parameters     &parameters;
      const OutputInput    &output;
      ParabolicProblem<dim> problem;
      TextTable             table;
      // errors of the mesh before, by run
      std::map<std::string, std::vector<double>> errors_before;

      void
      run_level(const unsigned int level)
      {
        const AgglomeratedMesh<dim> agglomerated =
          create_agglomerated_mesh<dim>(
            parameters.mesh,
            parameters.agglomeration,
            parameters.equation.cell_values().has_values_per_cell(),
            level);
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
        handler.agglomerate(agglomerated.strategy);
        on_all_processes(MPI_COMM_WORLD, [&]() {
          parameters.equation.cell_values().set_values(*problem.form,
                                                       mesh,
                                                       handler);
        });
        for (const PolynomialSpaceType space : parameters.spaces)
          for (const unsigned int degree : parameters.discretisation.degrees())
            {
              parameters.discretisation.distribute_dofs(handler, degree);
              run_degree(handler, level, space, degree);
            }
      }

      std::vector<unsigned int>
      intervals(const AgglomerationHandler<dim> &handler, const double t) const
      {
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
        State state;
        state.time = parameters.first_time;
        state.step = parameters.step * std::pow(parameters.step_factor, level);
        state.value.reinit(handler.locally_owned_dofs(), MPI_COMM_WORLD);
        if (!parameters.restart.empty())
          on_all_processes(MPI_COMM_WORLD, [&]() {
            read_state(parameters.restart, handler, state);
          });
        else
          VectorTools::project(handler, *problem.initial_value, state.value);
        AssertThrow(state.time < parameters.final_time,
                    ExcMessage("The state to go on from is of t = " +
                               short_text(state.time) +
                               ", not before Time/Final time."));
        stepping.initialize(state.time, state.value);
        // (mistakes show before anything is written)
        intervals(handler, state.time);

        std::vector<std::pair<double, std::string>> files;
        const bool                                  fields =
          output.write_solution() &&
          output.fields_of_level(level, parameters.mesh.n_levels());
        const auto write_fields = [&]() {
          std::ostringstream name;
          name << run << "-" << std::setw(5) << std::setfill('0')
               << files.size() << ".vtu";
          PolytopicDataOut<dim> data_out(handler);
          data_out.add_data_vector(stepping.value(), "solution");
          data_out.build_patches();
          const std::string file = output.file(name.str());
          data_out.write_vtu_file(file);
          files.emplace_back(stepping.time(),
                             file.substr(file.find_last_of('/') + 1));
          write_file(output.file(run + ".pvd"), [&](std::ostream &out) {
            DataOutBase::write_pvd_record(out, files);
          });
        };
        if (fields)
          write_fields();

        // ---- slab after slab
        SpaceTimeErrors<dim> errors;
        TextTable            steps;
        const double         first = state.time;
        double               said = 0., assembly = 0., solve = 0.;
        unsigned int         n_slabs = 0, n_rejected = 0, n_iterations = 0;
        std::uint64_t        n_unknowns = 0;
        Timer                timer;
        const double         tiny =
          1e-10 * (parameters.final_time - parameters.first_time);
        const auto save = [&]() {
          state.value = stepping.value();
          write_state(output.file(run + ".state"), state, handler);
        };
        while (state.time < parameters.final_time - tiny)
          {
            const double remaining = parameters.final_time - state.time;
            // (no last step that is tiny because of rounding)
            const double length = state.step > remaining - 1e-6 * state.step
                                    ? remaining
                                    : state.step;
            try
              {
                stepping.step(length, intervals(handler, state.time));
              }
            catch (...)
              {
                save();
                output.print("Wrote the last good state, of t = " +
                             short_text(state.time) + ", to " +
                             output.file(run + ".state") + ".");
                if (!steps.empty())
                  write_file(output.file(run + "-steps.csv"),
                             [&](std::ostream &out) { steps.write_csv(out); });
                throw;
              }
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
                    ++n_rejected;
                    state.step = next;
                    stepping.initialize(state.time, state.value);
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
            n_unknowns += stepping.slab().n_dofs();
            n_iterations = std::max(n_iterations, solver_report.n_iterations);
            assembly += stepping.assembly_time();
            solve += stepping.solver_time();

            steps.start_row();
            steps.add("time", state.time, 10);
            steps.add("length", length, 10);
            steps.add("elements",
                      static_cast<std::uint64_t>(
                        stepping.slab().n_global_polytopes()));
            steps.add("jump", stepping.jump(), 6);
            steps.add("mass", stepping.slab().integral(state.value), 12);
            if (problem.exact_solution != nullptr)
              {
                errors.add(stepping.slab(),
                           stepping.solution(),
                           *problem.exact_solution);
                AssertThrow(std::isfinite(errors.L2_H1()),
                            ExcMessage("The error against Equation/Exact "
                                       "solution is not finite."));
                steps.add("L2 error", errors.final_L2(), 6);
              }
            steps.add("iterations",
                      static_cast<std::uint64_t>(solver_report.n_iterations));
            const unsigned int n = ++n_slabs;
            const bool last      = !(state.time < parameters.final_time - tiny);
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
          write_file(output.file(run + "-steps.csv"),
                     [&](std::ostream &out) { steps.write_csv(out); });

        // ---- the table
        table.start_row();
        table.add("level", static_cast<std::uint64_t>(level));
        table.add("degree", static_cast<std::uint64_t>(degree));
        table.add("elements", elements);
        table.add("polytopes",
                  static_cast<std::uint64_t>(handler.n_global_polytopes()));
        table.add("slabs", static_cast<std::uint64_t>(n_slabs));
        if (parameters.tolerance > 0.)
          table.add("repeated", static_cast<std::uint64_t>(n_rejected));
        table.add("unknowns", n_unknowns);
        if (problem.exact_solution != nullptr)
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
        table.add("iterations", static_cast<std::uint64_t>(n_iterations));
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

  Parameters parameters;
  return run_program(
    argc,
    argv,
    info,
    [&](dealii::ParameterHandler &prm) { parameters.declare(prm); },
    [&](dealii::ParameterHandler &prm, const std::string &file) {
      parameters.parse(prm, file);
      if (parameters.mesh.dimension() == 2)
        Study<2>(parameters).run();
      else
        Study<3>(parameters).run();
    });
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Adaptive refinement of polytopic meshes with an error estimator: how does the
// error decrease? The loop is solve, estimate, mark, refine, agglomerate again,
// transfer the solution. A study is defined by its parameter file alone; see
// parameter_files/adaptive_*.prm.

#include <deal.II/base/exceptions.h>
#include <deal.II/base/timer.h>

#include <deal.II/distributed/tria.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/on_all_processes.h>
#include <tessella/numerics/checkpoint.h>
#include <tessella/numerics/error_estimator.h>
#include <tessella/numerics/grid_refinement.h>
#include <tessella/numerics/solution_transfer.h>
#include <tessella/numerics/vector_tools.h>

#include <cmath>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "common/linear_solver.h"
#include "common/memory_check.h"
#include "common/program.h"
#include "common/solvability.h"
#include "common/stage_times.h"
#include "common/study_output.h"
#include "common/study_parameters.h"
#include "common/study_table.h"
#include "common/table_plot.h"
#include "common/text_table.h"
#include "common/validation.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    const ProgramInfo info = {
      "adaptive_refinement",
      "adaptive refinement of polytopic meshes, from a parameter file",
      "Solves -div(a grad u) + b . grad u + c u = f by the interior penalty dG\n"
      "method on polytopes of a p4est mesh of quadrilaterals or hexahedra, over\n"
      "and over: it estimates the error, marks polytopes, refines and coarsens\n"
      "their cells, makes polytopes anew, and takes the solution along by L2\n"
      "projection.\n\n"
      "It prints a table of error, estimate and efficiency index (estimate over\n"
      "error in the dG norm) for each degree; the first residual is that of the\n"
      "solution that was taken along, where iterations of the solver start. It\n"
      "writes to the folder Output/Directory\n"
      "  NAME.txt, .csv                    the table\n"
      "  NAME-convergence.svg              errors, estimates against unknowns\n"
      "  NAME-LEVEL-pDEGREE-solution.vtu   the solution with the indicators\n"
      "  NAME-LEVEL-pDEGREE-polytopes.vtu  the polytopes as polygons, polyhedra\n"
      "  NAME-LEVEL-pDEGREE-mesh.svg       the polytopic mesh\n"
      "  NAME-pDEGREE.checkpoint           to go on from (Checkpoint/Restart\n"
      "                                    from), with files that begin so\n"
      "NAME is the name of the parameter file. Mistakes in the input end in one\n"
      "sentence and a non-zero exit status.\n\n"
      "On several MPI processes (mpirun) the mesh is distributed over them; with\n"
      "Agglomeration/Method = families polytopes do not depend on their number.\n"
      "Drawings of the mesh are left out then.\n",
      true};

    /// Section "Adaptation" of a parameter file.
    struct AdaptationInput
    {
      unsigned int initial_refinements = 2, n_steps = 10, max_unknowns = 100000;
      std::string  indicator = "residual", marking = "fixed fraction";
      double       top = 0.5, bottom = 0.;

      void
      declare_parameters(ParameterHandler &prm)
      {
        prm.enter_subsection("Adaptation");
        prm.add_parameter("Initial refinements",
                          initial_refinements,
                          "Global refinements of the mesh at the beginning, "
                          "which may be coarsened again later.",
                          Patterns::Integer(0, 20));
        prm.add_parameter("Steps",
                          n_steps,
                          "Number of times that the mesh is changed.",
                          Patterns::Integer(0, 1000));
        prm.add_parameter("Maximum unknowns",
                          max_unknowns,
                          "The mesh is changed no more when there are that "
                          "many.",
                          Patterns::Integer(1));
        prm.add_parameter("Indicator",
                          indicator,
                          "What is taken for the error: residuals in "
                          "polytopes and on their boundaries, or jumps of the "
                          "solution alone.",
                          Patterns::Selection("residual|jumps"));
        prm.add_parameter(
          "Marking",
          marking,
          "fixed fraction: polytopes with a given part of the squared estimate "
          "(Doerfler). fixed number: polytopes with a given part of the "
          "cells.",
          Patterns::Selection("fixed fraction|fixed number"));
        prm.add_parameter("Refine",
                          top,
                          "The part that is refined.",
                          Patterns::Double(0., 1.));
        prm.add_parameter("Coarsen",
                          bottom,
                          "The part that is coarsened, together with the one "
                          "above not more than 1.",
                          Patterns::Double(0., 1.));
        prm.leave_subsection();
      }

      void
      check() const
      {
        AssertThrow(top > 0. || n_steps == 0,
                    ExcMessage("Adaptation/Refine must be positive, or the "
                               "mesh never changes."));
        AssertThrow(top + bottom <= 1.,
                    ExcMessage("Adaptation/Refine and Adaptation/Coarsen are "
                               "more than 1 together."));
      }
    };

    /// Section "Checkpoint" of a parameter file.
    struct CheckpointInput
    {
      unsigned int interval = 0;
      std::string  restart;
      bool         split_cut = false;

      void
      declare_parameters(ParameterHandler &prm)
      {
        prm.enter_subsection("Checkpoint");
        prm.add_parameter("Write every",
                          interval,
                          "Number of steps from checkpoint to checkpoint, "
                          "NAME-pDEGREE.checkpoint, which is written over; 0: "
                          "none.",
                          Patterns::Integer(0));
        prm.add_parameter("Restart from",
                          restart,
                          "A file .checkpoint of an earlier run with the same "
                          "Mesh and degree; the number of processes may be "
                          "another one.");
        prm.add_parameter("Split cut polytopes",
                          split_cut,
                          "On another number of processes: split polytopes "
                          "that would be on several; false: that is an error.");
        prm.leave_subsection();
      }

      void
      find_restart(const std::string &file)
      {
        if (!restart.empty())
          restart =
            find_file("checkpoint (Checkpoint/Restart from)", restart, file);
      }
    };

    struct Parameters : StudyParameters<>
    {
      LinearSolver    solver;
      AdaptationInput adaptation;
      CheckpointInput checkpoint;
      OutputInput     output;

      void
      declare(ParameterHandler &prm)
      {
        StudyParameters::declare(prm);
        solver.declare_parameters(prm);
        adaptation.declare_parameters(prm);
        checkpoint.declare_parameters(prm);
        output.declare_parameters(prm);
      }

      void
      parse(ParameterHandler &prm, const std::string &file)
      {
        StudyParameters::parse(prm, file);
        AssertThrow(mesh.n_levels() == 1,
                    ExcMessage("Meshes follow from one another here: give one "
                               "mesh, Mesh/Levels = 1."));
        solver.parse_parameters();
        adaptation.check();
        checkpoint.find_restart(file);
        output.parse_parameters(file);
        AssertThrow(checkpoint.restart.empty() ||
                      discretisation.degrees.size() == 1,
                    ExcMessage("Checkpoint/Restart from goes on with one run: "
                               "set one Discretisation/Degree."));
      }
    };

    template <int dim>
    class Study
    {
    public:
      explicit Study(const Parameters &parameters)
        : parameters(parameters)
        , output(parameters.output)
        , adaptation(parameters.adaptation)
        , problem(parameters.create_problem<dim>())
      {}

      void
      run()
      {
        for (const unsigned int degree : parameters.discretisation.degrees)
          run_degree(degree);
        write_results();
      }

    private:
      using VectorType = TrilinosWrappers::MPI::Vector;

      const Parameters      &parameters;
      const OutputInput     &output;
      const AdaptationInput &adaptation;
      Problem<dim>           problem;
      TextTable              table;
      std::vector<PlotCurve> curves;

      /// Creates the coarse mesh of the parameter file as a p4est mesh.
      Mesh<dim>
      create_mesh() const
      {
        Mesh<dim>           mesh  = parameters.mesh.create<dim>(0);
        Triangulation<dim> &whole = *mesh.triangulation;
        AssertThrow(whole.all_reference_cells_are_hyper_cube(),
                    ExcMessage("Meshes of quadrilaterals or hexahedra can be "
                               "refined adaptively, other cells cannot."));
        AssertThrow(!whole.has_hanging_nodes(),
                    ExcMessage("The first mesh must be without hanging nodes: "
                               "set Mesh/Local refinement steps = 0."));
        AssertThrow(whole.get_periodic_face_map().empty(),
                    ExcMessage("Mesh/Periodic boundaries must be empty where "
                               "meshes are refined adaptively."));
#ifdef DEAL_II_WITH_P4EST
        auto triangulation =
          std::make_unique<parallel::distributed::Triangulation<dim>>(
            MPI_COMM_WORLD,
            // The polytopes of a new mesh are groups of its families.
            Triangulation<dim>::none);
        if (whole.n_levels() == 1)
          triangulation->copy_triangulation(whole);
        else
          {
            Triangulation<dim> flat;
            GridGenerator::flatten_triangulation(whole, flat);
            triangulation->copy_triangulation(flat);
          }
        mesh.n_coarse_cells = triangulation->n_cells(0);
        mesh.triangulation  = std::move(triangulation);
#else
        AssertThrow(false,
                    ExcMessage("This deal.II has been built without p4est, "
                               "which adaptive refinement needs."));
#endif
        return mesh;
      }

      void
      set_cell_values(const Mesh<dim>                 &mesh,
                      const AgglomerationHandler<dim> &handler)
      {
        on_all_processes(MPI_COMM_WORLD, [&]() {
          parameters.equation.set_cell_values(problem, mesh, handler);
        });
      }

      std::unique_ptr<AgglomerationHandler<dim>>
      agglomerate(const Mesh<dim> &mesh, const unsigned int degree)
      {
        auto handler =
          std::make_unique<AgglomerationHandler<dim>>(*mesh.triangulation,
                                                      mesh.mapping.get());
        handler->agglomerate(parameters.agglomeration.strategy(mesh));
        set_cell_values(mesh, *handler);
        parameters.discretisation.distribute_dofs(*handler, degree);
        return handler;
      }

      /// Solution on the present mesh, for one degree.
      struct Present
      {
        unsigned int                               degree = 0, step = 0;
        Mesh<dim>                                  mesh;
        std::unique_ptr<AgglomerationHandler<dim>> handler;
        VectorType                                 solution;
      };

      /// Solver, error estimate and errors of a step.
      struct StepReport
      {
        unsigned int n_iterations   = 0;
        double       first_residual = 0., estimate = 0.;
        double       solve_seconds = 0., estimate_seconds = 0.;
        /// Only if there is an exact solution.
        VectorTools::ErrorNorms errors;
      };

      /// Results of the steps of one degree.
      struct History
      {
        double    error_before = 0., unknowns_before = 0.;
        PlotCurve error_curve, estimate_curve;
      };

      void
      run_degree(const unsigned int degree)
      {
        Present present;
        present.degree = degree;
        present.mesh   = create_mesh();
        if (parameters.checkpoint.restart.empty())
          begin(present);
        else
          go_on(present);
        // The first mesh. The last one has about as many unknowns as
        // Adaptation/Maximum unknowns says, or fewer.
        if (run_mode().validate)
          {
            const AgglomerationHandler<dim> &handler = *present.handler;
            SystemSize                       size    = system_size(handler);
            if (adaptation.n_steps > present.step &&
                adaptation.max_unknowns > size.n_unknowns)
              {
                const double growth = adaptation.max_unknowns / size.n_unknowns;
                size.n_polytopes *= growth;
                size.n_unknowns *= growth;
                size.n_entries *= growth;
              }
            validate_system(present.step,
                            degree,
                            size,
                            parameters.solver.memory(handler,
                                                     problem.symmetric));
            return;
          }
        const unsigned int first_step = present.step;
        History            history    = create_history(degree);
        for (;; ++present.step)
          {
            Vector<double>   indicators;
            const StepReport report = solve_and_estimate(present, indicators);
            add_row(present, report, present.step == first_step, history);
            const bool last =
              present.step == adaptation.n_steps ||
              present.handler->n_dofs() >= adaptation.max_unknowns;
            write_fields(present, indicators, last);
            write_checkpoint_of(present, last);
            if (last)
              break;
            adapt(present, indicators);
          }
        if (!history.error_curve.x.empty())
          curves.push_back(history.error_curve);
        curves.push_back(history.estimate_curve);
      }

      /// Begins with the first mesh and zero.
      void
      begin(Present &present)
      {
        Triangulation<dim> &triangulation = *present.mesh.triangulation;
        check_memory(dim,
                     triangulation.n_global_active_cells() *
                       std::pow(2., dim * adaptation.initial_refinements),
                     true,
                     "Adaptation/Initial refinements = " +
                       std::to_string(adaptation.initial_refinements),
                     "lower Adaptation/Initial refinements");
        triangulation.refine_global(adaptation.initial_refinements);
        present.handler = agglomerate(present.mesh, present.degree);
        present.solution.reinit(present.handler->locally_owned_dofs(),
                                present.handler->get_communicator());
      }

      /// Begins with the mesh and the solution of a checkpoint.
      void
      go_on(Present &present)
      {
        const std::string    &file   = parameters.checkpoint.restart;
        const unsigned int    degree = present.degree;
        CheckpointReader<dim> reader(file, MPI_COMM_WORLD);
        std::istringstream    data(reader.user_data());
        std::string           program;
        unsigned int          old_degree = 0;
        data >> program >> old_degree >> present.step;
        AssertThrow(data && program == info.name && reader.n_solutions() == 1,
                    ExcMessage("The checkpoint '" + file +
                               "' was not written by this program."));
        AssertThrow(old_degree == degree,
                    ExcMessage("The checkpoint '" + file + "' is of degree " +
                               std::to_string(old_degree) +
                               ", but "
                               "Discretisation/Degree is " +
                               std::to_string(degree) + "."));
        Mesh<dim> &mesh = present.mesh;
        reader.load(*mesh.triangulation);
        present.handler =
          std::make_unique<AgglomerationHandler<dim>>(*mesh.triangulation,
                                                      mesh.mapping.get());
        AgglomerationHandler<dim> &handler = *present.handler;
        reader.restore(handler, parameters.checkpoint.split_cut);
        set_cell_values(mesh, handler);
        output.print("Going on with step " + std::to_string(present.step) +
                     " from " + file + ".");
        present.solution.reinit(handler.locally_owned_dofs(),
                                handler.get_communicator());
        reader.read(handler, present.solution);
      }

      History
      create_history(const unsigned int degree) const
      {
        History           history;
        const std::string name       = "Degree " + std::to_string(degree);
        history.error_curve.label    = name + ", error";
        history.estimate_curve.label = name + ", estimate";
        history.error_curve.group    = history.estimate_curve.group =
          static_cast<int>(curves.size());
        history.error_curve.slope = -static_cast<double>(degree);
        return history;
      }

      /// Computes the solution on the present mesh, the indicators and, if
      /// there is an exact solution, the errors.
      StepReport
      solve_and_estimate(Present &present, Vector<double> &indicators)
      {
        const AgglomerationHandler<dim> &handler  = *present.handler;
        VectorType                      &solution = present.solution;
        StepReport                       result;
        Timer                            timer;
        const auto data = parameters.discretisation.assembler_data<dim>();
        PolytopicAssembler<dim>        assembler(handler, data);
        TrilinosWrappers::SparseMatrix matrix;
        VectorType                     rhs;
        assembler.reinit(matrix, rhs);
        assembler.assemble(problem.form, matrix, rhs);
        if (table.empty())
          print_execution(output,
                          assembler.report(),
                          parameters.solver.description());
        check_solvability(handler, matrix);
        const MatrixSource<dim> source = {problem.form, data};
        const double            norm   = rhs.l2_norm();
        result.first_residual =
          norm > 0. ? residual_norm(matrix, solution, rhs) / norm : 0.;
        result.n_iterations =
          parameters.solver
            .solve(handler, matrix, solution, rhs, problem.symmetric, &source)
            .n_iterations;
        result.solve_seconds = lap(timer);

        const std::vector<double> sigma = assembler.penalty(problem.form);
        const unsigned int extra_order  = parameters.discretisation.extra_order;
        if (adaptation.indicator == "residual")
          ErrorEstimator::residual(
            handler, problem.form, sigma, solution, indicators, extra_order);
        else
          ErrorEstimator::jumps(
            handler, problem.form, sigma, solution, indicators, extra_order);
        result.estimate         = ErrorEstimator::global(handler, indicators);
        result.estimate_seconds = timer.wall_time();

        if (problem.exact_solution != nullptr)
          {
            result.errors = VectorTools::compute_errors(handler,
                                                        problem.form,
                                                        sigma,
                                                        solution,
                                                        *problem.exact_solution,
                                                        extra_order);
            check_error(result.errors.dG);
          }
        return result;
      }

      /// Adds a step to the table and to the curves, and prints a line.
      void
      add_row(const Present    &present,
              const StepReport &report,
              const bool        first,
              History          &history)
      {
        const AgglomerationHandler<dim> &handler = *present.handler;
        const double unknowns = static_cast<double>(handler.n_dofs());
        const double x        = std::pow(unknowns, 1. / dim);
        table.start_row(present.step, present.degree);
        table.add("cells",
                  std::uint64_t(
                    present.mesh.triangulation->n_global_active_cells()));
        table.add("polytopes", std::uint64_t(handler.n_global_polytopes()));
        table.add("unknowns", std::uint64_t(handler.n_dofs()));
        table.add("iterations", std::uint64_t(report.n_iterations));
        table.add("first residual", report.first_residual);
        std::ostringstream line;
        line << "  degree " << present.degree << ", step " << present.step
             << ": " << handler.n_dofs() << " unknowns, estimate "
             << report.estimate;
        if (problem.exact_solution != nullptr)
          {
            const double error = report.errors.dG;
            table.add("L2 error", report.errors.L2);
            table.add("dG error", error);
            table.add("dG rate",
                      first ? std::numeric_limits<double>::quiet_NaN()
                            : dim * std::log(history.error_before / error) /
                                std::log(unknowns / history.unknowns_before));
            history.error_before    = error;
            history.unknowns_before = unknowns;
            history.error_curve.x.push_back(x);
            history.error_curve.y.push_back(error);
            line << ", dG error " << error;
          }
        table.add("estimate", report.estimate);
        if (problem.exact_solution != nullptr)
          table.add("efficiency index", report.estimate / report.errors.dG);
        history.estimate_curve.x.push_back(x);
        history.estimate_curve.y.push_back(report.estimate);
        if (output.print_times)
          {
            table.add("solve seconds", report.solve_seconds);
            table.add("estimate seconds", report.estimate_seconds);
          }
        output.print(line.str());
      }

      void
      write_checkpoint_of(const Present &present, const bool last) const
      {
        const unsigned int interval = parameters.checkpoint.interval;
        if (interval == 0 || !(last || present.step % interval == 0))
          return;
        const std::string degree = std::to_string(present.degree);
        write_checkpoint(output.file("-p" + degree + ".checkpoint"),
                         *present.mesh.triangulation,
                         *present.handler,
                         std::vector<const VectorType *>{&present.solution},
                         std::string(info.name) + " " + degree + " " +
                           std::to_string(present.step));
      }

      /// Marks cells, refines and coarsens them, makes polytopes anew and
      /// projects the solution to them.
      void
      adapt(Present &present, const Vector<double> &indicators)
      {
        Triangulation<dim> &triangulation = *present.mesh.triangulation;
        if (adaptation.marking == "fixed fraction")
          GridRefinement::refine_and_coarsen_fixed_fraction(triangulation,
                                                            *present.handler,
                                                            indicators,
                                                            adaptation.top,
                                                            adaptation.bottom);
        else
          GridRefinement::refine_and_coarsen_fixed_number(triangulation,
                                                          *present.handler,
                                                          indicators,
                                                          adaptation.top,
                                                          adaptation.bottom);
        triangulation.prepare_coarsening_and_refinement();
        check_memory(dim,
                     n_cells_after_refinement(triangulation),
                     true,
                     "Adaptation/Maximum unknowns = " +
                       std::to_string(adaptation.max_unknowns),
                     "lower Adaptation/Maximum unknowns");
        PolytopicSolutionTransfer<dim> transfer(triangulation);
        transfer.prepare_for_coarsening_and_refinement(*present.handler,
                                                       present.solution);
        triangulation.execute_coarsening_and_refinement();
        present.handler = agglomerate(present.mesh, present.degree);
        present.solution.reinit(present.handler->locally_owned_dofs(),
                                present.handler->get_communicator());
        transfer.project(*present.handler, present.solution);
      }

      /// Lower bound of the number of cells, since deal.II may refuse to
      /// coarsen.
      static double
      n_cells_after_refinement(const Triangulation<dim> &triangulation)
      {
        double n = 0.;
        for (const auto &cell : triangulation.active_cell_iterators())
          if (cell->is_locally_owned())
            n += cell->refine_flag_set()    ? 1 << dim
                 : cell->coarsen_flag_set() ? 1. / (1 << dim)
                                            : 1.;
        return Utilities::MPI::sum(n, MPI_COMM_WORLD);
      }

      void
      write_fields(const Present        &present,
                   const Vector<double> &indicators,
                   const bool            last) const
      {
        // It is not known in advance which step is the last one.
        if (!output.fields_of_level(last ? 0 : 1, last ? 1 : 3))
          return;
        const AgglomerationHandler<dim> &handler = *present.handler;
        const std::string                step    = std::to_string(present.step);
        const std::string                run =
          "-" + step + "-p" + std::to_string(present.degree);
        Application::write_fields(output,
                                  handler,
                                  present.solution,
                                  {run,
                                   run,
                                   "step " + step,
                                   handler.polytopic_mesh().n_subcells(),
                                   parameters.discretisation.is_hp()},
                                  &indicators);
      }

      void
      write_results() const
      {
        std::ostringstream text;
        table.print(text);
        output.print(text.str());
        output.write_table(table, true);
        PlotFlags flags;
        flags.x_label = dim == 2 ? "(number of unknowns)^(1/2)"
                                 : "(number of unknowns)^(1/3)";
        flags.y_label = "dG error and estimate";
        output.write_plot(curves, "-convergence.svg", flags, true);
      }
    };

    MainFunction *const main_function = run_study<Study, Parameters>;
  } // namespace Application
} // namespace Tessella

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
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/error_estimator.h>
#include <tessella/numerics/grid_refinement.h>
#include <tessella/numerics/solution_transfer.h>
#include <tessella/numerics/svg.h>
#include <tessella/numerics/vector_tools.h>

#include <cmath>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "common/agglomeration_input.h"
#include "common/discretisation_input.h"
#include "common/equation_input.h"
#include "common/linear_solver.h"
#include "common/memory_check.h"
#include "common/mesh_input.h"
#include "common/program.h"
#include "common/solvability.h"
#include "common/study_output.h"
#include "common/study_table.h"
#include "common/table_plot.h"
#include "common/text_table.h"

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
      unsigned int initial_refinements = 0, n_steps = 0, max_unknowns = 0;
      bool         residual = true, fixed_fraction = true;
      double       top = 0., bottom = 0.;

      void
      declare_parameters(ParameterHandler &prm)
      {
        prm.enter_subsection("Adaptation");
        prm.declare_entry("Initial refinements",
                          "2",
                          Patterns::Integer(0, 20),
                          "Global refinements of the mesh at the beginning, "
                          "which may be coarsened again later.");
        prm.declare_entry("Steps",
                          "10",
                          Patterns::Integer(0, 1000),
                          "Number of times that the mesh is changed.");
        prm.declare_entry("Maximum unknowns",
                          "100000",
                          Patterns::Integer(1),
                          "The mesh is changed no more when there are that "
                          "many.");
        prm.declare_entry("Indicator",
                          "residual",
                          Patterns::Selection("residual|jumps"),
                          "What is taken for the error: residuals in "
                          "polytopes and on their boundaries, or jumps of the "
                          "solution alone.");
        prm.declare_entry(
          "Marking",
          "fixed fraction",
          Patterns::Selection("fixed fraction|fixed number"),
          "fixed fraction: polytopes with a given part of the squared estimate "
          "(Doerfler). fixed number: polytopes with a given part of the "
          "cells.");
        prm.declare_entry("Refine",
                          "0.5",
                          Patterns::Double(0., 1.),
                          "The part that is refined.");
        prm.declare_entry("Coarsen",
                          "0",
                          Patterns::Double(0., 1.),
                          "The part that is coarsened, together with the one "
                          "above not more than 1.");
        prm.leave_subsection();
      }

      void
      parse_parameters(ParameterHandler &prm)
      {
        prm.enter_subsection("Adaptation");
        initial_refinements = prm.get_integer("Initial refinements");
        n_steps             = prm.get_integer("Steps");
        max_unknowns        = prm.get_integer("Maximum unknowns");
        residual            = prm.get("Indicator") == "residual";
        fixed_fraction      = prm.get("Marking") == "fixed fraction";
        top                 = prm.get_double("Refine");
        bottom              = prm.get_double("Coarsen");
        prm.leave_subsection();
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
        prm.declare_entry("Write every",
                          "0",
                          Patterns::Integer(0),
                          "Number of steps from checkpoint to checkpoint, "
                          "NAME-pDEGREE.checkpoint, which is written over; 0: "
                          "none.");
        prm.declare_entry("Restart from",
                          "",
                          Patterns::Anything(),
                          "A file .checkpoint of an earlier run with the same "
                          "Mesh and degree; the number of processes may be "
                          "another one.");
        prm.declare_entry("Split cut polytopes",
                          "false",
                          Patterns::Bool(),
                          "On another number of processes: split polytopes "
                          "that would be on several; false: that is an error.");
        prm.leave_subsection();
      }

      void
      parse_parameters(ParameterHandler &prm, const std::string &file)
      {
        prm.enter_subsection("Checkpoint");
        interval  = prm.get_integer("Write every");
        restart   = prm.get("Restart from");
        split_cut = prm.get_bool("Split cut polytopes");
        prm.leave_subsection();
        if (!restart.empty())
          restart =
            find_file("checkpoint (Checkpoint/Restart from)", restart, file);
      }
    };

    struct Parameters
    {
      MeshInput           mesh;
      AgglomerationInput  agglomeration;
      EquationInput       equation;
      DiscretisationInput discretisation;
      LinearSolver        solver;
      AdaptationInput     adaptation;
      CheckpointInput     checkpoint;
      OutputInput         output;

      void
      declare(ParameterHandler &prm)
      {
        mesh.declare_parameters(prm);
        agglomeration.declare_parameters(prm);
        equation.declare_parameters(prm);
        discretisation.declare_parameters(prm);
        solver.declare_parameters(prm);
        adaptation.declare_parameters(prm);
        checkpoint.declare_parameters(prm);
        output.declare_parameters(prm);
      }

      void
      parse(ParameterHandler &prm, const std::string &file)
      {
        mesh.parse_parameters(prm, file);
        AssertThrow(mesh.n_levels() == 1,
                    ExcMessage("Meshes follow from one another here: give one "
                               "mesh, Mesh/Levels = 1."));
        agglomeration.parse_parameters(prm, file);
        equation.parse_parameters(prm, mesh.dimension(), file);
        discretisation.parse_parameters(prm, mesh.dimension());
        solver.parse_parameters(prm);
        adaptation.parse_parameters(prm);
        checkpoint.parse_parameters(prm, file);
        output.parse_parameters(prm, file);
        AssertThrow(checkpoint.restart.empty() ||
                      discretisation.degrees().size() == 1,
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
        , problem(parameters.equation.create<dim>())
      {
        parameters.discretisation.configure(problem.form);
        symmetric =
          !problem.has_advection && parameters.discretisation.theta() == 1.;
      }

      void
      run()
      {
        for (const unsigned int degree : parameters.discretisation.degrees())
          run_degree(degree);
        write_results();
      }

    private:
      using VectorType = TrilinosWrappers::MPI::Vector;

      const Parameters      &parameters;
      const OutputInput     &output;
      const AdaptationInput &adaptation;
      Problem<dim>           problem;
      bool                   symmetric;
      bool                   said_backend = false;
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

      void
      run_degree(const unsigned int degree)
      {
        Mesh<dim>                                  mesh = create_mesh();
        unsigned int                               step = 0;
        std::unique_ptr<AgglomerationHandler<dim>> handler;
        std::unique_ptr<CheckpointReader<dim>>     reader;
        if (parameters.checkpoint.restart.empty())
          {
            check_memory(dim,
                         mesh.triangulation->n_global_active_cells() *
                           std::pow(2., dim * adaptation.initial_refinements),
                         true,
                         "Adaptation/Initial refinements = " +
                           std::to_string(adaptation.initial_refinements),
                         "lower Adaptation/Initial refinements");
            mesh.triangulation->refine_global(adaptation.initial_refinements);
            handler = agglomerate(mesh, degree);
          }
        else
          {
            reader = std::make_unique<CheckpointReader<dim>>(
              parameters.checkpoint.restart, MPI_COMM_WORLD);
            std::istringstream data(reader->user_data());
            std::string        program;
            unsigned int       old_degree = 0;
            data >> program >> old_degree >> step;
            AssertThrow(data && program == info.name &&
                          reader->n_solutions() == 1,
                        ExcMessage("The checkpoint '" +
                                   parameters.checkpoint.restart +
                                   "' was not written by this program."));
            AssertThrow(old_degree == degree,
                        ExcMessage(
                          "The checkpoint '" + parameters.checkpoint.restart +
                          "' is of degree " + std::to_string(old_degree) +
                          ", but "
                          "Discretisation/Degree is " +
                          std::to_string(degree) + "."));
            reader->load(*mesh.triangulation);
            handler =
              std::make_unique<AgglomerationHandler<dim>>(*mesh.triangulation,
                                                          mesh.mapping.get());
            reader->restore(*handler, parameters.checkpoint.split_cut);
            set_cell_values(mesh, *handler);
            output.print("Going on with step " + std::to_string(step) +
                         " from " + parameters.checkpoint.restart + ".");
          }
        const unsigned int first_step = step;
        const MPI_Comm     comm       = handler->get_communicator();
        VectorType         solution(handler->locally_owned_dofs(), comm);
        if (reader != nullptr)
          reader->read(*handler, solution);
        reader.reset();
        double    error_before = 0., unknowns_before = 0.;
        PlotCurve error_curve, estimate_curve;
        error_curve.label = "Degree " + std::to_string(degree) + ", error";
        estimate_curve.label =
          "Degree " + std::to_string(degree) + ", estimate";
        error_curve.group = estimate_curve.group =
          static_cast<int>(curves.size());
        error_curve.slope = -static_cast<double>(degree);

        for (;; ++step)
          {
            Timer timer;
            // ---- solve
            typename PolytopicAssembler<dim>::AdditionalData data;
            data.backend         = parameters.discretisation.backend();
            data.device_memory   = parameters.discretisation.device_memory();
            data.device          = parameters.discretisation.device();
            data.instruction_set = parameters.discretisation.instruction_set();
            data.penalty         = parameters.discretisation.penalty();
            PolytopicAssembler<dim>        assembler(*handler, data);
            TrilinosWrappers::SparseMatrix matrix;
            VectorType                     rhs;
            assembler.reinit(matrix, rhs);
            assembler.assemble(problem.form, matrix, rhs);
            if (!said_backend)
              {
                output.print_machine(
                  describe_execution(assembler.report(),
                                     parameters.solver.description()));
                for (const std::string &line :
                     describe_devices(assembler.report()))
                  output.print_machine(line);
              }
            said_backend = true;
            check_solvability(*handler, matrix);
            const MatrixSource<dim> source = {problem.form, data};
            const double guessed = relative_residual(matrix, solution, rhs);
            const SolverReport report = parameters.solver.solve(
              *handler, matrix, solution, rhs, symmetric, &source);
            const double solve_time = timer.wall_time();

            // ---- estimate
            timer.restart();
            const std::vector<double> sigma = assembler.penalty(problem.form);
            const unsigned int        extra_order =
              parameters.discretisation.extra_order();
            Vector<double> indicators;
            if (adaptation.residual)
              ErrorEstimator::residual(*handler,
                                       problem.form,
                                       sigma,
                                       solution,
                                       indicators,
                                       extra_order);
            else
              ErrorEstimator::jumps(*handler,
                                    problem.form,
                                    sigma,
                                    solution,
                                    indicators,
                                    extra_order);
            const double estimate =
              ErrorEstimator::global(*handler, indicators);
            const double estimate_time = timer.wall_time();

            const double unknowns = static_cast<double>(handler->n_dofs());
            const double x        = std::pow(unknowns, 1. / dim);
            table.start_row();
            table.add("level", std::uint64_t(step));
            table.add("degree", std::uint64_t(degree));
            table.add("cells",
                      std::uint64_t(
                        mesh.triangulation->n_global_active_cells()));
            table.add("polytopes",
                      std::uint64_t(handler->n_global_polytopes()));
            table.add("unknowns", std::uint64_t(handler->n_dofs()));
            table.add("iterations", std::uint64_t(report.n_iterations));
            table.add("first residual", guessed);
            std::ostringstream line;
            line << "  degree " << degree << ", step " << step << ": "
                 << handler->n_dofs() << " unknowns, estimate " << estimate;
            if (problem.exact_solution != nullptr)
              {
                const VectorTools::ErrorNorms errors =
                  VectorTools::compute_errors(*handler,
                                              problem.form,
                                              sigma,
                                              solution,
                                              *problem.exact_solution,
                                              extra_order);
                AssertThrow(std::isfinite(errors.dG),
                            ExcMessage("The error against Equation/Exact "
                                       "solution is not finite: the expression "
                                       "or its gradient is not finite "
                                       "somewhere in the domain."));
                table.add("L2 error", errors.L2);
                table.add("dG error", errors.dG);
                table.add("dG rate",
                          step == first_step
                            ? std::numeric_limits<double>::quiet_NaN()
                            : dim * std::log(error_before / errors.dG) /
                                std::log(unknowns / unknowns_before));
                error_before    = errors.dG;
                unknowns_before = unknowns;
                error_curve.x.push_back(x);
                error_curve.y.push_back(errors.dG);
                line << ", dG error " << errors.dG;
              }
            table.add("estimate", estimate);
            if (problem.exact_solution != nullptr)
              table.add("efficiency index", estimate / error_before);
            estimate_curve.x.push_back(x);
            estimate_curve.y.push_back(estimate);
            if (output.print_times())
              {
                table.add("solve seconds", solve_time);
                table.add("estimate seconds", estimate_time);
              }
            output.print(line.str());

            const bool last = step == adaptation.n_steps ||
                              handler->n_dofs() >= adaptation.max_unknowns;
            write_fields(*handler, solution, indicators, step, degree, last);
            if (parameters.checkpoint.interval > 0 &&
                (last || step % parameters.checkpoint.interval == 0))
              write_checkpoint(output.file("-p" + std::to_string(degree) +
                                           ".checkpoint"),
                               *mesh.triangulation,
                               *handler,
                               std::vector<const VectorType *>{&solution},
                               std::string(info.name) + " " +
                                 std::to_string(degree) + " " +
                                 std::to_string(step));
            if (last)
              break;

            // ---- mark, refine, transfer
            Triangulation<dim> &triangulation = *mesh.triangulation;
            if (adaptation.fixed_fraction)
              GridRefinement::refine_and_coarsen_fixed_fraction(
                triangulation,
                *handler,
                indicators,
                adaptation.top,
                adaptation.bottom);
            else
              GridRefinement::refine_and_coarsen_fixed_number(
                triangulation,
                *handler,
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
            transfer.prepare_for_coarsening_and_refinement(*handler, solution);
            triangulation.execute_coarsening_and_refinement();
            handler = agglomerate(mesh, degree);
            solution.reinit(handler->locally_owned_dofs(), comm);
            transfer.project(*handler, solution);
          }
        if (!error_curve.x.empty())
          curves.push_back(error_curve);
        curves.push_back(estimate_curve);
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

      /// Relative residual of the initial guess.
      static double
      relative_residual(const TrilinosWrappers::SparseMatrix &matrix,
                        const VectorType                     &guess,
                        const VectorType                     &rhs)
      {
        VectorType   residual(rhs);
        const double norm = rhs.l2_norm();
        return norm > 0. ? matrix.residual(residual, guess, rhs) / norm : 0.;
      }

      void
      write_fields(const AgglomerationHandler<dim> &handler,
                   const VectorType                &solution,
                   const Vector<double>            &indicators,
                   const unsigned int               step,
                   const unsigned int               degree,
                   const bool                       last) const
      {
        // It is not known in advance which step is the last one.
        if (!output.fields_of_level(last ? 0 : 1, last ? 1 : 3))
          return;
        const std::string run =
          "-" + std::to_string(step) + "-p" + std::to_string(degree);
        if (output.write_solution())
          {
            PolytopicDataOut<dim> data_out(handler);
            data_out.add_data_vector(solution, "solution");
            data_out.add_polytope_data(indicators, "indicator");
            data_out.build_patches();
            data_out.write_vtu_file(output.file(run + "-solution.vtu"));
          }
        if (output.write_polytopes())
          write_polytopes_vtu(handler, output.file(run + "-polytopes.vtu"));
        // The drawing needs the whole mesh on one process.
        if (output.write_svg() &&
            Utilities::MPI::n_mpi_processes(handler.get_communicator()) == 1)
          {
            MeshSvgFlags flags;
            flags.title = output.name() + ", step " + std::to_string(step) +
                          ": " + std::to_string(handler.n_polytopes()) +
                          " polytopes";
            flags.color_by_degree = parameters.discretisation.is_hp();
            flags.fine_cells = handler.polytopic_mesh().n_subcells() <= 20000;
            write_mesh_svg(handler, output.file(run + "-mesh.svg"), flags);
          }
      }

      void
      write_results() const
      {
        std::ostringstream text;
        table.print(text);
        output.print(text.str());
        const auto written = [&](const std::string &suffix) {
          output.print("Wrote " + output.file(suffix) + ".");
        };
        if (output.write_text())
          {
            write_file(output.file(".txt"),
                       [&](std::ostream &out) { table.print(out); });
            written(".txt");
          }
        if (output.write_csv())
          {
            write_file(output.file(".csv"),
                       [&](std::ostream &out) { table.write_csv(out); });
            written(".csv");
          }
        if (output.write_svg())
          {
            PlotFlags flags;
            flags.title            = output.name();
            flags.x_label          = dim == 2 ? "(number of unknowns)^(1/2)"
                                              : "(number of unknowns)^(1/3)";
            flags.y_label          = "dG error and estimate";
            const std::string file = output.file("-convergence.svg");
            on_all_processes(MPI_COMM_WORLD, [&]() {
              if (is_first_process())
                write_plot_svg(curves, file, flags);
            });
            written("-convergence.svg");
          }
      }
    };
  } // namespace Application
} // namespace Tessella

int
main(int argc, char **argv)
{
  using namespace Tessella::Application;

  return run_study<Study, Parameters>(argc, argv, info);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Convergence study: how do the errors of the polytopic dG method decrease
// under refinement? A study is defined by its parameter file alone; see
// parameter_files/.

#include <deal.II/base/timer.h>

#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/on_all_processes.h>
#include <tessella/numerics/vector_tools.h>

#include <string>

#include "common/distributed_mesh.h"
#include "common/program.h"
#include "common/solvability.h"
#include "common/stage_times.h"
#include "common/study_output.h"
#include "common/study_parameters.h"
#include "common/study_table.h"
#include "common/validation.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    const ProgramInfo info = {
      "convergence_study",
      "errors and rates of the polytopic dG method, from a parameter file",
      "Solves -div(a grad u) + b . grad u + c u = f by the interior penalty dG\n"
      "method on polytopes, which are groups of cells of a mesh, for a sequence\n"
      "of meshes and a list of polynomial degrees.\n\n"
      "It prints a table of errors (L2, broken H1, dG norm) with their rates,\n"
      "unknowns, non-zero entries and iterations, and one of the time of each\n"
      "stage. It writes to the folder Output/Directory\n"
      "  NAME.txt, .csv, .tex              the tables\n"
      "  NAME-convergence.svg              errors against unknowns\n"
      "  NAME-LEVEL-pDEGREE-solution.vtu   the solution on the fine cells\n"
      "  NAME-LEVEL-polytopes.vtu          the polytopes as polygons, polyhedra\n"
      "  NAME-LEVEL-mesh.svg               the polytopic mesh\n"
      "NAME is the name of the parameter file. Mistakes in the input end in one\n"
      "sentence and a non-zero exit status.\n\n"
      "On several MPI processes (mpirun) the mesh is distributed over them, see\n"
      "Mesh/Distribution; times are those of the slowest process, polytopes are\n"
      "written as NAME-LEVEL-polytopes.pvtu with a .vtu file for each process,\n"
      "and the drawing of the mesh is left out.\n",
      true};

    using Parameters = SolverStudyParameters<>;

    /// Loops over meshes outside and degrees inside, so that a mesh and its
    /// polytopes serve all degrees.
    template <int dim>
    class ConvergenceStudy
    {
    public:
      explicit ConvergenceStudy(const Parameters &parameters)
        : parameters(parameters)
        , problem(parameters.create_problem<dim>())
        , table(dim,
                parameters.discretisation.study_in_degree,
                problem.exact_solution != nullptr)
      {}

      void
      run()
      {
        for (unsigned int level = 0; level < parameters.mesh.n_levels();
             ++level)
          run_level(level);
        write_tables(parameters.output,
                     table,
                     problem.exact_solution != nullptr);
      }

    private:
      const Parameters &parameters;
      Problem<dim>      problem;
      StudyTable        table;

      void
      run_level(const unsigned int level)
      {
        StudyRow row;
        row.level = level;

        const AgglomeratedMesh<dim> agglomerated =
          parameters.create_mesh<dim>(level);
        const Mesh<dim>          &mesh          = agglomerated.mesh;
        const Triangulation<dim> &triangulation = *mesh.triangulation;
        row.n_cells               = triangulation.n_global_active_cells();
        row.times[StudyRow::mesh] = agglomerated.mesh_seconds;
        row.times[StudyRow::agglomeration] = agglomerated.agglomeration_seconds;
        // A condition for an id that the mesh does not have is a mistake.
        check_boundary_ids(triangulation,
                           problem.boundary_ids,
                           "A boundary condition is given for");
        parameters.output.print("Level " + std::to_string(level) + ": " +
                                agglomerated.description + ".");

        Timer                     timer;
        AgglomerationHandler<dim> handler(triangulation, mesh.mapping.get());
        handler.agglomerate(agglomerated.strategy);
        row.times[StudyRow::handler] = lap(timer);
        row.n_polytopes              = handler.n_global_polytopes();
        on_all_processes(MPI_COMM_WORLD, [&]() {
          parameters.equation.set_cell_values(problem, mesh, handler);
        });

        // The polytopes are drawn once. If degrees vary between polytopes, the
        // drawing shows those of the last run.
        const auto        &degrees = parameters.discretisation.degrees;
        const unsigned int drawn =
          parameters.discretisation.is_hp() ? degrees.size() - 1 : 0;
        for (unsigned int i = 0; i < degrees.size(); ++i)
          {
            const ProgressPart part(part_of_study(
              dim, parameters.mesh.n_levels(), degrees, level, i));
            run_degree(handler, degrees[i], row, i == drawn);
          }
      }

      void
      run_degree(AgglomerationHandler<dim> &handler,
                 const unsigned int         degree,
                 StudyRow                   row,
                 const bool                 draw_polytopes)
      {
        Timer timer;
        parameters.discretisation.distribute_dofs(handler, degree);
        row.degree = degree;
        row.n_dofs = handler.n_dofs();
        row.times[StudyRow::handler] += lap(timer);
        if (validated(handler,
                      row.level,
                      degree,
                      parameters.solver.memory(handler, problem.symmetric)))
          return;

        const auto data = parameters.discretisation.assembler_data<dim>();
        PolytopicAssembler<dim>        assembler(handler, data);
        TrilinosWrappers::SparseMatrix matrix;
        TrilinosWrappers::MPI::Vector  rhs, solution;
        assembler.reinit(matrix, rhs);
        row.times[StudyRow::structure] = lap(timer);
        row.n_nonzero                  = matrix.n_nonzero_elements();

        assembler.assemble(problem.form, matrix, rhs);
        row.times[StudyRow::assembly] = lap(timer);
        if (table.empty())
          print_execution(parameters.output,
                          assembler.report(),
                          parameters.solver.description());

        timer.restart();
        solution.reinit(rhs);
        check_solvability(handler, matrix);
        const MatrixSource<dim> source = {problem.form, data};
        const SolverReport      report = parameters.solver.solve(
          handler, matrix, solution, rhs, problem.symmetric, &source);
        row.n_iterations           = report.n_iterations;
        row.times[StudyRow::solve] = lap(timer);

        if (problem.exact_solution != nullptr)
          set_errors(
            row,
            VectorTools::compute_errors(handler,
                                        problem.form,
                                        assembler.penalty(problem.form),
                                        solution,
                                        *problem.exact_solution,
                                        parameters.discretisation.extra_order));
        row.times[StudyRow::errors] = lap(timer);

        if (parameters.output.fields_of_level(row.level,
                                              parameters.mesh.n_levels()))
          write_fields(parameters.output,
                       handler,
                       solution,
                       files_of_row(row,
                                    draw_polytopes,
                                    parameters.discretisation.is_hp()));
        row.times[StudyRow::output] = lap(timer);
        for (double &time : row.times)
          time = Utilities::MPI::max(time, MPI_COMM_WORLD);

        table.add(row);
        parameters.output.print("  " + table.describe(row));
      }
    };

    MainFunction *const main_function = run_study<ConvergenceStudy, Parameters>;
  } // namespace Application
} // namespace Tessella

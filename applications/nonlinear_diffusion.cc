// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Example of a nonlinear problem whose coefficients depend on the solution. It
// is quasilinear diffusion,
//
//   -div(a(x, u) grad u) = f,
//
// solved in a loop as usual in deal.II programs: a form takes the iterate as a
// DiscreteField, PolytopicAssembler fills the same matrix in every step, on a
// CUDA device or on the host, and a solver of the program computes the update.
//
// In each step, let r(u) = b - A(u) u be the residual, where A(u) and b are the
// matrix and the vector of the interior penalty method for a known u and its
// coefficient a(x, u(x)), see class QuasilinearForm. Solve M du = r(u) and set
// u <- u + lambda du:
//   - Picard's iteration has M = A(u). It improves the first iterates reliably
//     and converges linearly.
//   - Newton's method has M = -r'(u), which consists of A(u) and of the terms
//     with a'(u) on polytopes and facets. It converges quadratically near the
//     solution, as the last column of the table shows. Steps are halved as
//     long as the residual does not decrease.
// In both cases the residual is computed with an assembled matrix A(u), which
// is also the matrix of the next Picard step. b is assembled once.

#include <deal.II/base/exceptions.h>
#include <deal.II/base/timer.h>

#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/error_message.h>
#include <tessella/forms/discrete_field.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/values/polytope_values.h>

#include <cmath>
#include <iomanip>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "common/program.h"
#include "common/solvability.h"
#include "common/stage_times.h"
#include "common/study_output.h"
#include "common/study_parameters.h"
#include "common/study_table.h"
#include "common/text_table.h"
#include "common/validation.h"
#include "nonlinear_diffusion/quasilinear_form.h"
#include "nonlinear_diffusion/quasilinear_input.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    const ProgramInfo info = {
      "nonlinear_diffusion",
      "-div(a(x, u) grad u) = f on polytopes, by Picard's or Newton's iteration",
      "Solves -div(a(x, u) grad u) = f by the interior penalty dG method on\n"
      "polytopes, for a sequence of meshes and a list of polynomial degrees. The\n"
      "diffusion is an expression of the coordinates and of u in the parameter\n"
      "file; in every step the iterate is given to the form as a discrete field,\n"
      "and the matrix is assembled again, where Execution/Backend says: on a CUDA\n"
      "device a(x, u), its derivative and the iterate are evaluated there, too,\n"
      "if NVRTC is found, and by the host's threads if not; the program says\n"
      "which it was.\n\n"
      "It prints for every step the residual over that of the right-hand side,\n"
      "the size of the update over that of the solution, the part of the update\n"
      "that was taken and the observed order log(r2/r1) / log(r1/r0): 1 for\n"
      "Picard's, 2 for Newton's iteration. Then come the errors with their rates\n"
      "as of convergence_study, where iterations are steps. It writes to the\n"
      "folder Output/Directory\n"
      "  NAME-iterations.csv               the steps\n"
      "  NAME.txt, .csv, .tex              the tables of errors\n"
      "  NAME-convergence.svg              errors against unknowns\n"
      "  NAME-LEVEL-pDEGREE-solution.vtu   the solution on the fine cells\n"
      "  NAME-LEVEL-polytopes.vtu          the polytopes as polygons, polyhedra\n"
      "  NAME-LEVEL-mesh.svg               the polytopic mesh\n"
      "NAME is the name of the parameter file. An iteration that does not\n"
      "converge, as other mistakes in the input, ends in one sentence and a\n"
      "non-zero exit status.\n"};

    using Parameters = SolverStudyParameters<QuasilinearInput>;



    /// The iteration on one mesh with one degree. Matrices and vectors are
    /// created once; every step fills them again.
    template <int dim>
    class NonlinearSolver
    {
    public:
      using Form   = QuasilinearForm<dim>;
      using Vector = TrilinosWrappers::MPI::Vector;

      NonlinearSolver(const Parameters                &parameters,
                      const QuasilinearProblem<dim>   &problem,
                      const AgglomerationHandler<dim> &handler,
                      const unsigned int               coefficient_order)
        : parameters(parameters)
        , problem(problem)
        , iteration(parameters.equation.iteration)
        , handler(handler)
        , assembler(handler, parameters.discretisation.assembler_data<dim>())
        , current(handler, solution)
        , trial(handler, candidate)
        , theta(parameters.discretisation.theta)
        // The forms refer to the vectors and use the values that these have
        // when an assembly begins.
        , picard(problem, current, Form::picard, theta, coefficient_order)
        , newton(problem, current, Form::newton, theta, coefficient_order)
        , picard_at_trial(
            problem, trial, Form::picard, theta, coefficient_order)
      {
        const Timer timer;
        assembler.reinit(matrix, rhs);
        if (iteration.method == "newton")
          assembler.reinit(jacobian);
        for (Vector *vector : {&solution, &candidate, &update, &residual})
          vector->reinit(rhs);
        structure_time = timer.wall_time();
      }

      /// Iterates from the present solution; adds a row for every step.
      void
      solve(TextTable &table, const StudyRow &row)
      {
        Timer timer;
        assembler.assemble(picard, matrix, rhs);
        double norm = compute_residual(solution);
        assembly_time += timer.wall_time();
        AssertThrow(std::isfinite(norm),
                    ExcMessage("The residual of Equation/Initial guess is not "
                               "finite."));
        check_diffusion();
        check_solvability(handler,
                          matrix,
                          "the constant",
                          "Leave a boundary id out of Boundary "
                          "conditions/Neumann boundary ids where "
                          "Equation/Diffusion of the given value of u is "
                          "positive.");
        // If both norms are zero, the initial guess is the solution.
        const double scale = rhs.l2_norm() > 0. ? rhs.l2_norm()
                             : norm > 0.        ? norm
                                                : 1.;
        add_row(table, row, 0, "", norm / scale, nan, nan, nan);

        const double first    = norm;
        double       previous = nan; // residual before the last step
        n_steps               = 0;
        while (norm > iteration.tolerance * scale)
          {
            ++n_steps;
            const bool is_newton = iteration.method == "newton" &&
                                   n_steps > iteration.n_picard_steps;
            const std::string method = is_newton ? "Newton" : "Picard";
            AssertThrow(n_steps <= iteration.max_iterations,
                        ExcMessage(
                          not_converged(norm / scale) +
                          " Raise Iteration/Maximum iterations" +
                          (iteration.method == "newton"
                             ? "."
                             : ", or use Iteration/Method = newton.")));
            compute_update(is_newton);

            const double lambda =
              is_newton ? search(norm) : take(iteration.damping);
            const double new_norm = residual.l2_norm();
            AssertThrow(std::isfinite(new_norm) && new_norm < 1e6 * first,
                        ExcMessage(
                          not_converged(new_norm / scale) +
                          " The iteration diverges: lower Iteration/Damping, "
                          "use Iteration/Method = newton, or begin with a "
                          "better Equation/Initial guess."));
            solution.swap(candidate);
            check_diffusion();

            // The order is meaningless for the first step, and where only
            // rounding errors are left.
            const double order =
              std::isfinite(previous) && new_norm > 1e-10 * scale
                ? std::log(new_norm / norm) / std::log(norm / previous)
                : nan;
            previous = norm;
            norm     = new_norm;
            add_row(table,
                    row,
                    n_steps,
                    method,
                    norm / scale,
                    lambda * update.l2_norm() / solution.l2_norm(),
                    lambda,
                    order);
          }
      }

      const Parameters                &parameters;
      const QuasilinearProblem<dim>   &problem;
      const IterationParameters       &iteration;
      const AgglomerationHandler<dim> &handler;
      PolytopicAssembler<dim>          assembler;
      TrilinosWrappers::SparseMatrix   matrix, jacobian;
      Vector       rhs, solution, candidate, update, residual;
      unsigned int n_steps        = 0;
      double       structure_time = 0., assembly_time = 0., solver_time = 0.;

    private:
      static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

      // If a(x, u) vanishes on a polytope and on its boundary, its rows of the
      // matrix vanish, and the residual does not measure the error there.
      // Throws in this case.
      void
      check_diffusion() const
      {
        const auto         &offset = handler.polytopic_dofs().dof_offset;
        PolytopeValues<dim> values(handler,
                                   0,
                                   update_values | update_quadrature_points);
        std::vector<double> u;
        for (const auto &polytope : handler.polytope_iterators())
          {
            const unsigned int k         = polytope.index();
            bool               vanishing = true;
            for (auto i = offset[k]; vanishing && i < offset[k + 1]; ++i)
              vanishing = matrix.diag_element(i) == 0.;
            if (!vanishing)
              continue;
            values.reinit(polytope);
            values.get_function_values(solution, u);
            const Point<dim>  where     = values.quadrature_point(0);
            const Expression &diffusion = problem.diffusion.text();
            AssertThrow(false,
                        ExcMessage(
                          diffusion.name() + " = " + diffusion.text() +
                          " is zero at the point (" +
                          point_text(&where[0], dim) + "), where u is " +
                          short_text(u[0]) +
                          ", and all around it, where the equation then does "
                          "not determine u. Change the expression, or begin "
                          "with another Equation/Initial guess."));
          }
      }

      // Residual with the matrix and the vector that were assembled last.
      double
      compute_residual(const Vector &u)
      {
        matrix.residual(residual, u, rhs);
        return residual.l2_norm();
      }

      // Solves M du = r.
      void
      compute_update(const bool is_newton)
      {
        Timer timer;
        if (is_newton)
          assembler.assemble_matrix(newton, jacobian);
        assembly_time += lap(timer);
        update = 0.;
        try
          {
            parameters.solver.solve(handler,
                                    is_newton ? jacobian : matrix,
                                    update,
                                    residual,
                                    !is_newton && theta == 1.);
          }
        catch (const ExceptionBase &exception)
          {
            AssertThrow(false,
                        ExcMessage(
                          "In step " + std::to_string(n_steps) +
                          " of the iteration: " + error_message(exception)));
          }
        solver_time += timer.wall_time();
      }

      // Computes the candidate for step length @p lambda, its matrix and its
      // residual; returns @p lambda.
      double
      take(const double lambda)
      {
        const Timer timer;
        candidate = solution;
        candidate.add(lambda, update);
        assembler.assemble_matrix(picard_at_trial, matrix);
        compute_residual(candidate);
        assembly_time += timer.wall_time();
        return lambda;
      }

      // Tries the step lengths 1, 1/2, 1/4, ... and returns the first one that
      // decreases the residual (R. S. Dembo, S. C. Eisenstat, T. Steihaug, SIAM
      // J. Numer. Anal. 19, 1982). A step is also too long if the diffusion is
      // not defined for the candidate.
      double
      search(const double norm)
      {
        double      lambda = 1.;
        std::string reason;
        for (unsigned int i = 0; i <= iteration.n_halvings; ++i, lambda *= 0.5)
          {
            try
              {
                take(lambda);
                if (residual.l2_norm() <= (1. - 1e-4 * lambda) * norm)
                  return lambda;
                reason = "";
              }
            catch (const ExcBadDiffusion &exception)
              {
                reason = " " + error_message(exception);
              }
          }
        AssertThrow(false,
                    ExcMessage(
                      "Newton's method found no step that makes the residual "
                      "fall, in step " +
                      std::to_string(n_steps) + " after " +
                      std::to_string(iteration.n_halvings) +
                      " halvings: raise Iteration/Step halvings or "
                      "Iteration/Picard steps, or begin with a better "
                      "Equation/Initial guess." +
                      reason));
        return 0.;
      }

      std::string
      not_converged(const double relative) const
      {
        std::ostringstream text;
        text << "The iteration has not converged after " << n_steps - 1
             << " steps: the relative residual is " << std::setprecision(3)
             << relative << ", Iteration/Tolerance " << iteration.tolerance
             << ".";
        return text.str();
      }

      void
      add_row(TextTable         &table,
              const StudyRow    &row,
              const unsigned int step,
              const std::string &method,
              const double       relative,
              const double       size,
              const double       lambda,
              const double       order) const
      {
        table.start_row(row.level, row.degree);
        table.add("step", std::uint64_t(step));
        table.add("method", method);
        table.add_scientific("residual", relative);
        table.add_scientific("update", size);
        table.add("part", lambda);
        table.add("order", order);
      }

      const DiscreteField<dim> current, trial;
      const double             theta;
      const Form               picard, newton, picard_at_trial;
    };



    template <int dim>
    class NonlinearStudy
    {
    public:
      explicit NonlinearStudy(const Parameters &parameters)
        : parameters(parameters)
        , problem(parameters.equation.create<dim>())
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
        const OutputInput &output = parameters.output;
        std::ostringstream text;
        steps.print(text);
        screen() << std::endl << text.str();
        output.write_csv_file("-iterations.csv", steps);
        write_tables(output, table, problem.exact_solution != nullptr);
      }

    private:
      const Parameters             &parameters;
      const QuasilinearProblem<dim> problem;
      StudyTable                    table;
      TextTable                     steps;

      void
      run_level(const unsigned int level)
      {
        StudyRow row;
        row.level = level;
        Timer           timer;
        const Mesh<dim> mesh      = parameters.mesh.create<dim>(level);
        row.n_cells               = mesh.triangulation->n_active_cells();
        row.times[StudyRow::mesh] = lap(timer);
        // A condition for an id that the mesh does not have is a mistake.
        check_boundary_ids(*mesh.triangulation,
                           problem.neumann_ids,
                           "Boundary conditions/Neumann boundary ids has");

        const std::vector<unsigned int> ids =
          parameters.agglomeration.create(mesh);
        row.times[StudyRow::agglomeration] = lap(timer);
        parameters.output.print(
          "Level " + std::to_string(level) + ": " + mesh.description + " in " +
          AgglomerationInput::describe(
            Agglomeration::statistics<dim>(*mesh.triangulation, ids)) +
          ".");

        timer.restart();
        AgglomerationHandler<dim> handler(*mesh.triangulation,
                                          mesh.mapping.get());
        handler.agglomerate(Agglomeration::by_id<dim>(ids));
        row.times[StudyRow::handler] = timer.wall_time();
        row.n_polytopes              = handler.n_polytopes();

        const auto &degrees = parameters.discretisation.degrees;
        for (unsigned int i = 0; i < degrees.size(); ++i)
          {
            const ProgressPart part(part_of_study(
              dim, parameters.mesh.n_levels(), degrees, level, i));
            run_degree(handler,
                       degrees[i],
                       row,
                       i == (parameters.discretisation.is_hp()
                               ? degrees.size() - 1
                               : 0));
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
        row.times[StudyRow::handler] += timer.wall_time();
        if (validated(handler,
                      row.level,
                      degree,
                      parameters.solver.memory(handler, false)))
          return;

        // a(x, u) need not be a polynomial. The coefficient order 2 p, the
        // degree of u^2, keeps the quadrature error at the level of the
        // discretisation error.
        const int order = parameters.discretisation.coefficient_order;
        NonlinearSolver<dim> solver(parameters,
                                    problem,
                                    handler,
                                    order >= 0 ? order
                                               : 2 * handler.max_degree());
        if (problem.initial_guess != nullptr)
          VectorTools::project(handler,
                               *problem.initial_guess,
                               solver.solution);
        solver.solve(steps, row);
        if (table.empty())
          print_execution(parameters.output,
                          solver.assembler.report(),
                          parameters.solver.description());
        row.n_nonzero                  = solver.matrix.n_nonzero_elements();
        row.n_iterations               = solver.n_steps;
        row.times[StudyRow::structure] = solver.structure_time;
        row.times[StudyRow::assembly]  = solver.assembly_time;
        row.times[StudyRow::solve]     = solver.solver_time;

        timer.restart();
        if (problem.exact_solution != nullptr)
          {
            // The dG norm uses a(x, u) of the discrete solution.
            const DiscreteField<dim>   u(handler, solver.solution);
            const QuasilinearForm<dim> form(problem,
                                            u,
                                            QuasilinearForm<dim>::picard,
                                            parameters.discretisation.theta,
                                            0);
            set_errors(row,
                       VectorTools::compute_errors(
                         handler,
                         form,
                         solver.assembler.penalty(form),
                         solver.solution,
                         *problem.exact_solution,
                         parameters.discretisation.extra_order));
          }
        row.times[StudyRow::errors] = lap(timer);

        if (parameters.output.fields_of_level(row.level,
                                              parameters.mesh.n_levels()))
          write_fields(parameters.output,
                       handler,
                       solver.solution,
                       files_of_row(row,
                                    draw_polytopes,
                                    parameters.discretisation.is_hp()));
        row.times[StudyRow::output] = timer.wall_time();
        table.add(row);
        parameters.output.print("  " + table.describe(row));
      }
    };

    MainFunction *const main_function = run_study<NonlinearStudy, Parameters>;
  } // namespace Application
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Example of coefficients that a functor evaluates on a device. The functor is
// in anisotropic_diffusion/field.cu; this file is the same as it would be
// without a functor.

#include <deal.II/base/function.h>
#include <deal.II/base/timer.h>

#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/numerics/vector_tools.h>

#include <memory>
#include <string>

#include "anisotropic_diffusion/field.h"
#include "common/linear_solver.h"
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
      "anisotropic_diffusion",
      "coefficients as a functor that the device evaluates",
      "Solves -div((epsilon I + w w^T) grad u) = f with w = (-y, x, 0), diffusion\n"
      "along circles and weakly across them, for a known u. The coefficients are\n"
      "a functor in a .cu file: evaluated on the device if it assembles, else by\n"
      "the host's threads; the program says which. It prints errors and rates,\n"
      "and writes NAME.txt and NAME.csv to Output/Directory.\n"};

    template <int dim>
    class ExactSolution : public Function<dim>
    {
    public:
      double
      value(const Point<dim> &x, const unsigned int) const override
      {
        double u = 1.;
        for (int d = 0; d < dim; ++d)
          u *= std::sin(numbers::PI * x[d]);
        return u;
      }

      Tensor<1, dim>
      gradient(const Point<dim> &x, const unsigned int) const override
      {
        Tensor<1, dim> result;
        for (int d = 0; d < dim; ++d)
          {
            result[d] = numbers::PI;
            for (int e = 0; e < dim; ++e)
              result[d] *= d == e ? std::cos(numbers::PI * x[e])
                                  : std::sin(numbers::PI * x[e]);
          }
        return result;
      }
    };

    struct Parameters : MeshParameters
    {
      DiscretisationInput discretisation;
      LinearSolver        solver;
      OutputInput         output;
      double              epsilon = 1.;

      void
      declare(ParameterHandler &prm)
      {
        MeshParameters::declare(prm);
        discretisation.declare_parameters(prm);
        solver.declare_parameters(prm);
        output.declare_parameters(prm);
        prm.enter_subsection("Equation");
        prm.declare_entry("Epsilon",
                          "1e-2",
                          Patterns::Double(0.),
                          "Diffusion across the circles.");
        prm.leave_subsection();
      }

      void
      parse(ParameterHandler &prm, const std::string &file)
      {
        MeshParameters::parse(prm, file);
        discretisation.parse_parameters(prm, mesh.dimension());
        solver.parse_parameters();
        output.parse_parameters(file);
        prm.enter_subsection("Equation");
        epsilon = prm.get_double("Epsilon");
        prm.leave_subsection();
      }
    };

    template <int dim>
    class Study
    {
    public:
      explicit Study(const Parameters &parameters)
        : parameters(parameters)
        , discretisation(parameters.discretisation)
        , form(make_anisotropic_diffusion<dim>(
            parameters.epsilon,
            discretisation.theta,
            discretisation.coefficient_order < 0
              ? 2
              : discretisation.coefficient_order))
        , table(dim, discretisation.study_in_degree, true)
      {}

      void
      run()
      {
        for (unsigned int level = 0; level < parameters.mesh.n_levels();
             ++level)
          run_level(level);
        table.print(screen(), parameters.output.print_times);
        parameters.output.write_table(table);
      }

    private:
      const Parameters                &parameters;
      const DiscretisationInput       &discretisation;
      const std::unique_ptr<Form<dim>> form;
      StudyTable                       table;

      void
      run_level(const unsigned int level)
      {
        Timer           timer;
        StudyRow        row;
        const Mesh<dim> mesh      = parameters.mesh.create<dim>(level);
        row.level                 = level;
        row.n_cells               = mesh.triangulation->n_active_cells();
        row.times[StudyRow::mesh] = lap(timer);
        AgglomerationHandler<dim> handler(*mesh.triangulation,
                                          mesh.mapping.get());
        handler.agglomerate(
          Agglomeration::by_id<dim>(parameters.agglomeration.create(mesh)));
        row.n_polytopes                    = handler.n_polytopes();
        row.times[StudyRow::agglomeration] = lap(timer);
        for (const unsigned int degree : discretisation.degrees)
          run_degree(handler, degree, row);
      }

      void
      run_degree(AgglomerationHandler<dim> &handler,
                 const unsigned int         degree,
                 StudyRow                   row)
      {
        Timer timer;
        discretisation.distribute_dofs(handler, degree);
        row.degree                   = degree;
        row.n_dofs                   = handler.n_dofs();
        row.times[StudyRow::handler] = lap(timer);
        const bool symmetric         = discretisation.theta == 1.;
        if (validated(handler,
                      row.level,
                      degree,
                      parameters.solver.memory(handler, symmetric)))
          return;

        PolytopicAssembler<dim>        assembler(handler,
                                          discretisation.assembler_data<dim>());
        TrilinosWrappers::SparseMatrix matrix;
        TrilinosWrappers::MPI::Vector  rhs, solution;
        assembler.reinit(matrix, rhs);
        row.n_nonzero                  = matrix.n_nonzero_elements();
        row.times[StudyRow::structure] = lap(timer);
        assembler.assemble(*form, matrix, rhs);
        row.times[StudyRow::assembly] = lap(timer);
        if (table.empty())
          parameters.output.print_machine(
            "Backend " + name(assembler.report().backend) +
            "; coefficients: " + assembler.report().coefficients + ".");

        timer.restart();
        solution.reinit(rhs);
        check_solvability(handler,
                          matrix,
                          "the constant",
                          "Leave a pair of boundaries out of "
                          "Mesh/Periodic boundaries.");
        row.n_iterations =
          parameters.solver.solve(handler, matrix, solution, rhs, symmetric)
            .n_iterations;
        row.times[StudyRow::solve] = lap(timer);
        set_errors(row,
                   VectorTools::compute_errors(handler,
                                               *form,
                                               assembler.penalty(*form),
                                               solution,
                                               ExactSolution<dim>(),
                                               discretisation.extra_order));
        row.times[StudyRow::errors] = lap(timer);
        table.add(row);
        parameters.output.print("  " + table.describe(row));
      }
    };

    MainFunction *const main_function = run_study<Study, Parameters>;
  } // namespace Application
} // namespace Tessella

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

#include <iostream>
#include <memory>
#include <string>

#include "anisotropic_diffusion/field.h"
#include "common/agglomeration_input.h"
#include "common/discretisation_input.h"
#include "common/linear_solver.h"
#include "common/mesh_input.h"
#include "common/program.h"
#include "common/solvability.h"
#include "common/study_table.h"

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

    struct Parameters
    {
      MeshInput           mesh;
      AgglomerationInput  agglomeration;
      DiscretisationInput discretisation;
      LinearSolver        solver;
      OutputInput         output;
      double              epsilon = 1.;

      void
      declare(ParameterHandler &prm)
      {
        mesh.declare_parameters(prm);
        agglomeration.declare_parameters(prm);
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
        mesh.parse_parameters(prm, file);
        agglomeration.parse_parameters(prm, file);
        discretisation.parse_parameters(prm, mesh.dimension());
        solver.parse_parameters(prm);
        output.parse_parameters(prm, file);
        prm.enter_subsection("Equation");
        epsilon = prm.get_double("Epsilon");
        prm.leave_subsection();
      }
    };

    template <int dim>
    void
    run(const Parameters &parameters)
    {
      const DiscretisationInput &discretisation = parameters.discretisation;
      const int                  order = discretisation.coefficient_order();
      const std::unique_ptr<Form<dim>> form =
        make_anisotropic_diffusion<dim>(parameters.epsilon,
                                        discretisation.theta(),
                                        order < 0 ? 2 : order);
      const bool symmetric = discretisation.theta() == 1.;

      StudyTable table(dim, discretisation.study_in_degree(), true);
      bool       said = false;
      for (unsigned int level = 0; level < parameters.mesh.n_levels(); ++level)
        {
          Timer      timer;
          StudyRow   row;
          const auto seconds = [&timer]() {
            const double result = timer.wall_time();
            timer.restart();
            return result;
          };
          const Mesh<dim> mesh      = parameters.mesh.create<dim>(level);
          row.level                 = level;
          row.n_cells               = mesh.triangulation->n_active_cells();
          row.times[StudyRow::mesh] = seconds();
          AgglomerationHandler<dim> handler(*mesh.triangulation,
                                            mesh.mapping.get());
          handler.agglomerate(
            Agglomeration::by_id<dim>(parameters.agglomeration.create(mesh)));
          row.n_polytopes                    = handler.n_polytopes();
          row.times[StudyRow::agglomeration] = seconds();
          for (const unsigned int degree : discretisation.degrees())
            {
              timer.restart();
              discretisation.distribute_dofs(handler, degree);
              row.degree                   = degree;
              row.n_dofs                   = handler.n_dofs();
              row.times[StudyRow::handler] = seconds();

              typename PolytopicAssembler<dim>::AdditionalData data;
              data.backend         = discretisation.backend();
              data.device_memory   = discretisation.device_memory();
              data.instruction_set = discretisation.instruction_set();
              data.penalty         = discretisation.penalty();
              PolytopicAssembler<dim>        assembler(handler, data);
              TrilinosWrappers::SparseMatrix matrix;
              TrilinosWrappers::MPI::Vector  rhs, solution;
              assembler.reinit(matrix, rhs);
              row.n_nonzero                  = matrix.n_nonzero_elements();
              row.times[StudyRow::structure] = seconds();
              assembler.assemble(*form, matrix, rhs);
              row.times[StudyRow::assembly] = seconds();
              if (!said)
                parameters.output.print_machine(
                  "Backend " + name(assembler.report().backend) +
                  "; coefficients: " + assembler.report().coefficients + ".");
              said = true;

              timer.restart();
              solution.reinit(rhs);
              check_solvability(handler,
                                matrix,
                                "the constant",
                                "Leave a pair of boundaries out of "
                                "Mesh/Periodic boundaries.");
              row.n_iterations =
                parameters.solver
                  .solve(handler, matrix, solution, rhs, symmetric)
                  .n_iterations;
              row.times[StudyRow::solve] = seconds();
              const VectorTools::ErrorNorms errors =
                VectorTools::compute_errors(handler,
                                            *form,
                                            assembler.penalty(*form),
                                            solution,
                                            ExactSolution<dim>(),
                                            discretisation.extra_order());
              row.error[StudyRow::L2]     = errors.L2;
              row.error[StudyRow::H1]     = errors.H1_seminorm;
              row.error[StudyRow::dG]     = errors.dG;
              row.times[StudyRow::errors] = seconds();
              table.add(row);
              parameters.output.print("  " + table.describe(row));
            }
        }
      table.print(std::cout, parameters.output.print_times());
      if (parameters.output.write_text())
        write_file(parameters.output.file(".txt"),
                   [&](std::ostream &out) { table.print(out, true); });
      if (parameters.output.write_csv())
        write_file(parameters.output.file(".csv"),
                   [&](std::ostream &out) { table.write_csv(out); });
    }
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
        run<2>(parameters);
      else
        run<3>(parameters);
    });
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Example of pointwise operators: hyperbolic conservation laws
//
//   u_t + div f(u) = 0
//
// by the dG method on polytopes and explicit or implicit time integrators. The
// fluxes of an equation, about a dozen lines in conservation_law/equations.h,
// are all that differs between linear advection, Burgers' equation and shallow
// water:
//   - PointwiseOperator makes the residual R(u) of the dG method from them.
//   - The mass matrix M consists of one block per polytope, whose factors are
//     computed once; u' = -M^{-1} R(u) is a system of ordinary differential
//     equations.
//   - The classes of tessella/time_stepping integrate it: explicit Runge-Kutta
//     methods, or SDIRK and BDF methods with Newton's method, whose Jacobian
//     follows from the same fluxes, and GMRES with LU-SGS. The size of the
//     steps follows from the wave speeds on the polytopes.
//   - PolytopewiseOperator applies limiters, where solutions have shocks.

#include <deal.II/base/exceptions.h>
#include <deal.II/base/timer.h>

#include <tessella/numerics/data_out.h>
#include <tessella/numerics/svg.h>
#include <tessella/numerics/vector_tools.h>

#include <cmath>
#include <cstdint>
#include <string>
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
#include "conservation_law/conservation_input.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    const ProgramInfo info = {
      "conservation_law",
      "u_t + div f(u) = 0 on polytopes: advection, Burgers, any flux",
      "Solves a hyperbolic conservation law by the dG method on polytopes with\n"
      "local Lax-Friedrichs flux and explicit or implicit time integrators, for\n"
      "a sequence of meshes and a list of polynomial degrees.\n"
      "Section Equation of the parameter file chooses linear advection, Burgers'\n"
      "equation or shallow water, or gives the flux of another equation as text;\n"
      "section Limiter limits slopes and keeps values in bounds.\n\n"
      "It prints a table of errors at the final time (L2, L1) with their rates,\n"
      "the number of steps, and the drift: the change of the integrals of the\n"
      "unknowns that the flux through the boundary does not account for. It\n"
      "writes to the folder Output/Directory\n"
      "  NAME.txt, .csv                    the tables\n"
      "  NAME-convergence.svg              errors against unknowns\n"
      "  NAME-LEVEL-pDEGREE.checkpoint     to go on from (Time/Restart from)\n"
      "  NAME-LEVEL-pDEGREE-solution.vtu   the solution at the final time\n"
      "  NAME-LEVEL-polytopes.vtu          the polytopes as polygons, polyhedra\n"
      "  NAME-LEVEL-mesh.svg               the polytopic mesh (one process)\n"
      "NAME is the name of the parameter file. Mistakes in the input end in one\n"
      "sentence and a non-zero exit status.\n\n"
      "On several MPI processes (mpirun) the mesh is distributed over them, see\n"
      "Mesh/Distribution; the result is the same for the same polytopes.\n\n"
      "Discretisation/Coefficient order = -1 stands for 1 for advection and for\n"
      "the degree p otherwise; variant and penalty do not matter.\n",
      true};

    struct Parameters : MeshParameters
    {
      ConservationInput   equation;
      DiscretisationInput discretisation;
      OutputInput         output;

      void
      declare(ParameterHandler &prm)
      {
        MeshParameters::declare(prm);
        equation.declare_parameters(prm);
        discretisation.declare_parameters(prm);
        output.declare_parameters(prm);
      }

      void
      parse(ParameterHandler &prm, const std::string &file)
      {
        MeshParameters::parse(prm, file);
        equation.parse_parameters(prm, mesh.dimension());
        discretisation.parse_parameters(prm, mesh.dimension());
        output.parse_parameters(file);
        find_restart(mesh, discretisation, file, equation.time.restart);
      }
    };



    template <int dim>
    class ConservationStudy
    {
    public:
      explicit ConservationStudy(const Parameters &parameters)
        : parameters(parameters)
        , problem(parameters.equation.create<dim>())
        , table(dim,
                parameters.discretisation.study_in_degree,
                problem.exact != nullptr ? std::vector<std::string>{"L2", "L1"}
                                         : std::vector<std::string>(),
                parameters.output.print_times)
      {}

      void
      run()
      {
        for (unsigned int level = 0; level < parameters.mesh.n_levels();
             ++level)
          run_level(level);
        write_study(parameters.output, table, problem.exact != nullptr);
      }

    private:
      const Parameters                 &parameters;
      const ConservationLawProblem<dim> problem;
      ConservationTable                 table;

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
        // A condition for an id that the mesh does not have is a mistake.
        check_boundary_ids(triangulation,
                           problem.boundary->ids(),
                           "A boundary condition is given for");
        parameters.output.print("Level " + std::to_string(level) + ": " +
                                agglomerated.description + ".");
        AgglomerationHandler<dim> handler(triangulation, mesh.mapping.get());
        handler.agglomerate(agglomerated.strategy);
        row.n_cells         = triangulation.n_global_active_cells();
        row.n_polytopes     = handler.n_global_polytopes();
        const auto &degrees = parameters.discretisation.degrees;
        for (unsigned int i = 0; i < degrees.size(); ++i)
          {
            const ProgressPart part(part_of_study(
              dim, parameters.mesh.n_levels(), degrees, level, i, true));
            run_degree(handler, degrees[i], row);
          }
      }

      void
      run_degree(AgglomerationHandler<dim> &handler,
                 const unsigned int         degree,
                 ConservationRow            row)
      {
        const DiscretisationInput &discretisation = parameters.discretisation;
        discretisation.distribute_dofs(handler,
                                       degree,
                                       parameters.equation.n_components());
        row.degree = degree;
        row.n_dofs = handler.n_dofs();
        if (validated(handler,
                      row.level,
                      degree,
                      parameters.equation.time.is_implicit()
                        ? SystemMemory::block_matrix()
                        : SystemMemory::vectors(10)))
          return;

        // f(u) v on a facet, for a flux that is a polynomial in u, and a
        // velocity that is linear in space.
        const int               order = discretisation.coefficient_order;
        ConservationSolver<dim> solver(
          parameters.equation,
          problem,
          handler,
          discretisation.assembler_data<dim>(),
          order >= 0
            ? order
            : std::max(1U, (problem.flux_degree - 1) * handler.max_degree()));
        const Timer       timer;
        const std::string checkpoint =
          parameters.output.file("-" + std::to_string(row.level) + "-p" +
                                 std::to_string(degree) + ".checkpoint");
        solver.run(checkpoint);
        if (!solver.finished)
          {
            print_stopped(parameters.output,
                          degree,
                          std::to_string(solver.n_steps) + " steps at time " +
                            short_text(solver.time),
                          checkpoint);
            return;
          }
        row.n_steps                      = solver.n_steps;
        row.drift                        = solver.drift;
        const TimeIntegrationInput &time = parameters.equation.time;
        if (time.is_implicit())
          row.drift_bound = 10. * time.newton_tolerance;
        row.step_seconds =
          Utilities::MPI::max(timer.wall_time(), MPI_COMM_WORLD) /
          std::max(solver.n_steps, 1U);
        if (table.empty() && solver.n_steps > 0)
          print_operator(solver.report());

        if (problem.exact != nullptr)
          {
            problem.exact->set_time(parameters.equation.time.final_time);
            row.errors = {error(handler, solver, dealii::VectorTools::L2_norm),
                          error(handler, solver, dealii::VectorTools::L1_norm)};
            check_error(row.errors[0] + row.errors[1]);
          }
        if (parameters.output.fields_of_level(row.level,
                                              parameters.mesh.n_levels()))
          write_fields(handler, solver.solution(), row);
        table.add(row);
        parameters.output.print(
          "  degree " + std::to_string(degree) + ": " +
          std::to_string(row.n_dofs) + " unknowns, " +
          std::to_string(row.n_steps) + " steps" + iterations(solver) +
          (problem.exact != nullptr
             ? ", L2 error " + scientific_text(row.errors[0], 2)
             : ""));
      }

      /// Means of the iterations of implicit methods, for the list of runs.
      static std::string
      iterations(const ConservationSolver<dim> &solver)
      {
        const std::uint64_t n = solver.n_newton_steps();
        return n == 0 ? std::string()
                      : ", " + std::to_string(n) + " of Newton's method, " +
                          std::to_string(solver.n_iterations()) + " of GMRES";
      }

      double
      error(const AgglomerationHandler<dim>    &handler,
            const ConservationSolver<dim>      &solver,
            const dealii::VectorTools::NormType norm) const
      {
        Vector<float> difference;
        VectorTools::integrate_difference(
          handler,
          solver.solution(),
          *problem.exact,
          difference,
          norm,
          parameters.discretisation.extra_order);
        return VectorTools::compute_global_error(handler, difference, norm);
      }

      void
      print_operator(const OperatorReport &report) const
      {
        const unsigned int n = Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
        parameters.output.print_machine(
          "Backend " + name(report.backend) + ", instruction set " +
          name(report.instruction_set) + ", " +
          std::to_string(report.n_threads) +
          (report.n_threads == 1 ? " thread" : " threads") +
          (n > 1 ? " of each of " + std::to_string(n) + " processes." : "."));
      }

      void
      write_fields(const AgglomerationHandler<dim> &handler,
                   const ConservationVector        &solution,
                   const ConservationRow           &row) const
      {
        using Interpretation = typename PolytopicDataOut<dim>::Interpretation;
        const OutputInput &output = parameters.output;
        const std::string  run =
          "-" + std::to_string(row.level) + "-p" + std::to_string(row.degree);
        report_solution(output, handler, solution, run);
        if (output.write_solution)
          {
            std::vector<Interpretation> interpretation(
              problem.names.size(),
              DataComponentInterpretation::component_is_scalar);
            if (problem.has_vector)
              std::fill(
                interpretation.begin() + 1,
                interpretation.end(),
                DataComponentInterpretation::component_is_part_of_vector);
            PolytopicDataOut<dim> data_out(handler);
            data_out.add_data_vector(solution, problem.names, interpretation);
            data_out.build_patches();
            data_out.write_vtu_file(output.file(run + "-solution.vtu"));
          }
        // The polytopes are the same for all degrees.
        if (row.degree != parameters.discretisation.degrees.front())
          return;
        write_polytopes(handler, output, row);
      }
    };

    MainFunction *const main_function =
      run_study<ConservationStudy, Parameters>;
  } // namespace Application
} // namespace Tessella

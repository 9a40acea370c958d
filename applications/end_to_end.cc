// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// From a mesh to a file with the solution: what does each stage take, on the
// host, on a device, and in deal.II's own terms?

#include <deal.II/base/multithread_info.h>
#include <deal.II/base/timer.h>
#include <deal.II/base/utilities.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/error_message.h>
#include <tessella/base/information.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/multigrid/multigrid.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/vector_tools.h>

#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "common/distributed_mesh.h"
#include "common/iteration.h"
#include "common/program.h"
#include "common/stage_times.h"
#include "common/study_output.h"
#include "common/study_parameters.h"
#include "common/study_table.h"
#include "common/text_table.h"
#include "common/validation.h"
#include "end_to_end/cellwise_solver.h"
#include "end_to_end/stage.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    const ProgramInfo info = {
      "end_to_end",
      "time of each stage from a mesh to a file with the solution",
      "Solves Poisson's equation -div grad u = f with Dirichlet data on every\n"
      "mesh, with every degree, by each of End to end/Methods:\n"
      "  host, device  polytopes, multigrid on nested polytopes as a\n"
      "                preconditioner of CG, matrix on the host or on a device\n"
      "  deal.II       the cells themselves, in deal.II's own terms: FE_DGQ or\n"
      "                FE_SimplexDGP, MeshWorker, Trilinos' matrix, CG with ML\n"
      "and prints per case the number of unknowns, iterations, the error in L2\n"
      "and the seconds of each stage, which begin from nothing in each case:\n"
      "  mesh           read or generated\n"
      "  device         first contact with the device, once in a program\n"
      "  agglomeration, handler, penalty\n"
      "  structure      sparsity pattern, memory of matrix and vectors\n"
      "  assembly       matrix and right-hand side\n"
      "  set-up         of the preconditioner\n"
      "  solve          until the residual has fallen by End to end/Tolerance\n"
      "  errors, output L2 error, file with the solution\n"
      "  to solution    from the mesh in memory to the solution: device to solve\n"
      "It writes the table as NAME.txt and NAME.csv, and the solutions as\n"
      "NAME-LEVEL-pDEGREE-METHOD-solution.vtu, to Output/Directory.\n\n"
      "On several MPI processes (mpirun) the mesh is distributed over them, see\n"
      "Mesh/Distribution; times are those of the slowest process.\n",
      true};

    /// Section "Equation" with Poisson's equation only.
    class PoissonInput : public EquationInput
    {
    public:
      void
      parse_parameters(ParameterHandler  &prm,
                       const int          dim,
                       const std::string &parameter_file)
      {
        EquationInput::parse_parameters(prm, dim, parameter_file);
        prm.enter_subsection("Equation");
        AssertThrow(prm.get("Diffusion") == "1" && !has_cell_values(),
                    ExcMessage("end_to_end solves Poisson's equation: "
                               "Equation/Diffusion must be 1."));
        prm.leave_subsection();
      }

      template <int dim>
      Problem<dim>
      create() const
      {
        Problem<dim> problem = EquationInput::create<dim>();
        AssertThrow(!problem.has_advection && problem.reaction == nullptr,
                    ExcMessage("end_to_end solves Poisson's equation: "
                               "Equation/Advection and Reaction must be "
                               "empty."));
        return problem;
      }
    };



    struct Parameters : StudyParameters<PoissonInput>
    {
      OutputInput output;

      std::vector<std::string> methods = {"host", "deal.II"};
      StoppingCriterion        stopping;
      unsigned int steps = 4, additional_steps = 0, levels_coarser = 0,
                   repetitions = 1, subdivisions = 1;
      bool single_precision = false, next_setup = false;

      void
      declare(ParameterHandler &prm)
      {
        StudyParameters::declare(prm);
        output.declare_parameters(prm);
        prm.enter_subsection("End to end");
        prm.add_parameter(
          "Methods",
          methods,
          "See --help.",
          Patterns::List(Patterns::Selection("host|device|deal.II"), 1));
        prm.add_parameter(
          "Levels coarser",
          levels_coarser,
          "deal.II's elements are on the mesh of so many levels "
          "before the one of the polytopes, since a cell has "
          "as many unknowns as a polytope or more.",
          Patterns::Integer(0));
        prm.declare_entry("Tolerance",
                          "1e-8",
                          Patterns::Double(0.),
                          "Residual over right-hand side at which the solvers "
                          "stop.");
        prm.add_parameter("Maximum iterations",
                          stopping.max_iterations,
                          "A solver that takes more has failed, and its row of "
                          "the table says so.",
                          Patterns::Integer(1));
        prm.add_parameter("Smoothing steps",
                          steps,
                          "Degree of the Chebyshev polynomial of multigrid on "
                          "polytopes.",
                          Patterns::Integer(1));
        prm.add_parameter("Additional steps",
                          additional_steps,
                          "The same on levels that join polytopes: so many "
                          "more.",
                          Patterns::Integer(0));
        prm.add_parameter("Single precision",
                          single_precision,
                          "Whether multigrid on polytopes is in float. CG is "
                          "in double.");
        prm.add_parameter("Next set-up",
                          next_setup,
                          "Whether to measure, after all stages, the set-up of "
                          "multigrid for other values of the same matrix, such "
                          "as those of a next time step, which keeps what "
                          "depends on the mesh alone.");
        prm.add_parameter("Subdivisions",
                          subdivisions,
                          "Of the cells in the files with the solution.",
                          Patterns::Integer(1));
        prm.add_parameter("Repetitions",
                          repetitions,
                          "Rows for each case. The first one of a program "
                          "loads drivers and kernels.",
                          Patterns::Integer(1));
        prm.leave_subsection();
      }

      void
      parse(ParameterHandler &prm, const std::string &file)
      {
        StudyParameters::parse(prm, file, false);
        output.parse_parameters(file);
        prm.enter_subsection("End to end");
        stopping.tolerance = prm.get_double("Tolerance");
        prm.leave_subsection();
        AssertThrow(stopping.tolerance > 0. && stopping.tolerance < 1.,
                    ExcMessage("End to end/Tolerance must lie between 0 and "
                               "1."));
        AssertThrow(discretisation.theta == 1. && !discretisation.is_hp(),
                    ExcMessage("end_to_end compares with deal.II's elements: "
                               "Discretisation/Theta must be 1 and the degree "
                               "the same everywhere."));
        prm.enter_subsection("Mesh");
        AssertThrow(prm.get("Periodic boundaries").empty(),
                    ExcMessage("end_to_end solves Poisson's equation with "
                               "Dirichlet data: Mesh/Periodic boundaries must "
                               "be empty."));
        prm.leave_subsection();
        AssertThrow(levels_coarser < mesh.n_levels(),
                    ExcMessage("End to end/Levels coarser must be less than "
                               "the number of meshes, " +
                               std::to_string(mesh.n_levels()) + "."));
      }
    };



    template <int dim>
    class Study
    {
    public:
      explicit Study(const Parameters &parameters)
        : parameters(parameters)
        , problem(parameters.create_problem<dim>())
      {
        // The first id without a condition of its own shows the default.
        std::set<types::boundary_id> ids     = problem.boundary_ids;
        types::boundary_id           without = 0;
        while (ids.count(without) > 0)
          ++without;
        ids.insert(without);
        for (const auto id : ids)
          AssertThrow(problem.form.boundary_type(id) == BoundaryType::dirichlet,
                      ExcMessage("end_to_end solves Poisson's equation with "
                                 "Dirichlet data: Boundary conditions/Types "
                                 "must be dirichlet."));
      }

      void
      run()
      {
        parameters.output.print_machine(
          library_information() + ", " +
          std::to_string(MultithreadInfo::n_threads()) + " threads.");
        for (unsigned int level = parameters.levels_coarser;
             level < parameters.mesh.n_levels();
             ++level)
          for (const unsigned int degree : parameters.discretisation.degrees)
            for (const std::string &method : parameters.methods)
              for (unsigned int r = 0; r < parameters.repetitions; ++r)
                run_case(level, degree, method);
        if (run_mode().validate)
          return;
        table.print(screen());
        parameters.output.write_table(table, true);
        AssertThrow(any_solved,
                    ExcMessage("No case was solved. The last one: " + failure));
      }

    private:
      const Parameters &parameters;
      Problem<dim>      problem;
      TextTable         table;
      bool              any_solved = false;
      std::string       failure; ///< of the last case that failed

      void
      run_case(const unsigned int level,
               const unsigned int degree,
               const std::string &method)
      {
        EndToEndResult result;
        std::string    file;
        if (parameters.output.write_solution)
          file = parameters.output.file("-" + std::to_string(level) + "-p" +
                                        std::to_string(degree) + "-" + method +
                                        "-solution.vtu");
        try
          {
            if (method == "deal.II")
              run_cells(level, degree, file, result);
            else
              run_polytopes(level, degree, method == "device", file, result);
          }
        catch (const SolverControl::NoConvergence &)
          {
            result.failure = "no convergence in " +
                             std::to_string(parameters.stopping.max_iterations);
          }
        catch (const std::exception &exception)
          {
            result.failure = error_message(exception);
          }
        if (run_mode().validate)
          {
            AssertThrow(result.failure.empty(), ExcMessage(result.failure));
            return;
          }
        for (double &time : result.times)
          time = Utilities::MPI::max(time, MPI_COMM_WORLD);
        report(level, degree, method, result);
      }

      void
      report(const unsigned int    level,
             const unsigned int    degree,
             const std::string    &method,
             const EndToEndResult &result)
      {
        table.start_row(level, degree);
        table.add("method", method);
        table.add("cells", result.n_cells);
        if (result.n_polytopes > 0)
          table.add("polytopes", result.n_polytopes);
        table.add("unknowns", result.n_dofs);
        if (result.failure.empty())
          {
            any_solved = true;
            table.add("iterations", std::uint64_t(result.n_iterations));
            if (problem.exact_solution != nullptr)
              table.add_scientific("L2 error", result.error);
            for (unsigned int s = 0; s < n_stages; ++s)
              table.add(stage_names[s], result.times[s]);
            table.add("to solution", result.seconds_to_solution());
            if (parameters.next_setup && result.next_setup > 0.)
              table.add("next set-up", result.next_setup);
          }
        else
          table.add("failed", failure = result.failure);
        parameters.output.print(
          "  mesh " + std::to_string(level) +
          ", p = " + std::to_string(degree) + ", " + method + ": " +
          (result.failure.empty()
             ? std::to_string(result.n_iterations) + " iterations"
             : result.failure));
      }

      void
      run_cells(const unsigned int level,
                const unsigned int degree,
                const std::string &file,
                EndToEndResult    &result)
      {
        // With --validate the rows of polytopes speak for all.
        if (run_mode().validate)
          return;
        const AgglomeratedMesh<dim> agglomerated =
          parameters.create_mesh<dim>(level - parameters.levels_coarser);
        result.times[mesh_stage] = agglomerated.mesh_seconds;
        solve_cellwise(agglomerated.mesh,
                       problem,
                       degree,
                       parameters.stopping,
                       {file, parameters.subdivisions},
                       result);
      }

      void
      run_polytopes(const unsigned int level,
                    const unsigned int degree,
                    const bool         device,
                    const std::string &file,
                    EndToEndResult    &result)
      {
        const AgglomeratedMesh<dim> agglomerated =
          parameters.create_mesh<dim>(level);
        result.times[mesh_stage]          = agglomerated.mesh_seconds;
        result.times[agglomeration_stage] = agglomerated.agglomeration_seconds;
        result.n_cells =
          agglomerated.mesh.triangulation->n_global_active_cells();
        Timer timer;
        if (device && !run_mode().validate)
          check_backend("End to end/Methods", Backend::cuda);
        result.times[device_stage] = lap(timer);
        AgglomerationHandler<dim> handler(*agglomerated.mesh.triangulation,
                                          agglomerated.mesh.mapping.get());
        handler.agglomerate(agglomerated.strategy);
        parameters.discretisation.distribute_dofs(handler, degree);
        result.n_polytopes          = handler.n_global_polytopes();
        result.n_dofs               = handler.n_dofs();
        result.times[handler_stage] = lap(timer);
        if (validated(handler, level, degree, SystemMemory::block_matrix()))
          return;
        compute_penalty_factors(handler,
                                parameters.discretisation.penalty.formula);
        result.times[penalty_stage] = lap(timer);

        const bool single = parameters.single_precision;
        if (device)
          single ? solve<DeviceBlockMatrix<double>, DeviceBlockMatrix<float>>(
                     handler, file, result)
                 : solve<DeviceBlockMatrix<double>, DeviceBlockMatrix<double>>(
                     handler, file, result);
        else
          single
            ? solve<HostBlockMatrix<double>, HostBlockMatrix<float>>(handler,
                                                                     file,
                                                                     result)
            : solve<HostBlockMatrix<double>, HostBlockMatrix<double>>(handler,
                                                                      file,
                                                                      result);
      }

      /// Waits until the device has finished; the host does not have to wait.
      template <typename VectorType>
      static void
      wait(const VectorType &vector)
      {
        if (std::is_same<VectorType, DeviceVector<double>>::value)
          vector.linfty_norm();
      }

      /// Assembles and solves the system. MGMatrix: matrix of multigrid.
      template <typename MatrixType, typename MGMatrix>
      void
      solve(const AgglomerationHandler<dim> &handler,
            const std::string               &file,
            EndToEndResult                  &result) const
      {
        constexpr bool device =
          std::is_same<MatrixType, DeviceBlockMatrix<double>>::value;
        using VectorType =
          std::conditional_t<device, DeviceVector<double>, HostVector<double>>;
        auto data    = parameters.discretisation.assembler_data<dim>();
        data.backend = device ? Backend::cuda : Backend::host;

        Timer                   timer;
        PolytopicAssembler<dim> assembler(handler, data);
        MatrixType              matrix;
        VectorType              rhs, solution;
        assembler.reinit(matrix, rhs);
        wait(rhs);
        result.times[structure_stage] = lap(timer);

        assembler.assemble(problem.form, matrix, rhs);
        wait(rhs);
        result.times[assembly_stage] = lap(timer);

        Multigrid<MGMatrix>                          multigrid;
        typename Multigrid<MGMatrix>::AdditionalData mg;
        mg.n_smoothing_steps  = parameters.steps;
        mg.n_additional_steps = parameters.additional_steps;
        mg.keep_structures    = parameters.next_setup;
        multigrid.initialize(assembler, problem.form, matrix, mg);
        wait(rhs);
        result.times[setup_stage] = lap(timer);

        solution.reinit(rhs);
        SolverControl control(parameters.stopping.max_iterations,
                              parameters.stopping.tolerance * rhs.l2_norm(),
                              false,
                              false);
        Iteration{"cg", 0, control}.solve(matrix, solution, rhs, multigrid);
        wait(solution);
        result.n_iterations       = control.last_step();
        result.times[solve_stage] = lap(timer);

        if (problem.exact_solution != nullptr)
          {
            result.error =
              VectorTools::compute_error(handler,
                                         solution,
                                         problem.exact_solution,
                                         dealii::VectorTools::L2_norm,
                                         2);
            check_error(result.error);
          }
        result.times[error_stage] = lap(timer);

        if (!file.empty())
          {
            PolytopicDataOut<dim> data_out(handler);
            data_out.add_data_vector(solution, "solution");
            data_out.build_patches(parameters.subdivisions);
            data_out.write_vtu_file(file);
          }
        result.times[output_stage] = lap(timer);
        if (!parameters.next_setup)
          return;

        print_parts("set-up", multigrid.report());
        lap(timer);
        multigrid.update(assembler, problem.form, matrix);
        wait(rhs);
        result.next_setup = lap(timer);
        print_parts("next set-up", multigrid.report());
      }

      void
      print_parts(const std::string &name, const MultigridReport &report) const
      {
        std::ostringstream text;
        text << "  " << name << " without assembly " << report.setup_time
             << " s: transfer " << report.times.transfer << ", structures "
             << report.times.structures << ", smoothers "
             << report.times.smoothers << ", coarse solver "
             << report.times.coarse_solver;
        parameters.output.print(text.str());
      }
    };

    MainFunction *const main_function = run_study<Study, Parameters>;
  } // namespace Application
} // namespace Tessella

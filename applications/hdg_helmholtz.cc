// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Hybridizable dG from a parameter file, compared with interior penalty on the
// same polytopes. Prints errors, and the time of each stage in the categories
// of King, Yakovlev, Fu, Kirby and Sherwin (J. Sci. Comput. 60, 2014).

#include <deal.II/base/exceptions.h>
#include <deal.II/base/function.h>
#include <deal.II/base/timer.h>

#include <deal.II/fe/fe_system.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/error_message.h>
#include <tessella/base/on_all_processes.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/hdg/hdg.h>
#include <tessella/hdg/trace_multigrid.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/numerics/vector_tools.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <type_traits>

#include "common/distributed_mesh.h"
#include "common/html_report.h"
#include "common/program.h"
#include "common/solvability.h"
#include "common/text_table.h"
#include "common/validation.h"
#include "hdg_helmholtz/hdg_parameters.h"
#include "hdg_helmholtz/system_solver.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    const ProgramInfo info = {
      "hdg_helmholtz",
      "hybridizable dG on polytopes: errors and times of its stages",
      "Solves -div(a grad u) + b . grad u + c u = f by the hybridizable\n"
      "discontinuous Galerkin method on a sequence of polytopic meshes and for\n"
      "a list of degrees, and prints\n"
      "  - errors of u, of q = a grad u and of the post-processed u*, in L2,\n"
      "    with their rates between meshes, trace unknowns and non-zeros,\n"
      "  - the time of local matrix generation, global assembly, global solve\n"
      "    and local solve, with GFLOP/s; repeated, the fastest run counts; on a\n"
      "    CUDA device (Discretisation/Backend) everything stays there,\n"
      "  - if asked for, the same of the interior penalty method on the same\n"
      "    polytopes, solved to the same residual.\n"
      "On polytopes that are no simplices expect order p + 1 for u, between\n"
      "p + 1/2 and p + 1 for q, and little more than p + 1 for u*: with u and q\n"
      "of the same degree larger trace spaces do not change that. HDG/Local\n"
      "spaces = reduced flux with HDG/Trace space = facet has the full orders,\n"
      "p + 1 for u of degree p and p for q of degree p - 1, at the cost of the\n"
      "trace system of degree p - 1.\n"
      "It writes the tables to NAME.csv, NAME-times.csv and\n"
      "NAME-comparison.csv in the folder Output/Directory (none if empty),\n"
      "where NAME is the name of the parameter file. On several processes\n"
      "(mpirun; the trace system is solved on the host) errors are the same; times are those of the slowest\n"
      "process. Mistakes in the input end in one sentence and a non-zero exit\n"
      "status.\n",
      true};

    /// The flux a grad u of a known u, with the a of a form.
    template <int dim>
    class ExactFlux : public Function<dim>
    {
    public:
      ExactFlux(const AdvectionDiffusionReaction<dim> &form,
                const Function<dim>                   &solution)
        : Function<dim>(dim)
        , form(form)
        , solution(solution)
      {}

      double
      value(const Point<dim> &p, const unsigned int component) const override
      {
        double          a[dim * dim] = {};
        double         *pointers[dim * dim];
        PointBatch<dim> batch;
        batch.n_points = 1;
        for (unsigned int d = 0; d < dim; ++d)
          batch.x[d] = &p[d];
        for (unsigned int d = 0; d < dim * dim; ++d)
          pointers[d] = &a[d];
        form.evaluate_diffusion(batch, pointers);
        const Tensor<1, dim> gradient = solution.gradient(p);
        if (form.volume_structure().diffusion != DiffusionType::tensor)
          return a[0] * gradient[component];
        double sum = 0.;
        for (unsigned int d = 0; d < dim; ++d)
          sum += a[component * dim + d] * gradient[d];
        return sum;
      }

    private:
      const AdvectionDiffusionReaction<dim> &form;
      const Function<dim>                   &solution;
    };

    /// Wall times of the stages of a run, in seconds; each is that of its
    /// fastest repetition.
    struct StageSeconds
    {
      double generation = 1e300, assembly = 1e300, solve = 1e300,
             recovery = 1e300, coefficients = 1e300, multigrid_setup = 0.,
             multigrid_update = 0.;

      void
      keep_least(const HDGReport &report, const double solve_seconds)
      {
        solve        = std::min(solve, solve_seconds);
        coefficients = std::min(coefficients, report.coefficient_time);
        generation   = std::min(generation, report.local_generation_time);
        assembly     = std::min(assembly, report.global_assembly_time);
        recovery     = std::min(recovery, report.local_solve_time);
      }

      /// Takes the times of the slowest process. Collective.
      void
      synchronise()
      {
        for (double *time : {&generation,
                             &assembly,
                             &solve,
                             &recovery,
                             &coefficients,
                             &multigrid_setup,
                             &multigrid_update})
          *time = Utilities::MPI::max(*time, MPI_COMM_WORLD);
      }
    };

    /// The trace system with its solution, on the host or on a device.
    template <int dim>
    class TraceSystem
    {
    public:
      TraceSystem(HDG<dim>                              &hdg,
                  const AdvectionDiffusionReaction<dim> &form,
                  const bool                             on_device)
        : hdg(hdg)
        , form(form)
      {
        if (on_device)
          {
            device = std::make_unique<OnDevice>();
            hdg.reinit(form, device->matrix, device->rhs);
            device->trace.reinit(device->rhs);
          }
        else
          {
            hdg.reinit(form, matrix, rhs);
            trace.reinit(rhs);
          }
      }

      void
      assemble()
      {
        if (device != nullptr)
          hdg.assemble(form, device->matrix, device->rhs);
        else
          hdg.assemble(form, matrix, rhs);
      }

      /// @p handler is that of the HDG object.
      SystemSolver::Report
      solve(const SystemSolver              &solver,
            const HDGParameters             &parameters,
            const AgglomerationHandler<dim> &handler)
      {
        const auto multigrid = [&](const Iteration &iteration,
                                   const auto      &blocks,
                                   auto            &solution,
                                   const auto      &right_side) {
          solve_by_multigrid(
            parameters, handler, iteration, blocks, solution, right_side);
        };
        return device != nullptr ? solver.solve(device->matrix,
                                                device->trace,
                                                device->rhs,
                                                multigrid)
                                 : solver.solve(
                                     matrix,
                                     [&](HostBlockMatrix<double> &blocks) {
                                       hdg.copy_blocks(matrix, blocks);
                                     },
                                     trace,
                                     rhs,
                                     multigrid);
      }

      /// Computes u and q from the traces.
      void
      recover()
      {
        if (device != nullptr)
          hdg.recover(form, device->trace, device->u, device->q);
        else
          hdg.recover(form, trace, u, q);
      }

      std::uint64_t
      n_nonzero() const
      {
        return device != nullptr ? device->matrix.n_nonzero_elements()
                                 : matrix.n_nonzero_elements();
      }

      /// Copies u and q, of which u has @p n_dofs entries, to the host if they
      /// are on a device.
      void
      copy_to_host(const types::global_dof_index n_dofs)
      {
        if (device == nullptr)
          return;
        u.reinit(complete_index_set(n_dofs), MPI_COMM_WORLD);
        q.reinit(complete_index_set(dim * n_dofs), MPI_COMM_WORLD);
        device->u.copy_to(u);
        device->q.copy_to(q);
      }

      TrilinosWrappers::MPI::Vector u, q; ///< on the host
      /// Reports of trace multigrid, if it was used: that of the last complete
      /// set-up, and that of the last one that kept structures.
      TraceMultigridReport multigrid_setup, multigrid_update;

    private:
      template <typename MatrixType>
      using Preconditioner = TraceMultigrid<dim, MatrixType>;

      struct OnDevice
      {
        DeviceBlockMatrix<double> matrix;
        DeviceVector<double>      rhs, trace, u, q;
        /// Kept for further solutions.
        std::unique_ptr<Preconditioner<DeviceBlockMatrix<double>>> in_double;
        std::unique_ptr<Preconditioner<DeviceBlockMatrix<float>>>  in_single;
      };

      template <typename LevelMatrix>
      static typename Preconditioner<LevelMatrix>::AdditionalData
      multigrid_data(const HDGParameters &parameters, const bool symmetric)
      {
        using MG    = Preconditioner<LevelMatrix>;
        using Cycle = typename Multigrid<LevelMatrix>::Cycle;
        typename MG::AdditionalData data;
        data.symmetric      = symmetric;
        data.half_precision = parameters.multigrid_precision == "half";
        data.coarse.cycle =
          parameters.multigrid_cycle == "v" ? Cycle::v : Cycle::w;
        if (!data.symmetric)
          {
            data.smoother = data.coarse.smoother = MG::Smoother::lusgs;
            data.n_smoothing_steps               = 1;
            data.coarse.n_smoothing_steps        = 1;
          }
        if (parameters.smoothing_steps > 0)
          data.n_smoothing_steps = parameters.smoothing_steps;
        if (parameters.coarse_steps > 0)
          data.coarse.n_smoothing_steps = parameters.coarse_steps;
        if (parameters.coarse_operator == "interior penalty" ||
            Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) > 1)
          data.coarse_operator = MG::CoarseOperator::interior_penalty;
        data.penalty_share = parameters.penalty_share;
        data.n_children    = parameters.n_children;
        data.n_coarsest    = parameters.n_coarsest;
        return data;
      }

      /// Sets up @p multigrid, or gives it the present values, and iterates.
      template <typename LevelMatrix, typename MatrixType, typename VectorType>
      void
      iterate(std::unique_ptr<Preconditioner<LevelMatrix>> &multigrid,
              const HDGParameters                          &parameters,
              const AgglomerationHandler<dim>              &handler,
              const Iteration                              &iteration,
              const MatrixType                             &blocks,
              VectorType                                   &solution,
              const VectorType                             &right_side)
      {
        const bool first = multigrid == nullptr;
        if (first)
          {
            multigrid = std::make_unique<Preconditioner<LevelMatrix>>();
            multigrid->initialize(handler,
                                  hdg,
                                  form,
                                  blocks,
                                  multigrid_data<LevelMatrix>(
                                    parameters, iteration.method == "cg"));
          }
        else
          multigrid->update(form);
        (first ? multigrid_setup : multigrid_update) = multigrid->report();
        iteration.solve(blocks, solution, right_side, *multigrid);
      }

      template <typename MatrixType, typename VectorType>
      void
      solve_by_multigrid(const HDGParameters             &parameters,
                         const AgglomerationHandler<dim> &handler,
                         const Iteration                 &iteration,
                         const MatrixType                &blocks,
                         VectorType                      &solution,
                         const VectorType                &right_side)
      {
        const auto run = [&](auto &multigrid) {
          iterate(multigrid,
                  parameters,
                  handler,
                  iteration,
                  blocks,
                  solution,
                  right_side);
        };
        const bool single = parameters.multigrid_precision != "double";
        if constexpr (std::is_same<MatrixType,
                                   DeviceBlockMatrix<double>>::value)
          {
            if (single)
              run(device->in_single);
            else
              run(device->in_double);
          }
        else
          {
            std::unique_ptr<Preconditioner<HostBlockMatrix<double>>> in_double;
            std::unique_ptr<Preconditioner<HostBlockMatrix<float>>>  in_single;
            if (single)
              run(in_single);
            else
              run(in_double);
          }
      }

      HDG<dim>                              &hdg;
      const AdvectionDiffusionReaction<dim> &form;
      TrilinosWrappers::SparseMatrix         matrix;
      TrilinosWrappers::MPI::Vector          rhs, trace;
      std::unique_ptr<OnDevice>              device;
    };

    template <int dim>
    class HDGStudy
    {
    public:
      explicit HDGStudy(const HDGParameters &parameters)
        : parameters(parameters)
        , problem(parameters.create_problem<dim>())
        , solver(parameters, dim, problem.has_advection)
      {
        AssertThrow(parameters.preconditioner != "ssor" ||
                      !problem.has_advection,
                    ExcMessage("HDG/Preconditioner = ssor is for problems "
                               "without advection: take automatic, ilu or "
                               "block gauss-seidel."));
        AssertThrow(parameters.multigrid_precision == "double" ||
                      !problem.has_advection,
                    ExcMessage("HDG/Multigrid precision = " +
                               parameters.multigrid_precision +
                               " is for problems without advection: take "
                               "double."));
        AssertThrow(parameters.multigrid_precision != "half" ||
                      parameters.discretisation.backend == Backend::cuda,
                    ExcMessage("HDG/Multigrid precision = half is for "
                               "Execution/Backend = cuda: take single on the "
                               "host."));
      }

      void
      run()
      {
        for (unsigned int level = 0; level < parameters.mesh.n_levels();
             ++level)
          run_level(level);
        print("Errors in L2", "", errors);
        print("Times", "-times", times);
        print("Interior penalty beside HDG", "-comparison", comparison);
      }

    private:
      const HDGParameters &parameters;
      Problem<dim>         problem;
      const SystemSolver   solver;
      TextTable            errors, times, comparison;
      struct Last
      {
        double error[3], n_polytopes;
      };
      std::map<unsigned int, Last> last; // key: degree

      /// Polytopes of a level with the spaces of u, of q, and of u*.
      struct Handlers
      {
        AgglomerationHandler<dim> u, flux, finer;

        explicit Handlers(const AgglomeratedMesh<dim> &agglomerated)
          : u(*agglomerated.mesh.triangulation, agglomerated.mesh.mapping.get())
          , flux(*agglomerated.mesh.triangulation,
                 agglomerated.mesh.mapping.get())
          , finer(*agglomerated.mesh.triangulation,
                  agglomerated.mesh.mapping.get())
        {
          for (auto *handler : {&u, &flux, &finer})
            handler->agglomerate(agglomerated.strategy);
        }
      };

      /// Level, degree and number of polytopes, with which a row of each table
      /// begins.
      struct Case
      {
        unsigned int  level, degree;
        std::uint64_t n_polytopes;
      };

      void
      print(const std::string &title,
            const std::string &suffix,
            const TextTable   &table) const
      {
        if (table.empty())
          return;
        screen() << "\n" << title << "\n";
        table.print(screen());
        const auto write = [&](std::ostream &out) { table.write_csv(out); };
        html_report().add_table(title, write);
        if (parameters.directory.empty())
          return;
        const std::string file =
          parameters.directory + "/" + parameters.name + suffix + ".csv";
        write_file(file, write);
        screen() << "Wrote " << file << ".\n";
      }

      void
      run_level(const unsigned int level)
      {
        const AgglomeratedMesh<dim> agglomerated =
          parameters.create_mesh<dim>(level);
        const Mesh<dim> &mesh = agglomerated.mesh;
        Handlers         handlers(agglomerated);
        on_all_processes(MPI_COMM_WORLD, [&]() {
          parameters.equation.set_cell_values(problem, mesh, handlers.u);
        });
        screen() << "Level " << level << ": " << mesh.description << " in "
                 << handlers.u.n_global_polytopes() << " polytopes."
                 << std::endl;
        check_solvability(handlers.u, problem.form);
        for (const unsigned int degree : parameters.discretisation.degrees)
          run_degree(level, degree, handlers);
      }

      /// Returns tau at the centre of a facet.
      double
      tau(const PolytopicMesh<dim> &mesh, const unsigned int facet) const
      {
        const unsigned int begin = mesh.facet_vertex_offset[facet],
                           end   = mesh.facet_vertex_offset[facet + 1];
        double middle[dim]       = {};
        for (unsigned int i = dim * begin; i < dim * end; ++i)
          middle[i % dim] += mesh.facet_vertices[i] / (end - begin);
        return parameters.tau.value(middle);
      }

      /// Throws if tau is zero on facets. The traces of these facets are then
      /// coupled to the polytopes only through q, and where q has too few
      /// functions the trace matrix is singular. To be called when the trace
      /// system could not be solved.
      void
      check_tau(const AgglomerationHandler<dim> &handler,
                const std::string               &reason) const
      {
        const PolytopicMesh<dim> &mesh   = handler.polytopic_mesh();
        std::uint64_t             n_zero = 0;
        for (unsigned int f = 0; f + 1 < mesh.facet_vertex_offset.size(); ++f)
          if (mesh.facet_measure[f] > 0. && tau(mesh, f) == 0.)
            ++n_zero;
        AssertThrow(n_zero == 0,
                    ExcMessage(
                      "The trace system is singular or nearly so, "
                      "since HDG/Tau is zero on " +
                      std::to_string(n_zero) +
                      " facets: give a positive HDG/Tau. The solver says: " +
                      reason));
      }

      double
      L2_error(const AgglomerationHandler<dim>     &handler,
               const TrilinosWrappers::MPI::Vector &vector,
               const Function<dim>                 &exact) const
      {
        Vector<float> difference;
        VectorTools::integrate_difference(
          handler,
          vector,
          exact,
          difference,
          dealii::VectorTools::L2_norm,
          parameters.discretisation.extra_order);
        return VectorTools::compute_global_error(handler,
                                                 difference,
                                                 dealii::VectorTools::L2_norm);
      }

      typename HDG<dim>::AdditionalData
      hdg_data(const AgglomerationHandler<dim> &handler) const
      {
        typename HDG<dim>::AdditionalData data;
        data.trace_space = parameters.trace_space == "facet"
                             ? TraceSpaceType::facet
                             : TraceSpaceType::interface;
        if (parameters.local_spaces == "reduced flux")
          data.spaces = LocalSpaces::reduced_flux;
        if (parameters.tau.is_constant())
          {
            const double none[dim] = {};
            data.tau               = parameters.tau.value(none);
          }
        else
          {
            data.tau_of_facet =
              [this, mesh = &handler.polytopic_mesh()](const unsigned int f,
                                                       const unsigned int) {
                return tau(*mesh, f);
              };
          }
        // advective form of the equation in the parameter file
        data.advection       = AdvectionForm::convective;
        data.local_solvers   = parameters.local_solvers == "keep"
                                 ? LocalSolvers::keep
                                 : LocalSolvers::recompute;
        data.instruction_set = parameters.discretisation.instruction_set;
        data.backend =
          parameters.method == "direct" &&
              parameters.discretisation.backend == Backend::automatic
            ? Backend::host
            : parameters.discretisation.backend;
        return data;
      }

      void
      run_degree(const unsigned int level,
                 const unsigned int degree,
                 Handlers          &handlers)
      {
        AgglomerationHandler<dim> &handler = handlers.u;
        parameters.discretisation.distribute_dofs(handler, degree);
        HDG<dim> hdg(handler, hdg_data(handler));
        if (run_mode().validate)
          {
            // A trace couples with all of two polytopes, each of which has two
            // times the mean number.
            SystemSize size = system_size(handler);
            size.n_unknowns = static_cast<double>(hdg.n_dofs());
            size.n_entries =
              4. * size.n_unknowns * size.n_unknowns / size.n_polytopes;
            validate_system(level, degree, size, SystemMemory::trilinos());
            return;
          }
        // A direct solver needs the matrix on the host, and so does a run on
        // several processes.
        const bool on_device =
          hdg.backend() == Backend::cuda && parameters.method != "direct" &&
          Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) == 1;
        TraceSystem<dim> system(hdg, problem.form, on_device);

        StageSeconds               seconds;
        const SystemSolver::Report solved =
          run_repeatedly(hdg, handler, system, seconds);
        if (level == 0 && degree == parameters.discretisation.degrees[0] &&
            !hdg.report().coefficients.empty())
          screen() << "Coefficients: " << hdg.report().coefficients << "."
                   << std::endl;
        seconds.synchronise();
        const HDGReport     report    = report_of_all(hdg.report());
        const std::uint64_t n_nonzero = system.n_nonzero();
        system.copy_to_host(handler.n_dofs());

        const Case   present = {level, degree, handler.n_global_polytopes()};
        const double error_u =
          add_errors(present, hdg, system, n_nonzero, handlers);
        add_times(present, report, seconds, solved);
        if (!parameters.compare)
          return;
        add_method(present,
                   "HDG",
                   hdg.n_dofs(),
                   n_nonzero,
                   seconds.generation + seconds.assembly,
                   seconds,
                   solved,
                   error_u);
        compare_with_interior_penalty(present, handler);
      }

      /// Assembles, solves and recovers u and q as often as the parameters say.
      SystemSolver::Report
      run_repeatedly(const HDG<dim>                  &hdg,
                     const AgglomerationHandler<dim> &handler,
                     TraceSystem<dim>                &system,
                     StageSeconds                    &seconds) const
      {
        SystemSolver::Report solved;
        for (unsigned int run = 0; run < parameters.repetitions; ++run)
          {
            system.assemble();
            Timer timer;
            try
              {
                solved = system.solve(solver, parameters, handler);
              }
            catch (const std::exception &exception)
              {
                check_tau(handler, error_message(exception));
                throw;
              }
            const double solve_seconds = timer.wall_time();
            system.recover();
            seconds.keep_least(hdg.report(), solve_seconds);
          }
        seconds.multigrid_setup  = system.multigrid_setup.setup_time;
        seconds.multigrid_update = system.multigrid_update.setup_time;
        print_stages("Set-up", system.multigrid_setup);
        print_stages("Set-up for other values", system.multigrid_update);
        return solved;
      }

      /// Prints the stages of a set-up of trace multigrid, if there was one.
      static void
      print_stages(const std::string &what, const TraceMultigridReport &report)
      {
        if (report.stages.empty())
          return;
        screen() << what << " of trace multigrid, ms:";
        for (const auto &stage : report.stages)
          screen() << " " << stage.first << " "
                   << short_text(1e3 * stage.second) << ",";
        screen() << " in all " << short_text(1e3 * report.setup_time)
                 << "; polytopes on levels:";
        for (const auto &level : report.coarse.levels)
          screen() << " " << level.n_polytopes;
        screen() << "." << std::endl;
      }

      /// Report with the times of the slowest process and the operations of
      /// all. Collective.
      static HDGReport
      report_of_all(HDGReport report)
      {
        for (double *time : {&report.trace_space_time, &report.structure_time})
          *time = Utilities::MPI::max(*time, MPI_COMM_WORLD);
        for (double *operations : {&report.local_generation_operations,
                                   &report.local_solve_operations})
          *operations = Utilities::MPI::sum(*operations, MPI_COMM_WORLD);
        return report;
      }

      /// Errors of u, q and u*; nan where they are not computed.
      std::array<double, 3>
      compute_errors(const unsigned int      degree,
                     HDG<dim>               &hdg,
                     const TraceSystem<dim> &system,
                     Handlers               &handlers) const
      {
        const Function<dim>      &exact = *problem.exact_solution;
        const PolynomialSpaceType space = handlers.u.polynomial_space();
        const ExactFlux<dim>      flux(problem.form, exact);
        // The errors of q and u* need the same degree on all polytopes.
        const bool            hp     = parameters.discretisation.is_hp();
        std::array<double, 3> result = {
          {L2_error(handlers.u, system.u, exact), std::nan(""), std::nan("")}};
        if (!hp)
          {
            handlers.flux.distribute_dofs(
              FESystem<dim>(FE_BoundingBoxLegendre<dim>(degree, space), dim));
            result[1] = L2_error(handlers.flux, system.q, flux);
          }
        if (!hp && parameters.post_process &&
            parameters.local_spaces == "equal" && degree < Legendre::max_degree)
          {
            handlers.finer.distribute_dofs(
              FE_BoundingBoxLegendre<dim>(degree + 1, space));
            TrilinosWrappers::MPI::Vector post;
            hdg.post_process(
              problem.form, system.u, system.q, handlers.finer, post);
            result[2] = L2_error(handlers.finer, post, exact);
          }
        return result;
      }

      /// Adds a row of errors. Returns the error of u, or nan without an exact
      /// solution.
      double
      add_errors(const Case             &present,
                 HDG<dim>               &hdg,
                 const TraceSystem<dim> &system,
                 const std::uint64_t     n_nonzero,
                 Handlers               &handlers)
      {
        errors.start_row(present.level, present.degree);
        errors.add("polytopes", present.n_polytopes);
        errors.add("trace unknowns", hdg.n_dofs());
        errors.add("non-zeros", n_nonzero);
        if (problem.exact_solution == nullptr)
          return std::nan("");
        const auto error =
          compute_errors(present.degree, hdg, system, handlers);
        const char *const names[] = {"u", "q", "u*"};
        const auto        before  = last.find(present.degree);
        for (unsigned int i = 0; i < 3; ++i)
          {
            errors.add_scientific(std::string(names[i]) + " error", error[i]);
            if (before != last.end())
              errors.add(std::string(names[i]) + " rate",
                         dim * std::log(before->second.error[i] / error[i]) /
                           std::log(present.n_polytopes /
                                    before->second.n_polytopes));
          }
        last[present.degree] = {{error[0], error[1], error[2]},
                                1. * present.n_polytopes};
        return error[0];
      }

      /// Adds a row of times in milliseconds.
      void
      add_times(const Case                 &present,
                const HDGReport            &report,
                const StageSeconds         &seconds,
                const SystemSolver::Report &solved)
      {
        times.start_row(present.level, present.degree);
        times.add("polytopes", present.n_polytopes);
        times.add("trace spaces ms", 1e3 * report.trace_space_time);
        times.add("structure ms", 1e3 * report.structure_time);
        times.add("backend", name(report.backend));
        const double coefficients =
          report.backend == Backend::cuda ? seconds.coefficients : 0.;
        if (report.backend == Backend::cuda)
          times.add("coefficients ms", 1e3 * coefficients);
        times.add("local generation ms", 1e3 * seconds.generation);
        times.add("GFLOP/s",
                  1e-9 * report.local_generation_operations /
                    seconds.generation);
        times.add("global assembly ms", 1e3 * seconds.assembly);
        times.add("global solve ms", 1e3 * seconds.solve);
        times.add("solver", solved.solver);
        times.add("iterations", std::uint64_t(solved.n_iterations));
        if (parameters.preconditioner == "trace multigrid")
          {
            times.add("multigrid set-up ms", 1e3 * seconds.multigrid_setup);
            times.add("for other values ms", 1e3 * seconds.multigrid_update);
          }
        times.add("local solve ms", 1e3 * seconds.recovery);
        times.add("local solve GFLOP/s",
                  1e-9 * report.local_solve_operations / seconds.recovery);
        times.add("total ms",
                  1e3 * (coefficients + seconds.generation + seconds.assembly +
                         seconds.solve + seconds.recovery));
      }

      /// Adds a row of the comparison with interior penalty.
      void
      add_method(const Case                 &present,
                 const std::string          &method,
                 const std::uint64_t         n_unknowns,
                 const std::uint64_t         n_nonzero,
                 const double                assembly_seconds,
                 const StageSeconds         &seconds,
                 const SystemSolver::Report &solved,
                 const double                error)
      {
        comparison.start_row(present.level, present.degree);
        comparison.add("method", method);
        comparison.add("unknowns", n_unknowns);
        comparison.add("non-zeros", n_nonzero);
        comparison.add("assembly ms", 1e3 * assembly_seconds);
        comparison.add("solve ms", 1e3 * seconds.solve);
        comparison.add("solver", solved.solver);
        comparison.add("iterations", std::uint64_t(solved.n_iterations));
        comparison.add("recovery ms", 1e3 * seconds.recovery);
        comparison.add_scientific("u error", error);
      }

      /// Solves by interior penalty on the same polytopes and adds a row.
      void
      compare_with_interior_penalty(const Case                &present,
                                    AgglomerationHandler<dim> &handler)
      {
        typename PolytopicAssembler<dim>::AdditionalData data;
        data.backend         = Backend::host;
        data.instruction_set = parameters.discretisation.instruction_set;
        data.penalty         = parameters.discretisation.penalty;
        PolytopicAssembler<dim>        assembler(handler, data);
        TrilinosWrappers::SparseMatrix matrix;
        TrilinosWrappers::MPI::Vector  rhs, solution;
        assembler.reinit(matrix, rhs);
        solution.reinit(rhs);
        StageSeconds         seconds;
        SystemSolver::Report solved;
        for (unsigned int run = 0; run < parameters.repetitions; ++run)
          {
            Timer timer;
            assembler.assemble(problem.form, matrix, rhs);
            seconds.assembly = std::min(seconds.assembly, timer.wall_time());
            timer.restart();
            solved = solver.solve(
              matrix,
              [&](HostBlockMatrix<double> &blocks) {
                assembler.reinit(blocks);
                assembler.assemble_matrix(problem.form, blocks);
              },
              solution,
              rhs);
            seconds.solve = std::min(seconds.solve, timer.wall_time());
          }
        seconds.synchronise();
        seconds.recovery = 0.;
        add_method(present,
                   "IP-dG",
                   handler.n_dofs(),
                   matrix.n_nonzero_elements(),
                   seconds.assembly,
                   seconds,
                   solved,
                   problem.exact_solution != nullptr
                     ? L2_error(handler, solution, *problem.exact_solution)
                     : std::nan(""));
      }
    };

    MainFunction *const main_function = run_study<HDGStudy, HDGParameters>;
  } // namespace Application
} // namespace Tessella

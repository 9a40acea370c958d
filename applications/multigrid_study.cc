// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Multigrid study on nested polytopes: how fast does it converge, and how long
// does it take from the flat view of the mesh to the solution, on the host and
// on a device?

#include <deal.II/base/multithread_info.h>
#include <deal.II/base/timer.h>
#include <deal.II/base/utilities.h>

#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/error_message.h>
#include <tessella/base/information.h>
#include <tessella/forms/cellwise_coefficient.h>
#include <tessella/grid/within_materials.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/multigrid/multigrid.h>
#include <tessella/numerics/null_space.h>
#include <tessella/operators/matrix_free_operator.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "common/distributed_mesh.h"
#include "common/iteration.h"
#include "common/linear_solver.h"
#include "common/program.h"
#include "common/solvability.h"
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
      "multigrid_study",
      "iterations and times of multigrid on nested polytopes",
      "Solves the problem of the parameter file on every mesh, with every degree,\n"
      "jump of the diffusion, solver, coarse operator, smoother and cycle asked\n"
      "for, by CG (GMRES with advection), and prints per case\n"
      "  levels      of the hierarchy, that of the mesh included\n"
      "  complexity  entries of the matrices of all levels over the first one's\n"
      "  iterations  until the residual has fallen by Multigrid/Tolerance; empty\n"
      "              if that takes more than Multigrid/Maximum iterations, or\n"
      "              what the column 'failed' says\n"
      "  assembly    seconds: structure, matrix, right-hand side\n"
      "  set-up      seconds: hierarchy, coarse operators, smoothers\n"
      "  solve       seconds\n"
      "  total       from the flat view to the solution in the memory where it\n"
      "              was computed; the penalty's factors count with the view\n"
      "Cases are solved Multigrid/Repetitions times with new objects, and the\n"
      "fastest counts. It writes the table as NAME.txt and NAME.csv and plots\n"
      "NAME-iterations.svg and NAME-time.svg to Output/Directory. The exit status\n"
      "is zero if one case was solved.\n\n"
      "On several MPI processes (mpirun) the mesh is distributed over them, see\n"
      "Mesh/Distribution; times are those of the slowest process.\n",
      true};

    struct Parameters : StudyParameters<>
    {
      OutputInput output;

      std::vector<std::string> solvers   = {"host multigrid"},
                               operators = {"rescaled"},
                               smoothers = {"chebyshev"}, cycles = {"V"},
                               finest_levels       = {"matrix"};
      std::vector<double>       jumps              = {1.};
      std::vector<unsigned int> children           = {0};
      std::vector<unsigned int> steps              = {4};
      std::string               nesting            = "rtree";
      bool                      separate_materials = false, cuda_graphs = true;
      std::string               null_space = "none";
      double                    tolerance  = 1e-8;
      unsigned int max_iterations = 200, coarsest = 64, repetitions = 1;

      void
      declare(ParameterHandler &prm)
      {
        StudyParameters::declare(prm);
        output.declare_parameters(prm);
        prm.enter_subsection("Multigrid");
        prm.add_parameter(
          "Solvers",
          solvers,
          "amg, ilu, direct (MUMPS): Trilinos on the host, as in "
          "Solver/Preconditioner and Method of other programs. "
          "In float: the preconditioner only.",
          Patterns::List(Patterns::Selection(
                           "host multigrid|host multigrid in float|device "
                           "multigrid|device multigrid in float|amg|ilu|"
                           "direct"),
                         1));
        prm.add_parameter("Coarse operators",
                          operators,
                          "See the class Multigrid.",
                          Patterns::List(Patterns::Selection(
                                           "rescaled|assembled|galerkin"),
                                         1));
        prm.add_parameter(
          "Smoothers",
          smoothers,
          "One case each: Chebyshev polynomial, block Gauss-Seidel by colours, "
          "LU-SGS, ILU without or, on the host, with levels of fill-in.",
          Patterns::List(
            Patterns::Selection(
              "chebyshev|gauss-seidel|lu-sgs|ilu|ilu(1)|ilu(2)|ilu(3)"),
            1));
        prm.add_parameter("Smoothing steps",
                          steps,
                          "Degree of the polynomial, or sweeps; a study each.",
                          Patterns::List(Patterns::Integer(1), 1));
        prm.add_parameter(
          "Cycles",
          cycles,
          "One case each. W on lowest degree: V over the "
          "degrees, W over the levels that join polytopes.",
          Patterns::List(Patterns::Selection("V|W|W on lowest degree"), 1));
        prm.add_parameter(
          "Finest level",
          finest_levels,
          "One case each. Without a matrix: multigrid in double precision with "
          "assembled coarse operators and Chebyshev smoothers; on a device, "
          "for affine simplices and coefficients that are constant on each of "
          "them.",
          Patterns::List(Patterns::Selection("matrix|without matrix"), 1));
        prm.add_parameter("Nesting",
                          nesting,
                          "How polytopes are joined; coupling: by the matrix, "
                          "for anisotropic diffusion.",
                          Patterns::Selection(
                            "rtree|metis|matching|coupling|ancestors"));
        prm.add_parameter("Separate materials",
                          separate_materials,
                          "Split polytopes where the material (or what "
                          "Multigrid/Jumps makes of it) changes.");
        prm.add_parameter("Children",
                          children,
                          "Polytopes joined into one; 0: four in 2-D, eight in "
                          "3-D. Several numbers: one study for each.",
                          Patterns::List(Patterns::Integer(0), 1));
        prm.add_parameter("Coarsest polytopes",
                          coarsest,
                          "Levels end at this number.",
                          Patterns::Integer(1));
        prm.add_parameter("Jumps",
                          jumps,
                          "Diffusion in every second cube of edge 1/4, one in "
                          "the others, instead of Equation/Diffusion if not 1.",
                          Patterns::List(Patterns::Double(0.), 1));
        prm.add_parameter("Null space",
                          null_space,
                          "constants: nothing fixes the constant (Neumann or "
                          "periodic boundaries everywhere, no reaction). The "
                          "solvers, which must be multigrid, then find the "
                          "solution with mean value zero.",
                          Patterns::Selection("none|constants"));
        prm.declare_entry("Tolerance",
                          "1e-8",
                          Patterns::Double(0.),
                          "Residual over right-hand side at which the solvers "
                          "stop.");
        prm.add_parameter("Maximum iterations",
                          max_iterations,
                          "A solver that takes more has failed, and its row of "
                          "the table says so.",
                          Patterns::Integer(1));
        prm.add_parameter("CUDA graphs",
                          cuda_graphs,
                          "Whether multigrid cycles on a device are recorded "
                          "as CUDA graphs. Results are the same.");
        prm.add_parameter("Repetitions",
                          repetitions,
                          "Runs of every case; times are those of the "
                          "fastest.",
                          Patterns::Integer(1));
        prm.leave_subsection();
      }

      void
      parse(ParameterHandler &prm, const std::string &file)
      {
        StudyParameters::parse(prm, file);
        output.parse_parameters(file);
        prm.enter_subsection("Multigrid");
        tolerance = prm.get_double("Tolerance");
        prm.leave_subsection();
        AssertThrow(tolerance > 0. && tolerance < 1.,
                    ExcMessage("Multigrid/Tolerance must lie between 0 and "
                               "1."));
      }
    };



    /// One combination of the entries in the lists of parameters.
    struct Setting
    {
      std::string  solver, coarse_operator, smoother, cycle, finest_level;
      unsigned int children = 0, steps = 0;
    };

    struct Result
    {
      unsigned int levels = 0, iterations = 0;
      double       complexity = NAN, assembly = NAN, setup = NAN, solve = NAN,
             total = NAN;
      std::string failure;
    };



    template <int dim>
    class Study
    {
    public:
      explicit Study(const Parameters &parameters)
        : parameters(parameters)
        , problem(parameters.create_problem<dim>())
      {}

      void
      run()
      {
        parameters.output.print_machine(
          library_information() + ", " +
          std::to_string(MultithreadInfo::n_threads()) + " threads" +
          (cuda_is_available() ? ", " + cuda_device_name() : "") + ".");
        for (unsigned int level = 0; level < parameters.mesh.n_levels();
             ++level)
          run_mesh(level);
        finish();
        AssertThrow(any_solved || failure.empty(),
                    ExcMessage("No case was solved. The last one: " + failure));
      }

    private:
      const Parameters &parameters;
      Problem<dim>      problem;
      TextTable         table;
      bool              any_solved = false;
      std::string       failure; ///< of the last case that failed
      /// Curves of iterations and times against the number of DoFs, by case.
      std::map<std::string, PlotCurve> iterations, times;

      void
      run_mesh(const unsigned int level)
      {
        AgglomeratedMesh<dim> agglomerated = parameters.create_mesh<dim>(level);
        Triangulation<dim>   &triangulation = *agglomerated.mesh.triangulation;
        const bool jumping = parameters.jumps != std::vector<double>(1, 1.);
        if (jumping)
          for (const auto &cell : triangulation.active_cell_iterators())
            if (!cell->is_artificial())
              {
                int sum = 0;
                for (int d = 0; d < dim; ++d)
                  sum += static_cast<int>(std::floor(4. * cell->center()[d]));
                cell->set_material_id(std::abs(sum) % 2);
              }
        AgglomerationHandler<dim> handler(triangulation,
                                          agglomerated.mesh.mapping.get());
        handler.agglomerate(
          parameters.separate_materials
            ? Agglomeration::within_materials<dim>(agglomerated.strategy)
            : agglomerated.strategy);
        parameters.output.print("Mesh " + std::to_string(level) + ": " +
                                agglomerated.mesh.description + " in " +
                                std::to_string(handler.n_global_polytopes()) +
                                " polytopes.");
        const auto set_jump = [&](const double jump) {
          if (jumping)
            problem.form.set_diffusion(CellwiseCoefficient(
              std::map<types::material_id, double>{{0, 1.}, {1, jump}}));
        };
        if (parameters.null_space == "none")
          for (const double jump : parameters.jumps)
            {
              set_jump(jump);
              check_solvability(handler,
                                problem.form,
                                fix_the_constant +
                                  " Or set Multigrid/Null space = constants.");
            }
        for (const unsigned int degree : parameters.discretisation.degrees)
          {
            parameters.discretisation.distribute_dofs(handler, degree);
            if (validated(handler, level, degree, SystemMemory::block_matrix()))
              continue;
            compute_penalty_factors(handler,
                                    parameters.discretisation.penalty.formula);
            for (const double jump : parameters.jumps)
              {
                set_jump(jump);
                for (const unsigned int children : parameters.children)
                  for (const std::string &solver : parameters.solvers)
                    run_solver(level, degree, jump, children, solver, handler);
              }
          }
      }

      void
      run_solver(const unsigned int               level,
                 const unsigned int               degree,
                 const double                     jump,
                 const unsigned int               children,
                 const std::string               &solver,
                 const AgglomerationHandler<dim> &handler)
      {
        using Host           = HostBlockMatrix<double>;
        using Device         = DeviceBlockMatrix<double>;
        const auto solver_of = [&](const std::string &finest_level) {
          return finest_level == "without matrix"
                   ? (solver.find("device") == 0
                        ? &Study::solve_without_matrix<Device>
                        : &Study::solve_without_matrix<Host>)
                 : solver == "host multigrid" ? &Study::solve<Host, Host>
                 : solver == "host multigrid in float"
                   ? &Study::solve<Host, HostBlockMatrix<float>>
                 : solver == "device multigrid" ? &Study::solve<Device, Device>
                 : solver == "device multigrid in float"
                   ? &Study::solve<Device, DeviceBlockMatrix<float>>
                   : &Study::solve_by_trilinos;
        };
        const bool trilinos = solver.find("multigrid") == std::string::npos;
        const std::vector<std::string> none(1, "");
        for (const auto &coarse_operator :
             trilinos ? none : parameters.operators)
          for (const auto &smoother : trilinos ? none : parameters.smoothers)
            for (const auto &cycle : trilinos ? none : parameters.cycles)
              for (const auto &finest :
                   trilinos ? none : parameters.finest_levels)
                for (const unsigned int steps :
                     trilinos ? std::vector<unsigned int>(1, 0)
                              : parameters.steps)
                  {
                    const Setting setting = {solver,
                                             coarse_operator,
                                             smoother,
                                             cycle,
                                             finest,
                                             children,
                                             steps};
                    Result        best;
                    for (unsigned int r = 0; r < parameters.repetitions; ++r)
                      {
                        Result result;
                        try
                          {
                            (this->*solver_of(
                                      finest))(setting, handler, result);
                          }
                        catch (const SolverControl::NoConvergence &)
                          {
                            result.failure =
                              "no convergence in " +
                              std::to_string(parameters.max_iterations);
                          }
                        catch (const std::exception &exception)
                          {
                            result.failure = error_message(exception);
                          }
                        for (double *time : {&result.assembly,
                                             &result.setup,
                                             &result.solve,
                                             &result.total})
                          *time = Utilities::MPI::max(*time, MPI_COMM_WORLD);
                        if (r == 0 || result.total < best.total)
                          best = result;
                        if (!result.failure.empty())
                          break;
                      }
                    report(level, degree, jump, setting, handler, best);
                  }
      }

      void
      report(const unsigned int               level,
             const unsigned int               degree,
             const double                     jump,
             const Setting                   &setting,
             const AgglomerationHandler<dim> &handler,
             const Result                    &result)
      {
        table.start_row(level, degree);
        table.add("polytopes", std::uint64_t(handler.n_global_polytopes()));
        table.add("unknowns", std::uint64_t(handler.n_dofs()));
        std::string name = "p = " + std::to_string(degree);
        const auto  add  = [&](const std::string &column,
                             const std::string &value,
                             const bool         varies) {
          if (!value.empty())
            table.add(column, value);
          if (varies && !value.empty())
            name += ", " + value;
        };
        if (parameters.jumps.size() > 1)
          {
            table.add("jump", jump);
            std::ostringstream text;
            text << ", jump " << jump;
            name += text.str();
          }
        add("solver", setting.solver, parameters.solvers.size() > 1);
        add("coarse operators",
            setting.coarse_operator,
            parameters.operators.size() > 1);
        add("smoother", setting.smoother, parameters.smoothers.size() > 1);
        add("cycle", setting.cycle, parameters.cycles.size() > 1);
        if (setting.finest_level == "without matrix" ||
            parameters.finest_levels.size() > 1)
          add("finest level", setting.finest_level, true);
        if (parameters.steps.size() > 1)
          {
            table.add("steps", std::uint64_t(setting.steps));
            name += ", " + std::to_string(setting.steps) + " steps";
          }
        if (parameters.children.size() > 1)
          {
            table.add("children", std::uint64_t(setting.children));
            name += ", " + std::to_string(setting.children) + " children";
          }
        if (result.levels > 0)
          table.add("levels", std::uint64_t(result.levels));
        table.add("complexity", result.complexity);
        if (result.iterations > 0)
          table.add("iterations", std::uint64_t(result.iterations));
        table.add("assembly", result.assembly);
        table.add("set-up", result.setup);
        table.add("solve", result.solve);
        table.add("total", result.total);
        if (result.failure.empty())
          any_solved = true;
        else
          table.add("failed", failure = result.failure);
        parameters.output.print(
          "  " + name + ": " +
          (result.failure.empty()
             ? std::to_string(result.iterations) + " iterations"
             : result.failure));

        PlotCurve &n = iterations[name], &t = times[name];
        n.label = t.label = name;
        if (result.failure.empty() && result.iterations > 0)
          {
            n.x.push_back(handler.n_dofs());
            n.y.push_back(result.iterations);
          }
        if (result.failure.empty())
          {
            t.x.push_back(handler.n_dofs());
            t.y.push_back(result.total);
          }
      }

      // Waits until the device has finished; the host does not have to wait.
      static void
      wait(const HostVector<double> &)
      {}
      static void
      wait(const DeviceVector<double> &vector)
      {
        vector.linfty_norm();
      }

      NestedAgglomeration::Parents
      nest(const AgglomerationHandler<dim> &handler,
           const unsigned int               children) const
      {
        if (parameters.nesting == "ancestors")
          return NestedAgglomeration::ancestors(handler, parameters.coarsest);
        if (parameters.nesting == "coupling")
          {
            typename PolytopicAssembler<dim>::AdditionalData data;
            data.backend = Backend::host;
            data.penalty = parameters.discretisation.penalty;
            PolytopicAssembler<dim> assembler(handler, data);
            HostBlockMatrix<double> matrix;
            assembler.reinit(matrix);
            assembler.assemble_matrix(problem.form, matrix);
            return NestedAgglomeration::coupling(handler,
                                                 matrix,
                                                 children,
                                                 parameters.coarsest);
          }
        if (parameters.nesting == "matching")
          return NestedAgglomeration::matching(handler,
                                               children,
                                               parameters.coarsest);
        return parameters.nesting == "metis"
                 ? NestedAgglomeration::metis(handler,
                                              children,
                                              parameters.coarsest)
                 : NestedAgglomeration::rtree(handler,
                                              children,
                                              parameters.coarsest);
      }

      template <typename MG>
      static typename MG::Cycle
      cycle_of(const std::string &name)
      {
        return name == "V"   ? MG::Cycle::v
               : name == "W" ? MG::Cycle::w
                             : MG::Cycle::w_on_lowest_degree;
      }

      // MGMatrix is the matrix type of the preconditioner, possibly in single
      // precision.
      template <typename MatrixType, typename MGMatrix>
      void
      solve(const Setting                   &setting,
            const AgglomerationHandler<dim> &handler,
            Result                          &result)
      {
        constexpr bool device =
          std::is_same<MatrixType, DeviceBlockMatrix<double>>::value;
        using VectorType =
          std::conditional_t<device, DeviceVector<double>, HostVector<double>>;
        constexpr bool same = std::is_same<MatrixType, MGMatrix>::value;
        typename PolytopicAssembler<dim>::AdditionalData data;
        data.backend = device ? Backend::cuda : Backend::host;
        data.penalty = parameters.discretisation.penalty;

        Timer                   timer;
        PolytopicAssembler<dim> assembler(handler, data);
        MatrixType              matrix;
        VectorType              rhs, solution;
        assembler.reinit(matrix, rhs);
        assembler.assemble(problem.form, matrix, rhs);
        wait(rhs);
        result.assembly = timer.wall_time();

        timer.restart();
        const MultigridHierarchy hierarchy(handler,
                                           nest(handler, setting.children));
        using MG = Multigrid<MGMatrix>;
        MGMatrix rounded; // outlives the multigrid that refers to it
        MG       multigrid;
        typename MG::AdditionalData mg;
        mg.smoother = setting.smoother == "chebyshev" ? MG::Smoother::chebyshev
                      : setting.smoother == "lu-sgs"  ? MG::Smoother::lusgs
                      : setting.smoother.compare(0, 3, "ilu") == 0
                        ? MG::Smoother::ilu
                        : MG::Smoother::gauss_seidel;
        if (setting.smoother.compare(0, 4, "ilu(") == 0)
          mg.fill_level =
            Utilities::string_to_int(setting.smoother.substr(4, 1));
        mg.cycle             = cycle_of<MG>(setting.cycle);
        mg.n_smoothing_steps = setting.steps;
        mg.symmetric         = problem.symmetric;
        mg.cuda_graphs       = parameters.cuda_graphs;
        if (parameters.null_space == "constants")
          mg.constant_null_space = {true};
        if (setting.coarse_operator == "assembled")
          {
            const MGMatrix *of_multigrid = nullptr;
            if constexpr (same)
              of_multigrid = &matrix;
            else
              {
                rounded.copy_from(matrix);
                of_multigrid = &rounded;
              }
            multigrid.initialize(*of_multigrid,
                                 assemble_coarse_operators<MGMatrix>(
                                   handler, hierarchy, problem.form, data),
                                 hierarchy,
                                 mg);
          }
        else if (setting.coarse_operator == "galerkin")
          multigrid.initialize(matrix, hierarchy, mg);
        else
          {
            PenaltyParameters none = data.penalty;
            none.constant          = 0.;
            assembler.set_penalty(none);
            MatrixType without_penalty;
            assembler.reinit(without_penalty);
            assembler.assemble_matrix(problem.form, without_penalty);
            multigrid.initialize(matrix, without_penalty, hierarchy, mg);
          }
        wait(rhs);
        result.setup      = timer.wall_time();
        result.levels     = multigrid.report().levels.size();
        result.complexity = multigrid.report().operator_complexity;

        run_iteration(matrix, solution, rhs, multigrid, handler, result);
      }

      // The same with a MatrixFreeOperator as the finest level.
      template <typename MatrixType>
      void
      solve_without_matrix(const Setting                   &setting,
                           const AgglomerationHandler<dim> &handler,
                           Result                          &result)
      {
        AssertThrow((setting.solver == "host multigrid" ||
                     setting.solver == "device multigrid") &&
                      setting.coarse_operator == "assembled" &&
                      setting.smoother == "chebyshev",
                    ExcMessage(
                      "A finest level without a matrix needs "
                      "Multigrid/Solvers = host multigrid or device "
                      "multigrid, Coarse operators = assembled and Smoothers = "
                      "chebyshev."));
        constexpr bool device =
          std::is_same<MatrixType, DeviceBlockMatrix<double>>::value;
        using VectorType =
          std::conditional_t<device, DeviceVector<double>, HostVector<double>>;
        using MG = Multigrid<MatrixType>;
        typename PolytopicAssembler<dim>::AdditionalData data;
        data.backend = device ? Backend::cuda : Backend::host;
        data.penalty = parameters.discretisation.penalty;

        Timer                               timer;
        PolytopicAssembler<dim>             assembler(handler, data);
        MatrixFreeOperator<dim, MatrixType> matrix;
        VectorType                          rhs, solution;
        assembler.reinit(rhs);
        assembler.assemble_rhs(problem.form, rhs);
        matrix.initialize(handler, problem.form, data);
        wait(rhs);
        result.assembly = timer.wall_time();

        timer.restart();
        const MultigridHierarchy    hierarchy(handler,
                                           nest(handler, setting.children));
        MG                          multigrid;
        typename MG::AdditionalData mg;
        mg.cycle             = cycle_of<MG>(setting.cycle);
        mg.n_smoothing_steps = setting.steps;
        mg.symmetric         = problem.symmetric;
        mg.cuda_graphs       = parameters.cuda_graphs;
        if (parameters.null_space == "constants")
          mg.constant_null_space = {true};
        multigrid.initialize(matrix.block_diagonal(),
                             assemble_coarse_operators<MatrixType>(
                               handler, hierarchy, problem.form, data),
                             hierarchy,
                             mg);
        wait(rhs);
        result.setup  = timer.wall_time();
        result.levels = multigrid.report().levels.size();
        run_iteration(
          matrix.block_diagonal(), solution, rhs, multigrid, handler, result);
      }

      // Solves the system and fills the part of the result that belongs to it.
      template <typename MatrixType, typename VectorType, typename MG>
      void
      run_iteration(const MatrixType                &matrix,
                    VectorType                      &solution,
                    VectorType                      &rhs,
                    const MG                        &multigrid,
                    const AgglomerationHandler<dim> &handler,
                    Result                          &result) const
      {
        const Timer timer;
        solution.reinit(rhs);
        SolverControl control(parameters.max_iterations,
                              parameters.tolerance * rhs.l2_norm(),
                              false,
                              false);
        solve_system(matrix, solution, rhs, multigrid, handler, control);
        wait(solution);
        result.solve      = timer.wall_time();
        result.iterations = control.last_step();
        result.total      = result.assembly + result.setup + result.solve;
      }

      // Solves the system with one of the methods for it. If it has a null
      // space, the right-hand side is made consistent.
      template <typename MatrixType, typename VectorType, typename MG>
      void
      solve_system(const MatrixType                &matrix,
                   VectorType                      &solution,
                   VectorType                      &rhs,
                   const MG                        &multigrid,
                   const AgglomerationHandler<dim> &handler,
                   SolverControl                   &control) const
      {
        const Iteration iteration = {problem.symmetric ? "cg" : "gmres",
                                     60,
                                     control};
        if (parameters.null_space == "none")
          {
            iteration.solve(matrix, solution, rhs, multigrid);
            return;
          }
        const auto constants = NullSpace<VectorType>::constants(handler);
        constants.make_consistent(rhs);
        iteration.solve(matrix,
                        solution,
                        rhs,
                        ProjectedPreconditioner(constants, multigrid));
        constants.project(solution);
      }

      void
      solve_by_trilinos(const Setting                   &setting,
                        const AgglomerationHandler<dim> &handler,
                        Result                          &result)
      {
        AssertThrow(parameters.null_space == "none",
                    ExcMessage("Multigrid/Null space is for multigrid, not for "
                               "the solver " +
                               setting.solver + "."));
        typename PolytopicAssembler<dim>::AdditionalData data;
        data.backend = Backend::host;
        data.penalty = parameters.discretisation.penalty;
        Timer                          timer;
        PolytopicAssembler<dim>        assembler(handler, data);
        TrilinosWrappers::SparseMatrix matrix;
        TrilinosWrappers::MPI::Vector  rhs, solution;
        assembler.reinit(matrix, rhs);
        assembler.assemble(problem.form, matrix, rhs);
        result.assembly = timer.wall_time();

        timer.restart();
        solution.reinit(rhs);
        ParameterHandler prm;
        LinearSolver     solver;
        solver.declare_parameters(prm);
        prm.enter_subsection("Solver");
        prm.set("Method",
                setting.solver == "direct" ? "direct"
                : problem.symmetric        ? "cg"
                                           : "gmres");
        if (setting.solver != "direct")
          prm.set("Preconditioner", setting.solver);
        prm.set("Tolerance", parameters.tolerance);
        prm.set("Maximum iterations", long(parameters.max_iterations));
        prm.leave_subsection();
        solver.parse_parameters();
        const SolverReport report =
          solver.solve(handler, matrix, solution, rhs, problem.symmetric);
        // The time includes the set-up of the preconditioner.
        result.solve      = timer.wall_time();
        result.iterations = report.n_iterations;
        result.total      = result.assembly + result.solve;
      }

      void
      finish()
      {
        table.print(screen());
        const OutputInput &output = parameters.output;
        output.write_table(table);
        PlotFlags flags;
        flags.x_label = "unknowns";
        flags.y_label = "iterations";
        output.write_plot(list(iterations), "-iterations.svg", flags);
        flags.y_label = "seconds from flat view to solution";
        output.write_plot(list(times), "-time.svg", flags);
      }

      static std::vector<PlotCurve>
      list(const std::map<std::string, PlotCurve> &curves)
      {
        std::vector<PlotCurve> result;
        for (const auto &curve : curves)
          result.push_back(curve.second);
        return result;
      }
    };

    MainFunction *const main_function = run_study<Study, Parameters>;
  } // namespace Application
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Hybridizable dG from a parameter file, compared with interior penalty on the
// same polytopes. Prints errors, and the time of each stage in the categories
// of King, Yakovlev, Fu, Kirby and Sherwin (J. Sci. Comput. 60, 2014).

#include <deal.II/base/exceptions.h>
#include <deal.II/base/function.h>
#include <deal.II/base/parameter_handler.h>
#include <deal.II/base/timer.h>

#include <deal.II/fe/fe_system.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/solver_gmres.h>
#include <deal.II/lac/trilinos_precondition.h>
#include <deal.II/lac/trilinos_solver.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/error_message.h>
#include <tessella/base/on_all_processes.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/hdg/hdg.h>
#include <tessella/lac/block_preconditioners.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/numerics/vector_tools.h>

DEAL_II_DISABLE_EXTRA_DIAGNOSTICS
#include <Amesos.h>
DEAL_II_ENABLE_EXTRA_DIAGNOSTICS

#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/agglomeration_input.h"
#include "common/discretisation_input.h"
#include "common/distributed_mesh.h"
#include "common/equation_input.h"
#include "common/expression.h"
#include "common/mesh_input.h"
#include "common/program.h"
#include "common/solvability.h"
#include "common/text_table.h"

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

    struct Parameters
    {
      MeshInput           mesh;
      AgglomerationInput  agglomeration;
      EquationInput       equation;
      DiscretisationInput discretisation;
      std::string         trace_space, local_spaces, local_solvers;
      std::string         method, preconditioner, directory, name;
      Expression          tau;
      double              tolerance = 1e-10;
      unsigned int max_iterations = 10000, repetitions = 1, chebyshev_terms = 3,
                   restart = 150;
      bool compare = false, post_process = true;

      void
      declare(ParameterHandler &prm)
      {
        mesh.declare_parameters(prm);
        agglomeration.declare_parameters(prm);
        equation.declare_parameters(prm);
        discretisation.declare_parameters(prm);
        prm.enter_subsection("HDG");
        prm.declare_entry("Trace space",
                          "interface",
                          Patterns::Selection("interface|facet"),
                          "Polynomials on all that two polytopes share, or on "
                          "every facet.");
        prm.declare_entry("Local spaces",
                          "equal",
                          Patterns::Selection("equal|reduced flux"),
                          "equal: u, q and traces have the degree of the "
                          "discretisation. reduced flux: q and traces have one "
                          "degree less, Tau is divided by the size of the "
                          "polytope and acts on the projection of u to the "
                          "traces; full orders on polytopes of any shape, with "
                          "Trace space = facet, on the host. u is then what u* "
                          "is with equal spaces of one degree less, and u* is "
                          "not computed.");
        prm.declare_entry("Tau",
                          "1",
                          Patterns::Anything(),
                          "Stabilisation: a number, or an expression of x, y, "
                          "z, whose value in the middle of a facet counts for "
                          "it. Of the size of the diffusion over that of the "
                          "domain, not of the mesh.");
        prm.declare_entry("Local solvers",
                          "keep",
                          Patterns::Selection("keep|recompute"),
                          "Stored from generation to local solve, or not.");
        prm.declare_entry("Post-process",
                          "true",
                          Patterns::Bool(),
                          "Compute u* of one degree more (up to degree 9).");
        prm.declare_entry("Compare with interior penalty",
                          "false",
                          Patterns::Bool(),
                          "Solve by interior penalty on the same polytopes, "
                          "too.");
        prm.declare_entry(
          "Solver",
          "automatic",
          Patterns::Selection("automatic|iterative|direct"),
          "direct: sparse LU on the host (MUMPS, or KLU if Trilinos has no "
          "MUMPS). iterative: conjugate gradients, with advection GMRES. "
          "automatic: on a device iterative; on the host direct for up to "
          "100,000 unknowns in 2-D and 10,000 in 3-D, and iterative beyond; if "
          "the iteration does not converge, a line says so and the direct "
          "solver takes over.");
        prm.declare_entry(
          "Preconditioner",
          "automatic",
          Patterns::Selection("automatic|ssor|ilu|block gauss-seidel"),
          "Of iterations on the host. ssor: for problems without advection, "
          "and automatic there. ilu: with two levels of fill, for every "
          "process on its own rows; automatic with advection. block "
          "gauss-seidel: over the interfaces by colours, there and back; the "
          "same for any number of processes. Iterations on a device take block "
          "Chebyshev or block Jacobi (Chebyshev terms).");
        prm.declare_entry("GMRES basis",
                          "150",
                          Patterns::Integer(2),
                          "Vectors kept by GMRES before it restarts. With few "
                          "it stagnates where diffusion dominates.");
        prm.declare_entry("Chebyshev terms",
                          "3",
                          Patterns::Integer(1),
                          "Terms of the block Chebyshev preconditioner on a "
                          "device; 1: block Jacobi.");
        prm.declare_entry("Tolerance",
                          "1e-10",
                          Patterns::Double(0.),
                          "Relative residual of the iterative solver.");
        prm.declare_entry(
          "Maximum iterations",
          "10000",
          Patterns::Integer(1),
          "The iterative solver gives up then: an error, unless "
          "Solver = automatic solves on the host.");
        prm.declare_entry("Repetitions",
                          "1",
                          Patterns::Integer(1),
                          "Runs of every case; times are those of the "
                          "fastest.");
        prm.leave_subsection();
        prm.enter_subsection("Output");
        prm.declare_entry("Directory",
                          "results",
                          Patterns::Anything(),
                          "Folder for .csv files; empty: none are written.");
        prm.leave_subsection();
      }

      void
      parse(ParameterHandler &prm, const std::string &file)
      {
        mesh.parse_parameters(prm, file);
        agglomeration.parse_parameters(prm, file);
        equation.parse_parameters(prm, mesh.dimension(), file);
        discretisation.parse_parameters(prm, mesh.dimension());
        prm.enter_subsection("Equation");
        const auto constants =
          parse_constants("Equation/Constants", prm.get("Constants"));
        prm.leave_subsection();
        prm.enter_subsection("HDG");
        trace_space     = prm.get("Trace space");
        tau             = Expression("HDG/Tau",
                         prm.get("Tau"),
                         coordinate_names(mesh.dimension()),
                         constants);
        local_spaces    = prm.get("Local spaces");
        local_solvers   = prm.get("Local solvers");
        post_process    = prm.get_bool("Post-process");
        compare         = prm.get_bool("Compare with interior penalty");
        method          = prm.get("Solver");
        preconditioner  = prm.get("Preconditioner");
        restart         = prm.get_integer("GMRES basis");
        tolerance       = prm.get_double("Tolerance");
        max_iterations  = prm.get_integer("Maximum iterations");
        chebyshev_terms = prm.get_integer("Chebyshev terms");
        repetitions     = prm.get_integer("Repetitions");
        prm.leave_subsection();
        AssertThrow(tolerance > 0. && tolerance < 1.,
                    ExcMessage("HDG/Tolerance must lie between 0 and 1."));
        AssertThrow(local_spaces == "equal" || trace_space == "facet",
                    ExcMessage(
                      "HDG/Local spaces = reduced flux needs HDG/Trace "
                      "space = facet."));
        prm.enter_subsection("Output");
        directory = prm.get("Directory");
        prm.leave_subsection();
        check_folder("Output/Directory", directory);
        const std::size_t slash = file.find_last_of('/');
        name = slash == std::string::npos ? file : file.substr(slash + 1);
        name = name.substr(0, name.rfind('.'));
      }
    };

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

    template <int dim>
    class HDGStudy
    {
    public:
      explicit HDGStudy(const Parameters &parameters)
        : parameters(parameters)
        , problem(parameters.equation.create<dim>())
      {
        parameters.discretisation.configure(problem.form);
        AssertThrow(parameters.preconditioner != "ssor" ||
                      !problem.has_advection,
                    ExcMessage("HDG/Preconditioner = ssor is for problems "
                               "without advection: take automatic, ilu or "
                               "block gauss-seidel."));
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
      const Parameters &parameters;
      Problem<dim>      problem;
      TextTable         errors, times, comparison;
      struct Last
      {
        double error[3], n_polytopes;
      };
      std::map<unsigned int, Last> last; // key: degree

      void
      print(const std::string &title,
            const std::string &suffix,
            const TextTable   &table) const
      {
        if (table.empty())
          return;
        screen() << "\n" << title << "\n";
        table.print(screen());
        if (parameters.directory.empty())
          return;
        const std::string file =
          parameters.directory + "/" + parameters.name + suffix + ".csv";
        write_file(file, [&](std::ostream &out) { table.write_csv(out); });
        screen() << "Wrote " << file << ".\n";
      }

      void
      run_level(const unsigned int level)
      {
        const AgglomeratedMesh<dim> agglomerated =
          create_agglomerated_mesh<dim>(parameters.mesh,
                                        parameters.agglomeration,
                                        parameters.equation.has_cell_values(),
                                        level);
        const Mesh<dim>          &mesh = agglomerated.mesh;
        AgglomerationHandler<dim> handler(*mesh.triangulation,
                                          mesh.mapping.get()),
          flux_handler(*mesh.triangulation, mesh.mapping.get()),
          finer(*mesh.triangulation, mesh.mapping.get());
        for (auto *h : {&handler, &flux_handler, &finer})
          h->agglomerate(agglomerated.strategy);
        on_all_processes(MPI_COMM_WORLD, [&]() {
          parameters.equation.set_cell_values(problem, mesh, handler);
        });
        screen() << "Level " << level << ": " << mesh.description << " in "
                 << handler.n_global_polytopes() << " polytopes." << std::endl;
        check_solvability(handler, problem.form);
        for (const unsigned int degree : parameters.discretisation.degrees())
          run_degree(level, degree, handler, flux_handler, finer);
      }

      /// Solver that was used; a direct solver has no iterations.
      struct Solution
      {
        std::string  solver;
        unsigned int n_iterations = 0;
      };

      bool
      is_direct(const types::global_dof_index n_unknowns) const
      {
        // The fill-in is moderate in 2-D but large in 3-D.
        return parameters.method == "direct" ||
               (parameters.method == "automatic" &&
                n_unknowns <= (dim == 2 ? 100000u : 10000u));
      }

      template <typename MatrixType, typename Vector, typename Preconditioner>
      void
      iterate(SolverControl        &control,
              const MatrixType     &matrix,
              Vector               &solution,
              const Vector         &rhs,
              const Preconditioner &preconditioner) const
      {
        if (!problem.has_advection)
          {
            SolverCG<Vector>(control).solve(matrix,
                                            solution,
                                            rhs,
                                            preconditioner);
            return;
          }
        typename SolverGMRES<Vector>::AdditionalData data;
        data.max_n_tmp_vectors     = parameters.restart + 2;
        data.right_preconditioning = true;
        SolverGMRES<Vector>(control, data)
          .solve(matrix, solution, rhs, preconditioner);
      }

      static void
      solve_directly(const TrilinosWrappers::SparseMatrix &matrix,
                     TrilinosWrappers::MPI::Vector        &solution,
                     const TrilinosWrappers::MPI::Vector  &rhs)
      {
        using Direct = TrilinosWrappers::SolverDirect;
        SolverControl control;
        Direct        solver(control,
                      Direct::AdditionalData(false,
                                             Amesos().Query("Amesos_Mumps")
                                                      ? "Amesos_Mumps"
                                                      : "Amesos_Klu"));
        solver.initialize(matrix);
        solver.solve(solution, rhs);
        TrilinosWrappers::MPI::Vector residual(rhs);
        matrix.vmult(residual, solution);
        residual.sadd(-1., 1., rhs);
        // The residual is this large only if the matrix is singular.
        AssertThrow(residual.l2_norm() < 1e-4 * rhs.l2_norm(),
                    ExcMessage("The direct solver's result does not solve the "
                               "linear system: the problem may have no unique "
                               "solution."));
      }

      /// @p copy_blocks copies the matrix to a block matrix.
      Solution
      solve(const TrilinosWrappers::SparseMatrix                 &matrix,
            const std::function<void(HostBlockMatrix<double> &)> &copy_blocks,
            TrilinosWrappers::MPI::Vector                        &solution,
            const TrilinosWrappers::MPI::Vector                  &rhs) const
      {
        solution = 0.;
        if (rhs.size() == 0 || rhs.l2_norm() == 0.)
          return {"none", 0};
        if (is_direct(rhs.size()))
          {
            solve_directly(matrix, solution, rhs);
            return {"direct", 0};
          }
        std::string preconditioner = parameters.preconditioner;
        if (preconditioner == "automatic")
          preconditioner = problem.has_advection ? "ilu" : "ssor";
        const std::string name =
          (problem.has_advection ? "gmres with " : "cg with ") + preconditioner;
        SolverControl control(parameters.max_iterations,
                              parameters.tolerance * rhs.l2_norm(),
                              false,
                              false);
        try
          {
            if (preconditioner == "ilu")
              {
                TrilinosWrappers::PreconditionILU ilu;
                ilu.initialize(
                  matrix, TrilinosWrappers::PreconditionILU::AdditionalData(2));
                iterate(control, matrix, solution, rhs, ilu);
              }
            else if (preconditioner == "ssor")
              {
                TrilinosWrappers::PreconditionSSOR ssor;
                ssor.initialize(matrix);
                iterate(control, matrix, solution, rhs, ssor);
              }
            else
              {
                HostBlockMatrix<double> blocks;
                copy_blocks(blocks);
                using Preconditioner =
                  BlockGaussSeidel<HostBlockMatrix<double>>;
                typename Preconditioner::AdditionalData data;
                data.symmetric = !problem.has_advection;
                Preconditioner gauss_seidel;
                gauss_seidel.initialize(blocks, data);
                iterate(control, blocks, solution, rhs, gauss_seidel);
              }
          }
        catch (const SolverControl::NoConvergence &exception)
          {
            if (parameters.method != "automatic")
              throw_no_convergence(exception);
            screen() << "The iterative solver (" << name
                     << ") did not converge in " << exception.last_step
                     << " iterations on " << rhs.size()
                     << " unknowns; the direct solver takes over." << std::endl;
            solution = 0.;
            solve_directly(matrix, solution, rhs);
            return {"direct", 0};
          }
        return {name, control.last_step()};
      }

      /// Solves the system on a device.
      Solution
      solve(const DeviceBlockMatrix<double> &matrix,
            DeviceVector<double>            &solution,
            const DeviceVector<double>      &rhs) const
      {
        solution          = 0.;
        const double norm = rhs.size() > 0 ? rhs.l2_norm() : 0.;
        if (norm == 0.)
          return {"none", 0};
        SolverControl control(parameters.max_iterations,
                              parameters.tolerance * norm,
                              false,
                              false);
        const bool    chebyshev =
          !problem.has_advection && parameters.chebyshev_terms > 1;
        try
          {
            if (chebyshev)
              {
                BlockChebyshev<DeviceBlockMatrix<double>> preconditioner;
                typename BlockChebyshev<
                  DeviceBlockMatrix<double>>::AdditionalData data;
                data.degree = parameters.chebyshev_terms;
                preconditioner.initialize(matrix, data);
                iterate(control, matrix, solution, rhs, preconditioner);
              }
            else
              {
                BlockJacobi<DeviceBlockMatrix<double>> preconditioner;
                preconditioner.initialize(matrix);
                iterate(control, matrix, solution, rhs, preconditioner);
              }
          }
        catch (const SolverControl::NoConvergence &exception)
          {
            throw_no_convergence(exception);
          }
        return {std::string(problem.has_advection ? "gmres" : "cg") + " with " +
                  (chebyshev ? "block chebyshev" : "block jacobi"),
                control.last_step()};
      }

      static void
      throw_no_convergence(const SolverControl::NoConvergence &exception)
      {
        AssertThrow(false,
                    ExcMessage(
                      "The iterative solver did not converge in " +
                      std::to_string(exception.last_step) +
                      " iterations; the residual is " +
                      short_text(exception.last_residual) +
                      ". Raise HDG/Maximum iterations or HDG/Tolerance, or set "
                      "HDG/Solver to direct."));
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

      static std::string
      scientific(const double error)
      {
        if (!std::isfinite(error))
          return "";
        char text[32];
        std::snprintf(text, sizeof(text), "%.2e", error);
        return text;
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
          parameters.discretisation.extra_order());
        return VectorTools::compute_global_error(handler,
                                                 difference,
                                                 dealii::VectorTools::L2_norm);
      }

      void
      run_degree(const unsigned int         level,
                 const unsigned int         degree,
                 AgglomerationHandler<dim> &handler,
                 AgglomerationHandler<dim> &flux_handler,
                 AgglomerationHandler<dim> &finer)
      {
        parameters.discretisation.distribute_dofs(handler, degree);
        const bool tensor_product =
          handler.polynomial_space() == PolynomialSpaceType::tensor_product;
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
            const PolytopicMesh<dim> &facets = handler.polytopic_mesh();
            data.tau_of_facet = [this, &facets](const unsigned int f,
                                                const unsigned int) {
              return tau(facets, f);
            };
          }
        // advective form of the equation in the parameter file
        data.advection       = AdvectionForm::convective;
        data.local_solvers   = parameters.local_solvers == "keep"
                                 ? LocalSolvers::keep
                                 : LocalSolvers::recompute;
        data.instruction_set = parameters.discretisation.instruction_set();
        data.backend =
          parameters.method == "direct" &&
              parameters.discretisation.backend() == Backend::automatic
            ? Backend::host
            : parameters.discretisation.backend();
        HDG<dim>                       hdg(handler, data);
        TrilinosWrappers::SparseMatrix matrix;
        TrilinosWrappers::MPI::Vector  rhs, trace, u, q, post;
        // A direct solver needs the matrix on the host, and so does a run on
        // several processes.
        const bool on_device =
          hdg.backend() == Backend::cuda && parameters.method != "direct" &&
          Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) == 1;
        struct OnDevice
        {
          DeviceBlockMatrix<double> matrix;
          DeviceVector<double>      rhs, trace, u, q;
        };
        std::unique_ptr<OnDevice> device;
        if (on_device)
          {
            device = std::make_unique<OnDevice>();
            hdg.reinit(problem.form, device->matrix, device->rhs);
            device->trace.reinit(device->rhs);
          }
        else
          {
            hdg.reinit(problem.form, matrix, rhs);
            trace.reinit(rhs);
          }

        // Each stage has the time of its fastest repetition.
        double generation = 1e300, assembly = 1e300, global = 1e300,
               local = 1e300, coefficients = 1e300;
        Solution solved;
        for (unsigned int run = 0; run < parameters.repetitions; ++run)
          {
            if (on_device)
              hdg.assemble(problem.form, device->matrix, device->rhs);
            else
              hdg.assemble(problem.form, matrix, rhs);
            Timer timer;
            try
              {
                solved = on_device
                           ? solve(device->matrix, device->trace, device->rhs)
                           : solve(
                               matrix,
                               [&](HostBlockMatrix<double> &blocks) {
                                 hdg.copy_blocks(matrix, blocks);
                               },
                               trace,
                               rhs);
              }
            catch (const std::exception &exception)
              {
                check_tau(handler, error_message(exception));
                throw;
              }
            global = std::min(global, timer.wall_time());
            if (on_device)
              hdg.recover(problem.form, device->trace, device->u, device->q);
            else
              hdg.recover(problem.form, trace, u, q);
            const HDGReport &report = hdg.report();
            coefficients = std::min(coefficients, report.coefficient_time);
            generation   = std::min(generation, report.local_generation_time);
            assembly     = std::min(assembly, report.global_assembly_time);
            local        = std::min(local, report.local_solve_time);
          }
        if (level == 0 && degree == parameters.discretisation.degrees()[0] &&
            !hdg.report().coefficients.empty())
          screen() << "Coefficients: " << hdg.report().coefficients << "."
                   << std::endl;
        // Times are those of the slowest process; operations are summed over
        // all processes.
        for (double *time :
             {&generation, &assembly, &global, &local, &coefficients})
          *time = Utilities::MPI::max(*time, MPI_COMM_WORLD);
        HDGReport report = hdg.report();
        for (double *time : {&report.trace_space_time, &report.structure_time})
          *time = Utilities::MPI::max(*time, MPI_COMM_WORLD);
        for (double *operations : {&report.local_generation_operations,
                                   &report.local_solve_operations})
          *operations = Utilities::MPI::sum(*operations, MPI_COMM_WORLD);
        const std::uint64_t n_nonzero = on_device
                                          ? device->matrix.n_nonzero_elements()
                                          : matrix.n_nonzero_elements();
        if (on_device)
          {
            u.reinit(complete_index_set(handler.n_dofs()), MPI_COMM_WORLD);
            q.reinit(complete_index_set(dim * handler.n_dofs()),
                     MPI_COMM_WORLD);
            device->u.copy_to(u);
            device->q.copy_to(q);
          }

        // ---- errors
        double error_u = std::nan("");
        errors.start_row();
        errors.add("level", std::uint64_t(level));
        errors.add("degree", std::uint64_t(degree));
        errors.add("polytopes", std::uint64_t(handler.n_global_polytopes()));
        errors.add("trace unknowns", hdg.n_dofs());
        errors.add("non-zeros", n_nonzero);
        if (problem.exact_solution != nullptr)
          {
            const PolynomialSpaceType space =
              tensor_product ? PolynomialSpaceType::tensor_product
                             : PolynomialSpaceType::total_degree;
            const ExactFlux<dim> flux(problem.form, *problem.exact_solution);
            // The errors of q and u* need the same degree on all polytopes.
            const bool hp     = parameters.discretisation.is_hp();
            double present[3] = {L2_error(handler, u, *problem.exact_solution),
                                 std::nan(""),
                                 std::nan("")};
            if (!hp)
              {
                flux_handler.distribute_dofs(
                  FESystem<dim>(FE_BoundingBoxLegendre<dim>(degree, space),
                                dim));
                present[1] = L2_error(flux_handler, q, flux);
              }
            if (!hp && parameters.post_process &&
                data.spaces == LocalSpaces::equal &&
                degree < Legendre::max_degree)
              {
                finer.distribute_dofs(
                  FE_BoundingBoxLegendre<dim>(degree + 1, space));
                hdg.post_process(problem.form, u, q, finer, post);
                present[2] = L2_error(finer, post, *problem.exact_solution);
              }
            error_u                   = present[0];
            const char *const names[] = {"u", "q", "u*"};
            const auto        before  = last.find(degree);
            for (unsigned int i = 0; i < 3; ++i)
              {
                errors.add(std::string(names[i]) + " error",
                           scientific(present[i]));
                if (before != last.end())
                  errors.add(std::string(names[i]) + " rate",
                             dim *
                               std::log(before->second.error[i] / present[i]) /
                               std::log(handler.n_global_polytopes() /
                                        before->second.n_polytopes));
              }
            last[degree] = {{present[0], present[1], present[2]},
                            1. * handler.n_global_polytopes()};
          }

        // ---- times in milliseconds
        times.start_row();
        times.add("level", std::uint64_t(level));
        times.add("degree", std::uint64_t(degree));
        times.add("polytopes", std::uint64_t(handler.n_global_polytopes()));
        times.add("trace spaces ms", 1e3 * report.trace_space_time);
        times.add("structure ms", 1e3 * report.structure_time);
        times.add("backend", name(report.backend));
        if (report.backend == Backend::cuda)
          times.add("coefficients ms", 1e3 * coefficients);
        else
          coefficients = 0.;
        times.add("local generation ms", 1e3 * generation);
        times.add("GFLOP/s",
                  1e-9 * report.local_generation_operations / generation);
        times.add("global assembly ms", 1e3 * assembly);
        times.add("global solve ms", 1e3 * global);
        times.add("solver", solved.solver);
        times.add("iterations", std::uint64_t(solved.n_iterations));
        times.add("local solve ms", 1e3 * local);
        times.add("local solve GFLOP/s",
                  1e-9 * report.local_solve_operations / local);
        times.add("total ms",
                  1e3 *
                    (coefficients + generation + assembly + global + local));

        if (!parameters.compare)
          return;
        const auto add_method = [&](const std::string  &name,
                                    const std::uint64_t n_unknowns,
                                    const std::uint64_t n_nonzero,
                                    const double        set_up,
                                    const double        solution_time,
                                    const Solution     &solved,
                                    const double        recovery,
                                    const double        error) {
          comparison.start_row();
          comparison.add("level", std::uint64_t(level));
          comparison.add("degree", std::uint64_t(degree));
          comparison.add("method", name);
          comparison.add("unknowns", n_unknowns);
          comparison.add("non-zeros", n_nonzero);
          comparison.add("assembly ms", 1e3 * set_up);
          comparison.add("solve ms", 1e3 * solution_time);
          comparison.add("solver", solved.solver);
          comparison.add("iterations", std::uint64_t(solved.n_iterations));
          comparison.add("recovery ms", 1e3 * recovery);
          comparison.add("u error", scientific(error));
        };
        add_method("HDG",
                   hdg.n_dofs(),
                   n_nonzero,
                   generation + assembly,
                   global,
                   solved,
                   local,
                   error_u);
        typename PolytopicAssembler<dim>::AdditionalData dg;
        dg.backend         = Backend::host;
        dg.instruction_set = data.instruction_set;
        dg.penalty         = parameters.discretisation.penalty();
        PolytopicAssembler<dim>        assembler(handler, dg);
        TrilinosWrappers::SparseMatrix dg_matrix;
        TrilinosWrappers::MPI::Vector  dg_rhs, dg_solution;
        assembler.reinit(dg_matrix, dg_rhs);
        dg_solution.reinit(dg_rhs);
        assembly = 1e300;
        global   = 1e300;
        for (unsigned int run = 0; run < parameters.repetitions; ++run)
          {
            Timer timer;
            assembler.assemble(problem.form, dg_matrix, dg_rhs);
            assembly = std::min(assembly, timer.wall_time());
            timer.restart();
            solved = solve(
              dg_matrix,
              [&](HostBlockMatrix<double> &blocks) {
                assembler.reinit(blocks);
                assembler.assemble_matrix(problem.form, blocks);
              },
              dg_solution,
              dg_rhs);
            global = std::min(global, timer.wall_time());
          }
        for (double *time : {&assembly, &global})
          *time = Utilities::MPI::max(*time, MPI_COMM_WORLD);
        add_method("IP-dG",
                   handler.n_dofs(),
                   dg_matrix.n_nonzero_elements(),
                   assembly,
                   global,
                   solved,
                   0.,
                   problem.exact_solution != nullptr
                     ? L2_error(handler, dg_solution, *problem.exact_solution)
                     : std::nan(""));
      }
    };
  } // namespace Application
} // namespace Tessella

int
main(int argc, char **argv)
{
  using namespace Tessella::Application;

  return run_study<HDGStudy, Parameters>(argc, argv, info);
}

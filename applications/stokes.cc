// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Stokes' equations on polytopes,
//
//   -nu Laplace(u) + grad p = f,   div u = 0 (or given),   u = g on the
//   boundary,
//
// with velocities of degree k and pressures of degree k - 1: two handlers on
// the same polytopes, a square system of forms, and a rectangular one. The
// saddle point problem
//
//   [ A  B^T ] [u]   [f]
//   [ B   0  ] [p] = [g]
//
// is solved by MINRES, which is preconditioned by A^{-1} and the inverse of the
// mass matrix of the pressure.

#include <deal.II/base/convergence_table.h>

#include <deal.II/fe/fe_system.h>
#include <deal.II/lac/la_parallel_block_vector.h>
#include <deal.II/lac/solver_minres.h>
#include <deal.II/lac/trilinos_precondition.h>
#include <deal.II/lac/trilinos_solver.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/assembly/rectangular_assembler.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/forms/divergence_form.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/numerics/mass_matrix.h>
#include <tessella/numerics/vector_tools.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "common/distributed_mesh.h"
#include "common/expression.h"
#include "common/program.h"
#include "common/solvability.h"
#include "common/system_study.h"
#include "common/validation.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    using VectorType      = LinearAlgebra::distributed::Vector<double>;
    using BlockVectorType = LinearAlgebra::distributed::BlockVector<double>;

    const ProgramInfo info = {
      "stokes",
      "Stokes' equations by the interior penalty dG method on polytopes",
      "Solves -nu Laplace(u) + grad p = f with a given divergence, where the\n"
      "exact velocity and pressure are given in the parameter file, for a\n"
      "sequence of meshes and a list of polynomial degrees k: velocities have\n"
      "degree k, pressures degree k - 1. It prints the errors of u in L2 and of\n"
      "its gradient (broken H1) and of p in L2 with their rates, with respect "
      "to\n"
      "unknowns^(-1/dim).\n\n"
      "It writes the tables to the file NAME.txt in the folder "
      "Output/Directory,\n"
      "where NAME is the name of the parameter file. Mistakes in the input end\n"
      "in one sentence and a non-zero exit status.\n\n"
      "On several MPI processes (mpirun) the mesh is distributed over them, see\n"
      "Mesh/Distribution; the result is the same for the same polytopes.\n",
      true};

    struct Parameters : SystemStudyParameters
    {
      double      viscosity = 1.;
      std::string velocity =
        "sin(pi*x)^2*sin(2*pi*y); -sin(2*pi*x)*sin(pi*y)^2";
      std::string pressure       = "cos(pi*x)*cos(pi*y)";
      std::string preconditioner = "direct";

      void
      declare(ParameterHandler &prm)
      {
        penalty_constant = 2.5;
        MeshParameters::declare(prm);
        prm.enter_subsection("Stokes");
        prm.add_parameter("Viscosity",
                          viscosity,
                          "nu, positive.",
                          Patterns::Double());
        prm.add_parameter("Exact velocity",
                          velocity,
                          "Its components, separated by semicolons, as "
                          "expressions of x, y, z. Force, divergence and "
                          "boundary data follow from it.");
        prm.add_parameter("Exact pressure",
                          pressure,
                          "An expression of x, y, z. The mean value of the "
                          "discrete pressure is the same.");
        prm.leave_subsection();
        declare_discretisation(prm,
                               " of the velocity; those of the pressure are "
                               "lower by one",
                               "C nu p^2 / h",
                               "Processors of the assembly of the velocity's "
                               "matrix. automatic: a CUDA device if there is "
                               "one. The host assembles the rectangular "
                               "matrix.");
        prm.leave_subsection();
        prm.enter_subsection("Solver");
        prm.add_parameter("Velocity preconditioner",
                          preconditioner,
                          "direct: sparse LU. amg: a V-cycle of algebraic "
                          "multigrid.",
                          Patterns::Selection("direct|amg"));
        declare_tolerance(prm,
                          "MINRES",
                          "Preconditioned residual at which MINRES ends, "
                          "relative to the first one.");
        prm.leave_subsection();
        declare_output(prm);
        prm.leave_subsection();
      }

      void
      parse(ParameterHandler &prm, const std::string &file)
      {
        SystemStudyParameters::parse(prm, file);
        AssertThrow(viscosity > 0.,
                    ExcMessage("Stokes/Viscosity must be positive."));
      }
    };

    /// Exact velocity and pressure, and the force that belongs to them.
    template <int dim>
    class ExactSolution
    {
    public:
      explicit ExactSolution(const Parameters &parameters)
        : viscosity(parameters.viscosity)
        , velocity(
            parse_vector("Stokes/Exact velocity", parameters.velocity, dim))
      {
        pressure = Expression("Stokes/Exact pressure",
                              parameters.pressure,
                              coordinate_names(dim),
                              parse_constants("Stokes/Exact pressure", ""));
      }

      void
      evaluate_velocity(const Point<dim>  &x,
                        const unsigned int component,
                        double            &u,
                        Tensor<1, dim>    &gradient) const
      {
        velocity[component].template derivatives<dim>({x},
                                                      &u,
                                                      &gradient,
                                                      nullptr);
        check_finite(u + gradient.norm());
      }

      double
      evaluate_pressure(const Point<dim> &x) const
      {
        double p;
        pressure.template derivatives<dim>({x}, &p, nullptr, nullptr);
        check_finite(p);
        return p;
      }

      /// Evaluates one component of -nu Laplace(u) + grad p.
      double
      evaluate_force(const Point<dim> &x, const unsigned int component) const
      {
        SymmetricTensor<2, dim> hessian;
        Tensor<1, dim>          gradient;
        velocity[component].template derivatives<dim>({x},
                                                      nullptr,
                                                      nullptr,
                                                      &hessian);
        pressure.template derivatives<dim>({x}, nullptr, &gradient, nullptr);
        const double f = gradient[component] - viscosity * trace(hessian);
        check_finite(f);
        return f;
      }

    private:
      static void
      check_finite(const double value)
      {
        AssertThrow(std::isfinite(value),
                    ExcMessage("The exact solution of Stokes or one of its "
                               "derivatives is not finite somewhere in the "
                               "domain."));
      }

      const double            viscosity;
      std::vector<Expression> velocity;
      Expression              pressure;
    };

    /// A function from a function object for its values and, if they are
    /// needed, one for its gradients.
    template <int dim>
    class ExactFunction : public Function<dim>
    {
    public:
      using Value = std::function<double(const Point<dim> &, unsigned int)>;
      using Gradient =
        std::function<Tensor<1, dim>(const Point<dim> &, unsigned int)>;

      ExactFunction(const unsigned int n_components,
                    const Value       &f,
                    const Gradient    &g = nullptr)
        : Function<dim>(n_components)
        , f(f)
        , g(g)
      {}

      double
      value(const Point<dim> &x, const unsigned int component) const override
      {
        return f(x, component);
      }

      Tensor<1, dim>
      gradient(const Point<dim> &x, const unsigned int component) const override
      {
        return g(x, component);
      }

    private:
      const Value    f;
      const Gradient g;
    };

    /// -nu Laplace(u) = f with u = g on the boundary, component by component.
    template <int dim>
    class VelocityForm : public SystemForm<dim>
    {
    public:
      VelocityForm(const Parameters         &parameters,
                   const ExactSolution<dim> &exact)
        : forms(dim)
      {
        for (unsigned int c = 0; c < dim; ++c)
          {
            forms[c].set_diffusion(parameters.viscosity);
            forms[c].set_source(std::make_shared<ExactFunction<dim>>(
              1, [&exact, c](const Point<dim> &x, const unsigned int) {
                return exact.evaluate_force(x, c);
              }));
            BoundaryCondition<dim> condition;
            condition.value = std::make_shared<ExactFunction<dim>>(
              1, [&exact, c](const Point<dim> &x, const unsigned int) {
                double         u;
                Tensor<1, dim> gradient;
                exact.evaluate_velocity(x, c, u, gradient);
                return u;
              });
            forms[c].set_default_boundary_condition(condition);
            forms[c].set_coefficient_order(parameters.extra_order);
          }
      }

      unsigned int
      n_test_components() const override
      {
        return dim;
      }

      const Form<dim> *
      form(const unsigned int test, const unsigned int trial) const override
      {
        return test == trial ? &forms[test] : nullptr;
      }

    private:
      std::vector<AdvectionDiffusionReaction<dim>> forms;
    };

    /// The matrix of the saddle point problem.
    struct SaddlePoint
    {
      TrilinosWrappers::SparseMatrix A, B;

      void
      vmult(BlockVectorType &to, const BlockVectorType &from) const
      {
        A.vmult(to.block(0), from.block(0));
        B.Tvmult_add(to.block(0), from.block(1));
        B.vmult(to.block(1), from.block(0));
      }
    };

    /// Approximate inverse of A, and the inverse mass matrix times nu.
    template <int dim>
    class BlockPreconditioner
    {
    public:
      BlockPreconditioner(const Parameters                     &parameters,
                          const TrilinosWrappers::SparseMatrix &A,
                          const MassMatrix<dim>                &mass)
        : viscosity(parameters.viscosity)
        , direct(parameters.preconditioner == "direct")
        , mass(mass)
        , solver(control)
      {
        if (direct)
          solver.initialize(A);
        else
          {
            TrilinosWrappers::PreconditionAMG::AdditionalData data;
            data.smoother_sweeps = 3;
            amg.initialize(A, data);
          }
      }

      void
      vmult(BlockVectorType &to, const BlockVectorType &from) const
      {
        if (direct)
          solver.solve(to.block(0), from.block(0));
        else
          amg.vmult(to.block(0), from.block(0));
        to.block(1) = from.block(1);
        mass.apply_inverse(viscosity, to.block(1));
      }

    private:
      const double                           viscosity;
      const bool                             direct;
      const MassMatrix<dim>                 &mass;
      SolverControl                          control;
      mutable TrilinosWrappers::SolverDirect solver;
      TrilinosWrappers::PreconditionAMG      amg;
    };

    template <int dim>
    class Stokes
    {
    public:
      explicit Stokes(const Parameters &parameters)
        : parameters(parameters)
        , exact(parameters)
      {}

      void
      run()
      {
        std::ostringstream tables;
        for (const unsigned int degree : parameters.degrees)
          {
            ConvergenceTable table;
            for (unsigned int level = 0; level < parameters.mesh.n_levels();
                 ++level)
              add_level(level, degree, table);
            print_errors("Degree " + std::to_string(degree) + " and " +
                           std::to_string(degree - 1),
                         table,
                         {"u L2", "u H1", "p L2"},
                         dim,
                         tables);
          }
        write_file(parameters.file(".txt"),
                   [&](std::ostream &out) { out << tables.str(); });
      }

    private:
      const Parameters        &parameters;
      const ExactSolution<dim> exact;
      SaddlePoint              system;
      BlockVectorType          rhs, solution;

      void
      add_level(const unsigned int level,
                const unsigned int degree,
                ConvergenceTable  &table)
      {
        const AgglomeratedMesh<dim> agglomerated =
          create_agglomerated_mesh<dim>(parameters.mesh,
                                        parameters.agglomeration,
                                        false,
                                        level);
        const Mesh<dim>          &mesh = agglomerated.mesh;
        AgglomerationHandler<dim> velocity(*mesh.triangulation,
                                           mesh.mapping.get()),
          pressure(*mesh.triangulation, mesh.mapping.get());
        velocity.agglomerate(agglomerated.strategy);
        pressure.agglomerate(agglomerated.strategy);
        velocity.distribute_dofs(
          FESystem<dim>(FE_BoundingBoxLegendre<dim>(degree), dim));
        pressure.distribute_dofs(FE_BoundingBoxLegendre<dim>(degree - 1));
        if (run_mode().validate)
          {
            SystemSize       size        = system_size(velocity);
            const SystemSize of_pressure = system_size(pressure);
            size.n_unknowns += of_pressure.n_unknowns;
            size.n_entries += of_pressure.n_entries;
            validate_system(level, degree, size, SystemMemory::trilinos());
            return;
          }

        assemble(velocity, pressure);
        check_solvability(velocity,
                          system.A,
                          "the velocity",
                          "Leave out one of Mesh/Periodic boundaries.");
        const unsigned int n_iterations = solve(pressure);
        table.add_value("level", level);
        table.add_value("polytopes", velocity.n_global_polytopes());
        table.add_value("unknowns", velocity.n_dofs() + pressure.n_dofs());
        table.add_value("iterations", n_iterations);
        compute_errors(velocity, pressure, table);
      }

      void
      assemble(const AgglomerationHandler<dim> &velocity,
               const AgglomerationHandler<dim> &pressure)
      {
        AssemblyParameters            data = parameters.assembly_parameters();
        PolytopicAssembler<dim>       assembler(velocity, data);
        TrilinosWrappers::MPI::Vector f;
        system.A.clear();
        assembler.reinit(system.A, f);
        assembler.assemble(VelocityForm<dim>(parameters, exact), system.A, f);

        rhs.reinit(2);
        rhs.block(0).reinit(velocity.locally_owned_dofs(),
                            velocity.get_communicator());
        std::copy(f.begin(), f.end(), rhs.block(0).begin());

        data.backend = Backend::host;
        RectangularAssembler<dim> rectangular(pressure, velocity, data);
        DivergenceForm<dim>       form;
        form.set_dirichlet(velocity_function());
        form.set_coefficient_order(parameters.extra_order);
        system.B.clear();
        rectangular.reinit(system.B, rhs.block(1));
        rectangular.assemble(form, system.B, rhs.block(1));
        rhs.collect_sizes();
        // Zero for Stokes' equations proper.
        rhs.block(1) -= moments(pressure, [this](const Point<dim> &x) {
          double divergence = 0.;
          for (unsigned int c = 0; c < dim; ++c)
            {
              double         u;
              Tensor<1, dim> gradient;
              exact.evaluate_velocity(x, c, u, gradient);
              divergence += gradient[c];
            }
          return divergence;
        });
      }

      std::shared_ptr<const ExactFunction<dim>>
      velocity_function() const
      {
        return std::make_shared<const ExactFunction<dim>>(
          dim,
          [this](const Point<dim> &x, const unsigned int c) {
            double         u;
            Tensor<1, dim> gradient;
            exact.evaluate_velocity(x, c, u, gradient);
            return u;
          },
          [this](const Point<dim> &x, const unsigned int c) {
            double         u;
            Tensor<1, dim> gradient;
            exact.evaluate_velocity(x, c, u, gradient);
            return gradient;
          });
      }

      /// Returns int f q for the test functions q of the pressure.
      VectorType
      moments(const AgglomerationHandler<dim>                 &pressure,
              const std::function<double(const Point<dim> &)> &f) const
      {
        AdvectionDiffusionReaction<dim> form;
        form.set_reaction(1.);
        form.set_source(std::make_shared<ExactFunction<dim>>(
          1, [f](const Point<dim> &x, const unsigned int) { return f(x); }));
        form.set_coefficient_order(parameters.extra_order + 2);
        AssemblyParameters data;
        data.backend = Backend::host;
        PolytopicAssembler<dim> assembler(pressure, data);
        VectorType              result(pressure.locally_owned_dofs(),
                          pressure.get_communicator());
        assembler.assemble_rhs(form, result);
        return result;
      }

      /// The constant 1 as a discrete pressure.
      static VectorType
      constant(const AgglomerationHandler<dim> &pressure)
      {
        VectorType one(pressure.locally_owned_dofs(),
                       pressure.get_communicator());
        for (unsigned int k = 0; k < pressure.n_polytopes(); ++k)
          one.local_element(pressure.polytopic_dofs().dof_offset[k]) =
            std::sqrt(pressure.bounding_box(k).volume());
        return one;
      }

      unsigned int
      solve(const AgglomerationHandler<dim> &pressure)
      {
        solution.reinit(rhs);
        // The constant is in the kernel of B^T, so that the right-hand side
        // must be orthogonal to it; it is so up to quadrature.
        const VectorType one = constant(pressure);
        rhs.block(1).add(-(rhs.block(1) * one) / (one * one), one);

        const MassMatrix<dim>          mass(pressure);
        const BlockPreconditioner<dim> preconditioner(parameters,
                                                      system.A,
                                                      mass);
        BlockVectorType                z(rhs);
        preconditioner.vmult(z, rhs);
        SolverControl control(parameters.max_iterations,
                              parameters.tolerance * std::sqrt(z * rhs),
                              false,
                              false);
        bool          solved = true;
        try
          {
            SolverMinRes<BlockVectorType> solver(control);
            solver.solve(system, solution, rhs, preconditioner);
          }
        catch (const SolverControl::NoConvergence &)
          {
            solved = false;
          }
        AssertThrow(solved,
                    ExcMessage("MINRES did not converge: choose another "
                               "Solver/Velocity preconditioner, more "
                               "iterations, or a larger "
                               "Discretisation/Penalty constant."));
        fix_mean_value(pressure, mass, one);
        return control.last_step();
      }

      /// Gives the pressure the mean value of the exact one.
      void
      fix_mean_value(const AgglomerationHandler<dim> &pressure,
                     const MassMatrix<dim>           &mass,
                     const VectorType                &one)
      {
        VectorType product(one);
        product = 0.;
        mass.vmult_add(1., product, one);
        const double integral =
          one * moments(pressure, [this](const Point<dim> &x) {
            return exact.evaluate_pressure(x);
          });
        solution.block(1).add((integral - product * solution.block(1)) /
                                (product * one),
                              one);
      }

      void
      compute_errors(const AgglomerationHandler<dim> &velocity,
                     const AgglomerationHandler<dim> &pressure,
                     ConvergenceTable                &table) const
      {
        const auto error = [&](const AgglomerationHandler<dim>    &handler,
                               const VectorType                   &u,
                               const Function<dim>                &function,
                               const unsigned int                  order,
                               const dealii::VectorTools::NormType norm) {
          Vector<float> difference;
          VectorTools::integrate_difference(
            handler, u, function, difference, norm, order);
          return VectorTools::compute_global_error(handler, difference, norm);
        };
        const auto               u     = velocity_function();
        const unsigned int       order = parameters.extra_order;
        const ExactFunction<dim> p(1,
                                   [this](const Point<dim> &x,
                                          const unsigned int) {
                                     return exact.evaluate_pressure(x);
                                   });
        table.add_value("u L2",
                        error(velocity,
                              solution.block(0),
                              *u,
                              order,
                              dealii::VectorTools::L2_norm));
        table.add_value("u H1",
                        error(velocity,
                              solution.block(0),
                              *u,
                              order,
                              dealii::VectorTools::H1_seminorm));
        table.add_value("p L2",
                        error(pressure,
                              solution.block(1),
                              p,
                              order + 2,
                              dealii::VectorTools::L2_norm));
      }
    };

    MainFunction *const main_function = run_study<Stokes, Parameters>;
  } // namespace Application
} // namespace Tessella

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
#include <deal.II/lac/block_vector.h>
#include <deal.II/lac/full_matrix.h>
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
#include <tessella/values/polytope_values.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "common/expression.h"
#include "common/program.h"
#include "common/solvability.h"
#include "common/system_study.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

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
      "in one sentence and a non-zero exit status.\n"};

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

    /// A function from a function object, with several components.
    template <int dim>
    class ExactFunction : public Function<dim>
    {
    public:
      using Value = std::function<double(const Point<dim> &, unsigned int)>;

      ExactFunction(const unsigned int n_components, const Value &f)
        : Function<dim>(n_components)
        , f(f)
      {}

      double
      value(const Point<dim> &x, const unsigned int component) const override
      {
        return f(x, component);
      }

    private:
      const Value f;
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
      TrilinosWrappers::SparseMatrix A;
      SparsityPattern                sparsity;
      SparseMatrix<double>           B;

      void
      vmult(BlockVector<double> &to, const BlockVector<double> &from) const
      {
        A.vmult(to.block(0), from.block(0));
        B.Tvmult_add(to.block(0), from.block(1));
        B.vmult(to.block(1), from.block(0));
      }
    };

    /// Mass matrix of the pressure, polytope by polytope.
    template <int dim>
    struct PressureMass
    {
      std::vector<std::vector<types::global_dof_index>> dofs;
      std::vector<FullMatrix<double>>                   mass, inverse;

      explicit PressureMass(const AgglomerationHandler<dim> &handler)
      {
        PolytopeValues<dim> values(handler, 0, update_values);
        for (const auto &polytope : handler.polytope_iterators())
          {
            values.reinit(polytope);
            const unsigned int n = values.dofs_per_cell;
            mass.emplace_back(n, n);
            for (const unsigned int q : values.quadrature_point_indices())
              for (const unsigned int i : values.dof_indices())
                for (const unsigned int j : values.dof_indices())
                  mass.back()(i, j) += values.JxW(q) *
                                       values.shape_value(i, q) *
                                       values.shape_value(j, q);
            inverse.push_back(mass.back());
            inverse.back().gauss_jordan();
            dofs.emplace_back();
            polytope.get_dof_indices(dofs.back());
          }
      }

      void
      apply(const std::vector<FullMatrix<double>> &blocks,
            const double                           factor,
            const Vector<double>                  &from,
            Vector<double>                        &to) const
      {
        for (std::size_t k = 0; k < blocks.size(); ++k)
          for (unsigned int i = 0; i < dofs[k].size(); ++i)
            {
              double sum = 0.;
              for (unsigned int j = 0; j < dofs[k].size(); ++j)
                sum += blocks[k](i, j) * from(dofs[k][j]);
              to(dofs[k][i]) = factor * sum;
            }
      }
    };

    /// Approximate inverse of A, and the inverse mass matrix times nu.
    template <int dim>
    class BlockPreconditioner
    {
    public:
      BlockPreconditioner(const Parameters                     &parameters,
                          const TrilinosWrappers::SparseMatrix &A,
                          const PressureMass<dim>              &mass)
        : viscosity(parameters.viscosity)
        , direct(parameters.preconditioner == "direct")
        , mass(mass)
        , solver(control)
      {
        x.reinit(A.locally_owned_domain_indices(), MPI_COMM_WORLD);
        b.reinit(x);
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
      vmult(BlockVector<double> &to, const BlockVector<double> &from) const
      {
        if (direct)
          {
            std::copy(from.block(0).begin(),
                      from.block(0).end(),
                      b.trilinos_vector()[0]);
            solver.solve(x, b);
            std::copy_n(x.trilinos_vector()[0], x.size(), to.block(0).begin());
          }
        else
          amg.vmult(to.block(0), from.block(0));
        mass.apply(mass.inverse, viscosity, from.block(1), to.block(1));
      }

    private:
      const double                           viscosity;
      const bool                             direct;
      const PressureMass<dim>               &mass;
      SolverControl                          control;
      mutable TrilinosWrappers::SolverDirect solver;
      TrilinosWrappers::PreconditionAMG      amg;
      mutable TrilinosWrappers::MPI::Vector  x, b;
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
      BlockVector<double>      rhs, solution;

      void
      add_level(const unsigned int level,
                const unsigned int degree,
                ConvergenceTable  &table)
      {
        const Mesh<dim> mesh = parameters.mesh.template create<dim>(level);
        const auto      ids  = parameters.agglomeration.create(mesh);
        AgglomerationHandler<dim> velocity(*mesh.triangulation,
                                           mesh.mapping.get()),
          pressure(*mesh.triangulation, mesh.mapping.get());
        velocity.agglomerate(Agglomeration::by_id<dim>(ids));
        pressure.agglomerate(Agglomeration::by_id<dim>(ids));
        velocity.distribute_dofs(
          FESystem<dim>(FE_BoundingBoxLegendre<dim>(degree), dim));
        pressure.distribute_dofs(FE_BoundingBoxLegendre<dim>(degree - 1));

        assemble(velocity, pressure);
        check_solvability(velocity,
                          system.A,
                          "the velocity",
                          "Leave out one of Mesh/Periodic boundaries.");
        const unsigned int n_iterations = solve(pressure);
        table.add_value("level", level);
        table.add_value("polytopes", velocity.n_polytopes());
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

        data.backend = Backend::host;
        RectangularAssembler<dim> rectangular(pressure, velocity, data);
        DivergenceForm<dim>       form;
        form.set_dirichlet(std::make_shared<ExactFunction<dim>>(
          dim, [this](const Point<dim> &x, const unsigned int c) {
            double         u;
            Tensor<1, dim> gradient;
            exact.evaluate_velocity(x, c, u, gradient);
            return u;
          }));
        form.set_coefficient_order(parameters.extra_order);
        Vector<double> g;
        rectangular.reinit(system.sparsity, system.B, g);
        rectangular.assemble(form, system.B, g);

        rhs.reinit(std::vector<types::global_dof_index>{velocity.n_dofs(),
                                                        pressure.n_dofs()});
        std::copy_n(f.trilinos_vector()[0],
                    rhs.block(0).size(),
                    rhs.block(0).begin());
        rhs.block(1) = g;
        subtract_divergence(pressure);
      }

      /// Adds - int q div u of the exact velocity, which is zero for Stokes'
      /// equations proper.
      void
      subtract_divergence(const AgglomerationHandler<dim> &pressure)
      {
        AdvectionDiffusionReaction<dim> form;
        form.set_reaction(1.);
        form.set_source(std::make_shared<ExactFunction<dim>>(
          1, [this](const Point<dim> &x, const unsigned int) {
            double divergence = 0.;
            for (unsigned int c = 0; c < dim; ++c)
              {
                double         u;
                Tensor<1, dim> gradient;
                exact.evaluate_velocity(x, c, u, gradient);
                divergence -= gradient[c];
              }
            return divergence;
          }));
        form.set_coefficient_order(parameters.extra_order + 2);
        AssemblyParameters data;
        data.backend = Backend::host;
        PolytopicAssembler<dim> assembler(pressure, data);
        Vector<double>          g(pressure.n_dofs());
        assembler.assemble_rhs(form, g);
        rhs.block(1) += g;
      }

      /// The constant 1 as a discrete pressure.
      static Vector<double>
      constant(const AgglomerationHandler<dim> &pressure)
      {
        Vector<double> one(pressure.n_dofs());
        for (unsigned int k = 0; k < pressure.n_polytopes(); ++k)
          one(pressure.polytopic_dofs().dof_offset[k]) =
            std::sqrt(pressure.bounding_box(k).volume());
        return one;
      }

      unsigned int
      solve(const AgglomerationHandler<dim> &pressure)
      {
        solution.reinit(rhs);
        // The constant is in the kernel of B^T, so that the right-hand side
        // must be orthogonal to it; it is so up to quadrature.
        const Vector<double> one = constant(pressure);
        rhs.block(1).add(-(rhs.block(1) * one) / (one * one), one);

        const PressureMass<dim>        mass(pressure);
        const BlockPreconditioner<dim> preconditioner(parameters,
                                                      system.A,
                                                      mass);
        BlockVector<double>            z(rhs);
        preconditioner.vmult(z, rhs);
        SolverControl control(parameters.max_iterations,
                              parameters.tolerance * std::sqrt(z * rhs),
                              false,
                              false);
        bool          solved = true;
        try
          {
            SolverMinRes<BlockVector<double>> solver(control);
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
                     const PressureMass<dim>         &mass,
                     const Vector<double>            &one)
      {
        Vector<double> product(one.size());
        mass.apply(mass.mass, 1., one, product);
        double              integral = 0.;
        PolytopeValues<dim> values(pressure,
                                   parameters.extra_order + 2,
                                   update_values);
        for (const auto &polytope : pressure.polytope_iterators())
          {
            values.reinit(polytope);
            for (const unsigned int q : values.quadrature_point_indices())
              integral += values.JxW(q) *
                          exact.evaluate_pressure(values.quadrature_point(q));
          }
        solution.block(1).add((integral - product * solution.block(1)) /
                                (product * one),
                              one);
      }

      void
      compute_errors(const AgglomerationHandler<dim> &velocity,
                     const AgglomerationHandler<dim> &pressure,
                     ConvergenceTable                &table) const
      {
        const FEValuesExtractors::Vector speed(0);
        PolytopeValues<dim>              u_values(velocity,
                                     parameters.extra_order,
                                     update_values | update_gradients);
        PolytopeValues<dim>              p_values(pressure,
                                     parameters.extra_order + 2,
                                     update_values);
        std::vector<Tensor<1, dim>>      u_h;
        std::vector<Tensor<2, dim>>      grad_u_h;
        std::vector<double>              p_h;
        double                           L2 = 0., H1 = 0., p_L2 = 0.;
        for (const auto &polytope : velocity.polytope_iterators())
          {
            u_values.reinit(polytope);
            u_values[speed].get_function_values(solution.block(0), u_h);
            u_values[speed].get_function_gradients(solution.block(0), grad_u_h);
            for (const unsigned int q : u_values.quadrature_point_indices())
              for (unsigned int c = 0; c < dim; ++c)
                {
                  double         u;
                  Tensor<1, dim> gradient;
                  exact.evaluate_velocity(u_values.quadrature_point(q),
                                          c,
                                          u,
                                          gradient);
                  L2 += u_values.JxW(q) * std::pow(u_h[q][c] - u, 2);
                  H1 +=
                    u_values.JxW(q) * (grad_u_h[q][c] - gradient).norm_square();
                }
          }
        for (const auto &polytope : pressure.polytope_iterators())
          {
            p_values.reinit(polytope);
            p_h.resize(p_values.n_quadrature_points);
            p_values.get_function_values(solution.block(1), p_h);
            for (const unsigned int q : p_values.quadrature_point_indices())
              p_L2 += p_values.JxW(q) *
                      std::pow(p_h[q] - exact.evaluate_pressure(
                                          p_values.quadrature_point(q)),
                               2);
          }
        table.add_value("u L2", std::sqrt(L2));
        table.add_value("u H1", std::sqrt(H1));
        table.add_value("p L2", std::sqrt(p_L2));
      }
    };

    MainFunction *const main_function = run_study<Stokes, Parameters>;
  } // namespace Application
} // namespace Tessella

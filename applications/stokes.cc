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
// is solved by MINRES, which is preconditioned by A^{-1}, or an approximation
// of it, and the inverse of the mass matrix of the pressure. With matrices of
// Trilinos, the host does this; with those of this library, a CUDA device.

#include <deal.II/base/convergence_table.h>

#include <deal.II/fe/fe_system.h>
#include <deal.II/lac/la_parallel_block_vector.h>
#include <deal.II/lac/solver_minres.h>
#include <deal.II/lac/trilinos_precondition.h>
#include <deal.II/lac/trilinos_solver.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>
#include <deal.II/lac/vector_memory.templates.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/assembly/rectangular_assembler.h>
#include <tessella/device/cuda_device.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/forms/divergence_form.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_rectangular_matrix.h>
#include <tessella/lac/device_vector.h>
#include <tessella/multigrid/multigrid.h>
#include <tessella/numerics/device_mass_matrix.h>
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
                               "matrix, unless Solver/Velocity preconditioner "
                               "= device multigrid.");
        prm.leave_subsection();
        prm.enter_subsection("Solver");
        prm.add_parameter("Velocity preconditioner",
                          preconditioner,
                          "direct: sparse LU. amg: a V-cycle of algebraic "
                          "multigrid. device multigrid: a V-cycle on nested "
                          "polytopes; matrices, vectors and the iteration are "
                          "on a CUDA device.",
                          Patterns::Selection("direct|amg|device multigrid"));
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
        AssertThrow(!on_device() || cuda_is_available(),
                    ExcMessage("Solver/Velocity preconditioner = device "
                               "multigrid: " +
                               why_cuda_is_unavailable() +
                               " Take direct or amg."));
      }

      bool
      on_device() const
      {
        return preconditioner == "device multigrid";
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

    /// The two spaces, the parameters and the forms of a problem.
    template <int dim>
    struct Discretisation
    {
      const AgglomerationHandler<dim>    &velocity, &pressure;
      const Agglomeration::Strategy<dim> &strategy;
      const Parameters                   &parameters;
      const VelocityForm<dim>            &form;
      const DivergenceForm<dim>          &divergence;
    };

    /// Throws unless MINRES ends before @p work is out of iterations.
    template <typename Work>
    void
    iterate(const Work &work)
    {
      bool solved = true;
      try
        {
          work();
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
    }

    /// Solves S x = b by MINRES and returns the number of iterations.
    template <typename Matrix, typename Preconditioner, typename Vector>
    unsigned int
    solve_by_minres(const Parameters     &parameters,
                    const Matrix         &S,
                    const Preconditioner &preconditioner,
                    const Vector         &b,
                    Vector               &x)
    {
      Vector z(b);
      preconditioner.vmult(z, b);
      SolverControl control(parameters.max_iterations,
                            parameters.tolerance * std::sqrt(z * b),
                            false,
                            false);
      iterate([&]() {
        SolverMinRes<Vector> solver(control);
        solver.solve(S, x, b, preconditioner);
      });
      return control.last_step();
    }

    const std::string what_is_missing =
      "Leave out one of Mesh/Periodic boundaries.";



    /// The saddle point problem in the memory of the host.
    template <int dim>
    class HostSaddlePoint
    {
    public:
      /// Assembles the matrices and the right-hand side.
      void
      assemble(const Discretisation<dim> &data, BlockVectorType &rhs)
      {
        AssemblyParameters settings = data.parameters.assembly_parameters();
        PolytopicAssembler<dim>       assembler(data.velocity, settings);
        TrilinosWrappers::MPI::Vector f;
        A.clear();
        assembler.reinit(A, f);
        assembler.assemble(data.form, A, f);
        rhs.block(0).reinit(data.velocity.locally_owned_dofs(),
                            data.velocity.get_communicator());
        std::copy(f.begin(), f.end(), rhs.block(0).begin());

        settings.backend = Backend::host;
        RectangularAssembler<dim> rectangular(data.pressure,
                                              data.velocity,
                                              settings);
        B.clear();
        rectangular.reinit(B, rhs.block(1));
        rectangular.assemble(data.divergence, B, rhs.block(1));
        check_solvability(data.velocity, A, "the velocity", what_is_missing);
      }

      void
      vmult(BlockVectorType &to, const BlockVectorType &from) const
      {
        A.vmult(to.block(0), from.block(0));
        B.Tvmult_add(to.block(0), from.block(1));
        B.vmult(to.block(1), from.block(0));
      }

      unsigned int
      solve(const Discretisation<dim> &data,
            const BlockVectorType     &rhs,
            BlockVectorType           &solution)
      {
        const MassMatrix<dim> mass(data.pressure);
        return solve_by_minres(data.parameters,
                               *this,
                               Preconditioner(data.parameters, A, mass),
                               rhs,
                               solution);
      }

    private:
      /// Approximate inverse of A, and the inverse mass matrix times nu.
      class Preconditioner
      {
      public:
        Preconditioner(const Parameters                     &parameters,
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

      TrilinosWrappers::SparseMatrix A, B;
    };



    /// Velocity and pressure in the memory of a device, as a vector for MINRES.
    class DevicePair : public Subscriptor
    {
    public:
      using value_type = double;
      using size_type  = types::global_dof_index;

      void
      reinit(const DevicePair &pair, const bool omit_zeroing_entries = false)
      {
        u.reinit(pair.u, omit_zeroing_entries);
        p.reinit(pair.p, omit_zeroing_entries);
      }
      void
      swap(DevicePair &pair)
      {
        u.swap(pair.u);
        p.swap(pair.p);
      }
      DevicePair &
      operator-=(const DevicePair &pair)
      {
        add(-1., pair);
        return *this;
      }
      DevicePair &
      operator*=(const double factor)
      {
        u *= factor;
        p *= factor;
        return *this;
      }
      void
      add(const double factor, const DevicePair &pair)
      {
        u.add(factor, pair.u);
        p.add(factor, pair.p);
      }
      double
      operator*(const DevicePair &pair) const
      {
        return u * pair.u + p * pair.p;
      }

      DeviceVector<double> u, p;
    };

    inline void
    swap(DevicePair &a, DevicePair &b)
    {
      a.swap(b);
    }



    /// The saddle point problem in the memory of a device.
    template <int dim>
    class DeviceSaddlePoint
    {
    public:
      /// As HostSaddlePoint. The right-hand side is copied to the host.
      void
      assemble(const Discretisation<dim> &data, BlockVectorType &rhs)
      {
        const AssemblyParameters settings =
          data.parameters.assembly_parameters();
        check(data);
        PolytopicAssembler<dim> assembler(data.velocity, settings);
        DeviceVector<double>    f, g;
        assembler.reinit(A, f);
        assembler.assemble(data.form, A, f);
        multigrid.initialize(assembler, data.form, A);
        RectangularAssembler<dim> rectangular(data.pressure,
                                              data.velocity,
                                              settings);
        rectangular.reinit(B, g);
        rectangular.assemble(data.divergence, B, g);
        copy_to_host(data.velocity, f, rhs.block(0));
        copy_to_host(data.pressure, g, rhs.block(1));
      }

      void
      vmult(DevicePair &to, const DevicePair &from) const
      {
        A.vmult(to.u, from.u);
        B.Tvmult_add(to.u, from.p);
        B.vmult(to.p, from.u);
      }

      unsigned int
      solve(const Discretisation<dim> &data,
            const BlockVectorType     &rhs,
            BlockVectorType           &solution)
      {
        DevicePair b, x;
        copy_to_device(data.velocity, rhs.block(0), b.u);
        copy_to_device(data.pressure, rhs.block(1), b.p);
        x.reinit(b);
        const DeviceMassMatrix<dim> mass(data.pressure);
        const unsigned int          n_iterations = solve_by_minres(
          data.parameters,
          *this,
          Preconditioner{data.parameters.viscosity, multigrid, mass},
          b,
          x);
        copy_to_host(data.velocity, x.u, solution.block(0));
        copy_to_host(data.pressure, x.p, solution.block(1));
        return n_iterations;
      }

    private:
      /// A V-cycle for A, and the inverse mass matrix times nu.
      struct Preconditioner
      {
        void
        vmult(DevicePair &to, const DevicePair &from) const
        {
          multigrid.vmult(to.u, from.u);
          to.p = from.p;
          mass.apply_inverse(viscosity, to.p);
        }

        const double                                viscosity;
        const Multigrid<DeviceBlockMatrix<double>> &multigrid;
        const DeviceMassMatrix<dim>                &mass;
      };

      /// Throws if nothing fixes the velocity, by a matrix of degree 0.
      static void
      check(const Discretisation<dim> &data)
      {
        AgglomerationHandler<dim> constants(data.velocity.get_triangulation(),
                                            &data.velocity.get_mapping());
        constants.agglomerate(data.strategy);
        constants.distribute_dofs(FE_BoundingBoxLegendre<dim>(0));
        AssemblyParameters settings = data.parameters.assembly_parameters();
        settings.backend            = Backend::host;
        PolytopicAssembler<dim>        assembler(constants, settings);
        TrilinosWrappers::SparseMatrix matrix;
        assembler.reinit(matrix);
        assembler.assemble_matrix(*data.form.form(0, 0), matrix);
        check_solvability(constants, matrix, "the velocity", what_is_missing);
      }

      static void
      copy_to_host(const AgglomerationHandler<dim> &handler,
                   const DeviceVector<double>      &from,
                   VectorType                      &to)
      {
        std::vector<double> entries;
        from.copy_to(entries);
        to.reinit(handler.locally_owned_dofs(), handler.get_communicator());
        std::copy(entries.begin(), entries.end(), to.begin());
      }

      static void
      copy_to_device(const AgglomerationHandler<dim> &handler,
                     const VectorType                &from,
                     DeviceVector<double>            &to)
      {
        to.reinit(handler.locally_owned_dofs(), handler.get_communicator());
        to.copy_from(std::vector<double>(from.begin(), from.end()));
      }

      DeviceBlockMatrix<double>            A;
      DeviceRectangularMatrix<double>      B;
      Multigrid<DeviceBlockMatrix<double>> multigrid;
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

        const unsigned int n_iterations =
          parameters.on_device()
            ? solve<DeviceSaddlePoint<dim>>(velocity,
                                            pressure,
                                            agglomerated.strategy)
            : solve<HostSaddlePoint<dim>>(velocity,
                                          pressure,
                                          agglomerated.strategy);
        table.add_value("level", level);
        table.add_value("polytopes", velocity.n_global_polytopes());
        table.add_value("unknowns", velocity.n_dofs() + pressure.n_dofs());
        table.add_value("iterations", n_iterations);
        compute_errors(velocity, pressure, table);
      }

      /// Sets the solution and returns the number of iterations.
      template <typename SaddlePoint>
      unsigned int
      solve(const AgglomerationHandler<dim>    &velocity,
            const AgglomerationHandler<dim>    &pressure,
            const Agglomeration::Strategy<dim> &strategy)
      {
        const VelocityForm<dim> form(parameters, exact);
        DivergenceForm<dim>     divergence;
        divergence.set_dirichlet(velocity_function());
        divergence.set_coefficient_order(parameters.extra_order);
        const Discretisation<dim> data = {
          velocity, pressure, strategy, parameters, form, divergence};
        SaddlePoint system;
        rhs.reinit(2);
        system.assemble(data, rhs);
        rhs.collect_sizes();
        // Zero for Stokes' equations proper.
        rhs.block(1) -= moments(pressure, [this](const Point<dim> &x) {
          double divergence_at_x = 0.;
          for (unsigned int c = 0; c < dim; ++c)
            {
              double         u;
              Tensor<1, dim> gradient;
              exact.evaluate_velocity(x, c, u, gradient);
              divergence_at_x += gradient[c];
            }
          return divergence_at_x;
        });
        // The constant is in the kernel of B^T, so that the right-hand side
        // must be orthogonal to it; it is so up to quadrature.
        const VectorType one = constant(pressure);
        rhs.block(1).add(-(rhs.block(1) * one) / (one * one), one);

        solution.reinit(rhs);
        const unsigned int n_iterations = system.solve(data, rhs, solution);
        fix_mean_value(pressure, one);
        return n_iterations;
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

      /// Gives the pressure the mean value of the exact one.
      void
      fix_mean_value(const AgglomerationHandler<dim> &pressure,
                     const VectorType                &one)
      {
        const MassMatrix<dim> mass(pressure);
        VectorType            product(one);
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

DEAL_II_NAMESPACE_OPEN
template class GrowingVectorMemory<Tessella::Application::DevicePair>;
DEAL_II_NAMESPACE_CLOSE

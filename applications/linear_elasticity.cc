// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Linear elasticity as a system of forms, IsotropicElasticity, and the same
// form written with mesh_loop(), PolytopeValues and PolytopeInterfaceValues, as
// in deal.II with MeshWorker. The equation is
//
//   -div sigma(u) = f,   sigma(u) = 2 mu eps(u) + lambda div(u) I,
//
// by the symmetric interior penalty method on polytopes: find u such that for
// all v
//
//   sum_K int_K sigma(u) : eps(v)
//   - sum_F int_F {sigma(u)} n . [v] + {sigma(v)} n . [u] - gamma [u] . [v]
//     = sum_K int_K f . v + sum_{F Neumann} int_F t . v
//       - sum_{F Dirichlet} int_F sigma(v) n . g - gamma g . v,
//
// where F on the left runs through the facets between polytopes and on the
// Dirichlet boundary. The penalty is gamma = C (2 mu + lambda) times the
// geometric factor, which scales like p^2 / h and which the library computes
// for polytopes. The functions f, g and t are derived from an exact
// displacement.

#include <deal.II/base/convergence_table.h>
#include <deal.II/base/symmetric_tensor.h>
#include <deal.II/base/tensor_function.h>
#include <deal.II/base/timer.h>

#include <deal.II/fe/fe_system.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/trilinos_precondition.h>
#include <deal.II/lac/trilinos_solver.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/isotropic_elasticity.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/penalty.h>
#include <tessella/numerics/data_out.h>
#include <tessella/values/mesh_loop.h>

DEAL_II_DISABLE_EXTRA_DIAGNOSTICS
#include <Teuchos_ParameterList.hpp>
#include <ml_MultiLevelPreconditioner.h>
DEAL_II_ENABLE_EXTRA_DIAGNOSTICS

#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/expression.h"
#include "common/linear_solver.h"
#include "common/program.h"
#include "common/solvability.h"
#include "common/system_study.h"
#include "common/validation.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    const ProgramInfo info = {
      "linear_elasticity",
      "linear elasticity by the interior penalty dG method on polytopes",
      "Solves -div(2 mu eps(u) + lambda div(u) I) = f, with an exact "
      "displacement\n"
      "given in the parameter file, for a sequence of meshes and a list of\n"
      "polynomial degrees, and prints the errors of u in L2 and of its gradient\n"
      "(broken H1) with their rates, with respect to unknowns^(-1/dim). It "
      "also\n"
      "has the form written by hand, as a reference for the fast assembly.\n\n"
      "It writes to the folder Output/Directory\n"
      "  NAME.txt                          the tables\n"
      "  NAME-LEVEL-pDEGREE-solution.vtu   the displacement on the last mesh\n"
      "NAME is the name of the parameter file. Mistakes in the input end in one\n"
      "sentence and a non-zero exit status.\n"};

    struct Parameters : SystemStudyParameters
    {
      double      mu = 1., lambda = 1.;
      std::string displacement = "sin(pi*x)*sin(pi*y); x*(1-x)*exp(y)";
      std::set<types::boundary_id> neumann_ids;
      std::string                  assembly       = "fast";
      std::string                  solver         = "direct";
      bool                         write_solution = true;

      void
      declare(ParameterHandler &prm)
      {
        max_iterations = 2000;
        MeshParameters::declare(prm);
        prm.enter_subsection("Elasticity");
        prm.add_parameter("Mu",
                          mu,
                          "Shear modulus, positive.",
                          Patterns::Double());
        prm.add_parameter("Lambda",
                          lambda,
                          "First Lame parameter, not negative.",
                          Patterns::Double());
        prm.add_parameter("Exact displacement",
                          displacement,
                          "Its components, separated by semicolons, as "
                          "expressions of x, y, z. Body force and boundary "
                          "data follow from it.");
        prm.declare_entry("Neumann boundary ids",
                          "",
                          Patterns::Anything(),
                          "Boundary ids, separated by commas, where the "
                          "traction is given; on all others the displacement "
                          "is.");
        prm.leave_subsection();
        declare_discretisation(prm,
                               "",
                               "C (2 mu + lambda) p^2 / h",
                               "Processors of the fast assembly. automatic: a "
                               "CUDA device if there is one.");
        prm.add_parameter("Assembly",
                          assembly,
                          "fast: PolytopicAssembler. reference: the form "
                          "written by hand. compare: both, with their times "
                          "in the table; they must agree to rounding.",
                          Patterns::Selection("fast|reference|compare"));
        prm.leave_subsection();
        prm.enter_subsection("Solver");
        prm.add_parameter("Method",
                          solver,
                          "direct: sparse LU. cg: conjugate gradients with "
                          "algebraic multigrid that knows the rigid body "
                          "motions.",
                          Patterns::Selection("direct|cg"));
        declare_tolerance(prm,
                          "cg",
                          "Residual at which cg ends, relative to the "
                          "right-hand side.");
        prm.leave_subsection();
        declare_output(prm);
        prm.add_parameter("Solution",
                          write_solution,
                          "Write the displacement on the last mesh as VTU.");
        prm.leave_subsection();
      }

      void
      parse(ParameterHandler &prm, const std::string &file)
      {
        SystemStudyParameters::parse(prm, file);
        prm.enter_subsection("Elasticity");
        neumann_ids = parse_boundary_ids("Elasticity/Neumann boundary ids",
                                         prm.get("Neumann boundary ids"));
        prm.leave_subsection();
        AssertThrow(mu > 0. && lambda >= 0.,
                    ExcMessage("Elasticity/Mu must be positive and "
                               "Elasticity/Lambda must not be negative."));
      }
    };

    /// Exact displacement with its derivatives and its body force.
    template <int dim>
    class ExactSolution
    {
    public:
      /// Values at a point.
      struct Values
      {
        Tensor<1, dim> u, force;
        Tensor<2, dim> gradient;
      };

      ExactSolution(const Parameters &parameters)
        : mu(parameters.mu)
        , lambda(parameters.lambda)
        , components(parse_vector("Elasticity/Exact displacement",
                                  parameters.displacement,
                                  dim))
      {}

      /// Evaluates the displacement, its gradient, and the body force -div
      /// sigma, where div sigma = mu Laplace(u) + (lambda + mu) grad div u.
      Values
      evaluate(const Point<dim> &x) const
      {
        Values result;
        for (unsigned int c = 0; c < dim; ++c)
          {
            SymmetricTensor<2, dim> hessian;
            components[c].template derivatives<dim>({x},
                                                    &result.u[c],
                                                    &result.gradient[c],
                                                    &hessian);
            result.force[c] -= mu * trace(hessian);
            for (unsigned int d = 0; d < dim; ++d)
              result.force[d] -= (lambda + mu) * hessian[c][d];
          }
        check_finite(result.u.norm() + result.gradient.norm() +
                     result.force.norm());
        return result;
      }

      /// Evaluates one component of the displacement, or of the body force, at
      /// many points.
      void
      evaluate(const std::vector<Point<dim>> &points,
               const unsigned int             component,
               const bool                     force,
               std::vector<double>           &result) const
      {
        if (!force)
          components[component].template derivatives<dim>(points,
                                                          result.data(),
                                                          nullptr,
                                                          nullptr);
        else
          {
            std::vector<SymmetricTensor<2, dim>> hessians(points.size());
            std::fill(result.begin(), result.end(), 0.);
            for (unsigned int d = 0; d < dim; ++d)
              {
                components[d].template derivatives<dim>(points,
                                                        nullptr,
                                                        nullptr,
                                                        hessians.data());
                for (unsigned int q = 0; q < points.size(); ++q)
                  result[q] -= (lambda + mu) * hessians[q][d][component] +
                               (d == component ? mu * trace(hessians[q]) : 0.);
              }
          }
        for (const double value : result)
          check_finite(value);
      }

    private:
      static void
      check_finite(const double value)
      {
        AssertThrow(std::isfinite(value),
                    ExcMessage("Elasticity/Exact displacement or one of its "
                               "derivatives is not finite somewhere in the "
                               "domain."));
      }

      const double                  mu, lambda;
      const std::vector<Expression> components;
    };

    /// Displacement or body force of the exact solution.
    template <int dim>
    class ExactFunction : public Function<dim>
    {
    public:
      ExactFunction(const ExactSolution<dim> &exact, const bool force)
        : Function<dim>(dim)
        , exact(exact)
        , force(force)
      {}

      double
      value(const Point<dim> &x, const unsigned int component) const override
      {
        const auto values = exact.evaluate(x);
        return force ? values.force[component] : values.u[component];
      }

      void
      value_list(const std::vector<Point<dim>> &points,
                 std::vector<double>           &values,
                 const unsigned int             component) const override
      {
        exact.evaluate(points, component, force, values);
      }

    private:
      const ExactSolution<dim> &exact;
      const bool                force;
    };

    /// Stress of the exact solution.
    template <int dim>
    class ExactStress : public TensorFunction<2, dim>
    {
    public:
      ExactStress(const ExactSolution<dim> &exact, const Parameters &parameters)
        : exact(exact)
        , parameters(parameters)
      {}

      Tensor<2, dim>
      value(const Point<dim> &x) const override
      {
        const Tensor<2, dim> gradient = exact.evaluate(x).gradient;
        Tensor<2, dim>       stress =
          parameters.mu * (gradient + transpose(gradient));
        for (unsigned int d = 0; d < dim; ++d)
          stress[d][d] += parameters.lambda * trace(gradient);
        return stress;
      }

    private:
      const ExactSolution<dim> &exact;
      const Parameters         &parameters;
    };

    template <int dim>
    class LinearElasticity
    {
    public:
      LinearElasticity(const Parameters &parameters)
        : parameters(parameters)
        , exact(parameters)
        , displacement(0)
      {}

      void
      run()
      {
        std::ostringstream tables;
        const unsigned int n_levels = parameters.mesh.n_levels();
        for (const unsigned int degree : parameters.degrees)
          {
            ConvergenceTable table;
            for (unsigned int level = 0; level < n_levels; ++level)
              {
                const Mesh<dim> mesh =
                  parameters.mesh.template create<dim>(level);
                // A condition for an id that the mesh does not have is a
                // mistake.
                check_boundary_ids(*mesh.triangulation,
                                   parameters.neumann_ids,
                                   "Elasticity/Neumann boundary ids has",
                                   ", which no face of the mesh has.");
                AgglomerationHandler<dim> handler(*mesh.triangulation,
                                                  mesh.mapping.get());
                handler.agglomerate(Agglomeration::by_id<dim>(
                  parameters.agglomeration.create(mesh)));
                handler.distribute_dofs(
                  FESystem<dim>(FE_BoundingBoxLegendre<dim>(degree), dim));
                if (validated(handler, level, degree, SystemMemory::trilinos()))
                  continue;

                const AssemblyTimes times = assemble_system(handler);
                check_solvability(
                  handler,
                  matrix,
                  "the rigid body motions",
                  "Leave one boundary id out of Elasticity/Neumann boundary "
                  "ids and Mesh/Periodic boundaries.");
                const unsigned int n_iterations = solve(handler);

                table.add_value("level", level);
                table.add_value("cells", mesh.triangulation->n_active_cells());
                table.add_value("polytopes", handler.n_polytopes());
                table.add_value("unknowns", handler.n_dofs());
                if (parameters.solver == "cg")
                  table.add_value("iterations", n_iterations);
                if (parameters.assembly == "compare")
                  {
                    table.add_value("assembly [s]", times.fast);
                    table.add_value("by hand [s]", times.reference);
                  }
                compute_errors(handler, table);
                if (level + 1 == n_levels && parameters.write_solution)
                  output(handler, level, degree);
              }
            print_errors("Degree " + std::to_string(degree),
                         table,
                         {"L2", "H1"},
                         dim,
                         tables);
          }
        write_file(parameters.file(".txt"),
                   [&](std::ostream &out) { out << tables.str(); });
      }

    private:
      const Parameters                &parameters;
      const ExactSolution<dim>         exact;
      const FEValuesExtractors::Vector displacement;

      TrilinosWrappers::SparseMatrix matrix;
      TrilinosWrappers::MPI::Vector  rhs, solution;

      SymmetricTensor<2, dim>
      stress(const SymmetricTensor<2, dim> &strain) const
      {
        return 2. * parameters.mu * strain +
               parameters.lambda * trace(strain) * unit_symmetric_tensor<dim>();
      }

      /// Seconds of the fast and of the hand-written assembly.
      struct AssemblyTimes
      {
        double fast = 0., reference = 0.;
      };

      AssemblyTimes
      assemble_system(const AgglomerationHandler<dim> &handler)
      {
        AssemblyTimes times;
        if (parameters.assembly != "fast")
          {
            set_up(handler);
            const Timer timer;
            assemble(handler);
            times.reference = timer.wall_time();
          }
        if (parameters.assembly == "reference")
          return times;
        TrilinosWrappers::SparseMatrix reference;
        TrilinosWrappers::MPI::Vector  reference_rhs;
        if (parameters.assembly == "compare")
          {
            reference.copy_from(matrix);
            reference_rhs = rhs;
          }
        times.fast = assemble_fast(handler);
        if (parameters.assembly == "compare")
          check_difference(reference, reference_rhs);
        return times;
      }

      /// Assembles with PolytopicAssembler and returns the seconds of the
      /// second assembly, when structure and penalty are known.
      double
      assemble_fast(const AgglomerationHandler<dim> &handler)
      {
        IsotropicElasticity<dim> form(parameters.lambda, parameters.mu);
        form.set_force(std::make_shared<ExactFunction<dim>>(exact, true));
        form.set_dirichlet(std::make_shared<ExactFunction<dim>>(exact, false));
        for (const types::boundary_id id : parameters.neumann_ids)
          form.set_boundary_stress(
            id, std::make_shared<ExactStress<dim>>(exact, parameters));
        form.set_coefficient_order(parameters.extra_order);

        PolytopicAssembler<dim> assembler(handler,
                                          parameters.assembly_parameters());
        matrix.clear();
        assembler.reinit(matrix, rhs);
        solution.reinit(rhs);
        assembler.assemble(form, matrix, rhs);
        if (parameters.assembly == "compare")
          assembler.assemble(form, matrix, rhs);
        return assembler.report().assembly_time;
      }

      /// Throws unless the system agrees with the reference to rounding.
      void
      check_difference(const TrilinosWrappers::SparseMatrix &reference,
                       const TrilinosWrappers::MPI::Vector &reference_rhs) const
      {
        TrilinosWrappers::SparseMatrix difference;
        difference.copy_from(matrix);
        difference.add(-1., reference);
        TrilinosWrappers::MPI::Vector rhs_difference = rhs;
        rhs_difference -= reference_rhs;
        AssertThrow(difference.frobenius_norm() <=
                        1e-12 * reference.frobenius_norm() &&
                      rhs_difference.l2_norm() <=
                        1e-12 * reference_rhs.l2_norm(),
                    ExcMessage("The fast assembly differs from the form "
                               "written by hand."));
      }

      void
      set_up(const AgglomerationHandler<dim> &handler)
      {
        DynamicSparsityPattern sparsity(handler.n_dofs());
        handler.make_sparsity_pattern(sparsity);
        matrix.clear();
        matrix.reinit(handler.locally_owned_dofs(),
                      handler.locally_owned_dofs(),
                      sparsity,
                      MPI_COMM_WORLD);
        rhs.reinit(handler.locally_owned_dofs(), MPI_COMM_WORLD);
        solution.reinit(rhs);
        compute_penalty_factors(handler, PenaltyFormula::simplex);
      }

      /// The form by hand.
      void
      assemble(const AgglomerationHandler<dim> &handler)
      {
        const double penalty = parameters.penalty_constant *
                               (2. * parameters.mu + parameters.lambda);
        const auto cell = [&](const PolytopeValues<dim> &values, auto &local) {
          const auto                           v = values[displacement];
          std::vector<SymmetricTensor<2, dim>> strain(values.dofs_per_cell);
          for (const unsigned int q : values.quadrature_point_indices())
            {
              const auto x = exact.evaluate(values.quadrature_point(q));
              for (const unsigned int i : values.dof_indices())
                strain[i] = v.symmetric_gradient(i, q);
              for (const unsigned int i : values.dof_indices())
                {
                  const auto sigma = values.JxW(q) * stress(strain[i]);
                  for (const unsigned int j : values.dof_indices())
                    local.matrix(i, j) += sigma * strain[j];
                  local.rhs(i) += values.JxW(q) * (x.force * v.value(i, q));
                }
            }
        };
        const auto face = [&](const auto &values, auto &local) {
          const auto                  v = values[displacement];
          std::vector<Tensor<1, dim>> jump(values.n_current_interface_dofs()),
            traction(jump);
          const bool boundary = values.at_boundary();
          const bool neumann =
            boundary && parameters.neumann_ids.count(values.boundary_id()) > 0;
          for (const unsigned int q : values.quadrature_point_indices())
            {
              const auto normal = values.normal_vector(q);
              typename ExactSolution<dim>::Values x;
              if (boundary)
                x = exact.evaluate(values.quadrature_point(q));
              for (const unsigned int i : values.dof_indices())
                {
                  const auto strain = v.average_of_symmetric_gradients(i, q);
                  jump[i]           = v.jump_in_values(i, q);
                  traction[i]       = stress(strain) * normal;
                }
              for (const unsigned int i : values.dof_indices())
                {
                  const auto w = values.JxW(q) * jump[i],
                             a = penalty * values.penalty_factor(q) * w -
                                 values.JxW(q) * traction[i];
                  for (const unsigned int j : values.dof_indices())
                    if (!neumann)
                      local.matrix(i, j) += a * jump[j] - w * traction[j];
                  if (boundary)
                    local.rhs(i) +=
                      neumann ? stress(symmetrize(x.gradient)) * normal * w
                              : a * x.u;
                }
            }
        };
        const auto flags = update_values | update_gradients;
        assemble_by_hand<dim>(
          handler, parameters.extra_order, flags, cell, face, matrix, rhs);
      }

      // Rigid body motions as consecutive vectors of DoFs, which algebraic
      // multigrid needs as near null space. On a bounding box of volume V with
      // centre m and extents h, 1 = sqrt(V) phi_0 and
      // x_d = sqrt(V) (m_d phi_0 + h_d / sqrt(12) phi_{1+d}).
      std::vector<double>
      rigid_motions(const AgglomerationHandler<dim> &handler,
                    unsigned int                    &n_motions) const
      {
        n_motions                   = dim * (dim + 1) / 2;
        const std::size_t    n_dofs = handler.n_dofs();
        std::vector<double>  motions(n_motions * n_dofs, 0.);
        const PolytopicDoFs &dofs = handler.polytopic_dofs();
        for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
          {
            const auto box  = handler.bounding_box(k);
            const auto root = std::sqrt(box.volume());
            // Coefficients of one component of one rigid body motion on this
            // polytope.
            const auto entries = [&](const unsigned int motion,
                                     const unsigned int component) {
              return &motions[motion * n_dofs + dofs.dof_offset[k] +
                              component * dofs.n_basis[k]];
            };
            const auto set_to_coordinate =
              [&](double *entry, const unsigned int d, const double factor) {
                entry[0] = factor * root * box.center()[d];
                entry[1 + d] =
                  factor * root * box.side_length(d) / std::sqrt(12.);
              };
            for (unsigned int c = 0; c < dim; ++c)
              entries(c, c)[0] = root;
            unsigned int motion = dim;
            for (unsigned int c = 0; c < dim; ++c)
              for (unsigned int d = c + 1; d < dim; ++d, ++motion)
                {
                  set_to_coordinate(entries(motion, c), d, -1.);
                  set_to_coordinate(entries(motion, d), c, 1.);
                }
          }
        return motions;
      }

      unsigned int
      solve(const AgglomerationHandler<dim> &handler)
      {
        solution                  = 0.;
        const double rhs_norm     = rhs.l2_norm();
        double       allowed      = 1e-6;
        unsigned int n_iterations = 0;
        if (rhs_norm == 0.)
          return 0;
        SolverControl control(parameters.max_iterations,
                              parameters.tolerance * rhs_norm,
                              false,
                              false);
        bool          solved = true;
        try
          {
            if (parameters.solver == "direct")
              solve_directly(control, matrix, solution, rhs);
            else
              {
                unsigned int        n_motions;
                std::vector<double> motions = rigid_motions(handler, n_motions);
                Teuchos::ParameterList list;
                ML_Epetra::SetDefaults("SA", list);
                list.set("ML output", 0);
                list.set("PDE equations", 1);
                list.set("null space: type", "pre-computed");
                list.set("null space: dimension", static_cast<int>(n_motions));
                list.set("null space: vectors", motions.data());
                list.set("null space: add default vectors", false);
                list.set("smoother: type", "symmetric Gauss-Seidel");
                list.set("smoother: sweeps", 2);
                list.set("coarse: type", "Amesos-KLU");
                TrilinosWrappers::PreconditionAMG amg;
                amg.initialize(matrix, list);
                SolverCG<TrilinosWrappers::MPI::Vector> solver(control);
                solver.solve(matrix, solution, rhs, amg);
                n_iterations = control.last_step();
                allowed      = 10. * parameters.tolerance;
              }
          }
        catch (const SolverControl::NoConvergence &)
          {
            solved = false;
          }
        catch (const TrilinosWrappers::SolverDirect::ExcTrilinosError &)
          {
            solved = false;
          }
        AssertThrow(solved && residual_norm(matrix, solution, rhs) <=
                                allowed * rhs_norm,
                    ExcMessage("The linear system was not solved: choose "
                               "another Solver/Method, more iterations, or a "
                               "larger Discretisation/Penalty constant."));
        return n_iterations;
      }

      void
      compute_errors(const AgglomerationHandler<dim> &handler,
                     ConvergenceTable                &table) const
      {
        PolytopeValues<dim>         values(handler,
                                   parameters.extra_order,
                                   update_values | update_gradients);
        std::vector<Tensor<1, dim>> u_h;
        std::vector<Tensor<2, dim>> grad_u_h;
        double                      L2 = 0., H1 = 0.;
        for (const auto &polytope : handler.polytope_iterators())
          {
            values.reinit(polytope);
            values[displacement].get_function_values(solution, u_h);
            values[displacement].get_function_gradients(solution, grad_u_h);
            for (const unsigned int q : values.quadrature_point_indices())
              {
                const auto x = exact.evaluate(values.quadrature_point(q));
                L2 += values.JxW(q) * (u_h[q] - x.u).norm_square();
                H1 += values.JxW(q) * (grad_u_h[q] - x.gradient).norm_square();
              }
          }
        table.add_value("L2", std::sqrt(L2));
        table.add_value("H1", std::sqrt(H1));
      }

      void
      output(const AgglomerationHandler<dim> &handler,
             const unsigned int               level,
             const unsigned int               degree) const
      {
        std::error_code error;
        std::filesystem::create_directories(parameters.directory, error);
        AssertThrow(!error,
                    ExcMessage("The folder '" + parameters.directory +
                               "' cannot be created: " + error.message() +
                               "."));
        PolytopicDataOut<dim> data_out(handler);
        data_out.add_data_vector(solution, "displacement");
        data_out.build_patches();
        data_out.write_vtu_file(parameters.file("-" + std::to_string(level) +
                                                "-p" + std::to_string(degree) +
                                                "-solution.vtu"));
      }
    };

    MainFunction *const main_function = run_study<LinearElasticity, Parameters>;
  } // namespace Application
} // namespace Tessella

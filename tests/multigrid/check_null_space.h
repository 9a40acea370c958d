// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_check_null_space_h
#define tessella_tests_check_null_space_h

// Pure Neumann and periodic problems with multigrid, for host and device
// matrices and any number of processes. verify(name, good, text) is called with
// results that agree on all processes.

#include <deal.II/fe/fe_system.h>

#include <tessella/numerics/null_space.h>
#include <tessella/numerics/vector_tools.h>

#include "../lambda.h"
#include "../meshes.h"
#include "check_parallel.h"

namespace MultigridTest
{
  /// -lap u = f on a ball with Neumann conditions everywhere, or on the
  /// periodic unit cube. Polytopes are families of cells, in the same order for
  /// every number of processes.
  template <int dim, typename MatrixType, typename VectorType>
  struct NullSpaceCase
  {
    using Matrix = MatrixType;

    parallel::distributed::Triangulation<dim>        triangulation;
    AgglomerationHandler<dim>                        handler;
    AdvectionDiffusionReaction<dim>                  form;
    typename PolytopicAssembler<dim>::AdditionalData data;
    MatrixType                                       matrix, without_penalty;
    VectorType                                       rhs, exact;
    NullSpace<VectorType>                            constants;

    static const Triangulation<dim> &
    refine(parallel::distributed::Triangulation<dim> &triangulation,
           const bool                                 periodic,
           const unsigned int                         n_refinements)
    {
      if (periodic)
        {
          GridGenerator::hyper_cube(triangulation, 0., 1., true);
          add_periodic_faces(triangulation,
                             dim == 2 ? std::vector<unsigned int>{0, 1}
                                      : std::vector<unsigned int>{0, 1, 2});
        }
      else
        GridGenerator::hyper_ball(triangulation);
      triangulation.refine_global(n_refinements);
      return triangulation;
    }

    // A product of waves, or a polynomial of degree 2 if @p periodic is false.
    static double
    solution(const Point<dim> &x, const bool periodic)
    {
      double result = periodic ? 1. : 0.7 + x[0] * x[1];
      for (int d = 0; d < dim; ++d)
        if (periodic)
          result *= std::sin(2. * numbers::PI * x[d] + 0.3 * d);
        else
          result += (d + 1.) * x[d] * x[d] - 0.4 * x[d];
      return result;
    }

    NullSpaceCase(const MPI_Comm     communicator,
                  const bool         periodic,
                  const unsigned int degree,
                  const unsigned int n_refinements)
      : triangulation(communicator)
      , handler(refine(triangulation, periodic, n_refinements))
    {
      handler.agglomerate(Agglomeration::complete_families<dim>());
      handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(degree));
      form.set_diffusion(1.);
      form.set_source(std::make_shared<Lambda<dim>>(
        [periodic](const Point<dim> &x, const unsigned int) {
          return periodic
                   ? dim * 4. * numbers::PI * numbers::PI * solution(x, true)
                   : -1. * dim * (dim + 1.);
        }));
      BoundaryCondition<dim> condition;
      condition.type = BoundaryType::neumann;
      condition.flux = std::make_shared<Lambda<dim>>(
        [](const Point<dim> &x, const unsigned int d) {
          return 2. * (d + 1.) * x[d] - 0.4 + (d < 2 ? x[1 - d] : 0.);
        },
        dim);
      form.set_default_boundary_condition(condition);
      data.backend = std::is_same<VectorType, DeviceVector<double>>::value
                       ? Backend::automatic
                       : Backend::host;
      PolytopicAssembler<dim> assembler(handler, data);
      assembler.reinit(matrix, rhs);
      assembler.reinit(without_penalty);
      assembler.assemble(form, matrix, rhs);
      PenaltyParameters none = data.penalty;
      none.constant          = 0.;
      assembler.set_penalty(none);
      assembler.assemble_matrix(form, without_penalty);
      constants = NullSpace<VectorType>::constants(handler);

      // the exact solution, projected, with mean value zero
      LinearAlgebra::distributed::Vector<double> projected(
        handler.locally_owned_dofs(), communicator);
      Tessella::VectorTools::project(
        handler,
        Lambda<dim>([periodic](const Point<dim> &x, const unsigned int) {
          return solution(x, periodic);
        }),
        projected);
      exact.reinit(rhs);
      set_entries(exact,
                  std::vector<double>(projected.begin(), projected.end()));
      constants.project(exact);
    }

    MultigridHierarchy
    hierarchy(const bool degrees_only = false) const
    {
      return MultigridHierarchy(handler,
                                degrees_only
                                  ? NestedAgglomeration::Parents()
                                  : NestedAgglomeration::rtree(handler, 0, 8));
    }

    /// Solves the problem to 1e-10; returns the number of iterations.
    template <typename Preconditioner>
    unsigned int
    solve(const Preconditioner &preconditioner, VectorType &x) const
    {
      VectorType b(rhs);
      constants.make_consistent(b);
      SolverControl control(500, 1e-10 * b.l2_norm(), false, false);
      x.reinit(rhs);
      x = 0.;
      SolverCG<VectorType>(control).solve(
        matrix, x, b, ProjectedPreconditioner(constants, preconditioner));
      constants.project(x);
      return control.last_step();
    }

    double
    error(const VectorType &x) const
    {
      VectorType difference(x);
      difference -= exact;
      return difference.l2_norm() / exact.l2_norm();
    }
  };

  template <typename MultigridType>
  typename MultigridType::AdditionalData
  with_constants()
  {
    typename MultigridType::AdditionalData data;
    data.constant_null_space = {true};
    return data;
  }

  /// Solutions and iterations with multigrid, in double and in float, with
  /// Gauss-Seidel and W cycles, and with Chebyshev's polynomial alone.
  template <int dim, typename MatrixType, typename VectorType, typename Verify>
  void
  check_null_space_solutions(const bool periodic, const Verify &verify)
  {
    using TestCase = NullSpaceCase<dim, MatrixType, VectorType>;
    using MG       = Multigrid<MatrixType>;
    using InFloat  = Multigrid<typename SinglePrecision<MatrixType>::Matrix>;
    const std::string name =
      std::to_string(dim) + "-D " + (periodic ? "periodic" : "Neumann");
    double previous = 0.;
    for (unsigned int level = 0; level < 2; ++level)
      for (unsigned int p = periodic ? 1 : 2; p <= (dim == 2 ? 3 : 2); ++p)
        {
          const unsigned int n_refinements =
            (dim == 2 ? 4 : 3) + level - (periodic ? 0 : 1);
          if (dim == 3 && level == 1 && !periodic)
            continue;
          const TestCase    test(MPI_COMM_WORLD, periodic, p, n_refinements);
          const auto        hierarchy = test.hierarchy();
          const std::string what      = name + ", p = " + std::to_string(p) +
                                   ", mesh " + std::to_string(level);
          VectorType x;
          // A polynomial of the space is found up to the tolerance.
          const double bound          = !periodic                ? 1e-8
                                        : dim == 3 && level == 0 ? 0.6
                                        : p == 1                 ? 0.5
                                                                 : 0.1;
          const auto   check_solution = [&](const std::string &how,
                                          const auto        &preconditioner,
                                          const unsigned int most) {
            const unsigned int n     = test.solve(preconditioner, x);
            const double       error = test.error(x),
                         mean        = test.constants.functional(0) * x;
            verify(what + ", " + how,
                   n <= most && error <= bound && std::abs(mean) < 1e-12,
                   std::to_string(n) + " iterations, error " +
                     std::to_string(error) + ", mean value " +
                     std::to_string(mean));
          };
          MG multigrid;
          multigrid.initialize(test.matrix,
                               test.without_penalty,
                               hierarchy,
                               with_constants<MG>());
          check_solution("multigrid", multigrid, 25);
          const double error = test.error(x);
          if (periodic && p == 2)
            {
              verify(what + ", error falls",
                     level == 0 || error < 0.2 * previous,
                     std::to_string(error) + " " + std::to_string(previous));
              previous = error;
            }
          {
            InFloat in_float;
            in_float.initialize(test.matrix,
                                test.without_penalty,
                                hierarchy,
                                with_constants<InFloat>());
            check_solution("in float", in_float, 26);
          }
          if (level == 1)
            continue;
          auto sweeps              = with_constants<MG>();
          sweeps.smoother          = MG::Smoother::gauss_seidel;
          sweeps.cycle             = MG::Cycle::w;
          sweeps.n_smoothing_steps = 3;
          multigrid.initialize(test.matrix, hierarchy, sweeps);
          check_solution("Galerkin, Gauss-Seidel, W", multigrid, 35);
          multigrid.initialize(test.matrix,
                               assemble_coarse_operators<MatrixType>(
                                 test.handler, hierarchy, test.form, test.data),
                               hierarchy,
                               with_constants<MG>());
          check_solution("assembled", multigrid, 35);
          // The coarsest level has the polytopes of the mesh.
          InFloat degrees;
          degrees.initialize(test.matrix,
                             test.without_penalty,
                             test.hierarchy(true),
                             with_constants<InFloat>());
          check_solution("degrees, in float", degrees, 25);
          BlockChebyshev<MatrixType> chebyshev;
          chebyshev.initialize(test.matrix);
          check_solution("Chebyshev", chebyshev, 300);
        }
  }

  /// The same bits for every number of processes, and messages.
  template <int dim, typename MatrixType, typename VectorType, typename Verify>
  void
  check_null_space_bits(const Verify &verify)
  {
    using TestCase = NullSpaceCase<dim, MatrixType, VectorType>;
    using MG       = Multigrid<MatrixType>;
    for (const bool periodic : {false, true})
      {
        const std::string name =
          std::to_string(dim) + "-D " + (periodic ? "periodic" : "Neumann");
        const unsigned int n_refinements = dim == 2 ? 3 : 2;
        const TestCase     all(MPI_COMM_WORLD, periodic, 2, n_refinements),
          one(MPI_COMM_SELF, periodic, 2, n_refinements);
        const auto compare = [&](const std::string &what,
                                 const VectorType  &x,
                                 const VectorType  &X) {
          const double       error = difference(x, X);
          std::ostringstream text;
          text << error;
          verify(name + ", same bits, " + what, error == 0., text.str());
        };
        compare("functional",
                all.constants.functional(0),
                one.constants.functional(0));
        VectorType x(all.rhs), X(one.rhs);
        all.constants.project(x);
        one.constants.project(X);
        compare("projection", x, X);
        MG multigrid, of_one;
        multigrid.initialize(all.matrix,
                             all.hierarchy(true),
                             with_constants<MG>());
        of_one.initialize(one.matrix,
                          one.hierarchy(true),
                          with_constants<MG>());
        const unsigned int n = all.solve(multigrid, x),
                           N = one.solve(of_one, X);
        compare("solution", x, X);
        verify(name + ", iterations",
               n == N,
               std::to_string(n) + " " + std::to_string(N));

        // ---- messages
        const auto verify_message = [&](const std::string &what,
                                        const std::string &part,
                                        const std::string &text) {
          verify(name + ", " + what,
                 Utilities::MPI::min(contains(text, part) ? 1 : 0,
                                     MPI_COMM_WORLD) == 1,
                 text);
        };
        VectorType b(all.rhs);
        b.add(0.1, all.constants.functional(0));
        verify(name + ", imbalance",
               all.constants.imbalance(b) > 2e-3 &&
                 all.constants.imbalance(all.rhs) < 1e-10,
               std::to_string(all.constants.imbalance(b)));
        verify_message("right-hand side",
                       "the matrix maps constants to zero",
                       message_of([&] { all.constants.make_consistent(b); }));
        all.constants.make_consistent(b, 1.);
        verify(name + ", consistent",
               all.constants.imbalance(b) < 1e-12,
               std::to_string(all.constants.imbalance(b)));
        verify_message("not declared", "constant_null_space", message_of([&] {
                         multigrid.initialize(all.matrix, all.hierarchy());
                       }));
        auto wrong                = with_constants<MG>();
        wrong.constant_null_space = {true, false};
        verify_message("mask of multigrid",
                       "has 2 entries, but the element has 1 components",
                       message_of([&] {
                         multigrid.initialize(all.matrix,
                                              all.hierarchy(),
                                              wrong);
                       }));
        verify_message(
          "mask", "has 2 components, but the element has 1", message_of([&] {
            NullSpace<VectorType>::constants(all.handler,
                                             ComponentMask(2, true));
          }));
        if (periodic)
          continue;
        TestCase               fixed(MPI_COMM_WORLD, false, 1, 2);
        BoundaryCondition<dim> dirichlet;
        fixed.form.set_default_boundary_condition(dirichlet);
        PolytopicAssembler<dim> assembler(fixed.handler, fixed.data);
        assembler.assemble_matrix(fixed.form, fixed.matrix);
        verify_message("wrongly declared",
                       "must not be declared",
                       message_of([&] {
                         multigrid.initialize(fixed.matrix,
                                              fixed.hierarchy(),
                                              with_constants<MG>());
                       }));
      }
  }
} // namespace MultigridTest

#endif

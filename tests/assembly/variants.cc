// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Coefficients, boundary conditions and variants of the method are compared to
// the reference assembler; matrix classes, instruction sets, numbers of
// threads, and partial assembly are compared to each other.

#include <deal.II/base/multithread_info.h>

#include <cstring>

#include "compare.h"

template <int dim>
void
log_comparison(const std::string                         &name,
               const Tessella::AgglomerationHandler<dim> &handler,
               const Reference::Problem<dim>             &problem,
               const Give                                 give,
               const unsigned int                         order)
{
  const auto difference = compare(handler, problem, give, order, 9);
  check_below(name + " matrix", difference.first, 1e-12);
  check_below(name + " rhs", difference.second, 1e-12);
}

template <int dim>
Tensor<1, dim>
direction(const double x, const double y, const double z)
{
  Tensor<1, dim> b;
  b[0] = x;
  b[1] = y;
  if (dim == 3)
    b[2] = z;
  return b;
}

template <int dim>
void
coefficients()
{
  deallog << "coefficients, " << dim << "-D" << std::endl;
  Triangulation<dim> triangulation;
  make_mesh("hanging", triangulation);
  Tessella::AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(make_strategy<dim>("scattered"));
  handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(2));

  const Reference::Problem<dim> full = full_problem<dim>();

  log_comparison("tensor functions", handler, full, Give::tensor_functions, 4);
  log_comparison("constants", handler, full, Give::constants, 4);
  {
    Reference::Problem<dim> problem = full;
    problem.a = isotropic<dim>([](const Point<dim> &) { return 0.7; });
    log_comparison("scalars", handler, problem, Give::scalar_constant, 4);
  }
  {
    Reference::Problem<dim> problem = full;
    problem.a =
      isotropic<dim>([](const Point<dim> &x) { return 1. + x[0] * x[1]; });
    log_comparison("functions", handler, problem, Give::functions, 4);
  }
  // Each coefficient alone.
  {
    Reference::Problem<dim> problem;
    problem.a                = full.a;
    problem.default_boundary = full.default_boundary;
    for (const double theta : {1., 0., -1., 0.3})
      {
        problem.theta = theta;
        log_comparison("diffusion, theta " + std::to_string(theta),
                       handler,
                       problem,
                       Give::tensor_functions,
                       4);
        log_comparison("constant diffusion, theta " + std::to_string(theta),
                       handler,
                       problem,
                       Give::constants,
                       4);
      }
  }
  {
    Reference::Problem<dim> problem;
    problem.b                = full.b;
    problem.default_boundary = full.default_boundary;
    log_comparison("advection", handler, problem, Give::tensor_functions, 4);
    log_comparison("constant advection", handler, problem, Give::constants, 4);
    // the opposite direction
    problem.b = [](const Point<dim> &) {
      return direction<dim>(-1., 0.3, -0.2);
    };
    log_comparison("backwards", handler, problem, Give::functions, 4);
  }
  {
    Reference::Problem<dim> problem;
    problem.c = full.c;
    problem.f = full.f;
    log_comparison("reaction", handler, problem, Give::functions, 4);
  }
  // Degenerate diffusion: it vanishes in the first half (cells end at 0.5), and
  // acts only in the first direction elsewhere.
  {
    Reference::Problem<dim> problem = full;
    problem.a                       = [](const Point<dim> &) {
      Tensor<2, dim> a;
      a[0][0] = 0.8;
      return a;
    };
    log_comparison(
      "degenerate diffusion", handler, problem, Give::constants, 4);
    problem.a = [](const Point<dim> &x) {
      Tensor<2, dim> a;
      a[1][1] = x[0] * x[0];
      return a;
    };
    log_comparison("diffusion degenerate and zero at a boundary",
                   handler,
                   problem,
                   Give::tensor_functions,
                   4);
    problem.a = [](const Point<dim> &) { return Tensor<2, dim>(); };
    log_comparison("zero diffusion", handler, problem, Give::constants, 4);
  }
}

template <int dim>
void
boundary_conditions()
{
  deallog << "boundary conditions, " << dim << "-D" << std::endl;
  Triangulation<dim> triangulation;
  make_mesh("box", triangulation);
  Tessella::AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(make_strategy<dim>("steps"));
  handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(3));
  Reference::Problem<dim> problem = full_problem<dim>();
  using Reference::Boundary;
  // b points to the faces 1, 3 (and 5)
  problem.boundary[1].type  = Boundary::neumann;
  problem.boundary[1].g     = [](const Point<dim> &x) { return 1. - x[1]; };
  problem.boundary[3].type  = Boundary::robin;
  problem.boundary[3].g     = [](const Point<dim> &x) { return 2. + x[0]; };
  problem.boundary[3].alpha = [](const Point<dim> &x) { return 1. + x[0]; };
  problem.boundary[0].g     = [](const Point<dim> &x) { return x[1]; };
  log_comparison("all kinds", handler, problem, Give::tensor_functions, 4);
  problem.theta = -1;
  log_comparison("all kinds, theta -1", handler, problem, Give::constants, 4);
  // Without diffusion: outflow and inflow conditions for every type.
  problem.a = nullptr;
  log_comparison("no diffusion", handler, problem, Give::tensor_functions, 4);
  // Pure diffusion: Neumann data are allowed everywhere.
  Reference::Problem<dim> poisson;
  poisson.a = isotropic<dim>([](const Point<dim> &) { return 1.; });
  poisson.default_boundary.type = Boundary::neumann;
  poisson.default_boundary.g    = [](const Point<dim> &x) { return x[0]; };
  poisson.boundary[2].type      = Boundary::dirichlet;
  poisson.boundary[2].g         = [](const Point<dim> &x) { return x[0]; };
  log_comparison("Poisson", handler, poisson, Give::scalar_constant, 4);

  // Inflow through a Neumann part is an error.
  Reference::Problem<dim> wrong = full_problem<dim>();
  wrong.boundary[0].type        = Boundary::neumann;
  const auto form               = make_form(wrong, Give::tensor_functions, 4);
  Tessella::PolytopicAssembler<dim> assembler(handler);
  SparsityPattern                   sparsity;
  SparseMatrix<double>              matrix;
  Vector<double>                    rhs;
  assembler.reinit(sparsity, matrix, rhs);
  check_throws<ExceptionBase>("inflow on a Neumann part",
                              [&]() { assembler.assemble(form, matrix, rhs); });
}

// Sum of the differences of all entries, relative to the largest entry.
template <typename A, typename B>
double
difference(const A &a, const B &b)
{
  double largest = 0, sum = 0;
  for (unsigned int i = 0; i < a.m(); ++i)
    for (unsigned int j = 0; j < a.n(); ++j)
      {
        largest = std::max(largest, std::abs(a.el(i, j)));
        sum     = std::max(sum, std::abs(a.el(i, j) - b.el(i, j)));
      }
  return sum / largest;
}

template <int dim>
void
backends()
{
  deallog << "backends, " << dim << "-D" << std::endl;
  Triangulation<dim> triangulation;
  make_mesh("distorted", triangulation);
  const auto form = make_form(full_problem<dim>(), Give::tensor_functions, 2);
  for (const unsigned int p : {1, 3, 4})
    {
      Tessella::AgglomerationHandler<dim> handler(triangulation);
      handler.agglomerate(make_strategy<dim>("scattered"));
      handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
      using Assembler = Tessella::PolytopicAssembler<dim>;
      Assembler            assembler(handler);
      SparsityPattern      sparsity;
      SparseMatrix<double> matrix;
      Vector<double>       rhs;
      assembler.reinit(sparsity, matrix, rhs);
      assembler.assemble(form, matrix, rhs);
      const std::string degree = ", p = " + std::to_string(p);

#ifdef TESSELLA_HAVE_EPETRA
      TrilinosWrappers::SparseMatrix trilinos_matrix;
      TrilinosWrappers::MPI::Vector  trilinos_rhs;
      assembler.reinit(trilinos_matrix, trilinos_rhs);
      assembler.assemble(form, trilinos_matrix, trilinos_rhs);
      double largest = 0;
      for (unsigned int i = 0; i < rhs.size(); ++i)
        largest = std::max(largest, std::abs(rhs(i) - trilinos_rhs(i)));
      check("Trilinos matrix" + degree,
            difference(matrix, trilinos_matrix) == 0);
      check("Trilinos rhs" + degree, largest == 0);
#endif

      // Matrix and right-hand side alone, twice, into objects that have other
      // values.
      {
        SparseMatrix<double> alone(sparsity);
        alone.add(0.5, matrix);
        assembler.assemble_matrix(form, alone);
        check("matrix alone" + degree, difference(matrix, alone) == 0);
        Vector<double> rhs_alone(rhs);
        assembler.assemble_rhs(form, rhs_alone);
        rhs_alone -= rhs;
        check_below("rhs alone" + degree,
                    rhs_alone.linfty_norm() / rhs.linfty_norm(),
                    1e-14);
#ifdef TESSELLA_HAVE_EPETRA
        assembler.assemble_matrix(form, trilinos_matrix);
        assembler.assemble_rhs(form, trilinos_rhs);
        check("Trilinos alone" + degree,
              difference(matrix, trilinos_matrix) == 0);
#endif
      }

      // Instruction sets.
      for (const auto set : {Tessella::InstructionSet::plain,
                             Tessella::InstructionSet::avx2,
                             Tessella::InstructionSet::avx512})
        {
          const std::string name = Tessella::name(set) + degree;
          if (set > Tessella::best_instruction_set())
            {
              // an instruction set that the machine lacks cannot differ
              check(name, true);
              check(name + " rhs", true);
              continue;
            }
          typename Assembler::AdditionalData data;
          data.instruction_set = set;
          Assembler            other(handler, data);
          SparsityPattern      other_sparsity;
          SparseMatrix<double> other_matrix;
          Vector<double>       other_rhs;
          other.reinit(other_sparsity, other_matrix, other_rhs);
          other.assemble(form, other_matrix, other_rhs);
          check_below(name, difference(matrix, other_matrix), 1e-12);
          other_rhs -= rhs;
          check_below(name + " rhs",
                      other_rhs.linfty_norm() / rhs.linfty_norm(),
                      1e-12);
        }

      // The mass matrix is the identity on a box, and agrees with the
      // reference.
      {
        Reference::Problem<dim> mass;
        mass.c      = [](const Point<dim> &) { return 2.; };
        mass.f      = [](const Point<dim> &x) { return 2. - x[0] + x[1]; };
        mass.facets = false;
        const Tessella::MassForm<dim> mass_form(
          2., std::make_shared<ScalarLambda<dim>>(mass.f));
        SparseMatrix<double> mass_matrix(sparsity);
        Vector<double>       mass_rhs(rhs);
        assembler.assemble(mass_form, mass_matrix, mass_rhs);
        const auto space = make_space(handler);
        const auto system =
          Reference::assemble<dim>(space,
                                   mass,
                                   p + 5,
                                   [](const Point<dim> &,
                                      const Point<dim> &,
                                      const bool) { return 0.; });
        check_below("mass matrix" + degree,
                    matrix_difference(mass_matrix, system, space),
                    1e-12);
        check_below("mass rhs" + degree,
                    rhs_difference(mass_rhs, system, space),
                    1e-12);
      }
    }
}

/// The results have the same bits for any number of threads, on a mesh with
/// enough polytopes for several tasks.
template <int dim>
void
threads()
{
  deallog << "threads, " << dim << "-D" << std::endl;
  Triangulation<dim> triangulation;
  GridGenerator::subdivided_hyper_cube(triangulation, dim == 2 ? 40 : 10);
  GridTools::distort_random(0.2, triangulation, true, 5);
  const auto form = make_form(full_problem<dim>(), Give::tensor_functions, 2);
  for (const unsigned int n : {1u, 5u, 300u})
    {
      Tessella::AgglomerationHandler<dim> handler(triangulation);
      handler.agglomerate([n](const Triangulation<dim> &t) {
        std::vector<unsigned int> ids(t.n_active_cells());
        for (unsigned int i = 0; i < ids.size(); ++i)
          ids[i] = i * static_cast<std::uint64_t>(n) / ids.size();
        return ids;
      });
      handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(2));
      SparsityPattern      sparsity[3];
      SparseMatrix<double> matrix[3];
      Vector<double>       rhs[3];
      const unsigned int   n_threads[3] = {1, 2, 1};
      for (unsigned int i = 0; i < 3; ++i)
        {
          MultithreadInfo::set_thread_limit(n_threads[i]);
          handler.penalty_state = -1;
          Tessella::PolytopicAssembler<dim> assembler(handler);
          assembler.reinit(sparsity[i], matrix[i], rhs[i]);
          assembler.assemble(form, matrix[i], rhs[i]);
        }
      bool same = true;
      for (unsigned int i = 1; i < 3; ++i)
        {
          auto a = matrix[0].begin();
          for (auto b = matrix[i].begin(); b != matrix[i].end(); ++a, ++b)
            {
              const double x = a->value(), y = b->value();
              same &= std::memcmp(&x, &y, sizeof(double)) == 0;
            }
          same &= std::memcmp(rhs[0].begin(),
                              rhs[i].begin(),
                              rhs[0].size() * sizeof(double)) == 0;
        }
      check("same bits, " + std::to_string(n) + " polytopes", same);
    }
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  coefficients<2>();
  coefficients<3>();
  boundary_conditions<2>();
  boundary_conditions<3>();
  backends<2>();
  backends<3>();
  threads<2>();
  threads<3>();
}

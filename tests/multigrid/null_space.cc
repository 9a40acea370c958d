// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Constants as null space on the host, for any number of processes:
// manufactured solutions of pure Neumann and periodic problems with multigrid
// and other preconditioners, the same bits for every number of processes,
// systems of which one component has a null space, and messages.

#include "../tests.h"
#include "check_components.h"
#include "check_null_space.h"
#ifdef TESSELLA_HAVE_EPETRA
#  include <tessella/lac/two_level_preconditioner.h>
#endif

using namespace MultigridTest;

namespace
{
  void
  verify(const std::string &name, const bool good, const std::string &text)
  {
    if (!check(name, good))
      deallog << text << std::endl;
  }

  // Component 0 has Neumann conditions, component 1 Dirichlet conditions.
  void
  test_mask()
  {
    using Matrix     = HostBlockMatrix<double>;
    using VectorType = HostVector<double>;
    using TestCase   = NullSpaceCase<2, Matrix, VectorType>;
    TestCase              neumann(MPI_COMM_WORLD, false, 3, 3);
    Matrix                dirichlet, system;
    VectorType            rhs, x, one_of_each;
    PolytopicAssembler<2> assembler(neumann.handler, neumann.data);
    assembler.reinit(dirichlet);
    auto form = neumann.form;
    form.set_default_boundary_condition(BoundaryCondition<2>());
    assembler.assemble_matrix(form, dirichlet);
    const auto offset = neumann.matrix.dof_offset();
    neumann.handler.distribute_dofs(
      FESystem<2>(FE_BoundingBoxLegendre<2>(3), 2));
    PointwiseOperator<2> op(neumann.handler, neumann.data);
    op.reinit(system);
    op.reinit(rhs);
    repeat_components({&neumann.matrix, &dirichlet}, system);
    repeat_components(
      neumann.rhs, offset, neumann.handler.n_polytopes(), 2, rhs);
    const auto constants = NullSpace<VectorType>::constants(
      neumann.handler, ComponentMask(std::vector<bool>{true, false}));
    x.reinit(rhs);
    system.vmult(x, constants.vector(0));
    check_below("product with the constant",
                x.l2_norm(),
                1e-11 * constants.vector(0).l2_norm());
    Multigrid<Matrix>                 multigrid;
    Multigrid<Matrix>::AdditionalData data;
    data.constant_null_space = {true, false};
    multigrid.initialize(system, neumann.hierarchy(), data);
    constants.make_consistent(rhs);
    SolverControl control(200, 1e-10 * rhs.l2_norm(), false, false);
    x = 0.;
    SolverCG<VectorType>(control).solve(
      system, x, rhs, ProjectedPreconditioner(constants, multigrid));
    constants.project(x);
    check("iterations of a system with one free constant",
          control.last_step() <= 40);
    VectorType r(x);
    check_below("residual", system.residual(r, x, rhs), 2e-10 * rhs.l2_norm());
    check_below("mean value", std::abs(constants.functional(0) * x), 1e-12);
    data.constant_null_space = {true, true};
    check("the second component has none",
          contains(message_of([&] {
                     multigrid.initialize(system, neumann.hierarchy(), data);
                   }),
                   "must not be declared"));
  }

  // Periodic advection: a matrix that is not symmetric, GMRES.
  void
  test_advection()
  {
    using Matrix     = HostBlockMatrix<double>;
    using VectorType = HostVector<double>;
    NullSpaceCase<2, Matrix, VectorType> problem(MPI_COMM_WORLD, true, 2, 4);
    Tensor<1, 2>                         b;
    b[0] = 3.;
    b[1] = 1.;
    problem.form.set_advection(b);
    PolytopicAssembler<2> assembler(problem.handler, problem.data);
    assembler.assemble_matrix(problem.form, problem.matrix);
    VectorType  x(problem.rhs), y(problem.rhs);
    const auto &one = problem.constants.vector(0);
    problem.matrix.vmult(x, one);
    problem.matrix.Tvmult(y, one);
    check_below("advection: constants on both sides",
                x.l2_norm() + y.l2_norm(),
                1e-10 * one.l2_norm());
    using MG       = Multigrid<Matrix>;
    auto data      = with_constants<MG>();
    data.symmetric = false;
    data.smoother  = MG::Smoother::gauss_seidel;
    MG multigrid;
    multigrid.initialize(problem.matrix, problem.hierarchy(), data);
    problem.constants.make_consistent(problem.rhs);
    SolverControl control(100, 1e-9 * problem.rhs.l2_norm(), false, false);
    SolverGMRES<VectorType>::AdditionalData gmres;
    gmres.right_preconditioning = true;
    gmres.max_n_tmp_vectors     = 60;
    x                           = 0.;
    SolverGMRES<VectorType>(control, gmres)
      .solve(problem.matrix,
             x,
             problem.rhs,
             ProjectedPreconditioner(problem.constants, multigrid));
    check_below("advection: residual",
                problem.matrix.residual(y, x, problem.rhs),
                2e-9 * problem.rhs.l2_norm());
    verify("advection: iterations",
           control.last_step() <= 30,
           std::to_string(control.last_step()));
    check_below("advection: mean value",
                std::abs(problem.constants.functional(0) * x),
                1e-12);
  }

  // Vectors of a user's own, and errors.
  void
  test_vectors()
  {
    using VectorType          = Vector<double>;
    const unsigned int      n = 30;
    std::vector<VectorType> z, l;
    for (unsigned int i = 0; i < 3; ++i)
      {
        z.emplace_back(n);
        l.emplace_back(n);
        for (unsigned int j = 0; j < n; ++j)
          {
            z[i](j) = std::sin((i + 1.) * j);
            l[i](j) = std::sin((i + 1.) * j + 0.5) + 0.1 * j;
          }
      }
    const NullSpace<VectorType> null_space(z, l), orthogonal(z);
    VectorType                  x = some_vector(n, 20), b = some_vector(n, 21);
    VectorType                  y(x), c(b);
    null_space.project(x);
    null_space.project_rhs(b);
    double largest = std::abs((x * c) - (y * b));
    for (unsigned int i = 0; i < 3; ++i)
      largest =
        std::max(largest, std::max(std::abs(x * l[i]), std::abs(b * z[i])));
    check_below("three vectors", largest, 1e-12);
    orthogonal.project(y);
    check_below("orthogonal projection", std::abs(y * z[1]), 1e-13);
    check("none", NullSpace<VectorType>().size() == 0);
    NullSpace<VectorType>().make_consistent(b);
    z.push_back(z[0]);
    z[3].add(2., z[1]);
    deallog << message_of([&] { NullSpace<VectorType> bad(z); }).substr(0, 56)
            << std::endl;
    deallog << message_of([&] {
                 NullSpace<VectorType> bad(z, l);
               }).substr(0, 58)
            << std::endl;
  }

#ifdef TESSELLA_HAVE_EPETRA
  // Algebraic multigrid.
  template <int dim>
  void
  test_two_level(const bool periodic)
  {
    using Matrix     = HostBlockMatrix<double>;
    using VectorType = TrilinosWrappers::MPI::Vector;
    NullSpaceCase<dim, Matrix, HostVector<double>> test(MPI_COMM_WORLD,
                                                        periodic,
                                                        2,
                                                        dim == 2 ? 4 : 3);
    PolytopicAssembler<dim>        assembler(test.handler, test.data);
    TrilinosWrappers::SparseMatrix matrix;
    VectorType                     rhs, x;
    assembler.reinit(matrix, rhs);
    assembler.assemble(test.form, matrix, rhs);
    const auto constants = NullSpace<VectorType>::constants(test.handler);
    constants.make_consistent(rhs);
    TwoLevelPreconditioner<dim> two_level;
    two_level.initialize(test.handler, matrix);
    SolverControl control(100, 1e-10 * rhs.l2_norm(), false, false);
    x.reinit(rhs);
    SolverCG<VectorType>(control).solve(
      matrix, x, rhs, ProjectedPreconditioner(constants, two_level));
    constants.project(x);
    HostVector<double> solution(test.rhs);
    std::copy(x.begin(), x.end(), solution.begin());
    verify(std::to_string(dim) + "-D two levels" +
             (periodic ? ", periodic" : ", Neumann"),
           test.error(solution) < (!periodic  ? 1e-8
                                   : dim == 2 ? 0.1
                                              : 0.6) &&
             control.last_step() <= 40,
           std::to_string(control.last_step()) + " " +
             std::to_string(test.error(solution)));
  }
#endif
} // namespace

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv, 1);
  using Matrix     = HostBlockMatrix<double>;
  using VectorType = HostVector<double>;
  for (const bool periodic : {false, true})
    {
      check_null_space_solutions<2, Matrix, VectorType>(periodic, verify);
      check_null_space_solutions<3, Matrix, VectorType>(periodic, verify);
    }
  check_null_space_bits<2, Matrix, VectorType>(verify);
  check_null_space_bits<3, Matrix, VectorType>(verify);
  test_mask();
  test_advection();
  test_vectors();
#ifdef TESSELLA_HAVE_EPETRA
  for (const bool periodic : {false, true})
    {
      test_two_level<2>(periodic);
      test_two_level<3>(periodic);
    }
#endif
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Block matrices, block preconditioners and multigrid on several processes:
// products, sums, preconditioners and solutions have the bits of one process;
// numbers of multigrid iterations are close to those of one process; errors are
// thrown on all processes.

#include "../tests.h"
#include "check_parallel.h"

using namespace MultigridTest;

namespace
{
  void
  verify(const std::string &name, const bool good, const std::string &text)
  {
    check(name, good);
    if (!good)
      deallog << text << std::endl;
  }

#ifdef TESSELLA_HAVE_EPETRA
  // Trilinos vectors with a block matrix.
  void
  test_trilinos()
  {
    using Matrix      = HostBlockMatrix<double>;
    using Distributed = LinearAlgebra::distributed::Vector<double>;
    ParallelCase<2, Matrix, Distributed> test(MPI_COMM_WORLD, 2);
    PolytopicAssembler<2>                assembler(test.handler, test.data);
    TrilinosWrappers::SparseMatrix       reference;
    TrilinosWrappers::MPI::Vector        rhs, solution, y;
    Matrix                               matrix;
    assembler.reinit(reference, solution);
    assembler.assemble(test.form, reference, solution);
    assembler.reinit(matrix, rhs);
    assembler.assemble(test.form, matrix, rhs);
    solution -= rhs;
    check("Trilinos: right-hand side", solution.linfty_norm() == 0.);
    y.reinit(rhs);
    matrix.vmult(solution, rhs);
    reference.vmult(y, rhs);
    y -= solution;
    check("Trilinos: product",
          y.linfty_norm() < 1e-13 * solution.linfty_norm());

    // the matrix of Trilinos, multigrid in single precision
    Multigrid<HostBlockMatrix<float>> multigrid;
    multigrid.initialize(matrix, test.without_penalty, test.hierarchy());
    SolverControl control(20, 1e-8 * rhs.l2_norm(), false, false);
    solution = 0.;
    SolverCG<TrilinosWrappers::MPI::Vector>(control).solve(reference,
                                                           solution,
                                                           rhs,
                                                           multigrid);
    reference.vmult(y, solution);
    y -= rhs;
    check("Trilinos: solution", y.l2_norm() < 1.01e-8 * rhs.l2_norm());
    // vectors of deal.II
    Distributed u(test.rhs), v(test.rhs);
    std::copy(rhs.begin(), rhs.end(), u.begin());
    test.matrix.vmult(v, u);
    matrix.vmult(y, rhs);
    check("distributed::Vector: product",
          Utilities::MPI::min(std::equal(v.begin(), v.end(), y.begin()) ? 1 : 0,
                              MPI_COMM_WORLD) == 1);

    // A vector that only one process has.
    Vector<double> local(test.rhs.locally_owned_size());
    const auto     text = message_of([&] { matrix.vmult(local, local); });
    check("Vector is refused",
          Utilities::MPI::min(contains(text, "imension") ? 1 : 0,
                              MPI_COMM_WORLD) == 1);
  }
#endif
} // namespace

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv, 1);
  using Matrix     = HostBlockMatrix<double>;
  using VectorType = HostVector<double>;
  check_parallel<2, Matrix, VectorType>(verify);
  check_parallel<3, Matrix, VectorType>(verify);
#ifdef TESSELLA_HAVE_EPETRA
  test_trilinos();
#endif
}

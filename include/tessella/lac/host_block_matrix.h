// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_host_block_matrix_h
#define tessella_lac_host_block_matrix_h

#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/vector.h>

#include <tessella/lac/basic_block_matrix.h>

namespace Tessella
{
  namespace internal
  {
    template <typename Number>
    struct HostBlockData;
  }

  /**
   * Block matrix in host memory, with the same storage and interface as
   * DeviceBlockMatrix, so that a template over the matrix type
   * (preconditioners, multigrid) works with both. Its vectors are those of
   * deal.II:
   *
   *     HostBlockMatrix<double> matrix;
   *     Vector<double>          rhs;
   *     assembler.reinit(matrix, rhs);
   *     assembler.assemble(form, matrix, rhs);
   *     SolverCG<Vector<double>>(control).solve(matrix, solution, rhs, ...);
   *
   * <b>Products</b> run on all threads, block row by block row; the entries of
   * the vector that a block row needs are gathered once. A sum belongs to one
   * thread and its order depends on the structure alone: results are the same
   * to the last bit for every number of threads. The first product with the
   * transpose creates a list of 12 bytes per block.
   *
   * <b>Many processes.</b> On a distributed mesh each process has the rows of
   * the polytopes that it owns. Vectors are then HostVector,
   * LinearAlgebra::distributed::Vector or, for double,
   * TrilinosWrappers::MPI::Vector, as the assembler's reinit() creates them;
   * they need no ghost entries. Products are collective. They send the entries
   * that other processes need, compute the rows that need no entries of other
   * processes, and then the remaining rows. Sums follow the order that the
   * columns have on one process and are the same to the last bit for every
   * number of processes. Scalar products of HostVector have the same property,
   * those of other vectors do not. In products with the transpose, a process
   * sends the contributions of its rows to entries of other processes; they are
   * added in the order of the rows of all processes.
   *
   * Errors, as exceptions: vectors or matrices of other sizes, a product with
   * the transpose of a matrix whose structure is not symmetric.
   */
  template <typename Number>
  class HostBlockMatrix
    : public BasicBlockMatrix<Number, internal::HostBlockData<Number>>
  {
  public:
    using vector_type = dealii::Vector<Number>;

    using BasicBlockMatrix<Number, internal::HostBlockData<Number>>::operator=;
  };
} // namespace Tessella

#endif

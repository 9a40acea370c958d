// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_trilinos_block_jacobi_h
#define tessella_lac_trilinos_block_jacobi_h

#include <deal.II/lac/lapack_full_matrix.h>

#include <tessella/base/compatibility.h>
#include <tessella/base/epetra.h>
#include <tessella/grid/polytopic_space.h>

#include <cstdint>
#include <vector>

#ifdef TESSELLA_HAVE_EPETRA
namespace Tessella
{
  /**
   * Block Jacobi preconditioner for matrices of TrilinosWrappers that belong to
   * a polytopic space: y = D^{-1} x, where D has one diagonal block per
   * polytope. The same blocks provide a block Gauss-Seidel sweep. BlockJacobi
   * and BlockGaussSeidel do the same for HostBlockMatrix and DeviceBlockMatrix.
   *
   * The space and the matrix must outlive the preconditioner; initialize() must
   * be called again when values of the matrix change.
   *
   * Cost, with m degrees of freedom per polytope: m^3 operations and m^2
   * numbers of memory per polytope in initialize(), which computes LU
   * factorisations, and m^2 operations per polytope in vmult().
   *
   * Errors, as exceptions: a diagonal block that is singular (with the index of
   * its polytope on this process).
   */
  template <int dim>
  class TrilinosBlockJacobi : public Subscriptor
  {
  public:
    using VectorType = dealii::TrilinosWrappers::MPI::Vector;

    /// Collective.
    void
    initialize(const PolytopicSpace<dim>                    &space,
               const dealii::TrilinosWrappers::SparseMatrix &matrix);

    /// Works on the polytopes of this process; does not communicate.
    void
    vmult(VectorType &dst, const VectorType &src) const;

    /**
     * One block Gauss-Seidel sweep for A x = b, with the polytopes in ascending
     * or descending order, where A is the matrix that initialize() received.
     * Each process sweeps over its own polytopes as if x were zero on the
     * others; it does not communicate.
     */
    void
    sweep(VectorType &x, const VectorType &b, const bool ascending) const;

  private:
    const dealii::TrilinosWrappers::SparseMatrix *matrix = nullptr;
    const std::vector<std::uint64_t>             *offset = nullptr;
    std::vector<dealii::LAPACKFullMatrix<double>> blocks;
  };
} // namespace Tessella
#endif

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_block_preconditioners_h
#define tessella_lac_block_preconditioners_h

#include <tessella/base/compatibility.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/host_block_matrix.h>

#include <cstddef>
#include <memory>

namespace Tessella
{
  /**
   * @name Preconditioners made of the blocks of a matrix
   *
   * The preconditioners are templates over the matrix: HostBlockMatrix or
   * DeviceBlockMatrix. They work with deal.II's iterative solvers:
   *
   *     BlockJacobi<DeviceBlockMatrix<double>> preconditioner;
   *     preconditioner.initialize(matrix);
   *     SolverCG<DeviceVector<double>> solver(control);
   *     solver.solve(matrix, solution, rhs, preconditioner);
   *
   * Vectors are of the types that the matrix accepts. The matrix must outlive
   * preconditioners; initialize() must be called again when its values change.
   * D is the matrix of the diagonal blocks, one per polytope; its inverses are
   * computed by Gauss-Jordan elimination with row pivoting, all blocks at once.
   *
   * With several processes all functions are collective, and the
   * preconditioners are the same as in a program of one process: diagonal
   * blocks belong to one process, Chebyshev's polynomial uses the product with
   * the whole matrix, and colours extend over the block rows of all processes.
   *
   * Results are the same to the last bit in every run and for every number of
   * threads and processes. vmult() of one object may not run in several threads
   * at the same time.
   *
   * Errors, as exceptions: a diagonal block that is singular (with its index),
   * too little memory on the device, vectors of other sizes than the matrix.
   */
  ///@{

  /// Common base class of BlockJacobi, BlockChebyshev and BlockGaussSeidel;
  /// internal.
  template <typename MatrixType>
  class BlockPreconditioner : public Subscriptor
  {
  public:
    using value_type  = typename MatrixType::value_type;
    using size_type   = typename MatrixType::size_type;
    using vector_type = typename MatrixType::vector_type;

    BlockPreconditioner();
    virtual ~BlockPreconditioner();
    void
    clear();
    size_type
    m() const;
    size_type
    n() const
    {
      return m();
    }
    /// Applies the preconditioner. VectorType: any vector that the matrix
    /// accepts.
    template <typename VectorType>
    void
    vmult(VectorType &dst, const VectorType &src) const;
    template <typename VectorType>
    void
    Tvmult(VectorType &dst, const VectorType &src) const;
    /// Memory in bytes, including memory on the device but not the matrix.
    std::size_t
    memory_consumption() const;

  protected:
    using Number = value_type;
    struct Implementation;
    /// Begins the set-up: makes a new implementation for @p matrix.
    void
    invert_diagonal(const MatrixType &matrix);
    template <typename VectorType>
    void
    check(const VectorType &dst, const VectorType &src) const;
    /// Applies the preconditioner or its transpose to the entries that this
    /// process owns.
    virtual void
    apply(Number *dst, const Number *src, const bool transpose) const = 0;
    std::unique_ptr<Implementation> implementation;
  };

  /// Block Jacobi preconditioner: y = D^{-1} x.
  template <typename MatrixType>
  class BlockJacobi : public BlockPreconditioner<MatrixType>
  {
  public:
    void
    initialize(const MatrixType &matrix);

  private:
    using Number = typename MatrixType::value_type;
    void
    apply(Number *dst, const Number *src, const bool transpose) const override;
  };

  /**
   * Chebyshev preconditioner and smoother: a polynomial of D^{-1} A times
   * D^{-1}. The polynomial is Chebyshev's of the fourth kind with optimal
   * weights of its steps (up to degree 6, without weights for higher degrees),
   * whose only parameter is the largest eigenvalue of D^{-1} A. It damps the
   * upper part of the spectrum, as multigrid needs (J. Lottes, Optimal
   * polynomial smoothers for multigrid V-cycles, Numer. Linear Algebra Appl.
   * 30, 2023), and is symmetric if A is. The eigenvalue is estimated in
   * initialize() from ten steps of Lanczos' method with a fixed start and
   * enlarged by a tenth; for matrices that are not symmetric, from twenty steps
   * of the power method and enlarged by a fifth.
   *
   * Cost of vmult(): degree - 1 products with A and degree products with
   * D^{-1}.
   */
  template <typename MatrixType>
  class BlockChebyshev : public BlockPreconditioner<MatrixType>
  {
  public:
    struct AdditionalData
    {
      /// Number of terms of the polynomial, which is the number of products
      /// with D^{-1}.
      unsigned int degree = 3;
      /// Whether the matrix is symmetric and positive definite. If it is set
      /// for a matrix that turns out not to be, an exception is thrown.
      bool symmetric = true;
    };

    void
    initialize(const MatrixType     &matrix,
               const AdditionalData &data = AdditionalData());
    /// Smoother: improves the approximation @p x of the solution of A x = b.
    template <typename VectorType>
    void
    smooth(VectorType &x, const VectorType &b) const;
    /// Estimate of the largest eigenvalue, with its enlargement.
    double
    largest_eigenvalue() const;

  private:
    using Number = typename MatrixType::value_type;
    void
    apply(Number *dst, const Number *src, const bool transpose) const override;
  };

  /**
   * Block Gauss-Seidel by colours: block rows of a colour are not coupled with
   * each other and are computed at the same time. Colours are assigned greedily
   * in the order of the polytopes; sweeps follow the order of the colours. With
   * several processes neighbours assign colours one after the other, which
   * needs as much time as on one process, and each colour needs an exchange.
   *
   * vmult() is a sweep through the colours in ascending order and one in
   * descending order (symmetric Gauss-Seidel, LU-SGS), repeated n_sweeps times;
   * it is symmetric if A is. Cost: 2 n_sweeps products with A. Tvmult() is
   * available for symmetric matrices only, where it is the same.
   */
  template <typename MatrixType>
  class BlockGaussSeidel : public BlockPreconditioner<MatrixType>
  {
  public:
    struct AdditionalData
    {
      unsigned int n_sweeps  = 1;
      bool         symmetric = true; ///< whether the matrix is symmetric
    };

    void
    initialize(const MatrixType     &matrix,
               const AdditionalData &data = AdditionalData());
    /// One sweep that improves the approximation @p x of the solution of A x =
    /// b.
    template <typename VectorType>
    void
    sweep(VectorType &x, const VectorType &b, const bool ascending) const;
    unsigned int
    n_colors() const;

  private:
    using Number = typename MatrixType::value_type;
    void
    apply(Number *dst, const Number *src, const bool transpose) const override;
  };
  ///@}
} // namespace Tessella

#endif

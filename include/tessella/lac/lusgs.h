// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_lusgs_h
#define tessella_lac_lusgs_h

#include <tessella/base/compatibility.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/host_block_matrix.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace Tessella
{
  /// Order in which LUSGS and BlockILU0 go through the block rows.
  enum class SweepOrdering
  {
    /// Hyperplanes on the host, where solvers need fewer iterations with them
    /// and steps cost nothing; colours on a device, where each step is a
    /// kernel. Take colors where results must not depend on the number of
    /// processes.
    automatic,
    /// Colours, as in BlockGaussSeidel: few steps with many block rows each.
    /// The preconditioner is the same for every number of processes.
    colors,
    /// Wave fronts of a numbering: a block row is in the first step after all
    /// its neighbours with lower numbers. The factors are those of the
    /// numbering itself. Each process takes its own block rows and leaves out
    /// blocks of ghosts, so that no step needs a message, and the
    /// preconditioner depends on the number of processes.
    hyperplanes,
    /// Hyperplanes of a numbering along the flow, which is found from the
    /// values of the matrix when the preconditioner is initialised: a block row
    /// k follows a coupled one l if the block (k, l) is larger than (l, k).
    /// Where advection dominates, the matrix is nearly block triangular in this
    /// order. Where flows go round, the row with the smallest share of inflow
    /// from later rows is next. Symmetric matrices get the reverse numbering of
    /// Cuthill and McKee.
    downwind
  };

  /// Parameters of LUSGS and BlockILU0.
  struct SweepData
  {
    SweepOrdering ordering = SweepOrdering::automatic;
    /// Number of each block row of this process in the numbering of
    /// SweepOrdering::hyperplanes, a permutation of 0 .. n-1, for example by
    /// the position of the polytopes along a flow. If empty, the numbering is
    /// the reverse one of Cuthill and McKee.
    std::vector<unsigned int> numbering;
    /// Number of repetitions k of LUSGS, SGS(k).
    unsigned int n_sweeps = 1;
    /// Factor omega of the updates of BlockILU0, from 0 to 1.
    double relaxation = 1.;
  };

  /**
   * Common base class of LUSGS and BlockILU0; internal. @p Storage is the type
   * in which blocks are held, @p MatrixType::value_type or float.
   */
  template <typename MatrixType,
            typename Storage = typename MatrixType::value_type>
  class SweepPreconditioner : public Subscriptor
  {
  public:
    using value_type     = typename MatrixType::value_type;
    using size_type      = typename MatrixType::size_type;
    using vector_type    = typename MatrixType::vector_type;
    using AdditionalData = SweepData;

    SweepPreconditioner();
    virtual ~SweepPreconditioner();
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
    /// Applies the transpose. The structure of the matrix must be symmetric.
    template <typename VectorType>
    void
    Tvmult(VectorType &dst, const VectorType &src) const;
    /// Applies the preconditioner or its transpose to the entries of this
    /// process, which are in the memory of the matrix.
    void
    vmult_owned(value_type       *dst,
                const value_type *src,
                const bool        transpose = false) const;
    /// Number of colours or wave fronts, which are the steps of a sweep. With
    /// wave fronts it is that of this process.
    unsigned int
    n_steps() const;
    /// Memory in bytes, including memory on the device but not the matrix.
    std::size_t
    memory_consumption() const;

  protected:
    using Number = value_type;
    struct Implementation;
    template <typename VectorType>
    void
    apply(VectorType &dst, const VectorType &src, const bool transpose) const;
    std::unique_ptr<Implementation> implementation;
  };

  /**
   * Lower-upper symmetric Gauss-Seidel (A. Jameson and S. Yoon, AIAA J. 25,
   * 1987): with the diagonal blocks D and the blocks L and U that couple a
   * block row to rows of earlier and later steps,
   *
   *     (D + L) x* = r,   x = x* - D^{-1} U x,
   *
   * which is the inverse of (D + L) D^{-1} (D + U). <b>Every off-diagonal block
   * is read once</b>: the forward sweep reads L, the backward sweep reads U.
   * D^{-1} is kept and read twice. With several repetitions, SGS(k), the sums
   * with U of the last backward sweep are kept, so that each repetition reads
   * the blocks once as well; the result is that of k symmetric Gauss-Seidel
   * iterations from zero.
   *
   *     LUSGS<HostBlockMatrix<double>> preconditioner;
   *     preconditioner.initialize(matrix);
   *     SolverFusedGMRES<HostVector<double>> solver(control);
   *     solver.solve(matrix, solution, rhs, preconditioner);
   *
   * <b>Storage.</b> @p Storage is the type of the inverses and blocks: with
   * LUSGS<HostBlockMatrix<double>, float> all data are read in single precision
   * while vectors and sums are in double. In the precision of the matrix,
   * blocks are read from the matrix itself; otherwise, and for float on a
   * device, they are copied in the order of the sweeps. The matrix must outlive
   * the preconditioner, and initialize() must be called again when its values
   * change. A call with the same matrix, which has not got another structure,
   * and the same parameters keeps order, lists and memory.
   *
   * <b>Many processes.</b> All functions are collective. By colours the result
   * has the same bits for every number of processes, and each step needs an
   * exchange of ghost entries. The first call of Tvmult() on several processes
   * then collects the blocks of the transpose, which other processes have in
   * part, in a copy of the off-diagonal blocks. By hyperplanes each process
   * takes its own diagonal part of the matrix. Results have the same bits for
   * every number of threads. vmult() of one object may not run in several
   * threads at the same time.
   *
   * Cost of vmult(): the time to read the matrix once and D^{-1} once more.
   *
   * Errors, as exceptions: a singular diagonal block (with the polytope), a
   * numbering that is not a permutation, a structure that is not symmetric.
   */
  template <typename MatrixType,
            typename Storage = typename MatrixType::value_type>
  class LUSGS : public SweepPreconditioner<MatrixType, Storage>
  {
  public:
    void
    initialize(const MatrixType &matrix, const SweepData &data = SweepData());
  };

  /**
   * Block incomplete factorisation without fill-in, ILU(0): the factors
   * (D' + L') D'^{-1} (D' + U') have the block pattern of the matrix, and their
   * product agrees with the matrix on this pattern. Elimination follows the
   * order of the sweeps; vmult() is that of LUSGS with other blocks, at the
   * same cost. SweepData::n_sweeps must be 1. The factors are computed in the
   * precision of the matrix and need a copy of it.
   *
   * <b>Relaxation.</b> The factors of a symmetric positive definite matrix are
   * symmetric, but may be indefinite, or much too small: what fills in between
   * block rows that are not coupled is left out, while the updates of blocks
   * that do exist stay. On irregular polytopes, of which three and more meet in
   * a point, that does happen. With SweepData::relaxation omega < 1 the updates
   * are omega e_km D'_m^{-1} e_mj. With omega = 0 nothing is subtracted, and
   * the product of the factors is that of LUSGS, A + L D^{-1} L^T >= A. In
   * between, the largest eigenvalue of the preconditioned matrix falls with
   * omega.
   *
   * With several processes each one factorises its own diagonal part of the
   * matrix, for both orderings. Errors: as for LUSGS; a pivot block that
   * becomes singular during elimination; a relaxation that is not between 0 and
   * 1.
   */
  template <typename MatrixType,
            typename Storage = typename MatrixType::value_type>
  class BlockILU0 : public SweepPreconditioner<MatrixType, Storage>
  {
  public:
    void
    initialize(const MatrixType &matrix, const SweepData &data = SweepData());
  };
} // namespace Tessella

#endif

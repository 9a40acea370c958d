// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_lac_host_block_matrix_h
#define tessella_lac_host_block_matrix_h

#include <deal.II/base/types.h>

#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/vector.h>

#include <tessella/assembly/block_sparsity.h>
#include <tessella/base/compatibility.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace Tessella
{
  /**
   * A block matrix in the memory of the host: the same storage and interface as
   * DeviceBlockMatrix, so that what is a template over one of them
   * (preconditioners, multigrid) is one over both. Its vectors are those of
   * deal.II:
   *
   *     HostBlockMatrix<double> matrix;
   *     Vector<double>          rhs;
   *     assembler.reinit(matrix, rhs);
   *     assembler.assemble(form, matrix, rhs);
   *     SolverCG<Vector<double>>(control).solve(matrix, solution, rhs, ...);
   *
   * <b>Products</b> run on all threads, block row by block row; the entries of
   * the vector that a block row meets are gathered once. A sum belongs to one
   * thread and its order depends on the structure alone: results are the same
   * to the last bit for every number of threads. The first product with the
   * transpose makes a list of 8 bytes a block.
   *
   * Errors, as exceptions: vectors or matrices of other sizes, a product with
   * the transpose of a matrix whose structure is not symmetric.
   */
  template <typename Number>
  class HostBlockMatrix : public Subscriptor
  {
  public:
    static_assert(std::is_same<Number, double>::value ||
                    std::is_same<Number, float>::value,
                  "HostBlockMatrix holds double or float.");

    using value_type  = Number;
    using size_type   = dealii::types::global_dof_index;
    using vector_type = dealii::Vector<Number>;

    HostBlockMatrix();
    HostBlockMatrix(HostBlockMatrix &&matrix) noexcept;
    ~HostBlockMatrix();
    HostBlockMatrix &
    operator=(HostBlockMatrix &&matrix) noexcept;

    /// New structure, all values zero. @p dof_offset: first row of each block
    /// row and the number of rows at the end.
    void
    reinit(const BlockSparsity              &sparsity,
           const std::vector<std::uint64_t> &dof_offset);
    void
    clear();
    /// All values; only zero makes sense.
    HostBlockMatrix &
    operator=(const double zero);

    size_type
    m() const;
    size_type
    n() const;
    bool
    empty() const;
    std::uint64_t
    n_nonzero_elements() const;
    std::size_t
    memory_consumption() const;

    const BlockSparsity &
    block_sparsity() const;
    /// First row of each block row and the number of rows at the end.
    const std::vector<std::uint64_t> &
    dof_offset() const;
    /// See BlockSparsity for their order.
    Number *
    values();
    const Number *
    values() const;

    // ---- products; source and destination must differ
    void
    vmult(dealii::Vector<Number> &dst, const dealii::Vector<Number> &src) const;
    void
    vmult_add(dealii::Vector<Number>       &dst,
              const dealii::Vector<Number> &src) const;
    void
    Tvmult(dealii::Vector<Number>       &dst,
           const dealii::Vector<Number> &src) const;
    void
    Tvmult_add(dealii::Vector<Number>       &dst,
               const dealii::Vector<Number> &src) const;
    /// dst = b - A x (or b - A^T x); @p dst may be @p b.
    void
    subtract_product(dealii::Vector<Number>       &dst,
                     const dealii::Vector<Number> &x,
                     const dealii::Vector<Number> &b,
                     const bool                    transpose = false) const;
    /// dst = b - A x; returns the norm of dst, which may be @p b.
    Number
    residual(dealii::Vector<Number>       &dst,
             const dealii::Vector<Number> &x,
             const dealii::Vector<Number> &b) const;

    /// Values of a matrix of the same structure, in the order of the
    /// BlockSparsity.
    void
    copy_from(const std::vector<Number> &values);
    void
    copy_to(std::vector<Number> &values) const;
    /// Structure and values, rounded if the types differ.
    template <typename OtherNumber>
    void
    copy_from(const HostBlockMatrix<OtherNumber> &matrix);
    /// @p matrix must have the structure given, all of it on this process.
    void
    copy_from(const dealii::TrilinosWrappers::SparseMatrix &matrix,
              const BlockSparsity                          &sparsity,
              const std::vector<std::uint64_t>             &dof_offset);

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_host_block_matrix_h
#define tessella_lac_host_block_matrix_h

#include <deal.II/base/types.h>

#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/vector.h>

#include <tessella/base/epetra.h>
#include <tessella/lac/block_matrix_base.h>

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
   * transpose makes a list of 12 bytes a block.
   *
   * <b>Many processes.</b> On a distributed mesh each process has the rows of
   * the polytopes that it owns. Vectors are then
   * HostVector, LinearAlgebra::distributed::Vector or, for double,
   * TrilinosWrappers::MPI::Vector, as the assembler's reinit() makes them; they
   * need no ghost entries. Products send the entries that other processes
   * need, compute the rows that need none of theirs, and then the others. They
   * are collective. Sums go through the columns in the order that they have on
   * one process and are the same to the last bit for every number of them
   * (so are scalar products of HostVector, others are not). In products with
   * the transpose a process sends the contributions of its rows to entries of
   * others; they are added in the order of the rows of all processes.
   *
   * Errors, as exceptions: vectors or matrices of other sizes, a product with
   * the transpose of a matrix whose structure is not symmetric.
   */
  template <typename Number>
  class HostBlockMatrix : public BlockMatrixBase
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
    /// row and the number of rows at the end; with several processes as in
    /// PolytopicMesh.
    void
    reinit(const BlockSparsity                         &sparsity,
           const std::vector<std::uint64_t>            &dof_offset,
           const std::shared_ptr<const BlockPartition> &partition = nullptr);
    void
    clear();
    /// All values; only zero makes sense.
    HostBlockMatrix &
    operator=(const double zero);

    std::size_t
    memory_consumption() const;

    /// See BlockSparsity for their order.
    Number *
    values();
    const Number *
    values() const;

    // ---- products; source and destination must differ. VectorType:
    // Vector<Number> on one process, HostVector<Number>,
    // LinearAlgebra::distributed::Vector<Number>, TrilinosWrappers::MPI::Vector
    // if Number is double
    template <typename VectorType>
    void
    vmult(VectorType &dst, const VectorType &src) const;
    template <typename VectorType>
    void
    vmult_add(VectorType &dst, const VectorType &src) const;
    template <typename VectorType>
    void
    Tvmult(VectorType &dst, const VectorType &src) const;
    template <typename VectorType>
    void
    Tvmult_add(VectorType &dst, const VectorType &src) const;
    /// dst = b - A x (or b - A^T x); @p dst may be @p b.
    template <typename VectorType>
    void
    subtract_product(VectorType       &dst,
                     const VectorType &x,
                     const VectorType &b,
                     const bool        transpose = false) const;
    /// dst = b - A x; returns the norm of dst, which may be @p b.
    template <typename VectorType>
    Number
    residual(VectorType &dst, const VectorType &x, const VectorType &b) const;

    /// The same with the addresses of the entries that this process owns.
    void
    vmult_owned(Number *dst, const Number *src) const;
    void
    subtract_product_owned(Number       *dst,
                           const Number *x,
                           const Number *b,
                           const bool    transpose = false) const;

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
#ifdef TESSELLA_HAVE_EPETRA
    /// @p matrix must have the structure given, all of it on this process.
    void
    copy_from(const dealii::TrilinosWrappers::SparseMatrix &matrix,
              const BlockSparsity                          &sparsity,
              const std::vector<std::uint64_t>             &dof_offset);
#endif

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif

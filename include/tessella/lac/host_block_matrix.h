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

    /// Sets a new structure and all values to zero. @p dof_offset has the first
    /// row of each block row and the number of rows at the end; with several
    /// processes as in PolytopicMesh.
    void
    reinit(const BlockSparsity                         &sparsity,
           const std::vector<std::uint64_t>            &dof_offset,
           const std::shared_ptr<const BlockPartition> &partition = nullptr);
    void
    clear();
    /// Sets all values to zero; other values of @p zero are not allowed.
    HostBlockMatrix &
    operator=(const double zero);

    std::size_t
    memory_consumption() const;

    /// Address of the values; see BlockSparsity for their order.
    Number *
    values();
    const Number *
    values() const;

    // ---- products; source and destination must differ. VectorType:
    // Vector<Number> in a program of one process, HostVector<Number>,
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
    /// Computes dst = b - A x (or b - A^T x); @p dst may be @p b.
    template <typename VectorType>
    void
    subtract_product(VectorType       &dst,
                     const VectorType &x,
                     const VectorType &b,
                     const bool        transpose = false) const;
    /// Computes dst = b - A x and returns the norm of dst, which may be @p b.
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

    /// Copies the values of a matrix of the same structure, in the order of the
    /// BlockSparsity.
    void
    copy_from(const std::vector<Number> &values);
    void
    copy_to(std::vector<Number> &values) const;
    /// Copies structure and values, which are rounded if the types differ.
    template <typename OtherNumber>
    void
    copy_from(const HostBlockMatrix<OtherNumber> &matrix);
#ifdef TESSELLA_HAVE_EPETRA
    /// @p matrix must have the given structure, with all rows on this process.
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

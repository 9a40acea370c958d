// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_device_block_matrix_h
#define tessella_lac_device_block_matrix_h

#include <deal.II/base/types.h>

#include <deal.II/lac/sparse_matrix.h>

#include <tessella/base/epetra.h>
#include <tessella/lac/block_matrix_base.h>
#include <tessella/lac/device_vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace Tessella
{
  /**
   * Block matrix in the memory of a CUDA device, for iterative solvers that run
   * there (see DeviceVector). PolytopicAssembler::reinit() and assemble() set
   * it up and fill it; with the CUDA backend values never leave the device.
   *
   * @p Number is double or float.
   *
   * <b>Storage.</b> Block rows in CSR layout, as described at BlockSparsity:
   * block row k has as many rows as polytope k has degrees of freedom, all of
   * one width, and the columns of a block are contiguous. The values of a
   * TrilinosWrappers::SparseMatrix made from the same structure have the same
   * order.
   *
   * <b>Products</b> read every value once and run at the speed of the device's
   * memory. There are no atomic operations and the order of summation depends
   * on the structure alone: results are the same to the last bit in every run
   * and on every device. Sums are in the precision @p Number. The first product
   * with the transpose creates lists on the device. For uniform blocks of up to
   * 6 rows on one process, these need 12 bytes per block; otherwise they need 4
   * bytes per block, and storage for the sums over the rows of each block. Two
   * such first products may not run at the same time.
   *
   * <b>Many processes</b>: as for HostBlockMatrix. Entries that other processes
   * need are sent through pinned host memory while the device computes the rows
   * that need no entries of other processes. Sums follow the order that the
   * columns have on one process, and the kernels are chosen from properties
   * that all processes share: results have the same bits for every number of
   * processes.
   *
   * Errors, as exceptions: a build without CUDA or a machine without a device
   * (when a matrix is constructed), too little memory on the device, vectors or
   * matrices of other sizes.
   */
  template <typename Number>
  class DeviceBlockMatrix : public BlockMatrixBase
  {
  public:
    static_assert(std::is_same<Number, double>::value ||
                    std::is_same<Number, float>::value,
                  "DeviceBlockMatrix holds double or float.");

    using value_type  = Number;
    using size_type   = dealii::types::global_dof_index;
    using vector_type = DeviceVector<Number>;

    DeviceBlockMatrix();
    DeviceBlockMatrix(DeviceBlockMatrix &&matrix) noexcept;
    ~DeviceBlockMatrix();
    DeviceBlockMatrix &
    operator=(DeviceBlockMatrix &&matrix) noexcept;

    /**
     * Sets a new structure and all values to zero. @p dof_offset has the first
     * row of each block row and the number of rows at the end, with several
     * processes as in PolytopicMesh; at most 2^32 - 1 rows. Cost: time and
     * copies in proportion to the number of blocks.
     */
    void
    reinit(const BlockSparsity                         &sparsity,
           const std::vector<std::uint64_t>            &dof_offset,
           const std::shared_ptr<const BlockPartition> &partition = nullptr);
    void
    clear();
    /// Sets all values to zero; other values of @p zero are not allowed.
    DeviceBlockMatrix &
    operator=(const double zero);

    /// Memory in bytes, including memory on the device.
    std::size_t
    memory_consumption() const;
    /// Minimal number of bytes that vmult() moves: values, both vectors, and
    /// four bytes for the column of each block.
    std::size_t
    vmult_bytes() const;

    /// Address of the values in device memory; see BlockSparsity for their
    /// order.
    Number *
    values();
    const Number *
    values() const;

    // ---- products; source and destination must differ
    void
    vmult(DeviceVector<Number> &dst, const DeviceVector<Number> &src) const;
    void
    vmult_add(DeviceVector<Number> &dst, const DeviceVector<Number> &src) const;
    void
    Tvmult(DeviceVector<Number> &dst, const DeviceVector<Number> &src) const;
    void
    Tvmult_add(DeviceVector<Number>       &dst,
               const DeviceVector<Number> &src) const;
    /// Computes dst = b - A x (or b - A^T x) without waiting for the result;
    /// @p dst may be @p b.
    void
    subtract_product(DeviceVector<Number>       &dst,
                     const DeviceVector<Number> &x,
                     const DeviceVector<Number> &b,
                     const bool                  transpose = false) const;
    /// Computes dst = b - A x and returns the norm of dst, which may be @p b.
    Number
    residual(DeviceVector<Number>       &dst,
             const DeviceVector<Number> &x,
             const DeviceVector<Number> &b) const;

    /// The same with the addresses, in device memory, of the entries that this
    /// process owns.
    void
    vmult_owned(Number *dst, const Number *src) const;
    void
    subtract_product_owned(Number       *dst,
                           const Number *x,
                           const Number *b,
                           const bool    transpose = false) const;

    // ---- from and to the host
    /// Copies values in the order of the BlockSparsity.
    void
    copy_from(const std::vector<Number> &values);
    void
    copy_to(std::vector<Number> &values) const;
    /// Copies structure and values, which are rounded if the types differ.
    template <typename OtherNumber>
    void
    copy_from(const DeviceBlockMatrix<OtherNumber> &matrix);
#ifdef TESSELLA_HAVE_EPETRA
    /// @p matrix must have the given structure, with all rows on this process.
    void
    copy_from(const dealii::TrilinosWrappers::SparseMatrix &matrix,
              const BlockSparsity                          &sparsity,
              const std::vector<std::uint64_t>             &dof_offset);
    /// @p matrix must have the structure of this matrix, with all rows on this
    /// process. PolytopicAssembler::reinit() and TrilinosBlockMatrix::reinit()
    /// create such a matrix.
    void
    copy_to(dealii::TrilinosWrappers::SparseMatrix &matrix) const;
#endif
    void
    copy_to(dealii::SparseMatrix<Number> &matrix) const;

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif

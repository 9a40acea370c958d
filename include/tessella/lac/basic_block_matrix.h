// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_basic_block_matrix_h
#define tessella_lac_basic_block_matrix_h

#include <tessella/base/config.h>
#include <tessella/base/epetra.h>
#include <tessella/lac/block_matrix_base.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      template <typename Number>
      struct Destination;
    }
  } // namespace internal

  /**
   * Functions that HostBlockMatrix and DeviceBlockMatrix share. An object of
   * the class @p Data holds the values, in the memory of host or device, and
   * computes the products.
   */
  template <typename Number, typename Data>
  class BasicBlockMatrix : public BlockMatrixBase
  {
  public:
    static_assert(std::is_same<Number, double>::value ||
                    std::is_same<Number, float>::value,
                  "Block matrices hold double or float.");

    using value_type = Number;

    BasicBlockMatrix();
    BasicBlockMatrix(BasicBlockMatrix &&matrix) noexcept;
    ~BasicBlockMatrix();
    BasicBlockMatrix &
    operator=(BasicBlockMatrix &&matrix) noexcept;

    /**
     * Sets a new structure and all values to zero. @p dof_offset has the first
     * row of each block row and the number of rows at the end; with several
     * processes as in PolytopicMesh. On a device there are at most 2^32 - 1
     * rows. Cost: time and copies in proportion to the number of blocks.
     */
    void
    reinit(BlockSparsity                                sparsity,
           const std::vector<std::uint64_t>            &dof_offset,
           const std::shared_ptr<const BlockPartition> &partition = nullptr);
    /// Takes the structure of @p matrix, which both then share in host memory
    /// and, as far as it does not depend on the precision, on the device, and
    /// sets all values to zero. Cost: memory for the values, and little else.
    template <typename OtherNumber, typename OtherData>
    void
    reinit(const BasicBlockMatrix<OtherNumber, OtherData> &matrix);
    void
    clear();
    /// Sets all values to zero; other values of @p zero are not allowed.
    BasicBlockMatrix &
    operator=(const double zero);

    /// Memory in bytes, including memory on a device.
    std::size_t
    memory_consumption() const;

    /// Address of the values, in device memory for a DeviceBlockMatrix; see
    /// BlockSparsity for their order.
    Number *
    values();
    const Number *
    values() const;

    // ---- products; source and destination must differ. VectorType: for a
    // HostBlockMatrix Vector<Number> in a program of one process,
    // HostVector<Number>, LinearAlgebra::distributed::Vector<Number>,
    // TrilinosWrappers::MPI::Vector if Number is double; for a
    // DeviceBlockMatrix DeviceVector<Number>
    template <typename VectorType>
    void
    vmult(VectorType &dst, const VectorType &src) const
    {
      multiply(dst, src, false, false);
    }
    template <typename VectorType>
    void
    vmult_add(VectorType &dst, const VectorType &src) const
    {
      multiply(dst, src, false, true);
    }
    template <typename VectorType>
    void
    Tvmult(VectorType &dst, const VectorType &src) const
    {
      multiply(dst, src, true, false);
    }
    template <typename VectorType>
    void
    Tvmult_add(VectorType &dst, const VectorType &src) const
    {
      multiply(dst, src, true, true);
    }
    /// Computes dst = b - A x (or b - A^T x); @p dst may be @p b. A device does
    /// not wait for the result.
    template <typename VectorType>
    void
    subtract_product(VectorType       &dst,
                     const VectorType &x,
                     const VectorType &b,
                     const bool        transpose = false) const;
    /// Computes dst = b - A x and returns the norm of dst, which may be @p b.
    template <typename VectorType>
    Number
    residual(VectorType &dst, const VectorType &x, const VectorType &b) const
    {
      subtract_product(dst, x, b);
      return dst.l2_norm();
    }

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
    template <typename OtherNumber, typename OtherData>
    void
    copy_from(const BasicBlockMatrix<OtherNumber, OtherData> &matrix);
#ifdef TESSELLA_HAVE_EPETRA
    /// @p matrix must have the given structure, with all rows on this process.
    void
    copy_from(const dealii::TrilinosWrappers::SparseMatrix &matrix,
              const BlockSparsity                          &sparsity,
              const std::vector<std::uint64_t>             &dof_offset);
#endif

    /// Product A x or, if the last argument is set, A^T x, which is used as the
    /// destination demands. Arguments are entries that this process owns.
    using ExternalProduct =
      std::function<void(const internal::Device::Destination<Number> &,
                         const Number *,
                         const bool)>;
    /**
     * Makes @p product the product of this matrix, whose structure must have
     * the diagonal blocks alone; their values remain those of the matrix. This
     * is how a MatrixFreeOperator serves preconditioners that need products and
     * diagonal blocks only. Others reject such a matrix. reinit() removes the
     * product.
     */
    void
    set_external_product(const ExternalProduct &product);
    bool
    has_external_product() const;
    /// Throws if the matrix has an external product: @p what needs all blocks.
    void
    check_has_all_blocks(const char *what) const;

  private:
    /// dst = A src or A^T src; @p add: adds the product to dst.
    template <typename VectorType>
    void
    multiply(VectorType       &dst,
             const VectorType &src,
             const bool        transpose,
             const bool        add) const;
    void
    multiply_owned(const internal::Device::Destination<Number> &dst,
                   const Number                                *src,
                   const bool transpose) const;

    template <typename OtherNumber, typename OtherData>
    friend class BasicBlockMatrix;

    std::unique_ptr<Data> data;
  };
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_device_block_matrix_h
#define tessella_lac_device_block_matrix_h

#include <deal.II/lac/sparse_matrix.h>

#include <tessella/base/config.h>
#include <tessella/base/epetra.h>
#include <tessella/lac/basic_block_matrix.h>
#include <tessella/lac/device_vector.h>

#include <cstddef>

namespace Tessella
{
  namespace internal
  {
    template <typename Number>
    struct DeviceBlockData;
  }

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
   * need are sent, directly between devices that reach each other and otherwise
   * through pinned host memory, while the device computes the rows that need no
   * entries of other processes. Sums follow the order that the
   * columns have on one process, and the kernels are chosen from properties
   * that all processes share: results have the same bits for every number of
   * processes.
   *
   * Errors, as exceptions: a build without CUDA or a machine without a device
   * (when a matrix is constructed), too little memory on the device, vectors or
   * matrices of other sizes.
   */
  template <typename Number>
  class DeviceBlockMatrix
    : public BasicBlockMatrix<Number, internal::DeviceBlockData<Number>>
  {
  public:
    using Base = BasicBlockMatrix<Number, internal::DeviceBlockData<Number>>;
    using vector_type = DeviceVector<Number>;

    using Base::operator=;

    /// Minimal number of bytes that vmult() moves: values, both vectors, and
    /// four bytes for the column of each block.
    std::size_t
    vmult_bytes() const;

    using Base::copy_to;
#ifdef TESSELLA_HAVE_EPETRA
    /// @p matrix must have the structure of this matrix, with all rows on this
    /// process. PolytopicAssembler::reinit() and TrilinosBlockMatrix::reinit()
    /// create such a matrix.
    void
    copy_to(dealii::TrilinosWrappers::SparseMatrix &matrix) const;
#endif
    void
    copy_to(dealii::SparseMatrix<Number> &matrix) const;
  };
} // namespace Tessella

#endif

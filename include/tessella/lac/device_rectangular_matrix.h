// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_device_rectangular_matrix_h
#define tessella_lac_device_rectangular_matrix_h

#include <deal.II/base/types.h>

#include <tessella/base/compatibility.h>
#include <tessella/lac/block_partition.h>
#include <tessella/lac/block_sparsity.h>
#include <tessella/lac/device_vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace Tessella
{
  /**
   * Rectangular block matrix in the memory of a CUDA device: rows and columns
   * are degrees of freedom of two spaces on the same polytopes, such as
   * pressure and velocity. RectangularAssembler sets it up and fills it:
   *
   *     RectangularAssembler<dim>       assembler(pressure, velocity);
   *     DeviceRectangularMatrix<double> B;
   *     DeviceVector<double>            g;
   *     assembler.reinit(B, g);
   *     assembler.assemble(DivergenceForm<dim>(), B, g);
   *     B.vmult(g, u);      // g = B u
   *     B.Tvmult_add(f, p); // f = f + B^T p
   *
   * @p Number is double or float.
   *
   * <b>Storage</b> is that of BlockSparsity, where n_k is the number of rows of
   * polytope k and W_k the sum of the numbers of columns of k and its
   * neighbours. The polytopes that are coupled must be a symmetric relation.
   *
   * <b>Products</b>, also with the transpose, are those of DeviceBlockMatrix:
   * they read every value once, without atomic operations, exchange what other
   * processes need, and have the same bits in every run and for every number of
   * processes. The first product with the transpose creates lists on the
   * device, of 4 bytes for each block, and storage for the sums over the rows
   * of each block.
   *
   * Errors, as exceptions: a build without CUDA or a machine without a device
   * (when a matrix is constructed), too little memory on the device, vectors of
   * other sizes or distributions.
   */
  template <typename Number>
  class DeviceRectangularMatrix : public Subscriptor
  {
  public:
    using value_type  = Number;
    using size_type   = dealii::types::global_dof_index;
    using vector_type = DeviceVector<Number>;

    DeviceRectangularMatrix();
    DeviceRectangularMatrix(DeviceRectangularMatrix &&matrix) noexcept;
    DeviceRectangularMatrix &
    operator=(DeviceRectangularMatrix &&matrix) noexcept;
    ~DeviceRectangularMatrix();

    /**
     * Sets a new structure and all values to zero. @p row_offset has the first
     * row of each block row of this process, and the number of rows at the end.
     * @p column_offset has the first column of each block, those of ghosts
     * last, and the number of columns at the end. With several processes,
     * @p columns is the partition of the columns, and @p n_rows the number of
     * rows of all processes. There are at most 2^32 - 1 rows and columns on a
     * process.
     */
    void
    reinit(BlockSparsity                                sparsity,
           const std::vector<std::uint64_t>            &row_offset,
           const std::vector<std::uint64_t>            &column_offset,
           const std::shared_ptr<const BlockPartition> &columns = nullptr,
           const size_type                              n_rows  = 0);
    void
    clear();
    /// Sets all values to zero; other values of @p zero are not allowed.
    DeviceRectangularMatrix &
    operator=(const double zero);

    /// Numbers of rows and columns of all processes.
    size_type
    m() const;
    size_type
    n() const;
    bool
    empty() const
    {
      return m() == 0;
    }
    /// Numbers of rows and columns that this process owns.
    std::uint64_t
    n_owned_rows() const;
    std::uint64_t
    n_owned_columns() const;
    /// Number of stored entries of this process.
    std::uint64_t
    n_nonzero_elements() const;

    const BlockSparsity &
    block_sparsity() const;
    /// The arguments of reinit().
    const std::vector<std::uint64_t> &
    row_offset() const;
    const std::vector<std::uint64_t> &
    column_offset() const;

    /// Address of the values in device memory; see BlockSparsity for their
    /// order.
    Number *
    values();
    const Number *
    values() const;

    // ---- products; vectors of rows and of columns are different objects. A
    // device does not wait for the results.
    /// dst = A src
    void
    vmult(vector_type &dst, const vector_type &src) const;
    /// dst = dst + A src
    void
    vmult_add(vector_type &dst, const vector_type &src) const;
    /// dst = A^T src
    void
    Tvmult(vector_type &dst, const vector_type &src) const;
    /// dst = dst + A^T src
    void
    Tvmult_add(vector_type &dst, const vector_type &src) const;
    /// dst = b - A x, or b - A^T x; @p dst may be @p b.
    void
    subtract_product(vector_type       &dst,
                     const vector_type &x,
                     const vector_type &b,
                     const bool         transpose = false) const;

    /// Copies the values from and to host memory, in the order of the
    /// BlockSparsity.
    void
    copy_from(const std::vector<Number> &values);
    void
    copy_to(std::vector<Number> &values) const;

    /// Minimal number of bytes that vmult() moves: values, both vectors, and
    /// four bytes for the column of each block.
    std::size_t
    vmult_bytes() const;
    /// Memory in bytes, including memory on the device.
    std::size_t
    memory_consumption() const;

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif

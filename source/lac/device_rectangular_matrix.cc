// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/lac/device_rectangular_matrix.h>

#include <utility>

#include "device_block_data.h"
#include "vector_access.h"

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    /// Blocks, and the numbering and partition of their columns.
    struct ColumnStructure : public BlockMatrixBase
    {
      using BlockMatrixBase::set_structure;
      using BlockMatrixBase::structure_memory_consumption;
    };
  } // namespace



  template <typename Number>
  struct DeviceRectangularMatrix<Number>::Implementation
  {
    using Destination = internal::Device::Destination<Number>;
    using Product     = internal::Device::Product;

    ColumnStructure                                    columns;
    std::vector<std::uint64_t>                         row_offset;
    size_type                                          n_rows = 0;
    std::unique_ptr<internal::DeviceBlockData<Number>> data;

    std::uint64_t
    n_owned_rows() const
    {
      return row_offset.empty() ? 0 : row_offset.back();
    }

    /// Throws unless the vectors have the entries of rows and columns.
    void
    check(const vector_type &of_rows, const vector_type &of_columns) const
    {
      internal::check_vector(of_rows, n_rows, n_owned_rows());
      internal::check_vector(of_columns, columns.n(), columns.n_owned_rows());
      AssertThrow(&of_rows != &of_columns || n_rows == 0,
                  ExcMessage("Source and destination of a product must be "
                             "different vectors."));
    }

    void
    multiply(const Destination &dst, const Number *src, const bool transpose)
    {
      if (data == nullptr || (n_rows == 0 && columns.empty()))
        return;
      if (transpose)
        data->transpose_product(columns, dst, src);
      else
        data->product(columns, dst, src);
    }
  };



  template <typename Number>
  DeviceRectangularMatrix<Number>::DeviceRectangularMatrix()
    : implementation(std::make_unique<Implementation>())
  {
    internal::DeviceBlockData<Number>::check_available();
  }



  template <typename Number>
  DeviceRectangularMatrix<Number>::DeviceRectangularMatrix(
    DeviceRectangularMatrix &&matrix) noexcept
    : implementation(std::move(matrix.implementation))
  {
    matrix.implementation = std::make_unique<Implementation>();
  }



  template <typename Number>
  DeviceRectangularMatrix<Number> &
  DeviceRectangularMatrix<Number>::operator=(
    DeviceRectangularMatrix &&matrix) noexcept
  {
    std::swap(implementation, matrix.implementation);
    return *this;
  }



  template <typename Number>
  DeviceRectangularMatrix<Number>::~DeviceRectangularMatrix() = default;



  template <typename Number>
  void
  DeviceRectangularMatrix<Number>::reinit(
    BlockSparsity                                sparsity,
    const std::vector<std::uint64_t>            &row_offset,
    const std::vector<std::uint64_t>            &column_offset,
    const std::shared_ptr<const BlockPartition> &columns,
    const size_type                              n_rows)
  {
    AssertThrow(row_offset.size() == sparsity.row_width.size() + 1,
                ExcDimensionMismatch(row_offset.size(),
                                     sparsity.row_width.size() + 1));
    auto result        = std::make_unique<Implementation>();
    result->row_offset = row_offset;
    result->n_rows     = columns == nullptr ? row_offset.back() : n_rows;
    result->columns.set_structure(std::move(sparsity), column_offset, columns);
    clear(); // frees memory for the new matrix
    result->data   = internal::DeviceBlockData<Number>::make(result->columns,
                                                           &result->row_offset);
    implementation = std::move(result);
  }



  template <typename Number>
  void
  DeviceRectangularMatrix<Number>::clear()
  {
    implementation = std::make_unique<Implementation>();
  }



  template <typename Number>
  DeviceRectangularMatrix<Number> &
  DeviceRectangularMatrix<Number>::operator=(const double zero)
  {
    AssertThrow(zero == 0.,
                ExcMessage("All values of a matrix can only be set to zero."));
    if (implementation->data != nullptr)
      implementation->data->set_zero(n_nonzero_elements());
    return *this;
  }



  template <typename Number>
  typename DeviceRectangularMatrix<Number>::size_type
  DeviceRectangularMatrix<Number>::m() const
  {
    return implementation->n_rows;
  }



  template <typename Number>
  typename DeviceRectangularMatrix<Number>::size_type
  DeviceRectangularMatrix<Number>::n() const
  {
    return implementation->columns.n();
  }



  template <typename Number>
  std::uint64_t
  DeviceRectangularMatrix<Number>::n_owned_rows() const
  {
    return implementation->n_owned_rows();
  }



  template <typename Number>
  std::uint64_t
  DeviceRectangularMatrix<Number>::n_owned_columns() const
  {
    return implementation->columns.n_owned_rows();
  }



  template <typename Number>
  std::uint64_t
  DeviceRectangularMatrix<Number>::n_nonzero_elements() const
  {
    return implementation->columns.n_nonzero_elements();
  }



  template <typename Number>
  const BlockSparsity &
  DeviceRectangularMatrix<Number>::block_sparsity() const
  {
    return implementation->columns.block_sparsity();
  }



  template <typename Number>
  const std::vector<std::uint64_t> &
  DeviceRectangularMatrix<Number>::row_offset() const
  {
    return implementation->row_offset;
  }



  template <typename Number>
  const std::vector<std::uint64_t> &
  DeviceRectangularMatrix<Number>::column_offset() const
  {
    return implementation->columns.dof_offset();
  }



  template <typename Number>
  Number *
  DeviceRectangularMatrix<Number>::values()
  {
    const auto &data = implementation->data;
    return data == nullptr ? nullptr : data->values();
  }



  template <typename Number>
  const Number *
  DeviceRectangularMatrix<Number>::values() const
  {
    const auto &data = implementation->data;
    return data == nullptr ? nullptr : data->values();
  }



  template <typename Number>
  void
  DeviceRectangularMatrix<Number>::vmult(vector_type       &dst,
                                         const vector_type &src) const
  {
    implementation->check(dst, src);
    implementation->multiply({dst.begin(), Implementation::Product::set},
                             src.begin(),
                             false);
  }



  template <typename Number>
  void
  DeviceRectangularMatrix<Number>::vmult_add(vector_type       &dst,
                                             const vector_type &src) const
  {
    implementation->check(dst, src);
    implementation->multiply({dst.begin(), Implementation::Product::add},
                             src.begin(),
                             false);
  }



  template <typename Number>
  void
  DeviceRectangularMatrix<Number>::Tvmult(vector_type       &dst,
                                          const vector_type &src) const
  {
    implementation->check(src, dst);
    implementation->multiply({dst.begin(), Implementation::Product::set},
                             src.begin(),
                             true);
  }



  template <typename Number>
  void
  DeviceRectangularMatrix<Number>::Tvmult_add(vector_type       &dst,
                                              const vector_type &src) const
  {
    implementation->check(src, dst);
    implementation->multiply({dst.begin(), Implementation::Product::add},
                             src.begin(),
                             true);
  }



  template <typename Number>
  void
  DeviceRectangularMatrix<Number>::subtract_product(vector_type       &dst,
                                                    const vector_type &x,
                                                    const vector_type &b,
                                                    const bool transpose) const
  {
    if (&dst != &b)
      dst.reinit(b, true);
    if (transpose)
      implementation->check(x, dst);
    else
      implementation->check(dst, x);
    implementation->multiply({dst.begin(),
                              Implementation::Product::subtract,
                              b.begin()},
                             x.begin(),
                             transpose);
  }



  template <typename Number>
  void
  DeviceRectangularMatrix<Number>::copy_from(const std::vector<Number> &from)
  {
    AssertThrow(from.size() == n_nonzero_elements(),
                ExcDimensionMismatch(from.size(), n_nonzero_elements()));
    if (!from.empty())
      implementation->data->copy_from(from.data(), from.size());
  }



  template <typename Number>
  void
  DeviceRectangularMatrix<Number>::copy_to(std::vector<Number> &to) const
  {
    to.resize(n_nonzero_elements());
    if (!to.empty())
      implementation->data->copy_to(to.data(), to.size());
  }



  template <typename Number>
  std::size_t
  DeviceRectangularMatrix<Number>::vmult_bytes() const
  {
    if (values() == nullptr)
      return 0;
    return (n_nonzero_elements() + n_owned_rows() + n_owned_columns()) *
             sizeof(Number) +
           block_sparsity().block_column.size() * sizeof(unsigned int);
  }



  template <typename Number>
  std::size_t
  DeviceRectangularMatrix<Number>::memory_consumption() const
  {
    const Implementation &i = *implementation;
    return sizeof(*this) + sizeof(i) +
           i.columns.structure_memory_consumption() +
           i.row_offset.capacity() * sizeof(std::uint64_t) +
           (i.data == nullptr ? 0 : i.data->memory_consumption());
  }



  template class DeviceRectangularMatrix<double>;
  template class DeviceRectangularMatrix<float>;
} // namespace Tessella

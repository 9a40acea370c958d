// SPDX-License-Identifier: LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/assembly/trilinos_block_matrix.h>
#include <tessella/lac/device_block_matrix.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "../../cuda/block_matrix.h"
#include "../../cuda/vector.h"
#include "device_call.h"
#include "store_block_row.h"

namespace Tessella
{
  using namespace dealii;
  using internal::Device::Product;

  template <typename Number>
  struct DeviceBlockMatrix<Number>::Implementation
  {
    Implementation(const BlockSparsity              &sparsity,
                   const std::vector<std::uint64_t> &dof_offset)
      : sparsity(sparsity)
      , dof_offset(dof_offset)
      , matrix(sparsity, dof_offset)
    {}

    BlockSparsity                         sparsity;
    std::vector<std::uint64_t>            dof_offset;
    internal::Device::BlockMatrix<Number> matrix;
  };



  namespace
  {
    template <typename Number>
    void
    check_vectors(const DeviceBlockMatrix<Number> &matrix,
                  const DeviceVector<Number>      &dst,
                  const DeviceVector<Number>      &src)
    {
      AssertThrow(src.size() == matrix.n(),
                  ExcDimensionMismatch(src.size(), matrix.n()));
      AssertThrow(dst.size() == matrix.m(),
                  ExcDimensionMismatch(dst.size(), matrix.m()));
      AssertThrow(&dst != &src || dst.empty(),
                  ExcMessage("Source and destination of a product with a matrix"
                             " must be different vectors."));
    }
  } // namespace



  template <typename Number>
  DeviceBlockMatrix<Number>::DeviceBlockMatrix()
  {
    internal::assert_device_is_available();
  }



  template <typename Number>
  DeviceBlockMatrix<Number>::DeviceBlockMatrix(
    DeviceBlockMatrix &&matrix) noexcept
    : implementation(std::move(matrix.implementation))
  {}



  template <typename Number>
  DeviceBlockMatrix<Number>::~DeviceBlockMatrix() = default;



  template <typename Number>
  DeviceBlockMatrix<Number> &
  DeviceBlockMatrix<Number>::operator=(DeviceBlockMatrix &&matrix) noexcept
  {
    implementation = std::move(matrix.implementation);
    return *this;
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::reinit(
    const BlockSparsity &sparsity, const std::vector<std::uint64_t> &dof_offset)
  {
    AssertThrow(dof_offset.size() == sparsity.row_width.size() + 1,
                ExcDimensionMismatch(dof_offset.size(),
                                     sparsity.row_width.size() + 1));
    implementation.reset(); // its memory may be needed
    internal::device_call([&] {
      implementation = std::make_unique<Implementation>(sparsity, dof_offset);
    });
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::clear()
  {
    implementation.reset();
  }



  template <typename Number>
  DeviceBlockMatrix<Number> &
  DeviceBlockMatrix<Number>::operator=(const double zero)
  {
    AssertThrow(zero == 0.,
                ExcMessage("All values of a matrix can only be set to zero."));
    if (implementation != nullptr)
      internal::device_call([&] {
        internal::Device::set(values(), n_nonzero_elements(), Number(0));
      });
    return *this;
  }



  template <typename Number>
  typename DeviceBlockMatrix<Number>::size_type
  DeviceBlockMatrix<Number>::m() const
  {
    return implementation == nullptr ? 0 : implementation->dof_offset.back();
  }



  template <typename Number>
  typename DeviceBlockMatrix<Number>::size_type
  DeviceBlockMatrix<Number>::n() const
  {
    return m();
  }



  template <typename Number>
  bool
  DeviceBlockMatrix<Number>::empty() const
  {
    return m() == 0;
  }



  template <typename Number>
  std::uint64_t
  DeviceBlockMatrix<Number>::n_nonzero_elements() const
  {
    return implementation == nullptr
             ? 0
             : implementation->sparsity.n_nonzero_elements();
  }



  template <typename Number>
  std::size_t
  DeviceBlockMatrix<Number>::memory_consumption() const
  {
    std::size_t bytes = sizeof(*this);
    if (implementation != nullptr)
      bytes += implementation->sparsity.memory_consumption() +
               implementation->dof_offset.capacity() * sizeof(std::uint64_t) +
               implementation->matrix.memory_consumption();
    return bytes;
  }



  template <typename Number>
  std::size_t
  DeviceBlockMatrix<Number>::vmult_bytes() const
  {
    if (implementation == nullptr)
      return 0;
    return (n_nonzero_elements() + 2 * m()) * sizeof(Number) +
           implementation->sparsity.block_column.size() * sizeof(unsigned int);
  }



  template <typename Number>
  const BlockSparsity &
  DeviceBlockMatrix<Number>::block_sparsity() const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    return implementation->sparsity;
  }



  template <typename Number>
  const std::vector<std::uint64_t> &
  DeviceBlockMatrix<Number>::dof_offset() const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    return implementation->dof_offset;
  }



  template <typename Number>
  Number *
  DeviceBlockMatrix<Number>::values()
  {
    return implementation == nullptr ? nullptr
                                     : implementation->matrix.values();
  }



  template <typename Number>
  const Number *
  DeviceBlockMatrix<Number>::values() const
  {
    return implementation == nullptr ? nullptr
                                     : implementation->matrix.values();
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::vmult(DeviceVector<Number>       &dst,
                                   const DeviceVector<Number> &src) const
  {
    check_vectors(*this, dst, src);
    if (!empty())
      internal::device_call([&] {
        implementation->matrix.vmult(dst.begin(), src.begin(), Product::set);
      });
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::vmult_add(DeviceVector<Number>       &dst,
                                       const DeviceVector<Number> &src) const
  {
    check_vectors(*this, dst, src);
    if (!empty())
      internal::device_call([&] {
        implementation->matrix.vmult(dst.begin(), src.begin(), Product::add);
      });
  }



  namespace
  {
    template <typename Matrix, typename Vector>
    void
    transpose_product(Matrix                            &data,
                      Vector                            &dst,
                      const Vector                      &src,
                      const Product                      product,
                      const typename Vector::value_type *b = nullptr)
    {
      internal::device_call([&] {
        if (!data.matrix.has_transpose())
          data.matrix.make_transpose(data.sparsity, data.dof_offset);
        data.matrix.Tvmult(dst.begin(), src.begin(), product, b);
      });
    }
  } // namespace



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::Tvmult(DeviceVector<Number>       &dst,
                                    const DeviceVector<Number> &src) const
  {
    check_vectors(*this, dst, src);
    if (!empty())
      transpose_product(*implementation, dst, src, Product::set);
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::Tvmult_add(DeviceVector<Number>       &dst,
                                        const DeviceVector<Number> &src) const
  {
    check_vectors(*this, dst, src);
    if (!empty())
      transpose_product(*implementation, dst, src, Product::add);
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::subtract_product(DeviceVector<Number>       &dst,
                                              const DeviceVector<Number> &x,
                                              const DeviceVector<Number> &b,
                                              const bool transpose) const
  {
    if (&dst != &b)
      dst.reinit(m(), true);
    check_vectors(*this, dst, x);
    AssertThrow(b.size() == m(), ExcDimensionMismatch(b.size(), m()));
    if (empty())
      return;
    if (transpose)
      transpose_product(*implementation, dst, x, Product::subtract, b.begin());
    else
      internal::device_call([&] {
        implementation->matrix.vmult(dst.begin(),
                                     x.begin(),
                                     Product::subtract,
                                     b.begin());
      });
  }



  template <typename Number>
  Number
  DeviceBlockMatrix<Number>::residual(DeviceVector<Number>       &dst,
                                      const DeviceVector<Number> &x,
                                      const DeviceVector<Number> &b) const
  {
    subtract_product(dst, x, b);
    return dst.l2_norm();
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::copy_from(const std::vector<Number> &from)
  {
    AssertThrow(from.size() == n_nonzero_elements(),
                ExcDimensionMismatch(from.size(), n_nonzero_elements()));
    if (!from.empty())
      internal::device_call(
        [&] { internal::Device::upload(values(), from.data(), from.size()); });
  }



  template <typename Number>
  template <typename OtherNumber>
  void
  DeviceBlockMatrix<Number>::copy_from(
    const DeviceBlockMatrix<OtherNumber> &matrix)
  {
    reinit(matrix.block_sparsity(), matrix.dof_offset());
    if (!empty())
      internal::device_call([&] {
        internal::Device::copy(values(), matrix.values(), n_nonzero_elements());
      });
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::copy_from(
    const TrilinosWrappers::SparseMatrix &matrix,
    const BlockSparsity                  &sparsity,
    const std::vector<std::uint64_t>     &dof_offset)
  {
    const double *const from =
      TrilinosBlockMatrix::values(const_cast<TrilinosWrappers::SparseMatrix &>(
                                    matrix),
                                  sparsity,
                                  dof_offset);
    TrilinosBlockMatrix::check_columns(matrix, sparsity, dof_offset);
    reinit(sparsity, dof_offset);
    if constexpr (std::is_same<Number, double>::value)
      internal::device_call([&] {
        internal::Device::upload(values(), from, n_nonzero_elements());
      });
    else
      copy_from(std::vector<Number>(from, from + n_nonzero_elements()));
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::copy_to(std::vector<Number> &to) const
  {
    to.resize(n_nonzero_elements());
    if (!to.empty())
      internal::device_call(
        [&] { internal::Device::download(to.data(), values(), to.size()); });
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::copy_to(
    TrilinosWrappers::SparseMatrix &matrix) const
  {
    double *const to =
      TrilinosBlockMatrix::values(matrix, block_sparsity(), dof_offset());
    if constexpr (std::is_same<Number, double>::value)
      internal::device_call([&] {
        internal::Device::download(to, values(), n_nonzero_elements());
      });
    else
      {
        std::vector<Number> from;
        copy_to(from);
        std::copy(from.begin(), from.end(), to);
      }
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::copy_to(SparseMatrix<Number> &matrix) const
  {
    const BlockSparsity &blocks = block_sparsity();
    AssertThrow(matrix.m() == m() &&
                  matrix.n_nonzero_elements() == blocks.n_nonzero_elements(),
                ExcMessage("The matrix does not have the structure of this one:"
                           " call reinit() of the assembler on it."));
    std::vector<Number> from;
    copy_to(from);
    for (unsigned int k = 0; k < blocks.row_width.size(); ++k)
      internal::store_block_row(
        matrix, blocks, dof_offset(), k, from.data() + blocks.value_offset[k]);
  }



  template class DeviceBlockMatrix<double>;
  template class DeviceBlockMatrix<float>;
  template void
  DeviceBlockMatrix<double>::copy_from(const DeviceBlockMatrix<double> &);
  template void
  DeviceBlockMatrix<double>::copy_from(const DeviceBlockMatrix<float> &);
  template void
  DeviceBlockMatrix<float>::copy_from(const DeviceBlockMatrix<double> &);
  template void
  DeviceBlockMatrix<float>::copy_from(const DeviceBlockMatrix<float> &);
} // namespace Tessella

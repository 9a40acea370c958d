// SPDX-License-Identifier: LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/assembly/trilinos_block_matrix.h>
#include <tessella/lac/host_block_matrix.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "host_blocks.h"

namespace Tessella
{
  using namespace dealii;
  using internal::for_blocks;

  template <typename Number>
  struct HostBlockMatrix<Number>::Implementation
  {
    BlockSparsity               sparsity;
    std::vector<std::uint64_t>  dof_offset;
    internal::HostArray<Number> values;
    std::once_flag              transpose_made;
    /// First value of the block (column, row) of each block (row, column).
    std::vector<std::uint64_t> transposed;

    void
    make_transpose()
    {
      std::call_once(transpose_made, [&] {
        std::vector<std::uint64_t> list(sparsity.block_column.size());
        std::atomic<bool>          symmetric(true);
        for_blocks(sparsity.row_width.size(), [&](const unsigned int k) {
          for (std::uint64_t b = sparsity.block_offset[k];
               b < sparsity.block_offset[k + 1];
               ++b)
            {
              const unsigned int l     = sparsity.block_column[b];
              const auto         begin = sparsity.block_column.begin() +
                                 sparsity.block_offset[l],
                         end = sparsity.block_column.begin() +
                               sparsity.block_offset[l + 1],
                         found = std::lower_bound(begin, end, k);
              if (found == end || *found != k)
                symmetric = false;
              else
                list[b] =
                  sparsity.value_offset[l] +
                  sparsity.column_offset[found - sparsity.block_column.begin()];
            }
        });
        AssertThrow(symmetric,
                    ExcMessage("A product with the transpose needs a matrix "
                               "with a symmetric structure of blocks."));
        transposed = std::move(list);
      });
    }
  };



  namespace
  {
    enum class Product
    {
      set,
      add,
      subtract
    };

    template <typename Number>
    inline void
    store(Number *y, const Number *b, const Product product, const Number value)
    {
      *y = product == Product::set   ? value
           : product == Product::add ? *y + value
                                     : *b - value;
    }

    template <typename Matrix, typename Number>
    void
    check_vectors(const Matrix         &matrix,
                  const Vector<Number> &dst,
                  const Vector<Number> &src)
    {
      AssertThrow(src.size() == matrix.n(),
                  ExcDimensionMismatch(src.size(), matrix.n()));
      AssertThrow(dst.size() == matrix.m(),
                  ExcDimensionMismatch(dst.size(), matrix.m()));
      AssertThrow(&dst != &src || dst.size() == 0,
                  ExcMessage("Source and destination of a product with a matrix"
                             " must be different vectors."));
    }

    template <typename Data, typename Number>
    void
    product(const Data   &data,
            Number       *y,
            const Number *x,
            const Product type,
            const Number *b = nullptr)
    {
      const BlockSparsity &sparsity = data.sparsity;
      internal::for_block_ranges(
        sparsity.row_width.size(),
        [&](const unsigned int begin, const unsigned int end) {
          std::vector<Number> gathered, sums;
          for (unsigned int k = begin; k < end; ++k)
            {
              const unsigned int  width = sparsity.row_width[k];
              const std::uint64_t first = data.dof_offset[k];
              const unsigned int  n     = data.dof_offset[k + 1] - first;
              gathered.resize(width);
              sums.resize(n);
              internal::gather(sparsity.block_column.data() +
                                 sparsity.block_offset[k],
                               sparsity.block_offset[k + 1] -
                                 sparsity.block_offset[k],
                               data.dof_offset.data(),
                               x,
                               gathered.data());
              internal::multiply(data.values.data() + sparsity.value_offset[k],
                                 n,
                                 width,
                                 width,
                                 gathered.data(),
                                 sums.data());
              for (unsigned int i = 0; i < n; ++i)
                store(y + first + i, b + first + i, type, sums[i]);
            }
        });
    }

    template <typename Data, typename Number>
    void
    transpose_product(Data         &data,
                      Number       *y,
                      const Number *x,
                      const Product type,
                      const Number *b = nullptr)
    {
      data.make_transpose();
      const BlockSparsity &sparsity = data.sparsity;
      internal::for_block_ranges(
        sparsity.row_width.size(),
        [&](const unsigned int begin, const unsigned int end) {
          std::vector<Number> sums;
          for (unsigned int k = begin; k < end; ++k)
            {
              const std::uint64_t first = data.dof_offset[k];
              const unsigned int  n     = data.dof_offset[k + 1] - first;
              sums.assign(n, Number(0));
              for (std::uint64_t m = sparsity.block_offset[k];
                   m < sparsity.block_offset[k + 1];
                   ++m)
                {
                  const unsigned int l = sparsity.block_column[m];
                  const Number *block = data.values.data() + data.transposed[m];
                  for (std::uint64_t i = data.dof_offset[l];
                       i < data.dof_offset[l + 1];
                       ++i, block += sparsity.row_width[l])
                    for (unsigned int j = 0; j < n; ++j)
                      sums[j] += block[j] * x[i];
                }
              for (unsigned int i = 0; i < n; ++i)
                store(y + first + i, b + first + i, type, sums[i]);
            }
        });
    }
  } // namespace



  template <typename Number>
  HostBlockMatrix<Number>::HostBlockMatrix() = default;



  template <typename Number>
  HostBlockMatrix<Number>::HostBlockMatrix(HostBlockMatrix &&matrix) noexcept
    : implementation(std::move(matrix.implementation))
  {}



  template <typename Number>
  HostBlockMatrix<Number>::~HostBlockMatrix() = default;



  template <typename Number>
  HostBlockMatrix<Number> &
  HostBlockMatrix<Number>::operator=(HostBlockMatrix &&matrix) noexcept
  {
    implementation = std::move(matrix.implementation);
    return *this;
  }



  template <typename Number>
  void
  HostBlockMatrix<Number>::reinit(const BlockSparsity              &sparsity,
                                  const std::vector<std::uint64_t> &dof_offset)
  {
    AssertThrow(dof_offset.size() == sparsity.row_width.size() + 1,
                ExcDimensionMismatch(dof_offset.size(),
                                     sparsity.row_width.size() + 1));
    implementation.reset();
    implementation             = std::make_unique<Implementation>();
    implementation->sparsity   = sparsity;
    implementation->dof_offset = dof_offset;
    implementation->values.resize(sparsity.n_nonzero_elements());
    *this = 0.;
  }



  template <typename Number>
  void
  HostBlockMatrix<Number>::clear()
  {
    implementation.reset();
  }



  template <typename Number>
  HostBlockMatrix<Number> &
  HostBlockMatrix<Number>::operator=(const double zero)
  {
    AssertThrow(zero == 0.,
                ExcMessage("All values of a matrix can only be set to zero."));
    if (implementation != nullptr)
      internal::for_entries(n_nonzero_elements(), [&](const std::size_t i) {
        implementation->values.data()[i] = 0;
      });
    return *this;
  }



  template <typename Number>
  typename HostBlockMatrix<Number>::size_type
  HostBlockMatrix<Number>::m() const
  {
    return implementation == nullptr ? 0 : implementation->dof_offset.back();
  }



  template <typename Number>
  typename HostBlockMatrix<Number>::size_type
  HostBlockMatrix<Number>::n() const
  {
    return m();
  }



  template <typename Number>
  bool
  HostBlockMatrix<Number>::empty() const
  {
    return m() == 0;
  }



  template <typename Number>
  std::uint64_t
  HostBlockMatrix<Number>::n_nonzero_elements() const
  {
    return implementation == nullptr
             ? 0
             : implementation->sparsity.n_nonzero_elements();
  }



  template <typename Number>
  std::size_t
  HostBlockMatrix<Number>::memory_consumption() const
  {
    std::size_t bytes = sizeof(*this);
    if (implementation != nullptr)
      bytes += implementation->sparsity.memory_consumption() +
               (implementation->dof_offset.capacity() +
                implementation->transposed.capacity()) *
                 sizeof(std::uint64_t) +
               n_nonzero_elements() * sizeof(Number);
    return bytes;
  }



  template <typename Number>
  const BlockSparsity &
  HostBlockMatrix<Number>::block_sparsity() const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    return implementation->sparsity;
  }



  template <typename Number>
  const std::vector<std::uint64_t> &
  HostBlockMatrix<Number>::dof_offset() const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    return implementation->dof_offset;
  }



  template <typename Number>
  Number *
  HostBlockMatrix<Number>::values()
  {
    return implementation == nullptr ? nullptr : implementation->values.data();
  }



  template <typename Number>
  const Number *
  HostBlockMatrix<Number>::values() const
  {
    return implementation == nullptr ? nullptr : implementation->values.data();
  }



  template <typename Number>
  void
  HostBlockMatrix<Number>::vmult(Vector<Number>       &dst,
                                 const Vector<Number> &src) const
  {
    check_vectors(*this, dst, src);
    if (!empty())
      product(*implementation, dst.begin(), src.begin(), Product::set);
  }



  template <typename Number>
  void
  HostBlockMatrix<Number>::vmult_add(Vector<Number>       &dst,
                                     const Vector<Number> &src) const
  {
    check_vectors(*this, dst, src);
    if (!empty())
      product(*implementation, dst.begin(), src.begin(), Product::add);
  }



  template <typename Number>
  void
  HostBlockMatrix<Number>::Tvmult(Vector<Number>       &dst,
                                  const Vector<Number> &src) const
  {
    check_vectors(*this, dst, src);
    if (!empty())
      transpose_product(*implementation,
                        dst.begin(),
                        src.begin(),
                        Product::set);
  }



  template <typename Number>
  void
  HostBlockMatrix<Number>::Tvmult_add(Vector<Number>       &dst,
                                      const Vector<Number> &src) const
  {
    check_vectors(*this, dst, src);
    if (!empty())
      transpose_product(*implementation,
                        dst.begin(),
                        src.begin(),
                        Product::add);
  }



  template <typename Number>
  void
  HostBlockMatrix<Number>::subtract_product(Vector<Number>       &dst,
                                            const Vector<Number> &x,
                                            const Vector<Number> &b,
                                            const bool transpose) const
  {
    if (&dst != &b)
      dst.reinit(m(), true);
    check_vectors(*this, dst, x);
    AssertThrow(b.size() == m(), ExcDimensionMismatch(b.size(), m()));
    if (empty())
      return;
    if (transpose)
      transpose_product(
        *implementation, dst.begin(), x.begin(), Product::subtract, b.begin());
    else
      product(
        *implementation, dst.begin(), x.begin(), Product::subtract, b.begin());
  }



  template <typename Number>
  Number
  HostBlockMatrix<Number>::residual(Vector<Number>       &dst,
                                    const Vector<Number> &x,
                                    const Vector<Number> &b) const
  {
    subtract_product(dst, x, b);
    return dst.l2_norm();
  }



  template <typename Number>
  void
  HostBlockMatrix<Number>::copy_from(const std::vector<Number> &from)
  {
    AssertThrow(from.size() == n_nonzero_elements(),
                ExcDimensionMismatch(from.size(), n_nonzero_elements()));
    internal::for_entries(from.size(), [&](const std::size_t i) {
      implementation->values.data()[i] = from[i];
    });
  }



  template <typename Number>
  void
  HostBlockMatrix<Number>::copy_to(std::vector<Number> &to) const
  {
    to.assign(values(), values() + n_nonzero_elements());
  }



  template <typename Number>
  template <typename OtherNumber>
  void
  HostBlockMatrix<Number>::copy_from(const HostBlockMatrix<OtherNumber> &matrix)
  {
    reinit(matrix.block_sparsity(), matrix.dof_offset());
    const OtherNumber *from = matrix.values();
    internal::for_entries(n_nonzero_elements(), [&](const std::size_t i) {
      implementation->values.data()[i] = static_cast<Number>(from[i]);
    });
  }



  template <typename Number>
  void
  HostBlockMatrix<Number>::copy_from(
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
    internal::for_entries(n_nonzero_elements(), [&](const std::size_t i) {
      implementation->values.data()[i] = static_cast<Number>(from[i]);
    });
  }



  template class HostBlockMatrix<double>;
  template class HostBlockMatrix<float>;
  template void
  HostBlockMatrix<double>::copy_from(const HostBlockMatrix<double> &);
  template void
  HostBlockMatrix<double>::copy_from(const HostBlockMatrix<float> &);
  template void
  HostBlockMatrix<float>::copy_from(const HostBlockMatrix<double> &);
  template void
  HostBlockMatrix<float>::copy_from(const HostBlockMatrix<float> &);
} // namespace Tessella

// SPDX-License-Identifier: LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/assembly/trilinos_block_matrix.h>
#include <tessella/lac/host_block_matrix.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "halo_exchange.h"
#include "host_blocks.h"
#include "vector_access.h"

namespace Tessella
{
  using namespace dealii;
  using internal::for_blocks;

  template <typename Number>
  struct HostBlockMatrix<Number>::Implementation
  {
    internal::HostArray<Number> values;
    /// Of several processes; else null.
    std::unique_ptr<internal::HostHalo<Number>> halo;
    /// Block rows without ghost columns and with them; of several processes.
    std::vector<unsigned int> interior, boundary;
    std::once_flag            transpose_made;
    /// First value of the block (column, row) of each block (row, column).
    std::vector<std::uint64_t> transposed;

    void
    make_transpose(const BlockSparsity &sparsity)
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

    // Block rows in @p list, or the first @p n; @p ghosts: entries of x of
    // other processes.
    template <typename Number>
    void
    product(const BlockMatrixBase &matrix,
            const Number          *values,
            const unsigned int    *list,
            const unsigned int     n_list,
            Number                *y,
            const Number          *x,
            const Number          *ghosts,
            const Product          type,
            const Number          *b)
    {
      const BlockSparsity              &sparsity   = matrix.block_sparsity();
      const std::vector<std::uint64_t> &dof_offset = matrix.dof_offset();
      const unsigned int                n_owned    = sparsity.row_width.size();
      internal::for_block_ranges(
        n_list, [&](const unsigned int begin, const unsigned int end) {
          std::vector<Number> gathered, sums;
          for (unsigned int e = begin; e < end; ++e)
            {
              const unsigned int  k     = list == nullptr ? e : list[e];
              const unsigned int  width = sparsity.row_width[k];
              const std::uint64_t first = dof_offset[k];
              const unsigned int  n     = dof_offset[k + 1] - first;
              gathered.resize(width);
              sums.resize(n);
              internal::gather(sparsity.block_column.data() +
                                 sparsity.block_offset[k],
                               sparsity.block_offset[k + 1] -
                                 sparsity.block_offset[k],
                               dof_offset.data(),
                               n_owned,
                               x,
                               ghosts,
                               gathered.data());
              internal::multiply(values + sparsity.value_offset[k],
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
    product(const BlockMatrixBase &matrix,
            Data                  &data,
            Number                *y,
            const Number          *x,
            const Product          type,
            const Number          *b = nullptr)
    {
      const Number *const values = data.values.data();
      if (data.halo == nullptr)
        {
          product<Number>(matrix,
                          values,
                          nullptr,
                          matrix.block_sparsity().row_width.size(),
                          y,
                          x,
                          nullptr,
                          type,
                          b);
          return;
        }
      data.halo->start(x);
      product<Number>(matrix,
                      values,
                      data.interior.data(),
                      data.interior.size(),
                      y,
                      x,
                      nullptr,
                      type,
                      b);
      const Number *const ghosts = data.halo->finish();
      product<Number>(matrix,
                      values,
                      data.boundary.data(),
                      data.boundary.size(),
                      y,
                      x,
                      ghosts,
                      type,
                      b);
    }

    template <typename Data, typename Number>
    void
    transpose_product(const BlockMatrixBase &matrix,
                      Data                  &data,
                      Number                *y,
                      const Number          *x,
                      const Product          type,
                      const Number          *b = nullptr)
    {
      const BlockSparsity              &sparsity   = matrix.block_sparsity();
      const std::vector<std::uint64_t> &dof_offset = matrix.dof_offset();
      data.make_transpose(sparsity);
      internal::for_block_ranges(
        sparsity.row_width.size(),
        [&](const unsigned int begin, const unsigned int end) {
          std::vector<Number> sums;
          for (unsigned int k = begin; k < end; ++k)
            {
              const std::uint64_t first = dof_offset[k];
              const unsigned int  n     = dof_offset[k + 1] - first;
              sums.assign(n, Number(0));
              for (std::uint64_t m = sparsity.block_offset[k];
                   m < sparsity.block_offset[k + 1];
                   ++m)
                {
                  const unsigned int l = sparsity.block_column[m];
                  const Number *block = data.values.data() + data.transposed[m];
                  for (std::uint64_t i = dof_offset[l]; i < dof_offset[l + 1];
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
    : BlockMatrixBase(std::move(matrix))
    , implementation(std::move(matrix.implementation))
  {}



  template <typename Number>
  HostBlockMatrix<Number>::~HostBlockMatrix() = default;



  template <typename Number>
  HostBlockMatrix<Number> &
  HostBlockMatrix<Number>::operator=(HostBlockMatrix &&matrix) noexcept
  {
    BlockMatrixBase::operator=(std::move(matrix));
    implementation = std::move(matrix.implementation);
    return *this;
  }



  template <typename Number>
  void
  HostBlockMatrix<Number>::reinit(
    const BlockSparsity                         &sparsity,
    const std::vector<std::uint64_t>            &dof_offset,
    const std::shared_ptr<const BlockPartition> &partition)
  {
    implementation.reset();
    set_structure(sparsity, dof_offset, partition);
    implementation = std::make_unique<Implementation>();
    implementation->values.resize(n_nonzero_elements());
    if (partition != nullptr)
      {
        implementation->halo =
          std::make_unique<internal::HostHalo<Number>>(partition);
        list_rows(implementation->interior, implementation->boundary);
      }
    *this = 0.;
  }



  template <typename Number>
  void
  HostBlockMatrix<Number>::clear()
  {
    implementation.reset();
    clear_structure();
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
  std::size_t
  HostBlockMatrix<Number>::memory_consumption() const
  {
    std::size_t bytes = sizeof(*this) + structure_memory_consumption();
    if (implementation != nullptr)
      bytes += implementation->transposed.capacity() * sizeof(std::uint64_t) +
               (implementation->interior.capacity() +
                implementation->boundary.capacity()) *
                 sizeof(unsigned int) +
               (implementation->halo == nullptr
                  ? 0
                  : implementation->halo->memory_consumption()) +
               n_nonzero_elements() * sizeof(Number);
    return bytes;
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
  HostBlockMatrix<Number>::vmult_owned(Number *dst, const Number *src) const
  {
    if (!empty())
      product(*this, *implementation, dst, src, Product::set);
  }



  template <typename Number>
  void
  HostBlockMatrix<Number>::subtract_product_owned(Number       *dst,
                                                  const Number *x,
                                                  const Number *b,
                                                  const bool    transpose) const
  {
    if (empty())
      return;
    if (transpose)
      {
        assert_one_process("A product with the transpose");
        transpose_product(*this, *implementation, dst, x, Product::subtract, b);
      }
    else
      product(*this, *implementation, dst, x, Product::subtract, b);
  }



  template <typename Number>
  template <typename VectorType>
  void
  HostBlockMatrix<Number>::vmult(VectorType &dst, const VectorType &src) const
  {
    internal::check_vectors(dst, src, m(), n_owned_rows());
    vmult_owned(internal::entries(dst), internal::entries(src));
  }



  template <typename Number>
  template <typename VectorType>
  void
  HostBlockMatrix<Number>::vmult_add(VectorType       &dst,
                                     const VectorType &src) const
  {
    internal::check_vectors(dst, src, m(), n_owned_rows());
    if (!empty())
      product(*this,
              *implementation,
              internal::entries(dst),
              internal::entries(src),
              Product::add);
  }



  template <typename Number>
  template <typename VectorType>
  void
  HostBlockMatrix<Number>::Tvmult(VectorType &dst, const VectorType &src) const
  {
    internal::check_vectors(dst, src, m(), n_owned_rows());
    assert_one_process("A product with the transpose");
    if (!empty())
      transpose_product(*this,
                        *implementation,
                        internal::entries(dst),
                        internal::entries(src),
                        Product::set);
  }



  template <typename Number>
  template <typename VectorType>
  void
  HostBlockMatrix<Number>::Tvmult_add(VectorType       &dst,
                                      const VectorType &src) const
  {
    internal::check_vectors(dst, src, m(), n_owned_rows());
    assert_one_process("A product with the transpose");
    if (!empty())
      transpose_product(*this,
                        *implementation,
                        internal::entries(dst),
                        internal::entries(src),
                        Product::add);
  }



  template <typename Number>
  template <typename VectorType>
  void
  HostBlockMatrix<Number>::subtract_product(VectorType       &dst,
                                            const VectorType &x,
                                            const VectorType &b,
                                            const bool        transpose) const
  {
    if (&dst != &b)
      dst.reinit(b, true);
    internal::check_vectors(dst, x, m(), n_owned_rows());
    internal::check_vector(b, m(), n_owned_rows());
    subtract_product_owned(internal::entries(dst),
                           internal::entries(x),
                           internal::entries(b),
                           transpose);
  }



  template <typename Number>
  template <typename VectorType>
  Number
  HostBlockMatrix<Number>::residual(VectorType       &dst,
                                    const VectorType &x,
                                    const VectorType &b) const
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
    reinit(matrix.block_sparsity(), matrix.dof_offset(), matrix.partition());
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



#define INSTANTIATE_VECTOR(Number, VectorType)                                   \
  template void   HostBlockMatrix<Number>::vmult(VectorType &,                   \
                                               const VectorType &) const;      \
  template void   HostBlockMatrix<Number>::vmult_add(VectorType &,               \
                                                   const VectorType &) const;  \
  template void   HostBlockMatrix<Number>::Tvmult(VectorType &,                  \
                                                const VectorType &) const;     \
  template void   HostBlockMatrix<Number>::Tvmult_add(VectorType &,              \
                                                    const VectorType &) const; \
  template void   HostBlockMatrix<Number>::subtract_product(VectorType &,        \
                                                          const VectorType &,  \
                                                          const VectorType &,  \
                                                          const bool) const;   \
  template Number HostBlockMatrix<Number>::residual(VectorType &,                \
                                                    const VectorType &,          \
                                                    const VectorType &) const;

#define INSTANTIATE(Number)                         \
  template class HostBlockMatrix<Number>;           \
  template void HostBlockMatrix<Number>::copy_from( \
    const HostBlockMatrix<double> &);               \
  template void HostBlockMatrix<Number>::copy_from( \
    const HostBlockMatrix<float> &);                \
  INSTANTIATE_VECTOR(Number, Vector<Number>)        \
  INSTANTIATE_VECTOR(Number, LinearAlgebra::distributed::Vector<Number>)

  INSTANTIATE(double)
  INSTANTIATE(float)
  INSTANTIATE_VECTOR(double, TrilinosWrappers::MPI::Vector)
#undef INSTANTIATE
#undef INSTANTIATE_VECTOR
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/lac/trilinos_block_matrix.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "../base/vector_types.h"
#include "column_order.h"
#include "halo_exchange.h"
#include "host_blocks.h"
#include "transpose_plan.h"
#include "vector_access.h"

namespace Tessella
{
  using namespace dealii;
  using internal::for_blocks;

  template <typename Number>
  struct HostBlockMatrix<Number>::Implementation
  {
    internal::HostArray<Number> values;
    /// Ghost exchange; null on a single process.
    std::unique_ptr<internal::HostHalo<Number>> halo;
    /// Block rows without and with ghost columns; empty on a single process.
    std::vector<unsigned int> interior, boundary;
    /// Columns of the block rows with ghosts in the order of the block rows of
    /// all processes, and their positions in the block row.
    std::vector<std::uint64_t> ordered_offset;
    std::vector<unsigned int>  ordered_column, ordered_place;
    std::once_flag             transpose_made;
    std::unique_ptr<const internal::TransposePlan> transpose;
    /// Contributions to products with the transpose that are sent and received;
    /// empty on a single process.
    internal::HostArray<Number> sent, received;

    void
    make_order(const BlockMatrixBase &matrix)
    {
      const BlockSparsity             &sparsity = matrix.block_sparsity();
      const std::vector<std::uint64_t> blocks =
        internal::ordered_blocks(matrix);
      ordered_offset.assign(1, 0);
      for (const unsigned int k : boundary)
        {
          for (std::uint64_t m = sparsity.block_offset[k];
               m < sparsity.block_offset[k + 1];
               ++m)
            {
              ordered_column.push_back(sparsity.block_column[blocks[m]]);
              ordered_place.push_back(sparsity.column_offset[blocks[m]]);
            }
          ordered_offset.push_back(ordered_column.size());
        }
    }

    void
    make_transpose(const BlockMatrixBase &matrix)
    {
      std::call_once(transpose_made, [&] {
        auto plan = std::make_unique<const internal::TransposePlan>(matrix);
        sent.resize(plan->sent_first.back());
        received.resize(plan->n_received);
        transpose = std::move(plan);
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

    // Product with the block rows in @p list, or with the first @p n block
    // rows.
    template <typename Number>
    void
    product(const BlockMatrixBase &matrix,
            const Number          *values,
            const unsigned int    *list,
            const unsigned int     n_list,
            Number                *y,
            const Number          *x,
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
              internal::gather<Number>(sparsity.block_column.data() +
                                         sparsity.block_offset[k],
                                       sparsity.block_offset[k + 1] -
                                         sparsity.block_offset[k],
                                       dof_offset.data(),
                                       n_owned,
                                       x,
                                       nullptr,
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

    // Product with the block rows with ghosts, where @p ghosts has the ghost
    // entries of x. The columns are gathered in the order that they have on a
    // single process, so that sums are identical to the last bit.
    template <typename Data, typename Number>
    void
    boundary_product(const BlockMatrixBase &matrix,
                     const Data            &data,
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
        data.boundary.size(),
        [&](const unsigned int begin, const unsigned int end) {
          std::vector<Number> gathered, sums, values;
          for (unsigned int e = begin; e < end; ++e)
            {
              const unsigned int  k     = data.boundary[e];
              const unsigned int  width = sparsity.row_width[k];
              const std::uint64_t first = dof_offset[k];
              const unsigned int  n     = dof_offset[k + 1] - first;
              gathered.resize(width);
              sums.resize(n);
              values.resize(std::size_t(n) * width);
              const unsigned int *const columns =
                data.ordered_column.data() + data.ordered_offset[e];
              const unsigned int *const places =
                data.ordered_place.data() + data.ordered_offset[e];
              const std::size_t n_columns =
                data.ordered_offset[e + 1] - data.ordered_offset[e];
              internal::gather(columns,
                               n_columns,
                               dof_offset.data(),
                               n_owned,
                               x,
                               ghosts,
                               gathered.data());
              Number *to = values.data();
              for (unsigned int i = 0; i < n; ++i)
                {
                  const Number *const row = data.values.data() +
                                            sparsity.value_offset[k] +
                                            std::size_t(i) * width;
                  for (std::size_t m = 0; m < n_columns; ++m)
                    to = std::copy_n(row + places[m],
                                     dof_offset[columns[m] + 1] -
                                       dof_offset[columns[m]],
                                     to);
                }
              internal::multiply(
                values.data(), n, width, width, gathered.data(), sums.data());
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
                      type,
                      b);
      const Number *const ghosts = data.halo->finish();
      boundary_product(matrix, data, y, x, ghosts, type, b);
    }

    // y = A_b^T x for block b of block row k.
    template <typename Number>
    void
    transposed_block(const BlockMatrixBase &matrix,
                     const Number          *values,
                     const unsigned int     k,
                     const std::uint64_t    b,
                     const Number          *x,
                     Number                *y)
    {
      const BlockSparsity              &sparsity   = matrix.block_sparsity();
      const std::vector<std::uint64_t> &dof_offset = matrix.dof_offset();
      const unsigned int                l          = sparsity.block_column[b];
      const unsigned int                n = dof_offset[l + 1] - dof_offset[l];
      const Number                     *row =
        values + sparsity.value_offset[k] + sparsity.column_offset[b];
      std::fill(y, y + n, Number(0));
      for (std::uint64_t i = dof_offset[k]; i < dof_offset[k + 1];
           ++i, row += sparsity.row_width[k])
        for (unsigned int j = 0; j < n; ++j)
          y[j] += row[j] * x[i];
    }

    // Transposed product for the block columns in @p list, or for the first
    // @p n block columns.
    template <typename Data, typename Number>
    void
    transpose_product(const BlockMatrixBase &matrix,
                      Data                  &data,
                      const unsigned int    *list,
                      const unsigned int     n_list,
                      Number                *y,
                      const Number          *x,
                      const Product          type,
                      const Number          *b)
    {
      const std::vector<std::uint64_t> &dof_offset = matrix.dof_offset();
      const unsigned int n_owned = matrix.block_sparsity().row_width.size();
      const internal::TransposePlan &plan = *data.transpose;
      internal::for_block_ranges(
        n_list, [&](const unsigned int begin, const unsigned int end) {
          std::vector<Number> sums, part;
          for (unsigned int e = begin; e < end; ++e)
            {
              const unsigned int  k     = list == nullptr ? e : list[e];
              const std::uint64_t first = dof_offset[k];
              const unsigned int  n     = dof_offset[k + 1] - first;
              sums.assign(n, Number(0));
              part.resize(n);
              for (std::uint64_t m = plan.offset[k]; m < plan.offset[k + 1];
                   ++m)
                {
                  const Number *from = part.data();
                  if (plan.row[m] < n_owned)
                    transposed_block(matrix,
                                     data.values.data(),
                                     plan.row[m],
                                     plan.place[m],
                                     x,
                                     part.data());
                  else
                    from = data.received.data() + plan.place[m];
                  for (unsigned int j = 0; j < n; ++j)
                    sums[j] += from[j];
                }
              for (unsigned int i = 0; i < n; ++i)
                store(y + first + i, b + first + i, type, sums[i]);
            }
        });
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
      data.make_transpose(matrix);
      if (data.halo == nullptr)
        {
          transpose_product(matrix,
                            data,
                            nullptr,
                            matrix.block_sparsity().row_width.size(),
                            y,
                            x,
                            type,
                            b);
          return;
        }
      const internal::TransposePlan &plan = *data.transpose;
      for_blocks(plan.sent_row.size(), [&](const unsigned int i) {
        transposed_block(matrix,
                         data.values.data(),
                         plan.sent_row[i],
                         plan.sent_block[i],
                         x,
                         data.sent.data() + plan.sent_first[i]);
      });
      internal::HaloMessages messages;
      internal::start_messages(messages,
                               matrix.partition()->communicator(),
                               plan.sends,
                               data.sent.data(),
                               plan.receives,
                               data.received.data());
      transpose_product(matrix,
                        data,
                        data.interior.data(),
                        data.interior.size(),
                        y,
                        x,
                        type,
                        b);
      messages.finish();
      transpose_product(matrix,
                        data,
                        data.boundary.data(),
                        data.boundary.size(),
                        y,
                        x,
                        type,
                        b);
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
        implementation->make_order(*this);
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
      bytes +=
        (implementation->transpose == nullptr
           ? 0
           : implementation->transpose->memory_consumption()) +
        (implementation->sent.size() + implementation->received.size()) *
          sizeof(Number) +
        implementation->ordered_offset.capacity() * sizeof(std::uint64_t) +
        (implementation->interior.capacity() +
         implementation->boundary.capacity() +
         implementation->ordered_column.capacity() +
         implementation->ordered_place.capacity()) *
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
      transpose_product(*this, *implementation, dst, x, Product::subtract, b);
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



#ifdef TESSELLA_HAVE_EPETRA
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
#endif



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

#define INSTANTIATE(Number)                                              \
  template class HostBlockMatrix<Number>;                                \
  template void HostBlockMatrix<Number>::copy_from(                      \
    const HostBlockMatrix<double> &);                                    \
  template void HostBlockMatrix<Number>::copy_from(                      \
    const HostBlockMatrix<float> &);                                     \
  INSTANTIATE_VECTOR(Number, Vector<Number>)                             \
  INSTANTIATE_VECTOR(Number, LinearAlgebra::distributed::Vector<Number>) \
  INSTANTIATE_VECTOR(Number, HostVector<Number>)

  INSTANTIATE(double)
  INSTANTIATE(float)
  TESSELLA_IF_EPETRA(INSTANTIATE_VECTOR(double, TrilinosWrappers::MPI::Vector))
#undef INSTANTIATE
#undef INSTANTIATE_VECTOR
} // namespace Tessella

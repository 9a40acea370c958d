// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/trilinos_block_matrix.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "../../cuda/lac/block_matrix.h"
#include "../../cuda/lac/vector.h"
#include "../base/collective.h"
#include "../device/device_call.h"
#include "column_order.h"
#include "halo_exchange.h"
#include "store_block_row.h"
#include "transpose_plan.h"
#include "vector_access.h"

namespace Tessella
{
  using namespace dealii;
  using internal::Device::Product;

  template <typename Number>
  struct DeviceBlockMatrix<Number>::Implementation
  {
    Implementation(const BlockSparsity                  &sparsity,
                   const std::vector<std::uint64_t>     &dof_offset,
                   const internal::Device::AllProcesses *all)
      : matrix(sparsity, dof_offset, all)
    {}

    internal::Device::BlockMatrix<Number> matrix;
    /// Ghost exchange; null on a single process.
    std::unique_ptr<internal::DeviceHalo<Number>> halo;
    /// Exchange of contributions to products with the transpose. It exists on
    /// processes that receive contributions; as the structure is symmetric,
    /// these are also the processes that send contributions.
    std::unique_ptr<internal::Device::Halo<Number>> contributions;
    std::vector<internal::TransposePlan::Partner>   sends, receives;

    void
    make_transpose(const BlockMatrixBase &structure)
    {
      if (matrix.has_transpose())
        return;
      const internal::TransposePlan plan(structure);
      const BlockSparsity          &sparsity = structure.block_sparsity();
      const auto                   &offset   = structure.dof_offset();
      Tessella::on_all_processes(
        structure.partition() == nullptr
          ? MPI_COMM_SELF
          : structure.partition()->communicator(),
        [&] {
          const unsigned int n = sparsity.row_width.size();
          // The sums over the rows of each block row lie one after the other;
          // received contributions follow.
          std::vector<std::uint64_t> first_sum(n + 1, 0);
          for (unsigned int k = 0; k < n; ++k)
            first_sum[k + 1] = first_sum[k] + sparsity.row_width[k];
          std::vector<std::uint64_t> place(plan.place.size());
          for (std::size_t m = 0; m < place.size(); ++m)
            place[m] = plan.row[m] < n ? first_sum[plan.row[m]] +
                                           sparsity.column_offset[plan.place[m]]
                                       : first_sum[n] + plan.place[m];
          internal::device_call([&] {
            if (plan.n_received > 0)
              {
                AssertThrow(first_sum[n] < (std::uint64_t(1) << 32),
                            ExcMessage("The matrix is too large for products "
                                       "with its transpose: use more "
                                       "processes."));
                std::vector<unsigned int> entries;
                entries.reserve(plan.sent_first.back());
                for (std::size_t i = 0; i < plan.sent_row.size(); ++i)
                  {
                    const std::uint64_t b = plan.sent_block[i];
                    const unsigned int  l = sparsity.block_column[b];
                    for (std::uint64_t j = 0; j < offset[l + 1] - offset[l];
                         ++j)
                      entries.push_back(static_cast<unsigned int>(
                        first_sum[plan.sent_row[i]] +
                        sparsity.column_offset[b] + j));
                  }
                contributions =
                  std::make_unique<internal::Device::Halo<Number>>(
                    entries, plan.n_received);
              }
            matrix.make_transpose(
              sparsity, offset, plan.offset, place, plan.n_received);
          });
        });
      sends    = plan.sends;
      receives = plan.receives;
    }

    void
    Tvmult(const BlockMatrixBase &structure,
           Number                *y,
           const Number          *x,
           const Product          product,
           const Number          *b = nullptr)
    {
      make_transpose(structure);
      if (contributions == nullptr)
        {
          internal::device_call([&] { matrix.Tvmult(y, x, product, b); });
          return;
        }
      internal::device_call([&] {
        contributions->pack(matrix.row_sums(x));
        contributions->wait_for_packed();
      });
      internal::HaloMessages messages;
      internal::start_messages(messages,
                               structure.partition()->communicator(),
                               sends,
                               contributions->send_buffer(),
                               receives,
                               contributions->receive_buffer());
      messages.finish();
      internal::device_call([&] {
        contributions->upload();
        matrix.column_sums(y, contributions->ghosts(), product, b);
      });
    }

    void
    vmult(Number       *y,
          const Number *x,
          const Product product,
          const Number *b = nullptr)
    {
      using Rows         = internal::Device::ProductRows;
      const auto compute = [&](const Rows rows, const Number *ghosts) {
        internal::device_call(
          [&] { matrix.vmult(y, x, product, b, rows, ghosts); });
      };
      if (halo == nullptr)
        {
          compute(Rows::all, nullptr);
          return;
        }
      halo->start(x);
      compute(Rows::interior, nullptr);
      const Number *const ghosts = halo->finish();
      compute(Rows::boundary, ghosts);
    }
  };



  template <typename Number>
  DeviceBlockMatrix<Number>::DeviceBlockMatrix()
  {
    internal::assert_device_is_available();
  }



  template <typename Number>
  DeviceBlockMatrix<Number>::DeviceBlockMatrix(
    DeviceBlockMatrix &&matrix) noexcept
    : BlockMatrixBase(std::move(matrix))
    , implementation(std::move(matrix.implementation))
  {}



  template <typename Number>
  DeviceBlockMatrix<Number>::~DeviceBlockMatrix() = default;



  template <typename Number>
  DeviceBlockMatrix<Number> &
  DeviceBlockMatrix<Number>::operator=(DeviceBlockMatrix &&matrix) noexcept
  {
    BlockMatrixBase::operator=(std::move(matrix));
    implementation = std::move(matrix.implementation);
    return *this;
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::reinit(
    const BlockSparsity                         &sparsity,
    const std::vector<std::uint64_t>            &dof_offset,
    const std::shared_ptr<const BlockPartition> &partition)
  {
    implementation.reset(); // frees memory for the new matrix
    set_structure(sparsity, dof_offset, partition);
    internal::Device::AllProcesses all;
    if (partition != nullptr)
      {
        const BlockPartition::BlockSizes &sizes = partition->block_sizes();
        all                                     = {sizes.smallest,
                                                   sizes.largest,
                                                   sizes.bits,
                                                   internal::ordered_blocks(*this)};
      }
    internal::device_call([&] {
      implementation =
        std::make_unique<Implementation>(sparsity,
                                         dof_offset,
                                         partition == nullptr ? nullptr : &all);
    });
    if (partition != nullptr)
      implementation->halo =
        std::make_unique<internal::DeviceHalo<Number>>(partition);
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::clear()
  {
    implementation.reset();
    clear_structure();
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
  std::size_t
  DeviceBlockMatrix<Number>::memory_consumption() const
  {
    std::size_t bytes = sizeof(*this) + structure_memory_consumption();
    if (implementation != nullptr)
      {
        bytes += implementation->matrix.memory_consumption();
        if (implementation->halo != nullptr)
          bytes += implementation->halo->memory_consumption();
      }
    return bytes;
  }



  template <typename Number>
  std::size_t
  DeviceBlockMatrix<Number>::vmult_bytes() const
  {
    if (implementation == nullptr)
      return 0;
    return (n_nonzero_elements() + 2 * n_owned_rows()) * sizeof(Number) +
           block_sparsity().block_column.size() * sizeof(unsigned int);
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
  DeviceBlockMatrix<Number>::vmult_owned(Number *dst, const Number *src) const
  {
    if (!empty())
      implementation->vmult(dst, src, Product::set);
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::vmult(DeviceVector<Number>       &dst,
                                   const DeviceVector<Number> &src) const
  {
    internal::check_vectors(dst, src, m(), n_owned_rows());
    vmult_owned(dst.begin(), src.begin());
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::vmult_add(DeviceVector<Number>       &dst,
                                       const DeviceVector<Number> &src) const
  {
    internal::check_vectors(dst, src, m(), n_owned_rows());
    if (!empty())
      implementation->vmult(dst.begin(), src.begin(), Product::add);
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::Tvmult(DeviceVector<Number>       &dst,
                                    const DeviceVector<Number> &src) const
  {
    internal::check_vectors(dst, src, m(), n_owned_rows());
    if (!empty())
      implementation->Tvmult(*this, dst.begin(), src.begin(), Product::set);
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::Tvmult_add(DeviceVector<Number>       &dst,
                                        const DeviceVector<Number> &src) const
  {
    internal::check_vectors(dst, src, m(), n_owned_rows());
    if (!empty())
      implementation->Tvmult(*this, dst.begin(), src.begin(), Product::add);
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::subtract_product_owned(Number       *dst,
                                                    const Number *x,
                                                    const Number *b,
                                                    const bool transpose) const
  {
    if (empty())
      return;
    if (transpose)
      implementation->Tvmult(*this, dst, x, Product::subtract, b);
    else
      implementation->vmult(dst, x, Product::subtract, b);
  }



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::subtract_product(DeviceVector<Number>       &dst,
                                              const DeviceVector<Number> &x,
                                              const DeviceVector<Number> &b,
                                              const bool transpose) const
  {
    if (&dst != &b)
      dst.reinit(b, true);
    internal::check_vectors(dst, x, m(), n_owned_rows());
    internal::check_vector(b, m(), n_owned_rows());
    subtract_product_owned(dst.begin(), x.begin(), b.begin(), transpose);
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
    reinit(matrix.block_sparsity(), matrix.dof_offset(), matrix.partition());
    if (!empty())
      internal::device_call([&] {
        internal::Device::copy(values(), matrix.values(), n_nonzero_elements());
      });
  }



#ifdef TESSELLA_HAVE_EPETRA
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
#endif



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::copy_to(std::vector<Number> &to) const
  {
    to.resize(n_nonzero_elements());
    if (!to.empty())
      internal::device_call(
        [&] { internal::Device::download(to.data(), values(), to.size()); });
  }



#ifdef TESSELLA_HAVE_EPETRA
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
#endif



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

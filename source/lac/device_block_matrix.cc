// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/base/config.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/trilinos_block_matrix.h>

#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

#include "../../cuda/lac/block_matrix.h"
#include "../../cuda/lac/vector.h"
#include "../base/collective.h"
#include "../device/device_call.h"
#include "basic_block_matrix.templates.h"
#include "halo_exchange.h"
#include "store_block_row.h"
#include "transpose_plan.h"

namespace Tessella
{
  using namespace dealii;

  namespace internal
  {
    /// Values in device memory and the exchange between processes.
    template <typename Number>
    struct DeviceBlockData
    {
      /// See BasicBlockMatrix::set_external_product().
      std::function<
        void(const Device::Destination<Number> &, const Number *, const bool)>
        external;

      DeviceBlockData(const BlockSparsity              &sparsity,
                      const std::vector<std::uint64_t> &dof_offset,
                      const Device::AllProcesses       *all)
        : matrix(sparsity, dof_offset, all)
      {}

      static void
      check_available()
      {
        assert_device_is_available();
      }

      static std::unique_ptr<DeviceBlockData>
      make(const BlockMatrixBase &structure)
      {
        const auto          &partition = structure.partition();
        Device::AllProcesses all;
        if (partition != nullptr)
          {
            const BlockPartition::BlockSizes &sizes = partition->block_sizes();
            all                                     = {sizes.smallest,
                                                       sizes.largest,
                                                       sizes.bits,
                                                       ordered_blocks(structure)};
          }
        auto data = device_call([&] {
          return std::make_unique<DeviceBlockData>(structure.block_sparsity(),
                                                   structure.dof_offset(),
                                                   partition == nullptr
                                                     ? nullptr
                                                     : &all);
        });
        if (partition != nullptr)
          data->halo = std::make_unique<DeviceHalo<Number>>(partition);
        return data;
      }

      Number *
      values() const
      {
        return device_call([&] { return matrix.values(); });
      }

      std::size_t
      memory_consumption() const
      {
        return device_call([&] { return matrix.memory_consumption(); }) +
               (halo == nullptr ? 0 : halo->memory_consumption());
      }

      void
      set_zero(const std::size_t n)
      {
        device_call(
          [&] { Device::VectorOperations<Number>::set_zero(n, values()); });
      }

      template <typename From>
      void
      copy_from(const From *from, const std::size_t n)
      {
        if constexpr (std::is_same<Number, From>::value)
          device_call([&] { Device::upload(values(), from, n); });
        else
          copy_from(std::vector<Number>(from, from + n).data(), n);
      }

      void
      copy_to(Number *to, const std::size_t n) const
      {
        device_call(
          [&] { Device::VectorOperations<Number>::download(n, values(), to); });
      }

      template <typename From>
      void
      convert(const From *from, const std::size_t n)
      {
        device_call(
          [&] { Device::VectorOperations<Number>::copy(n, from, values()); });
      }

      void
      product(const BlockMatrixBase &,
              const Device::Destination<Number> &y,
              const Number                      *x)
      {
        using Rows         = Device::ProductRows;
        const auto compute = [&](const Rows rows, const Number *ghosts) {
          device_call([&] { matrix.vmult(y, x, rows, ghosts); });
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

      void
      transpose_product(const BlockMatrixBase             &structure,
                        const Device::Destination<Number> &y,
                        const Number                      *x)
      {
        make_transpose(structure);
        if (contributions == nullptr)
          {
            device_call([&] { matrix.Tvmult(y, x); });
            return;
          }
        contributions->start(device_call([&] { return matrix.row_sums(x); }));
        const Number *const received = contributions->finish();
        device_call([&] { matrix.column_sums(y, received); });
      }

    private:
      void
      make_transpose(const BlockMatrixBase &structure)
      {
        if (device_call([&] { return matrix.has_transpose(); }))
          return;
        const TransposePlan  plan(structure);
        const BlockSparsity &sparsity = structure.block_sparsity();
        const auto          &offset   = structure.dof_offset();
        Tessella::on_all_processes(structure.communicator(), [&] {
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
          device_call([&] {
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
                contributions = std::make_unique<DeviceExchange<Number>>(
                  structure.communicator(),
                  plan.sends,
                  plan.receives,
                  entries,
                  plan.n_received);
              }
            matrix.make_transpose(
              sparsity, offset, plan.offset, place, plan.n_received);
          });
        });
      }

      Device::BlockMatrix<Number> matrix;
      /// Ghost exchange; null on a single process.
      std::unique_ptr<DeviceHalo<Number>> halo;
      /// Exchange of contributions to products with the transpose. It exists on
      /// processes that receive contributions; as the structure is symmetric,
      /// these are also the processes that send contributions.
      std::unique_ptr<DeviceExchange<Number>> contributions;
    };
  } // namespace internal



  template <typename Number>
  std::size_t
  DeviceBlockMatrix<Number>::vmult_bytes() const
  {
    if (this->values() == nullptr)
      return 0;
    return (this->n_nonzero_elements() + 2 * this->n_owned_rows()) *
             sizeof(Number) +
           this->block_sparsity().block_column.size() * sizeof(unsigned int);
  }



#ifdef TESSELLA_HAVE_EPETRA
  template <typename Number>
  void
  DeviceBlockMatrix<Number>::copy_to(
    TrilinosWrappers::SparseMatrix &matrix) const
  {
    double *const to = TrilinosBlockMatrix::values(matrix,
                                                   this->block_sparsity(),
                                                   this->dof_offset());
    if constexpr (std::is_same<Number, double>::value)
      internal::device_call([&] {
        internal::Device::VectorOperations<Number>::download(
          this->n_nonzero_elements(), this->values(), to);
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
    const BlockSparsity &blocks = this->block_sparsity();
    AssertThrow(matrix.m() == this->m() &&
                  matrix.n_nonzero_elements() == blocks.n_nonzero_elements(),
                ExcMessage("The matrix does not have the structure of this one:"
                           " call reinit() of the assembler on it."));
    std::vector<Number> from;
    copy_to(from);
    for (unsigned int k = 0; k < blocks.row_width.size(); ++k)
      internal::store_block_row(matrix,
                                blocks,
                                this->dof_offset(),
                                k,
                                from.data() + blocks.value_offset[k]);
  }



  TESSELLA_INSTANTIATE_BLOCK_MATRIX(double, internal::DeviceBlockData)
  TESSELLA_INSTANTIATE_BLOCK_MATRIX(float, internal::DeviceBlockData)
  TESSELLA_INSTANTIATE_PRODUCTS(double,
                                internal::DeviceBlockData,
                                DeviceVector<double>)
  TESSELLA_INSTANTIATE_PRODUCTS(float,
                                internal::DeviceBlockData,
                                DeviceVector<float>)
  template class DeviceBlockMatrix<double>;
  template class DeviceBlockMatrix<float>;
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_device_block_data_h
#define tessella_source_lac_device_block_data_h

#include <deal.II/base/exceptions.h>

#include <tessella/lac/block_matrix_base.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "../../cuda/lac/block_matrix.h"
#include "../../cuda/lac/vector.h"
#include "../base/collective.h"
#include "../device/device_call.h"
#include "halo_exchange.h"
#include "transpose_plan.h"

namespace Tessella
{
  namespace internal
  {
    /// Values in device memory and the exchange between processes. The
    /// structure that functions take is that of the columns; the rows are the
    /// same, or those that @p row_offset, which must outlive the object, has.
    template <typename Number>
    struct DeviceBlockData
    {
      /// See BasicBlockMatrix::set_external_product().
      std::function<
        void(const Device::Destination<Number> &, const Number *, const bool)>
        external;

      DeviceBlockData(const BlockSparsity              &sparsity,
                      const std::vector<std::uint64_t> &dof_offset,
                      const Device::AllProcesses       *all,
                      const std::vector<std::uint64_t> *row_offset,
                      const std::shared_ptr<const Device::BlockLists> &same)
        : matrix(sparsity, dof_offset, all, row_offset, same)
        , row_offset(row_offset)
      {}

      static void
      check_available()
      {
        assert_device_is_available();
      }

      static std::unique_ptr<DeviceBlockData>
      make(const BlockMatrixBase            &structure,
           const std::vector<std::uint64_t> *row_offset          = nullptr,
           const std::shared_ptr<const Device::BlockLists> &same = nullptr)
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
                                                     : &all,
                                                   row_offset,
                                                   same);
        });
        if (partition != nullptr)
          data->halo = std::make_unique<DeviceHalo<Number>>(partition);
        return data;
      }

      /// The same for a structure that @p other has, with which the lists are
      /// shared as far as they do not depend on the precision.
      template <typename OtherNumber>
      static std::unique_ptr<DeviceBlockData>
      make_like(const BlockMatrixBase              &structure,
                const DeviceBlockData<OtherNumber> &other)
      {
        return make(structure, nullptr, other.lists());
      }

      std::shared_ptr<const Device::BlockLists>
      lists() const
      {
        return device_call([&] { return matrix.lists(); });
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
                            dealii::ExcMessage(
                              "The matrix is too large for products "
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
            matrix.make_transpose(sparsity,
                                  offset,
                                  plan.offset,
                                  place,
                                  plan.n_received,
                                  row_offset);
          });
        });
      }

      Device::BlockMatrix<Number> matrix;
      /// First row of each block row; null for a square matrix.
      const std::vector<std::uint64_t> *const row_offset;
      /// Ghost exchange; null on a single process.
      std::unique_ptr<DeviceHalo<Number>> halo;
      /// Exchange of contributions to products with the transpose. It exists on
      /// processes that receive contributions; as the structure is symmetric,
      /// these are also the processes that send contributions.
      std::unique_ptr<DeviceExchange<Number>> contributions;
    };
  } // namespace internal
} // namespace Tessella

#endif

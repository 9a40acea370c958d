// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_field_arrays_h
#define tessella_source_operators_field_arrays_h

#include <algorithm>
#include <memory>
#include <vector>

#include "../../cuda/lac/vector.h"
#include "../device/device_call.h"
#include "../lac/block_space.h"
#include "../lac/halo_exchange.h"
#include "../lac/matrix_structure.h"
#include "../lac/matrix_traits.h"
#include "../lac/vector_access.h"

namespace Tessella
{
  namespace internal
  {
    /// Coefficients of a discrete function, by default in host memory, those of
    /// ghosts included. The array is kept for the next function of the same
    /// space.
    class FieldArray
    {
    public:
      /// The coefficients of @p vector, valid until the next call and as long
      /// as the vector is not changed. Collective. With @p use_device, the
      /// result is in device memory if the vector is; of ghosts, only their
      /// own entries pass through the host.
      template <typename VectorType>
      const double *
      update(const VectorType &vector,
             MatrixStructure  &structure,
             const bool        use_device = false)
      {
        constexpr bool is_on_device =
          VectorTraits<VectorType>::storage == Storage::device;
        structure.on_all_processes(
          [&]() { VectorTraits<VectorType>::check(vector, structure); });
        const auto       &rows    = structure.partition();
        const std::size_t n_owned = structure.n_owned_rows;
        if (rows == nullptr && (!is_on_device || use_device))
          return begin(vector);

        if constexpr (is_on_device)
          if (use_device)
            return update_on_device(begin(vector), rows, structure);
        coefficients.resize(structure.dof_offset.back());
        if constexpr (is_on_device)
          structure.on_all_processes([&]() {
            device_call([&] {
              Device::VectorOperations<double>::download(n_owned,
                                                         begin(vector),
                                                         coefficients.data());
            });
          });
        else
          std::copy_n(begin(vector), n_owned, coefficients.begin());
        if (rows != nullptr)
          {
            if (rows != partition)
              {
                halo      = std::make_unique<HostHalo<double>>(rows);
                partition = rows;
              }
            halo->start(coefficients.data());
            std::copy_n(halo->finish(),
                        coefficients.size() - n_owned,
                        coefficients.begin() + n_owned);
          }
        return coefficients.data();
      }

    private:
      const double *
      update_on_device(const double                                *owned,
                       const std::shared_ptr<const BlockPartition> &rows,
                       const MatrixStructure                       &structure)
      {
        const std::size_t n_owned = structure.n_owned_rows,
                          n       = structure.dof_offset.back();
        if (rows != device_partition)
          {
            device_halo      = std::make_unique<DeviceHalo<double>>(rows);
            device_partition = rows;
          }
        if (on_device.size() != n)
          on_device.resize(n);
        device_halo->start(owned);
        const double *const ghosts = device_halo->finish();
        device_call([&]() {
          Device::VectorOperations<double>::copy(n_owned,
                                                 owned,
                                                 on_device.data());
          Device::VectorOperations<double>::copy(n - n_owned,
                                                 ghosts,
                                                 on_device.data() + n_owned);
        });
        return on_device.data();
      }

      template <typename VectorType>
      static const double *
      begin(const VectorType &vector)
      {
        if constexpr (VectorTraits<VectorType>::storage == Storage::device)
          return vector.begin();
        else
          return entries(vector);
      }

      std::vector<double>                   coefficients;
      std::shared_ptr<const BlockPartition> partition;
      std::unique_ptr<HostHalo<double>>     halo;

      DeviceSpaceArray<double>              on_device;
      std::shared_ptr<const BlockPartition> device_partition;
      std::unique_ptr<DeviceHalo<double>>   device_halo;
    };
  } // namespace internal
} // namespace Tessella

#endif

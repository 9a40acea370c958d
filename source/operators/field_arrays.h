// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_field_arrays_h
#define tessella_source_operators_field_arrays_h

#include <algorithm>
#include <memory>
#include <vector>

#include "../../cuda/lac/vector.h"
#include "../device/device_call.h"
#include "../lac/halo_exchange.h"
#include "../lac/matrix_structure.h"
#include "../lac/matrix_traits.h"
#include "../lac/vector_access.h"

namespace Tessella
{
  namespace internal
  {
    /// Coefficients of a discrete function in host memory, those of ghosts
    /// included. The array is kept for the next function of the same space.
    class HostFieldArray
    {
    public:
      /// The coefficients of @p vector, valid until the next call and as long
      /// as the vector is not changed. Collective.
      template <typename VectorType>
      const double *
      update(const VectorType &vector, MatrixStructure &structure)
      {
        constexpr bool on_device =
          VectorTraits<VectorType>::storage == Storage::device;
        structure.on_all_processes(
          [&]() { VectorTraits<VectorType>::check(vector, structure); });
        const auto       &rows    = structure.partition();
        const std::size_t n_owned = structure.n_owned_rows;
        if (rows == nullptr && !on_device)
          return begin(vector);

        coefficients.resize(structure.dof_offset.back());
        if constexpr (on_device)
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
    };
  } // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_device_copies_h
#define tessella_cuda_hdg_device_copies_h

#include <memory>
#include <vector>

#include "../device/memory.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Copies of host arrays on the device, which live as long as this
      /// object.
      class DeviceCopies
      {
      public:
        /// Returns the address of a copy of @p values, or null if there are
        /// none.
        template <typename T>
        const T *
        upload(const std::vector<T> &values)
        {
          if (values.empty())
            return nullptr;
          arrays.push_back(std::make_unique<Array<char>>());
          Array<char> &array = *arrays.back();
          array.resize(values.size() * sizeof(T));
          n_bytes += array.size();
          check(cudaMemcpy(array.data(),
                           values.data(),
                           array.size(),
                           cudaMemcpyHostToDevice),
                "a copy to the device");
          return reinterpret_cast<const T *>(array.data());
        }

        /// Bytes of all copies.
        std::size_t
        bytes() const
        {
          return n_bytes;
        }

      private:
        std::vector<std::unique_ptr<Array<char>>> arrays;
        std::size_t                               n_bytes = 0;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

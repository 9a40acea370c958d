// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_pool_array_h
#define tessella_cuda_device_pool_array_h

#include <cstddef>
#include <utility>
#include <vector>

#include "memory.h"
#include "memory_pool.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Device memory of open_pool(), or of its own without a pool. The
      /// functions are those of Array, but copies are for the default stream:
      /// other streams need a synchronize() first.
      template <typename Number>
      class PoolArray
      {
      public:
        PoolArray() = default;

        explicit PoolArray(const std::vector<Number> &values)
        {
          resize(values.size());
          if (values.empty())
            return;
          refuse_recording("a copy to the device");
          check(cudaMemcpy(begin,
                           values.data(),
                           values.size() * sizeof(Number),
                           cudaMemcpyHostToDevice),
                "a copy to the device");
        }

        PoolArray(const PoolArray &) = delete;

        PoolArray &
        operator=(const PoolArray &) = delete;

        PoolArray &
        operator=(PoolArray &&other)
        {
          std::swap(begin, other.begin);
          std::swap(n, other.n);
          return *this;
        }

        ~PoolArray()
        {
          release_memory(begin);
        }

        /// Grows the array if necessary, in which case its contents are lost.
        void
        resize(const std::size_t size)
        {
          if (size <= n)
            return;
          refuse_recording("an allocation of memory");
          release_memory(begin);
          begin                   = nullptr;
          n                       = 0;
          const std::size_t bytes = size * sizeof(Number);
          void             *p     = allocate_in_pool(bytes);
          if (p == nullptr)
            check_allocation(cudaMalloc(&p, bytes), bytes, false);
          begin = static_cast<Number *>(p);
          n     = size;
        }

        Number *
        data() const
        {
          return begin;
        }

        std::size_t
        size() const
        {
          return n;
        }

      private:
        Number     *begin = nullptr;
        std::size_t n     = 0;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

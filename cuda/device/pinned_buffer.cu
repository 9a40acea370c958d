// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <mutex>
#include <vector>

#include "memory.h"
#include "pinned_buffer.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr std::size_t max_kept_bytes = std::size_t(64) << 20;

        struct KeptBuffer
        {
          char       *begin;
          std::size_t n;
        };

        /// Released buffers of all threads. Buffers may be released when static
        /// objects are destroyed, so that this one never is.
        struct KeptBuffers
        {
          std::mutex              mutex;
          std::vector<KeptBuffer> list;
          std::size_t             n_bytes = 0;
        };

        KeptBuffers &
        kept_buffers()
        {
          static KeptBuffers *const result = new KeptBuffers;
          return *result;
        }
      } // namespace



      PinnedBuffer::~PinnedBuffer()
      {
        release();
      }



      void
      PinnedBuffer::resize(const std::size_t bytes)
      {
        if (bytes <= n)
          return;
        refuse_recording("an allocation of memory");
        release();
        {
          KeptBuffers                      &kept = kept_buffers();
          const std::lock_guard<std::mutex> lock(kept.mutex);
          for (auto buffer = kept.list.begin(); buffer != kept.list.end();
               ++buffer)
            if (buffer->n >= bytes && buffer->n <= 4 * bytes)
              {
                begin = buffer->begin;
                n     = buffer->n;
                kept.n_bytes -= n;
                kept.list.erase(buffer);
                return;
              }
        }
        void *memory = nullptr;
        check_allocation(cudaMallocHost(&memory, bytes), bytes, true);
        begin = static_cast<char *>(memory);
        n     = bytes;
      }



      void
      PinnedBuffer::release() noexcept
      {
        if (begin == nullptr)
          return;
        KeptBuffers                      &kept = kept_buffers();
        const std::lock_guard<std::mutex> lock(kept.mutex);
        if (kept.n_bytes + n <= max_kept_bytes)
          {
            kept.list.push_back({begin, n});
            kept.n_bytes += n;
          }
        else if (cudaFreeHost(begin) != cudaSuccess)
          cudaGetLastError();
        begin = nullptr;
        n     = 0;
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

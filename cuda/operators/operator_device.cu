// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "../device/memory.h"
#include "operator_device.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      std::size_t
      shared_memory_limit()
      {
        int bytes = 0;
        check(cudaDeviceGetAttribute(&bytes,
                                     cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                     current_device()),
              "a query of the device");
        return static_cast<std::size_t>(bytes);
      }



      bool
      is_on_device(const void *address)
      {
        cudaPointerAttributes attributes;
        if (cudaPointerGetAttributes(&attributes, address) != cudaSuccess)
          {
            cudaGetLastError();
            return false;
          }
        return attributes.type == cudaMemoryTypeDevice ||
               attributes.type == cudaMemoryTypeManaged;
      }



      struct StreamClock::Events
      {
        Event start, stop;
      };

      StreamClock::StreamClock()
        : events(std::make_unique<Events>())
      {}

      StreamClock::~StreamClock() = default;

      void
      StreamClock::start()
      {
        events->start.record(nullptr);
      }

      void
      StreamClock::stop()
      {
        events->stop.record(nullptr);
      }

      double
      StreamClock::seconds() const
      {
        return events->stop.since(events->start);
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_kernel_clock_h
#define tessella_cuda_device_kernel_clock_h

#include <memory>
#include <vector>

#include "memory.h"
#include "times.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Measures the times of kernels that follow each other in a stream, by
      /// events between them.
      class KernelClock
      {
      public:
        /// Discards all measurements; the time of the first kernel starts here.
        void
        start(const cudaStream_t stream)
        {
          names.clear();
          record(stream);
        }

        /// Assigns @p name, which must be a string literal, to the kernels that
        /// were started since the last call.
        void
        stop(const char *name, const cudaStream_t stream)
        {
          names.push_back(name);
          record(stream);
        }

        /// Adds the times to @p times; waits for the kernels.
        void
        add_to(Times &times) const
        {
          for (std::size_t i = 0; i < names.size(); ++i)
            times.add_kernel(names[i], events[i + 1]->since(*events[i]));
        }

      private:
        void
        record(const cudaStream_t stream)
        {
          if (events.size() == names.size())
            events.push_back(std::make_unique<Event>());
          events[names.size()]->record(stream);
        }

        std::vector<std::unique_ptr<Event>> events;
        std::vector<const char *>           names;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

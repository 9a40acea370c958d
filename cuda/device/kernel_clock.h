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
      /// Times kernels that follow each other in a stream, by events between
      /// them.
      class KernelClock
      {
      public:
        /// Forgets what was timed; the first kernel begins now.
        void
        start(const cudaStream_t stream)
        {
          names.clear();
          record(stream);
        }

        /// What was started since the last call has this name; of literals.
        void
        stop(const char *name, const cudaStream_t stream)
        {
          names.push_back(name);
          record(stream);
        }

        /// Adds the times of kernels that have come to an end.
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

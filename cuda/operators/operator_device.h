// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_operators_operator_device_h
#define tessella_cuda_operators_operator_device_h

#include <cstddef>
#include <memory>

// The device as pointwise operators use it, in plain types. Their kernels run
// in the present stream (graph.h).

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Largest size of the shared memory of a thread block, in bytes.
      std::size_t
      shared_memory_limit();

      /// Whether an address is in device memory.
      bool
      is_on_device(const void *address);

      /// Time between two places in the default stream.
      class StreamClock
      {
      public:
        StreamClock();
        ~StreamClock();

        void
        start();
        void
        stop();
        /// Seconds between start() and stop(); waits for them.
        double
        seconds() const;

      private:
        struct Events;
        std::unique_ptr<Events> events;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

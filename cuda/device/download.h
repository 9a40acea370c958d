// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_download_h
#define tessella_cuda_device_download_h

#include <chrono>
#include <cstddef>
#include <memory>

#include "memory.h"
#include "workspace.h"

// Results on their way from the device to ordinary memory of the host.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Copies arrays of chunk after chunk to the host where several processes
       * of a machine do so at the same time: in small pieces through pinned
       * buffers, which are still in the processor's cache when they leave from
       * there. For it is the memory of the host that limits these processes; a
       * single device is busier with large pieces (BENCHMARKS.md, Several
       * processes and devices).
       *
       * This is the work of a few workers, tasks of the host's threads, each
       * with a ring of buffers of its own. A worker takes the next piece that
       * nobody has taken as soon as it has a free buffer, and what has arrived
       * out of it. No worker waits for another one, so that one thread may do
       * the work of all in turn.
       *
       * Buffers that are free when a chunk is finished take pieces of chunks
       * that were added already, and these arrive while the caller does
       * something else.
       */
      class Download
      {
      public:
        using Clock = std::chrono::steady_clock;

        /// For so many processes on a machine this is faster than large pieces
        /// that all threads empty together: measured with 1, 2 and 4 H200.
        static constexpr unsigned int least_processes = 3;

        /// For the present device.
        explicit Download(const Parallel &parallel);
        ~Download();

        /// Takes pinned memory, 32 MiB; start() does it otherwise.
        void
        reserve();

        /// Begins with nothing.
        void
        start();

        /// Adds an array of a chunk, which is there after @p ready. Numbers of
        /// chunks ascend.
        void
        add(const unsigned int chunk,
            const Event       &ready,
            const char        *from,
            char              *to,
            const std::size_t  bytes);

        /// Returns when everything up to this chunk is where it belongs; the
        /// time at which the last piece was seen to have arrived, or the
        /// clock's epoch.
        Clock::time_point
        finish(const unsigned int chunk);

        /// Waits until nothing is on its way any more, after an error.
        void
        cancel();

      private:
        struct Implementation;
        std::unique_ptr<Implementation> implementation;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

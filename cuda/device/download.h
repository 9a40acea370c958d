// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_download_h
#define tessella_cuda_device_download_h

#include <chrono>
#include <cstddef>
#include <memory>

#include "memory.h"
#include "workspace.h"

// Copies of results from the device to pageable memory of the host.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Copies the arrays of one chunk after another to the host if several
       * processes of a machine do so at the same time. The arrays travel in
       * small pieces through pinned buffers, and each piece is copied on to its
       * target while it is still in the processor's cache, because the memory
       * bandwidth of the host limits these processes. If a single process uses
       * the machine, large pieces are faster; see
       * doc/performance/several-devices.md.
       *
       * The work is divided among several workers, which are tasks of the
       * host's threads; each worker has its own ring of buffers. A worker with
       * a free buffer starts the copy of the next piece that no worker has
       * started yet, and then empties the buffers whose pieces have arrived. No
       * worker waits for another one, so that a single thread may run all
       * workers in turn.
       *
       * Buffers that are free when a chunk is finished receive pieces of chunks
       * that were added already; these pieces arrive while the caller does
       * something else.
       */
      class Download
      {
      public:
        using Clock = std::chrono::steady_clock;

        /// Smallest number of processes on a machine for which this class is
        /// faster than large pieces that all threads empty together; measured
        /// with 1, 2 and 4 H200.
        static constexpr unsigned int least_processes = 3;

        /// Creates the workers for the current device.
        explicit Download(const Parallel &parallel);
        ~Download();

        /// Allocates 32 MiB of pinned memory. Without a call of this function,
        /// start() does so.
        void
        reserve();

        /// Begins with an empty list of pieces.
        void
        start();

        /// Adds an array of a chunk, which is complete after @p ready. Indices
        /// of chunks must ascend.
        void
        add(const unsigned int chunk,
            const Event       &ready,
            const char        *from,
            char              *to,
            const std::size_t  bytes);

        /// Returns when all arrays of the chunks up to this one are in their
        /// targets. The return value is the time at which the last piece was
        /// seen to have arrived, or the clock's epoch if no piece has arrived
        /// yet.
        Clock::time_point
        finish(const unsigned int chunk);

        /// Waits until no copy is under way any more, after an error.
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

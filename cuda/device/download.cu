// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "../../source/base/host_memory.h"
#include "download.h"
#include "pieces.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr unsigned int n_workers = 8, n_buffers = 4;
        constexpr std::size_t  max_piece = std::size_t(1) << 20;

        // Time between two queries whether a piece has arrived; a query takes a
        // lock of the driver.
        constexpr std::chrono::microseconds pause(10);
      } // namespace



      struct Download::Implementation
      {
        struct Piece
        {
          unsigned int chunk;
          cudaEvent_t  ready;
          const char  *from;
          char        *to;
          std::size_t  bytes;
        };

        static constexpr unsigned int no_chunk = static_cast<unsigned int>(-1);

        struct alignas(128) Worker
        {
          Array<char, true> buffer[n_buffers];
          Event             arrived[n_buffers];
          std::size_t piece[n_buffers]; // index of the piece that is in the
                                        // buffer or on its way there
          unsigned int n_started = 0, n_taken = 0;
          // Chunk for whose kernels the stream waits already.
          unsigned int      chunk = no_chunk;
          Clock::time_point arrival;
        };

        explicit Implementation(const Parallel &parallel)
          : parallel(parallel)
          , device(current_device())
        {}

        // Starts the copy of the next piece; returns false if none is left.
        bool
        start_next(Worker &me)
        {
          std::size_t next = next_piece.load();
          do
            if (next == pieces.size())
              return false;
          while (!next_piece.compare_exchange_weak(next, next + 1));
          const Piece &piece = pieces[next];
          if (me.chunk != piece.chunk)
            {
              check(cudaStreamWaitEvent(stream, piece.ready, 0),
                    "the assembly on the device");
              me.chunk = piece.chunk;
            }
          const unsigned int number = me.n_started % n_buffers;
          check(cudaMemcpyAsync(me.buffer[number].data(),
                                piece.from,
                                piece.bytes,
                                cudaMemcpyDeviceToHost,
                                stream),
                "a copy to the host");
          me.arrived[number].record(stream);
          me.piece[number] = next;
          ++me.n_started;
          return true;
        }

        // Waits until a piece has arrived.
        static void
        wait(const Event &arrived)
        {
          for (cudaError_t state;
               (state = cudaEventQuery(arrived)) != cudaSuccess;)
            {
              if (state != cudaErrorNotReady)
                check(state, "the assembly on the device");
              const auto end = Clock::now() + pause;
              do
                std::this_thread::yield();
              while (Clock::now() < end);
            }
          cudaGetLastError(); // clears a possible cudaErrorNotReady
        }

        // Copies pieces until all pieces of chunks up to @p chunk are finished
        // or in the hands of other workers.
        void
        work(Worker &me, const unsigned int chunk)
        {
          while (!failed)
            {
              while (me.n_started - me.n_taken < n_buffers && start_next(me))
                ;
              if (me.n_started == me.n_taken)
                return;
              const unsigned int number = me.n_taken % n_buffers;
              const Piece       &piece  = pieces[me.piece[number]];
              if (piece.chunk > chunk)
                return;
              wait(me.arrived[number]);
              me.arrival = Clock::now();
              copy_past_caches(piece.to, me.buffer[number].data(), piece.bytes);
              ++me.n_taken;
            }
        }

        const Parallel           parallel;
        const int                device;
        Stream                   stream;
        Worker                   worker[n_workers];
        std::vector<Piece>       pieces;
        std::atomic<std::size_t> next_piece{0};
        std::atomic<bool>        failed{false};
      };



      Download::Download(const Parallel &parallel)
        : implementation(std::make_unique<Implementation>(parallel))
      {}



      Download::~Download() = default;



      void
      Download::reserve()
      {
        for (Implementation::Worker &worker : implementation->worker)
          for (auto &buffer : worker.buffer)
            buffer.resize(max_piece);
      }



      void
      Download::start()
      {
        reserve();
        Implementation &I = *implementation;
        I.pieces.clear();
        I.next_piece = 0;
        I.failed     = false;
        for (Implementation::Worker &worker : I.worker)
          {
            worker.n_started = worker.n_taken = 0;
            worker.chunk                      = Implementation::no_chunk;
            worker.arrival                    = {};
          }
      }



      void
      Download::add(const unsigned int chunk,
                    const Event       &ready,
                    const char        *from,
                    char              *to,
                    const std::size_t  bytes)
      {
        for (std::size_t first = 0, n; first < bytes; first += n)
          {
            n = piece_size(bytes - first, max_piece, n_workers);
            implementation->pieces.push_back(
              {chunk, ready, from + first, to + first, n});
          }
      }



      Download::Clock::time_point
      Download::finish(const unsigned int chunk)
      {
        Implementation &I = *implementation;
        I.parallel(
          n_workers, 1, [&](const std::size_t begin, const std::size_t end) {
            try
              {
                // The current device is a setting of each thread.
                check(cudaSetDevice(I.device), "the choice of a device");
                for (std::size_t w = begin; w < end; ++w)
                  I.work(I.worker[w], chunk);
              }
            catch (...)
              {
                I.failed = true;
                throw;
              }
          });
        Clock::time_point arrival;
        for (const Implementation::Worker &worker : I.worker)
          arrival = std::max(arrival, worker.arrival);
        return arrival;
      }



      void
      Download::cancel()
      {
        cudaStreamSynchronize(implementation->stream);
        cudaGetLastError();
      }

    } // namespace Device
  }   // namespace internal
} // namespace Tessella

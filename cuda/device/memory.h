// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_memory_h
#define tessella_cuda_device_memory_h

#include <cuda_runtime.h>
#include <string>
#include <utility>
#include <vector>

#include "device.h"
#include "graph.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      inline void
      check(const cudaError_t code, const char *what)
      {
        if (code == cudaSuccess)
          return;
        cudaGetLastError(); // the process can continue without the device
        throw Error(describe_error(code, what));
      }

      /// The same for the code of an allocation of @p bytes.
      void
      check_allocation(const cudaError_t code,
                       const std::size_t bytes,
                       const bool        pinned);

      /// Memory on the device, or pinned memory of the host.
      template <typename Number, bool pinned = false>
      class Array
      {
      public:
        Array() = default;

        explicit Array(const std::vector<Number> &values)
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
          // The copy may return before all data have arrived, and streams of
          // class Stream do not wait for it.
          check(cudaStreamSynchronize(nullptr), "a copy to the device");
        }

        Array(const Array &) = delete;

        Array &
        operator=(const Array &) = delete;

        Array &
        operator=(Array &&other)
        {
          std::swap(begin, other.begin);
          std::swap(n, other.n);
          return *this;
        }

        ~Array()
        {
          release();
        }

        /// Grows the array if necessary, in which case its contents are lost.
        void
        resize(const std::size_t size)
        {
          if (size <= n)
            return;
          refuse_recording("an allocation of memory");
          release();
          void             *p     = nullptr;
          const std::size_t bytes = size * sizeof(Number);
          check_allocation(pinned ? cudaMallocHost(&p, bytes)
                                  : cudaMalloc(&p, bytes),
                           bytes,
                           pinned);
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

        void
        release()
        {
          if (pinned && begin != nullptr)
            cudaFreeHost(begin);
          else if (!pinned)
            release_memory(begin);
          begin = nullptr;
          n     = 0;
        }

      private:
        Number     *begin = nullptr;
        std::size_t n     = 0;
      };

      class Stream
      {
      public:
        Stream()
        {
          check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                "the creation of a stream");
        }
        Stream(const Stream &) = delete;
        ~Stream()
        {
          cudaStreamDestroy(stream);
        }
        /// Work in other streams than the present one cannot be recorded.
        operator cudaStream_t() const
        {
          refuse_recording("work in several streams");
          return stream;
        }

      private:
        cudaStream_t stream = nullptr;
      };

      class Event
      {
      public:
        Event()
        {
          check(cudaEventCreate(&event), "the creation of an event");
        }
        Event(const Event &) = delete;
        ~Event()
        {
          cudaEventDestroy(event);
        }
        void
        record(const cudaStream_t stream)
        {
          check(cudaEventRecord(event, stream), "the recording of an event");
        }
        void
        wait() const
        {
          check(cudaEventSynchronize(event), "the assembly on the device");
        }
        /// Seconds since @p start. Waits for both events, because they may be
        /// in streams that do not wait for each other.
        double
        since(const Event &start) const
        {
          start.wait();
          wait();
          float milliseconds = 0.f;
          check(cudaEventElapsedTime(&milliseconds, start.event, event),
                "the timing of kernels");
          return 1e-3 * milliseconds;
        }
        operator cudaEvent_t() const
        {
          return event;
        }

      private:
        cudaEvent_t event = nullptr;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "../device/memory.h"
#include "halo.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr unsigned int n_threads = 128;

        template <typename Number>
        __global__ void
        __launch_bounds__(n_threads)
          pack_kernel(const std::size_t n,
                      const unsigned int *__restrict__ entries,
                      const Number *__restrict__ x,
                      Number *__restrict__ to)
        {
          const std::size_t i =
            std::size_t(blockIdx.x) * n_threads + threadIdx.x;
          if (i < n)
            to[i] = x[entries[i]];
        }
      } // namespace



      template <typename Number>
      struct Halo<Number>::Implementation
      {
        Array<unsigned int> entries;
        Array<Number>       ghosts;
        Array<Number, true> send, receive;
        Stream              stream;
        Event               packed, arrived;

        // Copies received entries. A copy in the default stream would wait for
        // kernels that do not need it; this one waits for all that was started
        // before pack(), which may still use the memory of the ghosts.
        void
        copy_received(const std::size_t begin,
                      const std::size_t end,
                      Number           *to)
        {
          if (begin == end)
            return;
          check(cudaStreamWaitEvent(stream, packed, 0),
                "an exchange with other processes");
          check(cudaMemcpyAsync(to,
                                receive.data() + begin,
                                (end - begin) * sizeof(Number),
                                cudaMemcpyHostToDevice,
                                stream),
                "an exchange with other processes");
          arrived.record(stream);
          check(cudaStreamWaitEvent(nullptr, arrived, 0),
                "an exchange with other processes");
        }
      };



      template <typename Number>
      Halo<Number>::Halo(const std::vector<unsigned int> &entries,
                         const std::size_t                n_ghosts)
        : implementation(std::make_shared<Implementation>())
      {
        implementation->entries = Array<unsigned int>(entries);
        implementation->ghosts.resize(n_ghosts);
        implementation->send.resize(entries.size());
        implementation->receive.resize(n_ghosts);
      }



      template <typename Number>
      void
      Halo<Number>::pack(const Number *x)
      {
        // The kernel writes directly to host memory, so that each entry crosses
        // the bus once.
        pack_to(0,
                implementation->entries.size(),
                x,
                implementation->send.data());
        implementation->packed.record(nullptr);
      }



      template <typename Number>
      void
      Halo<Number>::pack_to(const std::size_t begin,
                            const std::size_t end,
                            const Number     *x,
                            Number           *to)
      {
        refuse_recording("an exchange with other processes");
        if (begin == end)
          return;
        const std::size_t n = end - begin;
        pack_kernel<<<
          static_cast<unsigned int>((n + n_threads - 1) / n_threads),
          n_threads,
          0,
          current_stream()>>>(n, implementation->entries.data() + begin, x, to);
        check(cudaGetLastError(), "an exchange with other processes");
      }



      template <typename Number>
      void
      Halo<Number>::wait_for_packed()
      {
        implementation->packed.wait();
      }



      template <typename Number>
      Number *
      Halo<Number>::send_buffer() const
      {
        return implementation->send.data();
      }



      template <typename Number>
      Number *
      Halo<Number>::receive_buffer() const
      {
        return implementation->receive.data();
      }



      template <typename Number>
      const Number *
      Halo<Number>::upload()
      {
        Implementation &data = *implementation;
        data.copy_received(0, data.ghosts.size(), data.ghosts.data());
        return data.ghosts.data();
      }



      template <typename Number>
      void
      Halo<Number>::upload(const std::size_t begin,
                           const std::size_t end,
                           Number           *to)
      {
        implementation->copy_received(begin, end, to + begin);
      }



      template <typename Number>
      void
      Halo<Number>::release_buffers()
      {
        implementation->ghosts.release();
        implementation->send.release();
        implementation->receive.release();
      }



      template <typename Number>
      std::size_t
      Halo<Number>::memory_consumption() const
      {
        return implementation->entries.size() * sizeof(unsigned int) +
               implementation->ghosts.size() * sizeof(Number);
      }



      template class Halo<double>;
      template class Halo<float>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

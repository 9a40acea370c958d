// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "memory.h"
#include "peer_memory.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        static_assert(sizeof(cudaIpcMemHandle_t) == 64 &&
                        sizeof(cudaIpcEventHandle_t) == 64,
                      "PeerOffer has too little room for handles.");

        constexpr std::size_t alignment = 256, chunk_size = std::size_t(32)
                                                            << 20;

        void
        check_peer(const cudaError_t code)
        {
          check(code, "memory for other processes");
        }

        // Memory of this process on one device that others may map, and the
        // event of this device. It is never destroyed, because the CUDA runtime
        // may be gone at the end of the program.
        class Pool
        {
        public:
          struct Place
          {
            unsigned int chunk;
            std::size_t  first, n_bytes;
          };

          /// The pool of the present device.
          static Pool &
          get()
          {
            static auto *const pools =
              new std::map<int, std::unique_ptr<Pool>>();
            int device = 0;
            check_peer(cudaGetDevice(&device));
            std::unique_ptr<Pool> &pool = (*pools)[device];
            if (pool == nullptr)
              pool.reset(new Pool());
            return *pool;
          }

          Place
          allocate(const std::size_t n_bytes)
          {
            const std::size_t n =
              std::max<std::size_t>((n_bytes + alignment - 1) / alignment, 1) *
              alignment;
            for (unsigned int c = 0; c < chunks.size(); ++c)
              for (auto &hole : chunks[c].holes)
                if (hole.second >= n)
                  {
                    const Place place{c, hole.first, n};
                    const auto  rest =
                      std::make_pair(hole.first + n, hole.second - n);
                    chunks[c].holes.erase(place.first);
                    if (rest.second > 0)
                      chunks[c].holes.insert(rest);
                    return place;
                  }
            add_chunk(std::max(n, chunk_size));
            return allocate(n);
          }

          void
          release(const Place &place)
          {
            auto &holes = chunks[place.chunk].holes;
            auto  hole  = holes.emplace(place.first, place.n_bytes).first;
            // Neighbouring holes become one.
            const auto next = std::next(hole);
            if (next != holes.end() &&
                hole->first + hole->second == next->first)
              {
                hole->second += next->second;
                holes.erase(next);
              }
            if (hole != holes.begin())
              {
                const auto previous = std::prev(hole);
                if (previous->first + previous->second == hole->first)
                  {
                    previous->second += hole->second;
                    holes.erase(hole);
                  }
              }
          }

          char *
          address(const Place &place) const
          {
            return chunks[place.chunk].begin + place.first;
          }

          PeerOffer
          offer(const Place &place, const std::size_t first) const
          {
            PeerOffer result;
            result.possible = !machine.empty();
            std::strncpy(result.machine,
                         machine.c_str(),
                         sizeof(result.machine) - 1);
            result.process = process;
            result.chunk   = place.chunk;
            result.first   = place.first + first;
            std::memcpy(result.memory, &chunks[place.chunk].handle, 64);
            std::memcpy(result.event, &event_handle, 64);
            return result;
          }

          void
          record() const
          {
            check_peer(cudaEventRecord(event, current_stream()));
          }

          const std::string &
          this_machine() const
          {
            return machine;
          }

        private:
          struct Chunk
          {
            char              *begin;
            cudaIpcMemHandle_t handle;
            /// First byte and size of the holes.
            std::map<std::size_t, std::size_t> holes;
          };

          Pool()
          {
            std::ifstream("/proc/sys/kernel/random/boot_id") >> machine;
            std::random_device random;
            process = (std::uint64_t(random()) << 32) | random();
            check_peer(cudaEventCreateWithFlags(&event,
                                                cudaEventDisableTiming |
                                                  cudaEventInterprocess));
            check_peer(cudaIpcGetEventHandle(&event_handle, event));
          }

          void
          add_chunk(const std::size_t n_bytes)
          {
            refuse_recording("an allocation of memory");
            Chunk chunk;
            void *begin = nullptr;
            check_peer(cudaMalloc(&begin, n_bytes));
            const cudaError_t code = cudaIpcGetMemHandle(&chunk.handle, begin);
            if (code != cudaSuccess)
              cudaFree(begin);
            check_peer(code);
            chunk.begin = static_cast<char *>(begin);
            chunk.holes.emplace(0, n_bytes);
            chunks.push_back(std::move(chunk));
          }

          std::string          machine;
          std::uint64_t        process = 0;
          cudaEvent_t          event   = nullptr;
          cudaIpcEventHandle_t event_handle;
          std::vector<Chunk>   chunks;
        };

        // Chunks and events of other processes.
        struct Opened
        {
          std::map<std::pair<std::uint64_t, unsigned int>, char *> chunks;
          std::map<std::uint64_t, cudaEvent_t>                     events;

          static Opened &
          get()
          {
            static Opened *const opened = new Opened();
            return *opened;
          }
        };
      } // namespace



      struct PeerPiece::Implementation
      {
        explicit Implementation(const std::size_t n_bytes)
          : pool(Pool::get())
          , place(pool.allocate(n_bytes))
        {
          // Kernels of an earlier owner of the memory may still read it.
          check_peer(cudaStreamSynchronize(nullptr));
        }
        ~Implementation()
        {
          pool.release(place);
        }
        Pool             &pool;
        const Pool::Place place;
      };



      PeerPiece::PeerPiece(const std::size_t n_bytes)
        : implementation(std::make_shared<Implementation>(n_bytes))
      {}



      char *
      PeerPiece::data() const
      {
        return implementation->pool.address(implementation->place);
      }



      PeerOffer
      PeerPiece::offer(const std::size_t first) const
      {
        return implementation->pool.offer(implementation->place, first);
      }



      void
      record_for_peers()
      {
        refuse_recording("an exchange with other processes");
        Pool::get().record();
      }



      Peer::Peer(const PeerOffer &offer)
      {
        if (!offer.possible || Pool::get().this_machine() != offer.machine)
          throw Error("The other process runs on another machine.");
        Opened &opened = Opened::get();
        char  *&chunk  = opened.chunks[{offer.process, offer.chunk}];
        if (chunk == nullptr)
          {
            cudaIpcMemHandle_t handle;
            std::memcpy(&handle, offer.memory, 64);
            void *begin = nullptr;
            check_peer(cudaIpcOpenMemHandle(&begin,
                                            handle,
                                            cudaIpcMemLazyEnablePeerAccess));
            chunk = static_cast<char *>(begin);
          }
        cudaEvent_t &its_event = opened.events[offer.process];
        if (its_event == nullptr)
          {
            cudaIpcEventHandle_t handle;
            std::memcpy(&handle, offer.event, 64);
            check_peer(cudaIpcOpenEventHandle(&its_event, handle));
          }
        memory = chunk + offer.first;
        event  = its_event;
      }



      void
      Peer::wait() const
      {
        check_peer(cudaStreamWaitEvent(current_stream(),
                                       static_cast<cudaEvent_t>(event),
                                       0));
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

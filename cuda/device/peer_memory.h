// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_peer_memory_h
#define tessella_cuda_device_peer_memory_h

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Plain data that a process sends to another one on the same machine, so
      /// that kernels of the other process can write to its device memory.
      struct PeerOffer
      {
        /// False if this process has no memory to offer.
        bool possible = false;
        /// Identifies the running kernel of the machine's operating system.
        char machine[64] = {};
        /// Random number that identifies the process and its device.
        std::uint64_t process = 0;
        /// Part of the process' memory that can be mapped as a whole, and the
        /// first byte of the offered piece in it.
        unsigned int  chunk = 0;
        std::uint64_t first = 0;
        /// Handles of the chunk and of the event of the process.
        char memory[64] = {}, event[64] = {};
      };

      /**
       * Piece of device memory that other processes on the same machine may
       * map. It is part of a chunk of at least 32 MiB, which is allocated with
       * the first piece and kept until the program ends, since a process cannot
       * know when others have closed their mapping of it.
       */
      class PeerPiece
      {
      public:
        /// Throws an Error if there is not enough memory or if the device has
        /// no memory for several processes.
        explicit PeerPiece(const std::size_t n_bytes);

        char *
        data() const;

        /// Offer of the memory from byte @p first on.
        PeerOffer
        offer(const std::size_t first) const;

      private:
        struct Implementation;
        /// Shared, so that builds without CUDA need no destructor.
        std::shared_ptr<Implementation> implementation;
      };

      /// Records the event of this process in the current stream. Processes
      /// that wait for it wait for all work that this stream has got so far.
      void
      record_for_peers();

      /**
       * Memory and event of another process on the same machine. Processes and
       * chunks are mapped once and stay mapped until the program ends.
       */
      class Peer
      {
      public:
        /// Throws an Error if the other process runs on another machine, or if
        /// the device of this process has no access to the memory.
        explicit Peer(const PeerOffer &offer);

        /// Address of the offered memory for kernels of this process.
        char *
        data() const
        {
          return memory;
        }

        /// Lets the current stream wait for the last call of
        /// record_for_peers() of the other process, which must have happened.
        void
        wait() const;

      private:
        char *memory = nullptr;
        void *event  = nullptr;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

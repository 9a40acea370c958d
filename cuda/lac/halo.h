// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_halo_h
#define tessella_cuda_lac_halo_h

#include <cstddef>
#include <memory>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Device side of the exchange of ghost entries of a vector with other
       * processes: entries to send are written to pinned memory of the host,
       * received entries are copied from there. Entries for a process whose
       * device memory is mapped are written there by pack_to().
       *
       * The calls must come in the order pack(), wait_for_packed(), upload().
       * Kernels that are started in the default stream after pack() run while
       * the host waits and communicates; kernels that are started after
       * upload() see the received entries.
       */
      template <typename Number>
      class Halo
      {
      public:
        /// @p entries: indices of the entries that are sent; @p n_ghosts:
        /// number of received entries.
        Halo(const std::vector<unsigned int> &entries,
             const std::size_t                n_ghosts);

        void
        pack(const Number *x);
        /// Writes the entries of @p x from position @p begin to @p end of the
        /// list of entries to @p to, which is memory of a device.
        void
        pack_to(const std::size_t begin,
                const std::size_t end,
                const Number     *x,
                Number           *to);
        void
        wait_for_packed();
        /// Buffer in pinned memory.
        Number *
        send_buffer() const;
        Number *
        receive_buffer() const;
        /// Returns the received entries in device memory.
        const Number *
        upload();
        /// Copies the received entries from @p begin to @p end to the same
        /// positions of @p to in device memory.
        void
        upload(const std::size_t begin, const std::size_t end, Number *to);

        /// Frees the buffers of pack() and upload(), which must not be called
        /// any more.
        void
        release_buffers();

        /// Memory on the device in bytes.
        std::size_t
        memory_consumption() const;

      private:
        struct Implementation;
        /// Shared, so that builds without CUDA need no destructor.
        std::shared_ptr<Implementation> implementation;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

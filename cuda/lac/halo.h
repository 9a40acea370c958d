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
       * The device's side of an exchange of entries of a vector with other
       * processes: entries are written to pinned memory of the host, what
       * comes is copied from there.
       *
       * The calls must come in the order pack(), wait_for_packed(), upload().
       * What runs in the default stream after pack() does so while the host
       * waits and communicates; what runs there after upload() sees the
       * entries that came.
       */
      template <typename Number>
      class Halo
      {
      public:
        /// @p entries: those that are sent; @p n_ghosts: number of those that
        /// come.
        Halo(const std::vector<unsigned int> &entries,
             const std::size_t                n_ghosts);
        ~Halo();

        void
        pack(const Number *x);
        void
        wait_for_packed();
        /// Pinned memory.
        Number *
        send_buffer() const;
        Number *
        receive_buffer() const;
        void
        upload();
        /// In the device's memory.
        const Number *
        ghosts() const;

        /// Bytes on the device.
        std::size_t
        memory_consumption() const;

      private:
        struct Implementation;
        std::unique_ptr<Implementation> implementation;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

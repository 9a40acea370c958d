// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_pinned_buffer_h
#define tessella_cuda_device_pinned_buffer_h

#include <cstddef>

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Pinned host memory for copies in pieces. Its allocation takes up to
       * some milliseconds, in which other threads cannot start kernels, and so
       * does its release. The process therefore keeps up to 64 MiB of released
       * buffers for others. No copy may be under way when an object is
       * destroyed or resized.
       */
      class PinnedBuffer
      {
      public:
        PinnedBuffer()                     = default;
        PinnedBuffer(const PinnedBuffer &) = delete;
        ~PinnedBuffer();

        /// Grows the buffer to @p bytes or more if necessary, in which case its
        /// contents are lost. Errors are those of an allocation.
        void
        resize(const std::size_t bytes);

        char *
        data() const
        {
          return begin;
        }

      private:
        void
        release() noexcept;

        char       *begin = nullptr;
        std::size_t n     = 0;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

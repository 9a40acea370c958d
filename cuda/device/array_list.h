// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_array_list_h
#define tessella_cuda_device_array_list_h

#include <cstddef>
#include <cstring>
#include <vector>

// Several host arrays in one block of device memory.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Arrays in a common block of device memory begin at multiples of 256
      /// bytes, as separate allocations do.
      constexpr std::size_t
      aligned(const std::size_t bytes)
      {
        return (bytes + 255) / 256 * 256;
      }



      /**
       * Arrays of the host that are copied into one block of device memory.
       *
       * Arrays are added first, each with the pointer that shall hold its
       * device address. bytes() is then the size of the block; place() sets all
       * pointers, and parts() says what is to be copied where, in the form that
       * Workspace::Implementation::upload() takes. Pointers and host arrays
       * must not move between these calls.
       */
      class ArrayList
      {
      public:
        /// Host address, size, and ascending offset in the block.
        struct Part
        {
          const char *from;
          std::size_t bytes, offset;
        };

        /// Adds an array of @p n entries.
        template <typename T>
        void
        add(const T *&pointer, const T *from, const std::size_t n)
        {
          pointers.push_back({&pointer, size});
          if (n > 0)
            copies.push_back(
              {reinterpret_cast<const char *>(from), n * sizeof(T), size});
          size += aligned(n * sizeof(T));
        }

        template <typename T, typename Allocator>
        void
        add(const T *&pointer, const std::vector<T, Allocator> &array)
        {
          add(pointer, array.data(), array.size());
        }

        /// Adds an array of @p n entries that are not copied.
        template <typename T>
        void
        reserve(T *&pointer, const std::size_t n)
        {
          pointers.push_back({&pointer, size});
          size += aligned(n * sizeof(T));
        }

        std::size_t
        bytes() const
        {
          return size;
        }

        /// Sets all pointers for a block that begins at @p memory.
        void
        place(char *memory) const
        {
          for (const Pointer &pointer : pointers)
            {
              char *const address = memory + pointer.offset;
              std::memcpy(pointer.target, &address, sizeof(address));
            }
        }

        const std::vector<Part> &
        parts() const
        {
          return copies;
        }

      private:
        /// Address of a pointer to be set, and the offset that it gets.
        struct Pointer
        {
          void       *target;
          std::size_t offset;
        };

        std::vector<Pointer> pointers;
        std::vector<Part>    copies;
        std::size_t          size = 0;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_memory_pool_h
#define tessella_cuda_device_memory_pool_h

#include <cstddef>

// Few large pieces of device memory for many small arrays, in plain types.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Between open_pool() and close_pool(), which may be nested, arrays that
       * the calling thread allocates for block matrices, vectors and
       * preconditioners are parts of pieces of 4 to 64 MiB, since an allocation
       * by the CUDA runtime takes up to a millisecond and a release waits for
       * the device. Arrays of more than 16 MiB get memory of their own. Arrays
       * may outlive the pool; a piece is freed with the last array in it.
       *
       * A released array makes room for others if all arrays behind it in the
       * piece have been released. The device is not waited for then, so that
       * arrays of an open pool are for work in the default stream, or for other
       * streams after synchronize().
       */
      void
      open_pool();
      void
      close_pool() noexcept;

      /// Memory of @p n bytes in the pool of the calling thread; null if none
      /// is open or the array needs memory of its own.
      void *
      allocate_in_pool(const std::size_t n);

      /// Whether @p memory was in a pool; it is released then.
      bool
      release_in_pool(void *memory) noexcept;

      /// Number of pieces of all pools and of arrays in them.
      struct PoolUse
      {
        std::size_t n_pieces = 0, n_arrays = 0, n_bytes = 0;
      };
      PoolUse
      pool_use();
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

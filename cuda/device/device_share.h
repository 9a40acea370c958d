// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_device_share_h
#define tessella_cuda_device_device_share_h

#include <cstddef>
#include <string>

// Sharing of a device among several processes.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Identity of the current device: PCI bus id and uuid, which tells apart
      /// the partitions of one device. Two processes of one machine get the
      /// same text if and only if they use the same device or the same
      /// partition.
      std::string
      device_identity();

      /// Number of bytes that each of @p n processes on a device may use for
      /// assembly, if @p bytes are free or held for assembly already: an equal
      /// share minus a reserve for other memory that kernels need, an eighth of
      /// the share and at most 512 MiB.
      constexpr std::size_t
      memory_share(const std::size_t bytes, const unsigned int n)
      {
        constexpr std::size_t most = std::size_t(512) << 20;
        return bytes / n - (bytes / n / 8 < most ? bytes / n / 8 : most);
      }

      /// Sentence for an array of @p bytes, in pinned memory of the host or on
      /// the device, that cannot be had while @p free bytes of the device are
      /// free.
      std::string
      describe_allocation(const std::size_t bytes,
                          const std::size_t free,
                          const bool        pinned);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_device_share_h
#define tessella_cuda_device_device_share_h

#include <cstddef>
#include <string>

// A device that several processes use.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// The same for processes of one machine that use the same device, and
      /// another one for others: PCI bus and, of a part of a device, its uuid.
      std::string
      device_identity();

      /// What each of @p n processes on a device may take for assembly, where
      /// @p bytes are free or taken for assembly already: equal parts, less
      /// what kernels need besides, an eighth or 512 MB.
      constexpr std::size_t
      memory_share(const std::size_t bytes, const unsigned int n)
      {
        constexpr std::size_t most = std::size_t(512) << 20;
        return bytes / n - (bytes / n / 8 < most ? bytes / n / 8 : most);
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

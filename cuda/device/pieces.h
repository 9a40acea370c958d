// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_pieces_h
#define tessella_cuda_device_pieces_h

#include <algorithm>
#include <cstddef>

// What is copied at once.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Size of the next piece where @p rest > 0 bytes are left: @p most, and
      /// towards the end less, down to an eighth, so that @p n_workers come to
      /// an end at the same time. Multiples of 256 but for the last one, if
      /// @p most is one of 2048.
      inline std::size_t
      piece_size(const std::size_t  rest,
                 const std::size_t  most,
                 const unsigned int n_workers)
      {
        const std::size_t share = (rest / n_workers + 255) / 256 * 256;
        return std::min(rest, std::min(most, std::max(most / 8, share)));
      }

    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

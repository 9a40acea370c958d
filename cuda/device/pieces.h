// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_pieces_h
#define tessella_cuda_device_pieces_h

#include <algorithm>
#include <cstddef>

// Sizes of the pieces in which an array is copied.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Size of the next piece if @p rest > 0 bytes are left: @p most bytes,
      /// and smaller pieces towards the end, down to an eighth of @p most, so
      /// that @p n_workers workers finish at the same time. All pieces except
      /// for the last one have a multiple of 256 bytes if @p most is a multiple
      /// of 2048.
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

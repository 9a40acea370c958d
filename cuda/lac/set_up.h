// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_set_up_h
#define tessella_cuda_lac_set_up_h

#include <tessella/portable/host_device.h>

#include <cstddef>
#include <cstdint>

// Arrays for the set-up of preconditioners that follow from few data, so that
// they are computed in device memory instead of being copied there.

namespace Tessella
{
  namespace internal
  {
    /// Pseudo-random number in (-1/2, 1/2) for an index (the output function of
    /// SplitMix64; G. L. Steele, D. Lea and C. H. Flood, OOPSLA 2014).
    TESSELLA_HOST_DEVICE inline double
    pseudo_random_number(const std::uint64_t index)
    {
      std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15ull;
      z               = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
      z               = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
      z ^= z >> 31;
      return static_cast<double>(z >> 11) * (1. / 9007199254740992.) - 0.5;
    }

    namespace Device
    {
      // All pointers are to device memory; operations are in the present
      // stream.

      /// y_i = pseudo_random_number(first + i) for i < n.
      template <typename Number>
      void
      set_pseudo_random(const std::size_t   n,
                        const std::uint64_t first,
                        Number             *y);

      /// y_i = i for i < n.
      template <typename Index>
      void
      set_indices(const std::size_t n, Index *y);

      /// row_i = k for offset_k <= i < offset_{k+1} and k < n.
      void
      set_rows_of_blocks(const unsigned int   n,
                         const std::uint64_t *offset,
                         unsigned int        *row);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

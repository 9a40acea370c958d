// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_base_parallel_h
#define tessella_source_base_parallel_h

#include <cstddef>
#include <functional>

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Calls function(begin, end) for sub-ranges of [0, n) of about the given
      /// size, with all of the host's threads: parallel(n, size, function).
      using Parallel = std::function<
        void(std::size_t,
             std::size_t,
             const std::function<void(std::size_t, std::size_t)> &)>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

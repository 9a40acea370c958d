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
      /// Function object parallel(n, size, function), which calls
      /// function(begin, end) for sub-ranges of [0, n) of about the given size
      /// on all threads of the host.
      using Parallel = std::function<
        void(std::size_t,
             std::size_t,
             const std::function<void(std::size_t, std::size_t)> &)>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

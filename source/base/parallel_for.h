// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_base_parallel_for_h
#define tessella_source_base_parallel_for_h

#include <deal.II/base/parallel.h>

namespace Tessella
{
  namespace internal
  {
    /// Calls work(i) for i = 0 .. n-1. The threads share the loop in pieces of
    /// at least @p grain indices.
    template <typename Index, typename Work>
    void
    parallel_for(const Index n, const unsigned int grain, const Work &work)
    {
      if (n > 0)
        dealii::parallel::apply_to_subranges(
          Index(0),
          n,
          [&](const Index begin, const Index end) {
            for (Index i = begin; i < end; ++i)
              work(i);
          },
          grain);
    }
  } // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_numerics_collective_ranges_h
#define tessella_source_numerics_collective_ranges_h

#include <deal.II/base/parallel.h>

#include <tessella/base/on_all_processes.h>

namespace Tessella
{
  namespace internal
  {
    /// Calls work(begin, end) on threads for sub-ranges of 0 .. n-1, none of
    /// them smaller than @p grain. An exception on one process, for example
    /// from a function that is not finite, is thrown on all processes.
    /// Collective.
    template <typename Number, typename Work>
    void
    apply_to_ranges(const MPI_Comm     communicator,
                    const Number       n,
                    const Work        &work,
                    const unsigned int grain)
    {
      on_all_processes(communicator, [&]() {
        dealii::parallel::apply_to_subranges(Number(0), n, work, grain);
      });
    }
  } // namespace internal
} // namespace Tessella

#endif

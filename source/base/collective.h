// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_source_base_collective_h
#define tessella_source_base_collective_h

#include <deal.II/base/mpi.h>

#include <functional>

namespace Tessella
{
  namespace internal
  {
    /// Number of processes and number of this one; 1 and 0 in a program that
    /// has not initialised MPI.
    unsigned int
    n_processes(const MPI_Comm communicator);
    unsigned int
    this_process(const MPI_Comm communicator);

    /// Sum over all processes, in the order of their numbers: the same bits on
    /// every process and in every run. Collective.
    double
    ordered_sum(const MPI_Comm communicator, const double value);

    /**
     * Runs @p work, which must not communicate, on every process; where it
     * throws on some, every process throws: those their own exception, the
     * others one that repeats the message of the lowest of these. Without it
     * the others would wait for ever in their next communication. Collective;
     * cost: one reduction of a number.
     */
    void
    on_all_processes(const MPI_Comm               communicator,
                     const std::function<void()> &work);
  } // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_base_collective_h
#define tessella_source_base_collective_h

#include <deal.II/base/mpi.h>

#include <tessella/base/on_all_processes.h>

namespace Tessella
{
  namespace internal
  {
    /// Number of processes in @p communicator and rank of this process in it; 1
    /// and 0 in a program that has not initialised MPI.
    unsigned int
    n_processes(const MPI_Comm communicator);
    unsigned int
    this_process(const MPI_Comm communicator);

    /// Sum over all processes, in the order of their ranks: the same to the
    /// last bit on every process and in every run. Collective.
    double
    ordered_sum(const MPI_Comm communicator, const double value);
  } // namespace internal
} // namespace Tessella

#endif

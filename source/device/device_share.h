// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_device_device_share_h
#define tessella_source_device_device_share_h

#include <deal.II/base/mpi.h>

#include <cstddef>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /// Number of processes of @p communicator on this machine. Collective.
    unsigned int
    n_processes_on_machine(const MPI_Comm communicator);

    /// Ranks in @p communicator of all processes that use the same CUDA device
    /// as this process, including its own rank; empty without a device.
    /// Collective.
    std::vector<unsigned int>
    processes_on_device(const MPI_Comm communicator);

    /**
     * Number of bytes that assembly by this process may use on its device,
     * which it shares with @p processes. Each process gets an equal part of the
     * sum of the free memory and of the memory that the processes hold for
     * assembly; this process holds @p held bytes. Collective: no process
     * allocates memory meanwhile. An error of one device is thrown on all
     * processes.
     */
    std::size_t
    share_of_device_memory(const MPI_Comm                   communicator,
                           const std::vector<unsigned int> &processes,
                           const std::size_t                held);
  } // namespace internal
} // namespace Tessella

#endif

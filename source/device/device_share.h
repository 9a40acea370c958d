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
    /// Processes of @p communicator on this machine. Collective.
    unsigned int
    n_processes_on_machine(const MPI_Comm communicator);

    /// Ranks in @p communicator of the processes that use the CUDA device that
    /// this one uses, its own included; empty without a device. Collective.
    std::vector<unsigned int>
    processes_on_device(const MPI_Comm communicator);

    /**
     * Bytes that assembly by this process may take on its device, which it
     * shares with @p processes: equal parts of what is free and what they have
     * taken for assembly (@p held by this one). Collective: nobody takes memory
     * meanwhile. An error of one device is thrown on all processes.
     */
    std::size_t
    share_of_device_memory(const MPI_Comm                   communicator,
                           const std::vector<unsigned int> &processes,
                           const std::size_t                held);
  } // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_device_device_memory_h
#define tessella_device_device_memory_h

#include <deal.II/base/mpi.h>

#include <cstddef>
#include <string>

namespace Tessella
{
  /**
   * Throws, on all processes of @p communicator, if a computation that needs at
   * least @p bytes of the memory of the CUDA device of this process cannot have
   * them on one of the processes. At most @p limit bytes may be used; 0: the
   * free memory of the device less a reserve, in equal parts for the processes
   * that share it. Without a device and a limit nothing is refused. The message
   * begins with @p what, has the bytes needed and available on the process that
   * lacks most, and ends with @p remedy. Collective; @p bytes and @p limit may
   * differ between processes.
   */
  void
  check_device_memory(const MPI_Comm     communicator,
                      const double       bytes,
                      const std::size_t  limit,
                      const std::string &what,
                      const std::string &remedy);
} // namespace Tessella

#endif

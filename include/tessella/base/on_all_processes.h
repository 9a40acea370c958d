// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_on_all_processes_h
#define tessella_base_on_all_processes_h

#include <deal.II/base/mpi.h>

#include <functional>

namespace Tessella
{
  /**
   * Runs @p work, which must not communicate, on every process. If it throws on
   * at least one process, every process throws: the failed processes their own
   * exception, all others an ExcUserInput with the message of the failed
   * process of lowest rank. Without this function, the other processes would
   * wait for ever in their next communication:
   *
   *     on_all_processes(communicator, [&]() { grid_in.read(file_name); });
   *
   * Collective; cost: one reduction of a number. In a program that has not
   * initialised MPI, the function only calls @p work.
   */
  void
  on_all_processes(const MPI_Comm               communicator,
                   const std::function<void()> &work);
} // namespace Tessella

#endif

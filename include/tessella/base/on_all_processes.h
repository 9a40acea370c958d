// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_on_all_processes_h
#define tessella_base_on_all_processes_h

#include <deal.II/base/mpi.h>

#include <functional>

namespace Tessella
{
  /**
   * Runs @p work, which must not communicate, on every process; where it
   * throws on some, every process throws: those their own exception, the
   * others an ExcUserInput that repeats the message of the lowest of these.
   * Without it the others would wait for ever in their next communication:
   *
   *     on_all_processes(communicator, [&]() { grid_in.read(file_name); });
   *
   * Collective; cost: one reduction of a number. In a program that has not
   * initialised MPI: calls @p work.
   */
  void
  on_all_processes(const MPI_Comm               communicator,
                   const std::function<void()> &work);
} // namespace Tessella

#endif

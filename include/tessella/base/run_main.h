// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_run_main_h
#define tessella_base_run_main_h

#include <deal.II/base/mpi.h>

#include <functional>
#include <string>

namespace Tessella
{
  /**
   * Body of main(): initialises MPI and threads, as
   * dealii::Utilities::MPI::MPI_InitFinalize does with all threads, runs
   * @p work and returns the exit status of the program.
   *
   *     int main(int argc, char **argv)
   *     {
   *       return Tessella::run_main(argc, argv, [&]() { ... });
   *     }
   *
   * The status is 0 if @p work has returned on all processes. If it has thrown
   * on at least one process, the status is 1 on all, and the first process that
   * has thrown prints its message in one line on the error stream, after the
   * name of the program. See any_failed() for processes that wait for a failed
   * one. All objects that need MPI must be destroyed when @p work ends.
   */
  int
  run_main(int argc, char **argv, const std::function<void()> &work);

  /**
   * Whether any process has failed. A process reports its failure by a
   * @p message that is not empty; the first failed process writes @p name and
   * its message to the error stream. Collective, to be called at the end of a
   * program before MPI is finalised. @p communicator should have no other use,
   * since failed processes may have left messages in it.
   *
   * A process that waits for a message of a failed one never calls this
   * function. The failed process therefore writes its message after 20 seconds
   * and ends all processes.
   */
  bool
  any_failed(const MPI_Comm     communicator,
             const std::string &name,
             const std::string &message);
} // namespace Tessella

#endif

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
   * on one of them the status is 1 on all, and the first process that has
   * thrown says why in one line on the error stream, behind the name of the
   * program; see any_failed() for processes that wait for one that has thrown.
   * All objects that need MPI must be destroyed when @p work ends.
   */
  int
  run_main(int argc, char **argv, const std::function<void()> &work);

  /**
   * Whether a process has failed, which one that has says by a @p message that
   * is not empty; the first one that has writes @p name and its message to the
   * error stream. Collective, to be called at the end of a program while MPI is
   * still there; @p communicator should not be used otherwise, since processes
   * that have failed may have left messages of theirs.
   *
   * Processes that wait for messages of one that has failed never call this
   * function. The one that has failed therefore writes its message after 20
   * seconds and ends all of them.
   */
  bool
  any_failed(const MPI_Comm     communicator,
             const std::string &name,
             const std::string &message);
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_write_file_h
#define tessella_numerics_write_file_h

#include <deal.II/base/mpi.h>

#include <functional>
#include <iosfwd>
#include <string>

namespace Tessella
{
  /**
   * Writes a file either completely or not at all: @p write fills a temporary
   * file in the same folder, which replaces @p file_name when all data have
   * reached it. If there is an error, in @p write or on the disk, the temporary
   * file is removed, an existing file of that name stays as it is, and the
   * exception is passed to the caller. If the file system has failed, this is
   * an ExcUserInput with the file and the reason, also if @p write throws
   * because of the failure. The folder must exist.
   *
   * On file systems that support O_TMPFILE, the temporary file has no name
   * until it is complete, and nothing remains of it however the program ends.
   * On others it is called "file_name.partPID", and a program that a signal
   * ends should call remove_temporary_files().
   *
   * If @p file_name exists and is neither a file nor a folder, but a device or
   * a pipe, it is written directly.
   */
  void
  write_file(const std::string                         &file_name,
             const std::function<void(std::ostream &)> &write);

  /**
   * The same for one file of several processes. The file contains the @p text
   * of all processes, in the order of their ranks. They write at the same time
   * and must see the same folder. An error on one of them is thrown on all.
   * Collective.
   *
   * The temporary file has a name from the beginning.
   */
  void
  write_file_in_parallel(const MPI_Comm     communicator,
                         const std::string &file_name,
                         const std::string &text);

  /**
   * Removes the temporary files of this process; afterwards no thread can
   * create new ones. The function is meant for a program that is about to be
   * ended by a signal: a thread that waits for signals (sigwait()) may call it,
   * a signal handler must not.
   */
  void
  remove_temporary_files();
} // namespace Tessella

#endif

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
   * Writes a file so that it is there either completely or not at all: @p write
   * fills a temporary file in the same folder, which takes the place of
   * @p file_name when everything has reached it. If anything goes wrong, in
   * @p write or on the disk, the temporary file is removed, an earlier file of
   * that name stays as it was, and the exception goes on to the caller;
   * ExcUserInput names the file and the reason where it was the file
   * system that failed, also if @p write throws because of that. The folder
   * must exist.
   *
   * On file systems that can do so (O_TMPFILE), the temporary file has no name
   * until it is complete, and nothing remains of it however the program ends.
   * On others it is called "file_name.partPID", and a program that a signal
   * ends should call remove_temporary_files().
   *
   * A @p file_name that is neither a file nor a folder, a device or a pipe, is
   * written directly.
   */
  void
  write_file(const std::string                         &file_name,
             const std::function<void(std::ostream &)> &write);

  /**
   * The same for one file of several processes: the @p text of all, in the
   * order of the processes, which write at the same time and must see the same
   * folder. An error on one of them is thrown on all. Collective.
   *
   * The temporary file has a name from the beginning on.
   */
  void
  write_file_in_parallel(const MPI_Comm     communicator,
                         const std::string &file_name,
                         const std::string &text);

  /**
   * Removes the temporary files of this process for good: no thread can make
   * new ones afterwards. For a program that is about to be ended by a signal; a
   * thread that waits for signals (sigwait()) may call it, a signal handler
   * must not.
   */
  void
  remove_temporary_files();
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_write_file_h
#define tessella_numerics_write_file_h

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
   * system that failed. The folder must exist.
   */
  void
  write_file(const std::string                         &file_name,
             const std::function<void(std::ostream &)> &write);
} // namespace Tessella

#endif

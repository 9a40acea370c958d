// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_numerics_new_file_h
#define tessella_source_numerics_new_file_h

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /**
     * File that is written first and published later, so that several files can
     * appear together: all files are written, and they are published only if
     * all writes succeeded. A file that has not been published disappears with
     * this object.
     *
     * If the file system supports files without a name (O_TMPFILE), the file
     * has no name until write() is complete, so that not even SIGKILL leaves
     * anything behind. Otherwise, and after write(), its name is
     * "file_name.partPID", which remove_temporary_files() removes.
     *
     * Devices and pipes are written directly. All functions throw ExcUserInput.
     */
    class NewFile
    {
    public:
      /// If @p shared is true, other processes write into the file as well. The
      /// temporary file then has a name from the beginning, and this object
      /// does not write.
      explicit NewFile(const std::string &file_name, const bool shared = false);
      ~NewFile();
      NewFile(const NewFile &) = delete;
      NewFile &
      operator=(const NewFile &) = delete;

      /// Throws if the file system has no space for a file of this size, as far
      /// as it can tell without writing. To be called before write().
      void
      reserve(const std::size_t size);

      /// Fills the file. To be called once.
      void
      write(const std::function<void(std::ostream &)> &write);

      /// Name of the temporary file of all processes.
      const std::string &
      temporary_name() const;

      /// Throws if the shared file does not have this size.
      void
      check_size(const std::size_t size) const;

      /// Publishes the file, which replaces an existing file of the same name.
      void
      publish();

    private:
      void
      open_named();
      void
      give_name();
      void
      close();

      const std::string file_name, part_name;
      /// direct: the file itself is written; named: the temporary file has the
      /// name part_name.
      bool direct = false, named = false;
      int  fd = -1;
    };

    /**
     * Removes files that others, for example deal.II, have written and that are
     * useless unless everything succeeds. They are removed at the end of the
     * life of this object, or when a signal ends the program, unless keep() was
     * called before.
     */
    class UnfinishedFiles
    {
    public:
      explicit UnfinishedFiles(const std::vector<std::string> &names);
      ~UnfinishedFiles();
      UnfinishedFiles(const UnfinishedFiles &) = delete;
      UnfinishedFiles &
      operator=(const UnfinishedFiles &) = delete;

      void
      keep();

    private:
      std::vector<std::string> names;
    };

    /// Writes @p text at @p offset of the shared @p temporary_name, which is to
    /// become @p file_name.
    void
    write_part(const std::string &temporary_name,
               const std::string &file_name,
               const std::string &text,
               const std::size_t  offset);
  } // namespace internal
} // namespace Tessella

#endif

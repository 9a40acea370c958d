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
     * A file that is first written and then put in its place, so that several
     * files can appear together: all are written, and only if all succeeded
     * are they published. What is not published disappears with this object.
     *
     * If the file system supports files without a name (O_TMPFILE), the file
     * has none until write() is complete, so that not even SIGKILL leaves
     * anything behind. Otherwise, and after write(), it is called
     * "file_name.partPID", which remove_temporary_files() removes.
     *
     * Devices and pipes are written directly. All functions throw ExcUserInput.
     */
    class NewFile
    {
    public:
      /// @p shared: other processes write into it, too, so that the temporary
      /// file has a name from the beginning, and this object does not write.
      explicit NewFile(const std::string &file_name, const bool shared = false);
      ~NewFile();
      NewFile(const NewFile &) = delete;
      NewFile &
      operator=(const NewFile &) = delete;

      /// Throws if the file system has no space for a file of this size, as far
      /// as it can tell without writing. Before write().
      void
      reserve(const std::size_t size);

      /// Fills the file; once.
      void
      write(const std::function<void(std::ostream &)> &write);

      /// Name of the temporary file of all processes.
      const std::string &
      temporary_name() const;

      /// Throws if the shared file does not have this size.
      void
      check_size(const std::size_t size) const;

      /// Replaces what has the name of the file at present.
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
      /// Direct: the file itself; named: there is a temporary file of that
      /// name.
      bool direct = false, named = false;
      int  fd = -1;
    };

    /**
     * Removes files that others write, deal.II for instance, and that are of
     * no use unless everything succeeds: at the end of its life, or when a
     * signal ends the program, unless keep() comes first.
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

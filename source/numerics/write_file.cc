// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/base/exceptions.h>
#include <tessella/base/on_all_processes.h>
#include <tessella/numerics/write_file.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <ostream>
#include <set>
#include <streambuf>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "../base/collective.h"
#include "new_file.h"

namespace Tessella
{
  namespace
  {
    /// Names of temporary files. The object is never destroyed, because a
    /// signal may arrive while the program is already ending.
    struct TemporaryFiles
    {
      std::timed_mutex      mutex;
      std::set<std::string> names;

      static TemporaryFiles &
      instance()
      {
        static auto *const files = new TemporaryFiles;
        return *files;
      }
    };

    /// Creates a temporary file by @p make, which returns whether the file
    /// exists.
    template <typename Function>
    bool
    make_temporary(const std::string &name, const Function &make)
    {
      TemporaryFiles &files = TemporaryFiles::instance();
      const std::lock_guard<std::timed_mutex> lock(files.mutex);
      if (!make())
        return false;
      files.names.insert(name);
      return true;
    }

    void
    forget_temporary(const std::string &name)
    {
      TemporaryFiles &files = TemporaryFiles::instance();
      const std::lock_guard<std::timed_mutex> lock(files.mutex);
      files.names.erase(name);
    }

    std::string
    advice(const int error, const std::string &otherwise)
    {
      switch (error)
        {
          case ENOSPC:
          case EDQUOT:
            return "free some space or write to another folder.";
          case EFBIG:
            return "raise the limit of the size of files, which 'ulimit -f' "
                   "shows, or write less.";
          default:
            return otherwise;
        }
    }

    /// Throws with @p text, the meaning of @p error, and what to do about it.
    [[noreturn]] void
    throw_error(const std::string &text,
                const int          error,
                const std::string &otherwise)
    {
      throw ExcUserInput(
        text +
        (error != 0 ? " (" + std::generic_category().message(error) + ")"
                    : "") +
        "; " + advice(error, otherwise));
    }

    [[noreturn]] void
    throw_not_opened(const std::string &file_name, const int error)
    {
      throw_error("The file \"" + file_name + "\" cannot be written",
                  error,
                  "check that its folder exists and that you may write there.");
    }

    [[noreturn]] void
    throw_not_written(const std::string &file_name, const int error)
    {
      throw_error("Writing the file \"" + file_name +
                    "\" failed before its end",
                  error,
                  "check the disk.");
    }

    /// Writes all bytes; returns 0 or the error number.
    int
    write_all(const int fd, const char *data, std::size_t size)
    {
      while (size > 0)
        {
          const ::ssize_t n = ::write(fd, data, size);
          if (n < 0 && errno == EINTR)
            continue;
          if (n <= 0)
            return n < 0 ? errno : EIO;
          data += n;
          size -= n;
        }
      return 0;
    }

    /// Writes to a file and keeps the first error number, which std::ofstream
    /// does not report.
    class FileBuffer : public std::streambuf
    {
    public:
      explicit FileBuffer(const int fd)
        : fd(fd)
      {
        setp(buffer.data(), buffer.data() + buffer.size());
      }

      int error = 0;

    protected:
      int
      sync() override
      {
        const std::size_t n = pptr() - pbase();
        if (error == 0)
          error = write_all(fd, pbase(), n);
        written += n;
        setp(buffer.data(), buffer.data() + buffer.size());
        return error == 0 ? 0 : -1;
      }

      int_type
      overflow(const int_type c) override
      {
        if (sync() != 0)
          return traits_type::eof();
        if (!traits_type::eq_int_type(c, traits_type::eof()))
          sputc(traits_type::to_char_type(c));
        return traits_type::not_eof(c);
      }

      std::streamsize
      xsputn(const char *data, const std::streamsize n) override
      {
        if (n < static_cast<std::streamsize>(buffer.size()))
          return std::streambuf::xsputn(data, n);
        if (sync() != 0)
          return 0;
        error = write_all(fd, data, n);
        written += n;
        return error == 0 ? n : 0;
      }

      /// Returns the position, which cannot be changed.
      pos_type
      seekoff(const off_type               offset,
              const std::ios_base::seekdir from,
              const std::ios_base::openmode) override
      {
        if (offset != 0 || from != std::ios_base::cur)
          return pos_type(off_type(-1));
        return pos_type(written + off_type(pptr() - pbase()));
      }

    private:
      const int                   fd;
      off_type                    written = 0;
      std::array<char, (1 << 16)> buffer;
    };
  } // namespace



  namespace internal
  {
    NewFile::NewFile(const std::string &file_name, const bool shared)
      : file_name(file_name)
      , part_name(file_name + ".part" + std::to_string(::getpid()))
    {
      struct ::stat present;
      direct = ::stat(file_name.c_str(), &present) == 0 &&
               !S_ISREG(present.st_mode) && !S_ISDIR(present.st_mode);
      if (direct)
        {
          fd = ::open(file_name.c_str(), O_WRONLY | O_CLOEXEC);
          if (fd < 0)
            throw_not_opened(file_name, errno);
          return;
        }
#ifdef O_TMPFILE
      if (!shared)
        {
          const std::size_t slash = file_name.rfind('/');
          const std::string folder =
            slash == std::string::npos ? "." : file_name.substr(0, slash + 1);
          fd = ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
          // The file gets its name through /proc.
          if (fd >= 0 &&
              ::access(("/proc/self/fd/" + std::to_string(fd)).c_str(), F_OK) !=
                0)
            close();
        }
#endif
      if (fd < 0)
        open_named();
    }



    NewFile::~NewFile()
    {
      if (fd >= 0)
        ::close(fd);
      if (named)
        {
          std::remove(part_name.c_str());
          forget_temporary(part_name);
        }
    }



    void
    NewFile::open_named()
    {
      int error = 0;
      named     = make_temporary(part_name, [&]() {
        fd    = ::open(part_name.c_str(),
                    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                    0666);
        error = errno;
        return fd >= 0;
      });
      if (!named)
        throw_not_opened(file_name, error);
    }



    void
    NewFile::write(const std::function<void(std::ostream &)> &write)
    {
      FileBuffer   buffer(fd);
      std::ostream out(&buffer);
      try
        {
          write(out);
        }
      catch (...)
        {
          // The error of the file system is the cause of the exception.
          if (buffer.error != 0)
            throw_not_written(file_name, buffer.error);
          throw;
        }
      out.flush();
      if (!out)
        throw_not_written(file_name, buffer.error);
      if (!direct && !named)
        give_name();
      close();
    }



    void
    NewFile::give_name()
    {
      const std::string present = "/proc/self/fd/" + std::to_string(fd);
      int               error   = 0;
      named                     = make_temporary(part_name, [&]() {
        // Left by an earlier process with the same process id.
        std::remove(part_name.c_str());
        const int status = ::linkat(AT_FDCWD,
                                    present.c_str(),
                                    AT_FDCWD,
                                    part_name.c_str(),
                                    AT_SYMLINK_FOLLOW);
        error            = errno;
        return status == 0;
      });
      if (!named)
        throw_not_written(file_name, error);
    }



    void
    NewFile::close()
    {
      const int status = ::close(fd);
      const int error  = errno;
      fd               = -1;
      // After EINTR the file is closed nevertheless.
      if (status != 0 && error != EINTR)
        throw_not_written(file_name, error);
    }



    const std::string &
    NewFile::temporary_name() const
    {
      return direct ? file_name : part_name;
    }



    void
    NewFile::check_size(const std::size_t size) const
    {
      struct ::stat present;
      if (!direct && (::stat(part_name.c_str(), &present) != 0 ||
                      static_cast<std::size_t>(present.st_size) != size))
        throw_not_written(file_name, 0);
    }



    void
    NewFile::reserve(const std::size_t size)
    {
#ifdef __linux__
      // posix_fallocate() would write on file systems that cannot allocate
      // space.
      if (!direct && size > 0 &&
          ::fallocate(fd, 0, 0, static_cast<::off_t>(size)) != 0 &&
          (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
        throw_not_written(file_name, errno);
#else
      (void)size;
#endif
    }



    void
    NewFile::publish()
    {
      if (direct)
        return;
      if (std::rename(part_name.c_str(), file_name.c_str()) != 0)
        {
          const int error = errno;
          throw_error("The file \"" + file_name + "\" cannot be replaced",
                      error,
                      "check that it is not a folder and that you may write "
                      "it.");
        }
      named = false;
      forget_temporary(part_name);
    }



    UnfinishedFiles::UnfinishedFiles(const std::vector<std::string> &names)
      : names(names)
    {
      for (const std::string &name : names)
        make_temporary(name, []() { return true; });
    }



    UnfinishedFiles::~UnfinishedFiles()
    {
      for (const std::string &name : names)
        std::remove(name.c_str());
      keep();
    }



    void
    UnfinishedFiles::keep()
    {
      for (const std::string &name : names)
        forget_temporary(name);
      names.clear();
    }



    void
    write_part(const std::string &temporary_name,
               const std::string &file_name,
               const std::string &text,
               const std::size_t  offset)
    {
      const int fd = ::open(temporary_name.c_str(), O_WRONLY | O_CLOEXEC);
      if (fd < 0 && errno == ENOENT)
        throw ExcUserInput("The file \"" + file_name +
                           "\" cannot be written by several processes: they "
                           "must all see the same folder.");
      if (fd < 0)
        throw_not_opened(file_name, errno);
      int error = ::lseek(fd, static_cast<::off_t>(offset), SEEK_SET) < 0
                    ? errno
                    : write_all(fd, text.data(), text.size());
      if (::close(fd) != 0 && error == 0 && errno != EINTR)
        error = errno;
      if (error != 0)
        throw_not_written(file_name, error);
    }
  } // namespace internal



  void
  write_file(const std::string                         &file_name,
             const std::function<void(std::ostream &)> &write)
  {
    internal::NewFile file(file_name);
    file.write(write);
    file.publish();
  }



  void
  write_file_in_parallel(const MPI_Comm     communicator,
                         const std::string &file_name,
                         const std::string &text)
  {
    if (internal::n_processes(communicator) == 1)
      {
        write_file(file_name, [&](std::ostream &out) {
          out.write(text.data(), static_cast<std::streamsize>(text.size()));
        });
        return;
      }
    const unsigned int me = internal::this_process(communicator);
    std::unique_ptr<internal::NewFile> file;
    std::string                        name;
    on_all_processes(communicator, [&]() {
      if (me > 0)
        return;
      file = std::make_unique<internal::NewFile>(file_name, true);
      name = file->temporary_name();
    });
    name = dealii::Utilities::MPI::broadcast(communicator, name, 0);
    std::uint64_t offset = 0, size = 0;
    const auto    sizes = dealii::Utilities::MPI::all_gather(
      communicator, static_cast<std::uint64_t>(text.size()));
    for (unsigned int p = 0; p < sizes.size(); ++p)
      {
        if (p == me)
          offset = size;
        size += sizes[p];
      }
    on_all_processes(communicator, [&]() {
      internal::write_part(name, file_name, text, offset);
    });
    on_all_processes(communicator, [&]() {
      if (me > 0)
        return;
      file->check_size(size);
      file->publish();
    });
  }



  void
  remove_temporary_files()
  {
    TemporaryFiles &files = TemporaryFiles::instance();
    // The lock is kept for ever, so that no other thread creates a temporary
    // file. The wait is limited because another thread may wait for a file
    // system that does not answer.
    if (files.mutex.try_lock_for(std::chrono::seconds(1)))
      for (const std::string &name : files.names)
        std::remove(name.c_str());
  }
} // namespace Tessella

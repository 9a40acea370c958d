// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/base/exceptions.h>
#include <tessella/numerics/write_file.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>
#include <unistd.h>

namespace Tessella
{
  namespace
  {
    std::string
    reason(const int error)
    {
      return error != 0 ? " (" + std::generic_category().message(error) + ")"
                        : "";
    }

    /// Removes the temporary file unless it has become the real one.
    class TemporaryFile
    {
    public:
      explicit TemporaryFile(const std::string &file_name)
        : name(file_name + ".part" + std::to_string(::getpid()))
      {}
      ~TemporaryFile()
      {
        if (!renamed)
          std::remove(name.c_str());
      }
      const std::string name;
      bool              renamed = false;
    };
  } // namespace



  void
  write_file(const std::string                         &file_name,
             const std::function<void(std::ostream &)> &write)
  {
    TemporaryFile temporary(file_name);
    errno = 0;
    std::ofstream out(temporary.name, std::ios::out | std::ios::binary);
    AssertThrow(out,
                ExcUserInput("The file \"" + file_name +
                             "\" cannot be written" + reason(errno) +
                             "; check that its folder exists and that you may "
                             "write there."));
    write(out);
    errno = 0;
    out.close();
    AssertThrow(out,
                ExcUserInput("Writing the file \"" + file_name +
                             "\" failed before its end" + reason(errno) +
                             "; check that the disk is not full."));
    errno            = 0;
    const int status = std::rename(temporary.name.c_str(), file_name.c_str());
    AssertThrow(status == 0,
                ExcUserInput("The file \"" + file_name +
                             "\" cannot be replaced" + reason(errno) +
                             "; check that it is not a folder and that you may "
                             "write it."));
    temporary.renamed = true;
  }
} // namespace Tessella

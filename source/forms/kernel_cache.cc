// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/forms/device_function.h>

#include <cstdlib>
#include <mutex>

namespace Tessella
{
  namespace KernelCache
  {
    namespace
    {
      std::mutex mutex;

      std::string &
      present()
      {
        static std::string directory = []() -> std::string {
          // The XDG specification requires that relative paths are ignored.
          const char *cache = std::getenv("XDG_CACHE_HOME");
          if (cache != nullptr && cache[0] == '/')
            return std::string(cache) + "/tessella/kernels";
          const char *home = std::getenv("HOME");
          if (home != nullptr && home[0] == '/')
            return std::string(home) + "/.cache/tessella/kernels";
          return "";
        }();
        return directory;
      }
    } // namespace



    void
    set_directory(const std::string &directory)
    {
      const std::lock_guard<std::mutex> lock(mutex);
      present() = directory;
    }



    std::string
    directory()
    {
      const std::lock_guard<std::mutex> lock(mutex);
      return present();
    }
  } // namespace KernelCache
} // namespace Tessella

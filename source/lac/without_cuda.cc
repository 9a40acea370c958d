// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Stand-ins of a build without CUDA for functions of cuda/ that are called
// without device_call(): by destructors, and by programs that describe the
// machine.

#include <tessella/device/cuda_devices.h>

#include "../../cuda/device/memory_pool.h"
#include "../../cuda/device/overlap.h"
#include "../../cuda/device/run_time_compiler.h"
#include "../../cuda/lac/vector.h"

namespace Tessella
{
  std::vector<CUDADevice>
  cuda_devices()
  {
    return {};
  }



  std::string
  cuda_runtime_version()
  {
    return "";
  }



  std::string
  cuda_driver_version()
  {
    return "";
  }



  namespace internal
  {
    namespace Device
    {
      // There is no memory on a device.
      void
      release(void *) noexcept
      {}



      void
      close_pool() noexcept
      {}



      void
      end_overlap() noexcept
      {}



      std::string
      why_no_compiler(const std::string &)
      {
        return "this build has no CUDA backend";
      }



      Image
      compile(const std::string &,
              const std::string &architecture,
              const std::string &,
              const std::vector<std::string> &)
      {
        throw Error(why_no_compiler(architecture) + ".");
      }



      struct Module::Implementation
      {};



      Module::Module(const Image &)
      {}



      Module::~Module() = default;



      std::string
      Module::launch(const char *,
                     void *,
                     const unsigned int,
                     const unsigned int,
                     const unsigned int,
                     void *) const
      {
        return why_no_compiler("");
      }



      std::string
      Module::launch(const char *,
                     void **,
                     const unsigned int,
                     const unsigned int,
                     const unsigned int,
                     const unsigned int,
                     void *) const
      {
        return why_no_compiler("");
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_device_run_time_architecture_h
#define tessella_source_device_run_time_architecture_h

#include <string>

#include "../../cuda/device/run_time_compiler.h"
#include "device_call.h"

namespace Tessella
{
  namespace internal
  {
    /// Architecture of the current device, such as "sm_90", for
    /// Device::compile(). @p why_not becomes the reason why nothing can be
    /// compiled for it, or empty. Throws if the device does not work.
    inline std::string
    run_time_architecture(std::string &why_not)
    {
      std::string architecture;
      if constexpr (with_cuda)
        architecture =
          device_call([] { return Device::present_architecture(); });
      why_not = Device::why_no_compiler(architecture);
      return architecture;
    }
  } // namespace internal
} // namespace Tessella

#endif

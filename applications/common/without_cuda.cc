// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Stand-in of a build without CUDA, which has no device to measure.

#include "device_rates.h"

namespace Tessella
{
  namespace Application
  {
    DeviceRates
    measure_device_rates()
    {
      return {};
    }
  } // namespace Application
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_device_rates_h
#define tessella_applications_device_rates_h

namespace Tessella
{
  namespace Application
  {
    /// Maximal rates of a CUDA device, as a yardstick for measured times.
    struct DeviceRates
    {
      double flops = 0.; ///< double precision products, operations/second
      /// Device memory, bytes read and written per second.
      double bandwidth = 0.;
      double download  = 0.; ///< copies into pinned host memory, bytes/second
    };

    /// Measures the current device in about 50 ms; all rates are zero without a
    /// device.
    DeviceRates
    measure_device_rates();
  } // namespace Application
} // namespace Tessella

#endif

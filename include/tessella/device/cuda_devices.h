// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_device_cuda_devices_h
#define tessella_device_cuda_devices_h

#include <cstddef>
#include <string>
#include <vector>

namespace Tessella
{
  /// Properties of a CUDA device.
  struct CUDADevice
  {
    std::string  name;
    unsigned int capability_major = 0, capability_minor = 0;
    std::size_t  memory            = 0; ///< bytes in all
    unsigned int n_multiprocessors = 0;
    /// Whether the backend can use it: compute capability 7.5 or newer.
    bool is_supported = false;
  };

  /// All CUDA devices of this machine that the driver reports, in its order;
  /// empty without a driver or in a build without CUDA. Creates no context on a
  /// device.
  std::vector<CUDADevice>
  cuda_devices();

  /// Version of the CUDA runtime that the library was built with, such as
  /// "12.4"; empty in a build without CUDA.
  std::string
  cuda_runtime_version();

  /// Newest version of CUDA that the driver of this machine serves; empty
  /// without a driver or in a build without CUDA.
  std::string
  cuda_driver_version();
} // namespace Tessella

#endif

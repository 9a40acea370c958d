// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/device/cuda_devices.h>

#include <cuda_runtime.h>

#include "device.h"
#include "memory.h"

namespace Tessella
{
  namespace
  {
    /// Text of a version in CUDA's encoding, 1000 major + 10 minor.
    std::string
    version_text(const int number)
    {
      return number > 0 ? std::to_string(number / 1000) + "." +
                            std::to_string(number % 1000 / 10)
                        : std::string();
    }
  } // namespace



  std::vector<CUDADevice>
  cuda_devices()
  {
    std::vector<CUDADevice> result;
    int                     n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess)
      n = 0;
    // The failure must not be taken for that of a later call.
    cudaGetLastError();
    for (int device = 0; device < n; ++device)
      {
        cudaDeviceProp properties;
        internal::Device::check(cudaGetDeviceProperties(&properties, device),
                                "the search for devices");
        CUDADevice present;
        present.name              = properties.name;
        present.capability_major  = properties.major;
        present.capability_minor  = properties.minor;
        present.memory            = properties.totalGlobalMem;
        present.n_multiprocessors = properties.multiProcessorCount;
        present.is_supported =
          internal::Device::describe_availability(
            cudaSuccess, 0, 0, properties.major, properties.minor)
            .empty();
        result.push_back(present);
      }
    return result;
  }



  std::string
  cuda_runtime_version()
  {
    int number = 0;
    cudaRuntimeGetVersion(&number);
    return version_text(number);
  }



  std::string
  cuda_driver_version()
  {
    int number = 0;
    cudaDriverGetVersion(&number);
    return version_text(number);
  }
} // namespace Tessella

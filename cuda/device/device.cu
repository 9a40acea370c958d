// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <cuda_runtime.h>

#include "device.h"
#include "device_share.h"
#include "memory.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        std::string
        version(const int number)
        {
          return std::to_string(number / 1000) + "." +
                 std::to_string(number % 1000 / 10);
        }
      } // namespace



      std::string
      describe_availability(const int code,
                            const int driver_version,
                            const int runtime_version,
                            const int capability_major,
                            const int capability_minor)
      {
        if (code == cudaSuccess)
          {
            if (10 * capability_major + capability_minor >= 75)
              return "";
            return "The CUDA device has compute capability " +
                   std::to_string(capability_major) + "." +
                   std::to_string(capability_minor) +
                   ", but the CUDA backend needs 7.5 or newer.";
          }
        if (driver_version == 0)
          return "This machine has no CUDA driver.";
        if (code == cudaErrorInsufficientDriver ||
            driver_version / 1000 < runtime_version / 1000)
          return "The CUDA driver is too old: it serves CUDA " +
                 version(driver_version) +
                 ", but this library was built with CUDA " +
                 version(runtime_version) +
                 ". Update the driver, or build with an older toolkit.";
        if (code == cudaErrorNoDevice)
          return "There is a CUDA driver on this machine, but no device.";
        return std::string("The CUDA driver reports '") +
               cudaGetErrorString(static_cast<cudaError_t>(code)) + "'.";
      }



      std::string
      why_unavailable()
      {
        int n = 0, device = 0, driver = 0, runtime = 0, major = 0, minor = 0;
        const cudaError_t code = cudaGetDeviceCount(&n);
        cudaDriverGetVersion(&driver);
        cudaRuntimeGetVersion(&runtime);
        if (code == cudaSuccess && n > 0)
          {
            // These calls create no context on the device.
            cudaGetDevice(&device);
            cudaDeviceGetAttribute(&major,
                                   cudaDevAttrComputeCapabilityMajor,
                                   device);
            cudaDeviceGetAttribute(&minor,
                                   cudaDevAttrComputeCapabilityMinor,
                                   device);
          }
        cudaGetLastError();
        return describe_availability(code == cudaSuccess && n == 0
                                       ? cudaErrorNoDevice
                                       : code,
                                     driver,
                                     runtime,
                                     major,
                                     minor);
      }



      unsigned int
      n_devices()
      {
        int n = 0;
        if (!why_unavailable().empty() || cudaGetDeviceCount(&n) != cudaSuccess)
          n = 0;
        cudaGetLastError();
        return n;
      }



      int
      current_device()
      {
        int device = 0;
        check(cudaGetDevice(&device), "the choice of a device");
        return device;
      }



      void
      set_device(const int device)
      {
        check(cudaSetDevice(device), "the choice of a device");
      }



      std::string
      describe_error(const int code, const std::string &what)
      {
        switch (code)
          {
            case cudaErrorMemoryAllocation:
              return "The CUDA device has not enough memory for " + what +
                     ". Use a smaller problem or the host backend.";
            case cudaErrorInsufficientDriver:
              return "The CUDA driver is older than the toolkit that this "
                     "library was built with. Update the driver or use the "
                     "host backend.";
            case cudaErrorNoKernelImageForDevice:
            case cudaErrorUnsupportedPtxVersion:
              return "The library holds no code for this CUDA device. Build "
                     "it with the device's compute capability in "
                     "CMAKE_CUDA_ARCHITECTURES, or use the host backend.";
            default:
              return std::string("The CUDA runtime reports '") +
                     cudaGetErrorString(static_cast<cudaError_t>(code)) +
                     "' during " + what +
                     ". Use the host backend if this persists.";
          }
      }



      std::string
      describe_allocation(const std::size_t bytes,
                          const std::size_t free,
                          const bool        pinned)
      {
        const std::string size = std::to_string(bytes) + " bytes";
        if (pinned)
          return "The host has not enough memory for a pinned buffer of " +
                 size + ": use a smaller problem or the host backend.";
        return "The CUDA device has " + std::to_string(free) +
               " bytes free, not enough memory for an array of " + size +
               ": use a smaller problem or the host backend.";
      }



      void
      check_allocation(const cudaError_t code,
                       const std::size_t bytes,
                       const bool        pinned)
      {
        if (code == cudaErrorMemoryAllocation)
          {
            cudaGetLastError(); // the process can continue
            std::size_t free = 0, total = 0;
            if (cudaMemGetInfo(&free, &total) != cudaSuccess)
              cudaGetLastError();
            throw Error(describe_allocation(bytes, free, pinned));
          }
        check(code, pinned ? "pinned buffers" : "this problem");
      }



      std::string
      device_name()
      {
        int            device = 0;
        cudaDeviceProp properties;
        check(cudaGetDevice(&device), "the choice of a device");
        check(cudaGetDeviceProperties(&properties, device),
              "the choice of a device");
        return std::string(properties.name) + ", compute capability " +
               std::to_string(properties.major) + "." +
               std::to_string(properties.minor);
      }



      std::string
      device_identity()
      {
        int            device = 0;
        char           bus[64];
        cudaDeviceProp properties;
        check(cudaGetDevice(&device), "the choice of a device");
        check(cudaDeviceGetPCIBusId(bus, sizeof(bus), device),
              "the choice of a device");
        check(cudaGetDeviceProperties(&properties, device),
              "the choice of a device");
        return bus + std::string(properties.uuid.bytes,
                                 sizeof(properties.uuid.bytes));
      }



      Memory
      device_memory()
      {
        Memory memory;
        check(cudaMemGetInfo(&memory.free, &memory.total),
              "the start of the device");
        return memory;
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

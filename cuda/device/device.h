// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_device_h
#define tessella_cuda_device_device_h

#include <cstddef>
#include <stdexcept>
#include <string>

// The device itself: whether it can be used, its name, memory and ceilings.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// A call of the CUDA runtime failed, or memory does not suffice; the
      /// text is a full sentence.
      struct Error : public std::runtime_error
      {
        explicit Error(const std::string &text)
          : std::runtime_error(text)
        {}
      };

      /// Number of devices; 0 without a driver, or if the current device is
      /// older than compute capability 7.5.
      unsigned int
      n_devices();

      /// Number of the calling thread's device.
      int
      current_device();

      /// Makes a device that of the calling thread.
      void
      set_device(const int device);

      /// Why n_devices() is 0, as a sentence; empty if it is not.
      std::string
      why_unavailable();

      /**
       * The sentence for what the runtime says: error code of
       * cudaGetDeviceCount(), versions of driver and runtime (1000 major + 10
       * minor; driver 0: none), compute capability of the current device.
       * Empty if the device can be used.
       */
      std::string
      describe_availability(const int code,
                            const int driver_version,
                            const int runtime_version,
                            const int capability_major,
                            const int capability_minor);

      /// The sentence for an error code of the runtime; @p what: for what
      /// memory was wanted, or during what it happened.
      std::string
      describe_error(const int code, const std::string &what);

      /// Name and compute capability of the current device.
      std::string
      device_name();

      /// Bytes.
      struct Memory
      {
        std::size_t free, total;
      };

      Memory
      device_memory();

      /// Ceilings of the current device, measured in about 50 ms.
      struct Rates
      {
        double flops     = 0.; ///< products in double precision, per second
        double bandwidth = 0.; ///< bytes per second, reads and writes
        double download  = 0.; ///< bytes per second into pinned memory
      };

      Rates
      measure_rates();
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

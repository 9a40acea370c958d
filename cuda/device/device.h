// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_device_h
#define tessella_cuda_device_device_h

#include <cstddef>
#include <stdexcept>
#include <string>

// Properties of the CUDA device: availability, name and memory.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// A call of the CUDA runtime failed, or device memory does not suffice;
      /// what() is a full sentence.
      struct Error : public std::runtime_error
      {
        explicit Error(const std::string &text)
          : std::runtime_error(text)
        {}
      };

      /// Number of devices. Returns 0 without a driver, or if the current
      /// device is older than compute capability 7.5.
      unsigned int
      n_devices();

      /// Index of the calling thread's device.
      int
      current_device();

      /// Makes @p device the device of the calling thread.
      void
      set_device(const int device);

      /// Reason why n_devices() is 0, as a sentence; empty if it is not 0.
      std::string
      why_unavailable();

      /**
       * Sentence that describes why the device cannot be used; empty if it can
       * be used. The arguments are the error code of cudaGetDeviceCount(), the
       * versions of driver and runtime in CUDA's encoding (1000 major + 10
       * minor; 0 if the driver is missing), and the compute capability of the
       * current device.
       */
      std::string
      describe_availability(const int code,
                            const int driver_version,
                            const int runtime_version,
                            const int capability_major,
                            const int capability_minor);

      /// Sentence for an error code of the runtime; @p what names the purpose
      /// of the memory that was requested, or the operation that failed.
      std::string
      describe_error(const int code, const std::string &what);

      /// Name and compute capability of the current device.
      std::string
      device_name();

      /// Device memory in bytes.
      struct Memory
      {
        std::size_t free, total;
      };

      Memory
      device_memory();
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

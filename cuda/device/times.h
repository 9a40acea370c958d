// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_times_h
#define tessella_cuda_device_times_h

#include <tessella/base/backend.h>

#include <cstddef>
#include <string>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Times of a computation on a device, by stages.
      struct Times
      {
        double kernels = 0., upload = 0., download = 0.; ///< seconds
        double tabulation = 0.; ///< seconds in the callback of the coefficients
        double loop = 0.; ///< seconds from the start of the first chunk to the
                          ///< end of the last one
        /// Seconds of the loop in which the device neither computed nor copied.
        double       idle     = 0.;
        double       bytes_up = 0., bytes_down = 0.;
        std::size_t  memory = 0; ///< bytes held on the device
        std::string  kernel;
        unsigned int n_parts = 1;
        /// Times of single kernels, in order of their first run; empty if
        /// unknown.
        std::vector<KernelTime> kernel_times;

        /// Adds to the entry with this name.
        void
        add_kernel(const std::string &name, const double seconds)
        {
          for (KernelTime &entry : kernel_times)
            if (entry.name == name)
              {
                entry.seconds += seconds;
                return;
              }
          kernel_times.push_back({name, seconds});
        }

        /// Adds the times of another part.
        void
        add(const Times &other)
        {
          kernels += other.kernels;
          upload += other.upload;
          download += other.download;
          tabulation += other.tabulation;
          loop += other.loop;
          idle += other.idle;
          bytes_up += other.bytes_up;
          bytes_down += other.bytes_down;
          memory = memory < other.memory ? other.memory : memory;
          kernel = other.kernel;
          for (const KernelTime &entry : other.kernel_times)
            add_kernel(entry.name, entry.seconds);
        }
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

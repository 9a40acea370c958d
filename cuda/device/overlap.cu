// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <atomic>
#include <map>

#include "memory.h"
#include "overlap.h"
#include "start_kernel.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        struct Overlap
        {
          unsigned int depth = 0;
          bool         begun = false;
        };

        std::atomic<bool> overlap_is_allowed(true);

        Overlap &
        overlap()
        {
          static thread_local Overlap result;
          return result;
        }

        /// Has code for the same architectures as all other kernels.
        __global__ void
        architecture_kernel()
        {
          wait_for_previous();
        }

        /// Whether the current device and the code for it know
        /// wait_for_previous(). Code for an older architecture that the driver
        /// compiles for a new device lacks it.
        bool
        is_possible()
        {
          if (!overlap_is_allowed)
            return false;
          static thread_local std::map<int, bool> known;
          const int                               device = current_device();
          const auto                              found  = known.find(device);
          if (found != known.end())
            return found->second;
          int                capability = 0;
          cudaFuncAttributes attributes = {};
          const bool         possible =
            cudaDeviceGetAttribute(&capability,
                                   cudaDevAttrComputeCapabilityMajor,
                                   device) == cudaSuccess &&
            capability >= 9 &&
            cudaFuncGetAttributes(&attributes, architecture_kernel) ==
              cudaSuccess &&
            attributes.ptxVersion >= 90;
          cudaGetLastError();
          known[device] = possible;
          return possible;
        }
      } // namespace



      void
      begin_overlap()
      {
        Overlap &present = overlap();
        if (present.depth++ == 0)
          present.begun = false;
      }



      void
      end_overlap() noexcept
      {
        --overlap().depth;
      }



      bool
      next_may_overlap(const bool waits_first)
      {
        Overlap &present = overlap();
        if (present.depth == 0)
          return waits_first && is_possible();
        const bool first = !present.begun;
        present.begun    = true;
        return !first && is_possible();
      }



      bool
      allow_overlap(const bool allowed)
      {
        overlap_is_allowed  = true;
        const bool possible = is_possible();
        overlap_is_allowed  = allowed;
        return possible;
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

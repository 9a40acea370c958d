// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/base/config.h>
#include <tessella/device/cuda_device.h>

#include "../device/device_call.h"

#ifndef TESSELLA_HAVE_CUDA
#  include "../../cuda/device/memory_pool.h"
#  include "../../cuda/lac/vector.h"
#endif

namespace Tessella
{
  namespace internal
  {
    void
    assert_device_is_available()
    {
#ifdef TESSELLA_HAVE_CUDA
      AssertThrow(cuda_is_available(),
                  dealii::ExcMessage(
                    "No CUDA device was found on this machine, or its driver "
                    "does not work: vectors and matrices on a device cannot be "
                    "used. Use those of deal.II or Trilinos instead."));
#else
      AssertThrow(false,
                  dealii::ExcMessage(
                    "This build of Tessella has no CUDA backend: vectors and "
                    "matrices on a device cannot be used. Use those of deal.II "
                    "or Trilinos, or build with -DTESSELLA_WITH_CUDA=ON."));
#endif
    }



#ifndef TESSELLA_HAVE_CUDA
    // Stand-ins for functions that destructors call without device_call().
    // Without CUDA there is no memory on a device.
    namespace Device
    {
      void
      release(void *) noexcept
      {}



      void
      close_pool() noexcept
      {}
    } // namespace Device
#endif
  } // namespace internal
} // namespace Tessella

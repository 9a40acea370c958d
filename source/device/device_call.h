// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_device_device_call_h
#define tessella_source_device_device_call_h

#include <deal.II/base/exceptions.h>

#include "../../cuda/device/device.h"
#include "with_cuda.h"

namespace Tessella
{
  namespace internal
  {
    /// Throws an exception if this build or this machine has no usable device.
    void
    assert_device_is_available();

    /// Calls @p function and turns errors of the device into exceptions of
    /// deal.II. Without CUDA it throws and does not call @p function, so that a
    /// build needs no definitions of the functions of cuda/ that are only
    /// called in this way.
    template <typename Function>
    auto
    device_call(const Function &function) -> decltype(function())
    {
      if constexpr (with_cuda)
        {
          try
            {
              return function();
            }
          catch (const Device::Error &error)
            {
              AssertThrow(false, dealii::ExcMessage(error.what()));
              throw; // not reached
            }
        }
      else
        {
          (void)function;
          AssertThrow(false,
                      dealii::ExcMessage(
                        "This build of Tessella has no CUDA backend."));
          throw; // not reached
        }
    }
  } // namespace internal
} // namespace Tessella

#endif

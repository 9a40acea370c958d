// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/base/exceptions.h>
#include <tessella/device/cuda_device.h>

#include <string>

#include "../base/collective.h"
#include "device_call.h"

namespace Tessella
{
  bool
  cuda_is_available()
  {
    if constexpr (internal::with_cuda)
      return internal::Device::n_devices() > 0;
    else
      return false;
  }



  std::string
  why_cuda_is_unavailable()
  {
    if constexpr (internal::with_cuda)
      return internal::Device::why_unavailable();
    else
      return "This build of Tessella has no CUDA backend "
             "(-DTESSELLA_WITH_CUDA=ON).";
  }



  std::string
  cuda_device_name()
  {
    if constexpr (internal::with_cuda)
      if (cuda_is_available())
        return internal::Device::device_name();
    return "";
  }



  int
  choose_cuda_device(const MPI_Comm communicator, const int device)
  {
    unsigned int rank = 0;
#ifdef DEAL_II_WITH_MPI
    if (internal::n_processes(communicator) > 1)
      {
        MPI_Comm node;
        MPI_Comm_split_type(
          communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
        rank = internal::this_process(node);
        MPI_Comm_free(&node);
      }
#endif
    int chosen = -1;
    Tessella::on_all_processes(communicator, [&]() {
      if constexpr (internal::with_cuda)
        {
          const unsigned int n = internal::Device::n_devices();
          AssertThrow(device < 0 || static_cast<unsigned int>(device) < n,
                      ExcUserInput("CUDA device " + std::to_string(device) +
                                   " was asked for, but there are " +
                                   std::to_string(n) +
                                   " on this machine: numbers count from 0, -1 "
                                   "lets each process take one."));
          if (n == 0)
            return;
          chosen = device >= 0 ? device : static_cast<int>(rank % n);
          try
            {
              internal::Device::set_device(chosen);
            }
          catch (const internal::Device::Error &error)
            {
              AssertThrow(false, ExcUserInput(error.what()));
            }
        }
      else
        AssertThrow(device < 0,
                    ExcUserInput("CUDA device " + std::to_string(device) +
                                 " was asked for, but this build of Tessella "
                                 "has no CUDA backend."));
    });
    return chosen;
  }



  void
  internal::assert_device_is_available()
  {
    if constexpr (with_cuda)
      {
        AssertThrow(
          cuda_is_available(),
          dealii::ExcMessage(
            "No CUDA device was found on this machine, or its driver "
            "does not work: vectors and matrices on a device cannot be "
            "used. Use those of deal.II or Trilinos instead."));
      }
    else
      {
        AssertThrow(
          false,
          dealii::ExcMessage(
            "This build of Tessella has no CUDA backend: vectors and "
            "matrices on a device cannot be used. Use those of deal.II "
            "or Trilinos, or build with -DTESSELLA_WITH_CUDA=ON."));
      }
  }
} // namespace Tessella

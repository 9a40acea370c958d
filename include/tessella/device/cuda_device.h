// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_device_cuda_device_h
#define tessella_device_cuda_device_h

#include <deal.II/base/mpi.h>

#include <string>

// Functions for the CUDA device of this process: availability, choice, and
// properties.

namespace Tessella
{
  /// Whether the library was built with CUDA and finds a device.
  bool
  cuda_is_available();

  /// Reason why CUDA is not available, as a sentence (no driver, an outdated
  /// driver, no device, a device below compute capability 7.5, a build without
  /// CUDA); empty if it is available.
  std::string
  why_cuda_is_unavailable();

  /// Name and compute capability of the current device; empty without a device.
  std::string
  cuda_device_name();

  /**
   * Makes a CUDA device the current one of the calling thread, as
   * cudaSetDevice() does. If @p device is negative, the device's index is the
   * rank of this process among those of @p communicator on the same machine,
   * modulo the number of devices, so that processes share devices if there are
   * more processes than devices. Returns the index of the device, or -1 if
   * there is no device. An index that does not exist is an error. Collective.
   */
  int
  choose_cuda_device(const MPI_Comm communicator, const int device = -1);
} // namespace Tessella

#endif

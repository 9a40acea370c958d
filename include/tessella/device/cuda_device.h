// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_device_cuda_device_h
#define tessella_device_cuda_device_h

#include <deal.II/base/mpi.h>

#include <string>

// The CUDA device of this process: whether there is one, which, and what it can
// do.

namespace Tessella
{
  /// Whether the library was built with CUDA and finds a device.
  bool
  cuda_is_available();

  /// Why it is not, as a sentence (no driver, an old driver, no device, one
  /// older than compute capability 7.5, a build without CUDA); empty if it is.
  std::string
  why_cuda_is_unavailable();

  /// What a CUDA device can do at most, as a yardstick for measured times.
  struct DeviceRates
  {
    double flops     = 0.; ///< double precision products, operations/second
    double bandwidth = 0.; ///< memory, bytes read and written per second
    double download  = 0.; ///< copies into pinned host memory, bytes/second
  };

  /// Measures the current device; zeros without one.
  DeviceRates
  measure_device_rates();

  /// Name and compute capability of the current device; empty without one.
  std::string
  cuda_device_name();

  /**
   * Makes a CUDA device that of the calling thread, as cudaSetDevice() does:
   * device @p device, or for a negative one that whose number is the rank of
   * this process among those of @p communicator on the same machine (modulo the
   * number of devices: more processes than devices share them). Returns the
   * number; -1 where there is no device. A number that does not exist is an
   * error. Collective.
   */
  int
  choose_cuda_device(const MPI_Comm communicator, const int device = -1);
} // namespace Tessella

#endif

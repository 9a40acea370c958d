// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_assembly_device_choice_h
#define tessella_assembly_device_choice_h

#include <deal.II/base/mpi.h>

namespace Tessella
{
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_recovery_h
#define tessella_cuda_hdg_hdg_recovery_h

#include "hdg_gather.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Starts the kernel that computes u and q on the polytopes of a tile,
      /// from @p trace and the local solvers of @p data. All arrays are in
      /// device memory.
      template <int dim>
      void
      launch_recovery(const HDGPlan<dim>   &plan,
                      const HDGGather<dim> &gather,
                      const HDGData<dim>   &data,
                      const double         *trace,
                      double               *solution,
                      double               *flux);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

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
      /// Stage that computes u and q from traces.
      template <int dim>
      struct HDGRecovery
      {
        const HDGPlan<dim>   &plan;
        const HDGGather<dim> &gather;

        /// Starts the kernel for the polytopes of a tile, with the local
        /// solvers of @p data. All arrays are in device memory.
        void
        launch(const HDGData<dim> &data,
               const double       *trace,
               double             *solution,
               double             *flux) const;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_operations_h
#define tessella_cuda_hdg_hdg_operations_h

#include "hdg_data.h"
#include "hdg_plan.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Number of multiplications and additions in products and factorisations
      /// of one pass over all polytopes. @p recovery: data for recovery are
      /// kept.
      template <int dim>
      double
      count_operations(const HDGPlan<dim> &plan,
                       const HDGData<dim> &data,
                       const bool          recovery);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

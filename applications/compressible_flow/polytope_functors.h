// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_compressible_flow_polytope_functors_h
#define tessella_applications_compressible_flow_polytope_functors_h

#include <tessella/flow/polytope_functors.h>
#include <tessella/flow/shock_capturing.h>
#include <tessella/forms/limiters.h>
#include <tessella/forms/polytopewise_function.h>

#include <memory>

// This file includes no deal.II header.

namespace Tessella
{
  namespace Application
  {
    /// A functor that nvcc compiles for a device: SlopeLimiter, BoundLimiter,
    /// Flow::PositivityLimiter, Flow::LargestSpeed or Flow::ShockSensor.
    template <int dim, typename F>
    std::shared_ptr<const PolytopewiseFunction<dim>>
    make_polytope_functor(const F &f);
  } // namespace Application
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_cuda_polytopewise_functors_h
#define tessella_tests_cuda_polytopewise_functors_h

#include <tessella/forms/polytopewise_function.h>

#include <memory>

enum class PolytopewiseCase
{
  slopes,     ///< SlopeLimiter
  bounds,     ///< BoundLimiter of all components, between 0.1 and 1.05
  everything, ///< all members of a stencil, values at points included
  not_finite  ///< infinite coefficients on polytopes with x > 0.5
};

/// A functor that nvcc compiles.
template <int dim>
std::shared_ptr<const Tessella::PolytopewiseFunction<dim>>
make_polytopewise(const PolytopewiseCase name);

#endif

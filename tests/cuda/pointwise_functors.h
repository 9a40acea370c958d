// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_cuda_pointwise_functors_h
#define tessella_tests_cuda_pointwise_functors_h

#include <tessella/forms/pointwise_integrand.h>

#include <memory>

#include "../operators/functors.h"

namespace Functors
{
  /// The integrand of a functor, compiled for a device if there is CUDA.
  template <int dim, typename F>
  std::unique_ptr<Tessella::PointwiseIntegrand<dim>>
  make_integrand(const F &f);
} // namespace Functors

#endif

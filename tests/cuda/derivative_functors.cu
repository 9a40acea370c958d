// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Functors with derivatives of their own, for a device if there is CUDA.

#include <tessella/forms/functor_integrand.h>

#include <memory>

#include "derivative_functors.h"

namespace Functors
{
  template <int dim, typename F>
  std::unique_ptr<Tessella::PointwiseIntegrand<dim>>
  make_integrand(const F &f)
  {
    return std::make_unique<Tessella::FunctorIntegrand<dim, F>>(f);
  }

  template std::unique_ptr<Tessella::PointwiseIntegrand<2>>
  make_integrand<2>(const WithDerivative<2> &);
  template std::unique_ptr<Tessella::PointwiseIntegrand<3>>
  make_integrand<3>(const ManyWithDerivative<3> &);
} // namespace Functors

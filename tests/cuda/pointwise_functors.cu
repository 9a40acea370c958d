// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Functors of pointwise operators, for a device if there is CUDA.

#include <tessella/forms/functor_integrand.h>

#include "pointwise_functors.h"

namespace Functors
{
  template <int dim, typename F>
  std::unique_ptr<Tessella::PointwiseIntegrand<dim>>
  make_integrand(const F &f)
  {
    return std::make_unique<Tessella::FunctorIntegrand<dim, F>>(f);
  }

#define INSTANTIATE(dim, F)                                   \
  template std::unique_ptr<Tessella::PointwiseIntegrand<dim>> \
  make_integrand<dim, F<dim>>(const F<dim> &)

  INSTANTIATE(2, NonlinearDiffusion);
  INSTANTIATE(2, TwoFields);
  INSTANTIATE(2, ThreeComponents);
  INSTANTIATE(2, Euler);
  INSTANTIATE(2, Forces);
  INSTANTIATE(3, NonlinearDiffusion);
  INSTANTIATE(3, TwoFields);
  INSTANTIATE(3, ThreeComponents);
  INSTANTIATE(3, Euler);
  INSTANTIATE(3, Forces);
  INSTANTIATE(3, TwoStates);
#undef INSTANTIATE
} // namespace Functors

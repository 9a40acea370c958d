// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Functors without gradients on facets, for a device if there is CUDA.

#include <tessella/forms/functor_integrand.h>

#include <memory>

#include "simplex_functors.h"

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

  INSTANTIATE(2, OneComponent);
  INSTANTIATE(2, ManyComponents);
  INSTANTIATE(2, TwoWithField);
  INSTANTIATE(2, InsideOnly);
  INSTANTIATE(3, OneComponent);
  INSTANTIATE(3, ManyComponents);
  INSTANTIATE(3, TwoWithField);
  INSTANTIATE(3, InsideOnly);
#undef INSTANTIATE
} // namespace Functors

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/forms/polytopewise_functor.h>

#include "polytope_functors.h"

namespace Tessella
{
  namespace Application
  {
    template <int dim, typename F>
    std::shared_ptr<const PolytopewiseFunction<dim>>
    make_polytope_functor(const F &f)
    {
      return std::make_shared<const PolytopewiseFunctor<dim, F>>(f);
    }



#define INSTANTIATE_FUNCTOR(dim, F)                         \
  template std::shared_ptr<const PolytopewiseFunction<dim>> \
  make_polytope_functor(const F &);
#define INSTANTIATE(dim)                                 \
  INSTANTIATE_FUNCTOR(dim, SlopeLimiter)                 \
  INSTANTIATE_FUNCTOR(dim, BoundLimiter)                 \
  INSTANTIATE_FUNCTOR(dim, Flow::PositivityLimiter<dim>) \
  INSTANTIATE_FUNCTOR(dim, Flow::LargestSpeed<dim>)      \
  INSTANTIATE_FUNCTOR(dim, Flow::ShockSensor<dim>)
    INSTANTIATE(2)
    INSTANTIATE(3)
#undef INSTANTIATE
#undef INSTANTIATE_FUNCTOR
  } // namespace Application
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "flow_states.h"

#include <tessella/flow/check_conditions.h>

#include "../common/program.h"

namespace Tessella
{
  namespace Application
  {
    template <int dim>
    PrimitiveState<dim>::PrimitiveState(
      const std::vector<Expression> &primitive,
      const Flow::IdealGas<dim>     &gas,
      const std::string             &what)
      : StateFunction<dim>(dim + 2)
      , primitive(primitive)
      , gas(gas)
      , what(what)
    {}



    template <int dim>
    void
    PrimitiveState<dim>::state(const double *x, const double t, double *u) const
    {
      double w[dim + 2];
      primitive.state(x, t, w);
      gas.conservative(w[0], w + 1, w[dim + 1], u);
      if (!gas.is_admissible(u))
        Flow::check_state(gas,
                          u,
                          what + " at the point (" + point_text(x, dim) +
                            ") and time " + short_text(t));
    }



    template class PrimitiveState<2>;
    template class PrimitiveState<3>;
  } // namespace Application
} // namespace Tessella

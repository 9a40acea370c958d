// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_interior_penalty_h
#define tessella_flow_interior_penalty_h

#include <tessella/forms/pointwise_terms.h>

// Terms of the symmetric interior penalty of second-order systems, for host and
// device.

namespace Tessella
{
  namespace Flow
  {
    /**
     * Terms on a facet between two polytopes of the dG method with symmetric
     * interior penalty for - div (G grad W), with matrices G that differ
     * between both sides and act on gradients of all components:
     *   - {G grad W} n . [v] - {G grad v} n . [W]
     *     + @p constant / 2 eta {G} ([W] x n) n . [v]
     * with the jump [W] = W0 - W1, the mean value {.} of both sides and the
     * geometric penalty factor eta, OperatorPoint::penalty.
     *
     * Adds to the values of the results and sets their gradients; components
     * below @p first have no terms. @p flux(side, gradient, f) sets f to G
     * times a gradient. @p jump is [W] x n.
     */
    template <int dim,
              int m,
              int first,
              typename Number,
              typename Flux,
              typename Gradient,
              typename R>
    TESSELLA_HOST_DEVICE inline void
    add_interior_penalty(const OperatorPoint<dim> &p,
                         const double              constant,
                         const Flux               &flux,
                         const Gradient           &gradient0,
                         const Gradient           &gradient1,
                         const Number (&jump)[m][dim],
                         R &r0,
                         R &r1)
    {
      Number value[m], f[m][dim];
      for (int c = 0; c < m; ++c)
        value[c] = Number(0.);
      for (int side = 0; side < 2; ++side)
        {
          R &r = side == 0 ? r0 : r1;
          flux(side, side == 0 ? gradient0 : gradient1, f);
          for (int c = first; c < m; ++c)
            for (int d = 0; d < dim; ++d)
              value[c] += (-0.5 * p.normal[d]) * f[c][d];
          flux(side, jump, f);
          for (int c = first; c < m; ++c)
            {
              Number normal = Number(0.);
              for (int d = 0; d < dim; ++d)
                {
                  r.gradient[c][d] = -0.5 * f[c][d];
                  normal += f[c][d] * p.normal[d];
                }
              value[c] += (0.25 * constant * p.penalty) * normal;
            }
          for (int c = 0; c < first; ++c)
            for (int d = 0; d < dim; ++d)
              r.gradient[c][d] = Number(0.);
        }
      for (int c = first; c < m; ++c)
        {
          r0.value[c] += value[c];
          r1.value[c] -= value[c];
        }
    }
  } // namespace Flow
} // namespace Tessella

#endif

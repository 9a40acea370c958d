// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_cuda_derivative_functors_h
#define tessella_tests_cuda_derivative_functors_h

#include "../operators/derivative_functors.h"
#include "simplex_functors.h"

namespace Functors
{
  /// Transport with derivatives of its own, times factors for volume, interior
  /// facets and boundary facets.
  template <int dim>
  struct ManyWithDerivative : public ManyComponents<dim>
  {
    static constexpr int m = ManyComponents<dim>::n_components;
    using Terms            = PointwiseTerms<dim, m, double>;

    double factor[3] = {1., 1., 1.};

    TESSELLA_HOST_DEVICE void
    volume_derivative(const OperatorPoint<dim> &p,
                      const Terms              &u,
                      const Terms              &du,
                      Terms                    &dr) const
    {
      using namespace PointwiseMath;
      const double w = factor[0] * this->weight(p, 0);
      for (int c = 0; c < m; ++c)
        {
          const int    next = (c + 1) % m;
          const double v = u.value[c], dv = du.value[c], v1 = u.value[next],
                       dv1 = du.value[next];
          dr.value[c]      = factor[0] * (cos(v1) * dv1 * v + sin(v1) * dv);
          for (int d = 0; d < dim; ++d)
            {
              dr.value[c] += factor[0] * p.x[d] * du.gradient[next][d];
              dr.gradient[c][d] =
                w * exp(v) * (dv * u.gradient[next][d] + du.gradient[next][d]) -
                factor[0] * (d + 1.) * (dv * v1 + v * dv1);
            }
        }
    }

    TESSELLA_HOST_DEVICE void
    interior_facet_derivative(const OperatorPoint<dim> &p,
                              const Terms              &u0,
                              const Terms              &u1,
                              const Terms              &du0,
                              const Terms              &du1,
                              Terms                    &dr0,
                              Terms                    &dr1) const
    {
      using namespace PointwiseMath;
      const double w0 = this->weight(p, 0), w1 = this->weight(p, 1);
      for (int c = 0; c < m; ++c)
        {
          const int    next = (c + 1) % m;
          const double jump = du0.value[c] - du1.value[c],
                       t    = tanh(u0.value[c] * u1.value[next]);
          dr0.value[c]      = factor[1] * ((p.penalty + p.facet % 3) * jump +
                                      w0 * du0.value[next]);
          dr1.value[c] =
            factor[1] *
            (w1 * p.normal[dim - 1] * (1. - t * t) *
               (du0.value[c] * u1.value[next] + u0.value[c] * du1.value[next]) -
             p.penalty * jump);
        }
    }

    TESSELLA_HOST_DEVICE void
    boundary_facet_derivative(const OperatorPoint<dim> &p,
                              const Terms              &u,
                              const Terms              &du,
                              Terms                    &dr) const
    {
      if (p.boundary_id == 1)
        return;
      for (int c = 0; c < m; ++c)
        {
          double slope = 2. * (2. + p.boundary_id) * u.value[c];
          for (int d = 0; d < dim; ++d)
            slope += p.normal[d] * p.x[d];
          dr.value[c] = factor[2] * slope * du.value[c];
        }
    }
  };
} // namespace Functors

#endif

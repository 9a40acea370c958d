// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_operators_derivative_functors_h
#define tessella_tests_operators_derivative_functors_h

#include "functors.h"

namespace Functors
{
  /// NonlinearDiffusion with derivatives of its own, times factors for volume,
  /// interior facets and boundary facets.
  template <int dim>
  struct WithDerivative : public NonlinearDiffusion<dim>
  {
    using Terms = PointwiseTerms<dim, 1, double>;

    double factor[3] = {1., 1., 1.};

    TESSELLA_HOST_DEVICE void
    volume_derivative(const OperatorPoint<dim> &,
                      const Terms &u,
                      const Terms &du,
                      Terms       &dr) const
    {
      const double v = u.value[0];
      for (int d = 0; d < dim; ++d)
        dr.gradient[0][d] =
          factor[0] * ((1. + v * v) * du.gradient[0][d] +
                       2. * v * du.value[0] * u.gradient[0][d]);
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
      const Terms *u[] = {&u0, &u1}, *du[] = {&du0, &du1};
      Terms       *dr[]  = {&dr0, &dr1};
      const double jump  = u0.value[0] - u1.value[0],
                   djump = du0.value[0] - du1.value[0];
      double k[2], dk[2], flux;
      for (int s = 0; s < 2; ++s)
        {
          k[s]  = this->a(u[s]->value[0]);
          dk[s] = 2. * u[s]->value[0] * du[s]->value[0];
        }
      flux = this->constant * p.penalty * 0.5 *
             ((dk[0] + dk[1]) * jump + (k[0] + k[1]) * djump);
      for (int d = 0; d < dim; ++d)
        for (int s = 0; s < 2; ++s)
          {
            flux -=
              0.5 * p.normal[d] *
              (dk[s] * u[s]->gradient[0][d] + k[s] * du[s]->gradient[0][d]);
            dr[s]->gradient[0][d] =
              -0.5 * factor[1] * p.normal[d] * (dk[s] * jump + k[s] * djump);
          }
      dr0.value[0] = factor[1] * flux;
      dr1.value[0] = -factor[1] * flux;
    }

    TESSELLA_HOST_DEVICE void
    boundary_facet_derivative(const OperatorPoint<dim> &p,
                              const Terms              &u,
                              const Terms              &du,
                              Terms                    &dr) const
    {
      if (p.boundary_id == 1)
        return;
      const double jump = u.value[0] - (0.3 + 0.2 * p.x[0]),
                   k = this->a(u.value[0]), dk = 2. * u.value[0] * du.value[0];
      dr.value[0] = this->constant * p.penalty * (dk * jump + k * du.value[0]);
      for (int d = 0; d < dim; ++d)
        {
          dr.value[0] -=
            p.normal[d] * (dk * u.gradient[0][d] + k * du.gradient[0][d]);
          dr.gradient[0][d] =
            -factor[2] * p.normal[d] * (dk * jump + k * du.value[0]);
        }
      dr.value[0] *= factor[2];
    }
  };
} // namespace Functors

#endif

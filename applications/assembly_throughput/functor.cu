// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/forms/device_form.h>

#include <cmath>

#include "functor.h"

namespace Tessella
{
  namespace Application
  {
    namespace
    {
      template <int dim>
      struct Coefficients
      {
        TESSELLA_HOST_DEVICE PointTensor<dim>
                             diffusion(const PointData<dim> &p) const
        {
          PointTensor<dim> a;
          for (int d = 0; d < dim; ++d)
            for (int e = 0; e < dim; ++e)
              a[d][e] = d == e ? 2. + p.x[d] * p.x[(d + 1) % dim]
                               : p.x[3 - d - e < dim ? 3 - d - e : 0] / 5.;
          return a;
        }

        TESSELLA_HOST_DEVICE PointVector<dim>
                             advection(const PointData<dim> &p) const
        {
          PointVector<dim> b;
          for (int d = 0; d < dim; ++d)
            b[d] = 1. + p.x[d];
          return b;
        }

        TESSELLA_HOST_DEVICE double
        reaction(const PointData<dim> &p) const
        {
          return 3. + p.x[0] * p.x[1];
        }

        TESSELLA_HOST_DEVICE double
        source(const PointData<dim> &p) const
        {
          return sin(3. * p.x[0]) * p.x[1];
        }
      };
    } // namespace

    template <int dim>
    std::unique_ptr<Form<dim>>
    make_functor_form(const unsigned int coefficient_order, const double theta)
    {
      auto form = std::make_unique<DeviceForm<dim, Coefficients<dim>>>();
      form->set_coefficient_order(coefficient_order);
      form->set_theta(theta);
      return form;
    }

    template std::unique_ptr<Form<2>>
    make_functor_form(const unsigned int, const double);
    template std::unique_ptr<Form<3>>
    make_functor_form(const unsigned int, const double);
  } // namespace Application
} // namespace Tessella

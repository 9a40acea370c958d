// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Coefficients of anisotropic_diffusion, in a file that does not include
// deal.II. nvcc compiles it for the device, or any C++ compiler for the host.

#include <tessella/forms/device_form.h>

#include <cmath>

#include "field.h"

namespace Tessella
{
  namespace Application
  {
    namespace
    {
      constexpr double pi = 3.14159265358979323846;

      template <int dim>
      struct AnisotropicDiffusion
      {
        double epsilon;

        TESSELLA_HOST_DEVICE PointTensor<dim>
                             diffusion(const PointData<dim> &p) const
        {
          const double     w[3] = {-p.x[1], p.x[0], 0.};
          PointTensor<dim> a;
          for (int d = 0; d < dim; ++d)
            for (int e = 0; e < dim; ++e)
              a[d][e] = (d == e ? epsilon : 0.) + w[d] * w[e];
          return a;
        }

        /// Returns -epsilon Laplace u - w . grad(w . grad u), using div w = 0.
        TESSELLA_HOST_DEVICE double
        source(const PointData<dim> &p) const
        {
          const double x = p.x[0], y = p.x[1];
          const double sx = sin(pi * x), cx = cos(pi * x), sy = sin(pi * y),
                       cy = cos(pi * y);
          // s = w . grad u = pi (x sx cy - y cx sy)
          const double s_x =
                         pi * (sx * cy + pi * x * cx * cy + pi * y * sx * sy),
                       s_y =
                         -pi * (pi * x * sx * sy + cx * sy + pi * y * cx * cy);
          const double f =
            epsilon * dim * pi * pi * sx * sy - (-y * s_x + x * s_y);
          return dim == 3 ? f * sin(pi * p.x[dim - 1]) : f;
        }

        TESSELLA_HOST_DEVICE double
        dirichlet(const PointData<dim> &p) const
        {
          double u = 1.;
          for (int d = 0; d < dim; ++d)
            u *= sin(pi * p.x[d]);
          return u;
        }
      };
    } // namespace



    template <int dim>
    std::unique_ptr<Form<dim>>
    make_anisotropic_diffusion(const double       epsilon,
                               const double       theta,
                               const unsigned int coefficient_order)
    {
      AnisotropicDiffusion<dim> coefficients;
      coefficients.epsilon = epsilon;
      auto form = std::make_unique<DeviceForm<dim, AnisotropicDiffusion<dim>>>(
        coefficients);
      form->set_theta(theta);
      form->set_coefficient_order(coefficient_order);
      return form;
    }

    template std::unique_ptr<Form<2>>
    make_anisotropic_diffusion(const double, const double, const unsigned int);
    template std::unique_ptr<Form<3>>
    make_anisotropic_diffusion(const double, const double, const unsigned int);
  } // namespace Application
} // namespace Tessella

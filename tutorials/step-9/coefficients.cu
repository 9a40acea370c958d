// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// The coefficients of step-9 as a functor. nvcc compiles this file for host and
// device, or any C++ compiler for the host. It includes no header of deal.II,
// which nvcc would not like.

#include <tessella/forms/device_form.h>

#include <cmath>

#include "coefficients.h"

namespace
{
  constexpr double pi = 3.14159265358979323846;

  // -div(a grad u) = f with a = 1 + contrast * x and
  // u = sin(pi x) sin(pi y) sin(pi z). A functor has the members that the
  // equation needs: diffusion, advection, reaction, source, dirichlet, ...
  struct Coefficients
  {
    double contrast;

    TESSELLA_HOST_DEVICE double
    diffusion(const Tessella::PointData<3> &p) const
    {
      return 1. + contrast * p.x[0];
    }

    TESSELLA_HOST_DEVICE double
    source(const Tessella::PointData<3> &p) const
    {
      const double others = sin(pi * p.x[1]) * sin(pi * p.x[2]);
      return (3. * pi * pi * diffusion(p) * sin(pi * p.x[0]) -
              contrast * pi * cos(pi * p.x[0])) *
             others;
    }

    TESSELLA_HOST_DEVICE double
    dirichlet(const Tessella::PointData<3> &) const
    {
      return 0.;
    }
  };
} // namespace

std::unique_ptr<Tessella::Form<3>>
make_form(const double contrast)
{
  Coefficients coefficients;
  coefficients.contrast = contrast;
  return std::make_unique<Tessella::DeviceForm<3, Coefficients>>(coefficients);
}

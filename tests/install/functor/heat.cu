// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/forms/device_form.h>

#include "heat.h"

namespace
{
  struct Heat
  {
    double k;

    TESSELLA_HOST_DEVICE double
    diffusion(const Tessella::PointData<3> &p) const
    {
      return p.material == 1 ? 1. : k * (1. + p.x[0]);
    }
    TESSELLA_HOST_DEVICE double
    source(const Tessella::PointData<3> &p) const
    {
      return exp(-p.t);
    }
  };
} // namespace

std::unique_ptr<Tessella::Form<3>>
make_heat(const double k)
{
  Heat heat;
  heat.k = k;
  return std::make_unique<Tessella::DeviceForm<3, Heat>>(heat);
}

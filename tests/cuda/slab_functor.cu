// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/forms/device_form.h>

#include "slab_functor.h"

template <int D>
struct SlabFunctor
{
  double start;

  TESSELLA_HOST_DEVICE double
  t(const Tessella::PointData<D> &p) const
  {
    return start + p.x[D - 1];
  }
  TESSELLA_HOST_DEVICE Tessella::DiagonalPointTensor<D>
                       diffusion(const Tessella::PointData<D> &p) const
  {
    Tessella::DiagonalPointTensor<D> a;
    for (int d = 0; d < D; ++d)
      a[d] = d == D - 1 ? 0. : 1. + t(p);
    return a;
  }
  TESSELLA_HOST_DEVICE Tessella::PointVector<D>
                       advection(const Tessella::PointData<D> &p) const
  {
    Tessella::PointVector<D> b;
    for (int d = 0; d < D; ++d)
      b[d] = d == D - 1 ? 1. : p.x[d] * t(p);
    return b;
  }
  TESSELLA_HOST_DEVICE double
  source(const Tessella::PointData<D> &p) const
  {
    return p.x[0] - 2. * t(p);
  }
  TESSELLA_HOST_DEVICE double
  dirichlet(const Tessella::PointData<D> &p) const
  {
    return p.normal[D - 1] < -0.5 ? 0. : p.x[1] + t(p);
  }
};

template <int D>
std::unique_ptr<Tessella::Form<D>>
make_slab_functor(const double start)
{
  return std::make_unique<Tessella::DeviceForm<D, SlabFunctor<D>>>(
    SlabFunctor<D>{start});
}

template std::unique_ptr<Tessella::Form<3>>
make_slab_functor(const double);
template std::unique_ptr<Tessella::Form<4>>
make_slab_functor(const double);

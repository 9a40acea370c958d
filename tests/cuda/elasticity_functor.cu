// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/forms/elasticity_terms.h>

#include "elasticity_functor.h"

template <int dim>
struct ElasticMaterial
{
  TESSELLA_HOST_DEVICE double
  lambda(const Tessella::PointData<dim> &p) const
  {
    return 1.3 + 0.4 * p.x[0] * p.x[1];
  }
  TESSELLA_HOST_DEVICE double
  mu(const Tessella::PointData<dim> &p) const
  {
    return 0.7 + 0.2 * p.x[dim - 1] * p.x[dim - 1] + 0.1 * p.x[0];
  }
  TESSELLA_HOST_DEVICE double
  force(const Tessella::PointData<dim> &p, const unsigned int d) const
  {
    return 1. - 0.3 * d * p.x[0] + p.x[d] * p.x[dim - 1];
  }
  TESSELLA_HOST_DEVICE Tessella::BoundaryType
                       boundary_type(const unsigned int id) const
  {
    return id == 2 ? Tessella::BoundaryType::neumann
                   : Tessella::BoundaryType::dirichlet;
  }
  TESSELLA_HOST_DEVICE double
  dirichlet(const Tessella::PointData<dim> &p, const unsigned int d) const
  {
    return 0.2 * d + p.x[(d + 1) % dim] - 0.5 * p.x[d] * p.x[0];
  }
  TESSELLA_HOST_DEVICE double
  traction(const Tessella::PointData<dim> &p, const unsigned int d) const
  {
    return 0.4 - p.x[d] + 0.1 * d * p.x[1] * p.x[1];
  }
};

template <int dim>
std::unique_ptr<Tessella::SystemForm<dim>>
make_elasticity_functor(const double theta)
{
  return std::make_unique<Tessella::ElasticityForm<dim, ElasticMaterial<dim>>>(
    ElasticMaterial<dim>(), theta, 4);
}

template std::unique_ptr<Tessella::SystemForm<2>>
make_elasticity_functor(const double);
template std::unique_ptr<Tessella::SystemForm<3>>
make_elasticity_functor(const double);

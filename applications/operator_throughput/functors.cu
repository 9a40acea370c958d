// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/forms/lanes_integrand.h>

#include "functors.h"

template <int dim>
std::unique_ptr<Tessella::PointwiseIntegrand<dim>>
make_euler(const Tessella::Flow::Euler<dim> &euler)
{
  return std::make_unique<
    Tessella::LanesIntegrand<dim, Tessella::Flow::Euler<dim>>>(euler);
}

template <int dim>
std::unique_ptr<Tessella::PointwiseIntegrand<dim>>
make_convection(const Tessella::Flow::Convection<dim> &convection)
{
  return std::make_unique<
    Tessella::FunctorIntegrand<dim, Tessella::Flow::Convection<dim>>>(
    convection);
}

template std::unique_ptr<Tessella::PointwiseIntegrand<3>>
make_euler(const Tessella::Flow::Euler<3> &);
template std::unique_ptr<Tessella::PointwiseIntegrand<3>>
make_convection(const Tessella::Flow::Convection<3> &);

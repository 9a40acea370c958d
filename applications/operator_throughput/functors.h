// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_operator_throughput_functors_h
#define tessella_applications_operator_throughput_functors_h

#include <tessella/flow/euler.h>
#include <tessella/flow/incompressible_operators.h>
#include <tessella/forms/functor_integrand.h>

#include <memory>

/// The Euler equations with the flux HLLC, for the SIMD units of the host and,
/// compiled by nvcc, for a device.
template <int dim>
std::unique_ptr<Tessella::PointwiseIntegrand<dim>>
make_euler(const Tessella::Flow::Euler<dim> &euler);

/// The convection of incompressible flow, likewise.
template <int dim>
std::unique_ptr<Tessella::PointwiseIntegrand<dim>>
make_convection(const Tessella::Flow::Convection<dim> &convection);

#endif

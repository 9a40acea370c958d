// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_compressible_flow_flow_model_h
#define tessella_applications_compressible_flow_flow_model_h

#include <tessella/flow/exact_flows.h>
#include <tessella/flow/navier_stokes.h>
#include <tessella/flow/steady_integrands.h>

#include <memory>

// Equations of the program as integrands that nvcc compiles for a device. This
// file includes no deal.II header.

namespace Tessella
{
  namespace Application
  {
    /// A flow problem as plain data.
    template <int dim>
    struct FlowModel
    {
      Flow::IdealGas<dim>           gas;
      Flow::ChosenFlux              numerical_flux;
      Flow::BoundaryConditions<dim> boundary;
      Flow::ExactFlow<dim>          exact;
      /// Whether the source of the manufactured flow is added.
      bool with_source = false;
      /// Without a viscosity the equations are those of Euler.
      Flow::Viscosity<dim> viscosity;
      double               penalty_constant = 4.;

      bool
      is_viscous() const
      {
        return viscosity.reference > 0.;
      }
    };

    /// The spatial part of the equations, R of M U' = -R(U), for degrees up to
    /// @p degree.
    template <int dim>
    std::unique_ptr<PointwiseIntegrand<dim>>
    make_flow_integrand(const FlowModel<dim> &model, const unsigned int degree);

    /// Integrands of PseudoTransient. If @p frozen_rusanov, the Jacobian is
    /// that of the flux FrozenRusanov.
    template <int dim>
    Flow::SteadyIntegrands<dim>
    make_steady_flow(const FlowModel<dim> &model,
                     const unsigned int    degree,
                     const bool            frozen_rusanov,
                     const unsigned int    coefficient_order,
                     const double          largest_change,
                     const unsigned int    n_halvings);
    // The same for viscous flow.
    template <int dim>
    std::unique_ptr<PointwiseIntegrand<dim>>
    make_viscous_integrand(const FlowModel<dim> &model,
                           const unsigned int    degree);
    template <int dim>
    Flow::SteadyIntegrands<dim>
    make_steady_viscous_flow(const FlowModel<dim> &model,
                             const unsigned int    degree,
                             const bool            frozen_rusanov,
                             const unsigned int    coefficient_order,
                             const double          largest_change,
                             const unsigned int    n_halvings);
  } // namespace Application
} // namespace Tessella

#endif

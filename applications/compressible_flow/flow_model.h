// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_compressible_flow_flow_model_h
#define tessella_applications_compressible_flow_flow_model_h

#include <tessella/flow/exact_flows.h>
#include <tessella/flow/navier_stokes.h>
#include <tessella/flow/steady_integrands.h>
#include <tessella/forms/lanes_integrand.h>

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
      /// Instruction set of the host for the functors of LanesIntegrand.
      InstructionSet instruction_set = InstructionSet::automatic;

      bool
      is_viscous() const
      {
        return viscosity.reference > 0.;
      }
    };

    /// Matrix of the linear systems of PseudoTransient.
    enum class SteadyJacobian
    {
      exact,
      frozen, ///< that of Flow::ChosenFrozenFlux
      rusanov ///< that of Flow::FrozenRusanov
    };

    /// Parameters of the integrands of PseudoTransient.
    struct SteadyModelData
    {
      SteadyJacobian jacobian          = SteadyJacobian::exact;
      unsigned int   coefficient_order = 1;
      double         largest_change    = 0.2;
      unsigned int   n_halvings        = 6;
    };

    /// Makes a LanesIntegrand of a functor that works for several points at
    /// once, see flow_lanes.h, and a FunctorIntegrand of any other.
    template <int dim>
    struct MakeIntegrand
    {
      InstructionSet instruction_set;

      template <typename F>
      std::unique_ptr<PointwiseIntegrand<dim>>
      operator()(const F &functor) const
      {
        if constexpr (functor_lanes<F> != PointwiseLanes::none)
          return std::make_unique<LanesIntegrand<dim, F>>(functor,
                                                          instruction_set);
        else
          return std::make_unique<FunctorIntegrand<dim, F>>(functor);
      }
    };

    /// The spatial part of the equations, R of M U' = -R(U), for degrees up to
    /// @p degree.
    template <int dim>
    std::unique_ptr<PointwiseIntegrand<dim>>
    make_flow_integrand(const FlowModel<dim> &model, const unsigned int degree);

    /// Integrands of PseudoTransient.
    template <int dim>
    Flow::SteadyIntegrands<dim>
    make_steady_flow(const FlowModel<dim>  &model,
                     const unsigned int     degree,
                     const SteadyModelData &data);
    // The same for viscous flow.
    template <int dim>
    std::unique_ptr<PointwiseIntegrand<dim>>
    make_viscous_integrand(const FlowModel<dim> &model,
                           const unsigned int    degree);
    template <int dim>
    Flow::SteadyIntegrands<dim>
    make_steady_viscous_flow(const FlowModel<dim>  &model,
                             const unsigned int     degree,
                             const SteadyModelData &data);

    /// Sets what Euler and Navier-Stokes @p equations have in common.
    template <int dim, typename Equations>
    void
    set_model(const FlowModel<dim> &model, Equations &equations)
    {
      equations.gas                 = model.gas;
      equations.numerical_flux.type = model.numerical_flux.type;
      equations.numerical_flux.roe.entropy_fix =
        model.numerical_flux.roe.entropy_fix;
      equations.boundary  = model.boundary;
      equations.data.flow = model.exact;
    }

    /// Sets what Navier-Stokes @p equations have beyond that. Flows without a
    /// source evaluate one of zero, which saves the compiler a second version
    /// of all kernels.
    template <int dim, typename Equations>
    void
    set_viscous_model(const FlowModel<dim> &model,
                      const unsigned int    degree,
                      Equations            &equations)
    {
      set_model(model, equations);
      equations.data.viscosity   = model.viscosity;
      equations.data.is_active   = model.with_source;
      equations.viscosity        = model.viscosity;
      equations.penalty_constant = model.penalty_constant;
      equations.order            = 2. * degree + 1.;
    }

    /// Integrands of PseudoTransient for @p equations, of which @p frozen are
    /// those with Flow::ChosenFrozenFlux.
    template <int dim, typename Equations, typename Frozen>
    Flow::SteadyIntegrands<dim>
    make_steady(const FlowModel<dim>  &model,
                const Equations       &equations,
                const Frozen          &frozen,
                const SteadyModelData &data)
    {
      const auto make = [&](const auto &approximation) {
        return Flow::make_steady_integrands<dim>(equations,
                                                 approximation,
                                                 data.coefficient_order,
                                                 data.largest_change,
                                                 data.n_halvings,
                                                 MakeIntegrand<dim>{
                                                   model.instruction_set});
      };
      if (data.jacobian == SteadyJacobian::frozen)
        return make(frozen);
      Equations approximation = equations;
      if (data.jacobian == SteadyJacobian::rusanov)
        approximation.numerical_flux.type = Flow::NumericalFlux::frozen_rusanov;
      return make(approximation);
    }

    /// Integrands of PseudoTransient with artificial viscosity, for degrees up
    /// to @p degree.
    template <int dim>
    Flow::SteadyIntegrands<dim>
    make_steady_shock_flow(const FlowModel<dim>  &model,
                           const unsigned int     degree,
                           const SteadyModelData &data);
    /// The same for viscous flow.
    template <int dim>
    Flow::SteadyIntegrands<dim>
    make_steady_viscous_shock_flow(const FlowModel<dim>  &model,
                                   const unsigned int     degree,
                                   const SteadyModelData &data);
  } // namespace Application
} // namespace Tessella

#endif

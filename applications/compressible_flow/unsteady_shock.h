// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_compressible_flow_unsteady_shock_h
#define tessella_applications_compressible_flow_unsteady_shock_h

#include <tessella/lac/host_vector.h>
#include <tessella/operators/pointwise_operator.h>

#include <memory>
#include <string>

#include "flow_input.h"

namespace Tessella
{
  namespace Application
  {
    /**
     * Artificial viscosity in unsteady flow. As long as an object lives, the
     * residual of a problem has the viscosity of its state, which is computed
     * for every stage, and its wave speeds have the viscous part (2 p + 1) eps
     * / h, with which explicit methods are stable.
     */
    template <int dim>
    class UnsteadyShock
    {
    public:
      /// @p constants: space of degree 0 and one component on the polytopes of
      /// @p handler. All arguments must outlive the object.
      UnsteadyShock(const ShockInput                &input,
                    FlowProblem<dim>                &problem,
                    const AgglomerationHandler<dim> &handler,
                    const AgglomerationHandler<dim> &constants,
                    const AssemblyParameters        &data,
                    const unsigned int               coefficient_order);
      ~UnsteadyShock();
      UnsteadyShock(const UnsteadyShock &) = delete;

    private:
      FlowProblem<dim>                                &problem;
      const Flow::SteadyIntegrands<dim>                integrands;
      std::unique_ptr<Flow::ArtificialViscosity<dim>>  viscosity;
      PointwiseOperator<dim>                           op;
      HostVector<double>                               eps;
      const decltype(FlowProblem<dim>::largest_speeds) speeds_without;
      const std::string                                data_without;
    };
  } // namespace Application
} // namespace Tessella

#endif

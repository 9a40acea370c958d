// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_compressible_flow_flow_states_h
#define tessella_applications_compressible_flow_flow_states_h

#include <tessella/flow/exact_flows.h>

#include <vector>

#include "../common/expression.h"
#include "../common/state_function.h"

namespace Tessella
{
  namespace Application
  {
    /// State from expressions of density, velocity and pressure. A state
    /// without positive density and pressure throws, with value and point.
    template <int dim>
    class PrimitiveState : public StateFunction<dim>
    {
    public:
      /// @p what begins the message about a state that is not admissible.
      PrimitiveState(const std::vector<Expression> &primitive,
                     const Flow::IdealGas<dim>     &gas,
                     const std::string             &what);

      void
      state(const double *x, const double t, double *u) const override;

    private:
      const ExpressionState<dim> primitive;
      const Flow::IdealGas<dim>  gas;
      const std::string          what;
    };

    /// State of an exact flow.
    template <int dim>
    class ExactFlowState : public StateFunction<dim>
    {
    public:
      explicit ExactFlowState(const Flow::ExactFlow<dim> &flow)
        : StateFunction<dim>(dim + 2)
        , flow(flow)
      {}

      void
      state(const double *x, const double t, double *u) const override
      {
        flow.state(x, t, u);
      }

    private:
      const Flow::ExactFlow<dim> flow;
    };

    /// The same state everywhere.
    template <int dim>
    class ConstantState : public StateFunction<dim>
    {
    public:
      explicit ConstantState(const std::vector<double> &values)
        : StateFunction<dim>(values.size())
        , values(values)
      {}

      void
      state(const double *, const double, double *u) const override
      {
        for (unsigned int c = 0; c < values.size(); ++c)
          u[c] = values[c];
      }

    private:
      const std::vector<double> values;
    };
  } // namespace Application
} // namespace Tessella

#endif

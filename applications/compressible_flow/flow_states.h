// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_compressible_flow_flow_states_h
#define tessella_applications_compressible_flow_flow_states_h

#include <tessella/flow/exact_flows.h>

#include <vector>

#include "../common/conservation_problem.h"
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
    /// Throws, on all processes of @p communicator, if density or pressure of a
    /// discrete function are not positive at a point of PolytopeStencil::x: a
    /// sentence that begins with @p what and has the first such point in the
    /// order of coordinates and its first state in the order of components, for
    /// any number of threads and processes, and ends with @p remedy.
    template <int dim>
    void
    check_points(PolytopewiseOperator<dim> &op,
                 const MPI_Comm             communicator,
                 const Flow::IdealGas<dim> &gas,
                 const ConservationVector  &u,
                 const std::string         &what,
                 const std::string         &remedy);
  } // namespace Application
} // namespace Tessella

#endif

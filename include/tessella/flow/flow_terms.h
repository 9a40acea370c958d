// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_flow_terms_h
#define tessella_flow_flow_terms_h

#include <tessella/flow/incompressible_conditions.h>

// Bases of the functors of flows, for host and device: rows that many of them
// share, and boundary conditions with their data.

namespace Tessella
{
  namespace Flow
  {
    /// u . n of the first dim components.
    template <int dim, typename Number>
    TESSELLA_HOST_DEVICE inline Number
    normal_component(const Number *u, const double *n)
    {
      Number result = u[0] * n[0];
      for (int d = 1; d < dim; ++d)
        result += u[d] * n[d];
      return result;
    }

    /// Rows of a first derivative in weak form: values of fields against
    /// gradients of test functions in polytopes, and against values on facets.
    struct WeakDerivativeRows
    {
      static constexpr unsigned int volume_input  = PointwiseRows::values,
                                    volume_output = PointwiseRows::gradients,
                                    facet_input   = PointwiseRows::values,
                                    facet_output  = PointwiseRows::values;
    };

    /// Rows of a term in polytopes only, of values against values.
    struct VolumeValueRows
    {
      static constexpr unsigned int volume_input  = PointwiseRows::values,
                                    volume_output = PointwiseRows::values,
                                    facet_input   = PointwiseRows::none,
                                    facet_output  = PointwiseRows::none;
    };

    /// Boundary conditions of incompressible flow and their data, see
    /// NoFlowData.
    template <int dim, typename Data>
    struct ConditionsAndData
    {
      IncompressibleConditions boundary;
      Data                     data;

      TESSELLA_HOST_DEVICE bool
      is_velocity(const OperatorPoint<dim> &p) const
      {
        return boundary.is(p.boundary_id, IncompressibleCondition::velocity);
      }
      TESSELLA_HOST_DEVICE bool
      is_outflow(const OperatorPoint<dim> &p) const
      {
        return boundary.is(p.boundary_id, IncompressibleCondition::outflow);
      }
      /// g . n of the given velocity.
      TESSELLA_HOST_DEVICE double
      normal_velocity(const OperatorPoint<dim> &p) const
      {
        double g[dim];
        data.velocity(p, g);
        return normal_component<dim>(g, p.normal);
      }
    };
  } // namespace Flow
} // namespace Tessella

#endif

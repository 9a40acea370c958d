// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_artificial_viscosity_h
#define tessella_flow_artificial_viscosity_h

#include <tessella/flow/shock_capturing.h>
#include <tessella/lac/host_vector.h>
#include <tessella/operators/polytopewise_operator.h>

namespace Tessella
{
  namespace Flow
  {
    /**
     * The field eps of WithArtificialViscosity as a function of the flow, and
     * its derivative.
     *
     * The field lives in the space of constants on the polytopes of the flow;
     * its coefficient on a polytope is eps times the square root of the volume
     * of the bounding box. eps of a polytope depends on the flow on that
     * polytope alone.
     *
     * <b>Tangent.</b> With @p exact, the matrix of PseudoTransient is the exact
     * derivative of the residual, that of eps included, so that Newton's method
     * converges quadratically. Since the sensor of a polytope reads that
     * polytope alone, the matrix needs no more blocks
     * (PointwiseOperator::add_chained_jacobian()). Otherwise the matrix holds
     * eps fixed, and more steps are needed.
     *
     * <b>Cost</b> of a call: a loop over all coefficients. Memory: one vector
     * of the flow. The host alone has it.
     */
    template <int dim>
    class ArtificialViscosity
    {
    public:
      using VectorType = HostVector<double>;

      /// @p handler must outlive the object, and its space must not change.
      ArtificialViscosity(const AgglomerationHandler<dim> &handler,
                          const ShockSensor<dim>          &sensor,
                          const bool                       exact = true);

      /// Sets @p viscosity to the field that belongs to @p u. Collective.
      void
      compute(const VectorType &u, VectorType &viscosity);

      /// Derivative of compute() at the last argument of that function: entry i
      /// is that of the coefficient on the polytope of i with respect to
      /// coefficient i of the flow.
      const VectorType &
      derivative() const
      {
        return slopes;
      }

      /// Largest eps of the last call of compute(), and the number of
      /// polytopes where it is not zero. Collective.
      std::pair<double, unsigned int>
      extent() const;

      const bool exact;

    private:
      const AgglomerationHandler<dim> &handler;
      const ShockSensor<dim>           sensor;
      PolytopewiseOperator<dim>        polytopewise;
      /// eps of the owned polytopes.
      std::vector<double> values;
      VectorType          slopes;
    };
  } // namespace Flow
} // namespace Tessella

#endif

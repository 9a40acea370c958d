// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_artificial_viscosity_h
#define tessella_flow_artificial_viscosity_h

#include <deal.II/lac/la_parallel_vector.h>

#include <tessella/flow/shock_capturing.h>
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
     * <b>Tangent.</b> With @p exact, PseudoTransient applies the exact
     * derivative of the residual, that of eps included, so that Newton's method
     * converges quadratically; the matrix that preconditions it holds eps
     * fixed. Otherwise the matrix is the tangent, which saves one tangent for
     * each iteration of GMRES but needs more steps.
     *
     * <b>Cost</b> of a call: a loop over all coefficients. Memory: one vector
     * of the flow. The host alone has it.
     */
    template <int dim>
    class ArtificialViscosity
    {
    public:
      using VectorType = dealii::LinearAlgebra::distributed::Vector<double>;

      /// @p handler must outlive the object, and its space must not change.
      ArtificialViscosity(const AgglomerationHandler<dim> &handler,
                          const ShockSensor<dim>          &sensor,
                          const bool                       exact = true);

      /// Sets @p viscosity to the field that belongs to @p u. Collective.
      void
      compute(const VectorType &u, VectorType &viscosity);

      /// Derivative of compute() at the last argument of that function in the
      /// direction @p du.
      void
      change(const VectorType &du, VectorType &result) const;

      /// Largest eps of the last call of compute(), and the number of
      /// polytopes where it is not zero. Collective.
      std::pair<double, unsigned int>
      extent() const;

      const bool exact;

    private:
      const AgglomerationHandler<dim> &handler;
      const ShockSensor<dim>           sensor;
      PolytopewiseOperator<dim>        polytopewise;
      /// eps of the owned polytopes, and its derivatives with respect to all
      /// coefficients.
      std::vector<double> values;
      VectorType          derivative;
    };
  } // namespace Flow
} // namespace Tessella

#endif

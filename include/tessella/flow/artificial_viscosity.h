// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_artificial_viscosity_h
#define tessella_flow_artificial_viscosity_h

#include <tessella/flow/shock_capturing.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_vector.h>
#include <tessella/operators/polytopewise_operator.h>

#include <memory>
#include <utility>
#include <vector>

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
     * eps fixed, and more steps are needed. Products without a matrix have the
     * same derivative by apply_derivative() and
     * PointwiseOperator::apply_tangent() for the field eps.
     *
     * <b>Where it runs.</b> Vectors are in host memory or on the device; with
     * the latter, the sensor is evaluated there. One object serves one of both.
     *
     * <b>Cost</b> of a call: a loop over all coefficients. Memory: one vector
     * of the flow.
     */
    template <int dim>
    class ArtificialViscosity
    {
    public:
      /// @p handler must outlive the object, and its space must not change.
      ArtificialViscosity(const AgglomerationHandler<dim> &handler,
                          const ShockSensor<dim>          &sensor,
                          const bool                       exact = true);
      ~ArtificialViscosity();

      /// Sets @p viscosity to the field that belongs to @p u. Both have their
      /// sizes. Collective.
      void
      compute(const HostVector<double> &u, HostVector<double> &viscosity);
      void
      compute(const DeviceVector<double> &u, DeviceVector<double> &viscosity);

      /// Derivative of compute() at the last argument of that function: entry i
      /// is that of the coefficient on the polytope of i with respect to
      /// coefficient i of the flow.
      const HostVector<double> &
      derivative() const
      {
        return slopes;
      }
      /// The same on the device.
      const DeviceVector<double> &
      device_derivative() const;

      /// Sets @p change, a vector of the space of the viscosity, to the change
      /// of that field, to first order, where the flow of the last call of
      /// compute() changes by @p direction. An error before such a call.
      void
      apply_derivative(const HostVector<double> &direction,
                       HostVector<double>       &change) const;
      void
      apply_derivative(const DeviceVector<double> &direction,
                       DeviceVector<double>       &change) const;

      /// Largest eps of the last call of compute() on the host, and the number
      /// of polytopes where it is not zero. Collective.
      std::pair<double, unsigned int>
      extent() const;

      const bool exact;

    private:
      const AgglomerationHandler<dim> &handler;
      const ShockSensor<dim>           sensor;
      PolytopewiseOperator<dim>        polytopewise;
      /// eps of the owned polytopes.
      std::vector<double> values;
      HostVector<double>  slopes;
      /// Data that the sensor reads on the device, and the derivative there.
      struct DeviceData;
      std::unique_ptr<DeviceData> on_device;
    };
  } // namespace Flow
} // namespace Tessella

#endif

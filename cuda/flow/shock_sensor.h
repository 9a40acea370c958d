// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_flow_shock_sensor_h
#define tessella_cuda_flow_shock_sensor_h

#include <tessella/flow/shock_capturing.h>

#include <cstdint>

// Sensor of shocks on all polytopes, for device memory. The kernel runs in the
// present stream (graph.h).

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Data of the polytopes that the sensor reads beside the coefficients of
      /// the flow: for each polytope the first of these, degree, number of
      /// scalar basis functions, volume, and square root of the volume of the
      /// bounding box; for each scalar basis function its mean value.
      struct SensorArrays
      {
        unsigned int         n; ///< number of polytopes
        const std::uint64_t *dof_offset;
        const unsigned int  *degree, *n_basis;
        const double        *measure, *unit, *basis_mean;
      };

      /// Sets @p field to the coefficients of the viscosity that @p sensor
      /// gives for the flow @p u, and @p slopes to the derivatives of these
      /// with respect to u, see Flow::ArtificialViscosity.
      template <int dim>
      void
      evaluate_sensor(const SensorArrays           &arrays,
                      const Flow::ShockSensor<dim> &sensor,
                      const double                 *u,
                      double                       *slopes,
                      double                       *field);

      /// Sets the entry of each polytope of @p change to the product of its
      /// parts of @p slopes and @p direction.
      void
      apply_sensor_derivative(const SensorArrays &arrays,
                              const double       *slopes,
                              const double       *direction,
                              double             *change);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

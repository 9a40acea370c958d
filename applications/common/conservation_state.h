// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_conservation_state_h
#define tessella_applications_common_conservation_state_h

#include <deal.II/base/types.h>

#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/numerics/device_mass_matrix.h>
#include <tessella/numerics/mass_matrix.h>

#include <type_traits>
#include <vector>

namespace Tessella
{
  namespace Application
  {
    /// Types that belong to vectors of the host or of a device.
    template <typename VectorType>
    struct ConservationMemory
    {
      static constexpr bool on_device =
        std::is_same<VectorType, DeviceVector<double>>::value;
      using Matrix = std::conditional_t<on_device,
                                        DeviceBlockMatrix<double>,
                                        HostBlockMatrix<double>>;
      template <int dim>
      using Mass =
        std::conditional_t<on_device, DeviceMassMatrix<dim>, MassMatrix<dim>>;
    };

    /// Solution and time integral of the flux through the boundary, which a
    /// time integrator advances together: a vector for the classes of
    /// tessella/time_stepping.
    template <typename VectorType>
    struct ConservationState
    {
      VectorType          u;
      std::vector<double> outflow;

      dealii::types::global_dof_index
      size() const
      {
        return u.size();
      }
      /// this + a v
      void
      add(const double a, const ConservationState &v)
      {
        u.add(a, v.u);
        for (unsigned int c = 0; c < outflow.size(); ++c)
          outflow[c] += a * v.outflow[c];
      }
      /// s this + a v
      void
      sadd(const double s, const double a, const ConservationState &v)
      {
        u.sadd(s, a, v.u);
        for (unsigned int c = 0; c < outflow.size(); ++c)
          outflow[c] = s * outflow[c] + a * v.outflow[c];
      }
      /// a v
      void
      equ(const double a, const ConservationState &v)
      {
        u.equ(a, v.u);
        for (unsigned int c = 0; c < outflow.size(); ++c)
          outflow[c] = a * v.outflow[c];
      }
    };
  } // namespace Application
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_forms_constant_elasticity_h
#define tessella_cuda_forms_constant_elasticity_h

#include <tessella/forms/device_coefficients.h>

#include <memory>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Largest number of boundary ids with a given traction.
      constexpr unsigned int max_traction_ids = 16;

      /// Evaluates the matrix of a pair of different components of linear
      /// elasticity with constant Lame parameters on the device, see
      /// ElasticityTerms. @p traction_ids has the boundary ids where the
      /// traction is given.
      template <int dim>
      std::shared_ptr<const DeviceCoefficients<dim>>
      constant_elasticity(const double                     lambda,
                          const double                     mu,
                          const double                     theta,
                          const unsigned int               test,
                          const unsigned int               trial,
                          const std::vector<unsigned int> &traction_ids);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/forms/elasticity_terms.h>

#include <algorithm>

#include "constant_elasticity.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// Material of ElasticityTerms. Pairs of different components have no
        /// right-hand side, so that there are no data.
        template <int dim>
        struct ConstantMaterial
        {
          double       lame[2];
          unsigned int n_traction_ids, traction_id[max_traction_ids];

          TESSELLA_HOST_DEVICE double
          lambda(const PointData<dim> &) const
          {
            return lame[0];
          }
          TESSELLA_HOST_DEVICE double
          mu(const PointData<dim> &) const
          {
            return lame[1];
          }
          TESSELLA_HOST_DEVICE double
          force(const PointData<dim> &, const unsigned int) const
          {
            return 0.;
          }
          TESSELLA_HOST_DEVICE double
          dirichlet(const PointData<dim> &, const unsigned int) const
          {
            return 0.;
          }
          TESSELLA_HOST_DEVICE double
          traction(const PointData<dim> &, const unsigned int) const
          {
            return 0.;
          }
          TESSELLA_HOST_DEVICE BoundaryType
          boundary_type(const unsigned int boundary_id) const
          {
            for (unsigned int i = 0; i < n_traction_ids; ++i)
              if (traction_id[i] == boundary_id)
                return BoundaryType::neumann;
            return BoundaryType::dirichlet;
          }
        };
      } // namespace



      template <int dim>
      std::shared_ptr<const DeviceCoefficients<dim>>
      constant_elasticity(const double                     lambda,
                          const double                     mu,
                          const double                     theta,
                          const unsigned int               test,
                          const unsigned int               trial,
                          const std::vector<unsigned int> &traction_ids)
      {
        ConstantMaterial<dim> material = {
          {lambda, mu}, static_cast<unsigned int>(traction_ids.size()), {}};
        std::copy(traction_ids.begin(),
                  traction_ids.end(),
                  material.traction_id);
        return ElasticityPair<dim, ConstantMaterial<dim>>(
                 {material, test, trial, theta}, true)
          .device_coefficients();
      }



      template std::shared_ptr<const DeviceCoefficients<2>>
      constant_elasticity(const double,
                          const double,
                          const double,
                          const unsigned int,
                          const unsigned int,
                          const std::vector<unsigned int> &);
      template std::shared_ptr<const DeviceCoefficients<3>>
      constant_elasticity(const double,
                          const double,
                          const double,
                          const unsigned int,
                          const unsigned int,
                          const std::vector<unsigned int> &);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_upload_h
#define tessella_cuda_hdg_hdg_upload_h

#include <memory>

#include "../grid/device_mesh.h"
#include "device_copies.h"
#include "hdg_data.h"
#include "hdg_plan.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Data in device memory that do not depend on a problem: mesh, rules,
      /// tables of functions, and the plan.
      template <int dim>
      class HDGUpload
      {
      public:
        /// @p plan must outlive the object.
        explicit HDGUpload(const HDGPlan<dim> &plan);

        /// Copies everything, and sets the pointers and sizes in @p data.
        void
        prepare(HDGData<dim> &data);

        /// Bytes of device memory.
        std::size_t
        bytes() const
        {
          return (device_mesh == nullptr
                    ? 0
                    : device_mesh->memory() + device_space->memory()) +
                 copies.bytes() + sizeof(HDGSimplexFace) * faces.size() +
                 8 * transfer.size();
        }

        DeviceCopies copies;
        /// Point groups of facets, and the first of each entry: all, and those
        /// for integrands that are polynomials.
        const HDGFacetPointGroup *all_facet_point_groups = nullptr,
                                 *few_facet_point_groups = nullptr;
        const unsigned int *all_entry_point_groups       = nullptr,
                           *few_entry_point_groups       = nullptr;
        /// Entries that HDGConstantFacets handles, and all others.
        const unsigned int *projected_list = nullptr, *other_list = nullptr;
        /// Number of polytopes of bricks.
        unsigned int n_bricks = 0;

      private:
        /// Rules, and functions on the box.
        void
        upload_functions(HDGData<dim> &P);
        void
        upload_moments(HDGData<dim> &P);
        void
        upload_bricks(HDGData<dim> &P);
        void
        upload_simplex_reference(HDGData<dim> &P);
        /// Arrays of the plan, and trace spaces.
        void
        upload_plan(HDGData<dim> &P);
        /// Computes faces of simplices, and the transformations from their
        /// functions to trace functions.
        void
        compute_faces(HDGData<dim> &P);
        /// True if the edges of a sub-cell are along the axes.
        bool
        is_brick(const unsigned int subcell) const;

        const HDGPlan<dim>                    &plan;
        std::shared_ptr<const DeviceMesh<dim>> device_mesh;
        std::unique_ptr<DeviceSpace>           device_space;
        Array<HDGSimplexFace>                  faces;
        Array<double>                          transfer;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

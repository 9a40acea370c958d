// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_grid_device_mesh_h
#define tessella_cuda_grid_device_mesh_h

#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "../device/array_list.h"
#include "../device/memory.h"
#include "../device/workspace.h"

// The flat view of a mesh in device memory, and the spaces on it.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Geometry of a PolytopicMesh in device memory: copies of the members of
      /// the same names. A plain structure of pointers, which kernels take by
      /// value, alone or as a base of their data.
      template <int dim>
      struct MeshArrays
      {
        // ---- polytopes
        const double       *box;
        const unsigned int *subcell_offset;
        const unsigned int *polytope_interface_offset, *polytope_interface;

        // ---- sub-cells
        const SubCellType  *subcell_type;
        const unsigned int *subcell_vertex_offset;
        const double       *subcell_vertices;
        const unsigned int *subcell_material;

        // ---- interfaces
        const unsigned int *interface_polytope, *interface_boundary_id,
          *interface_shift, *facet_offset;
        const double *shift;

        // ---- facets
        const FacetType    *facet_type;
        const unsigned int *facet_vertex_offset;
        const double       *facet_vertices, *facet_normal, *facet_measure;
        const unsigned int *facet_subcell;

        // ---- tabulated quadrature
        const unsigned int *subcell_point_offset, *facet_point_offset;
        const double       *subcell_points, *subcell_point_weights;
        const double *facet_points, *facet_point_normals, *facet_point_weights;

        /// Adds all arrays of @p mesh to @p list, which later sets the
        /// pointers. Arrays that @p mesh leaves empty, as parts of a mesh do
        /// with materials, need no memory.
        void
        add_to(ArrayList &list, const PolytopicMesh<dim> &mesh);
      };



      /// Space of polynomials on the polytopes of a mesh, in device memory:
      /// degree and number of basis functions of each polytope, and its first
      /// degree of freedom. Several spaces can share a mesh.
      struct SpaceArrays
      {
        const unsigned int  *degree, *n_basis;
        const std::uint64_t *dof_offset;

        /// Adds the arrays of @p dofs.
        void
        add_to(ArrayList &list, const PolytopicDoFs &dofs);
      };



      /// SpaceArrays with device memory of their own.
      class DeviceSpace
      {
      public:
        explicit DeviceSpace(const PolytopicDoFs &dofs);

        const SpaceArrays &
        arrays() const
        {
          return pointers;
        }

        /// Bytes of device memory.
        std::size_t
        memory() const
        {
          return block.size();
        }

      private:
        SpaceArrays pointers;
        Array<char> block;
      };



      /**
       * The geometry of a mesh in the memory of a device, in one allocation.
       *
       * share() copies a mesh to the present device at most once: all that
       * computes on the same mesh (assembly, evaluation of coefficients, HDG)
       * gets the same object for as long as somebody holds it. Meshes are the
       * same if their revision, the revision of their quadrature and the device
       * are. A mesh whose revision is 0 may change at any time and is copied
       * for each caller.
       *
       * Nothing of a space is stored here: degrees and degrees of freedom
       * belong to DeviceSpace, and whatever is derived from mesh and quadrature
       * rules belongs to whoever derives it.
       *
       * <b>Memory.</b> The device memory is released with the last holder. With
       * a Workspace, which then counts the mesh as memory that it holds, the
       * next mesh takes over this memory if it is large enough and nobody else
       * uses it; so a moving mesh does not allocate in each step.
       */
      template <int dim>
      class DeviceMesh
      {
      public:
        /**
         * The copy of @p mesh on the present device. The copy goes through the
         * pinned buffers of @p workspace if there is one. Returns when the mesh
         * is on the device, for all streams. The host's mesh need not outlive
         * the result. Thread-safe for different workspaces.
         */
        static std::shared_ptr<const DeviceMesh>
        share(const PolytopicMesh<dim> &mesh, Workspace *workspace = nullptr);

        /// Whether share() can return the same object twice for @p mesh.
        static bool
        is_shareable(const PolytopicMesh<dim> &mesh);

        /// Bytes of device memory that the copy of @p mesh needs.
        static std::size_t
        memory(const PolytopicMesh<dim> &mesh);

        const MeshArrays<dim> &
        arrays() const
        {
          return pointers;
        }

        /// Bytes of device memory that this object holds.
        std::size_t
        memory() const
        {
          return block->size();
        }

      private:
        DeviceMesh(const PolytopicMesh<dim> &mesh, Workspace *workspace);

        MeshArrays<dim>              pointers;
        std::shared_ptr<Array<char>> block;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <array>
#include <map>
#include <mutex>

#include "../device/pipeline.h"
#include "device_mesh.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// The meshes on the devices of this process. Whoever holds a mesh
        /// keeps it alive, the cache does not.
        template <int dim>
        class Cache
        {
        public:
          using Key     = std::array<std::uint64_t, 3>;
          using Pointer = std::shared_ptr<const DeviceMesh<dim>>;

          static Cache &
          instance()
          {
            static Cache cache;
            return cache;
          }

          static Key
          key(const PolytopicMesh<dim> &mesh)
          {
            return {{mesh.revision,
                     mesh.quadrature_revision,
                     static_cast<std::uint64_t>(current_device())}};
          }

          /// The mesh with this key, or null.
          Pointer
          find(const Key &key)
          {
            const std::lock_guard<std::mutex> lock(mutex);
            const auto                        entry = entries.find(key);
            return entry == entries.end() ? Pointer() : entry->second.lock();
          }

          /// Adds @p mesh, and drops entries of meshes that exist no more.
          void
          insert(const Key &key, const Pointer &mesh)
          {
            const std::lock_guard<std::mutex> lock(mutex);
            for (auto entry = entries.begin(); entry != entries.end();)
              entry = entry->second.expired() ? entries.erase(entry) : ++entry;
            entries[key] = mesh;
          }

        private:
          std::mutex                                          mutex;
          std::map<Key, std::weak_ptr<const DeviceMesh<dim>>> entries;
        };



        // Copies the arrays of a list to the device and waits for the end of
        // the copies. Streams of class Stream do not wait for the default
        // stream.
        void
        upload(const std::vector<ArrayList::Part> &parts, char *memory)
        {
          for (const ArrayList::Part &part : parts)
            check(cudaMemcpy(memory + part.offset,
                             part.from,
                             part.bytes,
                             cudaMemcpyHostToDevice),
                  "a copy to the device");
          check(cudaStreamSynchronize(nullptr), "a copy to the device");
        }
      } // namespace



      template <int dim>
      void
      MeshArrays<dim>::add_to(ArrayList &list, const PolytopicMesh<dim> &mesh)
      {
        list.add(box, mesh.box);
        list.add(subcell_offset, mesh.subcell_offset);
        list.add(polytope_interface_offset, mesh.polytope_interface_offset);
        list.add(polytope_interface, mesh.polytope_interface);
        list.add(subcell_type, mesh.subcell_type);
        list.add(subcell_vertex_offset, mesh.subcell_vertex_offset);
        list.add(subcell_vertices, mesh.subcell_vertices);
        list.add(subcell_material, mesh.subcell_material);
        list.add(interface_polytope, mesh.interface_polytope);
        list.add(interface_boundary_id, mesh.interface_boundary_id);
        list.add(interface_shift, mesh.interface_shift);
        list.add(facet_offset, mesh.facet_offset);
        list.add(shift, mesh.shift);
        list.add(facet_type, mesh.facet_type);
        list.add(facet_vertex_offset, mesh.facet_vertex_offset);
        list.add(facet_vertices, mesh.facet_vertices);
        list.add(facet_normal, mesh.facet_normal);
        list.add(facet_measure, mesh.facet_measure);
        list.add(facet_subcell, mesh.facet_subcell);
        list.add(subcell_point_offset, mesh.subcell_point_offset);
        list.add(facet_point_offset, mesh.facet_point_offset);
        list.add(subcell_points, mesh.subcell_points);
        list.add(subcell_point_weights, mesh.subcell_point_weights);
        list.add(facet_points, mesh.facet_points);
        list.add(facet_point_normals, mesh.facet_point_normals);
        list.add(facet_point_weights, mesh.facet_point_weights);
      }



      void
      SpaceArrays::add_to(ArrayList &list, const PolytopicDoFs &dofs)
      {
        list.add(degree, dofs.degree);
        list.add(n_basis, dofs.n_basis);
        list.add(dof_offset, dofs.dof_offset);
      }



      DeviceSpace::DeviceSpace(const PolytopicDoFs &dofs)
      {
        ArrayList list;
        pointers.add_to(list, dofs);
        block.resize(list.bytes());
        list.place(block.data());
        upload(list.parts(), block.data());
      }



      template <int dim>
      DeviceMesh<dim>::DeviceMesh(const PolytopicMesh<dim> &mesh,
                                  Workspace                *workspace)
      {
        ArrayList list;
        pointers.add_to(list, mesh);
        if (workspace != nullptr)
          block = (*workspace)->reserve_shared_mesh(list.bytes());
        else
          {
            block = std::make_shared<Array<char>>();
            block->resize(list.bytes());
          }
        list.place(block->data());
        if (workspace != nullptr)
          (*workspace)->upload(block->data(), list.parts());
        else
          upload(list.parts(), block->data());
      }



      template <int dim>
      std::shared_ptr<const DeviceMesh<dim>>
      DeviceMesh<dim>::share(const PolytopicMesh<dim> &mesh,
                             Workspace                *workspace)
      {
        using Pointer = std::shared_ptr<const DeviceMesh>;
        if (!is_shareable(mesh))
          return Pointer(new DeviceMesh(mesh, workspace));
        Cache<dim> &cache  = Cache<dim>::instance();
        const auto  key    = Cache<dim>::key(mesh);
        Pointer     result = cache.find(key);
        if (result != nullptr)
          {
            if (workspace != nullptr)
              (*workspace)->shared_mesh = result->block;
            return result;
          }
        // Without the lock, because the copy runs on the host's threads, which
        // may take up other work meanwhile. At worst two threads copy the same
        // mesh.
        result = Pointer(new DeviceMesh(mesh, workspace));
        cache.insert(key, result);
        return result;
      }



      template <int dim>
      bool
      DeviceMesh<dim>::is_shareable(const PolytopicMesh<dim> &mesh)
      {
        const bool tabulated = !mesh.subcell_point_offset.empty() ||
                               !mesh.facet_point_offset.empty();
        return mesh.revision != 0 &&
               (!tabulated || mesh.quadrature_revision != 0);
      }



      template <int dim>
      std::size_t
      DeviceMesh<dim>::memory(const PolytopicMesh<dim> &mesh)
      {
        MeshArrays<dim> arrays;
        ArrayList       list;
        arrays.add_to(list, mesh);
        return list.bytes();
      }



      template struct MeshArrays<2>;
      template struct MeshArrays<3>;
      template struct MeshArrays<4>;
      template class DeviceMesh<2>;
      template class DeviceMesh<3>;
      template class DeviceMesh<4>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

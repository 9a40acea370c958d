// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "mesh_part.h"

#include <algorithm>

#include "host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      unsigned int
      position(const std::vector<unsigned int> &sorted,
               const unsigned int               value)
      {
        return static_cast<unsigned int>(
          std::lower_bound(sorted.begin(), sorted.end(), value) -
          sorted.begin());
      }

      template <typename VectorType>
      VectorType
      slice(const VectorType &v, const std::size_t begin, const std::size_t end)
      {
        return v.empty() ? VectorType()
                         : VectorType(v.begin() + begin, v.begin() + end);
      }

      // Entries [begin, end] of an array of offsets, shifted such that they
      // begin at 0.
      std::vector<unsigned int>
      offsets(const std::vector<unsigned int> &v,
              const std::size_t                begin,
              const std::size_t                end)
      {
        if (v.empty())
          return {};
        std::vector<unsigned int> result(v.begin() + begin,
                                         v.begin() + end + 1);
        for (unsigned int &entry : result)
          entry -= v[begin];
        return result;
      }

      // Copies the values, n_components each, that belong to an index of the
      // whole mesh to those of an index of the part.
      template <typename VectorType>
      void
      gather(const VectorType                &from,
             const std::vector<unsigned int> &from_offset,
             const unsigned int               from_index,
             VectorType                      &to,
             const std::vector<unsigned int> &to_offset,
             const unsigned int               to_index,
             const std::size_t                n_components)
      {
        std::copy(from.begin() + n_components * from_offset[from_index],
                  from.begin() + n_components * from_offset[from_index + 1],
                  to.begin() + n_components * to_offset[to_index]);
      }
    } // namespace



    template <int dim>
    MeshPart<dim>::MeshPart(const PolytopicMesh<dim> &whole,
                            const PolytopicDoFs      &whole_space,
                            const BlockSparsity      &blocks,
                            const unsigned int        begin,
                            const unsigned int        end)
      : begin(begin)
      , end(end)
    {
      find_polytopes(blocks);
      const std::vector<unsigned int> interface = find_interfaces(whole);
      copy_polytopes(whole, blocks);
      copy_space(whole_space);
      copy_blocks(blocks);
      copy_subcells(whole);
      copy_interfaces(whole, interface);
      copy_facets(whole);
    }



    template <int dim>
    void
    MeshPart<dim>::find_polytopes(const BlockSparsity &blocks)
    {
      std::vector<unsigned int> outside;
      for (std::uint64_t b = blocks.block_offset[begin];
           b < blocks.block_offset[end];
           ++b)
        if (blocks.block_column[b] < begin || blocks.block_column[b] >= end)
          outside.push_back(blocks.block_column[b]);
      std::sort(outside.begin(), outside.end());
      outside.erase(std::unique(outside.begin(), outside.end()), outside.end());
      first = position(outside, begin);
      polytope.assign(outside.begin(), outside.begin() + first);
      for (unsigned int k = begin; k < end; ++k)
        polytope.push_back(k);
      polytope.insert(polytope.end(), outside.begin() + first, outside.end());
    }



    template <int dim>
    std::vector<unsigned int>
    MeshPart<dim>::find_interfaces(const PolytopicMesh<dim> &whole) const
    {
      // Interfaces whose side 0 is in the range keep their order. They follow
      // those that the range shares with polytopes outside on side 0.
      std::vector<unsigned int> interface;
      for (const bool inside : {false, true})
        {
          for (unsigned int e = whole.polytope_interface_offset[begin];
               e < whole.polytope_interface_offset[end];
               ++e)
            {
              const unsigned int code = whole.polytope_interface[e];
              if (inside ? code % 2 == 0
                         : code % 2 == 1 && (whole.neighbor(code) < begin ||
                                             whole.neighbor(code) >= end))
                interface.push_back(code / 2);
            }
          if (!inside || !std::is_sorted(interface.begin(), interface.end()))
            std::sort(interface.begin(), interface.end());
        }
      return interface;
    }



    template <int dim>
    void
    MeshPart<dim>::copy_polytopes(const PolytopicMesh<dim> &whole,
                                  const BlockSparsity      &blocks)
    {
      const unsigned int n = polytope.size();
      mesh.measure.resize(n);
      mesh.box.resize(2 * dim * std::size_t(n));
      mesh.subcell_offset.assign(n + 1, 0);
      mesh.polytope_interface_offset.assign(n + 1, 0);
      sparsity.block_offset.assign(n + 1, 0);
      sparsity.value_offset.assign(n + 1, 0);
      sparsity.row_width.assign(n, 0);
      for (unsigned int l = 0; l < n; ++l)
        {
          const unsigned int k = polytope[l];
          mesh.measure[l]      = whole.measure[k];
          std::copy(whole.box.begin() + 2 * dim * std::size_t(k),
                    whole.box.begin() + 2 * dim * (std::size_t(k) + 1),
                    mesh.box.begin() + 2 * dim * std::size_t(l));
          const bool own = k >= begin && k < end;
          // Polytope k + 1 may be a neighbour, whose ranges are empty.
          const unsigned int last = std::max(begin, std::min(k + 1, end));
          mesh.subcell_offset[l + 1] =
            whole.subcell_offset[last] - whole.subcell_offset[begin];
          mesh.polytope_interface_offset[l + 1] =
            whole.polytope_interface_offset[last] -
            whole.polytope_interface_offset[begin];
          sparsity.block_offset[l + 1] =
            blocks.block_offset[last] - blocks.block_offset[begin];
          sparsity.value_offset[l + 1] =
            blocks.value_offset[last] - blocks.value_offset[begin];
          if (own)
            sparsity.row_width[l] = blocks.row_width[k];
        }
    }



    template <int dim>
    void
    MeshPart<dim>::copy_space(const PolytopicDoFs &whole)
    {
      const unsigned int n = polytope.size();
      dofs.n_components    = whole.n_components;
      dofs.degree.resize(n);
      dofs.n_basis.resize(n);
      dofs.dof_offset.resize(n + 1);
      for (unsigned int l = 0; l < n; ++l)
        {
          const unsigned int k = polytope[l];
          dofs.degree[l]       = whole.degree[k];
          dofs.n_basis[l]      = whole.n_basis[k];
          dofs.dof_offset[l + 1] =
            dofs.dof_offset[l] + whole.dof_offset[k + 1] - whole.dof_offset[k];
        }
    }



    template <int dim>
    void
    MeshPart<dim>::copy_blocks(const BlockSparsity &blocks)
    {
      sparsity.column_offset = slice(blocks.column_offset,
                                     blocks.block_offset[begin],
                                     blocks.block_offset[end]);
      sparsity.block_column  = slice(blocks.block_column,
                                    blocks.block_offset[begin],
                                    blocks.block_offset[end]);
      for_ranges(sparsity.block_column.size(),
                 4096,
                 [&](const std::size_t from, const std::size_t to) {
                   for (std::size_t b = from; b < to; ++b)
                     sparsity.block_column[b] =
                       position(polytope, sparsity.block_column[b]);
                 });
    }



    template <int dim>
    void
    MeshPart<dim>::copy_subcells(const PolytopicMesh<dim> &whole)
    {
      const unsigned int s_begin = whole.subcell_offset[begin],
                         s_end   = whole.subcell_offset[end];
      mesh.subcell_type          = slice(whole.subcell_type, s_begin, s_end);
      mesh.subcell_vertex_offset =
        offsets(whole.subcell_vertex_offset, s_begin, s_end);
      const std::size_t first_vertex = whole.subcell_vertex_offset[s_begin];
      mesh.subcell_vertices =
        slice(whole.subcell_vertices,
              dim * first_vertex,
              dim * (first_vertex + mesh.subcell_vertex_offset.back()));
      if (!whole.subcell_point_offset.empty())
        {
          mesh.subcell_point_offset =
            offsets(whole.subcell_point_offset, s_begin, s_end);
          const std::size_t from = whole.subcell_point_offset[s_begin],
                            to   = whole.subcell_point_offset[s_end];
          mesh.subcell_points =
            slice(whole.subcell_points, dim * from, dim * to);
          mesh.subcell_point_weights =
            slice(whole.subcell_point_weights, from, to);
        }
    }



    template <int dim>
    void
    MeshPart<dim>::copy_interfaces(const PolytopicMesh<dim>        &whole,
                                   const std::vector<unsigned int> &interface)
    {
      const unsigned int n_interfaces = interface.size();
      mesh.shift                      = whole.shift;
      mesh.interface_polytope.resize(2 * std::size_t(n_interfaces));
      mesh.interface_boundary_id.resize(n_interfaces);
      mesh.interface_shift.resize(n_interfaces);
      mesh.facet_offset.assign(n_interfaces + 1, 0);
      for (unsigned int i = 0; i < n_interfaces; ++i)
        mesh.facet_offset[i + 1] = mesh.facet_offset[i] +
                                   whole.facet_offset[interface[i] + 1] -
                                   whole.facet_offset[interface[i]];
      const unsigned int n_facets = mesh.facet_offset.back();
      facet.resize(n_facets);
      mesh.facet_type.resize(n_facets);
      for_ranges(
        n_interfaces, 2048, [&](const std::size_t from, const std::size_t to) {
          for (std::size_t i = from; i < to; ++i)
            {
              const unsigned int w = interface[i];
              for (unsigned int side = 0; side < 2; ++side)
                {
                  const unsigned int k =
                    whole.interface_polytope[2 * std::size_t(w) + side];
                  mesh.interface_polytope[2 * i + side] =
                    k == invalid_index ? k : position(polytope, k);
                }
              mesh.interface_boundary_id[i] = whole.interface_boundary_id[w];
              mesh.interface_shift[i]       = whole.interface_shift[w];
              for (unsigned int f = mesh.facet_offset[i];
                   f < mesh.facet_offset[i + 1];
                   ++f)
                {
                  facet[f] = whole.facet_offset[w] + (f - mesh.facet_offset[i]);
                  mesh.facet_type[f] = whole.facet_type[facet[f]];
                }
            }
        });
      mesh.polytope_interface = slice(whole.polytope_interface,
                                      whole.polytope_interface_offset[begin],
                                      whole.polytope_interface_offset[end]);
      for_ranges(mesh.polytope_interface.size(),
                 4096,
                 [&](const std::size_t from, const std::size_t to) {
                   for (std::size_t e = from; e < to; ++e)
                     {
                       unsigned int &code = mesh.polytope_interface[e];
                       code = 2 * position(interface, code / 2) + code % 2;
                     }
                 });
    }



    template <int dim>
    void
    MeshPart<dim>::copy_facets(const PolytopicMesh<dim> &whole)
    {
      const unsigned int n_facets  = facet.size();
      const bool         tabulated = !whole.facet_point_offset.empty();
      mesh.facet_vertex_offset.assign(n_facets + 1, 0);
      if (tabulated)
        mesh.facet_point_offset.assign(n_facets + 1, 0);
      for (unsigned int f = 0; f < n_facets; ++f)
        {
          const unsigned int w            = facet[f];
          mesh.facet_vertex_offset[f + 1] = mesh.facet_vertex_offset[f] +
                                            whole.facet_vertex_offset[w + 1] -
                                            whole.facet_vertex_offset[w];
          if (tabulated)
            mesh.facet_point_offset[f + 1] = mesh.facet_point_offset[f] +
                                             whole.facet_point_offset[w + 1] -
                                             whole.facet_point_offset[w];
        }
      mesh.facet_vertices.resize(dim *
                                 std::size_t(mesh.facet_vertex_offset.back()));
      mesh.facet_normal.resize(dim * std::size_t(n_facets));
      mesh.facet_measure.resize(n_facets);
      if (tabulated)
        {
          const std::size_t n_points = mesh.facet_point_offset.back();
          mesh.facet_points.resize(dim * n_points);
          mesh.facet_point_normals.resize(dim * n_points);
          mesh.facet_point_weights.resize(n_points);
        }
      for_ranges(
        n_facets, 2048, [&](const std::size_t from, const std::size_t to) {
          for (std::size_t f = from; f < to; ++f)
            {
              const unsigned int w = facet[f];
              gather(whole.facet_vertices,
                     whole.facet_vertex_offset,
                     w,
                     mesh.facet_vertices,
                     mesh.facet_vertex_offset,
                     f,
                     dim);
              for (unsigned int d = 0; d < dim; ++d)
                mesh.facet_normal[dim * f + d] =
                  whole.facet_normal[dim * std::size_t(w) + d];
              mesh.facet_measure[f] = whole.facet_measure[w];
              if (!tabulated)
                continue;
              const auto points =
                [&](const auto &array, auto &target, const std::size_t n) {
                  gather(array,
                         whole.facet_point_offset,
                         w,
                         target,
                         mesh.facet_point_offset,
                         f,
                         n);
                };
              points(whole.facet_points, mesh.facet_points, dim);
              points(whole.facet_point_normals, mesh.facet_point_normals, dim);
              points(whole.facet_point_weights, mesh.facet_point_weights, 1);
            }
        });
    }



    template <int dim>
    Device::CoefficientArrays
    MeshPart<dim>::coefficient_arrays(const PolytopicMesh<dim> &whole,
                                      const PolytopicDoFs &whole_space) const
    {
      Device::CoefficientArrays arrays;
      arrays.first_subcell = whole.subcell_offset[begin];
      arrays.subcell_material.assign(whole.subcell_material.begin() +
                                       whole.subcell_offset[begin],
                                     whole.subcell_material.begin() +
                                       whole.subcell_offset[end]);
      for (const unsigned int k : polytope)
        arrays.dof_offset.push_back(whole_space.dof_offset[k]);
      for (const unsigned int f : facet)
        for (unsigned int side = 0; side < 2; ++side)
          {
            const unsigned int s =
              whole.facet_subcell[2 * std::size_t(f) + side];
            arrays.facet_subcell.push_back(s);
            arrays.facet_material.push_back(
              s == invalid_index ? s : whole.subcell_material[s]);
          }
      return arrays;
    }



    template struct MeshPart<2>;
    template struct MeshPart<3>;
    template struct MeshPart<4>;
  } // namespace internal
} // namespace Tessella

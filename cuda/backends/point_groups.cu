// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <limits>

#include "point_groups.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// Number of rows that a thread lists at once.
        constexpr std::size_t grain = 256;
      } // namespace



      template <int dim>
      PointGroups<dim>::PointGroups(const AssemblerInput<dim> &input,
                                    const unsigned int         facet_step,
                                    const bool                 slab)
        : row(input.mesh.n_polytopes())
        , mesh(input.mesh)
        , dofs(input.dofs)
        , sparsity(input.sparsity)
        , rules(input.rules)
        , first(input.first)
        , last(input.last)
        , bottom_id(input.degrees.bottom_id)
        , facet_step(facet_step)
        , slab(slab)
        , parallel(input.parallel)
      {
        for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
          if (k < first || k >= last)
            row[k] = Row();
        parallel(last - first,
                 grain,
                 [&](const std::size_t begin, const std::size_t end) {
                   for (std::size_t k = first + begin; k < first + end; ++k)
                     count(k);
                 });
        set_ranges();
        block = RawArray<uint2>(sparsity.block_column.size());
        parallel(last - first,
                 grain,
                 [&](const std::size_t begin, const std::size_t end) {
                   for (std::size_t k = first + begin; k < first + end; ++k)
                     list_facets(k);
                 });
      }



      template <int dim>
      void
      PointGroups<dim>::count(const unsigned int k)
      {
        unsigned int n_volume = 0, n_facets = 0;
        for (unsigned int s = mesh.subcell_offset[k];
             s < mesh.subcell_offset[k + 1];
             ++s)
          n_volume +=
            (n_subcell_points(mesh, rules, s, dofs.degree[k]) + 3) / 4;
        for (unsigned int e = mesh.polytope_interface_offset[k];
             e < mesh.polytope_interface_offset[k + 1];
             ++e)
          {
            const unsigned int i = mesh.polytope_interface[e] / 2,
                               p = interface_degree(mesh, dofs, i);
            for (unsigned int f = mesh.facet_offset[i];
                 f < mesh.facet_offset[i + 1];
                 ++f)
              n_facets +=
                (n_facet_points(mesh, rules, f, p) + (facet_step - 1)) /
                facet_step;
          }
        row[k].volume_end = n_volume;
        row[k].facet_end  = n_facets;
      }



      template <int dim>
      void
      PointGroups<dim>::set_ranges()
      {
        std::uint64_t n_volume = 0, n_facets = 0;
        for (unsigned int k = first; k < last; ++k)
          {
            Row &r          = row[k];
            r.value         = sparsity.value_offset[k];
            r.width         = sparsity.row_width[k];
            r.degree        = dofs.degree[k];
            r.n_basis       = dofs.n_basis[k];
            r.first_subcell = mesh.subcell_offset[k];
            r.n_subcells    = mesh.subcell_offset[k + 1] - r.first_subcell;
            r.volume_begin  = static_cast<unsigned int>(n_volume);
            r.facet_begin   = static_cast<unsigned int>(n_facets);
            n_volume += r.volume_end;
            n_facets += r.facet_end;
            r.volume_end = static_cast<unsigned int>(n_volume);
            r.facet_end  = static_cast<unsigned int>(n_facets);
            if (r.n_point_groups() > row_split_limit)
              split_rows.push_back(k);
          }
        if (std::max(n_volume, n_facets) >
            std::numeric_limits<unsigned int>::max())
          throw Error(
            "The mesh has more than 2^34 quadrature points, which is "
            "too many for one assembly on a CUDA device. Use a "
            "smaller problem or the host backend.");
        facet = RawArray<FacetPointGroup>(n_facets);
      }



      template <int dim>
      void
      PointGroups<dim>::list_facets(const unsigned int k)
      {
        Row                &r           = row[k];
        const std::uint64_t first_block = sparsity.block_offset[k],
                            last_block  = sparsity.block_offset[k + 1];
        Cursor cursor                   = {r.facet_begin, first_block};
        for (std::uint64_t b = first_block; b < last_block; ++b)
          block[b] = {cursor.facet, cursor.facet};
        r.boundary_begin = r.bottom_begin = invalid_index;
        for (unsigned int e = mesh.polytope_interface_offset[k];
             e < mesh.polytope_interface_offset[k + 1];
             ++e)
          list_entry(k, e, cursor);
        r.boundary_begin = std::min(r.boundary_begin, cursor.facet);
        r.bottom_begin   = std::min(r.bottom_begin, cursor.facet);
        r.upright        = slab && r.bottom_begin < cursor.facet &&
                    r.n_point_groups() <= row_split_limit && is_level(k);
        r.empty_blocks = false;
        for (std::uint64_t b = first_block; b < last_block; ++b)
          if (sparsity.block_column[b] == k)
            r.diagonal = sparsity.column_offset[b];
          else if (block[b].x == block[b].y)
            r.empty_blocks = true;
      }



      template <int dim>
      void
      PointGroups<dim>::list_entry(const unsigned int k,
                                   const unsigned int e,
                                   Cursor            &cursor)
      {
        const unsigned int code = mesh.polytope_interface[e], i = code / 2,
                           p        = interface_degree(mesh, dofs, i),
                           neighbor = mesh.neighbor(code);
        const bool on_boundary      = neighbor == invalid_index,
                   bottom =
                     on_boundary && mesh.interface_boundary_id[i] == bottom_id;
        unsigned int &f = cursor.facet;
        if (on_boundary)
          row[k].boundary_begin = std::min(row[k].boundary_begin, f);
        if (bottom)
          row[k].bottom_begin = std::min(row[k].bottom_begin, f);
        if (!on_boundary)
          {
            find_block(k, neighbor, cursor);
            if (block[cursor.block].x == block[cursor.block].y)
              block[cursor.block].x = f;
          }
        const unsigned int column =
          on_boundary ? 0 : sparsity.column_offset[cursor.block];
        const unsigned int flags =
          (code & 1u ? FacetPointGroup::side : 0) |
          (mesh.interface_shift[i] != 0 ? FacetPointGroup::shifted : 0) |
          (bottom ? FacetPointGroup::bottom : 0);
        unsigned int entry_point = 0;
        for (unsigned int g = mesh.facet_offset[i];
             g < mesh.facet_offset[i + 1];
             ++g)
          {
            const unsigned int m     = n_facet_points(mesh, rules, g, p);
            const unsigned int prism = mesh.facet_type[g] == FacetType::prism
                                         ? FacetPointGroup::prism
                                         : 0;
            for (unsigned int q = 0; q < m; q += facet_step)
              facet[f++] = {g,
                            q << FacetPointGroup::point_shift | flags | prism,
                            neighbor,
                            column,
                            e,
                            entry_point + q};
            entry_point += m;
          }
        if (!on_boundary)
          block[cursor.block].y = f;
      }



      template <int dim>
      void
      PointGroups<dim>::find_block(const unsigned int k,
                                   const unsigned int neighbor,
                                   Cursor            &cursor) const
      {
        // Usually the next block; neighbours on other processes are in a
        // different order.
        while (sparsity.block_column[cursor.block] != neighbor)
          if (++cursor.block == sparsity.block_offset[k + 1])
            cursor.block = sparsity.block_offset[k];
      }



      template <int dim>
      bool
      PointGroups<dim>::is_level(const unsigned int k) const
      {
        const double *const box = mesh.box.data();
        for (unsigned int e = mesh.polytope_interface_offset[k];
             e < mesh.polytope_interface_offset[k + 1];
             ++e)
          {
            const std::size_t j = mesh.neighbor(mesh.polytope_interface[e]);
            for (unsigned int d = dim - 1; d < 2 * dim; d += dim)
              if (j != invalid_index &&
                  !(box[2 * dim * j + d] == box[2 * dim * std::size_t(k) + d]))
                return false;
          }
        return true;
      }



      template <int dim>
      RawArray<VolumePointGroup>
      PointGroups<dim>::volume(const std::uint64_t *first_point) const
      {
        RawArray<VolumePointGroup> volume(row[last - 1].volume_end);
        parallel(last - first,
                 grain,
                 [&](const std::size_t begin, const std::size_t end) {
                   for (std::size_t k = first + begin; k < first + end; ++k)
                     {
                       unsigned int  v = row[k].volume_begin;
                       std::uint64_t point =
                         first_point[mesh.subcell_offset[k]];
                       for (unsigned int s = mesh.subcell_offset[k];
                            s < mesh.subcell_offset[k + 1];
                            ++s)
                         {
                           const unsigned int m =
                             n_subcell_points(mesh, rules, s, dofs.degree[k]);
                           for (unsigned int q = 0; q < m; q += 4)
                             volume[v++] = {s, q, point + q};
                           point += m;
                         }
                     }
                 });
        return volume;
      }



      template class PointGroups<2>;
      template class PointGroups<3>;
      template class PointGroups<4>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

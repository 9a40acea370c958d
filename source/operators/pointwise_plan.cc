// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "pointwise_plan.h"

#include <algorithm>

namespace Tessella
{
  namespace internal
  {
    using Device::PointwisePiece;

    template <int dim>
    PointwisePlan<dim>::PointwisePlan(const PointwiseContext<dim> &context,
                                      const PointwiseTables<dim>  &tables,
                                      const Structure             &structure,
                                      const PointwisePlanLimits   &limits,
                                      const BlockSparsity         *blocks)
      : context(context)
      , tables(tables)
      , structure(structure)
      , limits(limits)
      , blocks(blocks)
    {
      const unsigned int n              = context.mesh().n_owned_polytopes();
      unsigned int       n_group_points = 0;
      for (unsigned int k = 0; k < n; ++k)
        {
          const unsigned int n_basis = context.test_dofs().n_basis[k],
                             points  = n_polytope_points(k),
                             splits  = n_splits(n_basis, points);
          if (k > 0 && (group.n_basis != n_basis || group.n_splits != splits ||
                        group.n_polytopes == limits.n_polytopes ||
                        n_group_points + points > limits.n_group_points))
            finish_group();
          if (k == 0 || group.n_polytopes == 0)
            {
              start_group(k, n_basis, splits);
              n_group_points = 0;
            }
          ++group.n_polytopes;
          n_group_points += points;
          n_points += points;
        }
      if (n > 0)
        finish_group();
    }



    template <int dim>
    unsigned int
    PointwisePlan<dim>::n_polytope_points(const unsigned int k) const
    {
      const PolytopicMesh<dim> &mesh = context.mesh();
      std::uint64_t             n    = 0;
      if (structure.volume)
        n += tables.subcell_point[mesh.subcell_offset[k + 1]] -
             tables.subcell_point[mesh.subcell_offset[k]];
      for (unsigned int e = mesh.polytope_interface_offset[k];
           e < mesh.polytope_interface_offset[k + 1];
           ++e)
        {
          const unsigned int i = mesh.polytope_interface[e] / 2;
          const bool         boundary =
            mesh.neighbor(mesh.polytope_interface[e]) == invalid_index;
          if (boundary ? structure.boundary_facets : structure.interior_facets)
            n += tables.facet_point[mesh.facet_offset[i + 1]] -
                 tables.facet_point[mesh.facet_offset[i]];
        }
      return static_cast<unsigned int>(n);
    }



    // Several lanes share the points of a polytope if it has few functions and
    // many points. The number depends on the polytope alone.
    template <int dim>
    unsigned int
    PointwisePlan<dim>::n_splits(const unsigned int n_basis,
                                 const unsigned int n) const
    {
      unsigned int result = 1;
      if (blocks == nullptr)
        while (result < 32 && 2 * result * n_basis <= 128 && n >= 32 * result)
          result *= 2;
      return result;
    }



    template <int dim>
    void
    PointwisePlan<dim>::start_group(const unsigned int k,
                                    const unsigned int n_basis,
                                    const unsigned int splits)
    {
      group.first_polytope = k;
      group.n_polytopes    = 0;
      group.first_batch    = batches.size();
      group.n_batches      = 0;
      group.n_basis        = n_basis;
      group.n_splits       = splits;
    }



    template <int dim>
    void
    PointwisePlan<dim>::finish_group()
    {
      done.assign(group.n_polytopes, 0);
      present.assign(group.n_polytopes, 0);
      batch                  = Device::PointwiseBatch();
      last_neighbor          = invalid_index;
      const auto start_batch = [&]() {
        batch.first_piece   = pieces.size();
        batch.first_slot    = slots.size();
        batch.first_segment = segments.size();
      };
      start_batch();
      if (structure.volume)
        for (unsigned int k = 0; k < group.n_polytopes; ++k)
          add_volume(k);
      if (blocks == nullptr && batch.n_pieces > 0)
        finish_batch();
      for (unsigned int k = 0; k < group.n_polytopes; ++k)
        add_facets(k);
      if (batch.n_pieces > 0 || batches.size() == group.first_batch)
        finish_batch();
      group.n_batches = batches.size() - group.first_batch;
      max_polytopes   = std::max(max_polytopes, group.n_polytopes);
      max_sums =
        std::max(max_sums, group.n_polytopes * group.n_basis * group.n_splits);
      groups.push_back(group);
      group.n_polytopes = 0;
    }



    template <int dim>
    void
    PointwisePlan<dim>::add_volume(const unsigned int k)
    {
      const PolytopicMesh<dim> &mesh     = context.mesh();
      const unsigned int        polytope = group.first_polytope + k;
      for (unsigned int s = mesh.subcell_offset[polytope];
           s < mesh.subcell_offset[polytope + 1];
           ++s)
        {
          PointwisePiece piece = PointwisePiece();
          piece.point          = tables.subcell_point[s];
          piece.item           = s;
          piece.own            = static_cast<unsigned short>(k);
          piece.other          = PointwisePiece::none;
          add_item(piece,
                   false,
                   tables.subcell_point[s + 1] - tables.subcell_point[s],
                   invalid_index);
        }
    }



    template <int dim>
    void
    PointwisePlan<dim>::add_facets(const unsigned int k)
    {
      const PolytopicMesh<dim> &mesh     = context.mesh();
      const unsigned int        polytope = group.first_polytope + k;
      for (unsigned int e = mesh.polytope_interface_offset[polytope];
           e < mesh.polytope_interface_offset[polytope + 1];
           ++e)
        {
          const unsigned int code = mesh.polytope_interface[e], i = code / 2,
                             neighbor = mesh.neighbor(code);
          if (neighbor == invalid_index ? !structure.boundary_facets
                                        : !structure.interior_facets)
            continue;
          for (unsigned int f = mesh.facet_offset[i];
               f < mesh.facet_offset[i + 1];
               ++f)
            {
              PointwisePiece piece = PointwisePiece();
              piece.point          = tables.facet_point[f];
              piece.item           = f;
              piece.normal         = tables.facet_normal[f];
              piece.own            = static_cast<unsigned short>(k);
              piece.other          = PointwisePiece::none;
              piece.side           = code % 2;
              piece.shift =
                static_cast<unsigned short>(mesh.interface_shift[i]);
              piece.varies = tables.varies(f);
              // Residuals read results on facets, not the neighbour.
              add_item(piece,
                       true,
                       tables.facet_point[f + 1] - tables.facet_point[f],
                       blocks == nullptr ? invalid_index : neighbor);
            }
        }
    }



    template <int dim>
    void
    PointwisePlan<dim>::add_item(PointwisePiece     piece,
                                 const bool         facet,
                                 unsigned int       n,
                                 const unsigned int neighbor)
    {
      const unsigned int size = facet ? limits.facet_size : limits.volume_size;
      while (n > 0)
        {
          const unsigned int n_batch =
                               batch.n_volume_points + batch.n_facet_points,
                             used = batch.n_volume_points * limits.volume_size +
                                    batch.n_facet_points * limits.facet_size;
          unsigned int room = limits.n_points - n_batch;
          if (size > 0)
            room =
              std::min(room,
                       limits.size > used ? (limits.size - used) / size : 0);
          // The items of a batch stay whole if a batch can hold them.
          const bool fits = n <= room;
          if (room == 0 ||
              (!fits && n_batch > 0 && blocks != nullptr &&
               (size == 0 || n <= limits.size / size)) ||
              (neighbor != invalid_index && !find_slot(neighbor, piece.other)))
            {
              // A batch without points takes at least one.
              if (n_batch > 0)
                {
                  finish_batch();
                  continue;
                }
              room = 1;
              if (neighbor != invalid_index)
                find_slot(neighbor, piece.other);
            }
          const unsigned int n_new = std::min(n, room);
          piece.n_points           = static_cast<unsigned short>(n_new);
          piece.begin              = static_cast<unsigned short>(n_batch);
          pieces.push_back(piece);
          ++batch.n_pieces;
          present[piece.own] += n_new;
          if (facet)
            {
              if (neighbor == group.first_polytope + piece.own)
                batch.own_neighbor = 1;
              if (blocks != nullptr && neighbor != invalid_index &&
                  neighbor != group.first_polytope + piece.own)
                add_segment(neighbor,
                            piece.other,
                            batch.n_facet_points,
                            batch.n_facet_points + n_new);
              batch.n_facet_points += n_new;
            }
          else
            batch.n_volume_points += n_new;
          piece.point += n_new;
          if (piece.varies)
            piece.normal += n_new;
          n -= n_new;
        }
    }



    template <int dim>
    bool
    PointwisePlan<dim>::find_slot(const unsigned int neighbor,
                                  unsigned short    &slot)
    {
      if (neighbor >= group.first_polytope &&
          neighbor < group.first_polytope + group.n_polytopes)
        {
          slot = static_cast<unsigned short>(neighbor - group.first_polytope);
          return true;
        }
      for (unsigned int s = batch.n_slots; s > 0; --s)
        if (slots[batch.first_slot + s - 1] == neighbor)
          {
            slot = static_cast<unsigned short>(group.n_polytopes + s - 1);
            return true;
          }
      if (batch.n_slots == limits.n_neighbors)
        return false;
      slots.push_back(neighbor);
      slot = static_cast<unsigned short>(group.n_polytopes + batch.n_slots++);
      return true;
    }



    template <int dim>
    void
    PointwisePlan<dim>::add_segment(const unsigned int   neighbor,
                                    const unsigned short slot,
                                    const unsigned int   begin,
                                    const unsigned int   end)
    {
      // Neighbours are sorted, so that points of one follow each other.
      if (neighbor == last_neighbor && batch.n_segments > 0)
        {
          segments.back().end = static_cast<unsigned short>(end);
          return;
        }
      Device::PointwiseSegment segment;
      segment.column =
        blocks
          ->column_offset[blocks->find_block(group.first_polytope, neighbor)];
      segment.slot  = slot;
      segment.begin = static_cast<unsigned short>(begin);
      segment.end   = static_cast<unsigned short>(end);
      segment.first = neighbor != last_neighbor;
      segments.push_back(segment);
      ++batch.n_segments;
      last_neighbor = neighbor;
    }



    template <int dim>
    void
    PointwisePlan<dim>::finish_batch()
    {
      batch.first_range  = ranges.size();
      unsigned int begin = 0;
      for (unsigned int k = 0; k < group.n_polytopes; ++k)
        {
          ranges.push_back(begin | (done[k] % 32) << 16);
          begin += present[k];
          done[k] += present[k];
          present[k] = 0;
        }
      ranges.push_back(begin);
      max_neighbors = std::max(max_neighbors, batch.n_slots);
      max_points    = std::max(max_points, begin);
      max_size      = std::max(max_size,
                          batch.n_volume_points * limits.volume_size +
                            batch.n_facet_points * limits.facet_size);
      batches.push_back(batch);
      batch               = Device::PointwiseBatch();
      batch.first_piece   = pieces.size();
      batch.first_slot    = slots.size();
      batch.first_segment = segments.size();
    }



    template class PointwisePlan<2>;
    template class PointwisePlan<3>;
  } // namespace internal
} // namespace Tessella

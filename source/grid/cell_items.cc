// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "cell_items.h"

#include <deal.II/grid/tria_accessor.h>
#include <deal.II/grid/tria_iterator.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "dual_graph.h"

namespace Tessella
{
  namespace Agglomeration
  {
    using dealii::Point;
    using dealii::Tensor;

    template <int dim>
    std::vector<Item<dim>>
    cells_as_items(const dealii::Triangulation<dim> &triangulation)
    {
      std::vector<Point<dim>>     centers;
      std::vector<Tensor<1, dim>> extents;
      centers.reserve(triangulation.n_active_cells());
      extents.reserve(triangulation.n_active_cells());
      Tensor<1, dim> mesh_lower, mesh_upper;
      const bool     distributed = internal::is_distributed(triangulation);
      for (const auto &cell : triangulation.active_cell_iterators())
        {
          if (distributed && !cell->is_locally_owned())
            continue;
          Point<dim>         center = cell->vertex(0);
          Tensor<1, dim>     lower = center, upper = center;
          const unsigned int n_vertices = cell->n_vertices();
          for (unsigned int v = 1; v < n_vertices; ++v)
            {
              const Point<dim> &p = cell->vertex(v);
              for (unsigned int d = 0; d < dim; ++d)
                {
                  center[d] += p[d];
                  lower[d] = std::min(lower[d], p[d]);
                  upper[d] = std::max(upper[d], p[d]);
                }
            }
          center /= n_vertices;
          if (centers.empty())
            mesh_lower = mesh_upper = center;
          for (unsigned int d = 0; d < dim; ++d)
            {
              mesh_lower[d] = std::min(mesh_lower[d], center[d]);
              mesh_upper[d] = std::max(mesh_upper[d], center[d]);
            }
          centers.push_back(center);
          extents.push_back(upper - lower);
        }

      double size = 0;
      for (unsigned int d = 0; d < dim; ++d)
        size = std::max(size, mesh_upper[d] - mesh_lower[d]);
      const double scaling =
        size > 0. ? double((std::uint64_t(1) << center_bits) - 1) / size : 0.;
      std::vector<Item<dim>> items(centers.size());
      for (unsigned int i = 0; i < items.size(); ++i)
        {
          items[i].index = i;
          for (unsigned int d = 0; d < dim; ++d)
            {
              items[i].center[d] = static_cast<std::uint64_t>(
                std::floor((centers[i][d] - mesh_lower[d]) * scaling + 0.5));
              items[i].extent[d] = static_cast<float>(extents[i][d] * scaling);
            }
        }
      return items;
    }



    namespace
    {
      // Groups of cells as items: the centre is the mean of the centres of the
      // cells. @p ids are without gaps; @p cells are in the order of the ids.
      template <int dim>
      std::vector<Item<dim>>
      groups_as_items(const std::vector<Item<dim>>    &cells,
                      const std::vector<unsigned int> &ids,
                      const unsigned int               n_groups)
      {
        struct Box
        {
          double        lower = std::numeric_limits<double>::max();
          double        upper = -std::numeric_limits<double>::max();
          std::uint64_t sum   = 0;
        };
        std::vector<std::array<Box, dim>> boxes(n_groups);
        std::vector<unsigned int>         n_members(n_groups, 0);
        for (std::size_t i = 0; i < ids.size(); ++i)
          {
            ++n_members[ids[i]];
            for (unsigned int d = 0; d < dim; ++d)
              {
                Box         &box = boxes[ids[i]][d];
                const double x   = static_cast<double>(cells[i].center[d]);
                const double h   = 0.5 * cells[i].extent[d];
                box.lower        = std::min(box.lower, x - h);
                box.upper        = std::max(box.upper, x + h);
                // Dropping four bits lets sums over 2^28 cells fit.
                box.sum += cells[i].center[d] >> 4;
              }
          }
        std::vector<Item<dim>> items(n_groups);
        for (unsigned int group = 0; group < n_groups; ++group)
          {
            items[group].index = group;
            for (unsigned int d = 0; d < dim; ++d)
              {
                const Box &box = boxes[group][d];
                items[group].center[d] =
                  ((box.sum + n_members[group] / 2) / n_members[group]) << 4;
                items[group].extent[d] =
                  static_cast<float>(box.upper - box.lower);
              }
          }
        return items;
      }



      // Number of slabs into which to cut a set that is to be divided into @p
      // n_parts parts. @p aspect_ratio is the ratio of its longest edge to the
      // second longest.
      unsigned int
      n_slabs(const unsigned int n_parts, const double aspect_ratio)
      {
        // Slabs with equal numbers of parts keep the rows of structured meshes
        // together. More than two slabs are good only if each can be cut again
        // in the other directions, or if the set is long enough.
        for (const unsigned int divisor : {2u, 3u, 5u, 7u})
          if (n_parts % divisor == 0 &&
              (divisor == 2 || n_parts / divisor >= divisor ||
               aspect_ratio >= 0.75 * divisor))
            return divisor;
        return 2;
      }



      // Cuts the items [begin, end) into the parts first_part .. first_part +
      // n_parts - 1 of nearly equal size.
      template <int dim>
      void
      tile(const typename std::vector<Item<dim>>::iterator begin,
           const typename std::vector<Item<dim>>::iterator end,
           const unsigned int                              first_part,
           const unsigned int                              n_parts,
           std::vector<unsigned int>                      &parts)
      {
        if (n_parts == 1)
          {
            for (auto item = begin; item != end; ++item)
              parts[item->index] = first_part;
            return;
          }

        // Longest edge of the bounding box; the first one if several are
        // equally long.
        unsigned int direction = 0;
        double       longest = -1., second = -1.;
        for (unsigned int d = 0; d < dim; ++d)
          {
            double lower = std::numeric_limits<double>::max();
            double upper = -lower;
            for (auto item = begin; item != end; ++item)
              {
                const double x = static_cast<double>(item->center[d]);
                const double h = 0.5 * item->extent[d];
                lower          = std::min(lower, x - h);
                upper          = std::max(upper, x + h);
              }
            const double length = upper - lower;
            if (length > 1.00001 * longest)
              {
                second    = longest;
                longest   = length;
                direction = d;
              }
            else
              second = std::max(second, length);
          }

        // Ties are broken by the other coordinates and finally by the index.
        // The order is total, so that the parts do not depend on the
        // implementation of nth_element.
        const auto before = [direction](const Item<dim> &a,
                                        const Item<dim> &b) {
          if (a.center[direction] != b.center[direction])
            return a.center[direction] < b.center[direction];
          if (a.center != b.center)
            return a.center < b.center;
          return a.index < b.index;
        };

        const unsigned int slabs =
          n_slabs(n_parts, second > 0. ? longest / second : n_parts);
        const std::uint64_t n_items    = end - begin;
        auto                slab_begin = begin;
        for (std::uint64_t slab = 0; slab < slabs; ++slab)
          {
            const std::uint64_t part_begin = slab * n_parts / slabs;
            const std::uint64_t part_end   = (slab + 1) * n_parts / slabs;
            const auto          slab_end = begin + part_end * n_items / n_parts;
            if (slab_end != end)
              std::nth_element(slab_begin, slab_end, end, before);
            tile<dim>(slab_begin,
                      slab_end,
                      first_part + part_begin,
                      part_end - part_begin,
                      parts);
            slab_begin = slab_end;
          }
      }
    } // namespace



    template <int dim>
    std::vector<unsigned int>
    tile(std::vector<Item<dim>> items, const unsigned int n_parts)
    {
      std::vector<unsigned int> parts(items.size());
      tile<dim>(items.begin(), items.end(), 0, n_parts, parts);
      return parts;
    }



    template <int dim>
    unsigned int
    coarsen(const std::vector<Item<dim>> &cells,
            std::vector<unsigned int>    &ids,
            const unsigned int            n_groups,
            const unsigned int            n_children)
    {
      if (n_groups <= 1)
        return n_groups;
      const unsigned int n_parts =
        n_groups / n_children + (n_groups % n_children != 0);
      const std::vector<unsigned int> parts =
        tile(groups_as_items(cells, ids, n_groups), n_parts);
      for (unsigned int &id : ids)
        id = parts[id];
      return internal::renumber(ids);
    }

#define INSTANTIATE(dim)                                               \
  template std::vector<Item<dim>> cells_as_items<dim>(                 \
    const dealii::Triangulation<dim> &);                               \
  template std::vector<unsigned int> tile<dim>(std::vector<Item<dim>>, \
                                               const unsigned int);    \
  template unsigned int coarsen<dim>(const std::vector<Item<dim>> &,   \
                                     std::vector<unsigned int> &,      \
                                     const unsigned int,               \
                                     const unsigned int)

    INSTANTIATE(2);
    INSTANTIATE(3);
#undef INSTANTIATE
  } // namespace Agglomeration
} // namespace Tessella

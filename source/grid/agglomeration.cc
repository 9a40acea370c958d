// SPDX-License-Identifier: LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>
#include <deal.II/base/point.h>
#include <deal.II/base/tensor.h>
#include <deal.II/base/utilities.h>

#include <deal.II/grid/tria.h>
#include <deal.II/grid/tria_accessor.h>
#include <deal.II/grid/tria_iterator.h>

#include <tessella/grid/agglomeration.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "cell_id_files.h"
#include "dual_graph.h"

namespace Tessella
{
  namespace Agglomeration
  {
    namespace
    {
      using dealii::ExcMessage;
      using dealii::Point;
      using dealii::Tensor;
      using dealii::Triangulation;

      constexpr unsigned int unset = std::numeric_limits<unsigned int>::max();

      template <int dim>
      void
      check_n_polytopes(const Triangulation<dim> &triangulation,
                        const unsigned int        n_polytopes)
      {
        AssertThrow(n_polytopes > 0,
                    ExcMessage("Agglomeration into zero polytopes was asked "
                               "for: give a positive number."));
        AssertThrow(n_polytopes <= triangulation.n_active_cells(),
                    ExcMessage(
                      "Agglomeration into " + std::to_string(n_polytopes) +
                      " polytopes was asked for, but the mesh has only " +
                      std::to_string(triangulation.n_active_cells()) +
                      " active cells: ask for fewer polytopes or refine the "
                      "mesh."));
      }



      template <int dim>
      void
      check_n_ids(const Triangulation<dim> &triangulation,
                  const std::size_t         n_ids,
                  const std::string        &what)
      {
        AssertThrow(n_ids == triangulation.n_active_cells(),
                    ExcMessage(what + " has " + std::to_string(n_ids) +
                               (n_ids == 1 ? " entry" : " entries") +
                               ", but the mesh has " +
                               std::to_string(triangulation.n_active_cells()) +
                               " active cells: one entry per active cell is "
                               "needed, in the order of active_cell_index."));
      }



      /// Things to be sorted into tiles: cells, or groups of them.
      template <int dim>
      struct Items
      {
        std::vector<Point<dim>>     centers;
        std::vector<Tensor<1, dim>> extents;
        /// Coordinates as integers, in units of the largest extent of the
        /// mesh times 2^-40. Equal coordinates that differ by rounding become
        /// the same number, so rounding does not decide who is cut off a
        /// row of cells.
        std::vector<std::array<std::uint64_t, dim>> keys;
      };

      constexpr unsigned int key_bits = 40;

      template <int dim>
      void
      compute_keys(Items<dim> &items)
      {
        if (items.centers.empty())
          return;
        Point<dim> lower = items.centers[0], upper = items.centers[0];
        for (const Point<dim> &p : items.centers)
          for (unsigned int d = 0; d < dim; ++d)
            {
              lower[d] = std::min(lower[d], p[d]);
              upper[d] = std::max(upper[d], p[d]);
            }
        double size = 0;
        for (unsigned int d = 0; d < dim; ++d)
          size = std::max(size, upper[d] - lower[d]);
        const double scaling =
          size > 0. ? double((std::uint64_t(1) << key_bits) - 1) / size : 0.;
        items.keys.resize(items.centers.size());
        for (std::size_t i = 0; i < items.keys.size(); ++i)
          for (unsigned int d = 0; d < dim; ++d)
            items.keys[i][d] = static_cast<std::uint64_t>(
              std::floor((items.centers[i][d] - lower[d]) * scaling + 0.5));
      }



      template <int dim>
      Items<dim>
      cells_as_items(const Triangulation<dim> &triangulation)
      {
        Items<dim>        items;
        const std::size_t n_cells = triangulation.n_active_cells();
        items.centers.reserve(n_cells);
        items.extents.reserve(n_cells);
        for (const auto &cell : triangulation.active_cell_iterators())
          {
            Point<dim>         center = cell->vertex(0);
            Point<dim>         lower = center, upper = center;
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
            items.centers.push_back(center);
            items.extents.push_back(upper - lower);
          }
        compute_keys(items);
        return items;
      }



      /// Groups as items: centre is the mean of the centres of the cells,
      /// extents those of the box around all. @p ids are without gaps.
      template <int dim>
      Items<dim>
      groups_as_items(const Items<dim>                &cells,
                      const std::vector<unsigned int> &ids,
                      const unsigned int               n_groups)
      {
        constexpr double          infinity = std::numeric_limits<double>::max();
        Items<dim>                items;
        std::vector<unsigned int> n_members(n_groups, 0);
        std::vector<std::array<double, dim>> lower(n_groups), upper(n_groups);
        items.centers.resize(n_groups);
        items.extents.resize(n_groups);
        for (unsigned int group = 0; group < n_groups; ++group)
          {
            lower[group].fill(infinity);
            upper[group].fill(-infinity);
          }
        for (std::size_t i = 0; i < ids.size(); ++i)
          {
            const unsigned int group = ids[i];
            ++n_members[group];
            for (unsigned int d = 0; d < dim; ++d)
              {
                const double x = cells.centers[i][d];
                const double h = 0.5 * cells.extents[i][d];
                items.centers[group][d] += x;
                lower[group][d] = std::min(lower[group][d], x - h);
                upper[group][d] = std::max(upper[group][d], x + h);
              }
          }
        for (unsigned int group = 0; group < n_groups; ++group)
          {
            items.centers[group] /= n_members[group];
            for (unsigned int d = 0; d < dim; ++d)
              items.extents[group][d] = upper[group][d] - lower[group][d];
          }
        compute_keys(items);
        return items;
      }



      using SortEntry = std::pair<std::uint64_t, unsigned int>;

      /**
       * Cuts the items [begin, end) into the parts first_part .. first_part +
       * n_parts - 1 of nearly equal size: slabs in direction @p direction,
       * these again in the next direction, and so on.
       */
      template <int dim>
      void
      tile(const Items<dim>                      &items,
           const std::vector<SortEntry>::iterator begin,
           const std::vector<SortEntry>::iterator end,
           const unsigned int                     direction,
           const unsigned int                     first_part,
           const unsigned int                     n_parts,
           std::vector<unsigned int>             &parts)
      {
        if (n_parts == 1)
          {
            for (auto it = begin; it != end; ++it)
              parts[it->second] = first_part;
            return;
          }

        unsigned int n_slabs = n_parts;
        if (direction + 1 < dim)
          {
            // Tiles shall have about the same length in the remaining
            // directions.
            double sum_of_logarithms = 0, own_logarithm = 0;
            for (unsigned int d = direction; d < dim; ++d)
              {
                double lower   = std::numeric_limits<double>::max();
                double upper   = -lower;
                double extents = 0;
                for (auto it = begin; it != end; ++it)
                  {
                    const double x = items.centers[it->second][d];
                    lower          = std::min(lower, x);
                    upper          = std::max(upper, x);
                    extents += items.extents[it->second][d];
                  }
                const double length =
                  (upper - lower) + extents / static_cast<double>(end - begin);
                const double logarithm = std::log(
                  std::max(length, std::numeric_limits<double>::min()));
                if (d == direction)
                  own_logarithm = logarithm;
                sum_of_logarithms += logarithm;
              }
            const double n_directions = dim - direction;
            const double wish         = std::exp(
              (std::log(double(n_parts)) - sum_of_logarithms) / n_directions +
              own_logarithm);
            n_slabs = wish >= n_parts
                        ? n_parts
                        : std::max(1u, static_cast<unsigned int>(wish + 0.5));
          }

        if (n_slabs > 1)
          {
            for (auto it = begin; it != end; ++it)
              it->first = items.keys[it->second][direction];
            // Ties keep the order of the directions before, in the end that
            // of the numbers.
            std::stable_sort(begin,
                             end,
                             [](const SortEntry &a, const SortEntry &b) {
                               return a.first < b.first;
                             });
          }

        const std::uint64_t n_items = end - begin;
        for (unsigned int slab = 0; slab < n_slabs; ++slab)
          {
            const std::uint64_t part_begin =
              std::uint64_t(slab) * n_parts / n_slabs;
            const std::uint64_t part_end =
              (std::uint64_t(slab) + 1) * n_parts / n_slabs;
            const auto slab_begin = begin + part_begin * n_items / n_parts;
            const auto slab_end   = begin + part_end * n_items / n_parts;
            if (direction + 1 < dim)
              tile<dim>(items,
                        slab_begin,
                        slab_end,
                        direction + 1,
                        first_part + part_begin,
                        part_end - part_begin,
                        parts);
            else
              for (auto it = slab_begin; it != slab_end; ++it)
                parts[it->second] = first_part + part_begin;
          }
      }



      template <int dim>
      std::vector<unsigned int>
      tile(const Items<dim> &items, const unsigned int n_parts)
      {
        std::vector<SortEntry> entries(items.centers.size());
        for (unsigned int i = 0; i < entries.size(); ++i)
          entries[i].second = i;
        std::vector<unsigned int> parts(entries.size());
        tile<dim>(items, entries.begin(), entries.end(), 0, 0, n_parts, parts);
        return parts;
      }



      /// Replaces ids by those of the next coarser level; returns the number
      /// of groups.
      template <int dim>
      unsigned int
      coarsen(const Items<dim>          &cells,
              std::vector<unsigned int> &ids,
              const unsigned int         n_groups,
              const unsigned int         n_children)
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



      template <int dim>
      constexpr unsigned int
      default_n_children()
      {
        return 1u << dim;
      }



      /// Applies a strategy that may be the user's own.
      template <int dim>
      std::vector<unsigned int>
      apply(const Strategy<dim>      &strategy,
            const Triangulation<dim> &triangulation)
      {
        AssertThrow(strategy,
                    ExcMessage("The agglomeration strategy is empty: give one "
                               "of the functions of namespace Agglomeration, "
                               "or your own."));
        std::vector<unsigned int> ids = strategy(triangulation);
        check_n_ids(triangulation,
                    ids.size(),
                    "The vector of polytope ids that the agglomeration "
                    "strategy returned");
        return ids;
      }



      /// Ids of ancestors; level_of_ancestor(level of the cell) says how far
      /// to go up.
      template <int dim, typename LevelFunction>
      std::vector<unsigned int>
      ancestor_ids(const Triangulation<dim> &triangulation,
                   const LevelFunction      &level_of_ancestor)
      {
        std::vector<std::vector<unsigned int>> ids_of_level(
          triangulation.n_levels());
        std::vector<unsigned int> ids;
        ids.reserve(triangulation.n_active_cells());
        unsigned int n_ids = 0;
        for (const auto &cell : triangulation.active_cell_iterators())
          {
            typename Triangulation<dim>::cell_iterator ancestor = cell;
            const int level = level_of_ancestor(cell->level());
            while (ancestor->level() > level)
              ancestor = ancestor->parent();
            auto &level_ids = ids_of_level[ancestor->level()];
            if (level_ids.empty())
              level_ids.assign(triangulation.n_raw_cells(ancestor->level()),
                               unset);
            unsigned int &id = level_ids[ancestor->index()];
            if (id == unset)
              id = n_ids++;
            ids.push_back(id);
          }
        return ids;
      }
    } // namespace



    template <int dim>
    Strategy<dim>
    none()
    {
      return [](const Triangulation<dim> &triangulation) {
        std::vector<unsigned int> ids(triangulation.n_active_cells());
        std::iota(ids.begin(), ids.end(), 0u);
        return ids;
      };
    }



    template <int dim>
    Strategy<dim>
    metis(const unsigned int               n_polytopes,
          const std::vector<unsigned int> &weights)
    {
      return [n_polytopes, weights](const Triangulation<dim> &triangulation) {
        check_n_polytopes(triangulation, n_polytopes);
        if (!weights.empty())
          {
            check_n_ids(triangulation,
                        weights.size(),
                        "The vector of weights for METIS");
            const auto zero = std::find(weights.begin(), weights.end(), 0u);
            AssertThrow(zero == weights.end(),
                        ExcMessage("The weight for METIS of active cell " +
                                   std::to_string(zero - weights.begin()) +
                                   " is zero: all must be positive."));
          }
        std::vector<unsigned int> ids =
          internal::partition_graph(internal::make_dual_graph(triangulation,
                                                              false),
                                    weights,
                                    n_polytopes);
        internal::renumber(ids);
        return ids;
      };
    }



    template <int dim>
    Strategy<dim>
    space_filling_curve(const unsigned int n_polytopes)
    {
      return [n_polytopes](const Triangulation<dim> &triangulation) {
        check_n_polytopes(triangulation, n_polytopes);
        const Items<dim> items = cells_as_items(triangulation);
        const std::vector<std::array<std::uint64_t, dim>> places =
          dealii::Utilities::inverse_Hilbert_space_filling_curve<dim>(
            items.keys, key_bits);
        std::vector<std::pair<std::array<std::uint64_t, dim>, unsigned int>>
          order(places.size());
        for (unsigned int i = 0; i < order.size(); ++i)
          order[i] = {places[i], i};
        std::sort(order.begin(), order.end());

        std::vector<unsigned int> ids(order.size());
        const std::uint64_t       n_cells = order.size();
        for (unsigned int id = 0; id < n_polytopes; ++id)
          for (std::uint64_t k = id * n_cells / n_polytopes;
               k < (id + 1) * n_cells / n_polytopes;
               ++k)
            ids[order[k].second] = id;
        internal::renumber(ids);
        return ids;
      };
    }



    template <int dim>
    Strategy<dim>
    rtree(const unsigned int level, const unsigned int cells_per_leaf)
    {
      return [level, cells_per_leaf](const Triangulation<dim> &triangulation) {
        const unsigned int n_cells = triangulation.n_active_cells();
        if (n_cells == 0)
          return std::vector<unsigned int>();
        const Items<dim>   items = cells_as_items(triangulation);
        const unsigned int size =
          cells_per_leaf > 0 ? cells_per_leaf : default_n_children<dim>();
        std::vector<unsigned int> ids =
          tile(items, n_cells / size + (n_cells % size != 0));
        unsigned int n_groups = internal::renumber(ids);
        for (unsigned int l = 0; l < level && n_groups > 1; ++l)
          n_groups = coarsen(items, ids, n_groups, default_n_children<dim>());
        return ids;
      };
    }



    template <int dim>
    Strategy<dim>
    rtree_parts(const unsigned int n_polytopes)
    {
      return [n_polytopes](const Triangulation<dim> &triangulation) {
        check_n_polytopes(triangulation, n_polytopes);
        std::vector<unsigned int> ids =
          tile(cells_as_items(triangulation), n_polytopes);
        internal::renumber(ids);
        return ids;
      };
    }



    template <int dim>
    Strategy<dim>
    parents(const unsigned int levels_up)
    {
      return [levels_up](const Triangulation<dim> &triangulation) {
        return ancestor_ids(triangulation, [levels_up](const int level) {
          return level -
                 static_cast<int>(std::min<unsigned int>(levels_up, level));
        });
      };
    }



    template <int dim>
    Strategy<dim>
    ancestors_on_level(const unsigned int level)
    {
      return [level](const Triangulation<dim> &triangulation) {
        return ancestor_ids(triangulation, [level](const int cell_level) {
          return static_cast<int>(std::min<unsigned int>(level, cell_level));
        });
      };
    }



    template <int dim>
    Strategy<dim>
    by_id(const std::vector<unsigned int> &ids)
    {
      return [ids](const Triangulation<dim> &triangulation) {
        check_n_ids(triangulation, ids.size(), "The vector of polytope ids");
        std::vector<unsigned int> new_ids = ids;
        internal::renumber(new_ids);
        return new_ids;
      };
    }



    template <int dim>
    Strategy<dim>
    by_material_id()
    {
      return [](const Triangulation<dim> &triangulation) {
        std::vector<unsigned int> ids;
        ids.reserve(triangulation.n_active_cells());
        for (const auto &cell : triangulation.active_cell_iterators())
          ids.push_back(cell->material_id());
        internal::renumber(ids);
        return ids;
      };
    }



    template <int dim>
    Strategy<dim>
    from_file(const std::string &file_name)
    {
      return [file_name](const Triangulation<dim> &triangulation) {
        std::vector<unsigned int> ids = internal::read_id_file(file_name);
        check_n_ids(triangulation,
                    ids.size(),
                    "The file '" + file_name + "' of polytope ids");
        internal::renumber(ids);
        return ids;
      };
    }



    template <int dim>
    Strategy<dim>
    from_cell_data(const std::string &file_name, const std::string &field)
    {
      return [file_name, field](const Triangulation<dim> &triangulation) {
        const std::vector<unsigned int> file_ids =
          internal::read_cell_data_file(file_name, field, dim);
        const unsigned int n_coarse_cells = triangulation.n_cells(0);
        AssertThrow(file_ids.size() == n_coarse_cells,
                    ExcMessage(
                      "The file '" + file_name + "' has " +
                      std::to_string(file_ids.size()) + " " +
                      std::to_string(dim) + "-dimensional cells in field '" +
                      field + "', but the mesh has " +
                      std::to_string(n_coarse_cells) +
                      " cells on level 0: polytope ids must come from the "
                      "file that the mesh was read from."));
        std::vector<unsigned int> ids;
        ids.reserve(triangulation.n_active_cells());
        for (const auto &cell : triangulation.active_cell_iterators())
          {
            typename Triangulation<dim>::cell_iterator ancestor = cell;
            while (ancestor->level() > 0)
              ancestor = ancestor->parent();
            ids.push_back(file_ids[ancestor->index()]);
          }
        internal::renumber(ids);
        return ids;
      };
    }



    template <int dim>
    Strategy<dim>
    repair(const Strategy<dim> &strategy, const RepairOptions &options)
    {
      return [strategy, options](const Triangulation<dim> &triangulation) {
        std::vector<unsigned int> ids   = apply(strategy, triangulation);
        const bool                merge = options.min_cells > 1;
        internal::renumber(ids);
        if (!merge && !options.split_disconnected)
          return ids;
        const internal::DualGraph graph =
          internal::make_dual_graph(triangulation, merge);
        if (options.split_disconnected)
          ids = internal::connected_parts(graph, ids);
        if (merge)
          internal::merge_small_polytopes(graph, options.min_cells, ids);
        internal::renumber(ids);
        return ids;
      };
    }



    template <int dim>
    std::vector<std::vector<unsigned int>>
    nested(const Triangulation<dim> &triangulation,
           const Strategy<dim>      &finest,
           const unsigned int        n_levels,
           const unsigned int        n_children)
    {
      AssertThrow(n_children != 1,
                  ExcMessage("Nested agglomeration with one child per "
                             "polytope never coarsens: ask for two or more."));
      std::vector<std::vector<unsigned int>> levels;
      if (n_levels == 0)
        return levels;
      levels.push_back(apply(finest, triangulation));
      unsigned int n_groups = internal::renumber(levels.back());
      if (n_levels == 1)
        return levels;
      const Items<dim> items = cells_as_items(triangulation);
      for (unsigned int l = 1; l < n_levels; ++l)
        {
          std::vector<unsigned int> ids = levels.back();
          n_groups =
            coarsen(items,
                    ids,
                    n_groups,
                    n_children > 0 ? n_children : default_n_children<dim>());
          levels.push_back(std::move(ids));
        }
      return levels;
    }



    template <int dim>
    Statistics
    statistics(const Triangulation<dim>        &triangulation,
               const std::vector<unsigned int> &original_ids)
    {
      check_n_ids(triangulation,
                  original_ids.size(),
                  "The vector of polytope ids");
      std::vector<unsigned int> ids = original_ids;
      Statistics                result;
      result.n_polytopes                    = internal::renumber(ids);
      const std::vector<unsigned int> parts = internal::connected_parts(
        internal::make_dual_graph(triangulation, false), ids);

      std::vector<unsigned int> n_cells(result.n_polytopes, 0);
      std::vector<unsigned int> n_parts(result.n_polytopes, 0);
      unsigned int              next_part = 0;
      for (std::size_t i = 0; i < ids.size(); ++i)
        {
          ++n_cells[ids[i]];
          if (parts[i] == next_part) // its first cell
            {
              ++n_parts[ids[i]];
              ++next_part;
            }
        }
      result.n_disconnected = 0;
      result.min_cells      = ids.empty() ? 0 : unset;
      result.max_cells      = 0;
      for (unsigned int id = 0; id < result.n_polytopes; ++id)
        {
          result.n_disconnected += n_parts[id] > 1;
          result.min_cells = std::min(result.min_cells, n_cells[id]);
          result.max_cells = std::max(result.max_cells, n_cells[id]);
        }
      return result;
    }



#define TESSELLA_INSTANTIATE(dim)                                            \
  template Strategy<dim> none<dim>();                                        \
  template Strategy<dim> metis<dim>(const unsigned int,                      \
                                    const std::vector<unsigned int> &);      \
  template Strategy<dim> space_filling_curve<dim>(const unsigned int);       \
  template Strategy<dim> rtree<dim>(const unsigned int, const unsigned int); \
  template Strategy<dim> rtree_parts<dim>(const unsigned int);               \
  template Strategy<dim> parents<dim>(const unsigned int);                   \
  template Strategy<dim> ancestors_on_level<dim>(const unsigned int);        \
  template Strategy<dim> by_id<dim>(const std::vector<unsigned int> &);      \
  template Strategy<dim> by_material_id<dim>();                              \
  template Strategy<dim> from_file<dim>(const std::string &);                \
  template Strategy<dim> from_cell_data<dim>(const std::string &,            \
                                             const std::string &);           \
  template Strategy<dim> repair<dim>(const Strategy<dim> &,                  \
                                     const RepairOptions &);                 \
  template std::vector<std::vector<unsigned int>> nested<dim>(               \
    const Triangulation<dim> &,                                              \
    const Strategy<dim> &,                                                   \
    const unsigned int,                                                      \
    const unsigned int);                                                     \
  template Statistics statistics<dim>(const Triangulation<dim> &,            \
                                      const std::vector<unsigned int> &);

    TESSELLA_INSTANTIATE(2)
    TESSELLA_INSTANTIATE(3)
#undef TESSELLA_INSTANTIATE
  } // namespace Agglomeration
} // namespace Tessella

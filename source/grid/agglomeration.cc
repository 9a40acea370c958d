// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>

#include <deal.II/distributed/fully_distributed_tria.h>
#include <deal.II/grid/tria.h>
#include <deal.II/grid/tria_accessor.h>
#include <deal.II/grid/tria_description.h>
#include <deal.II/grid/tria_iterator.h>

#include <tessella/base/compatibility.h>
#include <tessella/base/exceptions.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/matching.h>
#include <tessella/grid/partition.h>
#include <tessella/quadrature/reference_quadrature.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "../base/collective.h"
#include "cell_id_files.h"
#include "cell_items.h"
#include "dual_graph.h"
#include "ghost_exchange.h"
#include "graph_clustering.h"

namespace Tessella
{
  namespace Agglomeration
  {
    namespace
    {
      using dealii::ExcMessage;
      using dealii::Triangulation;
      using internal::is_distributed;

      constexpr unsigned int unset = std::numeric_limits<unsigned int>::max();

      /// Ids numbered by first occurrence, without gaps.
      std::vector<unsigned int>
      renumbered(std::vector<unsigned int> ids)
      {
        internal::renumber(ids);
        return ids;
      }

      /// Renumbers ids of the cells that this process owns, in the order of
      /// these cells, and converts them to ids of all active cells.
      template <int dim>
      std::vector<unsigned int>
      expand(const Triangulation<dim>   &triangulation,
             std::vector<unsigned int> &&ids)
      {
        internal::renumber(ids);
        if (!is_distributed(triangulation))
          return std::move(ids);
        std::vector<unsigned int> result(triangulation.n_active_cells(), unset);
        unsigned int              next = 0;
        for (const auto &cell : triangulation.active_cell_iterators())
          if (cell->is_locally_owned())
            result[cell->active_cell_index()] = ids[next++];
        return result;
      }

      template <int dim>
      std::vector<unsigned int>
      restrict_to_owned(const Triangulation<dim>        &triangulation,
                        const std::vector<unsigned int> &ids)
      {
        if (!is_distributed(triangulation))
          return ids;
        std::vector<unsigned int> result;
        for (const auto &cell : triangulation.active_cell_iterators())
          if (cell->is_locally_owned())
            result.push_back(ids[cell->active_cell_index()]);
        return result;
      }



      /// Number of polytopes that this process contributes to @p n_polytopes,
      /// in proportion to its cells; at least one if it owns cells.
      template <int dim>
      unsigned int
      own_share(const Triangulation<dim> &triangulation,
                const unsigned int        n_polytopes)
      {
        if (!is_distributed(triangulation))
          return n_polytopes;
        std::uint64_t n_own = 0;
        for (const auto &cell : triangulation.active_cell_iterators())
          n_own += cell->is_locally_owned();
        const std::uint64_t n_all  = triangulation.n_global_active_cells();
        const std::uint64_t before = internal::sum_of_lower_processes(
          n_own, Compatibility::get_communicator(triangulation));
        const std::uint64_t share =
          (before + n_own) * n_polytopes / n_all - before * n_polytopes / n_all;
        return static_cast<unsigned int>(
          std::min(n_own, std::max<std::uint64_t>(share, 1)));
      }



      template <int dim>
      void
      check_all_cells_known(const Triangulation<dim> &triangulation,
                            const std::string        &what)
      {
        AssertThrow(!is_distributed(triangulation),
                    ExcUserInput("Polytope ids from " + what +
                                 " are those of a whole mesh: read it on all "
                                 "processes and use Agglomeration::"
                                 "distribute()."));
      }



      template <int dim>
      void
      check_n_polytopes(const Triangulation<dim> &triangulation,
                        const unsigned int        n_polytopes)
      {
        AssertThrow(n_polytopes > 0,
                    ExcMessage("Agglomeration into zero polytopes was asked "
                               "for: give a positive number."));
        AssertThrow(n_polytopes <= triangulation.n_global_active_cells(),
                    ExcMessage(
                      "Agglomeration into " + std::to_string(n_polytopes) +
                      " polytopes was asked for, but the mesh has only " +
                      std::to_string(triangulation.n_global_active_cells()) +
                      " active cells: ask for fewer polytopes or refine the "
                      "mesh."));
      }



      template <int dim>
      constexpr unsigned int
      default_n_children()
      {
        return 1u << dim;
      }



      /// Throws unless there is one entry per active cell.
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



      /// Weights of the cells that this process owns. Throws unless @p weights
      /// is empty or has a positive entry for each active cell.
      template <int dim>
      std::vector<unsigned int>
      checked_weights(const Triangulation<dim>        &triangulation,
                      const std::vector<unsigned int> &weights,
                      const std::string               &method)
      {
        if (weights.empty())
          return {};
        check_n_ids(triangulation,
                    weights.size(),
                    "The vector of weights for " + method);
        const auto zero = std::find(weights.begin(), weights.end(), 0u);
        AssertThrow(zero == weights.end(),
                    ExcMessage("The weight for " + method + " of active cell " +
                               std::to_string(zero - weights.begin()) +
                               " is zero: all must be positive."));
        return restrict_to_owned(triangulation, weights);
      }



      /// Applies a strategy, which may be one of the user.
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



      template <typename CellIterator>
      CellIterator
      ancestor_on_level(CellIterator cell, const unsigned int level)
      {
        while (cell->level() > static_cast<int>(level))
          cell = cell->parent();
        return cell;
      }



      /// Ids of the ancestors of all active cells. level_of_ancestor(level of
      /// the cell) returns the level of the ancestor.
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
            const auto ancestor =
              ancestor_on_level(typename Triangulation<dim>::cell_iterator(
                                  cell),
                                level_of_ancestor(cell->level()));
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



      /// Throws on all processes if an ancestor that ancestor_ids() turns into
      /// a polytope has cells on several processes.
      template <int dim, typename LevelFunction>
      void
      check_ancestors_uncut(const Triangulation<dim> &triangulation,
                            const LevelFunction      &level_of_ancestor)
      {
        if (!is_distributed(triangulation))
          return;
        // Ancestors of cells that other processes own.
        std::vector<std::vector<bool>> foreign(triangulation.n_levels());
        for (unsigned int l = 0; l < foreign.size(); ++l)
          foreign[l].assign(triangulation.n_raw_cells(l), false);
        for (const auto &active : triangulation.active_cell_iterators())
          if (!active->is_locally_owned())
            for (typename Triangulation<dim>::cell_iterator cell = active;;
                 cell = cell->parent())
              {
                if (foreign[cell->level()][cell->index()])
                  break;
                foreign[cell->level()][cell->index()] = true;
                if (cell->level() == 0)
                  break;
              }
        // Ancestors that also have cells on this process. A second process that
        // lists the same ancestor shows that it is cut.
        std::vector<dealii::CellId::binary_type> shared;
        for (const auto &active : triangulation.active_cell_iterators())
          if (active->is_locally_owned())
            {
              const auto ancestor =
                ancestor_on_level(typename Triangulation<dim>::cell_iterator(
                                    active),
                                  level_of_ancestor(active->level()));
              // Ancestors of cells of different levels are distinct.
              if (ancestor != active &&
                  foreign[ancestor->level()][ancestor->index()])
                shared.push_back(ancestor->id().template to_binary<dim>());
            }
        std::sort(shared.begin(), shared.end());
        shared.erase(std::unique(shared.begin(), shared.end()), shared.end());
        std::vector<dealii::CellId::binary_type> all;
        for (const auto &list : dealii::Utilities::MPI::all_gather(
               Compatibility::get_communicator(triangulation), shared))
          all.insert(all.end(), list.begin(), list.end());
        std::sort(all.begin(), all.end());
        const auto cut = std::adjacent_find(all.begin(), all.end());
        AssertThrow(cut == all.end(),
                    ExcUserInput(
                      "The partition cuts polytopes: cell " +
                      dealii::CellId(*cut).to_string() +
                      ", for one, has descendants on several processes. Go up "
                      "fewer levels, take complete families, or let cut "
                      "ancestors be split."));
      }



      /// Strategy whose polytopes are the ancestors.
      template <int dim, typename LevelFunction>
      Strategy<dim>
      ancestors(const LevelFunction &level_of_ancestor, const bool split_cut)
      {
        return [=](const Triangulation<dim> &triangulation) {
          if (!split_cut)
            check_ancestors_uncut(triangulation, level_of_ancestor);
          return ancestor_ids(triangulation, level_of_ancestor);
        };
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
        const std::vector<unsigned int> own_weights =
          checked_weights(triangulation, weights, "METIS");
        const unsigned int n_parts = own_share(triangulation, n_polytopes);
        std::vector<unsigned int> ids;
        if (n_parts > 0)
          ids =
            internal::partition_graph(internal::make_dual_graph(triangulation,
                                                                false),
                                      own_weights,
                                      n_parts);
        return expand(triangulation, std::move(ids));
      };
    }



    template <int dim>
    Strategy<dim>
    matching(const unsigned int               n_polytopes,
             const std::vector<unsigned int> &weights)
    {
      return [n_polytopes, weights](const Triangulation<dim> &triangulation) {
        check_n_polytopes(triangulation, n_polytopes);
        const std::vector<unsigned int> own_weights =
          checked_weights(triangulation, weights, "matching");
        unsigned int n_parts = own_share(triangulation, n_polytopes);
        if (n_parts == 0)
          return expand(triangulation, std::vector<unsigned int>());
        internal::DualGraph dual =
          internal::make_dual_graph(triangulation, false);
        internal::WeightedGraph graph;
        graph.offsets   = std::move(dual.offsets);
        graph.neighbors = std::move(dual.neighbors);
        if (own_weights.empty())
          graph.vertex_weights.assign(graph.n_vertices(), 1);
        else
          graph.vertex_weights.assign(own_weights.begin(), own_weights.end());
        const unsigned int n_pieces = internal::n_components(graph);
        AssertThrow(n_parts >= n_pieces || is_distributed(triangulation),
                    ExcMessage(
                      "Agglomeration by matching into " +
                      std::to_string(n_polytopes) +
                      " polytopes was asked for, but the mesh consists of " +
                      std::to_string(n_pieces) +
                      " pieces that share no face, and these polytopes are "
                      "connected through faces: ask for at least as many "
                      "polytopes, or use METIS."));
        n_parts = std::max(n_parts, n_pieces);
        return expand(triangulation,
                      internal::cluster_graph(std::move(graph), n_parts));
      };
    }



    template <int dim>
    Strategy<dim>
    space_filling_curve(const unsigned int n_polytopes)
    {
      return [n_polytopes](const Triangulation<dim> &triangulation) {
        check_n_polytopes(triangulation, n_polytopes);
        std::vector<std::array<std::uint64_t, dim>> centers;
        centers.reserve(triangulation.n_active_cells());
        for (const Item<dim> &item : cells_as_items(triangulation))
          centers.push_back(item.center);
        const std::vector<std::array<std::uint64_t, dim>> places =
          dealii::Utilities::inverse_Hilbert_space_filling_curve<dim>(
            centers, center_bits);
        std::vector<std::pair<std::array<std::uint64_t, dim>, unsigned int>>
          order(places.size());
        for (unsigned int i = 0; i < order.size(); ++i)
          order[i] = {places[i], i};
        std::sort(order.begin(), order.end());

        std::vector<unsigned int> ids(order.size());
        const std::uint64_t       n_cells = order.size();
        const unsigned int n_parts = own_share(triangulation, n_polytopes);
        for (unsigned int id = 0; id < n_parts; ++id)
          for (std::uint64_t k = id * n_cells / n_parts;
               k < (id + 1) * n_cells / n_parts;
               ++k)
            ids[order[k].second] = id;
        return expand(triangulation, std::move(ids));
      };
    }



    template <int dim>
    Strategy<dim>
    rtree(const unsigned int level, const unsigned int cells_per_leaf)
    {
      return [level, cells_per_leaf](const Triangulation<dim> &triangulation) {
        const std::vector<Item<dim>> items   = cells_as_items(triangulation);
        const unsigned int           n_cells = items.size();
        if (n_cells == 0)
          return expand(triangulation, {});
        const unsigned int size =
          cells_per_leaf > 0 ? cells_per_leaf : default_n_children<dim>();
        std::vector<unsigned int> ids =
          tile(items, n_cells / size + (n_cells % size != 0));
        unsigned int n_groups = internal::renumber(ids);
        for (unsigned int l = 0; l < level && n_groups > 1; ++l)
          n_groups = coarsen(items, ids, n_groups, default_n_children<dim>());
        return expand(triangulation, std::move(ids));
      };
    }



    template <int dim>
    Strategy<dim>
    rtree_parts(const unsigned int n_polytopes)
    {
      return [n_polytopes](const Triangulation<dim> &triangulation) {
        check_n_polytopes(triangulation, n_polytopes);
        const unsigned int n_parts = own_share(triangulation, n_polytopes);
        std::vector<unsigned int> ids;
        if (n_parts > 0)
          ids = tile(cells_as_items(triangulation), n_parts);
        return expand(triangulation, std::move(ids));
      };
    }



    template <int dim>
    Strategy<dim>
    parents(const unsigned int levels_up, const bool split_cut)
    {
      return ancestors<dim>(
        [levels_up](const unsigned int level) {
          return level - std::min(levels_up, level);
        },
        split_cut);
    }



    template <int dim>
    Strategy<dim>
    ancestors_on_level(const unsigned int level, const bool split_cut)
    {
      return ancestors<dim>(
        [level](const unsigned int cell_level) {
          return std::min(level, cell_level);
        },
        split_cut);
    }



    template <int dim>
    Strategy<dim>
    complete_families()
    {
      return [](const Triangulation<dim> &triangulation) {
        std::vector<unsigned int> ids(triangulation.n_active_cells(), unset);
        unsigned int              n_ids = 0;
        for (const auto &cell : triangulation.active_cell_iterators())
          {
            unsigned int &id = ids[cell->active_cell_index()];
            if (id != unset)
              continue;
            id = n_ids++;
            if (cell->level() == 0)
              continue;
            const auto parent   = cell->parent();
            bool       complete = true;
            for (unsigned int c = 0; c < parent->n_children(); ++c)
              complete = complete && parent->child(c)->is_active() &&
                         parent->child(c)->is_locally_owned() ==
                           cell->is_locally_owned();
            if (complete)
              for (unsigned int c = 0; c < parent->n_children(); ++c)
                ids[parent->child(c)->active_cell_index()] = id;
          }
        return ids;
      };
    }



    namespace
    {
      /// Number of quadrature points on each cell plus half of the number on
      /// its faces, for rules of order 4 as for polynomials of degree 2.
      template <int dim>
      std::vector<unsigned int>
      quadrature_costs(const Triangulation<dim> &triangulation)
      {
        constexpr unsigned int order = 4;
        const unsigned int     simplex =
          2 * simplex_rule(dim, order).n_points +
          (dim + 1) * simplex_rule(dim - 1, order).n_points;
        const unsigned int hypercube =
          2 * hypercube_rule(dim, order).n_points +
          2 * dim * hypercube_rule(dim - 1, order).n_points;
        std::vector<unsigned int> costs;
        costs.reserve(triangulation.n_active_cells());
        for (const auto &cell : triangulation.active_cell_iterators())
          costs.push_back(cell->reference_cell().is_simplex() ? simplex
                                                              : hypercube);
        return costs;
      }



      // Graph of polytopes that share a face. The weight of a polytope is the
      // sum of the costs of its cells, scaled to fit 32 bits.
      template <int dim>
      internal::DualGraph
      polytope_graph(const Triangulation<dim>        &serial,
                     const std::vector<unsigned int> &ids,
                     const unsigned int               n_polytopes,
                     const std::vector<unsigned int> &costs,
                     std::vector<unsigned int>       &weights)
      {
        const internal::DualGraph cells =
          internal::make_dual_graph(serial, false);
        std::vector<std::pair<unsigned int, unsigned int>> edges;
        std::vector<std::uint64_t>                         sums(n_polytopes, 0);
        for (unsigned int c = 0; c < cells.n_cells(); ++c)
          {
            sums[ids[c]] += costs[c];
            for (std::size_t e = cells.offsets[c]; e < cells.offsets[c + 1];
                 ++e)
              if (ids[cells.neighbors[e]] != ids[c])
                edges.emplace_back(ids[c], ids[cells.neighbors[e]]);
          }
        std::sort(edges.begin(), edges.end());
        edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
        internal::DualGraph polytopes;
        polytopes.offsets.assign(n_polytopes + 1, 0);
        for (const auto &edge : edges)
          {
            ++polytopes.offsets[edge.first + 1];
            polytopes.neighbors.push_back(edge.second);
          }
        std::partial_sum(polytopes.offsets.begin(),
                         polytopes.offsets.end(),
                         polytopes.offsets.begin());
        weights.resize(n_polytopes);
        const std::uint64_t largest =
          *std::max_element(sums.begin(), sums.end());
        const std::uint64_t scale = 1 + largest / (unset / 2);
        for (unsigned int k = 0; k < n_polytopes; ++k)
          weights[k] = static_cast<unsigned int>(
            std::max<std::uint64_t>(1, sums[k] / scale));
        return polytopes;
      }
    } // namespace



    template <int dim>
    std::vector<unsigned int>
    partition(Triangulation<dim>              &serial,
              const Strategy<dim>             &strategy,
              const unsigned int               n_parts,
              const std::vector<unsigned int> &weights)
    {
      AssertThrow(!is_distributed(serial),
                  ExcUserInput("A triangulation that is distributed already "
                               "was given to Agglomeration::distribute() or "
                               "partition(): they take a serial one."));
      std::vector<unsigned int> ids =
        Agglomeration::apply<dim>(strategy, serial);
      const unsigned int n_polytopes = internal::renumber(ids);
      if (!weights.empty())
        check_n_ids(serial, weights.size(), "The vector of weights");
      const std::vector<unsigned int> costs =
        weights.empty() ? quadrature_costs(serial) : weights;

      std::vector<unsigned int> polytope_weights;
      const internal::DualGraph polytopes =
        polytope_graph(serial, ids, n_polytopes, costs, polytope_weights);
      const unsigned int              n_used = std::min(n_parts, n_polytopes);
      const std::vector<unsigned int> owners =
        n_used > 1
          ? internal::partition_graph(polytopes, polytope_weights, n_used)
          : std::vector<unsigned int>(n_polytopes, 0);
      for (const auto &cell : serial.active_cell_iterators())
        cell->set_subdomain_id(owners[ids[cell->active_cell_index()]]);
      return ids;
    }



    template <int dim>
    Strategy<dim>
    distribute(Triangulation<dim>                                     &serial,
               const Strategy<dim>                                    &strategy,
               dealii::parallel::fullydistributed::Triangulation<dim> &result,
               const std::vector<unsigned int>                        &weights)
    {
      const MPI_Comm communicator = Compatibility::get_communicator(result);
      std::vector<unsigned int> ids;
      Tessella::on_all_processes(communicator, [&]() {
        ids = partition(serial,
                        strategy,
                        internal::n_processes(communicator),
                        weights);
      });

      for (const auto id : serial.get_manifold_ids())
        if (id != dealii::numbers::flat_manifold_id)
          result.set_manifold(id, serial.get_manifold(id));
      result.create_triangulation(
        dealii::TriangulationDescription::Utilities::
          create_description_from_triangulation(serial, communicator));

      std::vector<unsigned int> local_ids(result.n_active_cells(), unset);
      Tessella::on_all_processes(communicator, [&]() {
        for (const auto &cell : result.active_cell_iterators())
          if (cell->is_locally_owned())
            {
              const auto original = serial.create_cell_iterator(cell->id());
              local_ids[cell->active_cell_index()] =
                ids[original->active_cell_index()];
              // deal.II refines the coarse cells again, without moves of
              // vertices that the user made after refinement.
              for (const unsigned int v : cell->vertex_indices())
                AssertThrow(cell->vertex(v).distance(original->vertex(v)) <=
                              1e-10 * original->diameter(),
                            ExcUserInput(
                              "Vertices were moved after refinement, which a "
                              "fully distributed triangulation cannot take "
                              "over: use parallel::shared::Triangulation and "
                              "Agglomeration::partition()."));
            }
      });
      return [local_ids](const Triangulation<dim> &triangulation) {
        check_n_ids(triangulation,
                    local_ids.size(),
                    "The vector of polytope ids of a distributed mesh");
        // Remove the gaps that the polytopes of other processes leave.
        return renumbered(local_ids);
      };
    }



    template <int dim>
    Strategy<dim>
    by_id(const std::vector<unsigned int> &ids)
    {
      return [ids](const Triangulation<dim> &triangulation) {
        check_n_ids(triangulation, ids.size(), "The vector of polytope ids");
        return renumbered(ids);
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
        return renumbered(std::move(ids));
      };
    }



    template <int dim>
    Strategy<dim>
    from_file(const std::string &file_name)
    {
      return [file_name](const Triangulation<dim> &triangulation) {
        check_all_cells_known(triangulation, "the file '" + file_name + "'");
        std::vector<unsigned int> ids = internal::read_id_file(file_name);
        check_n_ids(triangulation,
                    ids.size(),
                    "The file '" + file_name + "' of polytope ids");
        return renumbered(std::move(ids));
      };
    }



    template <int dim>
    Strategy<dim>
    from_cell_data(const std::string &file_name, const std::string &field)
    {
      return [file_name, field](const Triangulation<dim> &triangulation) {
        check_all_cells_known(triangulation, "the file '" + file_name + "'");
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
          ids.push_back(
            file_ids[ancestor_on_level(
                       typename Triangulation<dim>::cell_iterator(cell), 0)
                       ->index()]);
        return renumbered(std::move(ids));
      };
    }



    template <int dim>
    Strategy<dim>
    repair(const Strategy<dim> &strategy, const RepairOptions &options)
    {
      return [strategy, options](const Triangulation<dim> &triangulation) {
        std::vector<unsigned int> ids =
          restrict_to_owned(triangulation, apply(strategy, triangulation));
        const bool merge = options.min_cells > 1;
        if (!merge && !options.split_disconnected)
          return expand(triangulation, std::move(ids));
        internal::renumber(ids);
        const internal::DualGraph graph =
          internal::make_dual_graph(triangulation, merge);
        if (options.split_disconnected)
          ids = internal::connected_parts(graph, ids);
        if (merge)
          internal::merge_small_polytopes(graph, options.min_cells, ids);
        return expand(triangulation, std::move(ids));
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
      const std::vector<Item<dim>> items = cells_as_items(triangulation);
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
      std::vector<unsigned int> ids =
        restrict_to_owned(triangulation, original_ids);
      Statistics result;
      result.n_polytopes                    = internal::renumber(ids);
      const std::vector<unsigned int> parts = internal::connected_parts(
        internal::make_dual_graph(triangulation, false), ids);

      std::vector<unsigned int> n_cells(result.n_polytopes, 0);
      std::vector<unsigned int> n_parts(result.n_polytopes, 0);
      unsigned int              next_part = 0;
      for (std::size_t i = 0; i < ids.size(); ++i)
        {
          ++n_cells[ids[i]];
          if (parts[i] == next_part) // first cell of a part
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
      if (is_distributed(triangulation))
        {
          const MPI_Comm communicator =
            Compatibility::get_communicator(triangulation);
          using namespace dealii::Utilities::MPI;
          result.n_polytopes    = sum(result.n_polytopes, communicator);
          result.n_disconnected = sum(result.n_disconnected, communicator);
          result.min_cells =
            min(ids.empty() ? unset : result.min_cells, communicator);
          result.max_cells = max(result.max_cells, communicator);
        }
      return result;
    }



#define TESSELLA_INSTANTIATE(dim)                                            \
  template Strategy<dim> none<dim>();                                        \
  template Strategy<dim> metis<dim>(const unsigned int,                      \
                                    const std::vector<unsigned int> &);      \
  template Strategy<dim> matching<dim>(const unsigned int,                   \
                                       const std::vector<unsigned int> &);   \
  template Strategy<dim> space_filling_curve<dim>(const unsigned int);       \
  template Strategy<dim> rtree<dim>(const unsigned int, const unsigned int); \
  template Strategy<dim> rtree_parts<dim>(const unsigned int);               \
  template Strategy<dim> parents<dim>(const unsigned int, const bool);       \
  template Strategy<dim> ancestors_on_level<dim>(const unsigned int,         \
                                                 const bool);                \
  template Strategy<dim> complete_families<dim>();                           \
  template std::vector<unsigned int> partition<dim>(                         \
    Triangulation<dim> &,                                                    \
    const Strategy<dim> &,                                                   \
    const unsigned int,                                                      \
    const std::vector<unsigned int> &);                                      \
  template Strategy<dim> distribute<dim>(                                    \
    Triangulation<dim> &,                                                    \
    const Strategy<dim> &,                                                   \
    dealii::parallel::fullydistributed::Triangulation<dim> &,                \
    const std::vector<unsigned int> &);                                      \
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <tessella/base/on_all_processes.h>
#include <tessella/multigrid/multigrid_hierarchy.h>

#include <algorithm>
#include <array>
#include <string>

#include "../grid/dual_graph.h"
#include "../grid/graph_clustering.h"

namespace Tessella
{
  using namespace dealii;

  namespace NestedAgglomeration
  {
    namespace
    {
      template <int dim>
      struct Item
      {
        std::array<double, dim> center;
        unsigned int            index;
      };

      // Divides the items into @p n_parts sets of about equal size.
      template <int dim>
      void
      cut(Item<dim>                 *begin,
          Item<dim>                 *end,
          const unsigned int         first_part,
          const unsigned int         n_parts,
          std::vector<unsigned int> &parts)
      {
        if (n_parts <= 1)
          {
            for (Item<dim> *item = begin; item != end; ++item)
              parts[item->index] = first_part;
            return;
          }
        std::array<double, dim> low = begin->center, high = begin->center;
        for (Item<dim> *item = begin; item != end; ++item)
          for (int d = 0; d < dim; ++d)
            {
              low[d]  = std::min(low[d], item->center[d]);
              high[d] = std::max(high[d], item->center[d]);
            }
        int direction = 0;
        for (int d = 1; d < dim; ++d)
          // Rounding must not decide between equal edges.
          if (high[d] - low[d] >
              (1. + 1e-10) * (high[direction] - low[direction]))
            direction = d;
        const unsigned int left = n_parts / 2;
        Item<dim>         *middle =
          begin + (std::uint64_t(end - begin) * left + n_parts / 2) / n_parts;
        std::nth_element(begin,
                         middle,
                         end,
                         [direction](const Item<dim> &a, const Item<dim> &b) {
                           return a.center[direction] != b.center[direction]
                                    ? a.center[direction] < b.center[direction]
                                    : a.index < b.index;
                         });
        cut(begin, middle, first_part, left, parts);
        cut(middle, end, first_part + left, n_parts - left, parts);
      }

      template <int dim>
      unsigned int
      children(const unsigned int n_children)
      {
        AssertThrow(n_children != 1,
                    ExcMessage("Levels of multigrid must join two polytopes or "
                               "more into one, but one was asked for."));
        return n_children == 0 ? 1u << dim : n_children;
      }

      // Whether to group once more, given @p n polytopes on this process.
      bool
      are_too_many(const unsigned int n,
                   const unsigned int n_coarsest,
                   const MPI_Comm     communicator)
      {
        const unsigned int here[2] = {n, n > 1};
        unsigned int       all[2];
        Utilities::MPI::sum(here, communicator, all);
        return all[0] > n_coarsest && all[1] > 0;
      }

      // Bounding boxes of the groups.
      template <int dim>
      std::vector<double>
      join_boxes(const std::vector<double>       &box,
                 const std::vector<unsigned int> &parent,
                 const unsigned int               n)
      {
        std::vector<double> result(2 * dim * std::size_t(n));
        std::vector<bool>   seen(n, false);
        for (std::size_t k = 0; k < parent.size(); ++k)
          for (int d = 0; d < 2 * dim; ++d)
            {
              double      &to   = result[2 * dim * parent[k] + d];
              const double from = box[2 * dim * k + d];
              to                = !seen[parent[k]] ? from
                                  : d < dim        ? std::min(to, from)
                                                   : std::max(to, from);
              if (d == 2 * dim - 1)
                seen[parent[k]] = true;
            }
        return result;
      }
    } // namespace



    template <int dim>
    Parents
    rtree(const AgglomerationHandler<dim> &handler,
          const unsigned int               n_children,
          const unsigned int               n_coarsest)
    {
      const PolytopicMesh<dim> &mesh         = handler.polytopic_mesh();
      const MPI_Comm            communicator = handler.get_communicator();
      const unsigned int        factor       = children<dim>(n_children);
      Parents                   result;
      std::vector<double>       box = mesh.box;
      unsigned int              n   = mesh.n_owned_polytopes();
      while (are_too_many(n, n_coarsest, communicator))
        {
          std::vector<Item<dim>> items(n);
          for (unsigned int k = 0; k < n; ++k)
            {
              items[k].index = k;
              for (int d = 0; d < dim; ++d)
                items[k].center[d] =
                  0.5 * (box[2 * dim * k + d] + box[2 * dim * k + dim + d]);
            }
          std::vector<unsigned int> parent(n);
          cut(items.data(),
              items.data() + n,
              0,
              (n + factor - 1) / factor,
              parent);
          const unsigned int n_groups = internal::renumber(parent);
          box                         = join_boxes<dim>(box, parent, n_groups);
          n                           = n_groups;
          result.push_back(std::move(parent));
        }
      return result;
    }



    namespace
    {
      // Graph of the polytopes that this process owns. Polytopes are weighted
      // by their sub-cells, edges by the facets of the interface.
      template <int dim>
      internal::WeightedGraph
      polytope_graph(const PolytopicMesh<dim> &mesh)
      {
        internal::WeightedGraph graph;
        graph.offsets.push_back(0);
        const unsigned int n_owned = mesh.n_owned_polytopes();
        for (unsigned int k = 0; k < n_owned; ++k)
          {
            const std::size_t begin = graph.neighbors.size();
            for (unsigned int e = mesh.polytope_interface_offset[k];
                 e < mesh.polytope_interface_offset[k + 1];
                 ++e)
              {
                const unsigned int side      = mesh.polytope_interface[e];
                const unsigned int l         = mesh.neighbor(side);
                const unsigned int interface = side / 2;
                if (l == invalid_index || l == k || l >= n_owned)
                  continue;
                const unsigned int n_facets = mesh.facet_offset[interface + 1] -
                                              mesh.facet_offset[interface];
                if (graph.neighbors.size() > begin &&
                    graph.neighbors.back() == l)
                  graph.edge_weights.back() += n_facets;
                else
                  {
                    graph.neighbors.push_back(l);
                    graph.edge_weights.push_back(n_facets);
                  }
              }
            graph.offsets.push_back(graph.neighbors.size());
            graph.vertex_weights.push_back(
              std::max(1u,
                       mesh.subcell_offset[k + 1] - mesh.subcell_offset[k]));
          }
        return graph;
      }

      // Divides the graph of polytopes, and then those of its parts, by
      // divide(graph, n_parts). least_parts(graph) is a lower bound of n_parts.
      template <int dim, typename LeastParts, typename Divide>
      Parents
      group_graph(const AgglomerationHandler<dim> &handler,
                  const unsigned int               n_children,
                  const unsigned int               n_coarsest,
                  const LeastParts                &least_parts,
                  const Divide                    &divide)
      {
        const MPI_Comm          communicator = handler.get_communicator();
        const unsigned int      factor       = children<dim>(n_children);
        Parents                 result;
        internal::WeightedGraph graph =
          polytope_graph(handler.polytopic_mesh());
        while (are_too_many(graph.n_vertices(), n_coarsest, communicator))
          {
            const unsigned int n = graph.n_vertices();
            const unsigned int n_parts =
              std::max((n + factor - 1) / factor, least_parts(graph));
            // Otherwise no process can go on.
            if (Utilities::MPI::max(n_parts < n ? 1u : 0u, communicator) == 0)
              break;
            std::vector<unsigned int> parent   = divide(graph, n_parts);
            const unsigned int        n_groups = internal::renumber(parent);
            graph = internal::contract(graph, parent, n_groups);
            result.push_back(std::move(parent));
          }
        return result;
      }
    } // namespace



    template <int dim>
    Parents
    metis(const AgglomerationHandler<dim> &handler,
          const unsigned int               n_children,
          const unsigned int               n_coarsest)
    {
      return group_graph(
        handler,
        n_children,
        n_coarsest,
        [](const internal::WeightedGraph &) { return 0u; },
        [](const internal::WeightedGraph &graph, const unsigned int n_parts) {
          internal::DualGraph dual;
          dual.offsets   = graph.offsets;
          dual.neighbors = graph.neighbors;
          return internal::partition_graph(
            dual,
            std::vector<unsigned int>(graph.vertex_weights.begin(),
                                      graph.vertex_weights.end()),
            n_parts);
        });
    }



    template <int dim>
    Parents
    matching(const AgglomerationHandler<dim> &handler,
             const unsigned int               n_children,
             const unsigned int               n_coarsest)
    {
      return group_graph(
        handler,
        n_children,
        n_coarsest,
        [](const internal::WeightedGraph &graph) {
          return internal::n_components(graph);
        },
        [](const internal::WeightedGraph &graph, const unsigned int n_parts) {
          return internal::cluster_graph(graph, n_parts);
        });
    }



    template <int dim>
    Parents
    by_id(const AgglomerationHandler<dim>              &handler,
          const std::vector<std::vector<unsigned int>> &ids)
    {
      Parents                   result;
      std::vector<unsigned int> polytope     = handler.polytope_of_cell();
      unsigned int              n            = handler.n_polytopes();
      const MPI_Comm            communicator = handler.get_communicator();
      for (std::size_t l = 0; l < ids.size(); ++l)
        {
          std::vector<unsigned int> parent;
          Tessella::on_all_processes(communicator, [&] {
            AssertThrow(ids[l].size() == polytope.size(),
                        ExcMessage("Level " + std::to_string(l + 1) +
                                   " of the hierarchy has polytope ids for " +
                                   std::to_string(ids[l].size()) +
                                   " cells, but the mesh has " +
                                   std::to_string(polytope.size()) + "."));
            parent.assign(n, invalid_index);
            for (std::size_t c = 0; c < polytope.size(); ++c)
              {
                if (polytope[c] >= n)
                  continue; // ghost
                unsigned int &p = parent[polytope[c]];
                AssertThrow(
                  p == invalid_index || p == ids[l][c],
                  ExcMessage("The hierarchy does not nest: cells of polytope " +
                             std::to_string(polytope[c]) + " of level " +
                             std::to_string(l) + " belong to the polytopes " +
                             std::to_string(std::min(p, ids[l][c])) + " and " +
                             std::to_string(std::max(p, ids[l][c])) +
                             " of level " + std::to_string(l + 1) +
                             ". Every polytope must be a union of polytopes of "
                             "the next finer level: use "
                             "NestedAgglomeration::rtree() or metis(), or "
                             "Agglomeration::nested()."));
                p = ids[l][c];
              }
          });
          const unsigned int n_groups = internal::renumber(parent);
          if (Utilities::MPI::max(n_groups < n ? 1 : 0, communicator) == 0)
            continue;
          for (unsigned int &p : polytope)
            p = p < n ? parent[p] : invalid_index;
          n = n_groups;
          result.push_back(std::move(parent));
        }
      return result;
    }



    template <int dim>
    Parents
    by_strategies(const AgglomerationHandler<dim>                 &handler,
                  const std::vector<Agglomeration::Strategy<dim>> &strategies)
    {
      std::vector<std::vector<unsigned int>> ids;
      for (const auto &strategy : strategies)
        ids.push_back(strategy(handler.get_triangulation()));
      return by_id(handler, ids);
    }



    template <int dim>
    Parents
    ancestors(const AgglomerationHandler<dim> &handler,
              const unsigned int               n_coarsest)
    {
      std::vector<std::vector<unsigned int>> ids;
      // This process may have no cells of the finest level.
      const unsigned int n_levels =
        handler.get_triangulation().n_global_levels();
      // Number of ancestors on a level, over all processes.
      const auto n_ancestors = [&](const std::vector<unsigned int> &level) {
        std::vector<unsigned int> own;
        for (std::size_t c = 0; c < level.size(); ++c)
          if (handler.polytope_of_cell()[c] < handler.n_polytopes())
            own.push_back(level[c]);
        std::sort(own.begin(), own.end());
        const unsigned int n =
          std::unique(own.begin(), own.end()) - own.begin();
        return Utilities::MPI::sum(n, handler.get_communicator());
      };
      std::vector<unsigned int> n;
      for (unsigned int level = n_levels; level-- > 0;)
        {
          // An ancestor that the partition divides becomes one polytope on each
          // process.
          ids.push_back(Agglomeration::ancestors_on_level<dim>(level, true)(
            handler.get_triangulation()));
          n.push_back(n_ancestors(ids.back()));
          if (n.back() <= n_coarsest)
            break;
        }
      // Skip levels whose ancestors are smaller than the polytopes.
      const unsigned int n_polytopes = handler.n_global_polytopes();
      std::size_t        first       = 0;
      while (first < ids.size() && n[first] >= n_polytopes)
        ++first;
      ids.erase(ids.begin(), ids.begin() + first);
      return by_id(handler, ids);
    }



#define INSTANTIATE(dim)                                                  \
  template Parents rtree(const AgglomerationHandler<dim> &,               \
                         const unsigned int,                              \
                         const unsigned int);                             \
  template Parents metis(const AgglomerationHandler<dim> &,               \
                         const unsigned int,                              \
                         const unsigned int);                             \
  template Parents matching(const AgglomerationHandler<dim> &,            \
                            const unsigned int,                           \
                            const unsigned int);                          \
  template Parents by_id(const AgglomerationHandler<dim> &,               \
                         const std::vector<std::vector<unsigned int>> &); \
  template Parents by_strategies(                                         \
    const AgglomerationHandler<dim> &,                                    \
    const std::vector<Agglomeration::Strategy<dim>> &);                   \
  template Parents ancestors(const AgglomerationHandler<dim> &,           \
                             const unsigned int);

    INSTANTIATE(2)
    INSTANTIATE(3)
#undef INSTANTIATE
  } // namespace NestedAgglomeration
} // namespace Tessella

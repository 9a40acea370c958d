// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/thread_management.h>

#include <tessella/base/on_all_processes.h>
#include <tessella/multigrid/multigrid_hierarchy.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "../grid/dual_graph.h"
#include "../grid/graph_clustering.h"
#include "../lac/host_blocks.h"

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

      // Number of items from which on both halves of a cut are cut further at
      // the same time.
      constexpr std::ptrdiff_t n_items_of_task = 2048;

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
        const auto cut_left = [&]() {
          cut(begin, middle, first_part, left, parts);
        };
        Threads::TaskGroup<void> task;
        if (end - begin >= n_items_of_task)
          task += Threads::new_task(std::function<void()>(cut_left));
        else
          cut_left();
        cut(middle, end, first_part + left, n_parts - left, parts);
        task.join_all();
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



    namespace
    {
      // Graph of polytopes with the couplings of constants as weights: entry e
      // of the list of k is an edge to column[e]. outside[k] is the sum of all
      // that k is coupled to, the boundary included; of a group, diagonal is
      // the sum of those of its members, which couplings inside of it enlarge.
      struct CouplingGraph
      {
        std::vector<std::uint64_t> offset = {0};
        std::vector<unsigned int>  column;
        std::vector<double>        weight, diagonal, outside;

        unsigned int
        n_vertices() const
        {
          return diagonal.size();
        }

        // Makes offsets of the numbers of edges, of which that of vertex k is
        // in entry k + 1, and the lists of edges.
        void
        add_up()
        {
          for (std::size_t k = 1; k < offset.size(); ++k)
            offset[k] += offset[k - 1];
          column.resize(offset.back());
          weight.resize(offset.back());
        }
      };

      // Entries of a matrix for the constants of the polytopes, one for each
      // block: the sum of their sizes over the components.
      template <int dim>
      std::vector<double>
      constant_entries(const AgglomerationHandler<dim> &handler,
                       const HostBlockMatrix<double>   &matrix)
      {
        const BlockSparsity              &sparsity = matrix.block_sparsity();
        const std::vector<std::uint64_t> &dofs     = matrix.dof_offset();
        const unsigned int                m        = handler.n_components();
        std::vector<double>               result(sparsity.block_column.size());
        internal::for_blocks(
          sparsity.row_width.size(), [&](const unsigned int k) {
            const std::uint64_t n_k = (dofs[k + 1] - dofs[k]) / m;
            for (std::uint64_t b = sparsity.block_offset[k];
                 b < sparsity.block_offset[k + 1];
                 ++b)
              {
                const unsigned int  l   = sparsity.block_column[b];
                const std::uint64_t n_l = (dofs[l + 1] - dofs[l]) / m;
                double              sum = 0.;
                for (unsigned int c = 0; c < m; ++c)
                  sum += std::abs(
                    matrix.values()[sparsity.value_offset[k] +
                                    c * n_k * sparsity.row_width[k] +
                                    sparsity.column_offset[b] + c * n_l]);
                result[b] = sum;
              }
          });
        return result;
      }

      // @p entries: one for each block, see constant_entries().
      template <int dim>
      CouplingGraph
      coupling_graph(const PolytopicMesh<dim>  &mesh,
                     const BlockSparsity       &sparsity,
                     const std::vector<double> &entries)
      {
        const std::vector<double> &box = mesh.box;
        const unsigned int         n   = sparsity.row_width.size();
        AssertThrow(n == mesh.n_owned_polytopes(),
                    ExcMessage("A matrix of " + std::to_string(n) +
                               " block rows does not belong to a mesh of " +
                               std::to_string(mesh.n_owned_polytopes()) +
                               " polytopes."));
        AssertThrow(entries.size() == sparsity.block_column.size(),
                    ExcMessage(std::to_string(entries.size()) +
                               " entries were given for a matrix of " +
                               std::to_string(sparsity.block_column.size()) +
                               " blocks: it needs one for each."));
        // Coefficient of the function 1.
        std::vector<double> one(n);
        CouplingGraph       graph;
        graph.diagonal.assign(n, 0.);
        graph.offset.assign(n + 1, 0);
        internal::for_blocks(n, [&](const unsigned int k) {
          double volume = 1.;
          for (int d = 0; d < dim; ++d)
            volume *= box[2 * dim * std::size_t(k) + dim + d] -
                      box[2 * dim * std::size_t(k) + d];
          one[k] = std::sqrt(volume);
          for (std::uint64_t b = sparsity.block_offset[k];
               b < sparsity.block_offset[k + 1];
               ++b)
            if (sparsity.block_column[b] < n && sparsity.block_column[b] != k)
              ++graph.offset[k + 1];
        });
        graph.add_up();
        internal::for_blocks(n, [&](const unsigned int k) {
          // Coupling of row @p i with the column of block @p b.
          const auto entry = [&](const unsigned int i, const std::uint64_t b) {
            return std::abs(entries[b]) * one[i] *
                   one[sparsity.block_column[b]];
          };
          double        sum  = 0.;
          std::uint64_t next = graph.offset[k];
          for (std::uint64_t b = sparsity.block_offset[k];
               b < sparsity.block_offset[k + 1];
               ++b)
            {
              const unsigned int l = sparsity.block_column[b];
              if (l == k)
                graph.diagonal[k] = entry(k, b);
              if (l >= n || l == k)
                continue;
              // Both polytopes have to see the same coupling, also where the
              // flow goes one way.
              const std::uint64_t other = sparsity.find_block(l, k);
              const double        weight =
                0.5 *
                (entry(k, b) +
                 (other == BlockSparsity::no_block ? 0. : entry(l, other)));
              sum += weight;
              graph.column[next] = l;
              graph.weight[next] = weight;
              ++next;
            }
          graph.diagonal[k] = std::max(graph.diagonal[k], sum);
        });
        graph.outside = graph.diagonal;
        return graph;
      }

      // Number that orders edges of equal strength in the same way from both
      // ends, without a direction of the mesh.
      std::uint64_t
      hash(const unsigned int k, const unsigned int l)
      {
        std::uint64_t z =
          (std::uint64_t(std::min(k, l)) << 32 | std::max(k, l)) *
          0x9e3779b97f4a7c15ull;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        return z ^ (z >> 27);
      }

      // Neighbour of @p k with the largest coupling relative to the diagonals
      // among those that @p allowed admits, or invalid_index. A coupling must
      // not be small against both: the difference of two such functions would
      // neither be seen by a smoother nor exist on the coarse level.
      // @p diagonal is a least value for this comparison.
      template <typename Allowed>
      unsigned int
      strongest_neighbor(const CouplingGraph &graph,
                         const unsigned int   k,
                         const Allowed       &allowed,
                         const double         diagonal = 0.)
      {
        constexpr double least         = 0.06;
        unsigned int     best          = invalid_index;
        double           best_strength = 0.;
        std::uint64_t    best_hash     = 0;
        for (std::uint64_t e = graph.offset[k]; e < graph.offset[k + 1]; ++e)
          {
            const unsigned int l   = graph.column[e];
            const double       d_k = graph.diagonal[k], d_l = graph.diagonal[l];
            if (!allowed(l) ||
                !(graph.weight[e] >
                  least * std::max(diagonal, std::min(d_k, d_l))))
              continue;
            const double strength = graph.weight[e] * (1. / d_k + 1. / d_l);
            // Rounding must not decide between equal edges.
            const bool larger = strength > best_strength * (1. + 1e-10),
                       equal  = strength * (1. + 1e-10) >= best_strength;
            if (larger || (equal && hash(k, l) > best_hash))
              {
                best          = l;
                best_strength = strength;
                best_hash     = hash(k, l);
              }
          }
        return best;
      }

      // Pairs of vertices that select each other, in rounds. Then vertices that
      // are left over join the pair of their strongest neighbour if they are
      // tied to it as their own diagonal demands: several may join one pair.
      std::vector<unsigned int>
      join_pairs(const CouplingGraph &graph)
      {
        const unsigned int        n = graph.n_vertices();
        std::vector<unsigned int> parent(n, invalid_index), choice(n);
        for (bool changed = true; changed;)
          {
            changed = false;
            internal::for_blocks(n, [&](const unsigned int k) {
              choice[k] =
                parent[k] != invalid_index
                  ? invalid_index
                  : strongest_neighbor(graph, k, [&](const unsigned int l) {
                      return parent[l] == invalid_index;
                    });
            });
            std::atomic<bool> any(false);
            internal::for_blocks(n, [&](const unsigned int k) {
              if (choice[k] != invalid_index && choice[choice[k]] == k)
                {
                  parent[k] = std::min(k, choice[k]);
                  any.store(true, std::memory_order_relaxed);
                }
            });
            changed = any;
          }
        internal::for_blocks(n, [&](const unsigned int k) {
          choice[k] = parent[k] != invalid_index
                        ? k
                        : strongest_neighbor(
                            graph,
                            k,
                            [&](const unsigned int l) {
                              return parent[l] != invalid_index;
                            },
                            graph.diagonal[k]);
        });
        for (unsigned int k = 0; k < n; ++k)
          parent[k] = choice[k] == invalid_index ? k
                      : choice[k] == k           ? parent[k]
                                                 : parent[choice[k]];
        return parent;
      }

      // Graph of the groups: couplings inside of a group vanish.
      CouplingGraph
      join(const CouplingGraph             &graph,
           const std::vector<unsigned int> &parent,
           const unsigned int               n_groups)
      {
        std::vector<unsigned int> first(n_groups + 1, 0), member(parent.size());
        for (const unsigned int K : parent)
          ++first[K + 1];
        for (unsigned int K = 0; K < n_groups; ++K)
          first[K + 1] += first[K];
        std::vector<unsigned int> next(first.begin(), first.end() - 1);
        for (unsigned int k = 0; k < parent.size(); ++k)
          member[next[parent[k]]++] = k;
        CouplingGraph result;
        result.diagonal.assign(n_groups, 0.);
        result.outside.assign(n_groups, 0.);
        result.offset.assign(n_groups + 1, 0);
        // Calls function(K, edges of group K in the order of their columns),
        // where edges of a column keep the order of the members.
        using List          = std::vector<std::pair<unsigned int, double>>;
        const auto for_rows = [&](const auto &function) {
          internal::for_block_ranges(
            n_groups, [&](const unsigned int begin, const unsigned int end) {
              List list;
              for (unsigned int K = begin; K < end; ++K)
                {
                  list.clear();
                  for (unsigned int i = first[K]; i < first[K + 1]; ++i)
                    for (std::uint64_t e = graph.offset[member[i]];
                         e < graph.offset[member[i] + 1];
                         ++e)
                      if (parent[graph.column[e]] != K)
                        list.emplace_back(parent[graph.column[e]],
                                          graph.weight[e]);
                  std::stable_sort(list.begin(),
                                   list.end(),
                                   [](const auto &a, const auto &b) {
                                     return a.first < b.first;
                                   });
                  function(K, list);
                }
            });
        };
        const auto is_new = [](const List &list, const std::size_t i) {
          return i == 0 || list[i - 1].first != list[i].first;
        };
        for_rows([&](const unsigned int K, const List &list) {
          for (std::size_t i = 0; i < list.size(); ++i)
            result.offset[K + 1] += is_new(list, i);
        });
        result.add_up();
        for_rows([&](const unsigned int K, const List &list) {
          double diagonal = 0., outside = 0., sum = 0.;
          for (unsigned int i = first[K]; i < first[K + 1]; ++i)
            {
              const unsigned int k = member[i];
              diagonal += graph.diagonal[k];
              outside += graph.outside[k];
              for (std::uint64_t e = graph.offset[k]; e < graph.offset[k + 1];
                   ++e)
                if (parent[graph.column[e]] == K)
                  outside -= graph.weight[e];
            }
          std::uint64_t next = result.offset[K];
          for (std::size_t i = 0; i < list.size(); ++i)
            {
              sum += list[i].second;
              if (is_new(list, i))
                {
                  result.column[next] = list[i].first;
                  result.weight[next] = list[i].second;
                  ++next;
                }
              else
                result.weight[next - 1] += list[i].second;
            }
          result.diagonal[K] = diagonal;
          result.outside[K]  = std::max(outside, sum);
        });
        return result;
      }
    } // namespace



    template <int dim>
    Parents
    coupling(const AgglomerationHandler<dim> &handler,
             const HostBlockMatrix<double>   &matrix,
             const unsigned int               n_children,
             const unsigned int               n_coarsest)
    {
      return coupling(handler,
                      matrix.block_sparsity(),
                      constant_entries(handler, matrix),
                      n_children,
                      n_coarsest);
    }



    template <int dim>
    Parents
    coupling(const PolytopicSpace<dim> &space,
             const BlockSparsity       &sparsity,
             const std::vector<double> &entries,
             const unsigned int         n_children,
             const unsigned int         n_coarsest)
    {
      const MPI_Comm     communicator = space.get_communicator();
      const unsigned int factor       = children<dim>(n_children);
      Parents            result;
      CouplingGraph      graph;
      Tessella::on_all_processes(communicator, [&] {
        graph = coupling_graph(space.polytopic_mesh(), sparsity, entries);
      });
      while (are_too_many(graph.n_vertices(), n_coarsest, communicator))
        {
          const unsigned int        n = graph.n_vertices();
          std::vector<unsigned int> parent(n);
          for (unsigned int k = 0; k < n; ++k)
            parent[k] = k;
          for (unsigned int size = 2; size <= factor; size *= 2)
            {
              std::vector<unsigned int> pairs    = join_pairs(graph);
              const unsigned int        n_groups = internal::renumber(pairs);
              graph                              = join(graph, pairs, n_groups);
              internal::for_blocks(n, [&](const unsigned int k) {
                parent[k] = pairs[parent[k]];
              });
            }
          const unsigned int n_groups = graph.n_vertices();
          graph.diagonal              = graph.outside;
          // Nothing is coupled any more.
          if (Utilities::MPI::max(n_groups < n ? 1u : 0u, communicator) == 0)
            break;
          result.push_back(std::move(parent));
        }
      return result;
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
  template Parents coupling(const AgglomerationHandler<dim> &,            \
                            const HostBlockMatrix<double> &,              \
                            const unsigned int,                           \
                            const unsigned int);                          \
  template Parents coupling(const PolytopicSpace<dim> &,                  \
                            const BlockSparsity &,                        \
                            const std::vector<double> &,                  \
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "graph_refinement.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      void
      raise(std::atomic<std::uint64_t> &value, const std::uint64_t candidate)
      {
        std::uint64_t present = value.load(std::memory_order_relaxed);
        while (present < candidate &&
               !value.compare_exchange_weak(present,
                                            candidate,
                                            std::memory_order_relaxed))
          ;
      }



      /**
       * Rounds of moves. In each round all vertices propose their best move.
       * A proposal concerns two parts, its origin and its target. It is
       * carried out if it is the best that concerns either of them. No part
       * then takes part in two moves of a round, so that moves do
       * not disturb each other, and their order has no influence.
       */
      class Refinement
      {
      public:
        Refinement(const WeightedGraph       &graph,
                   const double               mean_cell_weight,
                   const unsigned int         n_parts,
                   const unsigned int         level,
                   std::vector<unsigned int> &part)
          : graph(graph)
          , n(graph.n_vertices())
          , n_parts(n_parts)
          , level(level)
          , part(part)
          , weights(n_parts, 0)
          , best(n_parts)
          , keys(n, 0)
          , targets(n, no_vertex)
          , active(n)
          , accepted(n, 0)
        {
          double weight = 0., edges = 0.;
          for (unsigned int v = 0; v < n; ++v)
            {
              active[v].store(1, std::memory_order_relaxed);
              weights[part[v]] += graph.vertex_weights[v];
              weight += graph.vertex_weights[v];
            }
          for (std::size_t e = 0; e < graph.neighbors.size(); ++e)
            edges += graph.edge_weight(e);
          const double mean = weight / n_parts;
          // Small parts first of all have equal numbers of cells; those of
          // large parts may differ by more.
          const double unit =
            std::max({mean_cell_weight, mean / 64., weight / n});
          edge_unit =
            graph.neighbors.empty() ? 1. : edges / graph.neighbors.size();
          penalty = 0.7 * edge_unit / (unit * unit);
          lightest =
            std::floor(0.75 * mean / mean_cell_weight) * mean_cell_weight;
          heaviest =
            std::ceil(1.25 * mean / mean_cell_weight) * mean_cell_weight;
        }

        void
        run()
        {
          // Moves are first chosen with random numbers added to their gains,
          // which leads out of local minima. Later rounds end when nothing
          // moves any more, which is the rule long before the last one.
          constexpr unsigned int n_random_rounds = 8, n_rounds = 60;
          constexpr double       amplitude = 1.5;
          for (unsigned int round = 0; round < n_rounds; ++round)
            {
              randomness = round < n_random_rounds
                             ? amplitude * edge_unit *
                                 (1. - double(round) / n_random_rounds)
                             : 0.;
              seed       = (level << 8) + round;
              if (!move_vertices() && round >= n_random_rounds)
                break;
            }
        }

      private:
        /// Parts beside a vertex and the weights of the edges to them.
        using Beside = std::vector<std::pair<unsigned int, double>>;

        /// One round; returns whether anything moved.
        bool
        move_vertices()
        {
          const std::vector<unsigned int> vertices =
            listed(n, [&](const unsigned int v) {
              return active[v].load(std::memory_order_relaxed) != 0;
            });
          parallel_for(n_parts, 8192, [&](const unsigned int k) {
            best[k].store(0, std::memory_order_relaxed);
          });
          const std::size_t n_listed   = vertices.size();
          const std::size_t block_size = 512;
          parallel_for((n_listed + block_size - 1) / block_size,
                       1,
                       [&](const std::size_t b) {
                         Beside                    beside;
                         std::vector<unsigned int> scratch[2];
                         const std::size_t         end =
                           std::min(n_listed, (b + 1) * block_size);
                         for (std::size_t k = b * block_size; k < end; ++k)
                           propose(vertices[k], beside, scratch);
                       });
          parallel_for(n_listed, 4096, [&](const std::size_t k) {
            const unsigned int v   = vertices[k];
            const auto         key = keys[v];
            accepted[v] =
              key != 0 &&
              best[part[v]].load(std::memory_order_relaxed) == key &&
              best[targets[v]].load(std::memory_order_relaxed) == key;
            // A proposal that another one has prevented is made again.
            active[v].store(key != 0, std::memory_order_relaxed);
          });
          const std::vector<unsigned int> moved =
            listed(n_listed, [&](const unsigned int k) {
              return accepted[vertices[k]] != 0;
            });
          parallel_for(moved.size(), 1024, [&](const std::size_t k) {
            const unsigned int v = vertices[moved[k]];
            weights[part[v]] -= graph.vertex_weights[v];
            weights[targets[v]] += graph.vertex_weights[v];
            std::swap(part[v], targets[v]);
          });
          parallel_for(moved.size(), 64, [&](const std::size_t k) {
            activate_around(vertices[moved[k]]);
          });
          return !moved.empty();
        }

        /// Finds the best move of vertex @p v.
        void
        propose(const unsigned int v,
                Beside            &beside,
                std::vector<unsigned int> (&scratch)[2])
        {
          keys[v]                   = 0;
          const unsigned int origin = part[v];
          double             inside = 0;
          beside.clear();
          for (std::size_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e)
            {
              const unsigned int other = part[graph.neighbors[e]];
              if (other == origin)
                {
                  inside += graph.edge_weight(e);
                  continue;
                }
              auto found = beside.begin();
              while (found != beside.end() && found->first != other)
                ++found;
              if (found == beside.end())
                beside.emplace_back(other, graph.edge_weight(e));
              else
                found->second += graph.edge_weight(e);
            }
          if (beside.empty() || inside == 0)
            return;

          const double  w         = graph.vertex_weights[v];
          double        best_gain = 0.;
          unsigned int  target    = no_vertex;
          std::uint32_t number    = v;
          for (const auto &[other, shared] : beside)
            {
              // Increase of the sum of the squares of the parts' weights
              const double squares =
                2. * w * (w + double(weights[other]) - double(weights[origin]));
              double gain = shared - inside - penalty * squares;
              if (squares >= 0. && (double(weights[origin]) - w < lightest ||
                                    double(weights[other]) + w > heaviest))
                continue;
              number = scrambled(number, seed);
              gain += randomness * 0x1p-32 * number;
              if (gain > best_gain ||
                  (target != no_vertex && gain == best_gain && other < target))
                {
                  best_gain = gain;
                  target    = other;
                }
            }
          // Integers of 32 bits hold the gain, relative to an edge.
          const double key =
            std::min(best_gain / edge_unit * 1e4, double(no_vertex - 1));
          if (target == no_vertex || key < 1. || !is_removable(v, scratch))
            return;
          keys[v]    = (std::uint64_t(key) << 32) | scrambled(v, ~seed);
          targets[v] = target;
          raise(best[origin], keys[v]);
          raise(best[target], keys[v]);
        }

        /// Whether the part of @p v stays connected without it. The search ends
        /// after some vertices, so that the answer may be no for a large part
        /// in which only a long way connects the neighbours of v.
        bool
        is_removable(const unsigned int v,
                     std::vector<unsigned int> (&scratch)[2]) const
        {
          constexpr std::size_t      n_searched = 96;
          std::vector<unsigned int> &wanted = scratch[0], &met = scratch[1];
          wanted.clear();
          for (std::size_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e)
            if (part[graph.neighbors[e]] == part[v])
              wanted.push_back(graph.neighbors[e]);
          met.assign(1, wanted.back());
          wanted.pop_back();
          for (std::size_t k = 0; k < met.size() && !wanted.empty(); ++k)
            for (std::size_t e = graph.offsets[met[k]];
                 e < graph.offsets[met[k] + 1];
                 ++e)
              {
                const unsigned int u = graph.neighbors[e];
                if (u == v || part[u] != part[v] ||
                    std::find(met.begin(), met.end(), u) != met.end())
                  continue;
                if (met.size() == n_searched)
                  return false;
                met.push_back(u);
                const auto found = std::find(wanted.begin(), wanted.end(), u);
                if (found != wanted.end())
                  wanted.erase(found);
              }
          return wanted.empty();
        }

        /// Vertices near @p v, which has moved, propose again: those of both
        /// parts and their neighbours, as far as they are near.
        void
        activate_around(const unsigned int v)
        {
          constexpr std::size_t                n_searched = 160;
          std::array<unsigned int, n_searched> met;
          met[0]            = v;
          std::size_t n_met = 1;
          for (std::size_t k = 0; k < n_met; ++k)
            {
              const unsigned int u = met[k];
              active[u].store(1, std::memory_order_relaxed);
              if (part[u] != part[v] && part[u] != targets[v])
                continue;
              for (std::size_t e = graph.offsets[u];
                   e < graph.offsets[u + 1] && n_met < n_searched;
                   ++e)
                if (std::find(met.begin(),
                              met.begin() + n_met,
                              graph.neighbors[e]) == met.begin() + n_met)
                  met[n_met++] = graph.neighbors[e];
            }
        }

        const WeightedGraph                    &graph;
        const unsigned int                      n, n_parts, level;
        std::vector<unsigned int>              &part;
        std::vector<std::uint64_t>              weights;
        std::vector<std::atomic<std::uint64_t>> best;
        std::vector<std::uint64_t>              keys;
        std::vector<unsigned int>               targets;
        std::vector<std::atomic<char>>          active;
        std::vector<char>                       accepted;
        /// Mean weight of an edge; cost of a change of the sum of the squares
        /// of the parts' weights, in units of edge weights.
        double        edge_unit = 1., penalty = 0.;
        double        lightest = 0., heaviest = 0., randomness = 0.;
        std::uint32_t seed = 0;
      };
    } // namespace



    void
    refine_partition(const WeightedGraph       &graph,
                     const double               mean_cell_weight,
                     const unsigned int         n_parts,
                     const unsigned int         level,
                     std::vector<unsigned int> &part)
    {
      Refinement(graph, mean_cell_weight, n_parts, level, part).run();
    }
  } // namespace internal
} // namespace Tessella

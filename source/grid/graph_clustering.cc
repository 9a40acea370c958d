// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "graph_clustering.h"

#include <deal.II/base/exceptions.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "../base/parallel_for.h"
#include "graph_refinement.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      /// Edge of a matching, as one of its vertices sees it. Edges have a total
      /// order, in which the two ends agree.
      struct Candidate
      {
        double        score = 0.;
        std::uint32_t hash  = 0;
        unsigned int  low = no_vertex, high = no_vertex;

        bool
        operator<(const Candidate &other) const
        {
          if (score != other.score)
            return score < other.score;
          if (hash != other.hash)
            return hash < other.hash;
          return low != other.low ? low < other.low : high < other.high;
        }
      };



      /**
       * Matching of vertices with a neighbour each: in every round each free
       * vertex selects its best edge, and edges that both ends select are
       * matched. The best free edge of all is among them.
       */
      class Matching
      {
      public:
        /// Does not match vertices whose common weight exceeds @p cap.
        Matching(const WeightedGraph &graph, const double cap)
          : graph(graph)
          , cap(cap)
          , n(graph.n_vertices())
          , mate(n, no_vertex)
          , best(n)
          , selected(n)
        {}

        /// Matches up to @p most pairs and returns their number. @p seed makes
        /// the order of equally good edges.
        unsigned int
        run(const unsigned int most, const std::uint32_t seed)
        {
          // Later rounds find few edges; the next matching of the contracted
          // graph finds them, too.
          constexpr unsigned int n_rounds = 6;
          unsigned int           n_pairs  = 0;
          for (unsigned int round = 0; round < n_rounds && n_pairs < most;
               ++round)
            {
              select(scrambled(seed, round));
              std::vector<unsigned int> pairs = listed(n, [&](const auto v) {
                return selected[v] != no_vertex && v < selected[v] &&
                       selected[selected[v]] == v;
              });
              if (pairs.empty())
                break;
              if (pairs.size() > most - n_pairs)
                {
                  std::nth_element(pairs.begin(),
                                   pairs.begin() + (most - n_pairs),
                                   pairs.end(),
                                   [&](const auto a, const auto b) {
                                     return best[b] < best[a];
                                   });
                  pairs.resize(most - n_pairs);
                }
              parallel_for(pairs.size(), 4096, [&](const std::size_t k) {
                mate[pairs[k]]           = selected[pairs[k]];
                mate[selected[pairs[k]]] = pairs[k];
              });
              n_pairs += pairs.size();
            }
          return n_pairs;
        }

        /// Joins the pairs: the result is the number of each vertex or pair.
        std::vector<unsigned int>
        parents() const
        {
          std::vector<unsigned int> parent(n);
          unsigned int              n_parents = 0;
          for (unsigned int v = 0; v < n; ++v)
            parent[v] = mate[v] < v ? parent[mate[v]] : n_parents++;
          return parent;
        }

      private:
        void
        select(const std::uint32_t seed)
        {
          parallel_for(n, 2048, [&](const unsigned int v) {
            selected[v] = no_vertex;
            best[v]     = Candidate();
            if (mate[v] != no_vertex)
              return;
            for (std::size_t e = graph.offsets[v]; e < graph.offsets[v + 1];
                 ++e)
              {
                const unsigned int u        = graph.neighbors[e];
                const double       weight_v = graph.vertex_weights[v],
                             weight_u       = graph.vertex_weights[u];
                if (mate[u] != no_vertex || weight_u + weight_v > cap)
                  continue;
                Candidate candidate;
                candidate.low  = std::min(u, v);
                candidate.high = std::max(u, v);
                // Light vertices go first, so that weights stay equal.
                candidate.score = graph.edge_weight(e) / (weight_u * weight_v);
                candidate.hash  = scrambled(candidate.low, seed) ^
                                 scrambled(candidate.high, ~seed);
                if (selected[v] == no_vertex || best[v] < candidate)
                  {
                    best[v]     = candidate;
                    selected[v] = u;
                  }
              }
          });
        }

        const WeightedGraph      &graph;
        const double              cap;
        const unsigned int        n;
        std::vector<unsigned int> mate;
        std::vector<Candidate>    best;
        std::vector<unsigned int> selected;
      };



      struct Coarsened
      {
        WeightedGraph             graph;
        std::vector<unsigned int> parent;
      };

      /// Joins vertices pairwise, repeatedly, until @p n_wanted are left. The
      /// weight of a result exceeds the cap only where this cannot be avoided.
      Coarsened
      coarsen(const WeightedGraph &fine,
              const unsigned int   n_wanted,
              const double         cap_of_pairs)
      {
        Coarsened result;
        result.parent.resize(fine.n_vertices());
        std::iota(result.parent.begin(), result.parent.end(), 0u);
        const WeightedGraph *graph = &fine;
        double               cap   = cap_of_pairs;
        std::uint32_t        seed  = 0;
        while (graph->n_vertices() > n_wanted)
          {
            Matching           matching(*graph, cap);
            const unsigned int n_pairs =
              matching.run(graph->n_vertices() - n_wanted, ++seed);
            if (n_pairs == 0)
              {
                AssertThrow(cap <
                              2. * std::numeric_limits<std::uint64_t>::max(),
                            dealii::ExcInternalError());
                cap *= 1.4;
                continue;
              }
            const std::vector<unsigned int> parent = matching.parents();
            result.graph =
              contract(*graph, parent, graph->n_vertices() - n_pairs);
            graph = &result.graph;
            parallel_for(result.parent.size(), 8192, [&](const std::size_t v) {
              result.parent[v] = parent[result.parent[v]];
            });
          }
        if (graph == &fine)
          result.graph = fine;
        return result;
      }



      /// Members of each set in ascending order, in compressed rows.
      void
      list_members(const std::vector<unsigned int> &parent,
                   const unsigned int               n_parents,
                   std::vector<std::size_t>        &offsets,
                   std::vector<unsigned int>       &members)
      {
        offsets.assign(n_parents + 1, 0);
        for (const unsigned int p : parent)
          ++offsets[p + 1];
        std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
        members.resize(parent.size());
        std::vector<std::size_t> next(offsets.begin(), offsets.end() - 1);
        for (std::size_t v = 0; v < parent.size(); ++v)
          members[next[parent[v]]++] = v;
      }
    } // namespace



    WeightedGraph
    contract(const WeightedGraph             &graph,
             const std::vector<unsigned int> &parent,
             const unsigned int               n_parents)
    {
      std::vector<std::size_t>  member_offsets;
      std::vector<unsigned int> members;
      list_members(parent, n_parents, member_offsets, members);

      // The edges of all members, sorted by the set that they lead to, and then
      // one edge for each set.
      std::vector<unsigned int> n_edges(n_parents, 0);
      parallel_for(n_parents, 4096, [&](const unsigned int p) {
        for (std::size_t m = member_offsets[p]; m < member_offsets[p + 1]; ++m)
          n_edges[p] +=
            graph.offsets[members[m] + 1] - graph.offsets[members[m]];
      });
      std::vector<std::size_t> begin_of(n_parents + 1, 0);
      for (unsigned int p = 0; p < n_parents; ++p)
        begin_of[p + 1] = begin_of[p] + n_edges[p];
      std::vector<std::pair<unsigned int, unsigned int>> edges(
        begin_of[n_parents]);
      WeightedGraph result;
      result.vertex_weights.resize(n_parents);
      parallel_for(n_parents, 512, [&](const unsigned int p) {
        const auto    begin  = edges.begin() + begin_of[p];
        auto          end    = begin;
        std::uint64_t weight = 0;
        for (std::size_t m = member_offsets[p]; m < member_offsets[p + 1]; ++m)
          {
            const unsigned int v = members[m];
            weight += graph.vertex_weights[v];
            for (std::size_t e = graph.offsets[v]; e < graph.offsets[v + 1];
                 ++e)
              if (parent[graph.neighbors[e]] != p)
                *end++ = {parent[graph.neighbors[e]], graph.edge_weight(e)};
          }
        result.vertex_weights[p] = weight;
        std::sort(begin, end);
        auto last = begin;
        for (auto edge = begin; edge != end; ++edge)
          if (last != begin && (last - 1)->first == edge->first)
            (last - 1)->second += edge->second;
          else
            *last++ = *edge;
        n_edges[p] = last - begin;
      });

      result.offsets.assign(n_parents + 1, 0);
      for (unsigned int p = 0; p < n_parents; ++p)
        result.offsets[p + 1] = result.offsets[p] + n_edges[p];
      result.neighbors.resize(result.offsets.back());
      result.edge_weights.resize(result.offsets.back());
      parallel_for(n_parents, 1024, [&](const unsigned int p) {
        for (unsigned int k = 0; k < n_edges[p]; ++k)
          {
            const auto &edge                           = edges[begin_of[p] + k];
            result.neighbors[result.offsets[p] + k]    = edge.first;
            result.edge_weights[result.offsets[p] + k] = edge.second;
          }
      });
      return result;
    }



    unsigned int
    n_components(const WeightedGraph &graph)
    {
      std::vector<char>         met(graph.n_vertices(), 0);
      std::vector<unsigned int> stack;
      unsigned int              n = 0;
      for (unsigned int start = 0; start < graph.n_vertices(); ++start)
        if (!met[start])
          {
            ++n;
            met[start] = 1;
            stack.push_back(start);
            while (!stack.empty())
              {
                const unsigned int v = stack.back();
                stack.pop_back();
                for (std::size_t e = graph.offsets[v]; e < graph.offsets[v + 1];
                     ++e)
                  if (!met[graph.neighbors[e]])
                    {
                      met[graph.neighbors[e]] = 1;
                      stack.push_back(graph.neighbors[e]);
                    }
              }
          }
      return n;
    }



    std::vector<unsigned int>
    cluster_graph(WeightedGraph graph, const unsigned int n_parts)
    {
      const unsigned int n_vertices = graph.n_vertices();
      AssertThrow(n_parts <= n_vertices && (n_parts > 0 || n_vertices == 0),
                  dealii::ExcInternalError());
      std::vector<unsigned int> part(n_parts);
      std::iota(part.begin(), part.end(), 0u);
      if (n_parts == n_vertices)
        return part;

      double weight = 0;
      for (const std::uint64_t w : graph.vertex_weights)
        weight += w;

      // Level 0 is the graph itself. The number of vertices is halved from each
      // further level to the next, and is n_parts on the last one. Level 1 has
      // at most n_vertices / 1.4.
      unsigned int n_levels = 1;
      while (1.4 * std::ldexp(n_parts, n_levels) <= n_vertices)
        ++n_levels;
      std::vector<WeightedGraph> levels;
      levels.push_back(std::move(graph));
      std::vector<std::vector<unsigned int>> parents;
      for (unsigned int l = 1; l <= n_levels; ++l)
        {
          const unsigned int n_wanted = n_parts << (n_levels - l);
          // A third or a cell above the mean: nearly all find a partner.
          const double mean = weight / n_wanted;
          Coarsened    coarse =
            coarsen(levels.back(),
                    n_wanted,
                    std::max(4. / 3. * mean, mean + weight / n_vertices));
          parents.push_back(std::move(coarse.parent));
          levels.push_back(std::move(coarse.graph));
        }

      for (unsigned int l = n_levels; l-- > 0;)
        {
          std::vector<unsigned int> fine(levels[l].n_vertices());
          parallel_for(fine.size(), 8192, [&](const std::size_t v) {
            fine[v] = part[parents[l][v]];
          });
          part = std::move(fine);
          levels.pop_back();
          refine_partition(levels[l], weight / n_vertices, n_parts, l, part);
        }
      return part;
    }
  } // namespace internal
} // namespace Tessella

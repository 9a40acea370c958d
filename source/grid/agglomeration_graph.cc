// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>
#include <queue>
#include <string>
#include <utility>

#include "dual_graph.h"

#ifdef DEAL_II_WITH_METIS
extern "C" {
#  include <metis.h>
}
#endif

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      constexpr unsigned int unset = std::numeric_limits<unsigned int>::max();

#ifdef DEAL_II_WITH_METIS
      /// Keeps the program's signal handlers. METIS reports its errors by
      /// SIGABRT and SIGTERM and installs handlers for them while it works; the
      /// handlers that it restores have lost their flags.
      class KeepSignalHandlers
      {
      public:
        KeepSignalHandlers()
        {
          sigaction(SIGABRT, nullptr, &on_abort);
          sigaction(SIGTERM, nullptr, &on_termination);
        }
        ~KeepSignalHandlers()
        {
          sigaction(SIGABRT, &on_abort, nullptr);
          sigaction(SIGTERM, &on_termination, nullptr);
        }

      private:
        struct sigaction on_abort, on_termination;
      };
#endif

      /**
       * Recursive bisection with METIS. Every bisection is a separate call; all
       * of them together take no longer than one call for all parts. Each half
       * is then divided into a number of parts in proportion to the weight that
       * it really received, so that the tolerances of METIS do not add up from
       * level to level: for many parts, a single call of METIS ends with sets
       * that have fewer cells than parts.
       */
#ifdef DEAL_II_WITH_METIS
      class RecursiveBisection
      {
      public:
        RecursiveBisection(const DualGraph                 &graph,
                           const std::vector<unsigned int> &weights)
          : graph(graph)
          , cells(graph.n_cells())
          , parts(graph.n_cells(), 0)
          , local_index(graph.n_cells())
        {
          std::iota(cells.begin(), cells.end(), 0u);
          const std::uint64_t sum =
            std::accumulate(weights.begin(), weights.end(), std::uint64_t(0));
          // METIS adds up weights and multiplies the sums by small integers.
          constexpr std::uint64_t max_sum =
            std::numeric_limits<idx_t>::max() / 4;
          const double scaling = sum > max_sum ? double(max_sum) / sum : 1.;
          cell_weights.reserve(weights.size());
          for (const unsigned int weight : weights)
            cell_weights.push_back(
              scaling == 1.
                ? static_cast<idx_t>(weight)
                : std::max(idx_t(1), static_cast<idx_t>(scaling * weight)));

          METIS_SetDefaultOptions(options);
          options[METIS_OPTION_NUMBERING] = 0;
          options[METIS_OPTION_SEED]      = 1;
        }

        std::vector<unsigned int>
        run(const unsigned int n_parts)
        {
          bisect(0, cells.size(), 0, n_parts);
          return parts;
        }

      private:
        /// Cuts the set cells[begin .. end), which holds exactly those cells
        /// with parts[cell] == first_part, into @p n_parts parts.
        void
        bisect(const std::size_t  begin,
               const std::size_t  end,
               const unsigned int first_part,
               const unsigned int n_parts)
        {
          const std::size_t n = end - begin;
          Assert(n_parts > 0 && n_parts <= n, dealii::ExcInternalError());
          if (n_parts == 1)
            return;
          if (n_parts == n)
            {
              for (std::size_t k = 0; k < n; ++k)
                parts[cells[begin + k]] = first_part + k;
              return;
            }

          // Graph of the set alone.
          for (std::size_t k = 0; k < n; ++k)
            local_index[cells[begin + k]] = k;
          offsets.assign(1, 0);
          neighbors.clear();
          weights.clear();
          for (std::size_t k = begin; k < end; ++k)
            {
              const unsigned int cell = cells[k];
              for (std::size_t e = graph.offsets[cell];
                   e < graph.offsets[cell + 1];
                   ++e)
                if (parts[graph.neighbors[e]] == first_part)
                  neighbors.push_back(local_index[graph.neighbors[e]]);
              offsets.push_back(neighbors.size());
              if (!cell_weights.empty())
                weights.push_back(cell_weights[cell]);
            }

          const unsigned int wished_left = n_parts / 2;
          sides.assign(n, 0);
          if (!neighbors.empty())
            call_metis(real_t(wished_left) / real_t(n_parts));
          const std::size_t n_right = std::count(sides.begin(), sides.end(), 1);
          if (n_right == 0 || n_right == n)
            search((n * wished_left + n_parts / 2) / n_parts);

          // Both halves keep the order of their cells.
          std::uint64_t weight_left = 0, weight = 0;
          moved.clear();
          std::size_t position = begin;
          for (std::size_t k = 0; k < n; ++k)
            {
              const unsigned int cell = cells[begin + k];
              const idx_t        w    = weights.empty() ? 1 : weights[k];
              weight += w;
              if (sides[k] == 0)
                {
                  weight_left += w;
                  cells[position++] = cell;
                }
              else
                moved.push_back(cell);
            }
          std::copy(moved.begin(), moved.end(), cells.begin() + position);

          const std::uint64_t n_left = position - begin;
          const std::uint64_t share =
            (2 * weight_left * n_parts + weight) / (2 * weight);
          const std::uint64_t least =
            n_parts > n - n_left ? n_parts - (n - n_left) : 1;
          const std::uint64_t most =
            std::min<std::uint64_t>(n_left, n_parts - 1);
          const unsigned int parts_left =
            static_cast<unsigned int>(std::min(std::max(share, least), most));
          for (std::size_t k = position; k < end; ++k)
            parts[cells[k]] = first_part + parts_left;
          bisect(begin, position, first_part, parts_left);
          bisect(position, end, first_part + parts_left, n_parts - parts_left);
        }

        /// Fills @p sides with the result of METIS.
        void
        call_metis(const real_t share_left)
        {
          idx_t  n_vertices    = offsets.size() - 1;
          idx_t  n_constraints = 1, n_sides = 2, edge_cut = 0;
          real_t shares[2] = {share_left, real_t(1.) - share_left};
          int    status    = METIS_OK;
          {
            const KeepSignalHandlers keep;
            status = METIS_PartGraphRecursive(&n_vertices,
                                              &n_constraints,
                                              offsets.data(),
                                              neighbors.data(),
                                              weights.empty() ? nullptr
                                                              : weights.data(),
                                              nullptr,
                                              nullptr,
                                              &n_sides,
                                              shares,
                                              nullptr,
                                              options,
                                              &edge_cut,
                                              sides.data());
          }
          // METIS has caught a SIGTERM that was meant to end the program.
          if (status == METIS_ERROR)
            std::raise(SIGTERM);
          AssertThrow(status != METIS_ERROR_MEMORY,
                      dealii::ExcMessage(
                        "METIS ran out of memory for " +
                        std::to_string(graph.n_cells()) +
                        " cells: use another way of agglomeration, for "
                        "example an R-tree."));
          AssertThrow(
            status == METIS_OK,
            dealii::ExcMessage(
              "METIS failed with error code " + std::to_string(status) +
              (status == METIS_ERROR ? ", or was interrupted by SIGTERM" : "") +
              ": use another way of agglomeration, for example an "
              "R-tree."));
        }

        /// Fills @p sides without METIS: the first @p n_left vertices of a
        /// breadth-first search make up the left side.
        void
        search(std::size_t n_left)
        {
          const std::size_t n = offsets.size() - 1;
          n_left = std::min(std::max(n_left, std::size_t(1)), n - 1);
          std::vector<char>        met(n, 0);
          std::vector<std::size_t> order;
          order.reserve(n);
          for (std::size_t start = 0; start < n; ++start)
            if (!met[start])
              {
                met[start] = 1;
                order.push_back(start);
                for (std::size_t k = order.size() - 1; k < order.size(); ++k)
                  for (idx_t e = offsets[order[k]]; e < offsets[order[k] + 1];
                       ++e)
                    if (!met[neighbors[e]])
                      {
                        met[neighbors[e]] = 1;
                        order.push_back(neighbors[e]);
                      }
              }
          for (std::size_t k = 0; k < n; ++k)
            sides[order[k]] = k >= n_left;
        }

        const DualGraph          &graph;
        std::vector<unsigned int> cells, parts, moved;
        std::vector<idx_t>        local_index, cell_weights;
        idx_t                     options[METIS_NOPTIONS];
        // Graph of the set that is being cut, and the side of each of its
        // vertices.
        std::vector<idx_t> offsets, neighbors, weights, sides;
      };
#endif
    } // namespace



    std::vector<unsigned int>
    partition_graph(const DualGraph                 &graph,
                    const std::vector<unsigned int> &weights,
                    const unsigned int               n_parts)
    {
#ifdef DEAL_II_WITH_METIS
      AssertThrow(graph.neighbors.size() <=
                    std::size_t(std::numeric_limits<idx_t>::max()),
                  dealii::ExcMessage(
                    "The mesh has more faces than METIS can count with " +
                    std::to_string(8 * sizeof(idx_t)) +
                    "-bit integers: use a METIS with 64-bit integers or "
                    "another way of agglomeration."));
      // The state of METIS's random number generator is global to the program.
      static std::mutex                 mutex;
      const std::lock_guard<std::mutex> lock(mutex);
      return RecursiveBisection(graph, weights).run(n_parts);
#else
      (void)graph;
      (void)weights;
      (void)n_parts;
      AssertThrow(false,
                  dealii::ExcMessage(
                    "Agglomeration with METIS needs a deal.II that was "
                    "configured with METIS: rebuild deal.II or choose another "
                    "way of agglomeration, for example an R-tree."));
      return {};
#endif
    }



    std::vector<unsigned int>
    connected_parts(const DualGraph                 &graph,
                    const std::vector<unsigned int> &ids)
    {
      const unsigned int        n_cells = graph.n_cells();
      std::vector<unsigned int> parts(n_cells, unset);
      std::vector<unsigned int> stack;
      unsigned int              n_parts = 0;
      for (unsigned int start = 0; start < n_cells; ++start)
        if (parts[start] == unset)
          {
            parts[start] = n_parts;
            stack.push_back(start);
            while (!stack.empty())
              {
                const unsigned int cell = stack.back();
                stack.pop_back();
                for (std::size_t e = graph.offsets[cell];
                     e < graph.offsets[cell + 1];
                     ++e)
                  {
                    const unsigned int next = graph.neighbors[e];
                    if (parts[next] == unset && ids[next] == ids[start])
                      {
                        parts[next] = n_parts;
                        stack.push_back(next);
                      }
                  }
              }
            ++n_parts;
          }
      return parts;
    }



    void
    merge_small_polytopes(const DualGraph           &graph,
                          const unsigned int         min_cells,
                          std::vector<unsigned int> &ids)
    {
      const unsigned int n_cells = graph.n_cells();
      unsigned int       n_ids   = 0;
      for (const unsigned int id : ids)
        n_ids = std::max(n_ids, id + 1);

      // Polytopes are linked lists of cells, so that two of them are joined in
      // constant time, and trees of ids: each id points to the one that
      // absorbed it.
      std::vector<unsigned int> sizes(n_ids, 0), first(n_ids, unset),
        last(n_ids, unset), next(n_cells, unset), absorbed_by(n_ids);
      std::iota(absorbed_by.begin(), absorbed_by.end(), 0u);
      for (unsigned int cell = 0; cell < n_cells; ++cell)
        {
          const unsigned int id = ids[cell];
          if (sizes[id]++ == 0)
            first[id] = cell;
          else
            next[last[id]] = cell;
          last[id] = cell;
        }
      const auto find = [&](unsigned int id) {
        while (absorbed_by[id] != id)
          {
            absorbed_by[id] = absorbed_by[absorbed_by[id]];
            id              = absorbed_by[id];
          }
        return id;
      };

      using Entry = std::pair<unsigned int, unsigned int>;
      std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
      for (unsigned int id = 0; id < n_ids; ++id)
        if (sizes[id] > 0 && sizes[id] < min_cells)
          queue.push({sizes[id], id});

      std::vector<std::pair<unsigned int, double>> shared;
      while (!queue.empty())
        {
          const auto [size, id] = queue.top();
          queue.pop();
          if (absorbed_by[id] != id || sizes[id] != size)
            continue; // merged or grown after this entry was queued

          shared.clear();
          for (unsigned int cell = first[id]; cell != unset; cell = next[cell])
            for (std::size_t e = graph.offsets[cell];
                 e < graph.offsets[cell + 1];
                 ++e)
              {
                const unsigned int other = find(ids[graph.neighbors[e]]);
                if (other != id)
                  shared.emplace_back(other, graph.areas[e]);
              }
          // Equal ids keep their order, so that the sums are the same in every
          // run.
          std::stable_sort(shared.begin(),
                           shared.end(),
                           [](const auto &a, const auto &b) {
                             return a.first < b.first;
                           });
          unsigned int target       = unset;
          double       largest_area = 0;
          for (std::size_t k = 0; k < shared.size();)
            {
              const unsigned int other = shared[k].first;
              double             area  = 0;
              for (; k < shared.size() && shared[k].first == other; ++k)
                area += shared[k].second;
              // Areas that differ by rounding only count as equal.
              if (target == unset || area > (1. + 1e-10) * largest_area)
                {
                  target       = other;
                  largest_area = area;
                }
            }
          if (target == unset)
            continue; // a polytope without neighbours

          absorbed_by[id]    = target;
          next[last[target]] = first[id];
          last[target]       = last[id];
          sizes[target] += size;
          if (sizes[target] < min_cells)
            queue.push({sizes[target], target});
        }
      for (unsigned int &id : ids)
        id = find(id);
    }



    unsigned int
    renumber(std::vector<unsigned int> &ids)
    {
      if (ids.empty())
        return 0;
      // Ids far larger than the number of cells are first replaced by their
      // ranks.
      if (*std::max_element(ids.begin(), ids.end()) / 4 > ids.size())
        {
          std::vector<unsigned int> sorted(ids);
          std::sort(sorted.begin(), sorted.end());
          sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
          for (unsigned int &id : ids)
            id = static_cast<unsigned int>(
              std::lower_bound(sorted.begin(), sorted.end(), id) -
              sorted.begin());
        }
      std::vector<unsigned int> new_ids(
        std::size_t(*std::max_element(ids.begin(), ids.end())) + 1, unset);
      unsigned int n_ids = 0;
      for (unsigned int &id : ids)
        {
          if (new_ids[id] == unset)
            new_ids[id] = n_ids++;
          id = new_ids[id];
        }
      return n_ids;
    }
  } // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
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

      /**
       * Halves the largest parts until no part is empty. The half that leaves
       * is the second half of the cells in breadth-first order from the part's
       * first cell.
       */
      void
      fill_empty_parts(const DualGraph           &graph,
                       const unsigned int         n_parts,
                       std::vector<unsigned int> &parts)
      {
        std::vector<unsigned int> sizes(n_parts, 0);
        for (const unsigned int part : parts)
          ++sizes[part];
        std::vector<unsigned int> empty;
        for (unsigned int part = 0; part < n_parts; ++part)
          if (sizes[part] == 0)
            empty.push_back(part);
        if (empty.empty())
          return;

        std::vector<std::vector<unsigned int>> members(n_parts);
        for (unsigned int cell = 0; cell < parts.size(); ++cell)
          members[parts[cell]].push_back(cell);

        // Largest first, of these the one with the lowest number.
        using Entry = std::pair<unsigned int, unsigned int>;
        std::priority_queue<Entry> queue;
        for (unsigned int part = 0; part < n_parts; ++part)
          queue.push({sizes[part], unset - part});

        std::vector<char>         visited(parts.size(), 0);
        std::vector<unsigned int> order;
        for (const unsigned int part : empty)
          {
            const unsigned int source = unset - queue.top().second;
            queue.pop();
            auto &cells = members[source];
            Assert(cells.size() > 1, dealii::ExcInternalError());

            order.clear();
            for (const unsigned int start : cells)
              {
                if (visited[start])
                  continue;
                visited[start] = 1;
                order.push_back(start);
                for (std::size_t k = order.size() - 1; k < order.size(); ++k)
                  for (std::size_t e = graph.offsets[order[k]];
                       e < graph.offsets[order[k] + 1];
                       ++e)
                    {
                      const unsigned int next = graph.neighbors[e];
                      if (parts[next] == source && !visited[next])
                        {
                          visited[next] = 1;
                          order.push_back(next);
                        }
                    }
              }
            const std::size_t half = (order.size() + 1) / 2;
            members[part].assign(order.begin() + half, order.end());
            cells.assign(order.begin(), order.begin() + half);
            for (const unsigned int cell : members[part])
              parts[cell] = part;
            for (const unsigned int p : {source, part})
              {
                for (const unsigned int cell : members[p])
                  visited[cell] = 0;
                std::sort(members[p].begin(), members[p].end());
                queue.push(
                  {static_cast<unsigned int>(members[p].size()), unset - p});
              }
          }
      }
    } // namespace



    std::vector<unsigned int>
    partition_graph(const DualGraph                 &graph,
                    const std::vector<unsigned int> &weights,
                    const unsigned int               n_parts)
    {
      const unsigned int n_cells = graph.n_cells();
      Assert(n_parts > 0 && n_parts <= n_cells, dealii::ExcInternalError());
      std::vector<unsigned int> parts(n_cells, 0);
      if (n_parts == 1)
        return parts;
      if (n_parts == n_cells)
        {
          for (unsigned int i = 0; i < n_cells; ++i)
            parts[i] = i;
          return parts;
        }

#ifdef DEAL_II_WITH_METIS
      constexpr std::uint64_t max_index = std::numeric_limits<idx_t>::max();
      AssertThrow(graph.neighbors.size() <= max_index,
                  dealii::ExcMessage(
                    "The mesh has more faces than METIS can count with " +
                    std::to_string(8 * sizeof(idx_t)) +
                    "-bit integers: use a METIS with 64-bit integers or "
                    "another way of agglomeration."));
      std::vector<idx_t> offsets(graph.offsets.begin(), graph.offsets.end());
      std::vector<idx_t> neighbors(graph.neighbors.begin(),
                                   graph.neighbors.end());
      std::vector<idx_t> vertex_weights;
      if (!weights.empty())
        {
          std::uint64_t sum = 0;
          for (const unsigned int weight : weights)
            sum += weight;
          // METIS adds weights up and multiplies sums by small numbers.
          const double scaling =
            sum > max_index / 4 ? double(max_index / 4) / sum : 1.;
          for (const unsigned int weight : weights)
            vertex_weights.push_back(
              scaling == 1.
                ? static_cast<idx_t>(weight)
                : std::max(idx_t(1), static_cast<idx_t>(scaling * weight)));
        }

      idx_t              n_vertices    = n_cells;
      idx_t              n_constraints = 1;
      idx_t              n_metis_parts = n_parts;
      idx_t              edge_cut      = 0;
      std::vector<idx_t> metis_parts(n_cells, 0);
      idx_t              options[METIS_NOPTIONS];
      METIS_SetDefaultOptions(options);
      options[METIS_OPTION_NUMBERING] = 0;
      options[METIS_OPTION_SEED]      = 1;

      int status;
      {
        // METIS's random numbers are global to the program.
        static std::mutex                 mutex;
        const std::lock_guard<std::mutex> lock(mutex);
        status = METIS_PartGraphRecursive(&n_vertices,
                                          &n_constraints,
                                          offsets.data(),
                                          neighbors.data(),
                                          vertex_weights.empty()
                                            ? nullptr
                                            : vertex_weights.data(),
                                          nullptr,
                                          nullptr,
                                          &n_metis_parts,
                                          nullptr,
                                          nullptr,
                                          options,
                                          &edge_cut,
                                          metis_parts.data());
      }
      AssertThrow(status != METIS_ERROR_MEMORY,
                  dealii::ExcMessage("METIS ran out of memory for " +
                                     std::to_string(n_cells) +
                                     " cells: use another way of "
                                     "agglomeration, for example an R-tree."));
      AssertThrow(status == METIS_OK,
                  dealii::ExcMessage("METIS failed with error code " +
                                     std::to_string(status) +
                                     ": use another way of agglomeration, "
                                     "for example an R-tree."));
      for (unsigned int i = 0; i < n_cells; ++i)
        parts[i] = static_cast<unsigned int>(metis_parts[i]);
      fill_empty_parts(graph, n_parts, parts);
      return parts;
#else
      (void)weights;
      AssertThrow(false,
                  dealii::ExcMessage(
                    "Agglomeration with METIS needs a deal.II that was "
                    "configured with METIS: rebuild deal.II or choose another "
                    "way of agglomeration, for example an R-tree."));
      return parts;
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

      // Polytopes are linked lists of cells, so that two are joined in constant
      // time, and trees of ids that point to the one that absorbed them.
      std::vector<unsigned int> sizes(n_ids, 0), first(n_ids, unset),
        last(n_ids, unset), next(n_cells, unset), absorbed_by(n_ids);
      for (unsigned int id = 0; id < n_ids; ++id)
        absorbed_by[id] = id;
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
            continue; // it has been merged, or has grown, since

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
          // Equal ids keep their order, so sums are the same in every run.
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
              // Areas that differ by rounding only are the same.
              if (target == unset || area > (1. + 1e-10) * largest_area)
                {
                  target       = other;
                  largest_area = area;
                }
            }
          if (target == unset)
            continue; // an island

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
      // Ids far beyond the number of cells are first replaced by their ranks.
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

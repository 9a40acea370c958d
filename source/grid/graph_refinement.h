// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_graph_refinement_h
#define tessella_source_grid_graph_refinement_h

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "../base/parallel_for.h"
#include "graph_clustering.h"

namespace Tessella
{
  namespace internal
  {
    /// Stands for a vertex or part that does not exist.
    constexpr unsigned int no_vertex = std::numeric_limits<unsigned int>::max();

    /// Bijective map of 32-bit integers that looks random, for every @p seed.
    inline std::uint32_t
    scrambled(std::uint32_t x, const std::uint32_t seed)
    {
      x ^= seed * 0x9e3779b9u;
      for (const std::uint32_t factor : {0x7feb352du, 0x846ca68bu})
        x = (x ^ (x >> 16)) * factor;
      return x ^ (x >> 15);
    }

    /// Indices below @p n for which @p condition holds, in ascending order.
    template <typename Condition>
    std::vector<unsigned int>
    listed(const unsigned int n, const Condition &condition)
    {
      constexpr unsigned int    block_size = 8192;
      const unsigned int        n_blocks   = (n + block_size - 1) / block_size;
      std::vector<unsigned int> result(n), counts(n_blocks, 0);
      parallel_for(n_blocks, 1, [&](const unsigned int b) {
        const unsigned int begin = b * block_size, end = n - begin < block_size
                                                           ? n
                                                           : begin + block_size;
        for (unsigned int i = begin; i < end; ++i)
          if (condition(i))
            result[begin + counts[b]++] = i;
      });
      std::size_t position = 0;
      for (unsigned int b = 0; b < n_blocks; ++b)
        for (unsigned int k = 0; k < counts[b]; ++k)
          result[position++] = result[std::size_t(b) * block_size + k];
      result.resize(position);
      return result;
    }

    /**
     * Moves vertices between neighbouring parts so that the weight of the edges
     * between parts shrinks and the parts' weights become equal. Parts that
     * are connected stay so, and none becomes empty. @p mean_weight is the mean
     * weight of a cell (a vertex of level 0), and @p level that of the graph.
     */
    void
    refine_partition(const WeightedGraph       &graph,
                     const double               mean_weight,
                     const unsigned int         n_parts,
                     const unsigned int         level,
                     std::vector<unsigned int> &part);
  } // namespace internal
} // namespace Tessella

#endif

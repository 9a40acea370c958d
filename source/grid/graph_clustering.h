// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_graph_clustering_h
#define tessella_source_grid_graph_clustering_h

#include <cstddef>
#include <cstdint>
#include <vector>

// Partition of a graph into many small connected parts, by all threads and with
// the same result for any number of them. See Agglomeration::matching().

namespace Tessella
{
  namespace internal
  {
    /// Symmetric graph in compressed rows, as DualGraph.
    struct WeightedGraph
    {
      std::vector<std::size_t>  offsets;
      std::vector<unsigned int> neighbors;
      /// Weights of the edges; empty if all are one.
      std::vector<unsigned int>  edge_weights;
      std::vector<std::uint64_t> vertex_weights;

      unsigned int
      n_vertices() const
      {
        return static_cast<unsigned int>(offsets.size() - 1);
      }
      unsigned int
      edge_weight(const std::size_t edge) const
      {
        return edge_weights.empty() ? 1 : edge_weights[edge];
      }
    };

    /// Graph whose vertices are the sets of vertices of @p graph with equal
    /// values of @p parent, which are below @p n_parents without gaps. Weights
    /// are sums.
    WeightedGraph
    contract(const WeightedGraph             &graph,
             const std::vector<unsigned int> &parent,
             const unsigned int               n_parents);

    /// Number of connected components.
    unsigned int
    n_components(const WeightedGraph &graph);

    /**
     * Part of each vertex, in [0, @p n_parts). Every part is connected, and
     * none is empty. @p n_parts must lie between the numbers of components and
     * of vertices of the graph.
     */
    std::vector<unsigned int>
    cluster_graph(WeightedGraph graph, const unsigned int n_parts);
  } // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_dual_graph_h
#define tessella_source_grid_dual_graph_h

#include <deal.II/grid/tria.h>

#include <cstddef>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /**
     * The active cells of a triangulation and which of them share faces, in
     * compressed rows: the neighbours of cell i (an active_cell_index) are
     * neighbors[offsets[i]] .. neighbors[offsets[i+1]-1], in ascending order,
     * each named once. The graph is symmetric. A coarse cell is the neighbour
     * of every finer cell behind its faces; periodic neighbours are none.
     *
     * Of a triangulation that is distributed over processes, the cells that
     * this one owns, numbered in their order.
     */
    struct DualGraph
    {
      std::vector<std::size_t>  offsets;
      std::vector<unsigned int> neighbors;
      /// Area (2-D: length) that the two cells have in common; empty if not
      /// asked for. Bilinear faces count with the area of their vector area,
      /// half the cross product of the diagonals.
      std::vector<double> areas;

      unsigned int
      n_cells() const
      {
        return static_cast<unsigned int>(offsets.size() - 1);
      }
    };

    /// Linear in the number of cells.
    template <int dim>
    DualGraph
    make_dual_graph(const dealii::Triangulation<dim, dim> &triangulation,
                    const bool                             with_areas);

    /**
     * METIS's recursive bisection into @p n_parts parts, none of which is
     * empty. @p weights is empty or has one positive integer per cell. Throws
     * if METIS fails or is not there.
     */
    std::vector<unsigned int>
    partition_graph(const DualGraph                 &graph,
                    const std::vector<unsigned int> &weights,
                    const unsigned int               n_parts);

    /// The connected parts of the polytopes, numbered by their first cells.
    std::vector<unsigned int>
    connected_parts(const DualGraph                 &graph,
                    const std::vector<unsigned int> &ids);

    /**
     * Merges polytopes with fewer than @p min_cells cells into neighbours; see
     * Agglomeration::repair(). @p ids are without gaps, the graph has areas.
     * The ids of the result have gaps.
     */
    void
    merge_small_polytopes(const DualGraph           &graph,
                          const unsigned int         min_cells,
                          std::vector<unsigned int> &ids);

    /// Renumbers ids by first occurrence, without gaps; returns their number.
    unsigned int
    renumber(std::vector<unsigned int> &ids);
  } // namespace internal
} // namespace Tessella

#endif

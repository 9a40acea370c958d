// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_dual_graph_h
#define tessella_source_grid_dual_graph_h

#include <deal.II/distributed/tria_base.h>
#include <deal.II/grid/tria.h>

#include <tessella/base/compatibility.h>

#include <cstddef>
#include <vector>

#include "../base/collective.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Dual graph of the active cells of a triangulation, whose edges connect
     * cells that share a face, in compressed rows: the neighbours of cell i (an
     * active_cell_index) are neighbors[offsets[i]] ..
     * neighbors[offsets[i+1]-1], in ascending order and without repetition. The
     * graph is symmetric. A coarse cell is the neighbour of every finer cell
     * behind its faces. Periodic neighbours are not included.
     *
     * If the triangulation is distributed over processes, the graph contains
     * the cells that this process owns, numbered in their order.
     */
    struct DualGraph
    {
      std::vector<std::size_t>  offsets;
      std::vector<unsigned int> neighbors;
      /// Area (2-D: length) that the two cells share; empty if it was not
      /// requested. The area of a bilinear face is that of its vector area,
      /// half the cross product of the diagonals.
      std::vector<double> areas;

      unsigned int
      n_cells() const
      {
        return static_cast<unsigned int>(offsets.size() - 1);
      }
    };

    /// Whether the triangulation is distributed over several processes.
    template <int dim>
    bool
    is_distributed(const dealii::Triangulation<dim> &triangulation)
    {
      return dynamic_cast<const dealii::parallel::TriangulationBase<dim> *>(
               &triangulation) != nullptr &&
             n_processes(Compatibility::get_communicator(triangulation)) > 1;
    }

    /// Builds the dual graph on all threads; the cost is linear in the number
    /// of cells.
    template <int dim>
    DualGraph
    make_dual_graph(const dealii::Triangulation<dim, dim> &triangulation,
                    const bool                             with_areas);

    /**
     * Recursive bisection by METIS into @p n_parts parts, none of which is
     * empty. @p weights is empty or has one positive integer per cell. Throws
     * if METIS fails or is not available.
     */
    std::vector<unsigned int>
    partition_graph(const DualGraph                 &graph,
                    const std::vector<unsigned int> &weights,
                    const unsigned int               n_parts);

    /// Connected components of the polytopes, numbered by their first cells.
    std::vector<unsigned int>
    connected_parts(const DualGraph                 &graph,
                    const std::vector<unsigned int> &ids);

    /**
     * Merges polytopes with fewer than @p min_cells cells into neighbours; see
     * Agglomeration::repair(). @p ids must have no gaps, and the graph must
     * have areas. The resulting ids have gaps.
     */
    void
    merge_small_polytopes(const DualGraph           &graph,
                          const unsigned int         min_cells,
                          std::vector<unsigned int> &ids);

    /// Renumbers ids by first occurrence, without gaps; returns the number of
    /// distinct ids.
    unsigned int
    renumber(std::vector<unsigned int> &ids);
  } // namespace internal
} // namespace Tessella

#endif

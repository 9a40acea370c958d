// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_grid_agglomeration_h
#define tessella_grid_agglomeration_h

#include <deal.II/base/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

DEAL_II_NAMESPACE_OPEN
template <int dim, int spacedim>
class Triangulation;
DEAL_II_NAMESPACE_CLOSE

namespace Tessella
{
  /**
   * Ways of grouping the active cells of a triangulation into polytopes. A
   * strategy is a function that returns the polytope id of every active cell,
   * indexed by active_cell_index; ids are 0 .. n-1 without gaps, numbered by
   * the first cell in which they occur.
   */
  namespace Agglomeration
  {
    /// Polytope id per active cell.
    template <int dim>
    using Strategy = std::function<std::vector<unsigned int>(
      const dealii::Triangulation<dim, dim> &)>;

    /// Every cell is a polytope.
    template <int dim>
    Strategy<dim>
    none();

    /**
     * METIS on the dual graph, in about n_polytopes parts. With many parts
     * METIS is applied recursively: first few hundred parts, then each again,
     * which takes a fraction of the time of one direct call. @p weights, if not
     * empty, are one positive integer per active cell. METIS leaves a good part
     * of small polytopes not connected through faces; see repair().
     */
    template <int dim>
    Strategy<dim>
    metis(const unsigned int               n_polytopes,
          const std::vector<unsigned int> &weights = {});

    /// Consecutive cells along a Hilbert curve through their centres, in
    /// n_polytopes groups of nearly equal size.
    template <int dim>
    Strategy<dim>
    space_filling_curve(const unsigned int n_polytopes);

    /**
     * R-tree (sort-tile-recursive) on the cells' centres with 2^dim children a
     * node. Level 0 groups about 2^dim cells, every level up groups 2^dim
     * groups of the one below: levels nest.
     */
    template <int dim>
    Strategy<dim>
    rtree(const unsigned int level);

    /// As rtree(), in n_polytopes groups of nearly equal size (one level, no
    /// nesting).
    template <int dim>
    Strategy<dim>
    rtree_parts(const unsigned int n_polytopes);

    /// The ancestors of the active cells that lie @p levels_up levels above
    /// them (or on level 0).
    template <int dim>
    Strategy<dim>
    parents(const unsigned int levels_up = 1);

    /// Ids given by the caller, indexed by active_cell_index; renumbered
    /// without gaps.
    template <int dim>
    Strategy<dim>
    by_id(const std::vector<unsigned int> &ids);

    /// One polytope per material id.
    template <int dim>
    Strategy<dim>
    by_material_id();

    /// Ids from a text file: one non-negative integer per active cell, white
    /// space between them, '#' starts a comment.
    template <int dim>
    Strategy<dim>
    from_file(const std::string &file_name);

    /// What repair() may do, and what it did.
    struct RepairOptions
    {
      bool split_disconnected =
        true; ///< parts of a polytope that do not share a face become polytopes
      unsigned int min_cells =
        1; ///< polytopes of fewer cells are merged into the neighbour with the
           ///< largest common face area
    };

    /// Applies @p strategy and then repairs its result.
    template <int dim>
    Strategy<dim>
    repair(const Strategy<dim> &strategy,
           const RepairOptions &options = RepairOptions());

    /// Facts about an agglomeration, for reports.
    struct Statistics
    {
      unsigned int n_polytopes;
      unsigned int n_disconnected; ///< polytopes whose cells are not connected
                                   ///< through faces
      unsigned int min_cells, max_cells;
    };

    template <int dim>
    Statistics
    statistics(const dealii::Triangulation<dim, dim> &triangulation,
               const std::vector<unsigned int>       &ids);
  } // namespace Agglomeration
} // namespace Tessella

#endif

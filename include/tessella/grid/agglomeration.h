// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_grid_agglomeration_h
#define tessella_grid_agglomeration_h

#include <deal.II/base/config.h>

#include <deal.II/base/types.h>

#include <deal.II/distributed/fully_distributed_tria.h>
#include <deal.II/grid/tria.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace Tessella
{
  /**
   * Ways of grouping the active cells of a triangulation into polytopes. A
   * strategy is a function that returns the polytope id of every active cell,
   * indexed by active_cell_index; ids are 0 .. n-1 without gaps, numbered by
   * the first cell in which they occur.
   *
   * All strategies take meshes of any cell shape, locally refined or not, and
   * give the same ids whenever they are called for the same mesh. They throw
   * an exception that says what to change if they cannot do what they are asked
   * for (more polytopes than cells, ids that do not fit the mesh, unreadable
   * files). Arguments are checked when the strategy is applied, not when it is
   * made.
   *
   * Two cells are neighbours if they share a face or a piece of one; a coarse
   * cell is the neighbour of all finer cells behind its face. Periodic
   * boundaries count as boundaries: a polytope does not reach across them.
   *
   * <b>Many processes.</b> On a triangulation that is distributed over
   * processes, every process groups the cells that it owns; ids of others have
   * no meaning. none(), complete_families(), by_id() and by_material_id() need
   * no communication. metis(), space_filling_curve(), rtree(), rtree_parts()
   * and repair() work on the cells of each process by themselves, which gives
   * polytopes that depend on the partition; numbers of polytopes are those of
   * all processes, of which each gets its share. parents() and
   * ancestors_on_level() take care of ancestors that the partition cuts.
   * Polytopes from any strategy that do not depend on the number of processes
   * are what distribute() makes. from_file() and from_cell_data() need all
   * cells: use distribute().
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
     * METIS's multilevel recursive bisection of the dual graph, into exactly
     * @p n_polytopes polytopes. @p weights, if not empty, are one positive
     * integer per active cell; polytopes are then of about equal weight instead
     * of about equal number of cells. (Weights whose sum does not fit METIS's
     * integers are scaled down.) No polytope is empty.
     *
     * Recursive bisection is used for any number of parts. For polytopes of
     * about ten cells METIS's direct k-way scheme takes three to seven times as
     * long, cuts a quarter to a third more faces and leaves 40 % and more of
     * the polytopes not connected through faces; recursive bisection leaves
     * about 0.2 % (2-D), 2 % (hexahedra) and 6 % (tetrahedra), which repair()
     * removes. Sizes are mostly within a third of their mean.
     *
     * Cost: n log(n_polytopes), about 5 microseconds a cell. METIS draws its
     * random numbers from the C library's rand(), which it seeds anew in every
     * call: results are the same each time, but calls cannot run in several
     * threads at once (they wait for each other) and reset the seed of a
     * program that uses rand() itself.
     *
     * Needs a deal.II with METIS, and throws if there is none.
     */
    template <int dim>
    Strategy<dim>
    metis(const unsigned int               n_polytopes,
          const std::vector<unsigned int> &weights = {});

    /// Consecutive cells along a Hilbert curve through their centres, in
    /// n_polytopes groups whose sizes differ by one cell at most. Cells with
    /// the same place on the curve are taken by active_cell_index.
    template <int dim>
    Strategy<dim>
    space_filling_curve(const unsigned int n_polytopes);

    /**
     * R-tree on the cells' centres, filled from the top: the set of cells is
     * cut across the longest edge of its bounding box into two (or three, five
     * or seven, where that keeps to the rows of structured meshes) sets of
     * equal size, and these again, until they have @p cells_per_leaf cells
     * (zero means 2^dim): level 0. Every level up groups 2^dim groups of the
     * one below in the same way: levels nest. Groups of a level have the same
     * number of members, or one less. See nested() for several levels at once.
     *
     * Groups are compact, but nothing looks at their connections: on
     * quadrilaterals and hexahedra in rows nearly all are connected through
     * faces, on simplices or graded meshes up to half of the small ones are
     * not, and more on high levels; use repair() where that matters.
     *
     * Cost: n log n, about 0.3 microseconds a cell.
     */
    template <int dim>
    Strategy<dim>
    rtree(const unsigned int level, const unsigned int cells_per_leaf = 0);

    /// As rtree(), in n_polytopes groups whose sizes differ by one cell at
    /// most (one level, no nesting).
    template <int dim>
    Strategy<dim>
    rtree_parts(const unsigned int n_polytopes);

    /**
     * The ancestors of the active cells that lie @p levels_up levels above
     * them (or on level 0). Where the mesh is refined locally, cells of
     * different levels have ancestors of different levels: an ancestor then
     * stands for those of its active descendants that are exactly
     * @p levels_up levels below it.
     *
     * On a distributed triangulation an ancestor whose cells are on several
     * processes is an error on all of them or, with @p split_cut, as many
     * polytopes. (p4est keeps families of active cells together, see
     * complete_families(), but not what is left of a family some of whose cells
     * are refined.)
     */
    template <int dim>
    Strategy<dim>
    parents(const unsigned int levels_up = 1, const bool split_cut = false);

    /// The ancestors of the active cells on level @p level; active cells on
    /// that level or a coarser one are polytopes of their own. @p split_cut as
    /// in parents().
    template <int dim>
    Strategy<dim>
    ancestors_on_level(const unsigned int level, const bool split_cut = false);

    /**
     * Families of active cells: all children of one parent. A cell that has
     * siblings which are refined is a polytope of its own. p4est keeps families
     * on one process: on parallel::distributed::Triangulation the polytopes do
     * not depend on the number of processes.
     */
    template <int dim>
    Strategy<dim>
    complete_families();

    /**
     * Makes @p result the mesh @p serial, which all processes have, distributed
     * such that no polytope of @p strategy is cut: METIS partitions the graph
     * of the polytopes, whose weights are those of their cells. @p weights: one
     * positive integer per active cell of @p serial; if empty, the number of
     * quadrature points that assembly takes on the cell. Subdomain ids of
     * @p serial are overwritten; if there are fewer polytopes than processes,
     * some own nothing.
     *
     * Returns the strategy that makes the same polytopes on @p result; it does
     * not depend on the number of processes. Collective; @p serial may be
     * destroyed afterwards.
     *
     * Cost: that of @p strategy, of METIS for the number of polytopes and of
     * deal.II's create_description_from_triangulation(), on each process for
     * all cells: memory for the whole mesh is needed for the time of the call.
     */
    template <int dim>
    Strategy<dim>
    distribute(
      dealii::Triangulation<dim, dim>                             &serial,
      const Strategy<dim>                                         &strategy,
      dealii::parallel::fullydistributed::Triangulation<dim, dim> &result,
      const std::vector<unsigned int> &weights = {});

    /// Ids given by the caller, indexed by active_cell_index; renumbered
    /// without gaps.
    template <int dim>
    Strategy<dim>
    by_id(const std::vector<unsigned int> &ids);

    /// One polytope per material id. (In a mesh read from a gmsh file, material
    /// ids are the physical tags.)
    template <int dim>
    Strategy<dim>
    by_material_id();

    /// Ids from a text file: one non-negative integer per active cell, in the
    /// order of active_cell_index, white space between them, '#' starts a
    /// comment that ends with the line.
    template <int dim>
    Strategy<dim>
    from_file(const std::string &file_name);

    /**
     * Ids from a field of the mesh file that the triangulation was read from.
     * The file's cells are the cells of level 0; on a refined mesh every active
     * cell has the id of its ancestor there.
     *
     * - Legacy VTK files in ASCII form: @p field is the name of a field of one
     *   component under CELL_DATA (SCALARS, or an array of a FIELD), whose
     *   values are non-negative integers, of any data type.
     * - gmsh files (.msh, format 1, 2 or 4, ASCII): @p field is "elementary"
     *   (the tag of the geometric entity that a cell lies on) or, in formats
     *   1 and 2, "physical"; in all formats, by_material_id() gives the latter.
     *
     * Cells of lower dimension than the mesh (boundary faces) are skipped.
     */
    template <int dim>
    Strategy<dim>
    from_cell_data(const std::string &file_name, const std::string &field);

    /// What repair() may do.
    struct RepairOptions
    {
      bool split_disconnected =
        true; ///< parts of a polytope that do not share a face become polytopes
      unsigned int min_cells =
        1; ///< polytopes of fewer cells are merged into the neighbour with the
           ///< largest common face area
    };

    /**
     * Applies @p strategy and then repairs its result: first every polytope is
     * split into the parts that are connected through faces, then polytopes
     * with fewer than min_cells cells are merged, the smallest first, each
     * into the neighbour with which it shares the largest face area (the one
     * with the lowest id if several do), until none is left that has a
     * neighbour. The number of polytopes may grow or shrink. With
     * split_disconnected, all polytopes of the result are connected.
     *
     * Cost: linear in the number of cells for the split; every merge visits
     * the cells of the small polytope.
     */
    template <int dim>
    Strategy<dim>
    repair(const Strategy<dim> &strategy,
           const RepairOptions &options = RepairOptions());

    /**
     * A sequence of nested agglomerations, as multilevel methods need: entry 0
     * holds the ids that @p finest gives, every further entry joins about
     * @p n_children polytopes of the one before (zero means 2^dim), grouped as
     * in rtree() by the mean of their cells' centres. Entry l of
     * nested(triangulation, rtree(0), n) is what rtree(l) gives. From the
     * level on that has one polytope, all are the same.
     */
    template <int dim>
    std::vector<std::vector<unsigned int>>
    nested(const dealii::Triangulation<dim, dim> &triangulation,
           const Strategy<dim>                   &finest,
           const unsigned int                     n_levels,
           const unsigned int                     n_children = 0);

    /// Facts about an agglomeration, for reports.
    struct Statistics
    {
      unsigned int n_polytopes;
      unsigned int n_disconnected; ///< polytopes whose cells are not connected
                                   ///< through faces
      unsigned int min_cells, max_cells;
    };

    /// @p ids as a strategy returns them, or any other ids of the active cells.
    template <int dim>
    Statistics
    statistics(const dealii::Triangulation<dim, dim> &triangulation,
               const std::vector<unsigned int>       &ids);
  } // namespace Agglomeration
} // namespace Tessella

#endif

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
   * indexed by active_cell_index. Ids are 0 .. n-1 without gaps, numbered by
   * the first cell in which they occur.
   *
   * All strategies accept meshes of any cell shape, locally refined or not, and
   * return the same ids whenever they are called for the same mesh. If a
   * request cannot be met (more polytopes than cells, ids that do not fit the
   * mesh, unreadable files), they throw an exception that says what to change.
   * Arguments are checked when the strategy is applied, not when it is created.
   *
   * Two cells are neighbours if they share a face or a piece of one; a coarse
   * cell is the neighbour of all finer cells behind its face. Periodic
   * boundaries count as boundaries: a polytope does not reach across them.
   *
   * <b>Many processes.</b> On a triangulation that is distributed over
   * processes, every process groups the cells that it owns; ids of other cells
   * have no meaning. none(), complete_families(), by_id() and by_material_id()
   * need no communication. metis(), space_filling_curve(), rtree(),
   * rtree_parts() and repair() work on the cells of each process separately, so
   * that the polytopes depend on the partition. A requested number of polytopes
   * is the total over all processes, and each process creates its share of
   * them. parents() and ancestors_on_level() handle ancestors that the
   * partition cuts. distribute() turns any strategy into polytopes that do not
   * depend on the number of processes. from_file() and from_cell_data() need
   * all cells: use distribute().
   */
  namespace Agglomeration
  {
    /// Polytope id per active cell.
    template <int dim>
    using Strategy = std::function<std::vector<unsigned int>(
      const dealii::Triangulation<dim, dim> &)>;

    /// Makes every cell a polytope.
    template <int dim>
    Strategy<dim>
    none();

    /**
     * METIS's multilevel recursive bisection of the dual graph, into exactly
     * @p n_polytopes polytopes. @p weights, if not empty, has one positive
     * integer per active cell; polytopes then have about equal weight instead
     * of about equal numbers of cells. Weights whose sum does not fit METIS's
     * integers are scaled down. No polytope is empty.
     *
     * Recursive bisection is used for any number of parts. For polytopes of
     * about ten cells, METIS's direct k-way scheme is slower by a factor of
     * three to seven, cuts a quarter to a third more faces and leaves 40 % and
     * more of the polytopes not connected through faces. Recursive bisection
     * leaves about 0.2 % (2-D), 2 % (hexahedra) and 6 % (tetrahedra) not
     * connected, which repair() splits. Sizes are mostly within a third of
     * their mean.
     *
     * Cost: n log(n_polytopes), about 5 microseconds a cell. METIS draws its
     * random numbers from the C library's rand(), which it seeds anew in every
     * call. Results are therefore the same each time, but calls cannot run in
     * several threads at once: they wait for each other. A call also resets the
     * seed of a program that uses rand() itself.
     *
     * Needs a deal.II with METIS, and throws an exception otherwise.
     */
    template <int dim>
    Strategy<dim>
    metis(const unsigned int               n_polytopes,
          const std::vector<unsigned int> &weights = {});

    /// Consecutive cells along a Hilbert curve through their centres, in
    /// n_polytopes groups whose sizes differ by one cell at most. Cells with
    /// the same position on the curve are sorted by active_cell_index.
    template <int dim>
    Strategy<dim>
    space_filling_curve(const unsigned int n_polytopes);

    /**
     * R-tree on the cells' centres, filled from the top. The set of cells is
     * cut across the longest edge of its bounding box into two sets of equal
     * size (or three, five or seven, where such a cut keeps to the rows of
     * structured meshes), and these are cut again until they have
     * @p cells_per_leaf cells (zero means 2^dim). These sets are level 0. Each
     * higher level joins groups of 2^dim sets of the level below in the same
     * way, so that levels nest. All groups of a level have the same number of
     * members, or one less. See nested() for several levels at once.
     *
     * Groups are compact, but their connectivity is not checked. On
     * quadrilaterals and hexahedra in rows nearly all groups are connected
     * through faces; on simplices or graded meshes up to half of the small
     * groups are not, and more on high levels. Use repair() where that matters.
     *
     * Cost: n log n, about 0.3 microseconds a cell.
     */
    template <int dim>
    Strategy<dim>
    rtree(const unsigned int level, const unsigned int cells_per_leaf = 0);

    /// R-tree as in rtree(), but of one level only: n_polytopes groups whose
    /// sizes differ by one cell at most.
    template <int dim>
    Strategy<dim>
    rtree_parts(const unsigned int n_polytopes);

    /**
     * Ancestors of the active cells that lie @p levels_up levels above them, or
     * on level 0. Where the mesh is refined locally, cells of different levels
     * have ancestors of different levels. An ancestor then stands only for
     * those of its active descendants that are exactly @p levels_up levels
     * below it.
     *
     * On a distributed triangulation an ancestor may have cells on several
     * processes. This is an error on all of these processes or, with
     * @p split_cut, yields one polytope on each of them. p4est keeps families
     * of active cells together, see complete_families(), but not the active
     * cells of a family in which other cells are refined.
     */
    template <int dim>
    Strategy<dim>
    parents(const unsigned int levels_up = 1, const bool split_cut = false);

    /// Ancestors of the active cells on level @p level. Active cells on that
    /// level or a coarser one are polytopes of their own. For @p split_cut see
    /// parents().
    template <int dim>
    Strategy<dim>
    ancestors_on_level(const unsigned int level, const bool split_cut = false);

    /**
     * Families of active cells: all children of one parent. A cell with refined
     * siblings is a polytope of its own. p4est keeps families on one process,
     * so that on parallel::distributed::Triangulation the polytopes do not
     * depend on the number of processes.
     */
    template <int dim>
    Strategy<dim>
    complete_families();

    /**
     * Distributes the mesh @p serial, which all processes have, into @p result
     * such that no polytope of @p strategy is cut. METIS partitions the graph
     * of the polytopes, whose weights are the sums of their cells' weights.
     * @p weights has one positive integer per active cell of @p serial; if it
     * is empty, the weight is the number of quadrature points that assembly
     * uses on the cell. Subdomain ids of @p serial are overwritten. If there
     * are fewer polytopes than processes, some processes own nothing.
     *
     * Returns the strategy that makes the same polytopes on @p result,
     * independent of the number of processes. Collective; @p serial may be
     * destroyed afterwards.
     *
     * Cost: that of @p strategy, of METIS for the number of polytopes, and of
     * deal.II's create_description_from_triangulation(), on each process for
     * all cells. The call needs memory for the whole mesh on each process.
     */
    template <int dim>
    Strategy<dim>
    distribute(
      dealii::Triangulation<dim, dim>                             &serial,
      const Strategy<dim>                                         &strategy,
      dealii::parallel::fullydistributed::Triangulation<dim, dim> &result,
      const std::vector<unsigned int> &weights = {});

    /// Ids given by the caller, indexed by active_cell_index. They are
    /// renumbered without gaps.
    template <int dim>
    Strategy<dim>
    by_id(const std::vector<unsigned int> &ids);

    /// One polytope per material id. In a mesh read from a gmsh file, material
    /// ids are the physical tags.
    template <int dim>
    Strategy<dim>
    by_material_id();

    /// Ids from a text file: one non-negative integer per active cell, in the
    /// order of active_cell_index, separated by white space. A '#' starts a
    /// comment that ends with the line.
    template <int dim>
    Strategy<dim>
    from_file(const std::string &file_name);

    /**
     * Ids from a field of the mesh file from which the triangulation was read.
     * The file's cells are the cells of level 0; on a refined mesh every active
     * cell has the id of its ancestor there.
     *
     * - Legacy VTK files in ASCII form: @p field is the name of a field of one
     *   component under CELL_DATA (SCALARS, or an array of a FIELD). Its values
     *   are non-negative integers, of any data type.
     * - gmsh files (.msh, format 1, 2 or 4, ASCII): @p field is "elementary",
     *   the tag of the geometric entity that a cell lies on, or, in formats 1
     *   and 2, "physical". In all formats, by_material_id() yields the physical
     *   tag.
     *
     * Cells of lower dimension than the mesh (boundary faces) are skipped.
     */
    template <int dim>
    Strategy<dim>
    from_cell_data(const std::string &file_name, const std::string &field);

    /// Repairs that repair() applies.
    struct RepairOptions
    {
      /// Turn parts of a polytope that do not share a face into polytopes.
      bool split_disconnected = true;
      /// Merge polytopes of fewer cells into the neighbour with the largest
      /// common face area.
      unsigned int min_cells = 1;
    };

    /**
     * Applies @p strategy and then repairs its result. First, every polytope is
     * split into the parts that are connected through faces. Then polytopes
     * with fewer than min_cells cells are merged, the smallest first, each into
     * the neighbour with which it shares the largest face area; of several such
     * neighbours, the one with the lowest id is used. Merging ends when no such
     * polytope with a neighbour is left. The number of polytopes may grow or
     * shrink. With split_disconnected, all polytopes of the result are
     * connected.
     *
     * Cost: linear in the number of cells for the split; every merge visits the
     * cells of the small polytope.
     */
    template <int dim>
    Strategy<dim>
    repair(const Strategy<dim> &strategy,
           const RepairOptions &options = RepairOptions());

    /**
     * Sequence of nested agglomerations, as multilevel methods need them. Entry
     * 0 holds the ids of @p finest. Every further entry joins about
     * @p n_children polytopes of the previous entry (zero means 2^dim), grouped
     * as in rtree() by the mean of their cells' centres. Entry l of
     * nested(triangulation, rtree(0), n) is equal to the result of rtree(l).
     * From the first level with a single polytope on, all entries are the same.
     */
    template <int dim>
    std::vector<std::vector<unsigned int>>
    nested(const dealii::Triangulation<dim, dim> &triangulation,
           const Strategy<dim>                   &finest,
           const unsigned int                     n_levels,
           const unsigned int                     n_children = 0);

    /// Size and connectivity of an agglomeration, for reports.
    struct Statistics
    {
      unsigned int n_polytopes;
      unsigned int n_disconnected; ///< polytopes whose cells are not connected
                                   ///< through faces
      unsigned int min_cells, max_cells;
    };

    /// Computes statistics of @p ids, the result of a strategy or any other ids
    /// of the active cells.
    template <int dim>
    Statistics
    statistics(const dealii::Triangulation<dim, dim> &triangulation,
               const std::vector<unsigned int>       &ids);
  } // namespace Agglomeration
} // namespace Tessella

#endif

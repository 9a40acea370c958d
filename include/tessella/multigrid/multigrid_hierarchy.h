// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_multigrid_multigrid_hierarchy_h
#define tessella_multigrid_multigrid_hierarchy_h

#include <tessella/forms/form.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/lac/block_partition.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace Tessella
{
  /**
   * Ways to group polytopes again and again. Entry l of a result is for each
   * polytope of level l the polytope of level l + 1 that it becomes a part of;
   * level 0 is the mesh that is given. Ids are without gaps, numbered by the
   * first of the finer polytopes.
   *
   * @p n_children: polytopes that become one, about (zero: 2^dim); grouping
   * ends at @p n_coarsest polytopes or less.
   *
   * With several processes each groups the polytopes that it owns, and results
   * are for these; all functions are collective then, and @p n_coarsest counts
   * the polytopes of all (each process keeps one at least).
   */
  namespace NestedAgglomeration
  {
    using Parents = std::vector<std::vector<unsigned int>>;

    /**
     * An R-tree of the centres of the polytopes' boxes, filled from the top:
     * sets are cut in the middle across the longest edge of their box. Cost: n
     * log n, 0.1 microseconds a polytope and cut.
     */
    template <int dim>
    Parents
    rtree(const AgglomerationHandler<dim> &handler,
          const unsigned int               n_children = 0,
          const unsigned int               n_coarsest = 64);

    /// METIS's bisection of the graph of polytopes, of which two are neighbours
    /// if they share an interface, weighted by the number of sub-cells.
    template <int dim>
    Parents
    metis(const AgglomerationHandler<dim> &handler,
          const unsigned int               n_children = 0,
          const unsigned int               n_coarsest = 64);

    /**
     * From polytope ids of the active cells, finest level first, those of the
     * handler not included. Throws with the polytope and the level if cells of
     * one polytope belong to different ones of the next level. Levels that do
     * not reduce the number of polytopes are left out.
     */
    template <int dim>
    Parents
    by_id(const AgglomerationHandler<dim>              &handler,
          const std::vector<std::vector<unsigned int>> &ids);

    /// The same with strategies.
    template <int dim>
    Parents
    by_strategies(const AgglomerationHandler<dim>                 &handler,
                  const std::vector<Agglomeration::Strategy<dim>> &strategies);

    /// The ancestors of the cells of a refined mesh, level by level as far as
    /// the refinement goes, as p4est has them; polytopes of the handler must
    /// not reach beyond the ancestors (single cells, for example, do not).
    template <int dim>
    Parents
    ancestors(const AgglomerationHandler<dim> &handler,
              const unsigned int               n_coarsest = 64);
  } // namespace NestedAgglomeration

  /**
   * The spaces of a multigrid method on nested polytopes: first the degree goes
   * down on the polytopes of the mesh, where coarse functions are the first
   * ones of the hierarchical basis; then polytopes are joined, at the lowest
   * degree. (Or the latter alone.)
   *
   * A coarse function is a polynomial on the box of the coarse polytope, hence
   * one on the box of each finer polytope: injection is exact. Its matrix is a
   * product of one-dimensional ones, re-expansions of Legendre polynomials of
   * one interval in those of a part of it. A coarse polytope has the lowest of
   * the degrees of its parts.
   *
   * Plain arrays, from the flat view alone: nothing here needs the
   * triangulation, except coarse_handler().
   *
   * <b>Many processes.</b> Each has the polytopes that it owns on every level,
   * and those of other processes that are neighbours of them: coarse polytopes
   * do not reach across processes. The constructor is collective; processes
   * whose polytopes are grouped fewer times than others' keep them as they are
   * on the remaining levels.
   */
  class MultigridHierarchy
  {
  public:
    struct AdditionalData
    {
      /// Degrees of the p-levels below that of the mesh, descending (polytopes
      /// of lower degree keep theirs). Empty: all down to @p lowest_degree.
      /// Fewer of them take less memory and more iterations: at p = 3 twice as
      /// many without 2.
      std::vector<unsigned int> degrees;
      /// Degree on which polytopes are joined, if that of the mesh is not
      /// lower.
      unsigned int lowest_degree = 1;
    };

    struct Level
    {
      /// As in PolytopicMesh: own polytopes, then ghosts.
      std::vector<double>        box;
      std::vector<unsigned int>  degree;
      std::vector<std::uint64_t> dof_offset;
      /// Polytope of the next coarser level; empty if that has the same
      /// polytopes, and on the coarsest level.
      std::vector<unsigned int> parent;
      /// Null on one process.
      std::shared_ptr<const BlockPartition> partition;
      unsigned int                          n_owned = 0;
      /// Penalty of this level over that of the mesh, where both have the same
      /// constant: the ratio of p^2 / h, largest over the polytopes for p, mean
      /// for h.
      double penalty_ratio = 1.;

      /// Of this process.
      unsigned int
      n_polytopes() const
      {
        return n_owned;
      }
      std::uint64_t
      n_dofs() const
      {
        return dof_offset[n_owned];
      }
    };

    template <int dim>
    MultigridHierarchy(const AgglomerationHandler<dim>    &handler,
                       const NestedAgglomeration::Parents &parents,
                       const AdditionalData &data = AdditionalData());

    unsigned int
    n_levels() const;
    /// 0: that of the mesh.
    const Level &
    level(const unsigned int l) const;

    MPI_Comm
    communicator() const;

    /// Coefficients of the coarse functions on the polytopes of level @p l,
    /// ghosts included: for each of them a matrix of as many rows as its parent
    /// has functions and as many columns as it has, from @p offset on. Empty if
    /// polytopes are the same.
    std::vector<double>
    injection(const unsigned int l, std::vector<std::uint64_t> &offset) const;

    /// Polytopes and degrees of freedom of level @p l for coarse operators that
    /// are assembled; @p handler is the one the hierarchy was made for. Its
    /// cost is that of a new handler.
    template <int dim>
    std::unique_ptr<AgglomerationHandler<dim>>
    coarse_handler(const AgglomerationHandler<dim> &handler,
                   const unsigned int               l) const;

  private:
    void
    add_p_level(const unsigned int degree);
    void
    add_h_level(const std::vector<unsigned int> &parent);
    /// Numbers of functions from degrees, and the partition.
    void
    finish_level(Level                            &level,
                 const std::vector<std::uint64_t> &first_ghost_row) const;
    double
    penalty_ratio(const Level &coarse, const Level &fine) const;

    MPI_Comm           comm           = MPI_COMM_SELF;
    int                dimension      = 0;
    bool               tensor_product = false;
    std::vector<Level> levels;
  };
} // namespace Tessella

#endif

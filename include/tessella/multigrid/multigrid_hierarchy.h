// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_multigrid_multigrid_hierarchy_h
#define tessella_multigrid_multigrid_hierarchy_h

#include <tessella/forms/form.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/lac/block_partition.h>
#include <tessella/lac/host_block_matrix.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace Tessella
{
  /**
   * Ways of grouping polytopes repeatedly. Entry l of a result holds, for each
   * polytope of level l, the polytope of level l + 1 of which it becomes a
   * part; level 0 is the given mesh. Ids have no gaps and are numbered by the
   * first of the finer polytopes.
   *
   * @p n_children is the approximate number of polytopes that become one (zero:
   * 2^dim); grouping ends at @p n_coarsest polytopes or less.
   *
   * With several processes each process groups the polytopes that it owns, and
   * results are for these. All functions are then collective, and @p n_coarsest
   * counts the polytopes of all processes, each of which keeps at least one.
   */
  namespace NestedAgglomeration
  {
    using Parents = std::vector<std::vector<unsigned int>>;

    /**
     * R-tree of the centres of the polytopes' boxes, filled from the top: sets
     * are cut in the middle across the longest edge of their box. Cost: n log
     * n, 0.1 microseconds per polytope and cut.
     */
    template <int dim>
    Parents
    rtree(const AgglomerationHandler<dim> &handler,
          const unsigned int               n_children = 0,
          const unsigned int               n_coarsest = 64);

    /// METIS's bisection of the graph of polytopes, weighted by the number of
    /// sub-cells. Two polytopes are neighbours if they share an interface.
    template <int dim>
    Parents
    metis(const AgglomerationHandler<dim> &handler,
          const unsigned int               n_children = 0,
          const unsigned int               n_coarsest = 64);

    /**
     * Pairwise joining of neighbouring polytopes as in
     * Agglomeration::matching(), weighted by the numbers of sub-cells and by
     * those of the facets between polytopes. All coarse polytopes are connected
     * if those of the mesh are. Grouping also ends when only pieces of the mesh
     * that share no face are left.
     */
    template <int dim>
    Parents
    matching(const AgglomerationHandler<dim> &handler,
             const unsigned int               n_children = 0,
             const unsigned int               n_coarsest = 64);

    /**
     * Pairwise joining of polytopes that are coupled most strongly, for
     * diffusion that jumps or is anisotropic: neighbours are joined if each is
     * the strongest one of the other, and this is repeated with the pairs until
     * they have about @p n_children polytopes. The coupling of two polytopes is
     * the entry of @p matrix for their constants, divided by the root of the
     * product of both diagonal entries; that of pairs is the sum of those of
     * their parts. @p matrix is one of symmetric interior penalty for the
     * handler's degrees of freedom, whose penalty follows the diffusion in the
     * direction of the normal. Polytopes without any neighbour on this process
     * remain. Cost: linear in the number of interfaces.
     */
    template <int dim>
    Parents
    coupling(const AgglomerationHandler<dim> &handler,
             const HostBlockMatrix<double>   &matrix,
             const unsigned int               n_children = 0,
             const unsigned int               n_coarsest = 64);

    /**
     * The same for a matrix with the blocks @p sparsity of which only the
     * entries for the constants of polytopes are given: @p entries has one for
     * each block, of several components the sum of their sizes. The matrix may
     * be on a device.
     */
    template <int dim>
    Parents
    coupling(const PolytopicSpace<dim> &space,
             const BlockSparsity       &sparsity,
             const std::vector<double> &entries,
             const unsigned int         n_children = 0,
             const unsigned int         n_coarsest = 64);

    /**
     * Groups polytopes by polytope ids of the active cells, finest level first;
     * the ids of the handler itself are not included. Throws an exception with
     * the polytope and the level if cells of one polytope belong to different
     * polytopes of the next level. Levels that do not reduce the number of
     * polytopes are omitted.
     */
    template <int dim>
    Parents
    by_id(const AgglomerationHandler<dim>              &handler,
          const std::vector<std::vector<unsigned int>> &ids);

    /// The same with strategies instead of ids.
    template <int dim>
    Parents
    by_strategies(const AgglomerationHandler<dim>                 &handler,
                  const std::vector<Agglomeration::Strategy<dim>> &strategies);

    /// Groups polytopes by the ancestors of the cells of a refined mesh, level
    /// by level as far as the refinement goes, as for p4est. Each polytope of
    /// the handler must lie inside one ancestor; single cells, for example, do.
    template <int dim>
    Parents
    ancestors(const AgglomerationHandler<dim> &handler,
              const unsigned int               n_coarsest = 64);
  } // namespace NestedAgglomeration

  /**
   * Spaces of a multigrid method on nested polytopes. First the degree is
   * reduced on the polytopes of the mesh, where coarse functions are the first
   * functions of the hierarchical basis. Then polytopes are joined, at the
   * lowest degree. The first step may be omitted.
   *
   * A coarse function is a polynomial on the box of the coarse polytope, hence
   * one on the box of each finer polytope: injection is exact. Its matrix is a
   * product of one-dimensional ones, which expand Legendre polynomials of one
   * interval in those of a part of it. The degree of a coarse polytope is the
   * lowest of the degrees of its parts.
   *
   * <b>Several components</b> have the same functions on a polytope, and the
   * coarse space of each component is that of a scalar problem: the first
   * functions of each component where the degree is reduced, and the same
   * matrix for all components where polytopes are joined.
   *
   * The class uses plain arrays, from the flat view alone. Only
   * coarse_handler() needs the triangulation.
   *
   * <b>Many processes.</b> On every level, each process has the polytopes that
   * it owns, and their neighbours on other processes: coarse polytopes do not
   * reach across processes. The constructor is collective. A process whose
   * polytopes are grouped fewer times than those of others keeps them unchanged
   * on the remaining levels.
   */
  class MultigridHierarchy
  {
  public:
    struct AdditionalData
    {
      /// Degrees of the p-levels below that of the mesh, in descending order;
      /// polytopes of lower degree keep theirs. Empty means all degrees down to
      /// @p lowest_degree. With fewer degrees, less memory and more iterations
      /// are needed: at p = 3 twice as many without 2.
      std::vector<unsigned int> degrees;
      /// Degree at which polytopes are joined, unless that of the mesh is
      /// lower.
      unsigned int lowest_degree = 1;
    };

    struct Level
    {
      /// Arrays as in PolytopicMesh: owned polytopes, then ghosts.
      std::vector<double>        box;
      std::vector<unsigned int>  degree;
      std::vector<std::uint64_t> dof_offset;
      /// Polytope of the next coarser level. Empty if that level has the same
      /// polytopes, and on the coarsest level.
      std::vector<unsigned int> parent;
      /// Partition of the block rows; null in a program of one process.
      std::shared_ptr<const BlockPartition> partition;
      unsigned int                          n_owned = 0;
      /// Penalty of this level divided by that of the mesh, if both have the
      /// same constant: the ratio of p^2 / h, composed of the largest ratio of
      /// p^2 over the polytopes and the ratio of the mean h.
      double penalty_ratio = 1.;

      /// Number of polytopes of this process.
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

    /// @p space: an AgglomerationHandler, or another space on its polytopes.
    template <int dim>
    MultigridHierarchy(const PolytopicSpace<dim>          &space,
                       const NestedAgglomeration::Parents &parents,
                       const AdditionalData &data = AdditionalData());

    unsigned int
    n_levels() const
    {
      return levels.size();
    }
    /// Level @p l; level 0 is that of the mesh.
    const Level &
    level(const unsigned int l) const;

    MPI_Comm
    communicator() const
    {
      return comm;
    }

    unsigned int
    n_components() const
    {
      return components;
    }

    /// Coefficients of the coarse functions on the polytopes of level @p l,
    /// ghosts included. Each polytope has a matrix with as many rows as its
    /// parent has functions and as many columns as it has functions itself,
    /// for one component, stored from @p offset on. Empty if the next level has
    /// the same polytopes.
    std::vector<double>
    injection(const unsigned int l, std::vector<std::uint64_t> &offset) const;

    /// Whether level @p l has the polytopes of the mesh, possibly with lower
    /// degrees.
    bool
    has_polytopes_of_mesh(const unsigned int l) const;

    /// Degrees and degrees of freedom of level @p l, which must have the
    /// polytopes of the mesh, as a space on the same mesh. It refers to
    /// @p space, that of the handler given to the constructor, and has its
    /// penalty factors and its tabulated quadrature.
    template <int dim>
    std::unique_ptr<PolytopicSpace<dim>>
    space_of_level(const PolytopicSpace<dim> &space,
                   const unsigned int         l) const;

    /// Polytopes and degrees of freedom of level @p l for coarse operators that
    /// are assembled; @p handler must be that of the constructor. The cost is
    /// that of a new handler.
    template <int dim>
    std::unique_ptr<AgglomerationHandler<dim>>
    coarse_handler(const AgglomerationHandler<dim> &handler,
                   const unsigned int               l) const;

  private:
    void
    add_p_level(const unsigned int degree);
    void
    add_h_level(const std::vector<unsigned int> &parent);
    std::vector<std::uint64_t>
    dof_offsets(const Level &level) const;
    std::vector<std::uint64_t>
    first_rows(const Level &level) const;
    /// Computes numbers of functions from degrees, and the partition.
    void
    finish_level(Level                            &level,
                 const std::vector<std::uint64_t> &first_ghost_row) const;
    double
    penalty_ratio(const Level &coarse, const Level &fine) const;

    MPI_Comm           comm           = MPI_COMM_SELF;
    int                dimension      = 0;
    unsigned int       components     = 1;
    bool               tensor_product = false;
    std::vector<Level> levels;
  };
} // namespace Tessella

#endif

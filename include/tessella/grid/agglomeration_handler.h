// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_grid_agglomeration_handler_h
#define tessella_grid_agglomeration_handler_h

#include <deal.II/base/bounding_box.h>
#include <deal.II/base/index_set.h>
#include <deal.II/base/types.h>

#include <deal.II/fe/fe.h>
#include <deal.II/fe/mapping.h>
#include <deal.II/grid/tria.h>
#include <deal.II/hp/fe_collection.h>

#include <tessella/base/compatibility.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/grid/polytopic_space.h>

#include <array>
#include <memory>
#include <vector>

namespace Tessella
{
  template <int dim>
  class AgglomerationHandler;
  struct GhostExchange;

  /**
   * Read access to one polytope; what
   * AgglomerationHandler::polytope_iterators() gives. "Face" means, as in
   * deal.II's vocabulary of agglomeration, all that the polytope shares with
   * one neighbour or one boundary id: an interface.
   */
  template <int dim>
  class PolytopeAccessor
  {
  public:
    PolytopeAccessor(const AgglomerationHandler<dim> &handler,
                     const unsigned int               index)
      : handler(&handler)
      , present_index(index)
    {}

    /// Number in the flat view.
    unsigned int
    index() const
    {
      return present_index;
    }
    /// Number among the polytopes of all processes.
    unsigned int
    global_index() const;
    /// False for a polytope of another process that is a neighbour of an own
    /// one: of that, box, measure, degree and degrees of freedom are known.
    bool
    is_locally_owned() const;
    unsigned int
    n_faces() const;
    bool
    at_boundary(const unsigned int f) const;
    /// Boundary id of face @p f, which must be at the boundary.
    dealii::types::boundary_id
    boundary_id(const unsigned int f) const;
    /// The polytope behind face @p f, which must not be at the boundary.
    PolytopeAccessor
    neighbor(const unsigned int f) const;
    /// Number of the same face as the neighbour counts it.
    unsigned int
    neighbor_of_agglomerated_neighbor(const unsigned int f) const;
    double
    measure() const;
    /// Diagonal of the bounding box.
    double
    diameter() const;
    dealii::BoundingBox<dim>
    bounding_box() const;
    /// The active cells that make up the polytope.
    std::vector<typename dealii::Triangulation<dim>::active_cell_iterator>
    get_agglomerate() const;
    unsigned int
    n_background_cells() const;
    unsigned int
    degree() const;
    unsigned int
    active_fe_index() const;
    unsigned int
    n_dofs() const;
    void
    get_dof_indices(
      std::vector<dealii::types::global_dof_index> &indices) const;

  private:
    const AgglomerationHandler<dim> *handler;
    unsigned int                     present_index;
  };

  /**
   * Groups the active cells of a deal.II triangulation into polytopes, numbers
   * their degrees of freedom and offers the mesh as a flat view, PolytopicMesh,
   * to everything that computes.
   *
   *     AgglomerationHandler<dim> agglomeration(triangulation);
   *     agglomeration.agglomerate(Agglomeration::metis<dim>(n_polytopes));
   *     agglomeration.distribute_dofs(FE_BoundingBoxLegendre<dim>(degree));
   *
   * Degrees of freedom are contiguous per polytope in polytope order; with
   * several components, component by component: dof = offset(polytope) +
   * component * n_basis(polytope) + i, where i counts the functions of
   * FE_BoundingBoxLegendre.
   *
   * <b>Geometry.</b> With the default mapping (a null pointer) cells are what
   * their vertices say: affine simplices and multilinear hypercubes, handled
   * without tables; wedges and pyramids are hypercubes with coinciding
   * vertices, which is the same geometry. With any other @p mapping, cells and
   * facets whose mapped points differ from the (multi)linear interpolation of
   * their mapped vertices by more than 1e-13 of the diameter are tabulated:
   * quadrature points and weights, and normals on facets, are stored for the
   * order that tabulate() is asked for. Straight cells stay as they are.
   *
   * <b>Hanging nodes</b> are allowed: the face of a coarse cell is as many
   * facets as it has finer neighbours, each with the finer cell's geometry.
   * (Where a curved manifold moves the hanging nodes off the coarse cell's
   * face, that cell's polytope is not exactly closed, as everywhere in
   * deal.II.)
   *
   * <b>Periodic boundaries</b> are those that the triangulation knows
   * (Triangulation::add_periodicity()); only translations are allowed.
   *
   * <b>Global ids.</b> Cells of a polytope, and facets of an interface, are
   * sorted by the cells' position in the order of their CellId (coarse cell,
   * then path of children), which does not depend on how a mesh is distributed.
   * On a mesh without refinement this is the order of active_cell_index.
   *
   * <b>Many processes.</b> On parallel::distributed, parallel::fullydistributed
   * and parallel::shared triangulations every process agglomerates the cells
   * that it owns: polytopes do not reach across processes, and ids that a
   * strategy gives to other cells are ignored. Each process numbers its
   * polytopes by their first cells in the order of CellId (whatever ids the
   * strategy gave), global numbers and degrees of freedom are contiguous per
   * process. Of the neighbours behind its interfaces, the ghost polytopes, it
   * learns box, measure, element and degrees of freedom, once. Everything that
   * decides about rounding goes by global ids: for the same polytopes, matrices
   * are the same to the last bit for any number of processes. Constructor,
   * agglomerate(), finalize_agglomerates() and distribute_dofs() are then
   * collective; an error on one process is thrown on all. A process may own no
   * polytope. See Agglomeration for which strategies depend on the partition.
   * On a serial dealii::Triangulation every process of a parallel program has
   * the whole mesh and does the whole work by itself: its communicator is
   * MPI_COMM_SELF, vectors have all degrees of freedom on each process, and
   * norms are those of the whole mesh.
   *
   * <b>Cost.</b> agglomerate() and distribute_dofs() are linear in the number
   * of cells, below 4 microseconds a cell together; with several processes, in
   * the number of those that a process knows.
   *
   * The triangulation must outlive the handler and must not change; after
   * refinement build a new agglomeration.
   */
  template <int dim>
  class AgglomerationHandler : public PolytopicSpace<dim>
  {
  public:
    /// @p mapping, if given, must outlive the handler. An empty triangulation
    /// is an error.
    explicit AgglomerationHandler(
      const dealii::Triangulation<dim> &triangulation,
      const dealii::Mapping<dim>       *mapping = nullptr);

    /// Groups cells by a strategy and builds the flat view. Degrees of freedom
    /// of an earlier agglomeration are dropped.
    void
    agglomerate(const Agglomeration::Strategy<dim> &strategy);

    /// Marks @p cells as one polytope, as deal.II's own handler does; cells
    /// never named become polytopes of their own. Takes effect with
    /// finalize_agglomerates().
    void
    define_agglomerate(
      const std::vector<
        typename dealii::Triangulation<dim>::active_cell_iterator> &cells);

    /// Ends a series of define_agglomerate() and builds the flat view.
    /// Polytopes are numbered in the order of their definition, cells never
    /// named follow.
    void
    finalize_agglomerates();

    /**
     * One element for all polytopes: FE_BoundingBoxLegendre, or an FESystem of
     * copies of one.
     */
    void
    distribute_dofs(const dealii::FiniteElement<dim> &fe);

    /// hp: the element of polytope k is @p fe_collection[@p fe_indices[k]]; all
    /// have the same number of components. Of several processes, each gives
    /// the indices of the polytopes that it owns.
    void
    distribute_dofs(const dealii::hp::FECollection<dim> &fe_collection,
                    const std::vector<unsigned int>     &fe_indices);

    const dealii::Triangulation<dim> &
    get_triangulation() const;
    /// The mapping given to the constructor, or deal.II's default linear one
    /// for the triangulation's cells.
    const dealii::Mapping<dim> &
    get_mapping() const;
    const dealii::hp::FECollection<dim> &
    get_fe_collection() const;

    /// Index of the polytope's element in get_fe_collection().
    unsigned int
    active_fe_index(const unsigned int polytope) const;

    /// Number of polytopes that this process owns: all in a serial program.
    unsigned int
    n_polytopes() const override;
    unsigned int
    n_global_polytopes() const override;
    /// Number of a polytope of the flat view among those of all processes.
    unsigned int
    global_polytope_index(const unsigned int polytope) const;
    /// Of all processes.
    dealii::types::global_dof_index
    n_dofs() const override;
    dealii::types::global_dof_index
    n_locally_owned_dofs() const;
    /// First degree of freedom of a polytope of the flat view, counted over all
    /// processes.
    dealii::types::global_dof_index
    first_dof(const unsigned int polytope) const override;
    MPI_Comm
    get_communicator() const override;
    unsigned int
    n_components() const override;
    PolynomialSpaceType
    polynomial_space() const override;
    unsigned int
    max_degree() const override;
    /// Largest number of degrees of freedom on a polytope, all components.
    unsigned int
    max_dofs_per_polytope() const override;

    dealii::IndexSet
    locally_owned_dofs() const override;
    dealii::IndexSet
    locally_relevant_dofs() const;

    /// Adds the entries that assembly couples in the rows that this process
    /// owns: every polytope with itself and its neighbours. Works with every
    /// deal.II sparsity pattern.
    template <typename SparsityPatternType>
    void
    make_sparsity_pattern(SparsityPatternType &sparsity) const;

    PolytopeAccessor<dim>
    polytope(const unsigned int index) const;
    /// All polytopes that this process owns, in order.
    std::vector<PolytopeAccessor<dim>>
    polytope_iterators() const;

    /// Polytope of every active cell, by active_cell_index; invalid_index for
    /// cells of other processes that touch no own one.
    const std::vector<unsigned int> &
    polytope_of_cell() const;

    /// Active cell by active_cell_index, in constant time.
    typename dealii::Triangulation<dim>::active_cell_iterator
    active_cell(const unsigned int active_cell_index) const;

    dealii::BoundingBox<dim>
    bounding_box(const unsigned int polytope) const;

    /// The flat view.
    const PolytopicMesh<dim> &
    polytopic_mesh() const override;

    /// Number of active cells whose geometry the mapping bends, and which are
    /// therefore tabulated; of those in the flat view of this process.
    unsigned int
    n_curved_cells() const;

    /// Bytes that handler and flat view hold.
    std::size_t
    memory_consumption() const;

    /**
     * Makes sure that tabulated sub-cells and facets have quadrature for
     * polynomials of degree 2 p + @p extra_order in space (p of the polytope;
     * the larger one on an interface), tabulating anew where the present table
     * is of lower order. Nothing happens on meshes without such cells.
     * Logically const; not thread safe.
     *
     * With a mapping of polynomial degree k, a polynomial of degree m in space
     * is one of degree k m on the reference cell, and the Jacobian determinant
     * brings dim k - 1 more (per variable on hypercubes; dim (k - 1) in all on
     * simplices): rules are exact for these products, hence divergence theorem
     * and polynomials are exact on curved cells, too. Where that would take
     * more than 60 points a direction in 2-D or 20 in 3-D (on simplices: a
     * rule of order above 60 or 40), the rule of that size is used; it is
     * exact up to the highest terms, which the small curvature of cells damps.
     * Mappings whose degree is not known are treated as of degree 4.
     *
     * Cost: one evaluation of the mapping per point; mappings are set up once
     * per order and cell type, not per cell.
     */
    void
    tabulate(const unsigned int extra_order) const override;

    /// The same as compute_penalty_factors().
    void
    fill_penalty_factors(const PenaltyFormula formula) const override;

    /// Penalty factors of the flat view have been computed for the present
    /// degrees (compute_penalty_factors() sets it); internal.
    mutable int penalty_state = -1;

    /**
     * Exchange between neighbouring processes; nothing happens on one.
     * @p values has @p n_components numbers for each polytope of the flat view:
     * those of ghosts are overwritten with what their owners have.
     */
    void
    exchange_polytope_values(std::vector<double> &values,
                             const unsigned int   n_components) const;

    /// The same for the degrees of freedom of the flat view, own ones first
    /// (PolytopicMesh::dof_offset).
    void
    exchange_dof_values(std::vector<double> &values) const;

    /// The same for numbers per facet and side, 2 * facet + side: entries on
    /// the side of a ghost get what its owner has there.
    void
    exchange_facet_values(std::vector<double> &values) const override;

    /// For the functions that fill the view's derived arrays (penalty factors);
    /// internal.
    PolytopicMesh<dim> &
    mutable_polytopic_mesh() const;

  private:
    /// A facet that is tabulated, and the cell and face that it is.
    struct CurvedFacet
    {
      unsigned int facet;
      unsigned int cell; ///< active_cell_index
      unsigned int face;
      unsigned int side; ///< side of the facet on which the cell lies
      unsigned int shift;
      std::array<unsigned int, 2> polytopes;
    };

    void
    build(std::vector<unsigned int> &&ids);
    /// The flat view from ids of its polytopes; the first @p n_own are own
    /// ones, @p order is that by which interfaces are made and @p position
    /// that of the cells. invalid_index: there are no others, and all orders
    /// are those of the numbers.
    void
    build(std::vector<unsigned int>      &&ids,
          const std::vector<unsigned int> &position,
          const std::vector<unsigned int> &order,
          const unsigned int               n_own);
    /// Replaces the ids of own cells by numbers of own polytopes, and those of
    /// cells behind their faces by numbers of ghosts; fills all that concerns
    /// numbers and ghosts. Returns the number of own polytopes. Collective.
    unsigned int
    number_in_parallel(std::vector<unsigned int>       &ids,
                       const std::vector<unsigned int> &position,
                       std::vector<unsigned int>       &order);
    void
    number_dofs_in_parallel();
    void
    list_shared_facets(const PolytopicMesh<dim>        &view,
                       const std::vector<unsigned int> &order);
    void
    clear_dofs();

    SmartPointer<const dealii::Triangulation<dim>, AgglomerationHandler<dim>>
                                triangulation;
    const dealii::Mapping<dim> *user_mapping;
    std::vector<typename dealii::Triangulation<dim>::active_cell_iterator>
                                                   cells;
    std::vector<unsigned int>                      cell_polytope;
    std::vector<std::vector<unsigned int>>         pending_agglomerates;
    std::unique_ptr<dealii::hp::FECollection<dim>> fe_collection;
    std::vector<unsigned int>                      fe_indices;
    unsigned int                                   present_n_components = 1;
    PolynomialSpaceType        space = PolynomialSpaceType::total_degree;
    mutable PolytopicMesh<dim> mesh;
    mutable int                tabulated_extra_order = -1;
    /// Facets to tabulate, in order.
    std::vector<CurvedFacet> curved_facets;
    unsigned int             present_n_curved_cells = 0;

    // ---- several processes
    bool         is_parallel; ///< the triangulation's class is for that
    unsigned int first_global_polytope = 0, n_all_polytopes = 0;
    /// Global numbers of ghosts, and their first degrees of freedom.
    std::vector<unsigned int>      ghost_polytopes;
    std::vector<std::uint64_t>     ghost_first_dof;
    std::uint64_t                  first_own_dof = 0, n_all_dofs = 0;
    std::shared_ptr<GhostExchange> ghosts;
  };
} // namespace Tessella

#endif

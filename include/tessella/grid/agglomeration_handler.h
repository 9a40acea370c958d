// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_grid_agglomeration_handler_h
#define tessella_grid_agglomeration_handler_h

#include <deal.II/base/bounding_box.h>
#include <deal.II/base/index_set.h>
#include <deal.II/base/iterator_range.h>
#include <deal.II/base/types.h>

#include <deal.II/fe/fe.h>
#include <deal.II/fe/mapping.h>
#include <deal.II/grid/cell_id.h>
#include <deal.II/grid/tria.h>
#include <deal.II/grid/tria_iterator.h>
#include <deal.II/hp/fe_collection.h>

#include <tessella/base/compatibility.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/curved_quadrature.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/grid/polytopic_space.h>

#include <array>
#include <boost/iterator/iterator_facade.hpp>
#include <boost/signals2/connection.hpp>
#include <cstddef>
#include <iterator>
#include <memory>
#include <vector>

namespace Tessella
{
  template <int dim>
  class AgglomerationHandler;
  template <int dim>
  class PolytopeIterator;
  struct GhostExchange;

  namespace internal
  {
    /// Tabulated facet, with the cell and the face from which it is made.
    struct CurvedFacet
    {
      unsigned int facet;
      unsigned int cell; ///< active_cell_index
      unsigned int face;
      unsigned int side; ///< side of the facet on which the cell lies
      unsigned int shift;
      std::array<unsigned int, 2> polytopes;
    };

    struct PolytopeNumbering;
  } // namespace internal

  /**
   * Access to one polytope, to which a PolytopeIterator points. As in deal.II's
   * vocabulary of agglomeration, "face" means an interface: all that the
   * polytope shares with one neighbour or one boundary id.
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

    /// Index in the flat view.
    unsigned int
    index() const
    {
      return present_index;
    }
    /// Index among the polytopes of all processes.
    unsigned int
    global_index() const
    {
      return handler->global_polytope_index(present_index);
    }
    /// False for a ghost, a polytope of another process that is a neighbour of
    /// a locally owned one. Of a ghost, bounding box, measure, degree and
    /// degrees of freedom are known.
    bool
    is_locally_owned() const
    {
      return present_index < handler->n_polytopes();
    }
    /// Number of interfaces of the polytope, those at the boundary included.
    unsigned int
    n_faces() const
    {
      const PolytopicMesh<dim> &mesh = handler->polytopic_mesh();
      return mesh.polytope_interface_offset[present_index + 1] -
             mesh.polytope_interface_offset[present_index];
    }
    bool
    at_boundary(const unsigned int f) const;
    /// Boundary id of face @p f, which must be at the boundary.
    dealii::types::boundary_id
    boundary_id(const unsigned int f) const;
    /// Polytope behind face @p f. If the face is at the boundary, the state()
    /// of the iterator is invalid, as for deal.II's cells.
    PolytopeIterator<dim>
    neighbor(const unsigned int f) const;
    /// Index of the same face in the neighbour's numbering.
    unsigned int
    neighbor_of_agglomerated_neighbor(const unsigned int f) const;
    /// Volume of the polytope (area in 2-D).
    double
    measure() const
    {
      AssertIndexRange(present_index, handler->polytopic_mesh().n_polytopes());
      return handler->polytopic_mesh().measure[present_index];
    }
    /// The same as measure().
    double
    volume() const
    {
      return measure();
    }
    /// Length of the diagonal of the bounding box.
    double
    diameter() const;
    dealii::BoundingBox<dim>
    bounding_box() const
    {
      return handler->bounding_box(present_index);
    }
    /// The same as bounding_box().
    dealii::BoundingBox<dim>
    get_bounding_box() const
    {
      return bounding_box();
    }
    /// CellId of the polytope's first cell in the order of CellId. No other
    /// polytope of any process has it, and it does not depend on the number of
    /// processes.
    dealii::CellId
    id() const;
    /// Rank of the process that owns the polytope; on a triangulation that is
    /// not distributed, the subdomain id of the polytope's first cell.
    dealii::types::subdomain_id
    subdomain_id() const;
    /// Active cells that make up the polytope.
    std::vector<typename dealii::Triangulation<dim>::active_cell_iterator>
    get_agglomerate() const;
    /// Number of cells that make up the polytope.
    unsigned int
    n_background_cells() const
    {
      const PolytopicMesh<dim> &mesh = handler->polytopic_mesh();
      return mesh.subcell_offset[present_index + 1] -
             mesh.subcell_offset[present_index];
    }
    /// Active faces of the triangulation that make up the boundary of the
    /// polytope, that is, faces that belong to only one cell of the polytope.
    /// They follow the order of the cells of get_agglomerate(). If a neighbour
    /// is finer, they are the faces of the finer cells. The polytope must be
    /// locally owned.
    std::vector<typename dealii::Triangulation<dim>::active_face_iterator>
    polytope_boundary() const;
    /// Polynomial degree of the polytope.
    unsigned int
    degree() const;
    /// Finite element of the polytope.
    const dealii::FiniteElement<dim> &
    get_fe() const
    {
      return handler->get_fe(active_fe_index());
    }
    /// Index of the polytope's element in the collection of distribute_dofs().
    /// Until elements are distributed, this is the value of
    /// set_active_fe_index(), by default 0.
    unsigned int
    active_fe_index() const
    {
      return handler->active_fe_index(present_index);
    }
    /// Chooses the element of the polytope by its index in the collection of
    /// the next call of AgglomerationHandler::distribute_dofs(). Until then,
    /// the present degrees of freedom stay as they are. A new agglomeration
    /// sets all indices to 0. The polytope must be locally owned: the other
    /// processes get the index from its owner. Not thread safe.
    void
    set_active_fe_index(const unsigned int index) const;
    /// Number of degrees of freedom of the polytope, all components.
    unsigned int
    n_dofs() const;
    /// Global indices of the polytope's degrees of freedom; @p indices gets its
    /// size.
    void
    get_dof_indices(
      std::vector<dealii::types::global_dof_index> &indices) const;

  protected:
    const AgglomerationHandler<dim> *handler;
    unsigned int                     present_index;
  };

  /**
   * Random access iterator over polytopes, in the order of their indices. It is
   * also an accessor, so that a loop may use "->", as for cells and as in
   * polyDEAL, or ".":
   *
   *     for (const auto &polytope : handler.polytope_iterators())
   *       sum += polytope->volume();
   */
  template <int dim>
  class PolytopeIterator
    : public PolytopeAccessor<dim>,
      public boost::iterator_facade<PolytopeIterator<dim>,
                                    PolytopeAccessor<dim>,
                                    std::random_access_iterator_tag,
                                    PolytopeAccessor<dim>>
  {
  public:
    using iterator_category = std::random_access_iterator_tag;
    using difference_type   = std::ptrdiff_t;
    using pointer           = const PolytopeAccessor<dim> *;

    using PolytopeAccessor<dim>::PolytopeAccessor;

    /// State of the iterator. valid: it points to an owned or ghost polytope of
    /// the flat view; past_the_end: its index is one past the last of these;
    /// invalid: it is the result of neighbor() at the boundary. The end of a
    /// range is end() of that range.
    dealii::IteratorState::IteratorStates
    state() const;

    const PolytopeAccessor<dim> *
    operator->() const
    {
      return this;
    }
    PolytopeAccessor<dim>
    operator[](const difference_type n) const
    {
      return *(*this + n);
    }

  private:
    // All other operators follow from these functions.
    friend class boost::iterator_core_access;

    PolytopeAccessor<dim>
    dereference() const
    {
      return *this;
    }
    void
    advance(const difference_type n)
    {
      this->present_index = static_cast<unsigned int>(this->present_index + n);
    }
    void
    increment()
    {
      advance(1);
    }
    void
    decrement()
    {
      advance(-1);
    }
    difference_type
    distance_to(const PolytopeIterator &other) const
    {
      return static_cast<difference_type>(other.present_index) -
             static_cast<difference_type>(this->present_index);
    }
    bool
    equal(const PolytopeIterator &other) const
    {
      return this->handler == other.handler &&
             this->present_index == other.present_index;
    }
  };

  /**
   * Groups the active cells of a deal.II triangulation into polytopes, numbers
   * their degrees of freedom and offers the mesh as a flat view, PolytopicMesh,
   * to all code that computes.
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
   * <b>Geometry.</b> With the default mapping (a null pointer), vertices define
   * the geometry of cells: affine simplices and multilinear hypercubes, handled
   * without tables. Wedges and pyramids are hypercubes with coinciding
   * vertices, which is the same geometry. With any other @p mapping, cells and
   * facets whose mapped points differ from the (multi)linear interpolation of
   * their mapped vertices by more than 1e-13 of the diameter are tabulated:
   * quadrature points and weights, and normals on facets, are stored for the
   * order requested from tabulate(). Straight cells are not tabulated.
   *
   * <b>Hanging nodes</b> are allowed: the face of a coarse cell is as many
   * facets as it has finer neighbours, each with the finer cell's geometry.
   * Where a curved manifold moves the hanging nodes off the coarse cell's face,
   * that cell's polytope is not exactly closed, as everywhere in deal.II.
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
   * strategy returns for other cells are ignored. Each process numbers its
   * polytopes by their first cells in the order of CellId, whatever the ids of
   * the strategy are. Global indices and degrees of freedom are contiguous per
   * process. The neighbours behind the interfaces to other processes are the
   * ghost polytopes, for which a process receives bounding box, measure,
   * element and degrees of freedom, once. All orders that influence rounding
   * follow global ids: for the same polytopes, matrices are the same to the
   * last bit for any number of processes. The constructor, agglomerate(),
   * finalize_agglomerates() and distribute_dofs() are then collective; an error
   * on one process is thrown on all. A process may own no polytope. See
   * Agglomeration for strategies that depend on the partition. On a serial
   * dealii::Triangulation every process of a parallel program has the whole
   * mesh and does the whole work by itself: its communicator is MPI_COMM_SELF,
   * vectors have all degrees of freedom on each process, and norms are those of
   * the whole mesh.
   *
   * <b>Cost.</b> agglomerate() and distribute_dofs() are linear in the number
   * of cells, below 4 microseconds a cell together; with several processes,
   * they are linear in the number of cells that a process knows.
   *
   * The triangulation must outlive the handler.
   *
   * <b>Refinement.</b> When the triangulation changes (refinement, coarsening,
   * a new partition, moved vertices), polytopes and degrees of freedom do not
   * belong to its cells any more. From then on, all functions that return
   * cells, polytopes or indices of degrees of freedom throw an exception that
   * says so, in Release mode as well; only the functions that count polytopes
   * and degrees of freedom still work. agglomerate(), or define_agglomerate()
   * and finalize_agglomerates(), make the handler valid again with the new
   * cells; distribute_dofs() must follow.
   *
   * <b>Names of polyDEAL and of deal.II's own AgglomerationHandler.</b> Where
   * both sides have the same name, it has the same meaning, unless the table
   * says otherwise. Iterators accept "->".
   *
   * <table>
   * <tr><th>there</th><th>here</th></tr>
   * <tr><td>AgglomerationHandler(cached_tria)</td>
   *     <td>AgglomerationHandler(triangulation, &mapping); without a mapping,
   *     straight cells</td></tr>
   * <tr><td>define_agglomerate(cells)</td>
   *     <td>the same, without an iterator as result, and
   *     finalize_agglomerates() at the end</td></tr>
   * <tr><td>CellsAgglomerator, an R-tree</td>
   *     <td>agglomerate(Agglomeration::rtree())</td></tr>
   * <tr><td>n_agglomerates()</td><td>the same, or n_polytopes()</td></tr>
   * <tr><td>begin(), end(), polytope_iterators()</td><td>the same</td></tr>
   * <tr><td>polytope->volume()</td>
   *     <td>the same, or measure(): always the polytope's volume, whereas the
   *     other class may return that of the bounding box</td></tr>
   * <tr><td>polytope->get_bounding_box()</td>
   *     <td>the same, or bounding_box(); both by value</td></tr>
   * <tr><td>polytope->id(), subdomain_id()</td><td>the same; id() is that of
   *     the first cell in the order of CellId</td></tr>
   * <tr><td>polytope->polytope_boundary()</td>
   *     <td>the same, by value</td></tr>
   * <tr><td>polytope->n_agglomerated_faces()</td>
   *     <td>polytope->polytope_boundary().size()</td></tr>
   * <tr><td>polytope->get_dof_indices(indices)</td>
   *     <td>the same; the vector is resized</td></tr>
   * <tr><td>polytope->get_fe(), active_fe_index(), set_active_fe_index()</td>
   *     <td>the same</td></tr>
   * <tr><td>cell_to_polytope_index(cell)</td>
   *     <td>polytope_of_cell()[cell->active_cell_index()]</td></tr>
   * <tr><td>distribute_agglomerated_dofs(fe)</td>
   *     <td>the same, or distribute_dofs(fe); the element is
   *     FE_BoundingBoxLegendre</td></tr>
   * <tr><td>create_agglomeration_sparsity_pattern(sparsity)</td>
   *     <td>the same; make_sparsity_pattern(sparsity) fills a pattern that has
   *     its size</td></tr>
   * <tr><td>n_dofs_per_cell()</td><td>polytope->n_dofs()</td></tr>
   * <tr><td>initialize_fe_values(), reinit(polytope)</td>
   *     <td>PolytopeValues</td></tr>
   * <tr><td>reinit(polytope, f), reinit_interface(...)</td>
   *     <td>PolytopeInterfaceValues</td></tr>
   * </table>
   *
   * deal.II's class has the same name as this one. A program with "using
   * namespace dealii" and "using namespace Tessella" therefore writes
   * Tessella::AgglomerationHandler, or puts its own code into a namespace and
   * writes "using Tessella::AgglomerationHandler" there; a using-declaration
   * outside of all namespaces does not resolve the ambiguity.
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

    /// Groups the present cells of the triangulation by a strategy and builds
    /// the flat view. Degrees of freedom of an earlier agglomeration are
    /// dropped.
    void
    agglomerate(const Agglomeration::Strategy<dim> &strategy);

    /// Marks @p cells as one polytope, as deal.II's own handler does. Cells
    /// that no call contains become polytopes of their own. Takes effect with
    /// finalize_agglomerates(). After a change of the triangulation, the first
    /// call drops all data of the old cells.
    void
    define_agglomerate(
      const std::vector<
        typename dealii::Triangulation<dim>::active_cell_iterator> &cells);

    /// Ends a series of calls of define_agglomerate() and builds the flat view.
    /// Polytopes are numbered in the order of their definition, followed by the
    /// cells that no call contains.
    void
    finalize_agglomerates();

    /**
     * Uses one element for all polytopes: FE_BoundingBoxLegendre, or an
     * FESystem of copies of one.
     */
    void
    distribute_dofs(const dealii::FiniteElement<dim> &fe);

    /// hp: the element of polytope k is @p fe_collection[@p fe_indices[k]]. All
    /// elements must have the same number of components. With several
    /// processes, each process passes the indices of the polytopes that it
    /// owns.
    void
    distribute_dofs(const dealii::hp::FECollection<dim> &fe_collection,
                    const std::vector<unsigned int>     &fe_indices);

    /// hp: the element of each polytope is the one chosen by
    /// PolytopeAccessor::set_active_fe_index(). Without a call of that
    /// function, a polytope keeps its index, which is 0 in a new agglomeration.
    void
    distribute_dofs(const dealii::hp::FECollection<dim> &fe_collection);

    /// The same as distribute_dofs(), preceded by finalize_agglomerates() if
    /// define_agglomerate() has been called since the last call of that.
    /// Collective.
    void
    distribute_agglomerated_dofs(const dealii::FiniteElement<dim> &fe);
    void
    distribute_agglomerated_dofs(
      const dealii::hp::FECollection<dim> &fe_collection);

    const dealii::Triangulation<dim> &
    get_triangulation() const
    {
      return *triangulation;
    }
    /// Mapping given to the constructor, or deal.II's default linear mapping
    /// for the triangulation's cells.
    const dealii::Mapping<dim> &
    get_mapping() const;
    const dealii::hp::FECollection<dim> &
    get_fe_collection() const;
    /// Element of get_fe_collection() with the given index.
    const dealii::FiniteElement<dim> &
    get_fe(const unsigned int index = 0) const
    {
      return get_fe_collection()[index];
    }

    /// See PolytopeAccessor::active_fe_index().
    unsigned int
    active_fe_index(const unsigned int polytope) const;

    /// Number of polytopes that this process owns: all in a serial program.
    unsigned int
    n_polytopes() const override
    {
      return mesh.n_owned_polytopes();
    }
    /// The same as n_polytopes().
    unsigned int
    n_agglomerates() const
    {
      check_finalized();
      return n_polytopes();
    }
    unsigned int
    n_global_polytopes() const override
    {
      return n_all_polytopes;
    }
    /// Index of a polytope of the flat view among the polytopes of all
    /// processes.
    unsigned int
    global_polytope_index(const unsigned int polytope) const;
    /// Number of degrees of freedom of all processes.
    dealii::types::global_dof_index
    n_dofs() const override
    {
      return static_cast<dealii::types::global_dof_index>(n_all_dofs);
    }
    dealii::types::global_dof_index
    n_locally_owned_dofs() const;
    /// First degree of freedom of a polytope of the flat view, counted over all
    /// processes.
    dealii::types::global_dof_index
    first_dof(const unsigned int polytope) const override;
    MPI_Comm
    get_communicator() const override
    {
      return Compatibility::get_communicator(*triangulation);
    }
    unsigned int
    n_components() const override
    {
      return dofs.n_components;
    }
    PolynomialSpaceType
    polynomial_space() const override
    {
      return space;
    }
    unsigned int
    max_degree() const override;
    /// Largest number of degrees of freedom of a polytope, all components.
    unsigned int
    max_dofs_per_polytope() const override;

    dealii::IndexSet
    locally_owned_dofs() const override;
    dealii::IndexSet
    locally_relevant_dofs() const;

    /// Adds the entries that assembly couples in the rows that this process
    /// owns: every polytope with itself and with its neighbours. Works with
    /// every deal.II sparsity pattern.
    template <typename SparsityPatternType>
    void
    make_sparsity_pattern(SparsityPatternType &sparsity) const;

    /// Gives @p sparsity its size and the entries of make_sparsity_pattern(). A
    /// DynamicSparsityPattern gets the rows of locally_relevant_dofs(); a
    /// SparsityPattern or TrilinosWrappers::SparsityPattern is ready for a
    /// matrix. There are no constraints to respect, since boundary values are
    /// imposed weakly.
    template <typename SparsityPatternType>
    void
    create_agglomeration_sparsity_pattern(SparsityPatternType &sparsity) const;

    PolytopeIterator<dim>
    polytope(const unsigned int index) const
    {
      check_cells();
      AssertIndexRange(index, mesh.n_polytopes());
      return PolytopeIterator<dim>(*this, index);
    }
    /// First polytope that this process owns; end() is past the last one.
    PolytopeIterator<dim>
    begin() const
    {
      check_cells();
      check_finalized();
      return PolytopeIterator<dim>(*this, 0);
    }
    PolytopeIterator<dim>
    end() const
    {
      return begin() + n_polytopes();
    }
    /// All polytopes that this process owns, in order.
    dealii::IteratorRange<PolytopeIterator<dim>>
    polytope_iterators() const
    {
      return {begin(), end()};
    }

    /// Polytope of every active cell, by active_cell_index; invalid_index for
    /// cells of other processes that do not share a face with an owned cell.
    const std::vector<unsigned int> &
    polytope_of_cell() const
    {
      check_cells();
      return cell_polytope;
    }

    /// Active cell with the given active_cell_index, in constant time.
    typename dealii::Triangulation<dim>::active_cell_iterator
    active_cell(const unsigned int active_cell_index) const
    {
      check_cells();
      AssertIndexRange(active_cell_index, cells.size());
      return cells[active_cell_index];
    }

    dealii::BoundingBox<dim>
    bounding_box(const unsigned int polytope) const;

    /// Flat view of the mesh.
    const PolytopicMesh<dim> &
    polytopic_mesh() const override
    {
      check_cells();
      return mesh;
    }

    /// Degrees and numbering of degrees of freedom on the flat view.
    const PolytopicDoFs &
    polytopic_dofs() const override
    {
      check_cells();
      return dofs;
    }

    /// Number of active cells whose geometry the mapping bends and which are
    /// therefore tabulated. Only cells in the flat view of this process count.
    unsigned int
    n_curved_cells() const
    {
      return present_n_curved_cells;
    }

    /// Memory of handler and flat view, in bytes.
    std::size_t
    memory_consumption() const;

    /**
     * Makes sure that tabulated sub-cells and facets have quadrature for
     * polynomials of degree 2 p + @p extra_order in space, where p is the
     * degree of the polytope, or the larger of two degrees on an interface.
     * Tables of lower order are computed anew. On meshes without such cells the
     * function does nothing. Logically const; not thread safe.
     *
     * The order on the reference cell follows from the mapping, see
     * CurvedQuadrature. Mappings of unknown degree are treated as of degree 4.
     *
     * Cost: one evaluation of the mapping per point; mappings are set up once
     * per order and cell type, not per cell.
     */
    void
    tabulate(const unsigned int extra_order) const override;

    /**
     * Chooses the rules of curved cells; tables that exist are dropped.
     *
     * With CurvedQuadrature::consistent, integrals of products depend on the
     * order of the tables. Spaces whose matrices are to agree, and a space
     * whose operators have several orders, need tabulate() with the largest
     * order before the first integral.
     */
    void
    set_curved_quadrature(const CurvedQuadrature quadrature);

    /// The same as compute_penalty_factors().
    void
    fill_penalty_factors(const PenaltyFormula formula) const override;

    /// Internal: state of the penalty factors, set by
    /// compute_penalty_factors() when it has computed them for the present
    /// degrees.
    mutable int penalty_state = -1;

    /**
     * Exchange between neighbouring processes; does nothing in a serial
     * program. @p values has @p n_components entries for each polytope of the
     * flat view. Those of ghosts are overwritten with the values of their
     * owners.
     */
    void
    exchange_polytope_values(std::vector<double> &values,
                             const unsigned int   n_components) const;

    /// The same for values per degree of freedom of the flat view, owned ones
    /// first (PolytopicDoFs::dof_offset).
    void
    exchange_dof_values(std::vector<double> &values) const;

    /// The same for values per facet and side, at index 2 * facet + side.
    /// Entries on the side of a ghost get the values of its owner.
    void
    exchange_facet_values(std::vector<double> &values) const override;
    void
    exchange_facet_values(std::vector<std::uint64_t> &values) const;

    /// Internal: access for compute_penalty_factors().
    PolytopicDoFs &
    mutable_polytopic_dofs() const
    {
      check_cells();
      return dofs;
    }

  private:
    /// Builds polytopes from the ids of a strategy. The flat view has revision
    /// 0 until it is complete. Collective.
    void
    build(std::vector<unsigned int> &&ids);
    /// Counts the polytopes and finds the order of the cells, in a program of
    /// one process.
    void
    number_in_serial(internal::PolytopeNumbering &numbering);
    /// Replaces the ids of owned cells by indices of owned polytopes, and the
    /// ids of cells behind their faces by indices of ghosts. Fills the rest of
    /// @p numbering but the positions, and all members about global indices and
    /// ghosts. Collective.
    void
    number_in_parallel(internal::PolytopeNumbering &numbering);
    /// Builds the flat view and takes the ids.
    void
    build_flat_view(internal::PolytopeNumbering &numbering);
    /// Finds the types of all cells and facets of all processes.
    void
    reduce_types();
    /// Numbers the degrees of freedom of elements with the given degrees and
    /// numbers of functions. Collective.
    void
    number_dofs(const std::vector<unsigned int> &degrees,
                const std::vector<unsigned int> &n_functions);
    void
    number_dofs_in_parallel();
    void
    list_shared_facets(const PolytopicMesh<dim>        &view,
                       const std::vector<unsigned int> &order);
    void
    clear_dofs();
    /// Drops polytopes and degrees of freedom.
    void
    clear_polytopes();
    /// Lists the present cells of the triangulation and drops all data of other
    /// cells.
    void
    list_cells();
    /// Throws if the triangulation has changed since list_cells().
    void
    check_cells() const
    {
      if (*triangulation_has_changed)
        throw_changed();
    }
    [[noreturn]] static void
    throw_changed();
    /// Throws if define_agglomerate() has been called and
    /// finalize_agglomerates() not yet.
    void
    check_finalized() const;
    /// Calls finalize_agglomerates() if a process has called
    /// define_agglomerate() since the last call.
    void
    finalize_pending_agglomerates();
    friend class PolytopeAccessor<dim>;

    SmartPointer<const dealii::Triangulation<dim>, AgglomerationHandler<dim>>
                                triangulation;
    const dealii::Mapping<dim> *user_mapping;
    std::vector<typename dealii::Triangulation<dim>::active_cell_iterator>
                                                   cells;
    std::vector<unsigned int>                      cell_polytope;
    std::vector<std::vector<unsigned int>>         pending_agglomerates;
    std::unique_ptr<dealii::hp::FECollection<dim>> fe_collection;
    std::vector<unsigned int>                      fe_indices;
    PolynomialSpaceType        space = PolynomialSpaceType::total_degree;
    mutable PolytopicMesh<dim> mesh;
    mutable PolytopicDoFs      dofs;
    mutable int                tabulated_extra_order = -1;
    CurvedQuadrature           curved_quadrature     = CurvedQuadrature::exact;
    /// Facets to tabulate, in increasing order.
    std::vector<internal::CurvedFacet> curved_facets;
    unsigned int                       present_n_curved_cells = 0;

    // ---- several processes
    bool is_parallel; ///< the class of the triangulation is a parallel one
    unsigned int first_global_polytope = 0, n_all_polytopes = 0;
    /// Global indices of the ghosts, and their first degrees of freedom.
    std::vector<unsigned int>      ghost_polytopes;
    std::vector<std::uint64_t>     ghost_first_dof;
    std::uint64_t                  first_own_dof = 0, n_all_dofs = 0;
    std::shared_ptr<GhostExchange> ghosts;
    /// First cells of the ghosts, see PolytopeAccessor::id().
    std::vector<dealii::CellId> ghost_first_cells;

    /// Indices that PolytopeAccessor::set_active_fe_index() has set since the
    /// last distribute_dofs(), for owned polytopes; empty if there was no call.
    mutable std::vector<unsigned int> next_fe_indices;

    /// Set by a signal of the triangulation; on the heap, so that a handler can
    /// be moved.
    std::shared_ptr<bool>              triangulation_has_changed;
    boost::signals2::scoped_connection triangulation_listener;
  };
} // namespace Tessella

#endif

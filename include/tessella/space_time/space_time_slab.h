// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_space_time_space_time_slab_h
#define tessella_space_time_space_time_slab_h

#include <deal.II/base/index_set.h>
#include <deal.II/base/types.h>

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/polytopic_space.h>
#include <tessella/lac/vector_view.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace Tessella
{
  template <typename Number>
  class DeviceBlockMatrix;
  template <typename Number>
  class DeviceVector;

  /**
   * Space-time slab [t, t + tau] x D on prismatic elements: every polytope of
   * an AgglomerationHandler times the interval, or times each of its
   * sub-intervals (Dong, Georgoulis, Kappas, SIAM J. Sci. Comput. 43 (2021),
   * section 2.3). It is a polytopic mesh of dim + 1 variables, the last one
   * being time, so that PolytopicAssembler, the kernels of host and device,
   * sparsity patterns and the interface to Trilinos matrices are the same as
   * for a mesh in space:
   *
   *     AgglomerationHandler<dim> agglomeration(triangulation);
   *     agglomeration.agglomerate(...);
   *     agglomeration.distribute_dofs(FE_BoundingBoxLegendre<dim>(degree));
   *
   *     SpaceTimeSlab<dim> slab(agglomeration, PolynomialSpaceType::prismatic);
   *     slab.reinit(0., tau);
   *     PolytopicAssembler<dim + 1> assembler(slab);
   *     assembler.reinit(matrix, rhs);
   *     assembler.assemble(form, matrix, rhs); // a SpaceTimeForm<dim>
   *     slab.add_inflow(initial_value, rhs);
   *
   * <b>Spaces.</b> On the element of a polytope of degree p: P_p (total_degree:
   * total degree p in space and time) or PQ_p (prismatic: degree p in time
   * times total degree p in space). At every time these are polynomials of
   * total degree p in space, that is, functions of the handler's space. Values
   * at a time (trace()), initial values and the inflow from slab to slab are
   * therefore vectors of the handler, and all functions for such vectors
   * (projection, errors, output) can be used for them.
   *
   * <b>Time.</b> Coordinates of the flat view are local: 0 at the beginning of
   * the slab. The mesh, and with it the data that assemblers keep, thus stay
   * the same while only start() advances; SpaceTimeForm adds it. Lengths may
   * vary from slab to slab: in this case coordinates are written anew, and the
   * structure stays the same.
   *
   * <b>Local time stepping.</b> Polytope k may have m_k elements, one above the
   * other, of length tau / m_k. Neighbours couple where their intervals meet;
   * elements of one polytope couple at their common base, where the solution is
   * upwinded. Elements are numbered polytope by polytope, upwards.
   *
   * <b>Facets.</b> Interfaces between polytopes, and boundary facets, are
   * products with (intersections of) intervals, with the spatial penalty factor
   * of compute_penalty_factors(): on prisms the length in time cancels in
   * appendix A of the paper. Bases inside a polytope and at the bottom have no
   * penalty factor. The bottom of the slab is a boundary with the id bottom_id,
   * where the equation's operator d/dt has its inflow. The top has no facets,
   * since nothing is integrated there.
   *
   * <b>Quadrature</b> on prisms is the product of simplex rule and Gauss rule,
   * exact for degree 2 p + coefficient order in space and in time; on products
   * of hypercubes and intervals it is a Gauss rule.
   *
   * <b>Cost.</b> Memory as for a polytopic mesh in which each polytope has m_k
   * times its number of sub-cells; in addition, one mass matrix per polytope
   * (for add_inflow()). Building the slab uses all threads and needs less than
   * a microsecond per sub-cell and thread.
   *
   * <b>Many processes.</b> A process has the elements of the polytopes that it
   * owns, then those of the handler's ghosts, whose numbers of intervals it
   * receives when they change. Matrices are the same to the last bit for any
   * number of processes. reinit() is then collective.
   *
   * The handler must outlive the slab and have degrees of freedom of one
   * component and total degree; after distribute_dofs() call reinit() again.
   * dim = 2 or 3.
   */
  template <int dim>
  class SpaceTimeSlab : public PolytopicSpace<dim + 1>
  {
  public:
    /// Boundary id of the slab's bottom; it must not occur in a triangulation.
    static constexpr dealii::types::boundary_id bottom_id =
      static_cast<dealii::types::boundary_id>(-3);

    /// @p space is total_degree or prismatic, for all polytopes.
    explicit SpaceTimeSlab(
      const AgglomerationHandler<dim> &handler,
      const PolynomialSpaceType        space = PolynomialSpaceType::prismatic);

    ~SpaceTimeSlab() override;

    /**
     * Sets the slab to [start, start + length] with @p n_intervals[k] elements
     * on polytope k of this process (one each, if empty). Length and numbers
     * must be positive. Data that do not change are kept: to this end, pass
     * exactly the same length for slabs of equal length.
     */
    void
    reinit(const double                     start,
           const double                     length,
           const std::vector<unsigned int> &n_intervals = {});

    double
    start() const;
    double
    length() const;
    /// End of the slab, start() + length().
    double
    end() const;
    /// Counts how often reinit() has changed the mesh. Matrices of forms that
    /// do not depend on time stay the same while this number does.
    std::uint64_t
    revision() const;
    /// Counts how often numbers of intervals, or the handler's mesh, have
    /// changed. Sparsity patterns stay the same while this number does.
    std::uint64_t
    structure_revision() const;

    const AgglomerationHandler<dim> &
    handler() const;
    unsigned int
    n_intervals(const unsigned int polytope) const;
    /// First of the elements of a polytope, which are consecutive.
    unsigned int
    first_element(const unsigned int polytope) const;
    unsigned int
    polytope_of_element(const unsigned int element) const;
    /// For each sub-cell of the slab, the sub-cell of the handler's flat view
    /// that is its base.
    std::vector<unsigned int>
    subcell_origin() const;
    /// Interval of an element, in local time: its beginning and its end.
    double
    element_begin(const unsigned int element) const;
    double
    element_end(const unsigned int element) const;
    /// All ends of intervals of the slab, in local time, from 0 to length().
    /// Between them the solution is a polynomial in time.
    std::vector<double>
    breakpoints() const;

    /**
     * Values of a slab's vector @p solution at local @p time in [0, length()],
     * as a vector of the handler. At a time where two elements meet, the values
     * of the lower one are returned, or those of the upper one if
     * @p from_above. @p values is resized. All vectors are of the types that
     * ConstVectorView and VectorView list.
     */
    void
    trace(const ConstVectorView &solution,
          const double           time,
          const VectorView      &values,
          const bool             from_above = false) const;

    /**
     * Adds the inflow through the bottom, the integral of u_n v(t_n^+) over D,
     * to a right-hand side. @p value is the handler's vector of u_n, which is
     * the end value of the previous slab or the initial value. Together with
     * SpaceTimeForm's source and boundary data this yields the right-hand side
     * of the paper's (2.9).
     */
    void
    add_inflow(const ConstVectorView &value, const VectorView &rhs) const;

    /**
     * Sets up the inflow between slabs whose solutions stay on a device:
     * @p matrix maps the solution of a slab with the same numbers of intervals
     * to the result of add_inflow() for it, where both slabs have length 1. It
     * has blocks of the size of a slab's diagonal blocks, one per element, and
     * is set up once.
     */
    void
    make_inflow(DeviceBlockMatrix<double> &matrix) const;

    /// Adds the inflow of the solution @p before of a slab of length
    /// @p length_before with the same numbers of intervals; @p inflow is from
    /// make_inflow(). No data pass through the host.
    void
    add_inflow(const DeviceBlockMatrix<double> &inflow,
               const DeviceVector<double>      &before,
               const double                     length_before,
               DeviceVector<double>            &rhs) const;

    /// Computes the slab's vector of the function that is equal to @p value at
    /// all times; @p solution must have the slab's size.
    void
    extend(const ConstVectorView &value, const VectorView &solution) const;

    /// L2 norm on D, and integral over D, of a vector of the handler, from the
    /// mass matrices. Collective.
    double
    L2_norm(const ConstVectorView &value) const;
    double
    integral(const ConstVectorView &value) const;

    // ---- for assembly
    const PolytopicMesh<dim + 1> &
    polytopic_mesh() const override;
    const PolytopicDoFs &
    polytopic_dofs() const override;
    PolynomialSpaceType
    polynomial_space() const override;
    MPI_Comm
    get_communicator() const override;
    dealii::types::global_dof_index
    n_dofs() const override;
    /// Number of elements that this process owns; n_global_polytopes() is that
    /// of all processes.
    unsigned int
    n_polytopes() const override;
    unsigned int
    n_global_polytopes() const override;
    dealii::types::global_dof_index
    first_dof(const unsigned int element) const override;
    void
    exchange_facet_values(std::vector<double> &values) const override;
    unsigned int
    n_components() const override;
    unsigned int
    max_degree() const override;
    unsigned int
    max_dofs_per_polytope() const override;
    dealii::IndexSet
    locally_owned_dofs() const override;
    void
    tabulate(const unsigned int extra_order) const override;
    void
    fill_penalty_factors(const PenaltyFormula formula) const override;

    /// Memory of the mesh and all its data, in bytes.
    std::size_t
    memory_consumption() const;

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif

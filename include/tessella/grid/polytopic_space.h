// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_grid_polytopic_space_h
#define tessella_grid_polytopic_space_h

#include <deal.II/base/index_set.h>
#include <deal.II/base/types.h>

#include <tessella/base/compatibility.h>
#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/portable/legendre.h>

#include <vector>

namespace Tessella
{
  enum class PenaltyFormula;

  /**
   * A polytopic mesh with polynomials on each polytope and numbered degrees of
   * freedom, as PolytopicAssembler needs it. AgglomerationHandler implements it
   * with cells of a triangulation. SpaceTimeSlab implements it in one dimension
   * more, with an AgglomerationHandler and an interval.
   *
   * Degrees of freedom are contiguous per polytope, in polytope order.
   */
  template <int dim>
  class PolytopicSpace : public Subscriptor
  {
  public:
    virtual ~PolytopicSpace() = default;

    /// Flat view of the mesh.
    virtual const PolytopicMesh<dim> &
    polytopic_mesh() const = 0;

    /// Degrees and numbering of degrees of freedom on the flat view.
    virtual const PolytopicDoFs &
    polytopic_dofs() const = 0;

    virtual PolynomialSpaceType
    polynomial_space() const = 0;

    virtual MPI_Comm
    get_communicator() const = 0;

    /// Number of degrees of freedom of all processes.
    virtual dealii::types::global_dof_index
    n_dofs() const = 0;

    /// Number of polytopes that this process owns.
    virtual unsigned int
    n_polytopes() const = 0;

    /// Number of polytopes of all processes.
    virtual unsigned int
    n_global_polytopes() const
    {
      return n_polytopes();
    }

    /// First degree of freedom of a polytope of the flat view, counted over all
    /// processes.
    virtual dealii::types::global_dof_index
    first_dof(const unsigned int polytope) const
    {
      return static_cast<dealii::types::global_dof_index>(
        polytopic_dofs().dof_offset[polytope]);
    }

    /// Exchange of values per facet and side between processes, see
    /// AgglomerationHandler; does nothing in a serial program.
    virtual void
    exchange_facet_values(std::vector<double> &) const
    {}

    virtual unsigned int
    n_components() const = 0;

    virtual unsigned int
    max_degree() const = 0;

    /// Largest number of degrees of freedom of a polytope, all components.
    virtual unsigned int
    max_dofs_per_polytope() const = 0;

    virtual dealii::IndexSet
    locally_owned_dofs() const = 0;

    /// Makes sure that tabulated sub-cells and facets have quadrature for
    /// polynomials of degree 2 p + @p extra_order. Logically const; not thread
    /// safe.
    virtual void
    tabulate(const unsigned int extra_order) const = 0;

    /// Makes sure that polytopic_dofs() has the penalty factors of @p formula.
    /// Logically const; not thread safe.
    virtual void
    fill_penalty_factors(const PenaltyFormula formula) const = 0;
  };
} // namespace Tessella

#endif

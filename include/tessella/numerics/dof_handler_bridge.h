// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_dof_handler_bridge_h
#define tessella_numerics_dof_handler_bridge_h

#include <deal.II/dofs/dof_handler.h>
#include <deal.II/lac/la_parallel_vector.h>

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/vector_view.h>

namespace Tessella
{
  namespace VectorTools
  {
    /**
     * Interpolates a discrete function on polytopes to a dealii::DoFHandler on
     * the same triangulation, at the support points of its elements.
     *
     * @p dof_handler must have discontinuous elements with support points, such
     * as FE_DGQ and FE_SimplexDGP, an FESystem of these, or a collection, with
     * as many components as @p handler. The result is the function itself if
     * the elements contain its polynomials: those of degree p on a polytope are
     * contained in FE_SimplexDGP(p) on straight simplices, and in FE_DGQ(p) on
     * straight hypercubes. A tensor product space of degree p is contained in
     * FE_DGQ(p) where cells are boxes parallel to the axes, and in elements of
     * degree dim p otherwise. Elsewhere the error is that of interpolation.
     *
     * @p result is resized and gets the degrees of freedom that this process
     * owns, without ghosts. The mapping is that of @p handler. Collective.
     * Cost: one evaluation of the polynomials per support point.
     */
    template <int dim>
    void
    interpolate_to_dof_handler(const AgglomerationHandler<dim> &handler,
                               const ConstVectorView           &solution,
                               const dealii::DoFHandler<dim>   &dof_handler,
                               const VectorView                &result);
  } // namespace VectorTools

  /**
   * Discrete functions on polytopes as functions on the cells of the
   * triangulation, so that all of deal.II works on them: DataOut and
   * DataPostprocessor, FEFieldFunction, FEValues, MatrixFree, VTKHDF output and
   * so on.
   *
   *     DoFHandlerBridge<dim> bridge(agglomeration);
   *     LinearAlgebra::distributed::Vector<double> u;
   *     bridge.interpolate(solution, u);
   *     Functions::FEFieldFunction<dim,
   * LinearAlgebra::distributed::Vector<double>>
   *       function(bridge.get_dof_handler(), u, agglomeration.get_mapping());
   *
   * The elements are FE_DGQ, FE_SimplexDGP, FE_WedgeDGP or FE_PyramidDGP of the
   * largest degree p on any polytope, as an FESystem if there are several
   * components, and a collection of them on mixed meshes. On straight cells the
   * function stays the same, see VectorTools::interpolate_to_dof_handler(); a
   * tensor product space gets elements of degree dim p for that. The degree is
   * limited by what deal.II offers on simplices (2 in deal.II 9.4, in 2-D 3),
   * wedges and pyramids; a higher one is an error. The Debug version of deal.II
   * 9.4 does not allow collections with elements of wedges or pyramids.
   *
   * Works on one process or many, on all triangulations that @p handler takes.
   * The handler must outlive the object, and both have to be made again when
   * the mesh changes.
   */
  template <int dim>
  class DoFHandlerBridge
  {
  public:
    /// Distributes degrees of freedom on the cells. Collective.
    explicit DoFHandlerBridge(const AgglomerationHandler<dim> &handler);

    const dealii::DoFHandler<dim> &
    get_dof_handler() const
    {
      return dof_handler;
    }

    /// Interpolates @p solution. The result is resized, and has the values of
    /// ghost cells, too. Collective.
    void
    interpolate(
      const ConstVectorView                              &solution,
      dealii::LinearAlgebra::distributed::Vector<double> &result) const;

    /// The same for vectors of other types, without ghosts.
    void
    interpolate(const ConstVectorView &solution,
                const VectorView      &result) const;

  private:
    SmartPointer<const AgglomerationHandler<dim>> handler;
    dealii::DoFHandler<dim>                       dof_handler;
  };
} // namespace Tessella

#endif

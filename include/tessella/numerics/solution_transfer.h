// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_solution_transfer_h
#define tessella_numerics_solution_transfer_h

#include <deal.II/grid/tria.h>

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/vector_view.h>

#include <memory>
#include <vector>

namespace Tessella
{
  /**
   * Transfers discrete functions from the polytopes of a mesh to those of the
   * same mesh after refinement, coarsening and a new partition, whatever the
   * new agglomeration and degrees are. The class is used like deal.II's
   * SolutionTransfer:
   *
   *     // refine and coarsen flags are set
   *     triangulation.prepare_coarsening_and_refinement();
   *     PolytopicSolutionTransfer<dim> transfer(triangulation);
   *     transfer.prepare_for_coarsening_and_refinement(*handler, solution);
   *     triangulation.execute_coarsening_and_refinement();
   *     handler = std::make_unique<AgglomerationHandler<dim>>(triangulation);
   *     handler->agglomerate(...);
   *     handler->distribute_dofs(...);
   *     solution.reinit(handler->locally_owned_dofs(), communicator);
   *     transfer.project(*handler, solution);
   *
   * The original handler must live until execute_coarsening_and_refinement()
   * has returned. Vectors are of any type that ConstVectorView lists.
   *
   * execute() does all of this in one call.
   *
   * <b>Algorithm.</b> A cell carries the polynomial of its polytope, and so do
   * its children. Where children are coarsened, their polynomials are projected
   * (L2) onto polynomials on the parent, of the largest of their degrees. New
   * polytopes project (L2, with the exact mass matrix) the polynomials of their
   * cells. Hence a piecewise polynomial that the new space contains is
   * reproduced up to rounding, also where cells are coarsened, and the integral
   * over every new polytope is that of the original function (if new degrees
   * are not above the original ones, this holds for all moments up to the new
   * degree). Where a mapping bends cells, changes of the mesh change the
   * domain: the polynomials are extended beyond the original one, and integrals
   * are kept only where cells keep their geometry. Results are the same to the
   * last bit for any number of processes, for the same polytopes.
   *
   * <b>Meshes.</b> parallel::distributed::Triangulation, where deal.II
   * transfers data with the cells (register_data_attach()), and serial
   * triangulations; parallel::shared on one process.
   *
   * <b>Cost.</b> Linear in the number of cells; with N functions on a polytope
   * and q points on its cells N^2 (q + N). Every cell carries the N
   * coefficients of its polytope while the mesh changes.
   */
  template <int dim>
  class PolytopicSolutionTransfer
  {
  public:
    /// @p triangulation must outlive this object.
    explicit PolytopicSolutionTransfer(
      dealii::Triangulation<dim> &triangulation);
    ~PolytopicSolutionTransfer();

    /// Must be called after prepare_coarsening_and_refinement(). Several
    /// functions of one handler must be passed together, as in
    /// {solution, other}. Collective.
    void
    prepare_for_coarsening_and_refinement(
      const AgglomerationHandler<dim> &handler,
      const ConstVectorViews          &solutions);

    /// Must be called once, after the mesh has changed: @p handler has the new
    /// degrees of freedom, and vectors have their size. Collective.
    void
    project(const AgglomerationHandler<dim> &handler,
            const VectorViews               &solutions);

    /**
     * Refines and coarsens the mesh according to its flags and carries
     * functions over, in one call: @p handler gets the polytopes of
     * @p strategy on the new mesh and degrees of freedom of the same elements,
     * and @p solutions, functions of the handler, are resized and become those
     * on the new mesh.
     *
     *     // refine and coarsen flags are set
     *     PolytopicSolutionTransfer<dim>(triangulation)
     *       .execute(handler, strategy, {solution, old_solution});
     *
     * A polytope gets the element of its cells' former polytopes, that of the
     * highest degree if they differ. Objects that have been made for the
     * handler, such as a PolytopicAssembler, belong to the old mesh and have to
     * be made again, as matrices and sparsity patterns have. Collective.
     */
    void
    execute(AgglomerationHandler<dim>          &handler,
            const Agglomeration::Strategy<dim> &strategy,
            const VectorViews                  &solutions);

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif

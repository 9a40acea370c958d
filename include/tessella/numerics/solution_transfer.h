// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_solution_transfer_h
#define tessella_numerics_solution_transfer_h

#include <deal.II/grid/tria.h>

#include <tessella/grid/agglomeration_handler.h>

#include <memory>
#include <vector>

namespace Tessella
{
  /**
   * Carries discrete functions from the polytopes of a mesh to those of the
   * same mesh after refinement, coarsening and a new partition, whatever the
   * new agglomeration and degrees are. Used like deal.II's SolutionTransfer:
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
   * The old handler and its vectors must live until
   * execute_coarsening_and_refinement() has returned.
   *
   * <b>What it computes.</b> A cell takes along the polynomial of its polytope,
   * which is that of its children, too. Where children are coarsened, their
   * polynomials are projected (L2) onto those of the largest of their degrees
   * on the parent. New polytopes project (L2, with the exact mass matrix) what
   * their cells brought. Hence a piecewise polynomial that the new space holds
   * is reproduced up to rounding, also where cells are coarsened, and the
   * integral over every new polytope is that of the old function (new degrees
   * not above the old ones: all moments up to the new degree are). Where a
   * mapping bends cells, mesh changes change the domain: the polynomials go on
   * beyond the old one, and integrals are kept only where cells keep their
   * geometry. Results are the same to the last bit for any number of
   * processes, for the same polytopes.
   *
   * <b>Meshes.</b> parallel::distributed::Triangulation, where data travels
   * with the cells by deal.II's own means (register_data_attach()), and serial
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

    /// To be called after prepare_coarsening_and_refinement(). Several
    /// functions of one handler go together. VectorType:
    /// dealii::Vector<double>, LinearAlgebra::distributed::Vector<double> or
    /// TrilinosWrappers::MPI::Vector. Collective.
    template <typename VectorType>
    void
    prepare_for_coarsening_and_refinement(
      const AgglomerationHandler<dim>       &handler,
      const std::vector<const VectorType *> &solutions);
    template <typename VectorType>
    void
    prepare_for_coarsening_and_refinement(
      const AgglomerationHandler<dim> &handler, const VectorType &solution);

    /// To be called once, after the mesh has changed: @p handler has the new
    /// degrees of freedom, and vectors have their size. Collective.
    template <typename VectorType>
    void
    project(const AgglomerationHandler<dim> &handler,
            const std::vector<VectorType *> &solutions);
    template <typename VectorType>
    void
    project(const AgglomerationHandler<dim> &handler, VectorType &solution);

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_grid_refinement_h
#define tessella_numerics_grid_refinement_h

#include <deal.II/grid/tria.h>
#include <deal.II/lac/vector.h>

#include <tessella/grid/agglomeration_handler.h>

namespace Tessella
{
  /**
   * Marks the cells of polytopes for refinement and coarsening by error
   * indicators, one non-negative value per polytope that this process owns.
   * Functions have the names of their counterparts in dealii::GridRefinement.
   * All cells of a polytope get the same flags; flags that are already set are
   * cleared.
   *
   * On meshes that are distributed over processes functions are collective, and
   * flags do not depend on the number of processes, since decisions are based
   * on exact sums of integers. Cost: 70 reductions of a number, and linear in
   * the number of polytopes on each process.
   */
  namespace GridRefinement
  {
    /**
     * Doerfler's bulk criterion. Refines the smallest set of polytopes with the
     * largest indicators whose share of the sum of eta_k^2 is at least
     * @p top_fraction, and coarsens the largest set of those with the smallest
     * indicators whose share is at most @p bottom_fraction. Polytopes with
     * equal indicators get the same flags. Squares are summed with a resolution
     * of 2^-40 of the largest one.
     */
    template <int dim>
    void
    refine_and_coarsen_fixed_fraction(dealii::Triangulation<dim> &triangulation,
                                      const AgglomerationHandler<dim> &handler,
                                      const dealii::Vector<double> &indicators,
                                      const double top_fraction,
                                      const double bottom_fraction);

    /// Refines @p top_fraction_of_cells of all cells, in the polytopes with the
    /// largest indicators, rounded up to whole polytopes, and coarsens at most
    /// @p bottom_fraction_of_cells.
    template <int dim>
    void
    refine_and_coarsen_fixed_number(dealii::Triangulation<dim> &triangulation,
                                    const AgglomerationHandler<dim> &handler,
                                    const dealii::Vector<double>    &indicators,
                                    const double top_fraction_of_cells,
                                    const double bottom_fraction_of_cells);
  } // namespace GridRefinement
} // namespace Tessella

#endif

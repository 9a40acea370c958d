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
   * indicators, one non-negative number per polytope that this process owns;
   * named after their counterparts in dealii::GridRefinement. All cells of a
   * polytope are marked alike; flags that were set before are cleared.
   *
   * On meshes that are distributed over processes functions are collective, and
   * flags do not depend on the number of processes: decisions are made by exact
   * sums of integers. Cost: 70 reductions of a number, and linear in the number
   * of polytopes on each process.
   */
  namespace GridRefinement
  {
    /**
     * Doerfler's bulk criterion: refines the polytopes with the largest
     * indicators, as few as have @p top_fraction of the sum of eta_k^2, and
     * coarsens those with the smallest, as many as have @p bottom_fraction of
     * it at most. Polytopes with equal indicators are treated alike. (The
     * squares are summed to 2^-40 of the largest one.)
     */
    template <int dim>
    void
    refine_and_coarsen_fixed_fraction(dealii::Triangulation<dim> &triangulation,
                                      const AgglomerationHandler<dim> &handler,
                                      const dealii::Vector<double> &indicators,
                                      const double top_fraction,
                                      const double bottom_fraction);

    /// Refines that fraction of all cells, in the polytopes with the largest
    /// indicators (one polytope more where it does not come out even), and
    /// coarsens at most the other fraction.
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

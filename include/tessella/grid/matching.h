// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_grid_matching_h
#define tessella_grid_matching_h

#include <tessella/grid/agglomeration.h>

#include <vector>

namespace Tessella
{
  namespace Agglomeration
  {
    /**
     * Joins cells pairwise along the dual graph, and the pairs again, until
     * @p n_polytopes polytopes are left, all of which are connected through
     * faces. It runs on all threads, with the same result for any number of
     * them, and is several times faster than metis() on one thread.
     *
     * Each step is a matching of cells (or groups of them) with one neighbour
     * each: in rounds, all select the neighbour with the most common faces,
     * relative to the product of both weights, and pairs that select each other
     * are joined. On the way back from the polytopes to the cells, groups of
     * cells and finally cells move between neighbouring polytopes where that
     * lowers the number of faces between polytopes plus 0.7 times the sum of
     * the squares of the deviations from the mean weight, and leaves both
     * polytopes connected. Each round carries out moves that concern different
     * polytopes. In the first rounds of a level, pseudo-random numbers are
     * added to the gains, which leads out of local minima.
     *
     * Polytopes of four to sixty cells have about as many faces between them as
     * those of metis(), from 4 % less (tetrahedra) to 2 % more (hexahedra), and
     * sizes of which most are within one cell of the mean. Sizes less than
     * three quarters or more than five quarters of it remain only where no
     * neighbour can give or take a cell. @p weights is as in metis().
     *
     * Throws an exception if the mesh consists of more than @p n_polytopes
     * pieces that share no face. On a distributed triangulation the cells of a
     * process may lie in many pieces: a process with more pieces than its share
     * of polytopes makes each of them a polytope.
     *
     * Cost: linear in the number of cells, 2 to 4 microseconds a cell on one
     * thread.
     */
    template <int dim>
    Strategy<dim>
    matching(const unsigned int               n_polytopes,
             const std::vector<unsigned int> &weights = {});
  } // namespace Agglomeration
} // namespace Tessella

#endif

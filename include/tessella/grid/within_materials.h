// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_grid_within_materials_h
#define tessella_grid_within_materials_h

#include <tessella/grid/agglomeration.h>

namespace Tessella
{
  namespace Agglomeration
  {
    /**
     * Applies @p strategy and splits its polytopes where the material id
     * changes, so that no polytope has cells of two materials. This is meant
     * for coefficients that jump by orders of magnitude between materials: a
     * polynomial on a polytope that contains the jump resolves neither side,
     * and multigrid then needs many iterations.
     *
     * Parts of a polytope need not be connected and may be small. For repair(),
     * its option min_cells must stay 1 here, since larger values merge
     * materials again. Cost: n log n.
     */
    template <int dim>
    Strategy<dim>
    within_materials(const Strategy<dim> &strategy);
  } // namespace Agglomeration
} // namespace Tessella

#endif

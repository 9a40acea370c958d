// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_numerics_same_polytopes_h
#define tessella_source_numerics_same_polytopes_h

#include <tessella/grid/agglomeration_handler.h>

namespace Tessella
{
  namespace internal
  {
    /// Whether two handlers have the same polytopes, in the same order, on this
    /// process.
    template <int dim>
    bool
    have_same_polytopes(const AgglomerationHandler<dim> &one,
                        const AgglomerationHandler<dim> &two)
    {
      if (&one == &two)
        return true;
      const PolytopicMesh<dim> &a = one.polytopic_mesh(),
                               &b = two.polytopic_mesh();
      return &one.get_triangulation() == &two.get_triangulation() &&
             a.subcell_offset == b.subcell_offset &&
             a.subcell_cell == b.subcell_cell && a.box == b.box;
    }
  } // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_flow_same_polytopes_h
#define tessella_source_flow_same_polytopes_h

#include <tessella/grid/agglomeration_handler.h>

#include <vector>

namespace Tessella
{
  namespace internal
  {
    /// Strategy that gives another handler the polytopes of @p handler, for a
    /// second space on them.
    template <int dim>
    Agglomeration::Strategy<dim>
    polytopes_of(const AgglomerationHandler<dim> &handler)
    {
      const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
      std::vector<unsigned int> ids(
        handler.get_triangulation().n_active_cells(), 0);
      for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
        for (unsigned int s = mesh.subcell_offset[k];
             s < mesh.subcell_offset[k + 1];
             ++s)
          ids[mesh.subcell_cell[s]] = k;
      return Agglomeration::by_id<dim>(ids);
    }
  } // namespace internal
} // namespace Tessella

#endif

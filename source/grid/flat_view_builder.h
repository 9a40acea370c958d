// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_flat_view_builder_h
#define tessella_source_grid_flat_view_builder_h

#include <deal.II/fe/mapping.h>
#include <deal.II/grid/tria.h>

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/polytopic_mesh.h>

#include <vector>

#include "cell_shapes.h"

namespace Tessella
{
  namespace internal
  {
    /// Polytopes of the cells, and orders that do not depend on the partition.
    struct PolytopeNumbering
    {
      /// Polytope of each active cell. With several processes, ghost polytopes
      /// come last, and cells that belong neither to an owned nor to a ghost
      /// polytope have the id invalid_index.
      std::vector<unsigned int> ids;
      /// Position of each active cell in the order of CellId; empty if that is
      /// the order of the active cells.
      std::vector<unsigned int> position;
      /// Position of each polytope in the order of the first cells; empty if
      /// that is the order of the ids.
      std::vector<unsigned int> order;
      unsigned int              n_polytopes = 0, n_owned = 0;
    };

    template <int dim>
    struct FlatView
    {
      PolytopicMesh<dim> mesh;
      /// Facets to tabulate, in increasing order.
      std::vector<CurvedFacet> curved_facets;
      unsigned int             n_curved_cells;
    };

    template <int dim>
    FlatView<dim>
    build_flat_view(const dealii::Triangulation<dim> &triangulation,
                    const ActiveCells<dim>           &cells,
                    const dealii::Mapping<dim>       *mapping,
                    const PolytopeNumbering          &numbering);
  } // namespace internal
} // namespace Tessella

#endif

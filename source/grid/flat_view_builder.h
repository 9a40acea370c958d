// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_flat_view_builder_h
#define tessella_source_grid_flat_view_builder_h

#include <deal.II/fe/mapping.h>
#include <deal.II/grid/tria.h>

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/polytopic_mesh.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "cell_shapes.h"
#include "curved_geometry.h"
#include "periodic_shifts.h"

namespace Tessella
{
  namespace internal
  {
    /// Writes @p next and the following numbers as positions of the active
    /// descendants of @p cell, depth first. Repeated for the coarse cells in
    /// their order, this is the order of CellId.
    template <int dim>
    void
    number_descendants(
      const typename dealii::Triangulation<dim>::cell_iterator &cell,
      unsigned int                                             &next,
      std::vector<unsigned int>                                &position);

    /**
     * Builds the flat view of polytopes.
     *
     * The layout is found by counting: cells are sorted into their polytopes,
     * each face between two polytopes becomes a record of the first of the two
     * polytopes, and the records are sorted polytope by polytope. The work of
     * each step is linear in the number of cells and runs in parallel over
     * polytopes or cells. The result does not depend on the number of threads.
     *
     * With several processes, ghost polytopes come last, and cells that belong
     * neither to an owned nor to a ghost polytope have the id invalid_index.
     */
    template <int dim>
    class FlatViewBuilder
    {
    public:
      using CellIterator = typename dealii::Triangulation<dim>::cell_iterator;
      using ActiveCellIterator =
        typename dealii::Triangulation<dim>::active_cell_iterator;

      /// @p ids: the polytope of each of the active @p cells. @p position and
      /// @p order: positions of the cells, and of the polytopes, that do not
      /// depend on the partition. If @p order is empty, there is one process,
      /// and orders are those of the indices. The arguments must outlive the
      /// builder.
      FlatViewBuilder(const dealii::Triangulation<dim>      &triangulation,
                      const std::vector<ActiveCellIterator> &cells,
                      const dealii::Mapping<dim>            *mapping,
                      const std::vector<unsigned int>       &ids,
                      const std::vector<unsigned int>       &position,
                      const std::vector<unsigned int>       &order,
                      const unsigned int                     n_polytopes,
                      const unsigned int                     n_owned);

      void
      build();

      unsigned int
      n_curved_cells() const
      {
        return curved.n_curved();
      }

      PolytopicMesh<dim> view;
      /// Facets to tabulate, in increasing order.
      std::vector<CurvedFacet> curved_facets;

    private:
      /// One facet, before the facets are sorted.
      struct Record
      {
        std::uint64_t key;      ///< see interface_key() and boundary_key()
        unsigned int  first;    ///< sub-cell on side 0
        unsigned int  position; ///< of the finer cell of a hanging facet
        unsigned int  second;   ///< sub-cell on side 1, or invalid_index
        std::uint8_t  first_face;
        std::uint8_t  face; ///< of the sub-cell that determines the geometry
        std::uint8_t  side; ///< side of that sub-cell

        bool
        operator<(const Record &other) const;
      };

      /// Range of polytopes that one task works on, and what it collects.
      struct Part
      {
        unsigned int begin, end;
        /// Records of these polytopes, in their order.
        std::vector<Record> records;
        /// Polytopes of any range, and their records.
        std::vector<std::pair<unsigned int, Record>> foreign;
      };

      /// Face of a sub-cell.
      struct Face
      {
        unsigned int polytope, subcell, cell;
        std::uint8_t number;
      };

      // ---- stages of build(), in this order
      void
      sort_cells_into_polytopes();
      void
      allocate_subcells();
      void
      divide_into_parts();
      /// Places the sub-cells of a range of polytopes and collects their
      /// facets.
      void
      work_on_part(Part &part);
      /// Gathers the records of all parts, sorted polytope by polytope.
      void
      sort_records();
      void
      allocate_interfaces();
      void
      fill_interfaces();
      /// Lists the curved facets and replaces their geometry.
      void
      fill_curved_facets();
      /// Lists the interfaces of each polytope: neighbours of lower index (the
      /// polytope is on side 1), then the polytope itself across a periodic
      /// boundary, then neighbours of higher index and boundaries (the polytope
      /// is on side 0).
      void
      list_interfaces_of_polytopes();

      // ---- parts of work_on_part()
      /// Writes geometry and material of a sub-cell, enlarges the box of its
      /// polytope and returns its measure.
      double
      place_subcell(const unsigned int polytope, const unsigned int subcell);
      void
      collect_facets(const unsigned int polytope,
                     const unsigned int subcell,
                     Part              &part) const;
      void
      add_interior_facet(const Face &face, Part &part) const;
      void
      add_periodic_facet(const Face         &face,
                         const CellIterator &neighbor,
                         const unsigned int  neighbor_face,
                         Part               &part) const;
      void
      add_boundary_facet(const Face &face, Part &part) const;

      // ---- parts of other stages
      /// Moves the records of a part to their place and sorts them. @p fill:
      /// ends of the places, polytope by polytope.
      void
      sort_part(Part &part, const std::vector<unsigned int> &fill);
      void
      fill_interface(const unsigned int interface,
                     const unsigned int polytope,
                     const unsigned int first_facet);
      void
      fill_facet(const unsigned int facet, const unsigned int interface);
      void
      sort_interfaces_of_polytopes();

      // ---- queries
      /// Whether polytope @p k is on side 0 of its interface with @p other.
      bool
      is_before(const unsigned int k, const unsigned int other) const
      {
        return order.empty() ? k < other : order[k] < order[other];
      }
      /// Whether the facets between two polytopes are stored: a ghost keeps
      /// only those that it shares with an owned polytope.
      bool
      is_wanted(const unsigned int k, const unsigned int other) const
      {
        return k < n_owned || other < n_owned;
      }
      const CellShape<dim> &
      shape_of(const unsigned int cell) const
      {
        return only_shape != nullptr ? *only_shape
                                     : shapes(cells[cell]->reference_cell());
      }
      /// Cell that determines the geometry of a facet.
      unsigned int
      source_cell(const Record &r) const
      {
        return view.subcell_cell[r.side == 0 ? r.first : r.second];
      }
      /// Vertices of a cell as the mapping places them.
      void
      cell_vertices(const unsigned int    cell,
                    const CellShape<dim> &shape,
                    double               *v) const;

      const dealii::Triangulation<dim>      &triangulation;
      const std::vector<ActiveCellIterator> &cells;
      const std::vector<unsigned int>       &ids;
      /// Position of each active cell in the order of CellId; empty if that is
      /// the order of the active cells.
      std::vector<unsigned int>        position;
      const std::vector<unsigned int> &order;
      const unsigned int               n_polytopes, n_owned;
      const CellShapes<dim>           &shapes;
      /// Null pointer if there are several types of cells.
      const CellShape<dim>     *only_shape;
      const CurvedGeometry<dim> curved;
      const PeriodicShifts<dim> periodic;

      // ---- intermediate tables
      std::vector<unsigned int> subcell_of_cell;
      std::vector<Part>         parts;
      /// First record of each polytope, and all records.
      std::vector<unsigned int> record_offset;
      std::vector<Record>       records;
      /// First interface with each polytope on side 0.
      std::vector<unsigned int> interface_offset;
    };
  } // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_curved_geometry_h
#define tessella_source_grid_curved_geometry_h

#include <deal.II/fe/mapping.h>
#include <deal.II/grid/tria.h>

#include <tessella/grid/mesh_types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cell_shapes.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Cells and faces that the user's mapping makes curved, and vertices that
     * it moves. Without a mapping, no cell is curved.
     *
     * A cell is curved if points of a lattice that determines polynomials of
     * the mapping's degree are mapped off the (multi)linear interpolation of
     * the mapped vertices. Cells on which MappingQ uses only flat manifolds are
     * skipped.
     */
    template <int dim>
    class CurvedGeometry
    {
    public:
      CurvedGeometry(const dealii::Triangulation<dim> &triangulation,
                     const ActiveCells<dim>           &cells,
                     const CellShapes<dim>            &shapes,
                     const dealii::Mapping<dim>       *mapping);

      bool
      has_vertices() const
      {
        return !vertex_coordinates.empty();
      }

      /// Writes the mapped vertices of active cell @p c.
      void
      vertices(const unsigned int c, double *v) const
      {
        std::copy_n(vertex_coordinates.data() + std::size_t(c) * (dim << dim),
                    dim << dim,
                    v);
      }

      unsigned int
      n_curved() const
      {
        return static_cast<unsigned int>(curved.size());
      }

      bool
      is_curved(const unsigned int c) const
      {
        return !number.empty() && number[c] != invalid_index;
      }

      bool
      is_curved_face(const unsigned int c, const unsigned int f) const
      {
        return is_curved(c) && ((curved[number[c]].faces >> f) & 1u);
      }

      /// Volume of a curved cell; negative if the mapping folds it. A
      /// MappingQuadratic is checked in all points, any other one in the points
      /// of a quadrature rule.
      double
      measure(const unsigned int c) const
      {
        return curved[number[c]].measure;
      }

      /// Extends a box (lower corner, upper corner) to contain cell @p c.
      void
      enlarge_box(const unsigned int c, double *box) const
      {
        const CurvedCell &cell = curved[number[c]];
        for (int d = 0; d < dim; ++d)
          {
            box[d]       = std::min(box[d], cell.box[d]);
            box[dim + d] = std::max(box[dim + d], cell.box[dim + d]);
          }
      }

      /// Integral of the outward unit normal, and area, of the curved faces
      /// that are given as pairs of cell and face.
      std::vector<std::array<double, dim + 1>>
      face_integrals(
        const std::vector<std::pair<unsigned int, unsigned int>> &faces) const;

    private:
      /// Fills number, the list of curved cells with their curved faces, and
      /// the mapped vertices.
      void
      find_curved_cells(const dealii::Triangulation<dim> &triangulation);
      /// Finds boxes and measures of the curved cells.
      void
      measure_curved_cells(const dealii::Triangulation<dim> &triangulation);

      const ActiveCells<dim>     &cells;
      const CellShapes<dim>      &shapes;
      const dealii::Mapping<dim> *mapping;
      unsigned int                degree;

      struct CurvedCell
      {
        unsigned int                cell;
        std::uint8_t                faces; ///< bit f: face f is curved
        double                      measure;
        std::array<double, 2 * dim> box;
      };

      /// Mapped vertices, 2^dim points per cell.
      std::vector<double> vertex_coordinates;
      /// Index of each cell among the curved cells, or invalid_index.
      std::vector<unsigned int> number;
      std::vector<CurvedCell>   curved;
    };
  } // namespace internal
} // namespace Tessella

#endif

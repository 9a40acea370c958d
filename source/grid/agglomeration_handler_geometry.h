// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_agglomeration_handler_geometry_h
#define tessella_source_grid_agglomeration_handler_geometry_h

#include <deal.II/fe/mapping.h>
#include <deal.II/grid/reference_cell.h>
#include <deal.II/grid/tria.h>

#include <tessella/grid/polytopic_mesh.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

// Cell geometry that AgglomerationHandler uses internally; not installed.

namespace Tessella
{
  namespace internal
  {
    /// Vertices and faces of a cell type, in the layout of the flat view.
    template <int dim>
    struct CellShape
    {
      Compatibility::ReferenceCell<dim> type;
      unsigned int                      n_vertices, n_faces;
      bool                              is_simplex;
      /// Vertices of the sub-cell in terms of those of the cell. The sub-cell
      /// is a simplex, or a hypercube that may have coinciding vertices.
      unsigned int                n_corners;
      std::array<unsigned int, 8> corner;
      /// Vertices of each face: their order yields the outward normal and is
      /// lexicographic on quadrilaterals.
      std::array<unsigned int, 6>                n_face_vertices;
      std::array<std::array<unsigned int, 4>, 6> face;

      /// Whether the simplex with vertices @p v has the opposite orientation.
      bool
      is_inverted(const double *v) const
      {
        double e[dim][dim];
        for (int j = 0; j < dim; ++j)
          for (int i = 0; i < dim; ++i)
            e[j][i] = v[(j + 1) * dim + i] - v[i];
        if constexpr (dim == 2)
          return e[0][0] * e[1][1] - e[0][1] * e[1][0] < 0.;
        else
          return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                   e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                   e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]) <
                 0.;
      }
    };

    /// CellShape of every cell type of dimension dim.
    template <int dim>
    class CellShapes
    {
    public:
      CellShapes();

      const CellShape<dim> &
      operator()(const Compatibility::ReferenceCell<dim> &type) const;

    private:
      std::vector<CellShape<dim>> shapes;
    };

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
      CurvedGeometry(
        const dealii::Triangulation<dim> &triangulation,
        const std::vector<
          typename dealii::Triangulation<dim>::active_cell_iterator> &cells,
        const CellShapes<dim>                                        &shapes,
        const dealii::Mapping<dim>                                   *mapping);

      bool
      has_vertices() const
      {
        return !vertex_coordinates.empty();
      }

      /// Writes the mapped vertices of active cell @p c.
      void
      vertices(const unsigned int c, double *v) const
      {
        const double *first =
          vertex_coordinates.data() + std::size_t(c) * (dim << dim);
        for (unsigned int i = 0; i < (dim << dim); ++i)
          v[i] = first[i];
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

      /// Volume of a curved cell; negative if the mapping folds it.
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
      const std::vector<
        typename dealii::Triangulation<dim>::active_cell_iterator> &cells;
      const CellShapes<dim>                                        &shapes;
      const dealii::Mapping<dim>                                   *mapping;
      unsigned int                                                  degree;

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

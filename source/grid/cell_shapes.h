// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_cell_shapes_h
#define tessella_source_grid_cell_shapes_h

#include <deal.II/base/point.h>
#include <deal.II/base/tensor.h>

#include <deal.II/grid/tria.h>

#include <tessella/base/compatibility.h>
#include <tessella/grid/mesh_types.h>
#include <tessella/portable/geometry.h>

#include <array>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    using ActiveCells =
      std::vector<typename dealii::Triangulation<dim>::active_cell_iterator>;

    /// Vertices and faces of a cell type, in the layout of the flat view.
    template <int dim>
    struct CellShape
    {
      explicit CellShape(const Compatibility::ReferenceCell<dim> &type);

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

      /// Whether the cell is a hypercube with coinciding vertices.
      bool
      is_collapsed() const
      {
        return !is_simplex && n_vertices != (1u << dim);
      }

      /// Whether the simplex with vertices @p v has the opposite orientation.
      bool
      is_inverted(const double *v) const
      {
        double e[dim][dim];
        for (int j = 0; j < dim; ++j)
          for (int i = 0; i < dim; ++i)
            e[j][i] = v[(j + 1) * dim + i] - v[i];
        return Geometry::determinant(e) < 0.;
      }

      /// Vertices of face @p f of the reference cell.
      std::array<dealii::Point<dim>, 4>
      face_vertices(const unsigned int f) const
      {
        std::array<dealii::Point<dim>, 4> p;
        for (unsigned int v = 0; v < n_face_vertices[f]; ++v)
          p[v] = Compatibility::vertex<dim>(type, face[f][v]);
        return p;
      }

    private:
      /// Orders the vertices of face @p f as described at the member face.
      void
      order_face(const unsigned int f, const dealii::Point<dim> &centre);
    };

    /// Normal of a face with the first vertices @p p. Its length is that of the
    /// edge, or the area of the parallelogram.
    template <int dim>
    dealii::Tensor<1, dim>
    normal_of_face(const std::array<dealii::Point<dim>, 4> &p)
    {
      const dealii::Tensor<1, dim> t = p[1] - p[0];
      if constexpr (dim == 2)
        {
          dealii::Tensor<1, dim> normal;
          normal[0] = t[1];
          normal[1] = -t[0];
          return normal;
        }
      else
        return dealii::cross_product_3d(t, dealii::Tensor<1, dim>(p[2] - p[0]));
    }

    /// CellShape of every cell type of dimension dim.
    template <int dim>
    class CellShapes
    {
    public:
      /// The shapes are the same for all meshes.
      static const CellShapes &
      get();

      const CellShape<dim> &
      operator()(const Compatibility::ReferenceCell<dim> &type) const;

    private:
      CellShapes();

      std::vector<CellShape<dim>> shapes;
    };

    /// Type and measure of a sub-cell.
    struct SubCellGeometry
    {
      SubCellType type;
      double      measure;
      bool        valid; ///< false if it has no volume or is turned inside out
    };

    /// Analyses the corners @p v of a simplex or a multilinear hypercube. A
    /// simplex of the opposite orientation is reordered, which changes only the
    /// sign of its determinant.
    template <int dim>
    SubCellGeometry
    analyse_subcell(const bool is_simplex, double *v);

    /// Mean unit normal and area of a facet with vertices @p v.
    template <int dim>
    void
    facet_geometry(const unsigned int n_vertices,
                   const double      *v,
                   double            *normal,
                   double            &measure);
  } // namespace internal
} // namespace Tessella

#endif

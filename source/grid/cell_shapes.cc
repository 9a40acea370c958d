// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "cell_shapes.h"

#include <deal.II/grid/reference_cell.h>

#include <tessella/base/exceptions.h>

#include <utility>

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    CellShape<dim>::CellShape(const Compatibility::ReferenceCell<dim> &type)
      : type(type)
      , n_vertices(type.n_vertices())
      , n_faces(type.n_faces())
      , is_simplex(type.is_simplex())
      , n_corners(is_simplex ? dim + 1 : 1u << dim)
    {
      if (is_simplex)
        corner = {{0, 1, 2, 3}};
      else if (n_vertices == 5) // pyramid
        corner = {{0, 1, 2, 3, 4, 4, 4, 4}};
      else if (n_vertices == 6) // wedge
        corner = {{0, 1, 2, 2, 3, 4, 5, 5}};
      else
        corner = {{0, 1, 2, 3, 4, 5, 6, 7}};

      dealii::Point<dim> centre;
      for (unsigned int v = 0; v < n_vertices; ++v)
        centre += Compatibility::vertex<dim>(type, v);
      centre /= n_vertices;

      for (unsigned int f = 0; f < n_faces; ++f)
        {
          n_face_vertices[f] = type.face_reference_cell(f).n_vertices();
          for (unsigned int v = 0; v < n_face_vertices[f]; ++v)
            face[f][v] = Compatibility::face_to_cell_vertex<dim>(type, f, v);
          order_face(f, centre);
        }
    }



    template <int dim>
    void
    CellShape<dim>::order_face(const unsigned int        f,
                               const dealii::Point<dim> &centre)
    {
      std::array<dealii::Point<dim>, 4> p = face_vertices(f);
      if (n_face_vertices[f] == 4)
        {
          // In lexicographic order, vertex 3 lies opposite to vertex 0.
          unsigned int opposite = 3;
          for (unsigned int v = 1; v < 4; ++v)
            {
              const dealii::Point<dim> a = p[v == 1 ? 2 : 1],
                                       b = p[v == 3 ? 2 : 3];
              if ((p[0] + p[v] - a - b).norm() < 1e-10)
                opposite = v;
            }
          std::swap(face[f][3], face[f][opposite]);
          std::swap(p[3], p[opposite]);
        }
      // The order of the vertices has to yield the outward normal.
      if (normal_of_face(p) * (p[0] - centre) < 0.)
        std::swap(face[f][dim - 2], face[f][dim - 1]);
    }



    template <int dim>
    CellShapes<dim>::CellShapes()
    {
      namespace RC = dealii::ReferenceCells;
      std::vector<Compatibility::ReferenceCell<dim>> types;
      if constexpr (dim == 2)
        types = {RC::Triangle, RC::Quadrilateral};
      else
        types = {RC::Tetrahedron, RC::Pyramid, RC::Wedge, RC::Hexahedron};
      for (const auto &type : types)
        shapes.emplace_back(type);
    }



    template <int dim>
    const CellShapes<dim> &
    CellShapes<dim>::get()
    {
      static const CellShapes<dim> shapes;
      return shapes;
    }



    template <int dim>
    const CellShape<dim> &
    CellShapes<dim>::operator()(
      const Compatibility::ReferenceCell<dim> &type) const
    {
      for (const CellShape<dim> &shape : shapes)
        if (shape.type == type)
          return shape;
      AssertThrow(false,
                  ExcUserInput("The mesh has cells of the type " +
                               type.to_string() +
                               ", which polytopes cannot be made of."));
      return shapes[0];
    }

    template struct CellShape<2>;
    template struct CellShape<3>;
    template class CellShapes<2>;
    template class CellShapes<3>;
  } // namespace internal
} // namespace Tessella

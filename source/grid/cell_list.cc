// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "cell_list.h"

#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria_accessor.h>
#include <deal.II/grid/tria_description.h>
#include <deal.II/grid/tria_iterator.h>

#include <algorithm>
#include <cmath>

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      // Triangles of a quadrilateral. The shorter diagonal divides it; of equal
      // ones that through the vertex that is first by (x, |y|), which keeps
      // symmetry to y = 0.
      void
      cut(const CellList<2>                 &list,
          const std::array<unsigned int, 4> &cell,
          std::vector<dealii::CellData<2>>  &simplices)
      {
        const auto point = [&](const unsigned int i) {
          return list.vertices[cell[i]].point;
        };
        const double a = point(0).distance(point(3)),
                     b = point(1).distance(point(2));
        bool first     = a < b;
        if (std::abs(a - b) < 1e-6 * (a + b))
          {
            unsigned int best = 0;
            for (unsigned int i = 1; i < 4; ++i)
              {
                const double tolerance = 1e-6 * (a + b),
                             x         = point(i)[0] - point(best)[0];
                if (x < -tolerance ||
                    (x < tolerance &&
                     std::abs(point(i)[1]) < std::abs(point(best)[1])))
                  best = i;
              }
            first = best == 0 || best == 3;
          }
        const unsigned int triangles[2][2][3] = {{{0, 1, 2}, {3, 2, 1}},
                                                 {{0, 1, 3}, {0, 3, 2}}};
        for (const auto &triangle : triangles[first])
          {
            dealii::CellData<2> data(3);
            for (unsigned int v = 0; v < 3; ++v)
              data.vertices[v] = cell[triangle[v]];
            simplices.push_back(data);
          }
      }



      // Tetrahedra of a hexahedron: pyramids of its first vertex and the three
      // faces that do not have it. The diagonal of a face begins at its first
      // vertex, so that neighbours agree.
      void
      cut(const CellList<3> &,
          const std::array<unsigned int, 8> &cell,
          std::vector<dealii::CellData<3>>  &simplices)
      {
        const unsigned int first =
          std::min_element(cell.begin(), cell.end()) - cell.begin();
        for (unsigned int d = 0; d < 3; ++d)
          {
            // Corners of the face in cyclic order.
            const unsigned int a = 1u << ((d + 1) % 3), b = 1u << ((d + 2) % 3),
                               c       = (~first) & (1u << d);
            const unsigned int face[4] = {c, c + a, c + a + b, c + b};
            unsigned int       least   = 0;
            for (unsigned int i = 1; i < 4; ++i)
              if (cell[face[i]] < cell[face[least]])
                least = i;
            for (unsigned int i = 1; i < 3; ++i)
              {
                dealii::CellData<3> data(4);
                data.vertices = {cell[first],
                                 cell[face[least]],
                                 cell[face[(least + i) % 4]],
                                 cell[face[(least + i + 1) % 4]]};
                simplices.push_back(data);
              }
          }
      }



      template <int dim>
      void
      orient(const std::vector<dealii::Point<dim>> &points,
             dealii::CellData<dim>                 &simplex)
      {
        dealii::Tensor<2, dim> edges;
        for (int d = 0; d < dim; ++d)
          edges[d] =
            points[simplex.vertices[d + 1]] - points[simplex.vertices[0]];
        if (dealii::determinant(edges) < 0.)
          std::swap(simplex.vertices[dim - 1], simplex.vertices[dim]);
        if constexpr (dim == 3)
          {
            // Refinement divides the octahedron in the middle by the line from
            // the middle of edge 0-2 to that of edge 1-3 (deal.II 9.4). It is
            // made the shortest one: a longer one may be on the wrong side of
            // vertices that refinement moves onto a curve. Cyclic permutations
            // of three vertices keep the orientation.
            const auto line = [&](const unsigned int i) {
              const auto        &v = simplex.vertices;
              const unsigned int j = i % 3 + 1, k = j % 3 + 1;
              return (points[v[0]] + points[v[i]] - points[v[j]] - points[v[k]])
                .norm();
            };
            unsigned int best = 2;
            for (const unsigned int i : {1, 3})
              if (line(i) < line(best) * (1. - 1e-6))
                best = i;
            std::rotate(simplex.vertices.begin() + 1,
                        simplex.vertices.begin() + 1 + (best + 1) % 3,
                        simplex.vertices.end());
          }
      }



      // Whether all vertices of a cell, face or line have a property.
      template <typename Vertices, typename Object>
      bool
      all_of(const Vertices &vertices, const Object &object, const bool body)
      {
        for (const unsigned int v : object->vertex_indices())
          {
            const auto &vertex = vertices[object->vertex_index(v)];
            if (!(body ? vertex.body : vertex.curved))
              return false;
          }
        return true;
      }
    } // namespace



    template <int dim>
    void
    CellList<dim>::create(dealii::Triangulation<dim>  &triangulation,
                          const bool                   simplices,
                          const BoundaryId            &boundary_id,
                          const dealii::Manifold<dim> *manifold) const
    {
      std::vector<dealii::Point<dim>> points;
      for (const Vertex &vertex : vertices)
        points.push_back(vertex.point);
      std::vector<dealii::CellData<dim>> data;
      for (const auto &cell : cells)
        if (simplices)
          cut(*this, cell, data);
        else
          {
            data.emplace_back(1u << dim);
            data.back().vertices.assign(cell.begin(), cell.end());
          }
      if (simplices)
        for (dealii::CellData<dim> &simplex : data)
          orient(points, simplex);
      else
        {
          dealii::GridTools::invert_cells_with_negative_measure(points, data);
          dealii::GridTools::consistently_order_cells(data);
        }
      triangulation.create_triangulation(points, data, dealii::SubCellData());

      for (const auto &cell : triangulation.active_cell_iterators())
        for (const unsigned int f : cell->face_indices())
          if (cell->face(f)->at_boundary())
            {
              std::vector<dealii::Point<dim>> corners;
              for (const unsigned int v : cell->face(f)->vertex_indices())
                corners.push_back(cell->face(f)->vertex(v));
              cell->face(f)->set_boundary_id(
                all_of(vertices, cell->face(f), true) ? 2
                                                      : boundary_id(corners));
            }
      if (manifold == nullptr)
        return;
      triangulation.set_manifold(1, *manifold);
      for (const auto &cell : triangulation.active_cell_iterators())
        {
          if (all_of(vertices, cell, false))
            cell->set_manifold_id(1);
          for (const unsigned int f : cell->face_indices())
            if (all_of(vertices, cell->face(f), false))
              cell->face(f)->set_manifold_id(1);
          for (const unsigned int l : cell->line_indices())
            if (all_of(vertices, cell->line(l), false))
              cell->line(l)->set_manifold_id(1);
        }
    }



    CellList<3>
    extrude(const CellList<2> &list, const double depth, const unsigned int n)
    {
      CellList<3>        result;
      const unsigned int n_vertices = list.vertices.size();
      for (unsigned int k = 0; k <= n; ++k)
        for (const auto &vertex : list.vertices)
          result.vertices.push_back(
            {dealii::Point<3>(vertex.point[0], vertex.point[1], k * depth / n),
             vertex.body,
             vertex.curved});
      for (unsigned int k = 0; k < n; ++k)
        for (const auto &cell : list.cells)
          {
            std::array<unsigned int, 8> c;
            for (unsigned int v = 0; v < 8; ++v)
              c[v] = cell[v % 4] + (k + v / 4) * n_vertices;
            result.cells.push_back(c);
          }
      return result;
    }

    template struct CellList<2>;
    template struct CellList<3>;
  } // namespace internal
} // namespace Tessella

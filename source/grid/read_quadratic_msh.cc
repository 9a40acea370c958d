// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>

#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria_accessor.h>
#include <deal.II/grid/tria_description.h>
#include <deal.II/grid/tria_iterator.h>

#include <tessella/base/error_message.h>
#include <tessella/base/exceptions.h>
#include <tessella/grid/read_quadratic_msh.h>

#include <algorithm>
#include <map>

#include "msh_elements.h"

namespace Tessella
{
  bool
  is_quadratic_msh(const std::string &file, const int dim)
  {
    if (file.size() < 4 || file.compare(file.size() - 4, 4, ".msh") != 0)
      return false;
    try
      {
        const internal::MshFile msh(file);
        for (const internal::MshElement &element : msh.elements)
          {
            const auto &type = internal::msh_element_type(element.type);
            if (type.dimension == dim && type.order == 2)
              return true;
          }
      }
    catch (const std::exception &)
      {}
    return false;
  }

  namespace
  {
    // gmsh's corners in deal.II's order.
    const std::vector<unsigned int> &
    corner_order(const char shape)
    {
      static const std::vector<unsigned int> simplex    = {0, 1, 2, 3},
                                             quadrangle = {0, 1, 3, 2},
                                             hexahedron = {
                                               0, 1, 3, 2, 4, 5, 7, 6};
      return shape == 'H' ? hexahedron : shape == 'q' ? quadrangle : simplex;
    }

    unsigned int
    n_corners(const char shape)
    {
      return shape == 'l' ? 2 : shape == 't' ? 3 : shape == 'H' ? 8 : 4;
    }

    // Corners, as numbers of gmsh, around each node that is no corner.
    const std::vector<std::vector<unsigned int>> &
    neighbors_of_nodes(const char shape)
    {
      using List = std::vector<std::vector<unsigned int>>;
      static const List
        line        = {{0, 1}},
        triangle    = {{0, 1}, {1, 2}, {2, 0}},
        tetrahedron = {{0, 1}, {1, 2}, {2, 0}, {3, 0}, {2, 3}, {1, 3}},
        quadrangle  = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 1, 2, 3}},
        hexahedron  = {{0, 1},
                       {0, 3},
                       {0, 4},
                       {1, 2},
                       {1, 5},
                       {2, 3},
                       {2, 6},
                       {3, 7},
                       {4, 5},
                       {4, 7},
                       {5, 6},
                       {6, 7},
                       {0, 1, 2, 3},
                       {0, 1, 4, 5},
                       {0, 3, 4, 7},
                       {1, 2, 5, 6},
                       {2, 3, 6, 7},
                       {4, 5, 6, 7},
                       {0, 1, 2, 3, 4, 5, 6, 7}};
      return shape == 'l'   ? line
             : shape == 't' ? triangle
             : shape == 'T' ? tetrahedron
             : shape == 'q' ? quadrangle
                            : hexahedron;
    }

    // Builds the triangulation and the table of nodes.
    template <int dim>
    class QuadraticMesh
    {
    public:
      explicit QuadraticMesh(const internal::MshFile &msh)
        : msh(msh)
        , vertex_of_node(msh.nodes.size(),
                         dealii::numbers::invalid_unsigned_int)
      {
        for (const internal::MshElement &element : msh.elements)
          if (internal::msh_element_type(element.type).dimension == dim)
            add_cell(element);
        AssertThrow(!cells.empty(),
                    ExcUserInput("it has no cells of dimension " +
                                 std::to_string(dim)));
        for (const internal::MshElement &element : msh.elements)
          if (internal::msh_element_type(element.type).dimension == dim - 1)
            add_face(element);
      }

      std::unique_ptr<MappingQuadratic<dim>>
      create(dealii::Triangulation<dim> &triangulation)
      {
        if (shape == 'q' || shape == 'H')
          {
            dealii::GridTools::invert_cells_with_negative_measure(vertices,
                                                                  cells);
            dealii::GridTools::consistently_order_cells(cells);
          }
        triangulation.create_triangulation(vertices, cells, faces);
        std::vector<dealii::Point<dim>> nodes;
        for (const auto &cell : triangulation.cell_iterators_on_level(0))
          append_nodes(cell, nodes);
        return std::make_unique<MappingQuadratic<dim>>(triangulation,
                                                       std::move(nodes));
      }

      /// Number of the element of a cell of level 0.
      std::size_t
      tag(const unsigned int cell) const
      {
        return tags[cell];
      }

    private:
      using CellIterator = typename dealii::Triangulation<dim>::cell_iterator;

      dealii::Point<dim>
      point(const std::size_t node) const
      {
        dealii::Point<dim> p;
        for (int d = 0; d < dim; ++d)
          p[d] = msh.nodes[node][d];
        return p;
      }

      void
      add_cell(const internal::MshElement &element)
      {
        const auto &type = internal::msh_element_type(element.type);
        AssertThrow(type.shape != 'o',
                    ExcUserInput("it has wedges or pyramids of second order, "
                                 "which are not supported"));
        if (cells.empty())
          shape = type.shape;
        AssertThrow(type.order == 2 && type.shape == shape,
                    ExcUserInput("it has elements of second order and others, "
                                 "but all of its cells must have the same type "
                                 "and order"));
        const unsigned int n = n_corners(shape);
        for (unsigned int v = 0; v < n; ++v)
          {
            unsigned int &vertex = vertex_of_node[element.nodes[v]];
            if (vertex == dealii::numbers::invalid_unsigned_int)
              {
                vertex = vertices.size();
                vertices.push_back(point(element.nodes[v]));
              }
          }
        dealii::CellData<dim> cell(n);
        for (unsigned int v = 0; v < n; ++v)
          cell.vertices[v] =
            vertex_of_node[element.nodes[corner_order(shape)[v]]];
        if (shape == 't' || shape == 'T')
          {
            dealii::Tensor<2, dim> edges;
            for (int d = 0; d < dim; ++d)
              edges[d] =
                vertices[cell.vertices[d + 1]] - vertices[cell.vertices[0]];
            if (dealii::determinant(edges) < 0.)
              std::swap(cell.vertices[dim - 1], cell.vertices[dim]);
          }
        cell.material_id = element.group;
        cells.push_back(cell);
        tags.push_back(element.tag);
        const auto &neighbors = neighbors_of_nodes(shape);
        for (unsigned int i = n; i < element.nodes.size(); ++i)
          {
            std::vector<unsigned int> key;
            for (const unsigned int v : neighbors[i - n])
              key.push_back(vertex_of_node[element.nodes[v]]);
            std::sort(key.begin(), key.end());
            const auto entry = node_of_vertices.emplace(key, element.nodes[i]);
            AssertThrow(entry.first->second == element.nodes[i],
                        ExcUserInput("element " + std::to_string(element.tag) +
                                     " and its neighbour have different nodes "
                                     "on their common edge or face"));
          }
      }

      void
      add_face(const internal::MshElement &element)
      {
        if (element.group == 0)
          return;
        const char face = internal::msh_element_type(element.type).shape;
        const unsigned int        n = n_corners(face);
        dealii::CellData<dim - 1> data(n);
        for (unsigned int v = 0; v < n; ++v)
          {
            data.vertices[v] =
              vertex_of_node[element.nodes[corner_order(face)[v]]];
            AssertThrow(data.vertices[v] !=
                          dealii::numbers::invalid_unsigned_int,
                        ExcUserInput("element " + std::to_string(element.tag) +
                                     " is no face of a cell"));
          }
        data.boundary_id = element.group;
        if constexpr (dim == 2)
          faces.boundary_lines.push_back(data);
        else
          faces.boundary_quads.push_back(data);
      }

      /// Point of the node amid vertices of a cell. Where the file has none,
      /// all of @p edges have theirs, and it is that of the serendipity map.
      dealii::Point<dim>
      node_amid(std::vector<unsigned int>                     amid,
                const std::vector<std::vector<unsigned int>> &edges) const
      {
        std::sort(amid.begin(), amid.end());
        const auto found = node_of_vertices.find(amid);
        if (found != node_of_vertices.end())
          return point(found->second);
        AssertThrow(!edges.empty(),
                    ExcUserInput("an edge of a cell has no node"));
        dealii::Point<dim> result;
        const double       weight = amid.size() == 4 ? .5 : .25;
        for (const auto &edge : edges)
          result += weight * node_amid(edge, {});
        for (const unsigned int v : amid)
          result += -.25 * vertices[v];
        return result;
      }

      /// Appends the nodes of a cell in deal.II's order.
      void
      append_nodes(const CellIterator              &cell,
                   std::vector<dealii::Point<dim>> &nodes) const
      {
        using Vertices = std::vector<unsigned int>;
        Vertices              all;
        std::vector<Vertices> edges;
        for (const unsigned int v : cell->vertex_indices())
          {
            all.push_back(cell->vertex_index(v));
            nodes.push_back(vertices[all.back()]);
          }
        for (const unsigned int l : cell->line_indices())
          {
            edges.push_back(
              {cell->line(l)->vertex_index(0), cell->line(l)->vertex_index(1)});
            nodes.push_back(node_amid(edges.back(), {}));
          }
        if (shape == 'H')
          for (const unsigned int f : cell->face_indices())
            {
              Vertices              corners;
              std::vector<Vertices> around;
              for (const unsigned int v : cell->face(f)->vertex_indices())
                corners.push_back(cell->face(f)->vertex_index(v));
              for (const Vertices &edge : edges)
                if (std::count(corners.begin(), corners.end(), edge[0]) > 0 &&
                    std::count(corners.begin(), corners.end(), edge[1]) > 0)
                  around.push_back(edge);
              nodes.push_back(node_amid(corners, around));
            }
        if (shape == 'q' || shape == 'H')
          nodes.push_back(node_amid(all, edges));
      }

      const internal::MshFile                         &msh;
      char                                             shape = 't';
      std::vector<unsigned int>                        vertex_of_node;
      std::vector<dealii::Point<dim>>                  vertices;
      std::vector<dealii::CellData<dim>>               cells;
      dealii::SubCellData                              faces;
      std::vector<std::size_t>                         tags;
      std::map<std::vector<unsigned int>, std::size_t> node_of_vertices;
    };
  } // namespace

  template <int dim>
  std::unique_ptr<MappingQuadratic<dim>>
  read_quadratic_msh(const std::string          &file,
                     dealii::Triangulation<dim> &triangulation)
  {
    try
      {
        const internal::MshFile msh(file);
        QuadraticMesh<dim>      mesh(msh);
        auto                    mapping = mesh.create(triangulation);
        mapping->check_jacobians(triangulation, [&](const auto &cell) {
          return "its element " + std::to_string(mesh.tag(cell->index()));
        });
        return mapping;
      }
    catch (const std::exception &exception)
      {
        std::string reason = error_message(exception);
        while (!reason.empty() && reason.back() == '.')
          reason.pop_back();
        AssertThrow(false,
                    ExcUserInput("The mesh file '" + file +
                                 "' cannot be read as a mesh of second order "
                                 "and dimension " +
                                 std::to_string(dim) + ": " + reason + "."));
        return nullptr;
      }
  }

  template std::unique_ptr<MappingQuadratic<2>>
  read_quadratic_msh(const std::string &, dealii::Triangulation<2> &);
  template std::unique_ptr<MappingQuadratic<3>>
  read_quadratic_msh(const std::string &, dealii::Triangulation<3> &);
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "dual_graph.h"

#include <deal.II/base/tensor.h>

#include <deal.II/distributed/tria_base.h>
#include <deal.II/grid/tria.h>
#include <deal.II/grid/tria_accessor.h>
#include <deal.II/grid/tria_iterator.h>

#include <algorithm>
#include <cmath>

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      // measure() of deal.II does not support faces that are not planar.
      template <int dim, typename FaceIterator>
      double
      face_area(const FaceIterator &face)
      {
        if constexpr (dim == 2)
          return (face->vertex(1) - face->vertex(0)).norm();
        else
          {
            // Vertices of a quadrilateral are in lexicographic order.
            const dealii::Tensor<1, dim> vector_area =
              face->n_vertices() == 4
                ? cross_product_3d(face->vertex(3) - face->vertex(0),
                                   face->vertex(2) - face->vertex(1))
                : cross_product_3d(face->vertex(1) - face->vertex(0),
                                   face->vertex(2) - face->vertex(0));
            return 0.5 * vector_area.norm();
          }
      }

      struct Edge
      {
        unsigned int from, to;
        double       area;
      };



      // Numbers the cells that this process owns, by active_cell_index. An
      // empty result means that it owns all.
      template <int dim>
      std::vector<unsigned int>
      number_owned_cells(const dealii::Triangulation<dim, dim> &triangulation)
      {
        std::vector<unsigned int> number;
        if (dynamic_cast<const dealii::parallel::TriangulationBase<dim> *>(
              &triangulation) != nullptr)
          {
            number.assign(triangulation.n_active_cells(),
                          static_cast<unsigned int>(-1));
            unsigned int n_cells = 0;
            for (const auto &cell : triangulation.active_cell_iterators())
              if (cell->is_locally_owned())
                number[cell->active_cell_index()] = n_cells++;
          }
        return number;
      }



      // Inserts an edge into the last row of the graph in ascending order; a
      // neighbour behind two faces is listed once.
      void
      insert_edge(DualGraph         &graph,
                  const unsigned int to,
                  const bool         with_areas,
                  const double       area)
      {
        const std::size_t row      = graph.offsets.back();
        std::size_t       position = graph.neighbors.size();
        while (position > row && graph.neighbors[position - 1] > to)
          --position;
        if (position > row && graph.neighbors[position - 1] == to)
          {
            if (with_areas)
              graph.areas[position - 1] += area;
            return;
          }
        graph.neighbors.insert(graph.neighbors.begin() + position, to);
        if (with_areas)
          graph.areas.insert(graph.areas.begin() + position, area);
      }



      // Graph of the neighbours that each cell has through its own faces: those
      // of the same level and coarser ones. Active cells are visited in the
      // order of their active_cell_index.
      template <int dim>
      DualGraph
      list_own_neighbors(const dealii::Triangulation<dim, dim> &triangulation,
                         const bool                             with_areas)
      {
        const std::vector<unsigned int> number =
          number_owned_cells(triangulation);
        DualGraph          graph;
        const unsigned int n_cells = triangulation.n_active_cells();
        graph.offsets.reserve(n_cells + 1);
        graph.offsets.push_back(0);
        graph.neighbors.reserve(std::size_t(2 * dim) * n_cells);
        if (with_areas)
          graph.areas.reserve(graph.neighbors.capacity());
        for (const auto &cell : triangulation.active_cell_iterators())
          {
            if (!number.empty() && !cell->is_locally_owned())
              continue;
            for (const unsigned int f : cell->face_indices())
              {
                if (cell->at_boundary(f))
                  continue;
                const auto neighbor = cell->neighbor(f);
                if (!neighbor->is_active() ||
                    (!number.empty() && !neighbor->is_locally_owned()))
                  continue;
                const unsigned int index = neighbor->active_cell_index();
                insert_edge(graph,
                            number.empty() ? index : number[index],
                            with_areas,
                            with_areas ? face_area<dim>(cell->face(f)) : 0.);
              }
            graph.offsets.push_back(graph.neighbors.size());
          }
        return graph;
      }



      // A coarse cell does not list its finer neighbours: finds edges that only
      // one of the two cells lists, in ascending order. A test of the edges, in
      // contrast to one of refinement levels, is also correct for anisotropic
      // refinement.
      std::vector<Edge>
      missing_edges(const DualGraph &graph, const bool with_areas)
      {
        std::vector<Edge> missing;
        for (unsigned int i = 0; i < graph.n_cells(); ++i)
          for (std::size_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e)
            {
              const unsigned int j     = graph.neighbors[e];
              const auto         begin = graph.neighbors.begin();
              if (!std::binary_search(begin + graph.offsets[j],
                                      begin + graph.offsets[j + 1],
                                      i))
                missing.push_back({j, i, with_areas ? graph.areas[e] : 0.});
            }
        std::sort(missing.begin(),
                  missing.end(),
                  [](const Edge &a, const Edge &b) {
                    return a.from != b.from ? a.from < b.from : a.to < b.to;
                  });
        return missing;
      }



      // Merges the missing edges into the rows of the graph.
      DualGraph
      add_edges(const DualGraph         &graph,
                const std::vector<Edge> &missing,
                const bool               with_areas)
      {
        DualGraph         complete;
        const std::size_t n_edges = graph.neighbors.size() + missing.size();
        complete.offsets.reserve(graph.offsets.size());
        complete.offsets.push_back(0);
        complete.neighbors.reserve(n_edges);
        if (with_areas)
          complete.areas.reserve(n_edges);
        const auto append = [&](const unsigned int to, const double area) {
          complete.neighbors.push_back(to);
          if (with_areas)
            complete.areas.push_back(area);
        };
        auto extra = missing.cbegin();
        for (unsigned int i = 0; i < graph.n_cells(); ++i)
          {
            for (std::size_t e = graph.offsets[i]; e < graph.offsets[i + 1];
                 ++e)
              {
                for (; extra != missing.cend() && extra->from == i &&
                       extra->to <= graph.neighbors[e];
                     ++extra)
                  append(extra->to, extra->area);
                append(graph.neighbors[e], with_areas ? graph.areas[e] : 0.);
              }
            for (; extra != missing.cend() && extra->from == i; ++extra)
              append(extra->to, extra->area);
            complete.offsets.push_back(complete.neighbors.size());
          }
        return complete;
      }
    } // namespace



    template <int dim>
    DualGraph
    make_dual_graph(const dealii::Triangulation<dim, dim> &triangulation,
                    const bool                             with_areas)
    {
      DualGraph graph = list_own_neighbors(triangulation, with_areas);
      const std::vector<Edge> missing = missing_edges(graph, with_areas);
      if (!missing.empty())
        graph = add_edges(graph, missing, with_areas);
      return graph;
    }

    template DualGraph
    make_dual_graph<2>(const dealii::Triangulation<2, 2> &, const bool);
    template DualGraph
    make_dual_graph<3>(const dealii::Triangulation<3, 3> &, const bool);
  } // namespace internal
} // namespace Tessella

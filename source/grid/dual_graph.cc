// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "dual_graph.h"

#include <deal.II/base/tensor.h>

#include <deal.II/distributed/tria_base.h>
#include <deal.II/grid/tria.h>
#include <deal.II/grid/tria_accessor.h>
#include <deal.II/grid/tria_iterator.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "../base/parallel_for.h"

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



      // Level and index of the active cells that this process owns, by
      // active_cell_index.
      template <int dim>
      std::vector<std::pair<int, int>>
      list_owned_cells(const dealii::Triangulation<dim, dim> &triangulation,
                       const bool                             all)
      {
        std::vector<std::pair<int, int>> cells;
        cells.reserve(triangulation.n_active_cells());
        for (const auto &cell : triangulation.active_cell_iterators())
          if (all || cell->is_locally_owned())
            cells.emplace_back(cell->level(), cell->index());
        return cells;
      }



      // Appends the row of a cell to a graph.
      template <int dim>
      void
      append_own_neighbors(
        const typename dealii::Triangulation<dim>::cell_iterator &cell,
        const std::vector<unsigned int>                          &number,
        const bool                                                with_areas,
        DualGraph                                                &graph)
      {
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



      // Graph whose rows are those of @p pieces, one after the other. The
      // pieces are destroyed.
      DualGraph
      join_rows(std::vector<DualGraph> &pieces, const bool with_areas)
      {
        std::vector<std::size_t> first_row(1, 0), first_edge(1, 0);
        for (const DualGraph &piece : pieces)
          {
            first_row.push_back(first_row.back() + piece.n_cells());
            first_edge.push_back(first_edge.back() + piece.neighbors.size());
          }
        DualGraph graph;
        graph.offsets.resize(first_row.back() + 1);
        graph.offsets[0] = 0;
        graph.neighbors.resize(first_edge.back());
        if (with_areas)
          graph.areas.resize(first_edge.back());
        parallel_for(pieces.size(), 1, [&](const std::size_t k) {
          const DualGraph &piece = pieces[k];
          for (std::size_t i = 1; i < piece.offsets.size(); ++i)
            graph.offsets[first_row[k] + i] = first_edge[k] + piece.offsets[i];
          std::copy(piece.neighbors.begin(),
                    piece.neighbors.end(),
                    graph.neighbors.begin() + first_edge[k]);
          std::copy(piece.areas.begin(),
                    piece.areas.end(),
                    graph.areas.begin() +
                      (with_areas ? first_edge[k] : std::size_t(0)));
          pieces[k] = DualGraph();
        });
        return graph;
      }



      // Cells that one thread treats at once.
      constexpr std::size_t block_size = 4096;

      // Graph of the neighbours that each cell has through its own faces: those
      // of the same level and coarser ones.
      template <int dim>
      DualGraph
      list_own_neighbors(const dealii::Triangulation<dim, dim> &triangulation,
                         const bool                             with_areas)
      {
        const std::vector<unsigned int> number =
          number_owned_cells(triangulation);
        const std::vector<std::pair<int, int>> cells =
          list_owned_cells(triangulation, number.empty());
        std::vector<DualGraph> pieces((cells.size() + block_size - 1) /
                                      block_size);
        parallel_for(pieces.size(), 1, [&](const std::size_t k) {
          DualGraph        &piece = pieces[k];
          const std::size_t begin = k * block_size;
          const std::size_t end   = std::min(begin + block_size, cells.size());
          piece.offsets.reserve(end - begin + 1);
          piece.offsets.push_back(0);
          piece.neighbors.reserve(2 * dim * (end - begin));
          if (with_areas)
            piece.areas.reserve(piece.neighbors.capacity());
          for (std::size_t i = begin; i < end; ++i)
            append_own_neighbors<dim>(
              typename dealii::Triangulation<dim>::cell_iterator(
                &triangulation, cells[i].first, cells[i].second),
              number,
              with_areas,
              piece);
        });
        return join_rows(pieces, with_areas);
      }



      // A coarse cell does not list its finer neighbours: finds edges that only
      // one of the two cells lists, in ascending order. A test of the edges, in
      // contrast to one of refinement levels, is also correct for anisotropic
      // refinement.
      std::vector<Edge>
      missing_edges(const DualGraph &graph, const bool with_areas)
      {
        const std::size_t              n_cells = graph.n_cells();
        std::vector<std::vector<Edge>> pieces((n_cells + block_size - 1) /
                                              block_size);
        parallel_for(pieces.size(), 1, [&](const std::size_t k) {
          const std::size_t end = std::min((k + 1) * block_size, n_cells);
          for (std::size_t i = k * block_size; i < end; ++i)
            for (std::size_t e = graph.offsets[i]; e < graph.offsets[i + 1];
                 ++e)
              {
                const unsigned int j     = graph.neighbors[e];
                const auto         begin = graph.neighbors.begin();
                if (!std::binary_search(begin + graph.offsets[j],
                                        begin + graph.offsets[j + 1],
                                        i))
                  pieces[k].push_back({j,
                                       static_cast<unsigned int>(i),
                                       with_areas ? graph.areas[e] : 0.});
              }
        });
        std::vector<Edge> missing;
        for (const std::vector<Edge> &piece : pieces)
          missing.insert(missing.end(), piece.begin(), piece.end());
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

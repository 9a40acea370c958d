// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_cell_list_h
#define tessella_source_grid_cell_list_h

#include <deal.II/base/point.h>

#include <deal.II/grid/manifold.h>
#include <deal.II/grid/tria.h>

#include <array>
#include <functional>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /// Hypercubes of a mesh that is being generated, with deal.II's order of
    /// vertices.
    template <int dim>
    struct CellList
    {
      struct Vertex
      {
        dealii::Point<dim> point;
        bool               body;   ///< on the body's surface
        bool               curved; ///< edges between such vertices are curved
      };

      std::vector<Vertex>                              vertices;
      std::vector<std::array<unsigned int, 1u << dim>> cells;

      /// Id of a face that is not on the body, from its vertices.
      using BoundaryId = std::function<dealii::types::boundary_id(
        const std::vector<dealii::Point<dim>> &)>;

      /// Creates the triangulation, with simplices if @p simplices is true.
      /// Faces on the body get the id 2. Attaches @p manifold with id 1, unless
      /// it is null.
      void
      create(dealii::Triangulation<dim>  &triangulation,
             const bool                   simplices,
             const BoundaryId            &boundary_id,
             const dealii::Manifold<dim> *manifold) const;
    };

    /// Product of a plane mesh with an interval from 0 to @p depth.
    CellList<3>
    extrude(const CellList<2> &list, const double depth, const unsigned int n);
  } // namespace internal
} // namespace Tessella

#endif

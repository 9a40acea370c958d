// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_orientation_h
#define tessella_source_grid_orientation_h

#include <deal.II/base/tensor.h>

namespace Tessella
{
  namespace internal
  {
    /// Whether a straight simplex, given as an iterator of a triangulation, has
    /// the orientation of its coarse cell. Refinement that moves vertices onto
    /// a manifold may turn it over.
    template <typename CellIterator>
    bool
    has_coarse_orientation(const CellIterator &cell)
    {
      if (cell->level() == 0)
        return true;
      const auto determinant = [](const auto &c) {
        constexpr int          dim = CellIterator::AccessorType::dimension;
        dealii::Tensor<2, dim> edges;
        for (int d = 0; d < dim; ++d)
          edges[d] = c->vertex(d + 1) - c->vertex(0);
        return dealii::determinant(edges);
      };
      auto coarse = cell->parent();
      while (coarse->level() > 0)
        coarse = coarse->parent();
      return determinant(cell) * determinant(coarse) > 0.;
    }
  } // namespace internal
} // namespace Tessella

#endif

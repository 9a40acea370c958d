// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_periodic_shifts_h
#define tessella_source_grid_periodic_shifts_h

#include <deal.II/base/exceptions.h>
#include <deal.II/base/tensor.h>

#include <deal.II/grid/tria.h>
#include <deal.II/grid/tria_accessor.h>
#include <deal.II/grid/tria_iterator.h>

#include <tessella/base/exceptions.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /// Translations between the periodic faces of a triangulation.
    template <int dim>
    class PeriodicShifts
    {
    public:
      using CellIterator = typename dealii::Triangulation<dim>::cell_iterator;

      /// Collects all translations in sorted order, without the zero
      /// translation, which comes first in the flat view.
      explicit PeriodicShifts(const dealii::Triangulation<dim> &triangulation)
      {
        for (const auto &pair : triangulation.get_periodic_face_map())
          {
            const auto &a = pair.first;
            const auto &b = pair.second.first;
            if (a.first->level() != b.first->level())
              continue;
            const dealii::Tensor<1, dim> shift =
              between(a.first, a.second, b.first, b.second);
            bool known = false;
            for (const auto &s : shifts)
              known |= (s - shift).norm() <= 1e-8 * s.norm();
            if (!known)
              shifts.push_back(shift);
          }
        // Comparison with a tolerance: rounding must not decide the order.
        std::sort(shifts.begin(),
                  shifts.end(),
                  [](const dealii::Tensor<1, dim> &a,
                     const dealii::Tensor<1, dim> &b) {
                    const double tolerance = 1e-8 * (a.norm() + b.norm());
                    for (int d = 0; d < dim; ++d)
                      if (std::abs(a[d] - b[d]) > tolerance)
                        return a[d] < b[d];
                    return false;
                  });
      }

      /// Index, from 1 on, of the shift from face @p f of a cell to the face of
      /// its periodic neighbour, which may be coarser.
      unsigned int
      find(CellIterator        cell,
           const unsigned int  f,
           const CellIterator &neighbor,
           const unsigned int  neighbor_face) const
      {
        while (cell->level() > neighbor->level())
          cell = cell->parent();
        return index_of(between(cell, f, neighbor, neighbor_face));
      }

      /// Index of the inverse of shift @p s.
      unsigned int
      opposite(const unsigned int s) const
      {
        return index_of(-shifts[s - 1]);
      }

      std::vector<dealii::Tensor<1, dim>> shifts;

    private:
      unsigned int
      index_of(const dealii::Tensor<1, dim> &shift) const
      {
        for (unsigned int s = 0; s < shifts.size(); ++s)
          if ((shifts[s] - shift).norm() <= 1e-8 * shift.norm())
            return s + 1;
        Assert(false, dealii::ExcInternalError());
        return 0;
      }

      /// Translation from one face to another; throws if they are not
      /// translations of each other.
      static dealii::Tensor<1, dim>
      between(const CellIterator &a,
              const unsigned int  a_face,
              const CellIterator &b,
              const unsigned int  b_face)
      {
        const auto             fa = a->face(a_face);
        const auto             fb = b->face(b_face);
        const unsigned int     n  = fa->n_vertices();
        dealii::Tensor<1, dim> shift;
        bool                   same = fb->n_vertices() == n;
        double                 size = 0.;
        if (same)
          {
            for (unsigned int v = 0; v < n; ++v)
              shift += (fb->vertex(v) - fa->vertex(v)) / double(n);
            for (unsigned int v = 1; v < n; ++v)
              size = std::max(size, (fa->vertex(v) - fa->vertex(0)).norm());
            for (unsigned int v = 0; v < n; ++v)
              {
                bool found = false;
                for (unsigned int w = 0; w < n; ++w)
                  found |= (fa->vertex(v) + shift - fb->vertex(w)).norm() <=
                           1e-8 * (size + shift.norm());
                same &= found;
              }
            same &= shift.norm() > 1e-8 * size;
          }
        AssertThrow(same,
                    ExcUserInput(
                      "Face " + std::to_string(a_face) + " of cell " +
                      a->id().to_string() + " and its periodic partner, face " +
                      std::to_string(b_face) + " of cell " +
                      b->id().to_string() +
                      ", are not translations of each other; only such "
                      "periodic boundaries are possible."));
        return shift;
      }
    };
  } // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_periodic_shifts_h
#define tessella_source_grid_periodic_shifts_h

#include <deal.II/base/tensor.h>

#include <deal.II/grid/tria.h>

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
      explicit PeriodicShifts(const dealii::Triangulation<dim> &triangulation);

      /// Index, from 1 on, of the shift from face @p f of a cell to the face of
      /// its periodic neighbour, which may be coarser.
      unsigned int
      find(CellIterator        cell,
           const unsigned int  f,
           const CellIterator &neighbor,
           const unsigned int  neighbor_face) const;

      /// Index of the inverse of shift @p s.
      unsigned int
      opposite(const unsigned int s) const;

      std::vector<dealii::Tensor<1, dim>> shifts;
    };
  } // namespace internal
} // namespace Tessella

#endif

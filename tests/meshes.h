// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_periodic_h
#define tessella_tests_periodic_h

#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>

#include <vector>

/// Identifies the faces with boundary id 2 d with those with boundary id
/// 2 d + 1, for every direction d.
template <int dim>
void
add_periodic_faces(dealii::Triangulation<dim>      &triangulation,
                   const std::vector<unsigned int> &directions)
{
  using CellIterator = typename dealii::Triangulation<dim>::cell_iterator;
  std::vector<dealii::GridTools::PeriodicFacePair<CellIterator>> pairs;
  for (const unsigned int d : directions)
    dealii::GridTools::collect_periodic_faces(
      triangulation, 2 * d, 2 * d + 1, d, pairs);
  triangulation.add_periodicity(pairs);
}

#endif

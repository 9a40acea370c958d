// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_meshes_h
#define tessella_tests_meshes_h

#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>

#include <string>
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

/// Mapping of a polynomial degree for the mesh "curved", and deal.II's default
/// for all other meshes.
template <int dim, unsigned int degree>
const dealii::Mapping<dim> *
mapping_for(const std::string &mesh)
{
  static const dealii::MappingQ<dim> curved(degree);
  return mesh == "curved" ? &curved : nullptr;
}

#endif

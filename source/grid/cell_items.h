// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_cell_items_h
#define tessella_source_grid_cell_items_h

#include <deal.II/grid/tria.h>

#include <array>
#include <cstdint>
#include <vector>

// Division of cells into groups by recursive cuts through their centres.

namespace Tessella
{
  namespace Agglomeration
  {
    /// Cell or group of cells, as an item that is sorted by its centre.
    template <int dim>
    struct Item
    {
      /// Centre, in units of 2^-40 times the largest extent of the mesh.
      /// Integers make coordinates equal that differ by rounding only, so
      /// that rounding does not decide which cell is cut off a row of cells.
      std::array<std::uint64_t, dim> center;
      /// Edge lengths of the bounding box, in the same units.
      std::array<float, dim> extent;
      unsigned int           index;
    };

    constexpr unsigned int center_bits = 40;

    /// Centres (means of the vertices) and bounding boxes of the active
    /// cells that this process owns.
    template <int dim>
    std::vector<Item<dim>>
    cells_as_items(const dealii::Triangulation<dim> &triangulation);

    /// Part of each item, by the index of the item.
    template <int dim>
    std::vector<unsigned int>
    tile(std::vector<Item<dim>> items, const unsigned int n_parts);

    /// Replaces ids by those of the next coarser level; returns the number
    /// of groups.
    template <int dim>
    unsigned int
    coarsen(const std::vector<Item<dim>> &cells,
            std::vector<unsigned int>    &ids,
            const unsigned int            n_groups,
            const unsigned int            n_children);
  } // namespace Agglomeration
} // namespace Tessella

#endif

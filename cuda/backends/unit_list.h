// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_unit_list_h
#define tessella_cuda_backends_unit_list_h

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "data.h"
#include "point_groups.h"

// Lists of tiles.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Number of rows and columns of the tiles of units.
      constexpr unsigned int unit_tile = 32;

      /// Tiles of a set of rows, in device memory. Tiles of very many point
      /// groups consist of parts, whose sums are added afterwards.
      class UnitList
      {
      public:
        /// The rows, in ascending order.
        std::vector<unsigned int> rows;
        /// First unit, reduction and partial sum of each of these rows.
        std::vector<std::uint32_t> unit_begin, reduction_begin, scratch_begin;
        Array<Unit>                units;
        Array<Reduction>           reductions;

        /// Makes the list for @p rows: for each of them, add_tiles(row, add) is
        /// called, where add(block, i, j, n_point_groups) adds the tile of a
        /// block that begins at row i, column j.
        template <typename AddTiles>
        void
        make(const std::vector<unsigned int> &rows, const AddTiles &add_tiles);

        /// Bytes of device memory.
        std::size_t
        memory() const
        {
          return units.size() * sizeof(Unit) +
                 reductions.size() * sizeof(Reduction);
        }
      };



      template <typename AddTiles>
      void
      UnitList::make(const std::vector<unsigned int> &the_rows,
                     const AddTiles                  &add_tiles)
      {
        std::vector<Unit>      unit_list;
        std::vector<Reduction> reduction_list;
        std::uint32_t          n_scratch = 0;
        rows                             = the_rows;
        unit_begin = reduction_begin = scratch_begin = {0};
        const auto add = [&](const std::uint64_t block,
                             const unsigned int  i,
                             const unsigned int  j,
                             const unsigned int  n_point_groups) {
          const unsigned int n_parts =
            std::max(1u, (n_point_groups + row_part_size - 1) / row_part_size);
          if (n_parts > 1)
            reduction_list.push_back(
              {static_cast<unsigned int>(unit_list.size()), n_parts});
          for (unsigned int p = 0; p < n_parts; ++p)
            unit_list.push_back(
              {block,
               i,
               j,
               p * row_part_size,
               std::min((p + 1) * row_part_size, n_point_groups),
               n_parts > 1 ? n_scratch++ : invalid_index});
        };
        for (const unsigned int k : rows)
          {
            add_tiles(k, add);
            unit_begin.push_back(unit_list.size());
            reduction_begin.push_back(reduction_list.size());
            scratch_begin.push_back(n_scratch);
          }
        if (unit_list.size() > std::numeric_limits<unsigned int>::max())
          throw Error(
            "The matrix has more than 2^32 tiles, which is too many "
            "for one assembly on a CUDA device. Use a smaller "
            "problem or the host backend.");
        units      = Array<Unit>(unit_list);
        reductions = Array<Reduction>(reduction_list);
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

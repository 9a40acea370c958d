// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_facet_records_h
#define tessella_source_grid_facet_records_h

#include <cstdint>
#include <utility>
#include <vector>

// Facets of the flat view before they are sorted.

namespace Tessella
{
  namespace internal
  {
    // Layout of the keys that sort the records of a polytope: boundary (1
    // bit), second polytope or boundary id (32), shift (31).
    constexpr std::uint64_t boundary_flag = std::uint64_t(1) << 63;
    constexpr unsigned int  shift_bits    = 31;

    inline std::uint64_t
    interface_key(const unsigned int second_polytope, const unsigned int shift)
    {
      return (std::uint64_t(second_polytope) << shift_bits) + shift;
    }

    inline std::uint64_t
    boundary_key(const unsigned int boundary_id)
    {
      return boundary_flag | (std::uint64_t(boundary_id) << shift_bits);
    }



    /// One facet, before the facets are sorted.
    struct FacetRecord
    {
      std::uint64_t key;      ///< see interface_key() and boundary_key()
      unsigned int  first;    ///< sub-cell on side 0
      unsigned int  position; ///< of the finer cell of a hanging facet
      unsigned int  second;   ///< sub-cell on side 1, or invalid_index
      std::uint8_t  first_face;
      std::uint8_t  face; ///< of the sub-cell that determines the geometry
      std::uint8_t  side; ///< side of that sub-cell

      bool
      operator<(const FacetRecord &other) const
      {
        if (key != other.key)
          return key < other.key;
        if (first != other.first)
          return first < other.first;
        if (first_face != other.first_face)
          return first_face < other.first_face;
        return position < other.position;
      }
    };



    /// Face of a sub-cell.
    struct SubCellFace
    {
      unsigned int polytope, subcell, cell;
      std::uint8_t number;

      /// Facet that has this face on side 0.
      FacetRecord
      record_of_first(const std::uint64_t key, const unsigned int second) const
      {
        return {key, subcell, 0, second, number, number, 0};
      }

      /// Facet that has this face on side 1, and on side 0 the given face of
      /// sub-cell first.
      FacetRecord
      record_of_second(const std::uint64_t key,
                       const unsigned int  first,
                       const unsigned int  first_face,
                       const unsigned int  position) const
      {
        return {key,
                first,
                position,
                subcell,
                static_cast<std::uint8_t>(first_face),
                number,
                1};
      }
    };



    /// Range of polytopes that one task works on, and what it collects.
    struct PolytopeRange
    {
      unsigned int begin, end;
      /// Records of these polytopes, in their order.
      std::vector<FacetRecord> records;
      /// Polytopes of any range, and their records.
      std::vector<std::pair<unsigned int, FacetRecord>> foreign;
    };
  } // namespace internal
} // namespace Tessella

#endif

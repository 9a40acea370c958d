// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_point_numbers_h
#define tessella_cuda_backends_point_numbers_h

#include <tessella/grid/polytopic_mesh.h>

#include <cstdint>

#include "../../source/base/host_memory.h"
#include "../device/memory.h"
#include "../device/workspace.h"
#include "assembly.h"

// Numbers of quadrature points.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Consecutive numbers of the quadrature points of a mesh: volume points
       * by sub-cell, facet points by facet, and the points of facet tables by
       * entry of polytope_interface. Which facets have tables depends on the
       * form, see select_entries().
       */
      template <int dim>
      class PointNumbers
      {
      public:
        /// Counts the points of all sub-cells and facets.
        PointNumbers(const PolytopicMesh<dim> &mesh,
                     const RuleTables         &rules,
                     const unsigned int        bottom_id,
                     Workspace                &workspace,
                     const Parallel           &parallel);

        /// Selects the entries of polytope_interface whose facets have tables:
        /// all of them, those on the boundary, or those on the boundary except
        /// for the bottom of a slab. Copies the numbers to @p device, which has
        /// one value per entry and one more, unless they are there.
        void
        select_entries(const bool     boundary_only,
                       const bool     no_bottom,
                       std::uint64_t *device);

        /// Numbers the points of packed facet tables (see PackedTables), once.
        void
        count_packed();

        /// Number of points of polytopes [begin, end).
        std::uint64_t
        volume(const unsigned int begin, const unsigned int end) const
        {
          return subcell[mesh.subcell_offset[end]] -
                 subcell[mesh.subcell_offset[begin]];
        }

        /// Number of points of their facet tables.
        std::uint64_t
        facets(const unsigned int begin, const unsigned int end) const
        {
          return entry[mesh.polytope_interface_offset[end]] -
                 entry[mesh.polytope_interface_offset[begin]];
        }

        /// Number of points of their packed facet tables.
        std::uint64_t
        packed(const bool         boundary,
               const unsigned int begin,
               const unsigned int end) const
        {
          return packed_entry[boundary][mesh.polytope_interface_offset[end]] -
                 packed_entry[boundary][mesh.polytope_interface_offset[begin]];
        }

        /// Number of volume points of the polytope with most points in [begin,
        /// end).
        std::uint64_t
        most_volume_points(const unsigned int begin,
                           const unsigned int end) const;

        /// First packed point of each interface, in device memory.
        const std::uint64_t *
        first_packed() const
        {
          return packed_interface.data();
        }

        /// Bytes of device memory.
        std::size_t
        memory() const
        {
          return packed_interface.size() * sizeof(std::uint64_t);
        }

        const PolytopicMesh<dim> &mesh;

        /// First point of each sub-cell and facet.
        RawArray<std::uint64_t> subcell, facet;

        /// First tabulated facet point of each entry of polytope_interface, for
        /// the present selection; null before the first one.
        const std::uint64_t *entry = nullptr;

        /// Number of points of packed tables of interior (0) and boundary (1)
        /// facets that precede each entry of polytope_interface.
        RawArray<std::uint64_t> packed_entry[2];

      private:
        const RuleTables  &rules;
        const unsigned int bottom_id;
        Workspace         &workspace;
        const Parallel     parallel;

        /// Values of `entry` for all selections; empty if not used yet.
        RawArray<std::uint64_t> entries[3];
        Array<std::uint64_t>    packed_interface;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

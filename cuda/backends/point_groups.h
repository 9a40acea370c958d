// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_point_groups_h
#define tessella_cuda_backends_point_groups_h

#include <tessella/lac/block_sparsity.h>

#include <cstdint>
#include <vector>

#include "../../source/base/host_memory.h"
#include "data.h"

// Block rows and their groups of quadrature points.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Number of point groups of a part of a row, and largest number in a row
      /// that is not computed in parts. They are constants, since they
      /// determine the order of summation.
      constexpr unsigned int row_part_size = 512, row_split_limit = 1280;

      /**
       * The block rows of polytopes [first, last) of a mesh on the host, with
       * the groups of quadrature points of each row and of each block, as the
       * kernels read them.
       */
      template <int dim>
      class PointGroups
      {
      public:
        /// Lists rows and facet point groups. @p facet_step: number of points
        /// of a facet point group. @p slab: SlabKernel serves upright rows.
        PointGroups(const AssemblerInput<dim> &input,
                    const unsigned int         facet_step,
                    const bool                 slab);

        /// Lists the volume point groups. @p first_point: number of the first
        /// quadrature point of each sub-cell.
        RawArray<VolumePointGroup>
        volume(const std::uint64_t *first_point) const;

        /// All polytopes; those outside of [first, last) have empty rows.
        RawArray<Row>             row;
        RawArray<FacetPointGroup> facet;
        /// Range of interior facet point groups of each block.
        RawArray<uint2> block;
        /// Rows that are computed in parts.
        std::vector<unsigned int> split_rows;

      private:
        /// Position in the lists while those of a row are filled.
        struct Cursor
        {
          unsigned int  facet; ///< next facet point group
          std::uint64_t block; ///< block of the last neighbour
        };

        /// Sets the numbers of point groups of row @p k, in place of their
        /// ranges.
        void
        count(const unsigned int k);

        /// Turns numbers into ranges, and sets the other members of rows that
        /// do not depend on point groups.
        void
        set_ranges();

        /// Lists the facet point groups of row @p k.
        void
        list_facets(const unsigned int k);

        /// Lists those of an entry of polytope_interface.
        void
        list_entry(const unsigned int k, const unsigned int e, Cursor &cursor);

        /// Moves the cursor to the block of a neighbour.
        void
        find_block(const unsigned int k,
                   const unsigned int neighbor,
                   Cursor            &cursor) const;

        /// Whether the neighbours of polytope @p k begin and end at the same
        /// times.
        bool
        is_level(const unsigned int k) const;

        const PolytopicMesh<dim> &mesh;
        const PolytopicDoFs      &dofs;
        const BlockSparsity      &sparsity;
        const RuleTables         &rules;
        const unsigned int        first, last, bottom_id, facet_step;
        const bool                slab;
        const Parallel           &parallel;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_chunk_planner_h
#define tessella_cuda_backends_chunk_planner_h

#include <tessella/lac/block_sparsity.h>

#include <cstddef>
#include <vector>

#include "../device/pipeline.h"
#include "assembly.h"
#include "point_numbers.h"

// Division of an assembly into chunks, and the device memory of these.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Sizes in bytes of the tables and results of block rows in a slot; they
      /// are stored in this order.
      struct ChunkLayout
      {
        std::size_t volume = 0, facets = 0, values = 0, rhs = 0;

        std::size_t
        bytes() const
        {
          return aligned(volume) + aligned(facets) + aligned(values) +
                 aligned(rhs);
        }
      };



      /// A chunk, its slot, and its arrays in device memory.
      struct ChunkInSlot
      {
        unsigned int                     number;
        const Chunk                     &chunk;
        const ChunkLayout               &layout;
        Workspace::Implementation::Slot &slot;
        double                          *volume_table, *facet_table;
        char                            *values, *rhs;
      };



      /// All chunks of an assembly, in the order of their computation, which
      /// use the first n_slots slots of the workspace in turn.
      struct ChunkPlan
      {
        std::vector<Chunk>       chunks;
        std::vector<ChunkLayout> layouts;
        /// Bytes of the largest chunk.
        std::size_t  slot_bytes = 0;
        unsigned int n_slots    = 0;
        /// Bytes of tables and results of all block rows.
        std::size_t total = 0;

        unsigned int
        size() const
        {
          return static_cast<unsigned int>(chunks.size());
        }

        /// Allocates the slots. Slots that are too small, or too large for the
        /// limit of the workspace, are replaced.
        void
        reserve_slots(Workspace::Implementation &workspace) const;

        Workspace::Implementation::Slot &
        slot(Workspace::Implementation &workspace,
             const unsigned int         number) const
        {
          return workspace.slot[number % n_slots];
        }

        ChunkInSlot
        chunk_in_slot(Workspace::Implementation &workspace,
                      const unsigned int         number) const;
      };



      /// How chunks of an assembly are best cut.
      struct ChunkPace
      {
        /// The host tabulates coefficients, so that its tables come at an even
        /// pace, and all chunks have the same size.
        bool even = false;
        /// Coefficients are evaluated on the device, and no result is copied to
        /// the host.
        bool on_device = false;
        /// A single chunk is used unless it is too large, because no result is
        /// copied, or because the kernels need little time compared with the
        /// copy.
        bool whole = false;
      };



      /// Divides block rows into chunks that fit into the device memory.
      template <int dim>
      class ChunkPlanner
      {
      public:
        /// The last arguments are the sizes of a matrix value and a vector
        /// entry, or 0 if they need no memory in a slot.
        ChunkPlanner(const PolytopicDoFs     &dofs,
                     const BlockSparsity     &sparsity,
                     const PointNumbers<dim> &points,
                     const FormData<dim>     &form,
                     const std::size_t        values_size,
                     const std::size_t        rhs_size);

        /// Plan for the block rows of polytopes [first, last) in @p available
        /// bytes of device memory. Throws RowTooLarge if a single row does not
        /// fit.
        ChunkPlan
        plan(const unsigned int first,
             const unsigned int last,
             const ChunkPace   &pace,
             const std::size_t  available) const;

      private:
        /// Layout of block rows [begin, end).
        ChunkLayout
        layout(const unsigned int begin, const unsigned int end) const;

        /// Largest range of block rows in [begin, last) that begins at @p begin
        /// and fits into @p bytes, but at least one block row.
        Chunk
        next_chunk(const unsigned int begin,
                   const unsigned int last,
                   const std::size_t  bytes) const;

        const PolytopicDoFs     &dofs;
        const BlockSparsity     &sparsity;
        const PointNumbers<dim> &points;
        const FormData<dim>     &form;
        const std::size_t        values_size, rhs_size;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

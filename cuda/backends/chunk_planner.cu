// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>

#include "chunk_planner.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// Size in bytes of a chunk's values and tables, unless a smaller size
        /// is required: large enough to fill the device, small enough to
        /// overlap copies.
        constexpr std::size_t max_chunk        = std::size_t(1) << 28,
                              min_chunk        = std::size_t(1) << 24,
                              max_fast_chunk   = std::size_t(1) << 29,
                              max_device_chunk = std::size_t(1) << 30;

        /// Least numbers of chunks of a large assembly: if all have the same
        /// size, and if they grow from the first to the largest size.
        constexpr std::size_t n_even_chunks = 8, n_first_chunks = 16,
                              n_largest_chunks = 4;
      } // namespace



      void
      ChunkPlan::reserve_slots(Workspace::Implementation &workspace) const
      {
        bool release = workspace.used() > workspace.limit;
        for (unsigned int s = 0; s < n_slots; ++s)
          release = release || workspace.slot[s].memory.size() < slot_bytes;
        if (release)
          for (auto &slot : workspace.slot)
            slot.memory.release();
        for (unsigned int s = 0; s < n_slots; ++s)
          {
            workspace.slot[s].memory.resize(slot_bytes);
            workspace.slot[s].busy = workspace.slot[s].uploads = false;
          }
      }



      ChunkInSlot
      ChunkPlan::chunk_in_slot(Workspace::Implementation &workspace,
                               const unsigned int         number) const
      {
        auto              &the_slot = slot(workspace, number);
        const ChunkLayout &layout   = layouts[number];
        char *const        volume   = the_slot.memory.data(),
                    *const facets   = volume + aligned(layout.volume),
                    *const values   = facets + aligned(layout.facets),
                    *const rhs      = values + aligned(layout.values);
        return {number,
                chunks[number],
                layout,
                the_slot,
                reinterpret_cast<double *>(volume),
                reinterpret_cast<double *>(facets),
                values,
                rhs};
      }



      template <int dim>
      ChunkPlanner<dim>::ChunkPlanner(const PolytopicDoFs     &dofs,
                                      const BlockSparsity     &sparsity,
                                      const PointNumbers<dim> &points,
                                      const FormData<dim>     &form,
                                      const std::size_t        values_size,
                                      const std::size_t        rhs_size)
        : dofs(dofs)
        , sparsity(sparsity)
        , points(points)
        , form(form)
        , values_size(values_size)
        , rhs_size(rhs_size)
      {}



      template <int dim>
      ChunkPlan
      ChunkPlanner<dim>::plan(const unsigned int first,
                              const unsigned int last,
                              const ChunkPace   &pace,
                              const std::size_t  available) const
      {
        ChunkPlan plan;
        plan.total = layout(first, last).bytes();
        // Kernels are faster than copies to the host. The first chunks are
        // small, so that copies start soon; later ones are larger, since each
        // launch ends with a wave of thread blocks that does not fill the
        // device.
        const auto size = [&](const std::size_t n_chunks,
                              const std::size_t limit) {
          return std::min(
            std::min(limit, std::max(min_chunk, plan.total / n_chunks + 1)),
            available / Workspace::Implementation::max_slots);
        };
        const std::size_t limit =
          pace.on_device ? max_device_chunk : max_fast_chunk;
        std::size_t bytes =
          pace.whole
            ? size(plan.total / limit + 1, limit)
            : size(pace.even ? n_even_chunks : n_first_chunks, max_chunk);
        const std::size_t largest =
          pace.whole
            ? bytes
            : size(pace.even ? n_even_chunks : n_largest_chunks, max_chunk);
        for (unsigned int k = first; k < last; k = plan.chunks.back().end)
          {
            plan.chunks.push_back(next_chunk(k, last, bytes));
            plan.layouts.push_back(layout(k, plan.chunks.back().end));
            bytes                  = std::min(2 * bytes, largest);
            const std::size_t used = plan.layouts.back().bytes();
            if (used > available)
              throw RowTooLarge(k, used);
            plan.slot_bytes = std::max(plan.slot_bytes, used);
          }
        plan.n_slots =
          std::min<std::size_t>(Workspace::Implementation::max_slots,
                                plan.chunks.size());
        while (plan.n_slots > 1 && plan.n_slots * plan.slot_bytes > available)
          --plan.n_slots;
        return plan;
      }



      template <int dim>
      ChunkLayout
      ChunkPlanner<dim>::layout(const unsigned int begin,
                                const unsigned int end) const
      {
        ChunkLayout layout;
        layout.volume =
          points.volume(begin, end) * form.volume_layout.n * sizeof(double);
        layout.facets =
          points.facets(begin, end) * form.facet_layout.n * sizeof(double);
        layout.values =
          (sparsity.value_offset[end] - sparsity.value_offset[begin]) *
          values_size;
        layout.rhs = (dofs.dof_offset[end] - dofs.dof_offset[begin]) * rhs_size;
        return layout;
      }



      template <int dim>
      Chunk
      ChunkPlanner<dim>::next_chunk(const unsigned int begin,
                                    const unsigned int last,
                                    const std::size_t  bytes) const
      {
        // All sizes grow with the end, which is found by bisection.
        unsigned int fits = begin + 1, too_many = last + 1;
        while (too_many - fits > 1)
          {
            const unsigned int middle = fits + (too_many - fits) / 2;
            if (layout(begin, middle).bytes() <= bytes)
              fits = middle;
            else
              too_many = middle;
          }
        return {begin,
                fits,
                points.volume(begin, fits),
                points.facets(begin, fits)};
      }



      template class ChunkPlanner<2>;
      template class ChunkPlanner<3>;
      template class ChunkPlanner<4>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>

#include "hdg_local_problems.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      UrgentStream::UrgentStream()
      {
        int least = 0, greatest = 0;
        check(cudaDeviceGetStreamPriorityRange(&least, &greatest),
              "the creation of a stream");
        check(cudaStreamCreateWithPriority(&stream,
                                           cudaStreamNonBlocking,
                                           greatest),
              "the creation of a stream");
      }



      UrgentStream::~UrgentStream()
      {
        cudaStreamDestroy(stream);
      }



      template <int dim>
      std::size_t
      HDGLocalProblems<dim>::tile_bytes(const unsigned int  begin,
                                        const unsigned int  end,
                                        const HDGData<dim> &data) const
      {
        if (data.simplex)
          return 0;
        const std::size_t of_polytope =
          (state_is_kept ? 0 : state_size(data)) +
          (data.moment_row != nullptr ? data.moments_stride : 0);
        return 8 * (of_polytope * (end - begin) +
                    data.square() *
                      (plan.first_entry(end) - plan.first_entry(begin)));
      }



      template <int dim>
      void
      HDGLocalProblems<dim>::launch(HDGData<dim> &data)
      {
        set_tile(data);
        const bool beside = !data.simplex && data.part_is_done;
        if (beside)
          {
            undone.resize(data.last - data.first + std::size_t(1));
            data.undone = undone.data();
            check(cudaMemsetAsync(data.undone, 0, 4, nullptr),
                  "the local problems");
          }
        std::vector<const Kernel *> eliminations;
        for (const Kernel &kernel : stages.kernels)
          if (kernel.is_listed())
            eliminations.push_back(&kernel);
          else if (beside && kernel.what == HDGStage::volume)
            {
              // Only a small number of polytopes need this kernel. It runs
              // beside the facet kernels of all others.
              fork(1);
              start(kernel, data, side[0]);
            }
          else if (beside && kernel.what == HDGStage::facets)
            {
              start(kernel, data, side[0], true);
              start(kernel, data, nullptr);
              join(1);
            }
          else
            start(kernel, data, nullptr);
        start_eliminations(eliminations, data);
      }



      template <int dim>
      void
      HDGLocalProblems<dim>::set_tile(HDGData<dim> &data)
      {
        data.first_entry = plan.first_entry(data.first);
        data.last_entry  = plan.first_entry(data.last);
        if (data.simplex)
          return;
        const unsigned int n     = data.last - data.first;
        const std::size_t  first = state_is_kept ? data.first : 0;
        const std::size_t  n_states =
          state_is_kept ? plan.mesh.n_owned_polytopes() : n;
        state.resize(data.state_layout.inverse * n_states);
        transforms.resize(data.square() * n_states);
        partial.resize(data.square() * (data.last_entry - data.first_entry));
        const bool has_moments = data.moment_row != nullptr;
        if (has_moments)
          moments.resize(std::size_t(data.moments_stride) * n);
        data.moments    = has_moments ? moments.data() : nullptr;
        data.state      = state.data() + data.state_layout.inverse * first;
        data.transforms = transforms.data() + data.square() * first;
        data.partial    = partial.data();
      }



      template <int dim>
      void
      HDGLocalProblems<dim>::start(const Kernel       &kernel,
                                   const HDGData<dim> &tile,
                                   const cudaStream_t  stream,
                                   const bool          of_undone) const
      {
        HDGData<dim> data = tile;
        data.of_undone    = of_undone;
        data.list         = nullptr;
        data.layout       = kernel.layout;
        data.workspace =
          kernel.shared_bytes == 0 ? stages.workspace.data() : nullptr;
        const unsigned int n_blocks =
          of_undone ? 32 * hdg_blocks_of_undone
                    : std::min(kernel.n_blocks, select(kernel, data));
        if (n_blocks > 0)
          kernel.kernel<<<n_blocks,
                          kernel.n_threads,
                          kernel.shared_bytes,
                          stream>>>(data);
        check(cudaGetLastError(), "the local problems");
      }



      template <int dim>
      unsigned int
      HDGLocalProblems<dim>::select(const Kernel &kernel,
                                    HDGData<dim> &data) const
      {
        // Selects the values in [first, last) from a range of a list, which is
        // sorted.
        const auto select_from = [&](const std::vector<unsigned int> &values,
                                     const unsigned int              *on_device,
                                     const std::size_t  begin_of_values,
                                     const std::size_t  end_of_values,
                                     const unsigned int first,
                                     const unsigned int last) {
          const auto end  = values.begin() + end_of_values,
                     from = std::lower_bound(values.begin() + begin_of_values,
                                             end,
                                             first),
                     to   = std::lower_bound(from, end, last);
          data.list       = on_device + (from - values.begin());
          data.n_listed   = to - from;
          return data.n_listed;
        };
        const auto select_entries =
          [&](const std::vector<unsigned int> &entries,
              const unsigned int              *on_device) {
            return select_from(entries,
                               on_device,
                               0,
                               entries.size(),
                               data.first_entry,
                               data.last_entry);
          };
        if (kernel.what == HDGStage::constant_facets)
          return select_entries(plan.projected_entries, upload.projected_list);
        if (kernel.what == HDGStage::facets && data.projected)
          return select_entries(plan.other_entries, upload.other_list);
        if (kernel.what == HDGStage::facets)
          return data.n_listed = data.last_entry - data.first_entry;
        if (kernel.is_listed())
          return select_from(stages.elimination_list,
                             stages.list.data(),
                             kernel.first_listed,
                             kernel.last_listed,
                             data.first,
                             data.last);
        return data.last - data.first;
      }



      template <int dim>
      void
      HDGLocalProblems<dim>::start_eliminations(
        const std::vector<const Kernel *> &eliminations,
        const HDGData<dim>                &data)
      {
        if (eliminations.empty())
          return;
        const unsigned int n_beside =
          std::min<std::size_t>(n_side, eliminations.size() - 1);
        fork(n_beside);
        // The largest polytopes start first.
        for (std::size_t i = 0; i < eliminations.size(); ++i)
          {
            const Kernel &kernel = *eliminations[eliminations.size() - 1 - i];
            if (i == 0)
              start(kernel, data, nullptr);
            else
              start(kernel, data, side[(i - 1) % n_side]);
          }
        join(n_beside);
      }



      template <int dim>
      void
      HDGLocalProblems<dim>::fork(const unsigned int n)
      {
        forked.record(nullptr);
        for (unsigned int i = 0; i < n; ++i)
          check(cudaStreamWaitEvent(side[i], forked, 0), "the local problems");
      }



      template <int dim>
      void
      HDGLocalProblems<dim>::join(const unsigned int n)
      {
        for (unsigned int i = 0; i < n; ++i)
          {
            joined[i].record(side[i]);
            check(cudaStreamWaitEvent(nullptr, joined[i], 0),
                  "the local problems");
          }
      }



      template class HDGLocalProblems<2>;
      template class HDGLocalProblems<3>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

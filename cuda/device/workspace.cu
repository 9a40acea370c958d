// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "pipeline.h"
#include "workspace.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        // The constructor starts this kernel first, so that a device without
        // code in this library is detected at once.
        __global__ void
        probe_kernel()
        {}
      } // namespace



      Workspace::Workspace(const Parallel    &parallel,
                           const unsigned int n_processes)
      {
        const std::string why = why_unavailable();
        if (!why.empty())
          throw Error(why + " Use the host backend.");
        implementation =
          std::make_unique<Implementation>(parallel, n_processes);
        probe_kernel<<<1, 32, 0, implementation->kernel_stream>>>();
        check(cudaGetLastError(), "the start of a kernel");
        check(cudaStreamSynchronize(implementation->kernel_stream),
              "the start of a kernel");
      }



      Workspace::~Workspace() = default;



      void
      Workspace::reserve_pinned(const std::size_t bytes)
      {
        implementation->reserve_pinned(bytes);
      }



      void
      Workspace::set_limit(const std::size_t bytes)
      {
        const Memory memory = device_memory();
        // Stacks and lists of kernels, and the granularity of allocations.
        const std::size_t reserve =
          std::min(std::size_t(512) << 20, memory.total / 16);
        const std::size_t free = memory.free + implementation->used();
        implementation->limit  = free > reserve ? free - reserve : 0;
        if (bytes > 0)
          implementation->limit = std::min(implementation->limit, bytes);
      }



      std::size_t
      Workspace::limit() const
      {
        return implementation->limit;
      }



      std::size_t
      Workspace::used() const
      {
        return implementation->used();
      }



      void
      Workspace::reserve_mesh(const std::size_t bytes)
      {
        implementation->reserve_mesh(bytes);
      }



      void
      Workspace::release()
      {
        implementation->mesh.release();
        implementation->shared_mesh.reset();
        implementation->packed.release();
        for (Implementation::Slot &slot : implementation->slot)
          slot.memory.release();
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

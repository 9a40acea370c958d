// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_workspace_h
#define tessella_cuda_device_workspace_h

#include <cstddef>
#include <memory>

#include "../../source/base/parallel.h"
#include "device.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Streams and buffers for copies between host and device, and device
       * memory for the mesh and for chunks; all of them are reused from
       * assembly to assembly and from mesh to mesh.
       *
       * The first object that a process creates starts the device, which needs
       * some tenths of a second. Pinned buffers (four of up to 16 MiB, which
       * sufficed for the full rate of copies in measurements on an H200) are
       * allocated at their first use.
       */
      class Workspace
      {
      public:
        /// Workspace of one of @p n_processes processes of this machine that
        /// work at the same time; their number decides how results are copied
        /// to the host.
        Workspace(const Parallel &parallel, const unsigned int n_processes);
        ~Workspace();

        /// Allocates pinned buffers for results of @p bytes.
        void
        reserve_pinned(const std::size_t bytes);

        /// Sets how many bytes of device memory may be used: the free memory
        /// minus a reserve, or @p bytes if that is less and not 0. Memory that
        /// this object holds counts as free.
        void
        set_limit(const std::size_t bytes);

        std::size_t
        limit() const;

        /// Bytes of device memory that this object holds, including the mesh
        /// that it shares with others (see DeviceMesh).
        std::size_t
        used() const;

        /// Allocates @p bytes of device memory for a mesh that is not shared,
        /// or for what is derived from a mesh, and releases the memory of
        /// chunks if the limit requires it.
        void
        reserve_mesh(const std::size_t bytes);

        /// Releases the device memory.
        void
        release();

        struct Implementation;

        Implementation *
        operator->() const
        {
          return implementation.get();
        }

      private:
        std::unique_ptr<Implementation> implementation;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

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
       * Streams and buffers for copies between host and device, and the memory
       * that mesh and chunks take there; kept from assembly to assembly and
       * from mesh to mesh.
       *
       * Creating one starts the device, which takes a process some tenths of a
       * second the first time; pinned buffers (four of up to 16 MB, which
       * measurements on an H200 found enough for the full rate of copies)
       * follow with the first use.
       */
      class Workspace
      {
      public:
        /// For one of @p n_processes of this machine that work at the same
        /// time: how results come to the host depends on it.
        Workspace(const Parallel &parallel, const unsigned int n_processes);
        ~Workspace();

        /// Takes pinned buffers for results of @p bytes.
        void
        reserve_pinned(const std::size_t bytes);

        /// Sets how many bytes of device memory may be used: @p bytes, or what
        /// is free less a reserve if that is less or @p bytes is 0. What this
        /// object holds counts as free.
        void
        set_limit(const std::size_t bytes);

        std::size_t
        limit() const;

        /// Bytes of device memory that this object holds.
        std::size_t
        used() const;

        /// Takes device memory for a mesh of @p bytes; gives chunks' memory
        /// back if the limit asks for it.
        void
        reserve_mesh(const std::size_t bytes);

        /// Gives device memory back.
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

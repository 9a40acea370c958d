// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_pipeline_h
#define tessella_cuda_device_pipeline_h

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "../../source/base/host_memory.h"
#include "array_list.h"
#include "download.h"
#include "kernel_clock.h"
#include "memory.h"
#include "pinned_buffer.h"
#include "workspace.h"

// Members of a Workspace, and copies through its pinned buffers.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      struct Workspace::Implementation
      {
        static constexpr unsigned int n_pieces  = 4;
        static constexpr std::size_t  max_piece = std::size_t(16) << 20,
                                     min_piece  = std::size_t(1) << 18;
        static constexpr unsigned int max_slots = 3;

        /// A pinned buffer and the function that stores its contents.
        struct Piece
        {
          PinnedBuffer                                   buffer;
          Event                                          begin, end;
          bool                                           busy  = false;
          std::size_t                                    bytes = 0;
          std::function<void(const char *, std::size_t)> store;
        };

        /// Device memory of a chunk: tables, matrix values, vector entries.
        struct Slot
        {
          Array<char>       memory;
          Array<char, true> tables;
          Event             upload_begin, upload_end, kernel_begin, kernel_end,
            download_end;
          KernelClock clock, tabulation_clock;
          bool        busy = false, uploads = false;
        };

        Implementation(const Parallel &parallel, const unsigned int n_processes)
          : parallel(parallel)
          , n_processes(n_processes)
          , download(parallel)
        {}

        ~Implementation()
        {
          // After an error, copies into the buffers may be under way. A
          // recording has none.
          if (is_recording())
            return;
          for (const Stream *stream :
               {&upload_stream, &kernel_stream, &download_stream})
            if (cudaStreamSynchronize(*stream) != cudaSuccess)
              cudaGetLastError();
        }

        std::size_t
        used() const
        {
          std::size_t sum = mesh_bytes() + packed.size();
          for (const Slot &s : slot)
            sum += s.memory.size();
          return sum;
        }

        /// Bytes of the mesh and of what is derived from it.
        std::size_t
        mesh_bytes() const
        {
          return mesh.size() +
                 (shared_mesh == nullptr ? 0 : shared_mesh->size());
        }

        /// Releases memory that chunks can allocate again, so that the mesh may
        /// have @p bytes more.
        void
        make_room(const std::size_t bytes)
        {
          packed.release();
          if (used() + bytes > limit)
            for (Slot &s : slot)
              s.memory.release();
        }

        void
        reserve_mesh(const std::size_t bytes)
        {
          if (bytes <= mesh.size())
            return;
          mesh.release();
          make_room(bytes);
          mesh.resize(bytes);
        }

        /// Memory for a mesh that others may share (see DeviceMesh): the one
        /// that this object holds if it is large enough and nobody uses it any
        /// more.
        std::shared_ptr<Array<char>>
        reserve_shared_mesh(const std::size_t bytes)
        {
          if (shared_mesh == nullptr || shared_mesh.use_count() > 1 ||
              shared_mesh->size() < bytes)
            {
              shared_mesh.reset();
              make_room(bytes);
              shared_mesh = std::make_shared<Array<char>>();
              shared_mesh->resize(bytes);
            }
          return shared_mesh;
        }

        void
        reserve_pinned(const std::size_t bytes)
        {
          const std::size_t size =
            std::max(min_piece, std::min(max_piece, bytes / 8));
          piece_bytes = std::max(piece_bytes, size);
          for (Piece &p : piece)
            p.buffer.resize(piece_bytes);
          if (n_processes >= Download::least_processes)
            download.reserve();
        }

        using Part = ArrayList::Part;

        /// Copies @p parts to the device through the pinned buffers.
        void
        upload(char *target, const std::vector<Part> &parts)
        {
          if (parts.empty() || parts.back().bytes == 0)
            return;
          const std::size_t total = parts.back().offset + parts.back().bytes;
          reserve_pinned(total);
          const std::size_t size   = piece_bytes;
          unsigned int      number = 0;
          for (std::size_t first = 0; first < total; first += size, ++number)
            {
              Piece            &p = piece[number % n_pieces];
              const std::size_t n = std::min(size, total - first);
              if (number >= n_pieces)
                p.end.wait();
              parallel(n,
                       std::size_t(1) << 18,
                       [&](const std::size_t begin, const std::size_t end) {
                         // first part that ends after `begin`
                         auto part = std::upper_bound(
                           parts.begin(),
                           parts.end(),
                           first + begin,
                           [](const std::size_t position, const Part &part) {
                             return position < part.offset + part.bytes;
                           });
                         for (;
                              part != parts.end() && part->offset < first + end;
                              ++part)
                           {
                             const std::size_t from =
                               std::max(part->offset, first + begin);
                             const std::size_t to =
                               std::min(part->offset + part->bytes,
                                        first + end);
                             std::memcpy(p.buffer.data() + (from - first),
                                         part->from + (from - part->offset),
                                         to - from);
                           }
                       });
              check(cudaMemcpyAsync(target + first,
                                    p.buffer.data(),
                                    n,
                                    cudaMemcpyHostToDevice,
                                    upload_stream),
                    "a copy to the device");
              p.end.record(upload_stream);
            }
          check(cudaStreamSynchronize(upload_stream), "a copy to the device");
        }

        /// Copies one array to the device.
        template <typename T>
        void
        copy(T *to, const T *from, const std::size_t n)
        {
          upload(reinterpret_cast<char *>(to),
                 {{reinterpret_cast<const char *>(from), n * sizeof(T), 0}});
        }

        const Parallel     parallel;
        const unsigned int n_processes;
        std::size_t        limit = 0, piece_bytes = 0;
        Stream             upload_stream, kernel_stream, download_stream;
        Piece              piece[n_pieces];
        Download           download;
        Array<char>        mesh, packed; ///< packed: tables of all chunks
        /// Memory of the DeviceMesh that was used last.
        std::shared_ptr<Array<char>> shared_mesh;
        Slot                         slot[max_slots];
        Event                        start;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_result_sink_h
#define tessella_cuda_backends_result_sink_h

#include <tessella/lac/block_sparsity.h>

#include <cstddef>
#include <functional>

#include "../device/pipeline_times.h"
#include "chunk_planner.h"
#include "data.h"

// Transfer of the results of a chunk to their target.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Copies from the device through the pinned buffers of a workspace, which
       * form a ring: while one piece is under way, the host's threads store the
       * contents of an earlier one.
       */
      class PieceRing
      {
      public:
        using Pipeline = Workspace::Implementation;
        using Store    = std::function<void(const char *, std::size_t)>;

        PieceRing(Pipeline &workspace, PipelineTimes &times)
          : workspace(workspace)
          , times(times)
        {}

        /// Starts the copy of a piece, which @p store later receives. Waits for
        /// a free buffer.
        void
        start(const char *from, const std::size_t bytes, Store store);

        /// Waits until all pieces are stored.
        void
        finish();

      private:
        void
        finish_one();

        Pipeline      &workspace;
        PipelineTimes &times;
        unsigned int   n_started = 0, n_finished = 0;
      };



      /**
       * Destination of the results of one assembly: host arrays, a callback
       * that receives block rows, or arrays on the device, to which kernels
       * write directly. The matrix and the right-hand side have destinations of
       * their own.
       *
       * For each chunk, in order: before_chunk(), bind(), the kernels, and
       * after_chunk(), which starts copies to the host; then finish().
       */
      template <int dim, typename Number>
      class ResultSink
      {
      public:
        using Pipeline = Workspace::Implementation;

        /// For the rows of polytopes from @p first on. All objects must outlive
        /// this one.
        ResultSink(const FormData<dim>  &form,
                   const Target<Number> &target,
                   const PolytopicDoFs  &dofs,
                   const BlockSparsity  &sparsity,
                   const unsigned int    first,
                   Pipeline             &workspace,
                   PipelineTimes        &times);

        /// Whether results are copied to the host.
        bool
        copies() const
        {
          return values_to_host || rhs_to_host;
        }

        /// Size of a matrix value and a vector entry in a slot, or 0 if they
        /// are not stored there.
        std::size_t
        values_size() const
        {
          return values_to_host ? sizeof(Number) : 0;
        }
        std::size_t
        rhs_size() const
        {
          return rhs_to_host ? sizeof(Number) : 0;
        }

        /// Called once, when the slots are allocated. @p plan must stay alive.
        void
        start(const ChunkPlan &plan);

        /// Waits until the slot of chunk @p number can be used.
        void
        before_chunk(const unsigned int number);

        /// Sets the arrays to which kernels write.
        void
        bind(Data<dim> &data, const ChunkInSlot &chunk) const;

        /// Starts copies when the kernels of chunk @p number are started: those
        /// of this chunk, or those of the preceding one if its results can be
        /// stored while this chunk is computed.
        void
        after_chunk(const unsigned int number);

        /// Waits until all results are stored.
        void
        finish();

      private:
        /// Starts the copies of a chunk.
        void
        download(const unsigned int number);

        /// Starts the copy of an array of a chunk to the host.
        void
        download_array(const ChunkInSlot &chunk,
                       const char        *from,
                       char              *to,
                       const std::size_t  bytes);

        /// Starts the copies of a chunk's block rows to the callback.
        void
        download_rows(const ChunkInSlot &chunk);

        /// Starts the copy of block rows [begin, end).
        void
        start_rows(const char        *from,
                   const unsigned int begin,
                   const unsigned int end);

        /// Waits until the workers have copied the results of a chunk.
        void
        finish_chunk(const unsigned int number);

        const Target<Number> &target;
        const PolytopicDoFs  &dofs;
        const BlockSparsity  &sparsity;
        const unsigned int    first;
        Pipeline             &workspace;
        PipelineTimes        &times;
        PieceRing             pieces;
        const bool            values_to_host, rhs_to_host;
        /// Class Download makes the copies.
        const bool       by_workers;
        const ChunkPlan *plan = nullptr;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

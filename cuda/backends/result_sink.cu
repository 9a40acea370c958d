// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <utility>

#include "result_sink.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// Bytes that a thread copies at once from a pinned buffer.
        constexpr std::size_t copy_grain = std::size_t(1) << 18;
        /// Number of matrix values in the block rows that a thread passes on.
        constexpr std::size_t rows_grain = std::size_t(1) << 15;
      } // namespace



      void
      PieceRing::start(const char *from, const std::size_t bytes, Store store)
      {
        if (n_started - n_finished == Pipeline::n_pieces)
          finish_one();
        auto &piece = workspace.piece[n_started % Pipeline::n_pieces];
        ++n_started;
        piece.buffer.resize(bytes);
        piece.bytes = bytes;
        piece.store = std::move(store);
        piece.begin.record(workspace.download_stream);
        check(cudaMemcpyAsync(piece.buffer.data(),
                              from,
                              bytes,
                              cudaMemcpyDeviceToHost,
                              workspace.download_stream),
              "a copy to the host");
        piece.end.record(workspace.download_stream);
        times.times.bytes_down += bytes;
      }



      void
      PieceRing::finish_one()
      {
        auto &piece = workspace.piece[n_finished % Pipeline::n_pieces];
        ++n_finished;
        piece.end.wait();
        times.note(piece.begin, piece.end, times.times.download);
        piece.store(piece.buffer.data(), piece.bytes);
      }



      void
      PieceRing::finish()
      {
        while (n_finished < n_started)
          finish_one();
      }



      template <int dim, typename Number>
      ResultSink<dim, Number>::ResultSink(const FormData<dim>  &form,
                                          const Target<Number> &target,
                                          const PolytopicDoFs  &dofs,
                                          const BlockSparsity  &sparsity,
                                          const unsigned int    first,
                                          Pipeline             &workspace,
                                          PipelineTimes        &times)
        : target(target)
        , dofs(dofs)
        , sparsity(sparsity)
        , first(first)
        , workspace(workspace)
        , times(times)
        , pieces(workspace, times)
        , values_to_host(form.matrix && target.device_values == nullptr)
        , rhs_to_host(form.rhs && target.device_rhs == nullptr)
        , by_workers((values_to_host || rhs_to_host) &&
                     !target.store_block_rows &&
                     workspace.n_processes >= Download::least_processes)
      {}



      template <int dim, typename Number>
      void
      ResultSink<dim, Number>::start(const ChunkPlan &plan)
      {
        this->plan = &plan;
        if (by_workers)
          workspace.download.start();
      }



      template <int dim, typename Number>
      void
      ResultSink<dim, Number>::before_chunk(const unsigned int number)
      {
        if (by_workers && plan->n_slots == 1 && number > 0)
          finish_chunk(number - 1);
      }



      template <int dim, typename Number>
      void
      ResultSink<dim, Number>::bind(Data<dim>         &D,
                                    const ChunkInSlot &chunk) const
      {
        const unsigned int begin = chunk.chunk.begin;
        // Kernels write to values + value_offset[k] - first_value.
        D.values = values_to_host ? reinterpret_cast<Number *>(chunk.values)
                                  : target.device_values;
        D.first_value = sparsity.value_offset[values_to_host ? begin : first];
        D.rhs         = rhs_to_host ? reinterpret_cast<Number *>(chunk.rhs)
                                    : target.device_rhs;
        D.first_dof   = dofs.dof_offset[rhs_to_host ? begin : first];
      }



      template <int dim, typename Number>
      void
      ResultSink<dim, Number>::after_chunk(const unsigned int number)
      {
        if (by_workers)
          {
            // Workers may begin with this chunk once the preceding one is
            // finished.
            download(number);
            if (plan->n_slots > 1 && number > 0)
              finish_chunk(number - 1);
          }
        else if (plan->n_slots == 1)
          download(number);
        else if (number > 0)
          download(number - 1);
      }



      template <int dim, typename Number>
      void
      ResultSink<dim, Number>::finish()
      {
        if (by_workers && plan->size() > 0)
          finish_chunk(plan->size() - 1);
        else if (plan->n_slots > 1)
          download(plan->size() - 1);
        pieces.finish();
      }



      template <int dim, typename Number>
      void
      ResultSink<dim, Number>::download(const unsigned int number)
      {
        const ChunkInSlot  chunk = plan->chunk_in_slot(workspace, number);
        const unsigned int begin = chunk.chunk.begin;
        check(cudaStreamWaitEvent(workspace.download_stream,
                                  chunk.slot.kernel_end,
                                  0),
              "the assembly on the device");
        if (values_to_host && target.store_block_rows)
          download_rows(chunk);
        else if (values_to_host)
          download_array(chunk,
                         chunk.values,
                         reinterpret_cast<char *>(
                           target.host_values + (sparsity.value_offset[begin] -
                                                 sparsity.value_offset[first])),
                         chunk.layout.values);
        if (rhs_to_host)
          download_array(chunk,
                         chunk.rhs,
                         reinterpret_cast<char *>(
                           target.host_rhs +
                           (dofs.dof_offset[begin] - dofs.dof_offset[first])),
                         chunk.layout.rhs);
        chunk.slot.download_end.record(workspace.download_stream);
      }



      template <int dim, typename Number>
      void
      ResultSink<dim, Number>::download_array(const ChunkInSlot &chunk,
                                              const char        *from,
                                              char              *to,
                                              const std::size_t  bytes)
      {
        if (by_workers)
          {
            workspace.download.add(
              chunk.number, chunk.slot.kernel_end, from, to, bytes);
            times.times.bytes_down += bytes;
            return;
          }
        const std::size_t piece_size = workspace.piece_bytes;
        for (std::size_t begin = 0; begin < bytes; begin += piece_size)
          pieces.start(
            from + begin,
            std::min(piece_size, bytes - begin),
            [this, to, begin](const char *buffer, const std::size_t n) {
              workspace.parallel(
                n, copy_grain, [&](const std::size_t b, const std::size_t e) {
                  copy_past_caches(to + begin + b, buffer + b, e - b);
                });
            });
      }



      template <int dim, typename Number>
      void
      ResultSink<dim, Number>::download_rows(const ChunkInSlot &chunk)
      {
        // Each piece has as many block rows as fit into a buffer, but at least
        // one.
        const auto        &offset    = sparsity.value_offset;
        const std::size_t  most      = workspace.piece_bytes / sizeof(Number);
        const unsigned int chunk_end = chunk.chunk.end;
        for (unsigned int k = chunk.chunk.begin; k < chunk_end;)
          {
            const auto         end = std::upper_bound(offset.begin() + k + 2,
                                              offset.begin() + chunk_end + 1,
                                              offset[k] + most);
            const unsigned int k_end =
              static_cast<unsigned int>(end - offset.begin() - 1);
            start_rows(chunk.values + (offset[k] - offset[chunk.chunk.begin]) *
                                        sizeof(Number),
                       k,
                       k_end);
            k = k_end;
          }
      }



      template <int dim, typename Number>
      void
      ResultSink<dim, Number>::start_rows(const char        *from,
                                          const unsigned int begin,
                                          const unsigned int end)
      {
        const std::uint64_t first_value = sparsity.value_offset[begin],
                            n_values = sparsity.value_offset[end] - first_value;
        pieces.start(
          from,
          n_values * sizeof(Number),
          [this, begin, end, first_value, n_values](const char *buffer,
                                                    const std::size_t) {
            const Number *const values =
              reinterpret_cast<const Number *>(buffer);
            const std::size_t average = n_values / (end - begin) + 1;
            workspace.parallel(end - begin,
                               rows_grain / average + 1,
                               [&](const std::size_t b, const std::size_t e) {
                                 target.store_block_rows(
                                   begin + b,
                                   begin + e,
                                   values + (sparsity.value_offset[begin + b] -
                                             first_value));
                               });
          });
      }



      template <int dim, typename Number>
      void
      ResultSink<dim, Number>::finish_chunk(const unsigned int number)
      {
        const auto end = workspace.download.finish(number);
        times.note_download(plan->slot(workspace, number).kernel_end, end);
      }



      template class ResultSink<2, double>;
      template class ResultSink<3, double>;
      template class ResultSink<4, double>;
      template class ResultSink<2, float>;
      template class ResultSink<3, float>;
      template class ResultSink<4, float>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

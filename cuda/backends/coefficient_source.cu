// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <vector>

#include "coefficient_source.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        // Packed source of each array of the volume tables. The kernel expands
        // packed tables that the host has sent into the tables of a chunk:
        // points of the volume in the first grid direction, arrays in the
        // second.
        template <int dim>
        struct PackedSources
        {
          int    array[PackedTables<dim>::max_arrays];
          double f;
        };

        template <int dim>
        __global__ void
        unpack_volume_kernel(const double       *packed, // at the first point
                             const std::uint64_t n_packed,
                             const PackedSources<dim> sources,
                             const std::uint64_t      n,
                             double                  *table)
        {
          const std::uint64_t q =
            blockIdx.x * std::uint64_t(blockDim.x) + threadIdx.x;
          if (q >= n)
            return;
          const int source = sources.array[blockIdx.y];
          table[blockIdx.y * n + q] =
            source < 0 ? sources.f : packed[source * n_packed + q];
        }

        // One warp per entry of polytope_interface.
        template <int dim>
        __global__ void
        unpack_facets_kernel(const double        *interior,
                             const std::uint64_t  n_interior,
                             const double        *boundary,
                             const std::uint64_t  n_boundary,
                             const std::uint64_t *first_packed,
                             const unsigned int  *interfaces,
                             const unsigned int  *polytopes,
                             const std::uint64_t *first_point,
                             const unsigned int   first_entry,
                             const unsigned int   last_entry,
                             const FacetLayout    layout,
                             const bool           continuous,
                             const std::uint64_t  n,
                             double              *table)
        {
          const std::uint64_t entry =
            first_entry +
            (blockIdx.x * std::uint64_t(blockDim.x) + threadIdx.x) / 32;
          if (entry >= last_entry)
            return;
          const unsigned int  code  = interfaces[entry];
          const std::uint64_t from  = first_packed[code / 2],
                              begin = first_point[entry];
          const unsigned int n_points =
            static_cast<unsigned int>(first_point[entry + 1] - begin);
          table += begin - first_point[first_entry];
          const bool on_boundary =
            polytopes[2 * std::size_t(code / 2) + 1] == invalid_index;
          for (unsigned int q = threadIdx.x % 32; q < n_points; q += 32)
            if (on_boundary)
              {
                const double *p    = boundary + from + q;
                const auto    move = [&](const int array, const int n_arrays) {
                  for (int d = 0; array >= 0 && d < n_arrays;
                       ++d, p += n_boundary)
                    table[(array + d) * n + q] = *p;
                };
                move(layout.c[0], 1);
                move(layout.b[0], dim);
                move(layout.r, 1);
                move(layout.s, dim);
              }
            else
              {
                const unsigned int side    = code % 2;
                const double      *p       = interior + from + q;
                table[layout.c[0] * n + q] = p[side * n_interior];
                for (int d = 0; layout.b[0] >= 0 && d < dim; ++d)
                  {
                    const double b0                  = p[(2 + d) * n_interior],
                                 b1                  = continuous
                                                         ? b0
                                                         : p[(2 + dim + d) * n_interior];
                    table[(layout.b[0] + d) * n + q] = side == 0 ? b0 : -b1;
                    table[(layout.b[1] + d) * n + q] = side == 0 ? b1 : -b0;
                  }
              }
        }



        /// Tables that kernels compute.
        template <int dim>
        class DeviceSource : public CoefficientSource<dim>
        {
        public:
          DeviceSource(const typename CoefficientSource<dim>::Context &context,
                       DeviceEvaluation<dim> &evaluation)
            : CoefficientSource<dim>(context)
            , evaluation(evaluation)
          {}

          void
          send(const ChunkInSlot &chunk) override
          {
            chunk.slot.uploads = false;
          }

          void
          launch(const ChunkInSlot &chunk) override
          {
            evaluation.launch_tables(this->context.form,
                                     chunk.chunk,
                                     chunk.volume_table,
                                     chunk.facet_table,
                                     &chunk.slot.tabulation_clock);
          }

          bool
          records_times() const override
          {
            return true;
          }

          void
          finish(const ChunkPlan &plan) override
          {
            evaluation.check_points(
              this->context.form,
              plan.chunks,
              this->context.workspace.slot[0].memory.data());
          }

        private:
          DeviceEvaluation<dim> &evaluation;
        };



        /// Tables that the host computes, chunk by chunk.
        template <int dim>
        class HostSource : public CoefficientSource<dim>
        {
        public:
          HostSource(const typename CoefficientSource<dim>::Context &context,
                     const Tabulation                               &tabulation)
            : CoefficientSource<dim>(context)
            , tabulation(tabulation)
          {
            if (tabulation.start_chunks)
              tabulation.start_chunks();
          }

          void
          send(const ChunkInSlot &chunk) override
          {
            Workspace::Implementation::Slot &slot = chunk.slot;
            // Both tables, as they are stored in the slot.
            const std::size_t first_facet = aligned(chunk.layout.volume),
                              bytes       = first_facet + chunk.layout.facets;
            slot.uploads                  = bytes > 0;
            if (!slot.uploads)
              return;
            slot.tables.resize(bytes);
            char *const table = slot.tables.data();
            this->context.times.tabulate([&]() {
              tabulation.chunk(chunk.chunk,
                               reinterpret_cast<double *>(table),
                               reinterpret_cast<double *>(table + first_facet));
            });
            this->upload_tables(chunk, chunk.volume_table, bytes);
          }

        private:
          const Tabulation &tabulation;
        };



        /**
         * Tables that the host computes in two rounds, so that every
         * coefficient is evaluated once: the volume tables of all chunks first,
         * from which the penalty follows, and then the facet tables of each
         * chunk. They travel as PackedTables describes and stay on the device,
         * in Workspace::Implementation::packed, until kernels expand them.
         */
        template <int dim>
        class TwoRoundSource : public CoefficientSource<dim>
        {
        public:
          using Slot = Workspace::Implementation::Slot;

          TwoRoundSource(
            const typename CoefficientSource<dim>::Context &context,
            const Tabulation                               &tabulation,
            const Data<dim>                                &data)
            : CoefficientSource<dim>(context)
            , tabulation(tabulation)
            , data(data)
            , packed(context.form)
            , packed_facets(context.form.packed_facets &&
                            context.form.facet_layout.n > 0)
            , points(context.points)
          {}

          /// Takes memory for the tables of all chunks; returns false if this
          /// would be more than half of what is @p available.
          bool
          reserve(std::size_t &available)
          {
            const auto        &context = this->context;
            const unsigned int first = context.first, last = context.last;
            all.n_volume = points.volume(first, last);
            if (packed_facets)
              {
                all.n_interior = points.packed(false, first, last);
                all.n_boundary = points.packed(true, first, last);
              }
            const std::size_t volume =
                                aligned(8 * all.n_volume * packed.n_volume),
                              interior =
                                aligned(8 * all.n_interior * packed.n_interior),
                              bytes =
                                volume + interior +
                                aligned(8 * all.n_boundary * packed.n_boundary);
            if (bytes > available / 2)
              return false;
            available -= bytes;
            auto &W = context.workspace;
            if (W.packed.size() < bytes && W.used() + bytes > W.limit)
              for (auto &slot : W.slot)
                slot.memory.release();
            W.packed.resize(bytes);
            all.volume   = reinterpret_cast<double *>(W.packed.data());
            all.interior = reinterpret_cast<double *>(W.packed.data() + volume);
            all.boundary =
              reinterpret_cast<double *>(W.packed.data() + volume + interior);
            return true;
          }

          /// The first round.
          void
          start(const ChunkPlan &plan) override
          {
            const auto &context = this->context;
            symmetric.resize(plan.size());
            for (unsigned int c = 0; c < plan.size(); ++c)
              {
                const Chunk &chunk = plan.chunks[c];
                Slot        &slot  = plan.slot(context.workspace, c);
                context.times.finish_upload(slot);
                slot.tables.resize(8 * chunk.n_volume_points * packed.n_volume);
                double *const table =
                  reinterpret_cast<double *>(slot.tables.data());
                context.times.tabulate(
                  [&]() { symmetric[c] = tabulation.volume(chunk, table); });
                slot.upload_begin.record(context.workspace.upload_stream);
                upload_arrays(table,
                              chunk.n_volume_points,
                              all.volume +
                                points.volume(context.first, chunk.begin),
                              all.n_volume,
                              packed.n_volume -
                                (symmetric[c] ? packed.n_lower : 0));
                slot.upload_end.record(context.workspace.upload_stream);
                slot.uploads = true;
              }
            context.times.tabulate([&]() {
              if (tabulation.start_facets)
                tabulation.start_facets();
            });
          }

          /// The second round.
          void
          send(const ChunkInSlot &chunk) override
          {
            chunk.slot.uploads = true;
            if (packed_facets)
              send_packed_facets(chunk);
            else
              send_facets(chunk);
          }

          void
          launch(const ChunkInSlot &chunk) override
          {
            const auto        &W      = this->context.workspace;
            const cudaStream_t stream = W.kernel_stream;
            chunk.slot.tabulation_clock.start(stream);
            unpack_volume(chunk, stream);
            if (packed_facets)
              unpack_facets(chunk, stream);
            check(cudaGetLastError(), "the start of a kernel");
            chunk.slot.tabulation_clock.stop("tables", stream);
          }

          bool
          records_times() const override
          {
            return true;
          }

        private:
          // Copies n_arrays arrays of n values each from a pinned buffer into
          // arrays of n_all values on the device.
          void
          upload_arrays(const double       *from,
                        const std::uint64_t n,
                        double             *to,
                        const std::uint64_t n_all,
                        const int           n_arrays)
          {
            if (n == 0 || n_arrays == 0)
              return;
            check(cudaMemcpy2DAsync(to,
                                    n_all * sizeof(double),
                                    from,
                                    n * sizeof(double),
                                    n * sizeof(double),
                                    n_arrays,
                                    cudaMemcpyHostToDevice,
                                    this->context.workspace.upload_stream),
                  "a copy to the device");
            this->context.times.times.bytes_up +=
              sizeof(double) * double(n) * n_arrays;
          }

          void
          send_packed_facets(const ChunkInSlot &chunk)
          {
            const unsigned int first = this->context.first,
                               begin = chunk.chunk.begin, end = chunk.chunk.end;
            const std::uint64_t n_interior = points.packed(false, begin, end),
                                n_boundary = points.packed(true, begin, end);
            chunk.slot.tables.resize(8 * (n_interior * packed.n_interior +
                                          n_boundary * packed.n_boundary));
            double *const interior = reinterpret_cast<double *>(
                            chunk.slot.tables.data()),
                          *const boundary =
                            interior + n_interior * packed.n_interior;
            this->context.times.tabulate([&]() {
              tabulation.packed_facets(chunk.chunk, interior, boundary);
            });
            this->begin_upload(chunk, false);
            upload_arrays(interior,
                          n_interior,
                          all.interior + points.packed(false, first, begin),
                          all.n_interior,
                          packed.n_interior);
            upload_arrays(boundary,
                          n_boundary,
                          all.boundary + points.packed(true, first, begin),
                          all.n_boundary,
                          packed.n_boundary);
            this->end_upload(chunk);
          }

          void
          send_facets(const ChunkInSlot &chunk)
          {
            const std::size_t bytes = chunk.layout.facets;
            chunk.slot.tables.resize(bytes);
            this->context.times.tabulate([&]() {
              if (bytes > 0)
                tabulation.facets(chunk.chunk,
                                  reinterpret_cast<double *>(
                                    chunk.slot.tables.data()));
            });
            this->upload_tables(chunk, chunk.facet_table, bytes);
          }

          void
          unpack_volume(const ChunkInSlot &chunk, const cudaStream_t stream)
          {
            const FormData<dim> &form     = this->context.form;
            const std::uint64_t  n_points = chunk.chunk.n_volume_points;
            const int            n_arrays = form.volume_layout.n;
            if (n_points == 0 || n_arrays == 0)
              return;
            PackedSources<dim> sources;
            std::copy_n(symmetric[chunk.number] ? packed.symmetric
                                                : packed.volume,
                        n_arrays,
                        sources.array);
            sources.f = form.f;
            unpack_volume_kernel<dim>
              <<<dim3((n_points + 255) / 256, n_arrays), 256, 0, stream>>>(
                all.volume +
                  points.volume(this->context.first, chunk.chunk.begin),
                all.n_volume,
                sources,
                n_points,
                chunk.volume_table);
          }

          void
          unpack_facets(const ChunkInSlot &chunk, const cudaStream_t stream)
          {
            const auto        &offset = points.mesh.polytope_interface_offset;
            const unsigned int first_entry = offset[chunk.chunk.begin],
                               last_entry  = offset[chunk.chunk.end];
            if (last_entry > first_entry)
              unpack_facets_kernel<dim>
                <<<(last_entry - first_entry + 7) / 8, 256, 0, stream>>>(
                  all.interior,
                  all.n_interior,
                  all.boundary,
                  all.n_boundary,
                  points.first_packed(),
                  data.polytope_interface,
                  data.interface_polytope,
                  data.entry_q,
                  first_entry,
                  last_entry,
                  this->context.form.facet_layout,
                  this->context.form.continuous,
                  chunk.chunk.n_facet_points,
                  chunk.facet_table);
          }

          const Tabulation        &tabulation;
          const Data<dim>         &data;
          const PackedTables<dim>  packed;
          const bool               packed_facets;
          const PointNumbers<dim> &points;

          /// Tables of all chunks on the device: volume, interior and boundary
          /// facets, and their numbers of points.
          struct
          {
            std::uint64_t n_volume = 0, n_interior = 0, n_boundary = 0;
            double *volume = nullptr, *interior = nullptr, *boundary = nullptr;
          } all;
          /// For each chunk: its diffusion tensors are symmetric.
          std::vector<char> symmetric;
        };
      } // namespace



      template <int dim>
      CoefficientSource<dim>::CoefficientSource(const Context &context)
        : context(context)
      {}



      template <int dim>
      std::unique_ptr<CoefficientSource<dim>>
      CoefficientSource<dim>::make(const Context         &context,
                                   const Tabulation      &tabulation,
                                   DeviceEvaluation<dim> *evaluation,
                                   const Data<dim>       &data,
                                   std::size_t           &available)
      {
        if (evaluation == nullptr && tabulation.volume)
          {
            auto source =
              std::make_unique<TwoRoundSource<dim>>(context, tabulation, data);
            if (source->reserve(available))
              return source;
          }
        Pipeline &W = context.workspace;
        if (W.used() > W.limit)
          W.packed.release();
        if (evaluation != nullptr)
          return std::make_unique<DeviceSource<dim>>(context, *evaluation);
        return std::make_unique<HostSource<dim>>(context, tabulation);
      }



      template <int dim>
      void
      CoefficientSource<dim>::begin_upload(const ChunkInSlot &chunk,
                                           const bool         overwrites)
      {
        if (chunk.slot.busy && overwrites)
          check(cudaStreamWaitEvent(context.workspace.upload_stream,
                                    chunk.slot.download_end,
                                    0),
                "the assembly on the device");
        chunk.slot.upload_begin.record(context.workspace.upload_stream);
      }



      template <int dim>
      void
      CoefficientSource<dim>::end_upload(const ChunkInSlot &chunk)
      {
        chunk.slot.upload_end.record(context.workspace.upload_stream);
        check(cudaStreamWaitEvent(context.workspace.kernel_stream,
                                  chunk.slot.upload_end,
                                  0),
              "the assembly on the device");
      }



      template <int dim>
      void
      CoefficientSource<dim>::upload_tables(const ChunkInSlot &chunk,
                                            double            *to,
                                            const std::size_t  bytes)
      {
        begin_upload(chunk, true);
        if (bytes > 0)
          check(cudaMemcpyAsync(to,
                                chunk.slot.tables.data(),
                                bytes,
                                cudaMemcpyHostToDevice,
                                context.workspace.upload_stream),
                "a copy to the device");
        context.times.times.bytes_up += bytes;
        end_upload(chunk);
      }



      template class CoefficientSource<2>;
      template class CoefficientSource<3>;
      template class CoefficientSource<4>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <cmath>

#include "../device/pipeline.h"
#include "../device/pipeline_times.h"
#include "assembly.h"
#include "chunk_planner.h"
#include "coefficient_source.h"
#include "device_evaluation.h"
#include "launch.h"
#include "point_numbers.h"
#include "result_sink.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        // Operations on vectors and matrices on the device run in the default
        // stream, for which the streams of the workspace do not wait: fields
        // may still be under computation, and the target matrix may still be
        // read.
        void
        wait_for_default_stream()
        {
          check(cudaStreamSynchronize(nullptr), "work on the device");
        }
      } // namespace



      template <int dim>
      struct Assembler<dim>::Implementation
      {
        explicit Implementation(const AssemblerInput<dim> &input);

        /// Arrays on the device that do not depend on the form, and that are
        /// not part of a mesh that is shared with others.
        struct OwnArrays
        {
          /// Adds them to a list, which later sets the members of @p data and
          /// of this object.
          void
          add_to(ArrayList                &list,
                 Data<dim>                &data,
                 const PolytopicMesh<dim> &mesh,
                 const PolytopicDoFs      &dofs,
                 const BlockSparsity      &sparsity,
                 const RuleTables         &rules,
                 const std::size_t         n_exponents);

          // Host arrays, null if only sizes are of interest.
          const double        *box_map   = nullptr;
          const std::uint64_t *subcell_q = nullptr, *facet_q = nullptr;
          const unsigned char *exponents = nullptr;
          // On the device; set before the kernels that read them.
          double        *sigma   = nullptr;
          std::uint64_t *entry_q = nullptr;
        };

        /// Maps from bounding boxes to [-1, 1]^dim, see Data::box_map.
        RawArray<double>
        make_box_map() const;

        /// Sets all data on the device that do not depend on the form.
        void
        upload();

        /// Prepares kernels, point numbers and penalty for a form.
        void
        select_form(const FormData<dim>   &form,
                    const Penalty         &penalty,
                    const Tabulation      &tabulation,
                    const Evaluation<dim> *evaluation);

        /// Device memory in bytes that is left for chunks.
        std::size_t
        available_memory() const;

        ChunkPace
        pace(const FormData<dim> &form,
             const bool           on_device,
             const bool           copies) const;

        /// Starts the computation of a chunk.
        template <typename Number>
        void
        start_chunk(const ChunkInSlot             &chunk,
                    CoefficientSource<dim>        &source,
                    const ResultSink<dim, Number> &sink,
                    PipelineTimes                 &times);

        /// Waits for the kernels of a slot, and adds their times.
        void
        finish_slot(Workspace::Implementation::Slot &slot,
                    const CoefficientSource<dim>    &source,
                    PipelineTimes                   &times) const;

        /// Waits until no copy may still write to the buffers, after an error.
        void
        cancel();

        const AssemblerInput<dim>     in;
        const PolytopicMesh<dim>     &mesh;
        Workspace                    &workspace;
        PointNumbers<dim>             points;
        DeviceEvaluation<dim>         evaluation;
        std::unique_ptr<Kernels<dim>> kernels;
        /// Null if nobody else can use the copy of the mesh.
        std::shared_ptr<const DeviceMesh<dim>> shared_mesh;
        OwnArrays                              own;
        Data<dim>                              D = {};
        /// Revision of the penalty that is on the device.
        std::uint64_t sigma_revision = 0;
      };



      template <int dim>
      Assembler<dim>::Implementation::Implementation(
        const AssemblerInput<dim> &input)
        : in(input)
        , mesh(in.mesh)
        , workspace(in.workspace)
        , points(in)
        , evaluation(in, points)
      {
        upload();
        for (unsigned int p = 0; p <= 10; ++p)
          {
            for (unsigned int t = 0; t < 5; ++t)
              D.subcell_rule[t][p] = in.rules.subcell[t][p];
            for (unsigned int t = 0; t < 4; ++t)
              D.facet_rule[t][p] = in.rules.facet[t][p];
          }
        kernels = std::make_unique<Kernels<dim>>(in);
        kernels->bind(D);
      }



      template <int dim>
      void
      Assembler<dim>::Implementation::OwnArrays::add_to(
        ArrayList                &list,
        Data<dim>                &D,
        const PolytopicMesh<dim> &mesh,
        const PolytopicDoFs      &dofs,
        const BlockSparsity      &sparsity,
        const RuleTables         &rules,
        const std::size_t         n_exponents)
      {
        if (!DeviceMesh<dim>::is_shareable(mesh))
          D.MeshArrays<dim>::add_to(list, mesh);
        D.SpaceArrays::add_to(list, dofs);
        list.add(D.block_offset, sparsity.block_offset);
        list.add(D.value_offset, sparsity.value_offset);
        list.add(D.block_column, sparsity.block_column);
        list.add(D.column_offset, sparsity.column_offset);
        list.add(D.row_width, sparsity.row_width);
        list.add(D.box_map, box_map, 4 * dim * std::size_t(mesh.n_polytopes()));
        list.add(D.subcell_q, subcell_q, mesh.n_subcells() + std::size_t(1));
        list.add(D.facet_q, facet_q, mesh.n_facets() + std::size_t(1));
        list.add(D.rules, rules.data);
        if (const unsigned int *const q = rules.volume_points.offset)
          list.add(D.volume_points,
                   rules.volume_points.points,
                   (dim + std::size_t(1)) * (q[mesh.n_subcells()] - q[0]));
        list.add(D.exponents, exponents, n_exponents);
        list.reserve(sigma, mesh.n_facets());
        list.reserve(entry_q, mesh.polytope_interface.size() + 1);
      }



      template <int dim>
      RawArray<double>
      Assembler<dim>::Implementation::make_box_map() const
      {
        RawArray<double> map(4 * dim * std::size_t(mesh.n_polytopes()));
        in.parallel(mesh.n_polytopes(),
                    1024,
                    [&](const std::size_t begin, const std::size_t end) {
                      for (std::size_t k = begin; k < end; ++k)
                        for (unsigned int d = 0; d < dim; ++d)
                          {
                            const double lower = mesh.box[2 * dim * k + d],
                                         upper =
                                           mesh.box[2 * dim * k + dim + d];
                            const double scale = 2. / (upper - lower),
                                         value =
                                           std::sqrt(1. / (upper - lower));
                            double *const entry = &map[4 * (dim * k + d)];
                            entry[0]            = 0.5 * (lower + upper);
                            entry[1]            = scale;
                            entry[2]            = value;
                            entry[3]            = value * scale;
                          }
                    });
        return map;
      }



      template <int dim>
      void
      Assembler<dim>::Implementation::upload()
      {
        const RawArray<double> map = make_box_map();
        own.box_map                = map.data();
        own.subcell_q              = points.subcell.data();
        own.facet_q                = points.facet.data();
        own.exponents              = in.exponents.data();
        ArrayList list;
        own.add_to(
          list, D, mesh, in.dofs, in.sparsity, in.rules, in.exponents.size());
        if (DeviceMesh<dim>::is_shareable(mesh))
          {
            shared_mesh = DeviceMesh<dim>::share(mesh, &workspace);
            static_cast<MeshArrays<dim> &>(D) = shared_mesh->arrays();
          }
        // As large as memory() says, which includes the data of the kernels.
        workspace->reserve_mesh(
          list.bytes() +
          Kernels<dim>::memory(mesh, in.dofs, in.sparsity, in.rules));
        list.place(workspace->mesh.data());
        workspace->upload(workspace->mesh.data(), list.parts());
        D.sigma   = own.sigma;
        D.entry_q = own.entry_q;
      }



      template <int dim>
      void
      Assembler<dim>::Implementation::select_form(const FormData<dim> &form,
                                                  const Penalty       &penalty,
                                                  const Tabulation &tabulation,
                                                  const Evaluation<dim> *given)
      {
        kernels->prepare(form, points.subcell.data(), D);
        kernels->bind(D);
        D.form = form;
        points.select_entries(form.constant_facets,
                              form.constant_bottom,
                              own.entry_q);
        if (given != nullptr)
          evaluation.prepare(*given, D);
        else if (tabulation.volume && form.packed_facets &&
                 form.facet_layout.n > 0)
          points.count_packed();
        const bool device_penalty = given != nullptr && given->penalty;
        if ((form.constant_facets || given != nullptr) && !device_penalty &&
            (penalty.revision == 0 || penalty.revision != sigma_revision))
          {
            workspace->copy(own.sigma, penalty.sigma, mesh.n_facets());
            sigma_revision = penalty.revision;
          }
      }



      template <int dim>
      std::size_t
      Assembler<dim>::Implementation::available_memory() const
      {
        const std::size_t present = workspace->mesh_bytes() +
                                    kernels->memory() + evaluation.memory() +
                                    points.memory(),
                          limit = workspace->limit;
        return limit > present ? limit - present : 0;
      }



      template <int dim>
      ChunkPace
      Assembler<dim>::Implementation::pace(const FormData<dim> &form,
                                           const bool           on_device,
                                           const bool           copies) const
      {
        ChunkPace pace;
        pace.even =
          !on_device && !(form.constant_volume && form.constant_facets);
        pace.on_device = on_device && !copies;
        pace.whole     = pace.on_device || kernels->fast(form);
        return pace;
      }



      template <int dim>
      template <typename Number>
      void
      Assembler<dim>::Implementation::start_chunk(
        const ChunkInSlot             &chunk,
        CoefficientSource<dim>        &source,
        const ResultSink<dim, Number> &sink,
        PipelineTimes                 &times)
      {
        auto              &slot   = chunk.slot;
        const cudaStream_t stream = workspace->kernel_stream;
        if (slot.busy)
          finish_slot(slot, source, times);
        times.finish_upload(slot);
        source.send(chunk);
        // The former contents of the slot must have left it.
        if (slot.busy)
          check(cudaStreamWaitEvent(stream, slot.download_end, 0),
                "the assembly on the device");

        const unsigned int begin = chunk.chunk.begin, end = chunk.chunk.end;
        D.volume_table       = chunk.volume_table;
        D.facet_table        = chunk.facet_table;
        D.n_volume_points    = chunk.chunk.n_volume_points;
        D.n_facet_points     = chunk.chunk.n_facet_points;
        D.first_volume_point = points.subcell[mesh.subcell_offset[begin]];
        D.first_facet_point =
          points.entry[mesh.polytope_interface_offset[begin]];
        D.first_polytope = begin;
        D.n_polytopes    = end - begin;
        sink.bind(D, chunk);

        slot.kernel_begin.record(stream);
        source.launch(chunk);
        kernels->template launch<Number>(D, chunk.chunk, stream, slot.clock);
        slot.kernel_end.record(stream);
        slot.busy = true;
      }



      template <int dim>
      void
      Assembler<dim>::Implementation::finish_slot(
        Workspace::Implementation::Slot &slot,
        const CoefficientSource<dim>    &source,
        PipelineTimes                   &times) const
      {
        slot.kernel_end.wait();
        times.note(slot.kernel_begin, slot.kernel_end, times.times.kernels);
        if (source.records_times())
          slot.tabulation_clock.add_to(times.times);
        slot.clock.add_to(times.times);
        times.finish_upload(slot);
      }



      template <int dim>
      void
      Assembler<dim>::Implementation::cancel()
      {
        cudaStreamSynchronize(workspace->upload_stream);
        cudaStreamSynchronize(workspace->kernel_stream);
        cudaStreamSynchronize(workspace->download_stream);
        workspace->download.cancel();
        cudaGetLastError();
      }



      template <int dim>
      Assembler<dim>::Assembler(const AssemblerInput<dim> &input)
        : implementation(std::make_unique<Implementation>(input))
      {}



      template <int dim>
      Assembler<dim>::~Assembler() = default;



      template <int dim>
      PointPositions
      Assembler<dim>::points() const
      {
        const PointNumbers<dim> &points = implementation->points;
        return {points.subcell.data(),
                points.entry,
                points.packed_entry[0].data(),
                points.packed_entry[1].data()};
      }



      template <int dim>
      std::shared_ptr<const void>
      Assembler<dim>::shared_mesh() const
      {
        return implementation->shared_mesh;
      }



      template <int dim>
      std::size_t
      Assembler<dim>::memory(const PolytopicMesh<dim> &mesh,
                             const PolytopicDoFs      &dofs,
                             const BlockSparsity      &sparsity,
                             const RuleTables         &rules,
                             const std::size_t         n_exponents)
      {
        ArrayList                          list;
        Data<dim>                          D;
        typename Implementation::OwnArrays own;
        own.add_to(list, D, mesh, dofs, sparsity, rules, n_exponents);
        return list.bytes() +
               Kernels<dim>::memory(mesh, dofs, sparsity, rules) +
               (DeviceMesh<dim>::is_shareable(mesh)
                  ? DeviceMesh<dim>::memory(mesh)
                  : 0);
      }



      template <int dim>
      void
      Assembler<dim>::expect_constant_facets()
      {
        implementation->points.select_entries(true,
                                              false,
                                              implementation->own.entry_q);
      }



      template <int dim>
      void
      Assembler<dim>::largest_diffusion(const Evaluation<dim> &evaluation,
                                        double                *a_bar)
      {
        Implementation &I = *implementation;
        wait_for_default_stream();
        I.evaluation.prepare(evaluation, I.D);
        I.evaluation.launch_diffusion();
        I.evaluation.check_points({}, {}, nullptr);
        check(cudaMemcpy(a_bar,
                         I.evaluation.diffusion(),
                         2 * std::size_t(I.mesh.n_facets()) * sizeof(double),
                         cudaMemcpyDeviceToHost),
              "a copy to the host");
      }



      template <int dim>
      template <typename Number>
      Times
      Assembler<dim>::assemble(const FormData<dim>            &form,
                               const Penalty                  &penalty,
                               const Tabulation               &tabulation,
                               const Target<Number>           &target,
                               const Evaluation<dim>          *evaluation,
                               const ConstantSystemTerms<dim> *system)
      {
        Implementation            &I = *implementation;
        Workspace::Implementation &W = *I.workspace.operator->();
        const bool on_device         = evaluation != nullptr;
        const bool device_penalty    = on_device && evaluation->penalty;

        Times         result;
        PipelineTimes times(W, result);
        wait_for_default_stream();
        I.kernels->set_system(system);
        result.kernel = I.kernels->name(form);
        I.select_form(form, penalty, tabulation, evaluation);

        // ---- the plan: where coefficients come from, where results go, chunks
        std::size_t             available = I.available_memory();
        ResultSink<dim, Number> sink(
          form, target, I.in.dofs, I.in.sparsity, I.in.first, W, times);
        const auto source = CoefficientSource<dim>::make(
          {form, I.points, I.in.first, I.in.last, W, times},
          tabulation,
          on_device ? &I.evaluation : nullptr,
          I.D,
          available);
        const ChunkPlanner<dim> planner(I.in.dofs,
                                        I.in.sparsity,
                                        I.points,
                                        form,
                                        sink.values_size(),
                                        sink.rhs_size());
        const ChunkPlan         plan =
          planner.plan(I.in.first,
                       I.in.last,
                       I.pace(form, on_device, sink.copies()),
                       available);
        plan.reserve_slots(W);
        if (sink.copies())
          W.reserve_pinned(plan.total);
        result.memory = W.used();

        // ---- the pipeline
        times.start();
        if (device_penalty)
          {
            I.evaluation.launch_penalty(I.own.sigma);
            // The values on the device do not belong to the caller's revision.
            I.sigma_revision = 0;
          }
        sink.start(plan);
        try
          {
            source->start(plan);
            // A chunk is computed while the results of the preceding one are
            // copied.
            for (unsigned int c = 0; c < plan.size(); ++c)
              {
                sink.before_chunk(c);
                I.start_chunk(plan.chunk_in_slot(W, c), *source, sink, times);
                sink.after_chunk(c);
              }
            sink.finish();
            for (unsigned int s = 0; s < plan.n_slots; ++s)
              I.finish_slot(W.slot[s], *source, times);
            if (device_penalty)
              I.evaluation.add_penalty_time(times);
            source->finish(plan);
          }
        catch (...)
          {
            I.cancel();
            throw;
          }
        times.finish();
        return result;
      }



      template class Assembler<2>;
      template class Assembler<3>;
      template class Assembler<4>;
#define INSTANTIATE(dim)                                                     \
  template Times Assembler<dim>::assemble(const FormData<dim> &,             \
                                          const Penalty &,                   \
                                          const Tabulation &,                \
                                          const Target<double> &,            \
                                          const Evaluation<dim> *,           \
                                          const ConstantSystemTerms<dim> *); \
  template Times Assembler<dim>::assemble(const FormData<dim> &,             \
                                          const Penalty &,                   \
                                          const Tabulation &,                \
                                          const Target<float> &,             \
                                          const Evaluation<dim> *,           \
                                          const ConstantSystemTerms<dim> *)

      INSTANTIATE(2);
      INSTANTIATE(3);
      INSTANTIATE(4);
#undef INSTANTIATE
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

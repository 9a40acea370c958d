// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>

#include "../device/pipeline.h"
#include "device_evaluation.h"
#include "mesh_data.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr unsigned long long no_error = ~0ull;

        __global__ void
        penalty_kernel(const double      *factor,
                       const double      *a_bar,
                       const double       constant,
                       const unsigned int n,
                       double            *sigma)
        {
          const unsigned int f = blockIdx.x * blockDim.x + threadIdx.x;
          if (f < n)
            sigma[f] = constant * fmax(factor[2 * std::size_t(f)] *
                                         a_bar[2 * std::size_t(f)],
                                       factor[2 * std::size_t(f) + 1] *
                                         a_bar[2 * std::size_t(f) + 1]);
        }
      } // namespace



      template <int dim>
      DeviceEvaluation<dim>::DeviceEvaluation(const AssemblerInput<dim> &input,
                                              const PointNumbers<dim>   &points)
        : points(points)
        , mesh(input.mesh)
        , n_components(input.dofs.n_components)
        , first(input.first)
        , last(input.last)
        , workspace(input.workspace)
      {}



      template <int dim>
      void
      DeviceEvaluation<dim>::prepare_mesh(const Data<dim> &D)
      {
        const CoefficientArrays arrays = evaluation->arrays();
        mesh_data                      = make_mesh_data(D);
        mesh_data.first_subcell        = arrays.first_subcell;
        ArrayList  list;
        const auto replace = [&](auto &pointer, const auto &array) {
          if (!array.empty())
            list.add(pointer, array);
        };
        replace(mesh_data.facet_subcell, arrays.facet_subcell);
        replace(mesh_data.facet_material, arrays.facet_material);
        replace(mesh_data.subcell_material, arrays.subcell_material);
        replace(mesh_data.dof_offset, arrays.dof_offset);
        coefficient_memory.resize(list.bytes());
        list.place(coefficient_memory.data());
        workspace->upload(coefficient_memory.data(), list.parts());
        mesh_ready = true;
      }



      template <int dim>
      void
      DeviceEvaluation<dim>::prepare(const Evaluation<dim> &evaluation,
                                     const Data<dim>       &D)
      {
        this->evaluation = &evaluation;
        if (!mesh_ready)
          prepare_mesh(D);
        task        = {};
        task.mesh   = mesh_data;
        task.sigma  = D.sigma;
        task.wanted = no_error;

        task.n_components = n_components;
        // Forms on slabs have no discrete fields.
        if constexpr (dim < 4)
          {
            const auto &list = evaluation.coefficients->fields();
            for (std::size_t i = 0; i < list.size(); ++i)
              {
                task.field_component[i]    = list[i].component();
                task.n_field_components[i] = list[i].n_components();
                task.field[i]              = list[i].device_values();
                if (task.field[i] == nullptr)
                  {
                    fields[i].resize(list[i].size());
                    workspace->copy(fields[i].data(),
                                    list[i].host_values(),
                                    list[i].size());
                    task.field[i] = fields[i].data();
                  }
              }
          }
        const auto &values = evaluation.coefficients->cell_values();
        for (std::size_t i = 0; i < values.size(); ++i)
          {
            cell_values[i].resize(values[i]->size());
            workspace->copy(cell_values[i].data(),
                            values[i]->data(),
                            values[i]->size());
            task.cell_value[i] = cell_values[i].data();
          }
        record.resize(1);
        ErrorRecord clean = {};
        clean.key         = no_error;
        workspace->copy(record.data(), &clean, 1);
        task.record = record.data();
      }



      template <int dim>
      void
      DeviceEvaluation<dim>::launch(const CoefficientKernel kernel,
                                    const std::uint64_t     n_blocks,
                                    const unsigned int      n_blocks_y)
      {
        if (n_blocks == 0)
          return;
        const std::string error =
          evaluation->coefficients->launch(kernel,
                                           task,
                                           static_cast<unsigned int>(n_blocks),
                                           n_blocks_y,
                                           static_cast<cudaStream_t>(
                                             workspace->kernel_stream));
        if (!error.empty())
          throw Error(error);
      }



      template <int dim>
      void
      DeviceEvaluation<dim>::launch_diffusion()
      {
        a_bar.resize(2 * std::size_t(mesh.n_facets()));
        task.a_bar          = a_bar.data();
        task.first_polytope = first;
        task.n_polytopes    = last - first;
        check(cudaMemsetAsync(a_bar.data(),
                              0,
                              a_bar.size() * sizeof(double),
                              workspace->kernel_stream),
              "the assembly on the device");
        // Polytopes of very many points are processed by several thread blocks,
        // each of which has at least 1024 points.
        if (most_points == 0)
          most_points = points.most_volume_points(first, last);
        const unsigned int n_parts = static_cast<unsigned int>(
          std::min<std::uint64_t>(256, (most_points + 1023) / 1024));
        launch(CoefficientKernel::penalty, last - first, std::max(1u, n_parts));
      }



      template <int dim>
      void
      DeviceEvaluation<dim>::launch_penalty(double *sigma)
      {
        const std::size_t n = mesh.n_facets();
        if (evaluation->factor_revision == 0 ||
            evaluation->factor_revision != factor_revision)
          {
            factor.resize(2 * n);
            workspace->copy(factor.data(), evaluation->factor, 2 * n);
            factor_revision = evaluation->factor_revision;
          }
        penalty_begin.record(workspace->kernel_stream);
        launch_diffusion();
        if (n > 0)
          penalty_kernel<<<(n + 255) / 256, 256, 0, workspace->kernel_stream>>>(
            factor.data(),
            a_bar.data(),
            evaluation->constant,
            static_cast<unsigned int>(n),
            sigma);
        check(cudaGetLastError(), "the start of a kernel");
        penalty_end.record(workspace->kernel_stream);
      }



      template <int dim>
      void
      DeviceEvaluation<dim>::add_penalty_time(PipelineTimes &times) const
      {
        double      &kernels = times.times.kernels;
        const double before  = kernels;
        times.note(penalty_begin, penalty_end, kernels);
        times.times.add_kernel("penalty", kernels - before);
      }



      template <int dim>
      void
      DeviceEvaluation<dim>::launch_tables(const FormData<dim> &form,
                                           const Chunk         &chunk,
                                           double              *volume_table,
                                           double              *facet_table,
                                           KernelClock         *clock)
      {
        const cudaStream_t stream = workspace->kernel_stream;
        task.volume_layout        = form.volume_layout;
        task.facet_layout         = form.facet_layout;
        task.volume_table         = volume_table;
        task.facet_table          = facet_table;
        task.n_volume_points      = chunk.n_volume_points;
        task.n_facet_points       = chunk.n_facet_points;
        task.first_volume_point =
          points.subcell[mesh.subcell_offset[chunk.begin]];
        task.first_facet_point =
          points.entry[mesh.polytope_interface_offset[chunk.begin]];
        task.first_polytope = chunk.begin;
        task.n_polytopes    = chunk.end - chunk.begin;
        // A thread has several points, see PointRange.
        constexpr unsigned int n = 4 * tabulation_threads;
        if (clock != nullptr)
          clock->start(stream);
        if (form.volume_layout.n > 0)
          {
            launch(CoefficientKernel::volume,
                   (chunk.n_volume_points + n - 1) / n);
            if (clock != nullptr)
              clock->stop("coefficients (volume)", stream);
          }
        if (form.facet_layout.n > 0)
          {
            launch(CoefficientKernel::facets,
                   (chunk.n_facet_points + n - 1) / n);
            if (clock != nullptr)
              clock->stop("coefficients (facets)", stream);
          }
      }



      template <int dim>
      ErrorRecord
      DeviceEvaluation<dim>::download_record() const
      {
        check(cudaStreamSynchronize(workspace->kernel_stream),
              "the assembly on the device");
        ErrorRecord result;
        check(cudaMemcpy(
                &result, record.data(), sizeof(result), cudaMemcpyDeviceToHost),
              "a copy to the host");
        return result;
      }



      template <int dim>
      void
      DeviceEvaluation<dim>::check_points(const FormData<dim>      &form,
                                          const std::vector<Chunk> &chunks,
                                          char                     *memory)
      {
        const unsigned long long key = download_record().key;
        if (key == no_error)
          return;
        task.wanted       = key;
        const bool facets = key >> 63;
        if (!facets && key % 4 == 0)
          launch_diffusion();
        else
          for (const Chunk &chunk : chunks)
            {
              const std::uint64_t point = facets ? key - (1ull << 63) : key / 4;
              const std::uint64_t end =
                facets ? points.entry[mesh.polytope_interface_offset[chunk.end]]
                       : points.subcell[mesh.subcell_offset[chunk.end]];
              if (point >= end)
                continue;
              const std::size_t volume_bytes =
                chunk.n_volume_points * form.volume_layout.n * sizeof(double);
              launch_tables(form,
                            chunk,
                            reinterpret_cast<double *>(memory),
                            reinterpret_cast<double *>(memory +
                                                       aligned(volume_bytes)),
                            nullptr);
              break;
            }
        evaluation->coefficients->throw_error(download_record().error);
      }



      template <int dim>
      std::size_t
      DeviceEvaluation<dim>::memory() const
      {
        std::size_t bytes = coefficient_memory.size() +
                            sizeof(double) * (a_bar.size() + factor.size());
        for (const Array<double> &field : fields)
          bytes += sizeof(double) * field.size();
        for (const Array<double> &values : cell_values)
          bytes += sizeof(double) * values.size();
        return bytes;
      }



      template class DeviceEvaluation<2>;
      template class DeviceEvaluation<3>;
      template class DeviceEvaluation<4>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>

#include "hdg_constant_facet_kernel.h"
#include "hdg_elimination_kernel.h"
#include "hdg_facet_kernel.h"
#include "hdg_kernel.h"
#include "hdg_moments_kernel.h"
#include "hdg_simplex_kernel.h"
#include "hdg_stages.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        unsigned int
        attribute(const cudaDeviceAttr what)
        {
          int device = 0, value = 0;
          check(cudaGetDevice(&device), "the start of a kernel");
          check(cudaDeviceGetAttribute(&value, what, device),
                "the start of a kernel");
          return value;
        }
      } // namespace



      template <int dim>
      void
      HDGStages<dim>::prepare(const bool constant_tau, HDGData<dim> &data)
      {
        const HDGForm<dim> &form = data.form;
        limits.shared     = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
        limits.available  = limits.shared - 1024;
        limits.processors = attribute(cudaDevAttrMultiProcessorCount);
        workspace_size    = 0;
        kernels.clear();
        data.simplex = plan.simplices && form.diagonal() && !form.advection &&
                       form.table_c < 0;
        // On planar facets tau and, if b is constant, b.n are constants.
        const bool few_points  = !data.simplex && !form.facet_table;
        data.facet_point_group = few_points ? upload.few_facet_point_groups
                                            : upload.all_facet_point_groups;
        data.entry_point_group = few_points ? upload.few_entry_point_groups
                                            : upload.all_entry_point_groups;
        if (data.simplex)
          add_simplex(data);
        else
          {
            add_volume(data);
            data.state_layout =
              layout_of(HDGStage::elimination, data, plan.max_traces + 1);
            add_facets(constant_tau, data);
            add_elimination(data);
          }
        workspace.resize(workspace_size);
      }



      template <int dim>
      void
      HDGStages<dim>::add_simplex(HDGData<dim> &data)
      {
        HDGKernel<dim> kernel;
        kernel.what              = HDGStage::simplex;
        const unsigned int basis = plan.max_basis,
                           rows  = (dim + 1) * plan.n_face_functions + 1;
        kernel.n_threads         = basis <= 28   ? 32
                                   : basis <= 36 ? 64
                                   : basis <= 56 ? 128
                                                 : 256;
        kernel.layout.set_simplex(basis,
                                  rows,
                                  kernel.n_threads / 32,
                                  data.transfer != nullptr);
        add(kernel,
            &hdg_simplex_kernel<dim, true>,
            &hdg_simplex_kernel<dim, false>,
            plan.mesh.n_owned_polytopes());
      }



      template <int dim>
      void
      HDGStages<dim>::add_volume(HDGData<dim> &data)
      {
        const unsigned int n           = plan.mesh.n_owned_polytopes();
        const bool         has_moments = data.moment_row != nullptr;
        data.part_is_done = has_moments && data.form.constant_operator();
        // The next kernel computes the moments of bricks.
        if (has_moments && !(data.part_is_done && upload.n_bricks == n))
          add({HDGStage::moments, &hdg_moments_kernel<dim>, n, 64}, data);
        if (data.part_is_done)
          add({HDGStage::basis, &hdg_basis_kernel<dim>, n, 128}, data);
        add({HDGStage::volume,
             &hdg_volume_kernel<dim, true>,
             // The kernel may have hardly any polytopes left.
             data.part_is_done ? std::min(n, 4 * limits.processors) : n,
             HDGLayout::n_threads(plan.max_basis),
             &hdg_volume_kernel<dim, false>,
             1,
             plan.max_point_groups},
            data);
      }



      template <int dim>
      void
      HDGStages<dim>::add_facets(const bool constant_tau, HDGData<dim> &data)
      {
        const unsigned int n     = plan.mesh.n_owned_polytopes(),
                           basis = plan.max_basis;
        data.projected = data.state_layout.few && !data.tensor_product &&
                         constant_tau && data.form.tau > 0.;
        if (data.projected)
          add({HDGStage::constant_facets,
               basis <= 16 ? &hdg_constant_facet_kernel<dim, 2>
                           : &hdg_constant_facet_kernel<dim, 3>,
               (unsigned int)plan.projected_entries.size()},
              data);
        add({HDGStage::facets,
             basis <= 16   ? &hdg_few_functions_facet_kernel<dim, 2>
             : basis <= 24 ? &hdg_few_functions_facet_kernel<dim, 3>
                           : &hdg_facet_kernel<dim, true>,
             data.projected ? (unsigned int)plan.other_entries.size()
                            : plan.first_entry(n),
             32,
             &hdg_facet_kernel<dim, false>},
            data);
        if (data.projected)
          add({HDGStage::boundary, &hdg_boundary_kernel<dim>, n}, data);
      }



      template <int dim>
      void
      HDGStages<dim>::add_elimination(const HDGData<dim> &data)
      {
        const bool in_parts  = data.state_layout.few,
                   two_tiles = HDGLayout::few_tiles(plan.max_basis) == 2;
        const HDGStage stage =
          in_parts ? HDGStage::few_elimination : HDGStage::elimination;
        const Kernel in_shared =
          !in_parts   ? &hdg_elimination_kernel<dim, true>
          : two_tiles ? &hdg_few_functions_elimination_kernel<dim, 2, true>
                      : &hdg_few_functions_elimination_kernel<dim, 3, true>;
        const Kernel in_global =
          !in_parts   ? &hdg_elimination_kernel<dim, false>
          : two_tiles ? &hdg_few_functions_elimination_kernel<dim, 2, false>
                      : &hdg_few_functions_elimination_kernel<dim, 3, false>;
        const std::vector<EliminationClass> classes =
          elimination_classes(stage, data);
        list_polytopes(classes);
        if (in_parts)
          add({HDGStage::schur,
               &hdg_schur_kernel<dim>,
               plan.mesh.n_owned_polytopes(),
               64},
              data);
        const unsigned int basis = plan.max_basis;
        for (std::size_t i = 0; i < classes.size(); ++i)
          {
            const std::size_t begin = elimination_begin[i],
                              end   = elimination_begin[i + 1];
            if (begin == end)
              continue;
            const unsigned int n_rows = classes[i].n_rows,
                               n_warps =
                                 std::min(16 / classes[i].n_together,
                                          (basis + 15) / 16 *
                                            ((basis + n_rows + 14) / 16));
            add({stage,
                 in_shared,
                 (unsigned int)(end - begin),
                 32 * n_warps,
                 in_global,
                 n_rows},
                data);
            kernels.back().first_listed = begin;
            kernels.back().last_listed  = end;
          }
      }



      template <int dim>
      HDGLayout
      HDGStages<dim>::layout_of(const HDGStage      what,
                                const HDGData<dim> &data,
                                const unsigned int  n_rows,
                                const unsigned int  slice) const
      {
        const HDGForm<dim> &form = data.form;
        HDGLayout           result;
        // A named object, because some versions of nvcc fail with a list here.
        const HDGLayoutSizes sizes{what,
                                   dim,
                                   plan.max_basis,
                                   n_rows,
                                   plan.max_degree,
                                   form.tensor,
                                   form.diagonal(),
                                   form.advection,
                                   what == HDGStage::volume &&
                                     !form.constant_operator(),
                                   slice};
        result.set(sizes);
        if (what == HDGStage::basis)
          result.add_moments(
            data.moments_stride,
            upload.n_bricks == 0
              ? 0
              : HDGBrickMoments<dim>::n_scratch_of_products(plan.max_degree) +
                  HDGBrickMoments<dim>::n_most *
                    HDGBrickMoments<dim>::n_scratch_of_source(
                      plan.max_degree, data.n_line_points[plan.max_degree]));
        return result;
      }



      template <int dim>
      unsigned int
      HDGStages<dim>::slice_of(const Request      &request,
                               const HDGData<dim> &data) const
      {
        // As many points as there are, at most 64 (twice as many if only values
        // are needed).
        unsigned int slice =
          std::min(64u, std::max(4u, (2 * request.n_point_groups + 3) / 4 * 4));
        // The slice is shorter if more blocks then fit on a multiprocessor, as
        // far as registers allow.
        const auto n_warps = [&](const unsigned int slice) {
          const std::size_t bytes =
            8 * layout_of(request.what, data, request.n_rows, slice).size;
          return bytes > limits.available
                   ? 0
                   : std::min<std::size_t>(16,
                                           limits.shared / (bytes + 1024) *
                                             request.n_threads / 32);
        };
        for (unsigned int next = slice; next > 16;)
          {
            next = std::max(16u, next / 8 * 4);
            if (n_warps(next) > n_warps(slice))
              slice = next;
          }
        return slice;
      }



      template <int dim>
      std::vector<typename HDGStages<dim>::EliminationClass>
      HDGStages<dim>::elimination_classes(const HDGStage      stage,
                                          const HDGData<dim> &data) const
      {
        const unsigned int            all_rows = plan.max_traces + 1;
        std::vector<EliminationClass> classes;
        for (const unsigned int n_together : {8, 4, 3, 2, 1})
          {
            const unsigned int before =
              classes.empty() ? 0 : classes.back().n_rows;
            unsigned int rows = all_rows;
            while (rows > before && 8 * layout_of(stage, data, rows).size >
                                      limits.shared / n_together - 1024)
              --rows;
            if (rows > before)
              classes.push_back({rows, n_together});
          }
        if (classes.empty() || classes.back().n_rows < all_rows)
          classes.push_back({all_rows, 1});
        return classes;
      }



      template <int dim>
      void
      HDGStages<dim>::add(const Request &request, const HDGData<dim> &data)
      {
        HDGKernel<dim> kernel;
        kernel.what      = request.what;
        kernel.n_threads = request.n_threads;
        kernel.layout    = layout_of(request.what,
                                  data,
                                  request.n_rows,
                                  slice_of(request, data));
        add(kernel, request.in_shared, request.in_global, request.n_problems);
      }



      template <int dim>
      void
      HDGStages<dim>::add(HDGKernel<dim>    &kernel,
                          const Kernel       in_shared,
                          const Kernel       in_global,
                          const unsigned int n_problems)
      {
        const std::size_t bytes = 8 * kernel.layout.size;
        if (bytes <= limits.available)
          {
            kernel.kernel       = in_shared;
            kernel.shared_bytes = bytes;
            kernel.n_blocks     = n_problems;
            check(cudaFuncSetAttribute(
                    reinterpret_cast<const void *>(kernel.kernel),
                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                    static_cast<int>(bytes)),
                  "the start of a kernel");
          }
        else
          {
            // Workspaces are in global memory, for all thread blocks that run
            // at a time.
            kernel.kernel   = in_global;
            kernel.n_blocks = std::min(n_problems, 4 * limits.processors);
            workspace_size =
              std::max(workspace_size, kernel.n_blocks * kernel.layout.size);
          }
        kernels.push_back(kernel);
      }



      template <int dim>
      void
      HDGStages<dim>::list_polytopes(
        const std::vector<EliminationClass> &classes)
      {
        std::vector<unsigned int> n_rows;
        for (const EliminationClass &c : classes)
          n_rows.push_back(c.n_rows);
        if (n_rows == elimination_limits)
          return;
        elimination_limits = n_rows;
        elimination_list.clear();
        elimination_begin.assign(1, 0);
        for (std::size_t i = 0; i < n_rows.size(); ++i)
          {
            for (unsigned int k = 0; k < plan.mesh.n_owned_polytopes(); ++k)
              {
                const std::uint64_t n_traces =
                  plan.trace_offset[k + 1] - plan.trace_offset[k];
                if (n_traces < n_rows[i] &&
                    (i == 0 || n_traces >= n_rows[i - 1]))
                  elimination_list.push_back(k);
              }
            elimination_begin.push_back(elimination_list.size());
          }
        list.resize(elimination_list.size());
        check(cudaMemcpy(list.data(),
                         elimination_list.data(),
                         4 * elimination_list.size(),
                         cudaMemcpyHostToDevice),
              "a copy to the device");
      }



      template class HDGStages<2>;
      template class HDGStages<3>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

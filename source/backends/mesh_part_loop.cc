// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "mesh_part_loop.h"

#include <algorithm>
#include <future>
#include <string>

#include "host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      // ---- bytes of a mesh on the device
      constexpr std::size_t
        // per variable of a bounding box: corners and Data::box_map
        box_bytes = 48,
        // per polytope: degree, offsets, Row
        polytope_bytes = 64,
        // per block of the matrix: column and point groups
        block_bytes = 16,
        // per sub-cell: type, offsets, number of the first point; material
        subcell_bytes = 17, material_bytes = 4,
        // per entry of polytope_interface: the entry and its interface, number
        // of the first point
        entry_bytes = 32,
        // per facet: type, offsets, number of the first point, measure,
        // penalty; for coefficients: sub-cells, materials, n . a n
        facet_bytes = 33, facet_evaluation_bytes = 32,
        // gaps between the arrays of a mesh, and of a chunk
        mesh_gap_bytes = std::size_t(1) << 15, gap_bytes = 4 * 256;

      std::string
      megabytes(const std::size_t bytes)
      {
        return std::to_string((bytes + 999999) / 1000000) + " MB";
      }



      // Device memory in bytes for a part that consists of one polytope and its
      // neighbours. Parts with several polytopes need less than the sum.
      template <int dim>
      std::size_t
      bytes_of_part(const typename MeshPartLoop<dim>::Data &data,
                    const bool                              evaluation,
                    const unsigned int                      k)
      {
        const PolytopicMesh<dim> &mesh  = data.mesh;
        const Device::RuleTables &rules = data.tables;
        const std::size_t         n_blocks =
          data.sparsity.block_offset[k + 1] - data.sparsity.block_offset[k];
        std::size_t bytes =
          n_blocks * (box_bytes * dim + polytope_bytes + block_bytes);
        for (unsigned int s = mesh.subcell_offset[k];
             s < mesh.subcell_offset[k + 1];
             ++s)
          {
            bytes += (evaluation ? material_bytes : 0) + subcell_bytes +
                     sizeof(double) * dim *
                       std::size_t(mesh.subcell_vertex_offset[s + 1] -
                                   mesh.subcell_vertex_offset[s]);
            if (mesh.subcell_type[s] == SubCellType::tabulated ||
                rules.volume_points.offset != nullptr)
              bytes += sizeof(double) * (dim + 1) *
                       std::size_t(n_subcell_points(mesh, rules, s, 0));
          }
        for (unsigned int e = mesh.polytope_interface_offset[k];
             e < mesh.polytope_interface_offset[k + 1];
             ++e)
          {
            const unsigned int i = mesh.polytope_interface[e] / 2;
            bytes += entry_bytes;
            for (unsigned int f = mesh.facet_offset[i];
                 f < mesh.facet_offset[i + 1];
                 ++f)
              {
                bytes += (evaluation ? facet_evaluation_bytes : 0) +
                         facet_bytes + sizeof(double) * dim +
                         sizeof(double) * dim *
                           std::size_t(mesh.facet_vertex_offset[f + 1] -
                                       mesh.facet_vertex_offset[f]);
                if (mesh.facet_type[f] == FacetType::tabulated)
                  bytes += sizeof(double) * (2 * dim + 1) *
                           std::size_t(n_facet_points(mesh, rules, f, 0));
              }
          }
        return bytes;
      }



      // Bytes of the tables, the values and the right-hand side of a block row.
      template <int dim>
      std::size_t
      bytes_of_row(const typename MeshPartLoop<dim>::Data &data,
                   const Device::FormData<dim>            &form,
                   const std::size_t                       values_size,
                   const std::size_t                       rhs_size,
                   const unsigned int                      k)
      {
        const PolytopicMesh<dim> &mesh   = data.mesh;
        const PolytopicDoFs      &dofs   = data.dofs;
        const Device::RuleTables &rules  = data.tables;
        const auto               &offset = data.sparsity.value_offset;
        std::size_t               bytes =
          values_size * (offset[k + 1] - offset[k]) +
          rhs_size * (dofs.dof_offset[k + 1] - dofs.dof_offset[k]) + gap_bytes;
        for (unsigned int s = mesh.subcell_offset[k];
             form.volume_layout.n > 0 && s < mesh.subcell_offset[k + 1];
             ++s)
          bytes += sizeof(double) * form.volume_layout.n *
                   n_subcell_points(mesh, rules, s, dofs.degree[k]);
        for (unsigned int e = mesh.polytope_interface_offset[k];
             form.facet_layout.n > 0 &&
             e < mesh.polytope_interface_offset[k + 1];
             ++e)
          {
            const unsigned int code = mesh.polytope_interface[e], i = code / 2;
            if (form.constant_facets && mesh.neighbor(code) != invalid_index)
              continue;
            for (unsigned int f = mesh.facet_offset[i];
                 f < mesh.facet_offset[i + 1];
                 ++f)
              bytes += sizeof(double) * form.facet_layout.n *
                       n_facet_points(mesh,
                                      rules,
                                      f,
                                      Device::interface_degree(mesh, dofs, i));
          }
        return bytes;
      }
    } // namespace



    template <int dim>
    MeshPartLoop<dim>::MeshPartLoop(const Data                  &data,
                                    const Device::FormData<dim> &form,
                                    const bool                   evaluation,
                                    const std::size_t            values_size,
                                    const std::size_t            rhs_size)
      : data(data)
      , n(data.mesh.n_owned_polytopes())
      , limit(data.workspace.limit())
      , part_bytes(n)
      , row_bytes(n)
    {
      for_polytopes(n, [&](const unsigned int begin, const unsigned int end) {
        for (unsigned int k = begin; k < end; ++k)
          {
            part_bytes[k] = bytes_of_part<dim>(data, evaluation, k);
            row_bytes[k] =
              bytes_of_row<dim>(data, form, values_size, rhs_size, k);
          }
      });
      // Half of the limit, or less if a block row needs more than the other
      // half.
      const std::size_t largest_row =
        *std::max_element(row_bytes.begin(), row_bytes.end());
      mesh_limit =
        std::min(limit / 2, limit > largest_row ? limit - largest_row : 0);
    }



    template <int dim>
    std::unique_ptr<MeshPart<dim>>
    MeshPartLoop<dim>::make_part(const unsigned int begin) const
    {
      std::size_t bytes = data.tables.data.size() * sizeof(double) +
                          data.exponents.size() + mesh_gap_bytes;
      unsigned int end = begin;
      while (end < n && (end == begin || bytes + part_bytes[end] <= mesh_limit))
        bytes += part_bytes[end++];
      return std::make_unique<MeshPart<dim>>(
        data.mesh, data.dofs, data.sparsity, begin, end);
    }



    template <int dim>
    void
    MeshPartLoop<dim>::run(
      const std::function<void(const MeshPart<dim> &, Device::Assembler<dim> &)>
        &function)
    {
      const auto start = [this](const unsigned int begin) {
        return std::async(std::launch::async,
                          [this, begin]() { return make_part(begin); });
      };
      auto next = start(0);
      while (true)
        {
          const std::unique_ptr<MeshPart<dim>> part = next.get();
          if (part->end < n)
            next = start(part->end);
          try
            {
              run_part(*part, function);
            }
          catch (const Device::RowTooLarge &error)
            {
              if (part->end - part->begin == 1)
                throw_too_large(error.bytes == 0
                                  ? part->begin
                                  : part->polytope[error.polytope]);
              // The estimate does not include the data that kernels and
              // coefficients keep for a part: a smaller part may leave enough
              // memory for the row.
              if (next.valid())
                next.wait();
              mesh_limit /= 2;
              data.workspace.release();
              next = start(part->begin);
              continue;
            }
          if (part->end == n)
            break;
        }
    }



    template <int dim>
    void
    MeshPartLoop<dim>::run_part(
      const MeshPart<dim> &part,
      const std::function<void(const MeshPart<dim> &, Device::Assembler<dim> &)>
        &function)
    {
      Device::RuleTables tables = data.tables;
      if (auto &volume = tables.volume_points; volume.offset != nullptr)
        {
          const unsigned int s = data.mesh.subcell_offset[part.begin];
          volume.points +=
            (dim + 1) * std::size_t(volume.offset[s] - volume.offset[0]);
          volume.offset += s;
        }
      const std::size_t bytes = Device::Assembler<dim>::memory(
        part.mesh, part.dofs, part.sparsity, tables, data.exponents.size());
      if (bytes > limit)
        throw Device::RowTooLarge(part.begin, 0);
      data.workspace.reserve_mesh(std::max(bytes, mesh_limit));
      Device::Assembler<dim> assembler({part.mesh,
                                        part.dofs,
                                        part.sparsity,
                                        part.first,
                                        part.first + part.end - part.begin,
                                        data.degrees,
                                        tables,
                                        data.exponents,
                                        data.workspace,
                                        data.parallel});
      function(part, assembler);
    }



    template <int dim>
    void
    MeshPartLoop<dim>::throw_too_large(const unsigned int k) const
    {
      const std::string need =
        "The block row of polytope " + std::to_string(k) + " needs about " +
        megabytes(part_bytes[k] + row_bytes[k]) +
        " of memory on the CUDA device (mesh " + megabytes(part_bytes[k]) +
        ", values and coefficients " + megabytes(row_bytes[k]) + "), but ";
      if (data.n_sharing > 1 && limit == data.device_memory)
        throw Device::Error(
          need + "assembly by one of the " + std::to_string(data.n_sharing) +
          " processes that share it may use only " + megabytes(limit) +
          " there. Use fewer processes a device, or the host "
          "backend.");
      if (data.device_memory > 0 && limit == data.device_memory)
        throw Device::Error(need + "assembly may use only " + megabytes(limit) +
                            " there. Raise this limit of the device "
                            "memory, or use the host backend.");
      throw Device::Error(need + "only " + megabytes(limit) +
                          " are free there. Free memory of the "
                          "device, use a smaller problem, or the "
                          "host backend.");
    }



    template class MeshPartLoop<2>;
    template class MeshPartLoop<3>;
    template class MeshPartLoop<4>;
  } // namespace internal
} // namespace Tessella

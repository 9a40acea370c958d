// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>

#include "../device/pipeline.h"
#include "point_numbers.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      template <int dim>
      PointNumbers<dim>::PointNumbers(const AssemblerInput<dim> &input)
        : mesh(input.mesh)
        , in(input)
        , rules(input.rules)
        , parallel(input.parallel)
      {
        // Degree of each sub-cell, and then of each facet.
        RawArray<unsigned char> degree(
          std::max(mesh.n_subcells(), mesh.n_facets()));
        parallel(mesh.n_polytopes(),
                 1024,
                 [&](const std::size_t begin, const std::size_t end) {
                   for (std::size_t k = begin; k < end; ++k)
                     std::fill(degree.data() + mesh.subcell_offset[k],
                               degree.data() + mesh.subcell_offset[k + 1],
                               static_cast<unsigned char>(in.dofs.degree[k]));
                 });
        subcell =
          running_sums(parallel, mesh.n_subcells(), [&](const std::size_t s) {
            return n_subcell_points(mesh, rules, s, degree[s]);
          });
        parallel(mesh.n_interfaces(),
                 4096,
                 [&](const std::size_t begin, const std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i)
                     std::fill(degree.data() + mesh.facet_offset[i],
                               degree.data() + mesh.facet_offset[i + 1],
                               static_cast<unsigned char>(
                                 interface_degree(mesh, in.dofs, i)));
                 });
        facet =
          running_sums(parallel, mesh.n_facets(), [&](const std::size_t f) {
            return n_facet_points(mesh, rules, f, degree[f]);
          });
      }



      template <int dim>
      void
      PointNumbers<dim>::select_entries(const bool     boundary_only,
                                        const bool     no_bottom,
                                        std::uint64_t *device)
      {
        RawArray<std::uint64_t> &sums = entries[no_bottom       ? 2
                                                : boundary_only ? 1
                                                                : 0];
        if (sums.size() == 0)
          sums = running_sums(
            parallel,
            mesh.polytope_interface.size(),
            [&](const std::size_t e) -> std::uint64_t {
              const unsigned int code = mesh.polytope_interface[e],
                                 i    = code / 2;
              return (!boundary_only || mesh.neighbor(code) == invalid_index) &&
                         !(no_bottom && mesh.interface_boundary_id[i] ==
                                          in.degrees.bottom_id)
                       ? facet[mesh.facet_offset[i + 1]] -
                           facet[mesh.facet_offset[i]]
                       : 0;
            });
        if (entry != sums.data())
          in.workspace->copy(device, sums.data(), sums.size());
        entry = sums.data();
      }



      template <int dim>
      void
      PointNumbers<dim>::count_packed()
      {
        if (packed_interface.size() > 0)
          return;
        for (const bool boundary : {false, true})
          packed_entry[boundary] =
            running_sums(parallel,
                         mesh.polytope_interface.size(),
                         [&](const std::size_t e) -> std::uint64_t {
                           const unsigned int code = mesh.polytope_interface[e],
                                              i    = code / 2;
                           return code % 2 == 0 && (mesh.neighbor(code) ==
                                                    invalid_index) == boundary
                                    ? facet[mesh.facet_offset[i + 1]] -
                                        facet[mesh.facet_offset[i]]
                                    : 0;
                         });
        std::vector<std::uint64_t> first(mesh.n_interfaces());
        parallel(
          mesh.polytope_interface.size(),
          8192,
          [&](const std::size_t begin, const std::size_t end) {
            for (std::size_t e = begin; e < end; ++e)
              {
                const unsigned int code = mesh.polytope_interface[e];
                if (code % 2 == 0)
                  first[code / 2] =
                    packed_entry[mesh.neighbor(code) == invalid_index][e];
              }
          });
        packed_interface.resize(first.size());
        in.workspace->copy(packed_interface.data(), first.data(), first.size());
      }



      template <int dim>
      std::uint64_t
      PointNumbers<dim>::most_volume_points(const unsigned int begin,
                                            const unsigned int end) const
      {
        std::uint64_t most = 0;
        for (unsigned int k = begin; k < end; ++k)
          most = std::max(most, volume(k, k + 1));
        return most;
      }



      template class PointNumbers<2>;
      template class PointNumbers<3>;
      template class PointNumbers<4>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

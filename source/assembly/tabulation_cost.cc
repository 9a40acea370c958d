// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/timer.h>

#include <tessella/assembly/tabulation_cost.h>

#include <algorithm>
#include <vector>

#include "../backends/cuda_tabulation.h"
#include "../backends/host_assembly.h"
#include "../backends/host_dispatch.h"

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  TabulationCost
  tabulation_cost(const AgglomerationHandler<dim> &handler,
                  const Form<dim>                 &form,
                  const PenaltyParameters         &penalty,
                  const InstructionSet             instruction_set)
  {
    handler.tabulate(
      form.coefficient_order() +
      (handler.polynomial_space() == PolynomialSpaceType::tensor_product
         ? 2 * (dim - 1) * handler.max_degree()
         : 0));
    if (form.facet_structure().penalty)
      compute_penalty_factors(handler, penalty.formula);
    const PolytopicMesh<dim>             &mesh = handler.polytopic_mesh();
    const internal::HostRules<dim>        rules(mesh, form.coefficient_order());
    const internal::Device::FormData<dim> data =
      internal::make_form_data(mesh, form, true, true, true);
    const auto &kernels = internal::select_kernels<dim>(instruction_set);

    TabulationCost                 cost;
    const internal::TablePositions positions =
      internal::table_positions(mesh, rules, data);
    cost.n_volume_points = positions.subcell.back();
    for (unsigned int e = 0; e < mesh.polytope_interface.size(); ++e)
      {
        const std::uint64_t n    = positions.entry[e + 1] - positions.entry[e];
        const unsigned int  code = mesh.polytope_interface[e];
        if (mesh.neighbor(code) == invalid_index)
          cost.n_boundary_points += n;
        else if (code % 2 == 0)
          cost.n_interior_points += n;
      }
    const internal::Device::Range<std::uint64_t>
      subcell_points = {positions.subcell.data(), 0},
      entry_points   = {positions.entry.data(), 0};

    // Chunks of about the size that a device processes at once.
    constexpr std::uint64_t              chunk_size = 1 << 23;
    std::vector<internal::Device::Chunk> chunks;
    std::uint64_t                        largest = 0;
    for (unsigned int begin = 0; begin < mesh.n_owned_polytopes();)
      {
        internal::Device::Chunk chunk = {begin, begin, 0, 0};
        std::uint64_t           size  = 0;
        while (chunk.end < mesh.n_owned_polytopes() && size < chunk_size)
          {
            ++chunk.end;
            chunk.n_volume_points =
              positions.subcell[mesh.subcell_offset[chunk.end]] -
              positions.subcell[mesh.subcell_offset[begin]];
            chunk.n_facet_points =
              positions.entry[mesh.polytope_interface_offset[chunk.end]] -
              positions.entry[mesh.polytope_interface_offset[begin]];
            size = chunk.n_volume_points * data.volume_layout.n +
                   chunk.n_facet_points * data.facet_layout.n;
          }
        largest = std::max(largest, size);
        chunks.push_back(chunk);
        begin = chunk.end;
      }

    // Volume and facets are tabulated in two rounds, as in an assembly on a
    // device with enough memory, unless the penalty uses another diffusion than
    // the form.
    const VolumeStructure structure = form.volume_structure();
    const bool penalty_varies = structure.diffusion != DiffusionType::none &&
                                !structure.constant &&
                                form.facet_structure().penalty;
    const bool rounds = data.volume_layout.n > 0 && !data.constant_facets &&
                        !structure.constant && !structure.penalty_diffusion;
    const internal::Device::PackedTables<dim> packed(data);
    std::vector<double>                       sigma, a_bar, tables[2];
    for (std::vector<double> &table : tables)
      table.resize(largest);
    for (unsigned int round = 0; round < 2; ++round)
      {
        Timer timer;
        cost.table_bytes = 0;
        if (rounds)
          {
            a_bar.assign(2 * std::size_t(mesh.n_facets()), 0.);
            for (unsigned int c = 0; c < chunks.size(); ++c)
              {
                const bool symmetric =
                  internal::tabulate_packed_volume(mesh,
                                                   form,
                                                   rules,
                                                   kernels,
                                                   data,
                                                   subcell_points,
                                                   chunks[c],
                                                   tables[c % 2].data(),
                                                   penalty_varies ? a_bar.data()
                                                                  : nullptr);
                cost.table_bytes +=
                  sizeof(double) * chunks[c].n_volume_points *
                  (packed.n_volume - (symmetric ? packed.n_lower : 0));
              }
            if (penalty_varies)
              internal::penalty_from_diffusion(mesh,
                                               penalty.constant,
                                               a_bar,
                                               sigma);
            else
              sigma.assign(mesh.n_facets(), 0.);
          }
        else
          internal::compute_penalty(
            mesh, form, penalty.constant, rules, instruction_set, sigma);
        cost.volume = timer.wall_time();
        timer.restart();
        for (unsigned int c = 0; c < chunks.size(); ++c)
          {
            const internal::Device::Chunk &chunk  = chunks[c];
            double                        *volume = tables[c % 2].data();
            if (rounds && data.packed_facets)
              {
                const unsigned int
                  first = mesh.polytope_interface_offset[chunk.begin],
                  last  = mesh.polytope_interface_offset[chunk.end];
                const std::uint64_t interior = packed.n_interior *
                                               (positions.interior[last] -
                                                positions.interior[first]),
                                    boundary = packed.n_boundary *
                                               (positions.boundary[last] -
                                                positions.boundary[first]);
                internal::tabulate_packed_facets(mesh,
                                                 form,
                                                 sigma.data(),
                                                 rules,
                                                 kernels,
                                                 data,
                                                 positions.interior.data(),
                                                 positions.boundary.data(),
                                                 chunk,
                                                 volume,
                                                 volume + interior);
                cost.table_bytes += sizeof(double) * (interior + boundary);
                continue;
              }
            const std::uint64_t n_volume =
              rounds ? 0 : chunk.n_volume_points * data.volume_layout.n;
            internal::for_polytopes(
              chunk.end - chunk.begin,
              [&](const unsigned int begin, const unsigned int end) {
                if (n_volume > 0)
                  internal::tabulate_volume(
                    mesh,
                    form,
                    rules,
                    kernels,
                    data.volume_layout,
                    subcell_points,
                    chunk,
                    chunk.begin + begin,
                    chunk.begin + end,
                    volume,
                    static_cast<const internal::DiffusionValues<dim> *>(
                      nullptr));
                if (chunk.n_facet_points > 0 && data.facet_layout.n > 0)
                  internal::tabulate_facets(mesh,
                                            form,
                                            sigma.data(),
                                            rules,
                                            kernels,
                                            data,
                                            entry_points,
                                            chunk,
                                            chunk.begin + begin,
                                            chunk.begin + end,
                                            volume + n_volume);
              });
            cost.table_bytes +=
              sizeof(double) *
              (n_volume + chunk.n_facet_points * data.facet_layout.n);
          }
        cost.facets = timer.wall_time();
      }
    return cost;
  }



  template TabulationCost
  tabulation_cost(const AgglomerationHandler<2> &,
                  const Form<2> &,
                  const PenaltyParameters &,
                  const InstructionSet);
  template TabulationCost
  tabulation_cost(const AgglomerationHandler<3> &,
                  const Form<3> &,
                  const PenaltyParameters &,
                  const InstructionSet);
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "tabulation_cost.h"

#include <deal.II/base/timer.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "../../source/backends/cuda_tabulation.h"
#include "../../source/backends/facet_penalty.h"
#include "../../source/backends/host_dispatch.h"

namespace Tessella
{
  namespace Application
  {
    namespace
    {
      /// Tables of all coefficients of a form, chunk by chunk.
      template <int dim>
      class Tables
      {
      public:
        Tables(const PolytopicMesh<dim> &mesh,
               const PolytopicDoFs      &dofs,
               const Form<dim>          &form,
               const PenaltyParameters  &penalty,
               const InstructionSet      instruction_set)
          : mesh(mesh)
          , dofs(dofs)
          , form(form)
          , penalty_constant(penalty.constant)
          , rules(mesh, dofs, form.coefficient_order())
          , data(internal::make_form_data(mesh, form, true, true))
          , tabulation{mesh,
                       dofs,
                       form,
                       rules,
                       internal::select_kernels<dim>(instruction_set),
                       data}
          , positions(internal::table_positions(mesh, dofs, rules, data))
          , packed(data)
          , two_passes(data.volume_layout.n > 0 && !data.constant_facets &&
                       !form.volume_structure().constant &&
                       !form.volume_structure().penalty_diffusion)
          , penalty_varies(form.volume_structure().diffusion !=
                             DiffusionType::none &&
                           !form.volume_structure().constant &&
                           form.facet_structure().penalty)
        {
          make_chunks();
        }

        /// Sets the numbers of quadrature points.
        void
        count_points(TabulationCost &cost) const
        {
          cost.n_volume_points = positions.subcell.back();
          for (unsigned int e = 0; e < mesh.polytope_interface.size(); ++e)
            {
              const std::uint64_t n =
                positions.entry[e + 1] - positions.entry[e];
              const unsigned int code = mesh.polytope_interface[e];
              if (mesh.neighbor(code) == invalid_index)
                cost.n_boundary_points += n;
              else if (code % 2 == 0)
                cost.n_interior_points += n;
            }
        }

        /// Fills the tables of the volume if there are two passes, and computes
        /// sigma. Returns the number of bytes of the tables, as the next one
        /// does.
        std::uint64_t
        fill_volume()
        {
          if (!two_passes)
            {
              internal::compute_penalty<dim>(
                {mesh, dofs, form, rules, tabulation.kernels},
                penalty_constant,
                sigma);
              return 0;
            }
          std::uint64_t n_numbers = 0;
          a_bar.assign(2 * std::size_t(mesh.n_facets()), 0.);
          for (unsigned int c = 0; c < chunks.size(); ++c)
            {
              const bool symmetric =
                tabulation.packed_volume({positions.subcell.data(), 0},
                                         chunks[c],
                                         tables[c % 2].data(),
                                         penalty_varies ? a_bar.data()
                                                        : nullptr);
              n_numbers += chunks[c].n_volume_points *
                           (packed.n_volume - (symmetric ? packed.n_lower : 0));
            }
          if (penalty_varies)
            internal::penalty_from_diffusion(dofs,
                                             penalty_constant,
                                             a_bar,
                                             sigma);
          else
            sigma.assign(mesh.n_facets(), 0.);
          return n_numbers * sizeof(double);
        }

        /// Fills all other tables.
        std::uint64_t
        fill_facets()
        {
          std::uint64_t n_numbers = 0;
          for (unsigned int c = 0; c < chunks.size(); ++c)
            n_numbers += two_passes && data.packed_facets
                           ? fill_packed_facets(chunks[c], tables[c % 2].data())
                           : fill_chunk(chunks[c], tables[c % 2].data());
          return n_numbers * sizeof(double);
        }

      private:
        // Chunks of about the size that a device processes at once.
        void
        make_chunks()
        {
          constexpr std::uint64_t chunk_size = 1 << 23;
          std::uint64_t           largest    = 0;
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
          for (std::vector<double> &table : tables)
            table.resize(largest);
        }

        std::uint64_t
        fill_packed_facets(const internal::Device::Chunk &chunk, double *table)
        {
          const unsigned int first =
                               mesh.polytope_interface_offset[chunk.begin],
                             last = mesh.polytope_interface_offset[chunk.end];
          const std::uint64_t interior =
                                packed.n_interior * (positions.interior[last] -
                                                     positions.interior[first]),
                              boundary =
                                packed.n_boundary * (positions.boundary[last] -
                                                     positions.boundary[first]);
          tabulation.packed_facets(sigma.data(),
                                   positions.interior.data(),
                                   positions.boundary.data(),
                                   chunk,
                                   table,
                                   table + interior);
          return interior + boundary;
        }

        // Facets, and the volume unless there are two passes.
        std::uint64_t
        fill_chunk(const internal::Device::Chunk &chunk, double *table)
        {
          using Range = internal::Device::Range<std::uint64_t>;
          const std::uint64_t n_volume =
            two_passes ? 0 : chunk.n_volume_points * data.volume_layout.n;
          const std::uint64_t n_facets =
            chunk.n_facet_points * data.facet_layout.n;
          internal::for_polytopes(
            chunk.end - chunk.begin,
            [&](const unsigned int begin, const unsigned int end) {
              if (n_volume > 0)
                tabulation.volume(Range{positions.subcell.data(), 0},
                                  chunk,
                                  chunk.begin + begin,
                                  chunk.begin + end,
                                  table,
                                  nullptr);
              if (n_facets > 0)
                tabulation.facets(sigma.data(),
                                  Range{positions.entry.data(), 0},
                                  chunk,
                                  chunk.begin + begin,
                                  chunk.begin + end,
                                  table + n_volume);
            });
          return n_volume + n_facets;
        }

        const PolytopicMesh<dim>                 &mesh;
        const PolytopicDoFs                      &dofs;
        const Form<dim>                          &form;
        const double                              penalty_constant;
        const internal::HostRules<dim>            rules;
        const internal::Device::FormData<dim>     data;
        const internal::HostTabulation<dim>       tabulation;
        const internal::TablePositions            positions;
        const internal::Device::PackedTables<dim> packed;
        /// Volume and facets are tabulated in two passes, as in an assembly on
        /// a device with enough memory, unless the penalty uses another
        /// diffusion than the form.
        const bool                           two_passes;
        const bool                           penalty_varies;
        std::vector<internal::Device::Chunk> chunks;
        /// Two buffers, which are used alternately.
        std::vector<double> tables[2];
        std::vector<double> sigma, a_bar;
      };
    } // namespace



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
      Tables<dim> tables(handler.polytopic_mesh(),
                         handler.polytopic_dofs(),
                         form,
                         penalty,
                         instruction_set);

      TabulationCost cost;
      tables.count_points(cost);
      for (unsigned int round = 0; round < 2; ++round)
        {
          dealii::Timer timer;
          cost.table_bytes = tables.fill_volume();
          cost.volume      = timer.wall_time();
          timer.restart();
          cost.table_bytes += tables.fill_facets();
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
  } // namespace Application
} // namespace Tessella

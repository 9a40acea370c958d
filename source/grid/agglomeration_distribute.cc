// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/distributed/fully_distributed_tria.h>
#include <deal.II/grid/tria.h>
#include <deal.II/grid/tria_accessor.h>
#include <deal.II/grid/tria_description.h>
#include <deal.II/grid/tria_iterator.h>

#include <tessella/base/exceptions.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/partition.h>
#include <tessella/quadrature/reference_quadrature.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "agglomeration_checks.h"
#include "dual_graph.h"

// Distribution of a serial mesh over processes such that polytopes stay whole.

namespace Tessella
{
  namespace Agglomeration
  {
    using dealii::Triangulation;

    namespace
    {
      /// Number of quadrature points on each cell plus half of the number on
      /// its faces, for rules of order 4 as for polynomials of degree 2.
      template <int dim>
      std::vector<unsigned int>
      quadrature_costs(const Triangulation<dim> &triangulation)
      {
        constexpr unsigned int order = 4;
        const unsigned int     simplex =
          2 * simplex_rule(dim, order).n_points +
          (dim + 1) * simplex_rule(dim - 1, order).n_points;
        const unsigned int hypercube =
          2 * hypercube_rule(dim, order).n_points +
          2 * dim * hypercube_rule(dim - 1, order).n_points;
        std::vector<unsigned int> costs;
        costs.reserve(triangulation.n_active_cells());
        for (const auto &cell : triangulation.active_cell_iterators())
          costs.push_back(cell->reference_cell().is_simplex() ? simplex
                                                              : hypercube);
        return costs;
      }



      // Graph of polytopes that share a face. The weight of a polytope is the
      // sum of the costs of its cells, scaled to fit 32 bits.
      template <int dim>
      internal::DualGraph
      polytope_graph(const Triangulation<dim>        &serial,
                     const std::vector<unsigned int> &ids,
                     const unsigned int               n_polytopes,
                     const std::vector<unsigned int> &costs,
                     std::vector<unsigned int>       &weights)
      {
        const internal::DualGraph cells =
          internal::make_dual_graph(serial, false);
        std::vector<std::pair<unsigned int, unsigned int>> edges;
        std::vector<std::uint64_t>                         sums(n_polytopes, 0);
        for (unsigned int c = 0; c < cells.n_cells(); ++c)
          {
            sums[ids[c]] += costs[c];
            for (std::size_t e = cells.offsets[c]; e < cells.offsets[c + 1];
                 ++e)
              if (ids[cells.neighbors[e]] != ids[c])
                edges.emplace_back(ids[c], ids[cells.neighbors[e]]);
          }
        std::sort(edges.begin(), edges.end());
        edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
        internal::DualGraph polytopes;
        polytopes.offsets.assign(n_polytopes + 1, 0);
        for (const auto &edge : edges)
          {
            ++polytopes.offsets[edge.first + 1];
            polytopes.neighbors.push_back(edge.second);
          }
        std::partial_sum(polytopes.offsets.begin(),
                         polytopes.offsets.end(),
                         polytopes.offsets.begin());
        weights.resize(n_polytopes);
        const std::uint64_t largest =
          *std::max_element(sums.begin(), sums.end());
        const std::uint64_t scale = 1 + largest / (unset / 2);
        for (unsigned int k = 0; k < n_polytopes; ++k)
          weights[k] = static_cast<unsigned int>(
            std::max<std::uint64_t>(1, sums[k] / scale));
        return polytopes;
      }
    } // namespace



    template <int dim>
    std::vector<unsigned int>
    partition(Triangulation<dim>              &serial,
              const Strategy<dim>             &strategy,
              const unsigned int               n_parts,
              const std::vector<unsigned int> &weights)
    {
      AssertThrow(!is_distributed(serial),
                  ExcUserInput("A triangulation that is distributed already "
                               "was given to Agglomeration::distribute() or "
                               "partition(): they take a serial one."));
      std::vector<unsigned int> ids =
        Agglomeration::apply<dim>(strategy, serial);
      const unsigned int n_polytopes = internal::renumber(ids);
      if (!weights.empty())
        check_n_ids(serial, weights.size(), "The vector of weights");
      const std::vector<unsigned int> costs =
        weights.empty() ? quadrature_costs(serial) : weights;

      std::vector<unsigned int> polytope_weights;
      const internal::DualGraph polytopes =
        polytope_graph(serial, ids, n_polytopes, costs, polytope_weights);
      const unsigned int              n_used = std::min(n_parts, n_polytopes);
      const std::vector<unsigned int> owners =
        n_used > 1
          ? internal::partition_graph(polytopes, polytope_weights, n_used)
          : std::vector<unsigned int>(n_polytopes, 0);
      for (const auto &cell : serial.active_cell_iterators())
        cell->set_subdomain_id(owners[ids[cell->active_cell_index()]]);
      return ids;
    }



    template <int dim>
    Strategy<dim>
    distribute(Triangulation<dim>                                     &serial,
               const Strategy<dim>                                    &strategy,
               dealii::parallel::fullydistributed::Triangulation<dim> &result,
               const std::vector<unsigned int>                        &weights)
    {
      const MPI_Comm communicator = Compatibility::get_communicator(result);
      std::vector<unsigned int> ids;
      Tessella::on_all_processes(communicator, [&]() {
        ids = partition(serial,
                        strategy,
                        internal::n_processes(communicator),
                        weights);
      });

      for (const auto id : serial.get_manifold_ids())
        if (id != dealii::numbers::flat_manifold_id)
          result.set_manifold(id, serial.get_manifold(id));
      result.create_triangulation(
        dealii::TriangulationDescription::Utilities::
          create_description_from_triangulation(serial, communicator));

      std::vector<unsigned int> local_ids(result.n_active_cells(), unset);
      Tessella::on_all_processes(communicator, [&]() {
        for (const auto &cell : result.active_cell_iterators())
          if (cell->is_locally_owned())
            {
              const auto original = serial.create_cell_iterator(cell->id());
              local_ids[cell->active_cell_index()] =
                ids[original->active_cell_index()];
              // deal.II refines the coarse cells again, without moves of
              // vertices that the user made after refinement.
              for (const unsigned int v : cell->vertex_indices())
                AssertThrow(cell->vertex(v).distance(original->vertex(v)) <=
                              1e-10 * original->diameter(),
                            ExcUserInput(
                              "Vertices were moved after refinement, which a "
                              "fully distributed triangulation cannot take "
                              "over: use parallel::shared::Triangulation and "
                              "Agglomeration::partition()."));
            }
      });
      return [local_ids](const Triangulation<dim> &triangulation) {
        check_n_ids(triangulation,
                    local_ids.size(),
                    "The vector of polytope ids of a distributed mesh");
        // Remove the gaps that the polytopes of other processes leave.
        std::vector<unsigned int> own = local_ids;
        internal::renumber(own);
        return own;
      };
    }

#define INSTANTIATE(dim)                                      \
  template std::vector<unsigned int> partition<dim>(          \
    Triangulation<dim> &,                                     \
    const Strategy<dim> &,                                    \
    const unsigned int,                                       \
    const std::vector<unsigned int> &);                       \
  template Strategy<dim> distribute<dim>(                     \
    Triangulation<dim> &,                                     \
    const Strategy<dim> &,                                    \
    dealii::parallel::fullydistributed::Triangulation<dim> &, \
    const std::vector<unsigned int> &)

    INSTANTIATE(2);
    INSTANTIATE(3);
#undef INSTANTIATE
  } // namespace Agglomeration
} // namespace Tessella

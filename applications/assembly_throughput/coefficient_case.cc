// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "coefficient_case.h"

#include <deal.II/base/multithread_info.h>
#include <deal.II/base/parallel.h>
#include <deal.II/base/timer.h>

#include <tessella/values/polytope_quadrature.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      /// Number of points in one call of a function.
      constexpr unsigned int batch_size = 512;
      /// Number of polytopes whose points are stored at the same time.
      constexpr unsigned int chunk_size = 1 << 14;

      template <int dim>
      using Batches = std::vector<std::vector<Point<dim>>>;

      /// Collects points in batches of batch_size; only the last one may be
      /// smaller.
      template <int dim>
      class BatchBuilder
      {
      public:
        template <typename Quadrature>
        void
        add(const Quadrature &quadrature)
        {
          for (unsigned int q = 0; q < quadrature.size(); ++q)
            {
              if (batches.empty() || batches.back().size() == batch_size)
                {
                  batches.emplace_back();
                  batches.back().reserve(batch_size);
                }
              Point<dim> p;
              for (unsigned int d = 0; d < dim; ++d)
                p[d] = quadrature.x[d][q];
              batches.back().push_back(p);
            }
        }

        Batches<dim> batches;
      };

      /// Number of values per point that evaluate() stores.
      template <int dim>
      unsigned int
      n_values(const Problem<dim> &problem, const bool on_facets)
      {
        return (problem.diffusion != nullptr ? 1 : 0) +
               (problem.diffusion_tensor != nullptr ? dim * dim : 0) +
               (problem.advection != nullptr ? dim : 0) +
               (problem.reaction != nullptr && !on_facets ? 1 : 0) +
               (problem.source != nullptr && !on_facets ? 1 : 0);
      }

      /// Evaluates all functions at @p points and stores the values at @p
      /// target, unless it is null.
      template <int dim>
      void
      evaluate(const Problem<dim>            &problem,
               const std::vector<Point<dim>> &points,
               const bool                     on_facets,
               std::vector<double>           &values,
               std::vector<Tensor<2, dim>>   &tensors,
               double                        *target)
      {
        values.resize(points.size());
        tensors.resize(points.size());
        const auto scalar = [&](const Function<dim> *function,
                                const unsigned int   component) {
          if (function == nullptr)
            return;
          function->value_list(points, values, component);
          if (target != nullptr)
            target = std::copy(values.begin(), values.end(), target);
        };
        scalar(problem.diffusion.get(), 0);
        if (problem.diffusion_tensor != nullptr)
          {
            problem.diffusion_tensor->value_list(points, tensors);
            if (target != nullptr)
              for (const Tensor<2, dim> &tensor : tensors)
                for (unsigned int d = 0; d < dim; ++d)
                  for (unsigned int e = 0; e < dim; ++e)
                    *target++ = tensor[d][e];
          }
        for (unsigned int d = 0; d < dim; ++d)
          scalar(problem.advection.get(), d);
        if (on_facets)
          return;
        scalar(problem.reaction.get(), 0);
        scalar(problem.source.get(), 0);
      }

      /// Returns the seconds for all batches. If @p memory is not null, the
      /// values are stored there; it is resized if it is too small.
      template <int dim>
      double
      time_evaluation(const Problem<dim>  &problem,
                      const Batches<dim>  &batches,
                      const bool           on_facets,
                      const unsigned int   repetitions,
                      std::vector<double> *memory)
      {
        const std::size_t distance =
          std::size_t(batch_size) * n_values(problem, on_facets);
        if (memory != nullptr && memory->size() < batches.size() * distance)
          memory->resize(batches.size() * distance);
        double least = std::numeric_limits<double>::max();
        for (unsigned int r = 0; r < repetitions; ++r)
          {
            const Timer timer;
            parallel::apply_to_subranges(
              std::size_t(0),
              batches.size(),
              [&](const std::size_t begin, const std::size_t end) {
                std::vector<double>         values;
                std::vector<Tensor<2, dim>> tensors;
                for (std::size_t i = begin; i < end; ++i)
                  evaluate(problem,
                           batches[i],
                           on_facets,
                           values,
                           tensors,
                           memory == nullptr ? nullptr
                                             : memory->data() + i * distance);
              },
              8);
            least = std::min(least, timer.wall_time());
          }
        return least;
      }
    } // namespace



    template <int dim>
    CoefficientResult
    measure_coefficients(BenchmarkCase<dim> benchmark,
                         const unsigned int n_threads)
    {
      const Mesh<dim> &mesh    = benchmark.mesh.mesh;
      Problem<dim>    &problem = benchmark.problem;
      MultithreadInfo::set_thread_limit(n_threads);
      AgglomerationHandler<dim> handler(*mesh.triangulation,
                                        mesh.mapping.get());
      handler.agglomerate(benchmark.mesh.strategy);
      benchmark.equation.set_cell_values(problem, mesh, handler);
      benchmark.discretisation.distribute_dofs(handler, benchmark.degree);
      CoefficientResult result;
      result.degree    = benchmark.degree;
      result.n_threads = n_threads;
      result.n_dofs    = handler.n_dofs();

      TabulationCost least;
      for (unsigned int r = 0; r < benchmark.repetitions; ++r)
        {
          const TabulationCost cost =
            tabulation_cost(handler,
                            problem.form,
                            benchmark.discretisation.penalty);
          if (r == 0 || cost.volume + cost.facets < least.volume + least.facets)
            least = cost;
        }
      result.cost = least;

      const PolytopicMesh<dim> &view  = handler.polytopic_mesh();
      const PolytopicDoFs      &dofs  = handler.polytopic_dofs();
      const unsigned int        order = problem.form.coefficient_order();
      prepare_quadrature(handler, 2 * handler.max_degree() + order);
      PolytopeQuadrature<dim>  volume;
      InterfaceQuadrature<dim> facets;
      std::vector<double>      memory;
      for (unsigned int first = 0; first < view.n_polytopes();
           first += chunk_size)
        {
          BatchBuilder<dim>  in_volume, on_facets;
          const unsigned int last =
            std::min(first + chunk_size, view.n_polytopes());
          for (unsigned int k = first; k < last; ++k)
            {
              volume.reinit(handler, k, 2 * dofs.degree[k] + order);
              in_volume.add(volume);
              for (unsigned int e = view.polytope_interface_offset[k];
                   least.n_interior_points + least.n_boundary_points > 0 &&
                   e < view.polytope_interface_offset[k + 1];
                   ++e)
                {
                  const unsigned int code     = view.polytope_interface[e],
                                     neighbor = view.neighbor(code);
                  if (code % 2 == 1 || (neighbor != invalid_index &&
                                        least.n_interior_points == 0))
                    continue;
                  facets.reinit(handler,
                                code / 2,
                                0,
                                2 * (neighbor == invalid_index
                                       ? dofs.degree[k]
                                       : std::max(dofs.degree[k],
                                                  dofs.degree[neighbor])) +
                                  order);
                  on_facets.add(facets);
                }
            }
          const auto time = [&](std::vector<double> *target) {
            return time_evaluation(problem,
                                   in_volume.batches,
                                   false,
                                   benchmark.repetitions,
                                   target) +
                   time_evaluation(problem,
                                   on_facets.batches,
                                   true,
                                   benchmark.repetitions,
                                   target);
          };
          result.evaluation += time(nullptr);
          result.stored_evaluation += time(&memory);
        }
      return result;
    }



    void
    add_row(TextTable &table, const CoefficientResult &result)
    {
      const double M = 1e-6 * result.n_dofs;
      table.start_row();
      table.add("level", std::uint64_t(result.level));
      table.add("degree", std::uint64_t(result.degree));
      table.add("threads", std::uint64_t(result.n_threads));
      table.add("unknowns", result.n_dofs);
      table.add("volume points", result.cost.n_volume_points);
      table.add("facet points",
                result.cost.n_interior_points + result.cost.n_boundary_points);
      table.add("tables MB/M", 1e-6 * result.cost.table_bytes / M);
      table.add("evaluation ms/M", 1e3 * result.evaluation / M);
      table.add("volume ms/M", 1e3 * result.cost.volume / M);
      table.add("facets ms/M", 1e3 * result.cost.facets / M);
      table.add("x evaluation",
                (result.cost.volume + result.cost.facets) / result.evaluation);
      table.add("stored ms/M", 1e3 * result.stored_evaluation / M);
      table.add("x stored",
                (result.cost.volume + result.cost.facets) /
                  result.stored_evaluation);
    }



    template CoefficientResult
    measure_coefficients(BenchmarkCase<2>, const unsigned int);
    template CoefficientResult
    measure_coefficients(BenchmarkCase<3>, const unsigned int);
  } // namespace Application
} // namespace Tessella

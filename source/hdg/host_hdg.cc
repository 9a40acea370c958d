// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/parallel.h>
#include <deal.II/base/timer.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "../backends/host_dispatch.h"
#include "hdg_backend.h"
#include "interface_sides.h"

namespace Tessella
{
  using namespace dealii;

  namespace internal
  {
    namespace
    {
      // Number of polytopes that a task processes at once.
      constexpr unsigned int local_grain = 16;

      /// Hybridizable dG with the host's threads, see LocalSolver.
      template <int dim>
      class HostHDG : public HDGBackend<dim>
      {
      public:
        explicit HostHDG(TraceSystem<dim> &system)
          : HDGBackend<dim>(system, Backend::host)
        {}

        void
        clear() override
        {
          kept.clear();
          kept_offset.clear();
        }

        void
        assemble(const Form<dim> &form, double *values, double *rhs) override
        {
          LocalBlocks blocks;
          system.report.global_assembly_time = 0.;
          system.on_all_processes([&] { generate(form, blocks); });
          system.gather(blocks, values, rhs);
        }

        void
        recover(const Form<dim>     &form,
                const TraceUnknowns &traces,
                double              *solution,
                double              *flux) override
        {
          const Timer timer;
          if (system.data.local_solvers == LocalSolvers::recompute)
            system.on_all_processes(
              [&] { solve_again(form, traces, solution, flux); });
          else
            sum_kept(traces, solution, flux);
          system.report.local_solve_time = timer.wall_time();
        }

      private:
        using HDGBackend<dim>::system;

        /// Runs function(solver, k) for all own polytopes k on all threads.
        /// Returns the number of operations.
        template <typename Function>
        std::uint64_t
        for_local_problems(const Form<dim> &form,
                           const Function  &function) const
        {
          const LocalProblem<dim>    problem = system.local_problem(form);
          std::atomic<std::uint64_t> n_operations(0);
          parallel::apply_to_subranges(
            0u,
            system.mesh().n_owned_polytopes(),
            [&](const unsigned int begin, const unsigned int end) {
              LocalSolver<dim> solver(problem);
              for (unsigned int k = begin; k < end; ++k)
                function(solver, k);
              n_operations += solver.operations();
            },
            local_grain);
          return n_operations;
        }

        /// Computes K of all own polytopes and, if they are kept, the local
        /// solvers.
        void
        generate(const Form<dim> &form, LocalBlocks &blocks)
        {
          const Timer timer;
          const bool  keep = system.data.local_solvers == LocalSolvers::keep;
          system.resize(blocks);
          kept_offset.clear();
          if (keep)
            resize_kept();
          HDGReport &report                  = system.report;
          report.local_generation_operations = for_local_problems(
            form, [&](LocalSolver<dim> &solver, const unsigned int k) {
              solver.assemble(k);
              solver.eliminate(keep);
              store(solver, blocks);
              if (keep)
                store_solver(solver);
            });
          report.local_generation_time = timer.wall_time();
          report.local_solver_memory   = 8. * kept.size();
          report.trace_block_memory    = 8. * blocks.matrix.size();
        }

        /// Makes room for the local solvers.
        void
        resize_kept()
        {
          const PolytopicMesh<dim> &mesh = system.mesh();
          const PolytopicDoFs      &dofs = system.dofs();
          const unsigned int        n    = mesh.n_owned_polytopes();
          kept_offset.assign(n + 1, 0);
          for (unsigned int k = 0; k < n; ++k)
            {
              std::uint64_t all = 1;
              for (const unsigned int code : interface_sides(mesh, k))
                all += system.trace.n_functions[code / 2];
              kept_offset[k + 1] =
                kept_offset[k] + all * (dim + 1) * dofs.n_basis[k];
            }
          kept.resize(kept_offset[n]);
        }

        /// Stores what belongs to DoFs. Dirichlet values move to the right-hand
        /// side.
        void
        store(const LocalSolver<dim> &solver, LocalBlocks &blocks)
        {
          const PolytopicMesh<dim> &mesh = system.mesh();
          const unsigned int        k    = solver.polytope;
          system.store_matrix(k, solver.K.data(), solver.n_traces + 1, blocks);
          std::vector<unsigned int> columns;
          system.numbering.free_columns(k, columns);
          const auto         sides     = interface_sides(mesh, k);
          const unsigned int n_entries = sides.size(),
                             width     = solver.n_traces + 1;
          double *const rhs = blocks.rhs.data() + blocks.rhs_offset[k];
          double *const integral =
            blocks.integral.data() + blocks.rhs_offset[k];
          const auto is_free = [&](const unsigned int e) {
            return columns[e + 1] > columns[e];
          };
          for (unsigned int e = 0; e < n_entries; ++e)
            if (is_free(e))
              for (unsigned int i = 0; i < columns[e + 1] - columns[e]; ++i)
                {
                  const unsigned int m   = solver.column[e] + i,
                                     row = columns[e] + i;
                  const double *const K  = &solver.K[std::size_t(m) * width];
                  double value = solver.boundary_rhs[m] - K[solver.n_traces];
                  for (unsigned int f = 0; f < n_entries; ++f)
                    if (!is_free(f))
                      for (unsigned int j = solver.column[f];
                           j < solver.column[f + 1];
                           ++j)
                        value -= K[j] * solver.dirichlet[j];
                  rhs[row]      = value;
                  integral[row] = solver.trace_integral[m];
                }

          LocalBlocks::Balance &balance = blocks.balance[k];
          balance.fixed                 = solver.fixes_constant;
          balance.size = solver.integral_abs_f + solver.integral_abs_g;
          for (unsigned int e = 0; e < n_entries; ++e)
            {
              const unsigned int i = sides[e] / 2;
              if (system.has_dirichlet_coefficients(i))
                {
                  balance.fixed = true;
                  std::copy(solver.dirichlet.begin() + solver.column[e],
                            solver.dirichlet.begin() + solver.column[e + 1],
                            system.dirichlet.begin() +
                              system.dirichlet_offset[i]);
                }
            }
        }

        void
        store_solver(const LocalSolver<dim> &solver)
        {
          double            *p = kept.data() + kept_offset[solver.polytope];
          const unsigned int n = solver.n_basis;
          for (unsigned int m = 0; m <= solver.n_traces; ++m)
            {
              p = std::copy_n(solver.solution_row(m), n, p);
              for (unsigned int d = 0; d < dim; ++d)
                p = std::copy_n(solver.flux_row(m, d), n, p);
            }
        }

        /// Solves the local problems again for given traces.
        void
        solve_again(const Form<dim>     &form,
                    const TraceUnknowns &traces,
                    double              *solution,
                    double              *flux)
        {
          const PolytopicDoFs &dofs            = system.dofs();
          system.report.local_solve_operations = for_local_problems(
            form, [&](LocalSolver<dim> &solver, const unsigned int k) {
              std::vector<double> lambda;
              local_trace(k, traces, lambda);
              solver.assemble(k);
              solver.solve(lambda.data());
              const unsigned int n = dofs.n_basis[k];
              std::copy_n(solver.solution_row(0),
                          n,
                          solution + dofs.dof_offset[k]);
              for (unsigned int d = 0; d < dim; ++d)
                std::copy_n(solver.flux_row(0, d),
                            n,
                            flux + dim * dofs.dof_offset[k] + d * n);
            });
        }

        /// Adds up the local solvers that were kept.
        void
        sum_kept(const TraceUnknowns &traces, double *solution, double *flux)
        {
          const PolytopicDoFs &dofs      = system.dofs();
          const auto           sum_range = [&](const std::size_t begin,
                                     const std::size_t end) {
            std::vector<double> lambda, sum;
            for (std::size_t k = begin; k < end; ++k)
              {
                local_trace(k, traces, lambda);
                const unsigned int n = dofs.n_basis[k], all = (dim + 1) * n;
                const double      *row = kept.data() + kept_offset[k];
                // The row for f comes last.
                const double *const particular =
                  row + std::size_t(lambda.size()) * all;
                sum.assign(particular, particular + all);
                for (const double factor : lambda)
                  {
                    for (unsigned int i = 0; i < all; ++i)
                      sum[i] += factor * row[i];
                    row += all;
                  }
                std::copy_n(sum.begin(), n, solution + dofs.dof_offset[k]);
                std::copy(sum.begin() + n,
                          sum.end(),
                          flux + dim * dofs.dof_offset[k]);
              }
          };
          for_ranges(system.mesh().n_owned_polytopes(), local_grain, sum_range);
          system.report.local_solve_operations = 2. * kept.size();
        }

        /// Coefficients lambda of all interfaces of polytope k.
        void
        local_trace(const unsigned int   k,
                    const TraceUnknowns &traces,
                    std::vector<double> &lambda) const
        {
          const PolytopicMesh<dim> &mesh = system.mesh();
          lambda.clear();
          for (const unsigned int code : interface_sides(mesh, k))
            {
              const unsigned int i     = code / 2,
                                 block = system.numbering.block_of_interface[i];
              if (block != invalid_index)
                {
                  const double *const first =
                    traces + system.numbering.dof_offset[block];
                  lambda.insert(lambda.end(),
                                first,
                                first + system.trace.n_functions[i]);
                }
              else
                lambda.insert(lambda.end(),
                              system.dirichlet.begin() +
                                system.dirichlet_offset[i],
                              system.dirichlet.begin() +
                                system.dirichlet_offset[i + 1]);
            }
        }

        /// u, then the components of q, for each polytope and each of its trace
        /// functions, then for f.
        std::vector<std::uint64_t> kept_offset;
        std::vector<double>        kept;
      };
    } // namespace



    template <int dim>
    std::unique_ptr<HDGBackend<dim>>
    make_host_hdg(TraceSystem<dim> &system)
    {
      return std::make_unique<HostHDG<dim>>(system);
    }



    template std::unique_ptr<HDGBackend<2>>
    make_host_hdg(TraceSystem<2> &);
    template std::unique_ptr<HDGBackend<3>>
    make_host_hdg(TraceSystem<3> &);
  } // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <cstring>
#include <tuple>

#include "../device/memory.h"
#include "hdg.h"
#include "hdg_coefficients.h"
#include "hdg_gather.h"
#include "hdg_local_problems.h"
#include "hdg_operations.h"
#include "hdg_plan.h"
#include "hdg_recovery.h"
#include "hdg_upload.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// Runs the stages of an assembly tile by tile.
        template <int dim>
        class TiledAssembler : public HDGAssembler<dim>
        {
        public:
          explicit TiledAssembler(const HDGPlan<dim> &plan)
            : plan(plan)
            , mesh(plan.mesh)
            , on_device(plan)
            , coefficients(plan, on_device)
            , local_problems(plan, on_device)
          {
            std::copy(plan.mass_degree.begin(),
                      plan.mass_degree.end(),
                      P.mass_degree);
            const std::size_t n        = mesh.n_owned_polytopes(),
                              n_traces = plan.trace_offset.back();
            if (n == 0)
              return;
            on_device.prepare(P);
            rhs.resize(n_traces);
            integral.resize(n_traces);
            dirichlet.resize(n_traces);
            abs_f.resize(n);
            first_failure.resize(1);
            status.resize(n);
            P.status    = status.data();
            P.rhs       = rhs.data();
            P.integral  = integral.data();
            P.dirichlet = dirichlet.data();
            P.abs_f     = abs_f.data();
            P.failure   = first_failure.data();
            gather.prepare(plan, on_device.copies);
          }

          std::size_t
          memory() const override
          {
            return fixed_bytes() + 8 * (K.size() + solvers.size()) +
                   coefficients.held_bytes() + local_problems.held_bytes();
          }

          HDGTimes
          assemble(const HDGProblem<dim> &problem,
                   const bool             keep,
                   double                *values,
                   double                *right_hand_side) override
          {
            return assemble_tiles(problem, keep, [&] {
              gather.launch(P, values, right_hand_side);
            });
          }

          HDGTimes
          assemble_blocks(const HDGProblem<dim>                       &problem,
                          const bool                                   keep,
                          const typename HDGAssembler<dim>::UseBlocks &use,
                          std::vector<double> &right_hand_side) override
          {
            right_hand_side.resize(plan.trace_offset.back());
            if (mesh.n_owned_polytopes() == 0)
              return HDGTimes();
            std::vector<double> blocks;
            const HDGTimes      times = assemble_tiles(problem, keep, [&] {
              const std::uint64_t *const offset = plan.square_offset.data();
              blocks.resize(offset[P.last] - offset[P.first]);
              download(K, blocks);
              plan.parallel(
                P.last - P.first,
                16,
                [&](const std::size_t begin, const std::size_t end) {
                  for (std::size_t k = P.first + begin; k < P.first + end; ++k)
                    use(k, blocks.data() + (offset[k] - offset[P.first]));
                });
            });
            download(rhs, right_hand_side);
            return times;
          }

          double
          operations() const override
          {
            double &n = n_operations[with_kept ? 1 : 0];
            if (n < 0.)
              n = count_operations(plan, P, with_kept);
            return n;
          }

          void
          download_fixed(std::vector<char> &fixed) const override
          {
            coefficients.download_fixed(fixed);
          }

          double
          recover(const HDGProblem<dim> &problem,
                  const double          *trace,
                  double                *solution,
                  double                *flux) override
          {
            if (mesh.n_owned_polytopes() == 0)
              return 0.;
            const auto launch = [&] {
              HDGRecovery<dim>{plan, gather}.launch(P, trace, solution, flux);
            };
            return is_kept ? recover_kept(launch) : recompute(problem, launch);
          }

          void
          download_balance(std::vector<double> &integrals,
                           std::vector<double> &abs_f_values) const override
          {
            integrals.resize(plan.trace_offset.back());
            abs_f_values.resize(mesh.n_owned_polytopes());
            download(integral, integrals);
            download(abs_f, abs_f_values);
          }

          void
          download_dirichlet(std::vector<double> &values) const override
          {
            values.resize(plan.trace_offset.back());
            download(dirichlet, values);
          }

        private:
          using HDGAssembler<dim>::device_memory;
          using HDGAssembler<dim>::failed_polytope;
          using HDGAssembler<dim>::failure;
          using HDGAssembler<dim>::is_kept;

          // Copies as many values as @p to has.
          void
          download(const Array<double> &from, std::vector<double> &to) const
          {
            download_array(from.data(), to.data(), to.size(), plan.parallel);
          }

          // ---- memory

          // Bytes of the arrays that all tiles share.
          std::size_t
          fixed_bytes() const
          {
            // Results; status, and the lists for elimination and of undone
            // polytopes.
            const std::size_t results = 8 * (rhs.size() + integral.size() +
                                             dirichlet.size() + abs_f.size()),
                              lists =
                                status.size() > 0 ? 12 * status.size() + 4 : 0;
            return on_device.bytes() + results + lists +
                   coefficients.fixed_bytes();
          }

          // Number of values that are kept for recovery on the polytopes before
          // k.
          std::uint64_t
          solver_begin(const unsigned int k) const
          {
            return P.simplex ? std::uint64_t(k) *
                                 hdg_simplex_solver_size(
                                   plan.max_basis,
                                   (dim + 1) * plan.n_face_functions + 1)
                             : plan.solver_offset[k];
          }

          // Bytes of the data for recovery on all polytopes.
          std::size_t
          kept_bytes() const
          {
            const unsigned int n = mesh.n_owned_polytopes();
            return 8 * (P.in_parts() ? local_problems.state_size(P) * n
                                     : solver_begin(n));
          }

          // Bytes of the arrays of a tile.
          std::size_t
          tile_bytes(const unsigned int begin,
                     const unsigned int end,
                     const bool         with_solvers) const
          {
            const std::size_t n_values =
              plan.square_offset[end] - plan.square_offset[begin] +
              (with_solvers && !P.in_parts()
                 ? solver_begin(end) - solver_begin(begin)
                 : 0);
            return 8 * n_values + local_problems.tile_bytes(begin, end, P) +
                   coefficients.tile_bytes(P.form, begin, end);
          }

          // Number of bytes that this object may use. If the last assembly
          // needed one tile and this one needs the same size, that size is
          // returned, since asking the driver for free memory takes time.
          std::size_t
          limit(const bool keep, const bool tile_solvers)
          {
            wanted = fixed_bytes() + (keep ? kept_bytes() : 0) +
                     tile_bytes(0, mesh.n_owned_polytopes(), tile_solvers);
            if (device_memory == 0 && wanted == one_tile)
              return wanted;
            const Memory      present = Device::device_memory();
            const std::size_t reserve =
              std::min(std::size_t(512) << 20, present.total / 16);
            const std::size_t free = present.free + memory();
            const std::size_t most = free > reserve ? free - reserve : 0;
            return device_memory > 0 ? std::min(device_memory, most) : most;
          }

          void
          check_mesh(const std::size_t limit) const
          {
            if (fixed_bytes() > limit)
              throw Error(
                "Mesh and trace spaces need " +
                std::to_string((fixed_bytes() + 999) / 1000) +
                " kB on the device, of which " + std::to_string(limit / 1000) +
                " kB may be used: allow more memory, or use the host.");
          }

          // Throws an exception if the solvers of all polytopes, which need the
          // given number of bytes, do not fit.
          void
          check_kept(const std::size_t bytes, const std::size_t limit) const
          {
            const std::size_t all = fixed_bytes() + bytes;
            if (all > limit)
              throw Error("The local solvers of all polytopes need " +
                          std::to_string((all + 999999) / 1000000) +
                          " MB on the device, of which " +
                          std::to_string(limit / 1000000) +
                          " MB may be used: let them be computed again "
                          "(LocalSolvers::recompute), or allow more memory.");
          }

          // ---- assembly

          // Prepares all stages for a problem.
          void
          prepare(const HDGProblem<dim> &problem)
          {
            const auto kind = [](const HDGForm<dim> &f) {
              return std::make_tuple(f.tensor,
                                     f.advection,
                                     f.reaction,
                                     f.table_a,
                                     f.table_b,
                                     f.table_c,
                                     f.facet_table);
            };
            if (kind(problem.form) != kind(P.form))
              n_operations[0] = n_operations[1] = -1.;
            local_problems.prepare(problem.form, problem.tau.empty(), P);
            coefficients.prepare(problem, P);
          }

          // Assembles all tiles. use() uses the K of the tile P.first to
          // P.last.
          template <typename Use>
          HDGTimes
          assemble_tiles(const HDGProblem<dim> &problem,
                         const bool             keep,
                         const Use             &use)
          {
            is_kept   = false;
            with_kept = keep;
            prepare(problem);
            local_problems.state_is_kept = keep && P.in_parts();
            const bool keep_solvers      = keep && !P.in_parts();
            if (!keep_solvers)
              solvers.release();
            const std::size_t most      = limit(keep, false),
                              kept_size = keep ? kept_bytes() : 0;
            check_mesh(most);
            check_kept(kept_size, most);
            const std::size_t left = most - fixed_bytes() - kept_size;
            if (keep_solvers)
              solvers.resize(solver_begin(mesh.n_owned_polytopes()));
            P.solvers          = keep_solvers ? solvers.data() : nullptr;
            P.first_solver     = 0;
            HDGTimes times     = for_tiles(problem, false, left, use);
            is_kept            = keep;
            times.trace_bytes  = 8. * K.size();
            times.solver_bytes = kept_size;
            set_failure();
            return times;
          }

          // Runs use() after the local problems of each tile.
          template <typename Use>
          HDGTimes
          for_tiles(const HDGProblem<dim> &problem,
                    const bool             tile_solvers,
                    const std::size_t      bytes,
                    const Use             &use)
          {
            HDGTimes                 times;
            const unsigned int       n    = mesh.n_owned_polytopes();
            const unsigned long long none = ~0ull;
            one_tile                      = 0;
            check(cudaMemcpy(
                    first_failure.data(), &none, 8, cudaMemcpyHostToDevice),
                  "a copy to the device");
            for (unsigned int begin = 0, end; begin < n; begin = end)
              {
                end     = end_of_tile(begin, tile_solvers, bytes);
                P.first = begin;
                P.last  = end;
                coefficients.launch(problem, P);
                allocate_tile(tile_solvers);
                start.record(nullptr);
                local_problems.launch(P);
                stop.record(nullptr);
                use();
                done.record(nullptr);
                done.wait();
                times.generation += stop.since(start);
                times.gather += done.since(stop);
                ++times.n_tiles;
              }
            times.coefficients = coefficients.time();
            one_tile           = times.n_tiles == 1 ? wanted : 0;
            return times;
          }

          // The largest tile from polytope begin on that needs at most the
          // given number of bytes, but at least one polytope.
          unsigned int
          end_of_tile(const unsigned int begin,
                      const bool         tile_solvers,
                      const std::size_t  bytes) const
          {
            unsigned int fits     = begin + 1,
                         too_many = mesh.n_owned_polytopes() + 1;
            while (too_many - fits > 1)
              {
                const unsigned int middle = fits + (too_many - fits) / 2;
                if (tile_bytes(begin, middle, tile_solvers) <= bytes)
                  fits = middle;
                else
                  too_many = middle;
              }
            return fits;
          }

          // Allocates K of the tile and, if @p tile_solvers, its solvers.
          void
          allocate_tile(const bool tile_solvers)
          {
            P.first_square = plan.square_offset[P.first];
            K.resize(plan.square_offset[P.last] - P.first_square);
            P.K = K.data();
            if (tile_solvers && !P.in_parts())
              {
                P.first_solver = solver_begin(P.first);
                solvers.resize(solver_begin(P.last) - P.first_solver);
                P.solvers = solvers.data();
              }
          }

          // ---- recovery

          // Runs use() for all polytopes, with the local solvers that are kept.
          // Returns seconds.
          template <typename Use>
          double
          recover_kept(const Use &use)
          {
            if (P.in_parts())
              local_problems.set_kept_state(P);
            else
              P.solvers = solvers.data();
            P.first_solver = 0;
            P.first        = 0;
            P.last         = mesh.n_owned_polytopes();
            start.record(nullptr);
            use();
            done.record(nullptr);
            done.wait();
            return done.since(start);
          }

          // Solves all local problems again, and runs use() for each tile.
          // Returns seconds.
          template <typename Use>
          double
          recompute(const HDGProblem<dim> &problem, const Use &use)
          {
            prepare(problem);
            local_problems.state_is_kept = false;
            P.solvers                    = nullptr;
            const std::size_t most       = limit(false, true);
            check_mesh(most);
            const HDGTimes times =
              for_tiles(problem, true, most - fixed_bytes(), use);
            return times.generation + times.gather + times.coefficients;
          }

          // Copies the first failure from the device.
          void
          set_failure()
          {
            failed_polytope        = invalid_index;
            unsigned long long key = 0;
            check(
              cudaMemcpy(&key, first_failure.data(), 8, cudaMemcpyDeviceToHost),
              "a copy to the host");
            if (key != ~0ull)
              {
                failed_polytope = (unsigned int)(key >> 8);
                failure         = static_cast<HDGFailure>(key & 255u);
              }
          }

          const HDGPlan<dim>       &plan;
          const PolytopicMesh<dim> &mesh;
          HDGData<dim>              P = {};
          HDGUpload<dim>            on_device;
          // Stages of a tile.
          HDGCoefficients<dim>  coefficients;
          HDGLocalProblems<dim> local_problems;
          HDGGather<dim>        gather;

          Array<double>             K, rhs, integral, dirichlet, abs_f, solvers;
          Array<unsigned long long> first_failure;
          Array<unsigned int>       status;
          Event                     start, stop, done;
          // Bytes of all arrays if there is one tile: in this assembly, and in
          // the last one (0 if it had several tiles).
          std::size_t wanted = 0, one_tile = 0;
          // Local solvers were requested in the last assembly.
          bool with_kept = false;
          // Number of operations for the form P.form, without and with
          // recovery; negative: not counted.
          mutable double n_operations[2] = {-1., -1.};
        };
      } // namespace



      template <int dim>
      std::unique_ptr<HDGAssembler<dim>>
      HDGAssembler<dim>::create(const HDGPlan<dim> &plan)
      {
        return std::make_unique<TiledAssembler<dim>>(plan);
      }



      void
      download_array(const double     *from,
                     double           *to,
                     const std::size_t n,
                     const Parallel   &parallel)
      {
        constexpr std::size_t piece = std::size_t(2) << 20;
        Array<double, true>   buffer[2];
        Event                 arrived[2];
        const std::size_t     n_pieces = (n + piece - 1) / piece;
        const auto            size     = [&](const std::size_t p) {
          return std::min(piece, n - p * piece);
        };
        const auto begin = [&](const std::size_t p) {
          if (p >= n_pieces)
            return;
          buffer[p % 2].resize(std::min(piece, n));
          check(cudaMemcpyAsync(buffer[p % 2].data(),
                                from + p * piece,
                                8 * size(p),
                                cudaMemcpyDeviceToHost,
                                nullptr),
                "a copy to the host");
          arrived[p % 2].record(nullptr);
        };
        begin(0);
        for (std::size_t p = 0; p < n_pieces; ++p)
          {
            begin(p + 1);
            arrived[p % 2].wait();
            const double *const source = buffer[p % 2].data();
            double *const       target = to + p * piece;
            parallel(size(p),
                     std::size_t(1) << 15,
                     [&](const std::size_t first, const std::size_t last) {
                       std::memcpy(target + first,
                                   source + first,
                                   8 * (last - first));
                     });
          }
      }



      template class HDGAssembler<2>;
      template class HDGAssembler<3>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

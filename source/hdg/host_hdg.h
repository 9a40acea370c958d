// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_host_hdg_h
#define tessella_source_hdg_host_hdg_h

#include <cstdint>
#include <vector>

#include "hdg_backend.h"

namespace Tessella
{
  namespace internal
  {
    /// Hybridizable dG with the host's threads, see LocalSolver.
    template <int dim>
    class HostHDG : public HDGBackend<dim>
    {
    public:
      explicit HostHDG(TraceSystem<dim> &system);

      Backend
      type() const override
      {
        return Backend::host;
      }

      void
      clear() override;

      void
      assemble(const Form<dim> &form, double *values, double *rhs) override;

      void
      recover(const Form<dim>     &form,
              const TraceUnknowns &traces,
              double              *solution,
              double              *flux) override;

    private:
      /// Runs function(solver, k) for all own polytopes k on all threads.
      /// Returns the number of operations.
      template <typename Function>
      std::uint64_t
      for_local_problems(const Form<dim> &form, const Function &function) const;

      /// Computes K of all own polytopes and, if they are kept, the local
      /// solvers.
      void
      generate(const Form<dim> &form, LocalBlocks &blocks);

      /// Makes room for the local solvers.
      void
      resize_kept();

      /// Stores the rows and columns of K that belong to DoFs. Dirichlet values
      /// move to the right-hand side.
      void
      store(const LocalSolver<dim> &solver, LocalBlocks &blocks);

      void
      store_solver(const LocalSolver<dim> &solver);

      /// Solves the local problems again for given traces.
      void
      solve_again(const Form<dim>     &form,
                  const TraceUnknowns &traces,
                  double              *solution,
                  double              *flux);

      /// Adds up the local solvers that were kept.
      void
      sum_kept(const TraceUnknowns &traces, double *solution, double *flux);

      /// Coefficients lambda of all interfaces of polytope k.
      void
      local_trace(const unsigned int   k,
                  const TraceUnknowns &traces,
                  std::vector<double> &lambda) const;

      TraceSystem<dim> &system;
      /// u, then the components of q, for each polytope and each of its trace
      /// functions, then for f.
      std::vector<std::uint64_t> kept_offset;
      std::vector<double>        kept;
    };
  } // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_tabulation_cost_h
#define tessella_applications_tabulation_cost_h

#include <tessella/base/backend.h>
#include <tessella/forms/form.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/penalty.h>

#include <cstdint>

namespace Tessella
{
  namespace Application
  {
    /// Work of the host for a form with coefficients given as functions, before
    /// and during the assembly on a CUDA device. Times are wall times in
    /// seconds.
    struct TabulationCost
    {
      /// Numbers of quadrature points: in polytopes; on interior facets,
      /// counted once; on boundary facets.
      std::uint64_t n_volume_points = 0, n_interior_points = 0,
                    n_boundary_points = 0;
      /// Time for the tables of the volume, the largest diffusion in each
      /// polytope, and the penalty that follows from it. If the volume has no
      /// tables of its own, or these are not computed before those of the
      /// facets, this is the time for the penalty alone.
      double volume = 0.;
      /// Time for the tables of the facets, and for those of the volume if they
      /// are not part of the time above.
      double        facets      = 0.;
      std::uint64_t table_bytes = 0;
    };

    /**
     * Does this work of the host for matrix and right-hand side of @p form,
     * chunk by chunk as for a device, but without one; all threads take part.
     * Two buffers for tables are used alternately. A first round touches the
     * memory, and a second round is timed.
     *
     * Coefficients that do not vary have no tables and no cost.
     */
    template <int dim>
    TabulationCost
    tabulation_cost(
      const AgglomerationHandler<dim> &handler,
      const Form<dim>                 &form,
      const PenaltyParameters         &penalty = PenaltyParameters(),
      const InstructionSet instruction_set     = InstructionSet::automatic);
  } // namespace Application
} // namespace Tessella

#endif

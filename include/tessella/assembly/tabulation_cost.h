// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_assembly_tabulation_cost_h
#define tessella_assembly_tabulation_cost_h

#include <tessella/base/backend.h>
#include <tessella/forms/form.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/penalty.h>

#include <cstdint>

namespace Tessella
{
  /// What the host does for a form whose coefficients are given as functions
  /// before and while a CUDA device assembles. Times are wall times in seconds.
  struct TabulationCost
  {
    /// Points in polytopes; on interior facets, counted once, and on boundary
    /// facets.
    std::uint64_t n_volume_points = 0, n_interior_points = 0,
                  n_boundary_points = 0;
    /// Tables of the volume, the largest diffusion in each polytope, and the
    /// penalty from it (if the volume has no tables of its own or not in the
    /// first round, only the penalty).
    double volume = 0.;
    /// Tables of the facets (and of the volume else).
    double        facets      = 0.;
    std::uint64_t table_bytes = 0;
  };

  /**
   * Does that work of the host for matrix and right-hand side of @p form,
   * chunk by chunk as for a device, but without one; all threads take part.
   * Tables go to memory that is used in turns. Memory is touched in a first
   * round, and a second one is timed.
   *
   * Coefficients that do not vary have no tables and cost nothing.
   */
  template <int dim>
  TabulationCost
  tabulation_cost(
    const AgglomerationHandler<dim> &handler,
    const Form<dim>                 &form,
    const PenaltyParameters         &penalty = PenaltyParameters(),
    const InstructionSet instruction_set     = InstructionSet::automatic);
} // namespace Tessella

#endif

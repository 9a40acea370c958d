// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_agglomeration_checks_h
#define tessella_source_grid_agglomeration_checks_h

#include <deal.II/base/exceptions.h>

#include <deal.II/distributed/tria_base.h>

#include <tessella/base/compatibility.h>
#include <tessella/grid/agglomeration.h>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "../base/collective.h"

// Common parts of the functions of namespace Agglomeration.

namespace Tessella
{
  namespace Agglomeration
  {
    constexpr unsigned int unset = std::numeric_limits<unsigned int>::max();

    /// Whether the triangulation is distributed over several processes.
    template <int dim>
    bool
    is_distributed(const dealii::Triangulation<dim> &triangulation)
    {
      return dynamic_cast<const dealii::parallel::TriangulationBase<dim> *>(
               &triangulation) != nullptr &&
             internal::n_processes(
               Compatibility::get_communicator(triangulation)) > 1;
    }



    /// Throws unless there is one entry per active cell.
    template <int dim>
    void
    check_n_ids(const dealii::Triangulation<dim> &triangulation,
                const std::size_t                 n_ids,
                const std::string                &what)
    {
      AssertThrow(n_ids == triangulation.n_active_cells(),
                  dealii::ExcMessage(
                    what + " has " + std::to_string(n_ids) +
                    (n_ids == 1 ? " entry" : " entries") +
                    ", but the mesh has " +
                    std::to_string(triangulation.n_active_cells()) +
                    " active cells: one entry per active cell is "
                    "needed, in the order of active_cell_index."));
    }



    /// Applies a strategy, which may be one of the user.
    template <int dim>
    std::vector<unsigned int>
    apply(const Strategy<dim>              &strategy,
          const dealii::Triangulation<dim> &triangulation)
    {
      AssertThrow(strategy,
                  dealii::ExcMessage(
                    "The agglomeration strategy is empty: give one "
                    "of the functions of namespace Agglomeration, "
                    "or your own."));
      std::vector<unsigned int> ids = strategy(triangulation);
      check_n_ids(triangulation,
                  ids.size(),
                  "The vector of polytope ids that the agglomeration "
                  "strategy returned");
      return ids;
    }
  } // namespace Agglomeration
} // namespace Tessella

#endif

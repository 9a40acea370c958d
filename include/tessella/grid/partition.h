// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_grid_partition_h
#define tessella_grid_partition_h

#include <tessella/grid/agglomeration.h>

#include <vector>

namespace Tessella
{
  namespace Agglomeration
  {
    /**
     * Sets the subdomain ids of the active cells of @p serial to values below
     * @p n_parts such that no polytope of @p strategy is cut, as distribute()
     * does, and returns the polytopes' ids. The function serves a
     * parallel::shared::Triangulation with partition_custom_signal, which
     * copies @p serial with these ids:
     *
     *     const auto ids = Agglomeration::partition<dim>(serial, strategy, n);
     *     shared.copy_triangulation(serial);
     *     handler.agglomerate(Agglomeration::by_id<dim>(ids));
     */
    template <int dim>
    std::vector<unsigned int>
    partition(dealii::Triangulation<dim, dim> &serial,
              const Strategy<dim>             &strategy,
              const unsigned int               n_parts,
              const std::vector<unsigned int> &weights = {});
  } // namespace Agglomeration
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_host_system_h
#define tessella_source_backends_host_system_h

#include <cstdint>
#include <memory>
#include <vector>

#include "form_preparation.h"
#include "system_pairs.h"
#include "target.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Assembly of a SystemForm by the host's threads. For each polytope, all
     * pairs of components write their sub-blocks to its block row, which is
     * then complete.
     */
    template <int dim>
    class HostSystem
    {
    public:
      HostSystem(AssemblyContext<dim> &context,
                 FormPreparation<dim> &preparation);

      /// Prepares the forms, the quadrature and sigma. Collective.
      void
      start(const SystemForm<dim> &system);

      /// Pairs of components that start() has prepared. Each has its array of
      /// sigma; equal arrays are shared.
      const std::vector<SystemPair<dim>> &
      present_pairs() const
      {
        return pairs;
      }
      const std::vector<std::shared_ptr<const std::vector<double>>> &
      present_sigma() const
      {
        return sigma;
      }

      /// Computes the rows of this process. Not collective.
      void
      compute_rows(const AssemblyTarget<double> &target);

    private:
      /// Columns of the blocks for each trial component, kept as long as the
      /// space is the same.
      void
      update_columns();

      AssemblyContext<dim>                                   &context;
      FormPreparation<dim>                                   &preparation;
      std::vector<SystemPair<dim>>                            pairs;
      std::vector<std::shared_ptr<const std::vector<double>>> sigma;
      SpaceRevision                                           revision;
      std::vector<BlockSparsity>                              columns;
    };
  } // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_system_pairs_h
#define tessella_source_backends_system_pairs_h

#include <tessella/backends/assembly_report.h>
#include <tessella/forms/system_form.h>
#include <tessella/grid/polytopic_dofs.h>
#include <tessella/lac/block_sparsity.h>

#include <vector>

// Pairs of components of a SystemForm, and where their results belong.

namespace Tessella
{
  namespace internal
  {
    /// A scalar form that couples two components.
    template <int dim>
    struct SystemPair
    {
      unsigned int     test, trial;
      const Form<dim> *form;
      /// Whether it has the right-hand side of its test component.
      bool rhs;
    };

    /// Prepares a system and its forms, and returns its pairs in the order of
    /// rows. Throws unless the system fits to spaces with these numbers of
    /// components, and if the forms need quadrature of different orders.
    template <int dim>
    std::vector<SystemPair<dim>>
    prepare_pairs(const SystemForm<dim> &system,
                  const unsigned int     n_test_components,
                  const unsigned int     n_trial_components);

    /// Whether there are entries of block rows that no pair computes.
    template <int dim>
    bool
    leaves_zeros(const std::vector<SystemPair<dim>> &pairs,
                 const unsigned int                  n_components);

    /// The degrees of freedom of one component of a space, as a scalar space.
    PolytopicDoFs
    component_dofs(const PolytopicDoFs &dofs, const unsigned int component);

    /// Positions of the sub-blocks that a pair of components computes: rows and
    /// columns are those of component_dofs(), and values are where the block
    /// rows @p blocks of all components have them.
    BlockSparsity
    pair_sparsity(const BlockSparsity &blocks,
                  const PolytopicDoFs &dofs,
                  const unsigned int   test,
                  const unsigned int   trial);

    /// Sets the times of the pairs in a report to zero.
    void
    clear_pairs(AssemblyReport &report);

    /// Adds the times of a pair of components on a device to those of the
    /// pairs before it.
    void
    add_pair(const AssemblyReport &pair, AssemblyReport &report);
  } // namespace internal
} // namespace Tessella

#endif

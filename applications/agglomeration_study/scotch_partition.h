// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_agglomeration_study_scotch_partition_h
#define tessella_applications_agglomeration_study_scotch_partition_h

#include <deal.II/lac/dynamic_sparsity_pattern.h>

#include <vector>

namespace Tessella
{
  namespace Application
  {
    /**
     * Scotch 7 on @p n_threads threads, in its deterministic mode, for
     * comparison. The function returns the part of each vertex; @p seconds is
     * the time of Scotch itself. Throws if the program was built without
     * Scotch, or with an older one, or if Scotch fails.
     */
    std::vector<unsigned int>
    partition_by_scotch(const dealii::DynamicSparsityPattern &graph,
                        const unsigned int                    n_parts,
                        const unsigned int                    n_threads,
                        double                               &seconds);
  } // namespace Application
} // namespace Tessella

#endif

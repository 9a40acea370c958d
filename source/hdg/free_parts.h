// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_free_parts_h
#define tessella_source_hdg_free_parts_h

#include <functional>
#include <vector>

#include "trace_numbering.h"

namespace Tessella
{
  namespace internal
  {
    /// A connected part of the domain on which nothing fixes the constant.
    /// Holds the polytopes and interfaces of the part that this process owns,
    /// possibly none.
    struct FreePart
    {
      std::vector<unsigned int> polytopes, interfaces;
      /// First interface of the whole part, or invalid_index if another process
      /// owns it.
      unsigned int first_interface = invalid_index;
    };

    /// Finds all such parts. @p fixed: own polytopes on which something fixes
    /// the constant. All processes get the same number of parts, in the same
    /// order. Collective.
    template <int dim>
    std::vector<FreePart>
    find_free_parts(const AgglomerationHandler<dim> &handler,
                    const TraceNumbering<dim>       &numbering,
                    const std::vector<char>         &fixed);

    /**
     * Fixes the constant on a part, as described in class HDG. @p sizes:
     * integrals of |f| and |g| for each polytope of the part. @p integrals:
     * integrals of the trace functions of a given interface. Sums do not depend
     * on the order of their terms, hence not on the partition of the mesh.
     * Collective.
     */
    template <int dim>
    void
    fix_constant(
      const AgglomerationHandler<dim>                         &handler,
      const TraceNumbering<dim>                               &numbering,
      const FreePart                                          &part,
      const std::vector<double>                               &sizes,
      const std::function<const double *(const unsigned int)> &integrals,
      double                                                  *values,
      double                                                  *rhs);
  } // namespace internal
} // namespace Tessella

#endif

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

    /// Returns the integrals of the trace functions of an interface.
    using TraceIntegrals = std::function<const double *(const unsigned int)>;

    /// All parts of the domain on which nothing fixes the constant.
    template <int dim>
    class FreeParts
    {
    public:
      /// References must outlive the object.
      FreeParts(const AgglomerationHandler<dim> &handler,
                const TraceNumbering<dim>       &numbering)
        : handler(handler)
        , numbering(numbering)
      {}

      /// Finds all such parts. @p fixed: own polytopes on which something fixes
      /// the constant. All processes get the same number of parts, in the same
      /// order. Collective.
      void
      reinit(const std::vector<char> &fixed);

      /// Number of parts.
      unsigned int
      size() const
      {
        return parts.size();
      }

      /**
       * Fixes the constants on all parts, as described in class HDG. @p size:
       * integrals of |f| and |g| over a polytope. Sums do not depend on the
       * order of their terms, hence not on the partition of the mesh.
       * Collective.
       */
      void
      fix_constants(const std::function<double(const unsigned int)> &size,
                    const TraceIntegrals                            &integrals,
                    double                                          *values,
                    double                                          *rhs) const;

    private:
      const AgglomerationHandler<dim> &handler;
      const TraceNumbering<dim>       &numbering;
      std::vector<FreePart>            parts;
    };
  } // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_facet_values_h
#define tessella_source_backends_facet_values_h

#include <tessella/forms/form.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "facet_points.h"
#include "host_points.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Terms of a form on interior facets, evaluated once for the polytopes on
     * both sides. The mesh is processed in chunks of consecutive polytopes, as
     * many as the memory permits; facets between two chunks, to polytopes of
     * other processes and on periodic boundaries are not stored.
     *
     * The values at n points of an interface, n numbers each, are c_0 of both
     * sides, and b_0 and b_1 of side 0, without b_1 if it is equal to b_0. All
     * other terms follow from these to the last bit (FacetStructure::mirrored,
     * Form::has_penalty_facets()).
     */
    template <int dim>
    class FacetValues
    {
    public:
      /// Whether the terms of a form can be stored, and cost something to
      /// evaluate.
      static bool
      applies_to(const Form<dim> &form);

      /// @p sigma has the penalty of each facet; @p limit: bytes of the values
      /// of a chunk. All objects must outlive this one.
      FacetValues(const HostProblem<dim>    &problem,
                  const std::vector<double> &sigma,
                  const std::size_t          limit = std::size_t(1) << 28);

      /// Evaluates the form for the next chunk, from polytope @p begin on, and
      /// returns its end. Runs on all threads; batches of points depend on the
      /// mesh alone.
      unsigned int
      tabulate(const unsigned int begin);

      /// Whether the present chunk has the terms on an interface of one of its
      /// polytopes.
      bool
      contains(const unsigned int interface) const
      {
        return location[interface].n_points > 0;
      }

      /// Writes the terms at the points of a segment of a buffer, as its own
      /// side sees them, to @p blocks of the buffer, where null arrays are
      /// omitted.
      void
      get(const typename FacetPointBuffer<dim>::Segment &segment,
          const FacetBlocks<dim>                        &blocks) const;

    private:
      /// Position of the values of an interface in the memory of the chunk.
      struct Location
      {
        std::size_t  position = 0;
        unsigned int n_points = 0;
      };

      /// Consecutive polytopes, whose rows are computed after tabulate().
      struct Chunk
      {
        unsigned int begin, end;
      };

      /// Whether the entry @p code of polytope_interface is side 0 of an
      /// interface whose terms are stored.
      bool
      is_stored(const unsigned int code, const Chunk &chunk) const;

      unsigned int
      n_interface_points(const unsigned int interface) const;

      /// Evaluates the form for batches [first, last) of polytopes of a chunk.
      void
      tabulate(const Chunk       &chunk,
               const unsigned int first,
               const unsigned int last);

      const HostProblem<dim>     problem;
      const std::vector<double> &sigma;
      const FacetStructure       structure;
      const unsigned int         n_arrays;
      double                     theta = 0.;
      /// Number of values of preceding polytopes, for each polytope.
      std::vector<std::uint64_t> position;
      std::vector<Location>      location;
      std::size_t                size;
      std::unique_ptr<double[]>  memory;
    };
  } // namespace internal
} // namespace Tessella

#endif

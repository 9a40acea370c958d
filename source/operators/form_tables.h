// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_form_tables_h
#define tessella_source_operators_form_tables_h

#include <tessella/forms/form.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../backends/diffusion_values.h"
#include "../backends/host_points.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Coefficients of a form at the quadrature points of the polytopes of this
     * process, evaluated once for any number of products without a matrix.
     *
     * There is a record for the volume of each polytope, and one for each facet
     * and side. It has the same arrays in the same order for all polytopes, and
     * for all facets of a kind: a, beta, b, c of VolumeBlocks that the form
     * has; b_0, b_1, beta_0, beta_1, c_0, c_1 of FacetBlocks in the interior,
     * and b_0, beta_0, c_0 at the boundary. Of forms with penalty facets, see
     * Form::has_penalty_facets(), only b_0, b_1 and c_0 are stored.
     *
     * A record whose arrays have the same entries at all points has one value
     * for each array. Successive records of this kind with equal values are
     * stored once, so that constant coefficients take no memory but the place
     * of the record.
     */
    template <int dim>
    class FormTables
    {
    public:
      /// Values of a record: array i begins at values + i * stride; it has one
      /// entry if the stride is 1 and constant is set, else one for each point.
      struct Record
      {
        const double *values;
        bool          constant;
      };

      /// Evaluates @p form; arguments as in BlockRowAssembler. Facets at the
      /// border to other processes are evaluated from both sides.
      void
      reinit(const HostProblem<dim> &problem, const std::vector<double> &sigma);

      Record
      volume(const unsigned int polytope) const
      {
        return record(volume_places[polytope]);
      }
      /// Record of a facet seen from a side.
      Record
      facet(const unsigned int facet, const unsigned int side) const
      {
        return record(facet_places[2 * std::size_t(facet) + side]);
      }

      // ---- for copies of all records: their values, and the places of records
      // in them, with constant_bit if there is one value for each array.
      static constexpr std::uint64_t constant_bit = std::uint64_t(1) << 63;

      const std::vector<double> &
      all_values() const
      {
        return values;
      }
      std::uint64_t
      volume_place(const unsigned int polytope) const
      {
        return volume_places[polytope];
      }
      std::uint64_t
      facet_place(const unsigned int facet, const unsigned int side) const
      {
        return facet_places[2 * std::size_t(facet) + side];
      }

      std::size_t
      memory_consumption() const;

      VolumeStructure volume_structure;
      FacetStructure  facet_structure;
      bool            penalty_facets = false;
      double          theta          = 0.;
      /// Numbers of arrays of the records.
      unsigned int n_volume = 0, n_interior = 0, n_boundary = 0;

    private:
      /// A record that has been evaluated: all arrays, one after the other.
      struct NewRecord
      {
        std::uint64_t      *place;
        unsigned int        n_arrays, n_points;
        std::vector<double> values;
      };

      Record
      record(const std::uint64_t place) const
      {
        return {values.data() + (place & ~constant_bit),
                (place & constant_bit) != 0};
      }

      // Evaluates records for a range of polytopes; each task has one object.
      class Evaluator;

      /// Stores a record. @p last is the place of the last one of its kind.
      void
      store(const NewRecord &record, std::uint64_t &last);

      std::vector<double>        values;
      std::vector<std::uint64_t> volume_places, facet_places;
    };
  } // namespace internal
} // namespace Tessella

#endif

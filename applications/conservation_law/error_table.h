// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_conservation_law_error_table_h
#define tessella_applications_conservation_law_error_table_h

#include <cstdint>
#include <ostream>
#include <vector>

#include "../common/table_plot.h"
#include "../common/text_table.h"

namespace Tessella
{
  namespace Application
  {
    /// Result of a conservation law on one mesh with one degree.
    struct ConservationRow
    {
      unsigned int level = 0, degree = 0, n_cells = 0, n_polytopes = 0,
                   n_steps = 0;
      std::uint64_t n_dofs = 0;
      /// Errors at the final time; not finite without an exact solution.
      double L2 = 0., L1 = 0.;
      /// Change of the integrals that the flux through the boundary does not
      /// account for, over the largest integral of absolute values.
      double drift = 0.;
      /// What the drift is below if only rounding errors and the tolerance of
      /// Newton's method contribute.
      double drift_bound  = 1e-12;
      double step_seconds = 0.;
    };

    /// Tables of errors with their rates, one for each degree, or one for each
    /// level in a study in the degree.
    class ConservationTable
    {
    public:
      ConservationTable(const int  dim,
                        const bool in_degree,
                        const bool with_errors,
                        const bool with_times);

      void
      add(const ConservationRow &row)
      {
        rows.push_back(row);
      }

      bool
      empty() const
      {
        return rows.empty();
      }

      void
      print(std::ostream &out) const;
      void
      write_csv(std::ostream &out) const;
      /// Errors against the number of DoFs to the power of 1/dim. Sets labels.
      std::vector<PlotCurve>
      curves(PlotFlags &flags) const;

    private:
      using Group = std::vector<const ConservationRow *>;

      std::vector<Group>
      groups() const;
      void
      add_rows(const Group &group, TextTable &table) const;

      const int                    dim;
      const bool                   in_degree, with_errors, with_times;
      std::vector<ConservationRow> rows;
    };
  } // namespace Application
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_conservation_table_h
#define tessella_applications_common_conservation_table_h

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "table_plot.h"
#include "text_table.h"

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
      /// Errors at the end, in the order of the names that the table has.
      std::vector<double> errors;
      /// Change of the integrals that the flux through the boundary does not
      /// account for, over the largest integral of absolute values.
      double drift = 0.;
      /// Bound of the drift that rounding errors and the tolerance of Newton's
      /// method cause.
      double drift_bound  = 1e-12;
      double step_seconds = 0.;
      /// Further columns: names and texts.
      std::vector<std::pair<std::string, std::string>> more;
    };

    /// Tables of errors with their rates, one for each degree, or one for each
    /// level in a study in the degree.
    class ConservationTable
    {
    public:
      /// Without @p error_names there are no columns of errors, and no drift
      /// unless @p with_drift.
      ConservationTable(const int                       dim,
                        const bool                      in_degree,
                        const std::vector<std::string> &error_names,
                        const bool                      with_times,
                        const bool                      with_drift = true);

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

      const int                      dim;
      const bool                     in_degree;
      const std::vector<std::string> error_names;
      const bool                     with_times, with_drift;
      std::vector<ConservationRow>   rows;
    };
  } // namespace Application
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_coefficient_case_h
#define tessella_applications_coefficient_case_h

#include <cstdint>

#include "../common/discretisation_input.h"
#include "../common/equation_input.h"
#include "../common/text_table.h"
#include "tabulation_cost.h"
#include "throughput_case.h"

namespace Tessella
{
  namespace Application
  {
    /// Host time for coefficients that are functions: their evaluation alone,
    /// and the complete tabulation of the library. Wall times are in seconds.
    struct CoefficientResult
    {
      unsigned int   level = 0, degree = 0, n_threads = 0;
      std::uint64_t  n_dofs = 0;
      TabulationCost cost;
      /// Evaluation of every function once at every point at which the form
      /// needs it, in batches of points created beforehand, by all threads;
      /// fastest of several rounds.
      double evaluation = 0.;
      /// Same evaluation with all values stored in memory.
      double stored_evaluation = 0.;
    };

    template <int dim>
    CoefficientResult
    measure_coefficients(BenchmarkCase<dim> benchmark,
                         const unsigned int n_threads);

    /// Adds a row for @p result.
    void
    add_row(TextTable &table, const CoefficientResult &result);
  } // namespace Application
} // namespace Tessella

#endif

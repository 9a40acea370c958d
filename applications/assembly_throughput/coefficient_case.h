// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_coefficient_case_h
#define tessella_applications_coefficient_case_h

#include <tessella/assembly/tabulation_cost.h>

#include <cstdint>

#include "../common/discretisation_input.h"
#include "../common/equation_input.h"
#include "../common/text_table.h"
#include "throughput_case.h"

namespace Tessella
{
  namespace Application
  {
    /// What the host takes for coefficients that are functions: evaluating them
    /// alone, and all that the library does to have tables of them. Wall times
    /// in seconds.
    struct CoefficientResult
    {
      unsigned int   level = 0, degree = 0, n_threads = 0;
      std::uint64_t  n_dofs = 0;
      TabulationCost cost;
      /// Every function once at every point at which the form needs it, in
      /// batches of points that are there already, by all threads, the fastest
      /// of several rounds.
      double evaluation = 0.;
      /// The same with all values stored in memory.
      double stored_evaluation = 0.;
    };

    template <int dim>
    CoefficientResult
    measure_coefficients(const AgglomeratedMesh<dim> &mesh,
                         const EquationInput         &equation,
                         Problem<dim>                 problem,
                         const DiscretisationInput   &discretisation,
                         const unsigned int           degree,
                         const unsigned int           n_threads,
                         const unsigned int           repetitions);

    /// Adds a row.
    void
    add_row(TextTable &table, const CoefficientResult &result);
  } // namespace Application
} // namespace Tessella

#endif

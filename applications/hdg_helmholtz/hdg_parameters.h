// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_hdg_helmholtz_hdg_parameters_h
#define tessella_applications_hdg_helmholtz_hdg_parameters_h

#include <deal.II/base/parameter_handler.h>

#include <string>

#include "../common/expression.h"
#include "../common/study_parameters.h"

namespace Tessella
{
  namespace Application
  {
    /// Parameters of the program, with the sections "HDG" and "Output".
    struct HDGParameters : StudyParameters<>
    {
      std::string trace_space = "interface", local_spaces = "equal",
                  local_solvers = "keep", method = "automatic",
                  preconditioner = "automatic", coarse_operator = "galerkin",
                  multigrid_precision = "double", multigrid_cycle = "w",
                  directory = "results", name;
      Expression   tau;
      double       tolerance = 1e-10, penalty_share = 0.1;
      unsigned int max_iterations = 10000, repetitions = 1, chebyshev_terms = 3,
                   restart = 150, smoothing_steps = 0, coarse_steps = 0,
                   n_children = 0, n_coarsest = 64;
      bool compare = false, post_process = true, write_report = false;

      void
      declare(dealii::ParameterHandler &prm);
      void
      parse(dealii::ParameterHandler &prm, const std::string &file);

    private:
      /// Parts of declare().
      void
      declare_method(dealii::ParameterHandler &prm);
      void
      declare_solver(dealii::ParameterHandler &prm);
      void
      declare_multigrid(dealii::ParameterHandler &prm);
    };
  } // namespace Application
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_solver_study_parameters_h
#define tessella_applications_common_solver_study_parameters_h

#include "linear_solver.h"
#include "study_parameters.h"
#include "study_table.h"

namespace Tessella
{
  namespace Application
  {
    /// StudyParameters with the sections "Solver" and "Output", for programs
    /// with linear systems on a sequence of meshes.
    template <typename EquationType = EquationInput>
    struct SolverStudyParameters : StudyParameters<EquationType>
    {
      LinearSolver solver;
      OutputInput  output;

      void
      declare(dealii::ParameterHandler &prm)
      {
        StudyParameters<EquationType>::declare(prm);
        solver.declare_parameters(prm);
        output.declare_parameters(prm);
      }

      void
      parse(dealii::ParameterHandler &prm, const std::string &file)
      {
        StudyParameters<EquationType>::parse(prm, file);
        solver.parse_parameters();
        output.parse_parameters(file);
      }
    };
  } // namespace Application
} // namespace Tessella

#endif

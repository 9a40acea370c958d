// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_quasilinear_input_h
#define tessella_applications_quasilinear_input_h

#include <deal.II/base/parameter_handler.h>

#include <set>
#include <string>
#include <vector>

#include "../common/expression.h"
#include "quasilinear_form.h"

namespace Tessella
{
  namespace Application
  {
    /// Parameters of the nonlinear iteration.
    struct IterationParameters
    {
      std::string method = "newton";
      /// Number of Picard steps before the first step of Newton's method.
      unsigned int n_picard_steps = 0;
      unsigned int max_iterations = 50;
      /// Bound for the residual relative to the size of the right-hand side.
      double tolerance = 1e-10;
      /// Damping factor of Picard steps.
      double damping = 1.;
      /// Maximum number of halvings of a Newton step.
      unsigned int n_halvings = 10;
    };

    /**
     * Sections "Equation", "Boundary conditions" and "Iteration" of a parameter
     * file for -div(a(x, u) grad u) = f. Source and boundary data that are not
     * given are derived from the exact solution.
     */
    class QuasilinearInput
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      /// The last argument, the parameter file, is for equations with files.
      void
      parse_parameters(dealii::ParameterHandler &prm,
                       const int                 dim,
                       const std::string        &parameter_file = "");

      template <int dim>
      QuasilinearProblem<dim>
      create() const;

      IterationParameters iteration;

    private:
      Expression diffusion;
      /// Each vector has at most one entry.
      std::vector<Expression> exact, source, dirichlet, neumann, guess;
      std::set<dealii::types::boundary_id> neumann_ids;
    };
  } // namespace Application
} // namespace Tessella

#endif

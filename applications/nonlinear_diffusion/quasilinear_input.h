// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_quasilinear_input_h
#define tessella_applications_quasilinear_input_h

#include <deal.II/base/function.h>
#include <deal.II/base/parameter_handler.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "../common/expression.h"
#include "quasilinear_form.h"

namespace Tessella
{
  namespace Application
  {
    /// How the iteration goes.
    struct IterationParameters
    {
      bool newton = true;
      /// Picard steps before the first one of Newton's method.
      unsigned int n_picard_steps = 0;
      unsigned int max_iterations = 50;
      /// Residual over the size of the right-hand side.
      double tolerance = 1e-10;
      /// Of Picard steps.
      double damping = 1.;
      /// Newton steps are halved at most so many times.
      unsigned int n_halvings = 10;
    };

    /**
     * Sections "Equation", "Boundary conditions" and "Iteration" of a parameter
     * file, for -div(a(x, u) grad u) = f. With an exact solution, source and
     * boundary data follow from it unless they are given.
     */
    class QuasilinearInput
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      void
      parse_parameters(dealii::ParameterHandler &prm, const int dim);

      template <int dim>
      QuasilinearProblem<dim>
      create() const;

      /// Null if none was given.
      template <int dim>
      std::shared_ptr<const dealii::Function<dim>>
      exact_solution() const;

      /// Null if it is zero.
      template <int dim>
      std::shared_ptr<const dealii::Function<dim>>
      initial_guess() const;

      const IterationParameters &
      iteration() const;

    private:
      Expression diffusion;
      /// Empty or one.
      std::vector<Expression> exact, source, dirichlet, neumann, guess;
      std::set<dealii::types::boundary_id> neumann_ids;
      IterationParameters                  present_iteration;
    };
  } // namespace Application
} // namespace Tessella

#endif

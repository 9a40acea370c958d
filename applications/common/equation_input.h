// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_applications_common_equation_input_h
#define tessella_applications_common_equation_input_h

#include <deal.II/base/function.h>
#include <deal.II/base/parameter_handler.h>

#include <tessella/forms/advection_diffusion_reaction.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "expression.h"

namespace Tessella
{
  namespace Application
  {
    /// A boundary value problem, ready for assembly.
    template <int dim>
    struct Problem
    {
      AdvectionDiffusionReaction<dim> form;
      /// Null if none was given.
      std::shared_ptr<const dealii::Function<dim>> exact_solution;
      /// Coefficients of the form that are functions, null those that are not.
      std::shared_ptr<const dealii::Function<dim>> diffusion, advection,
        reaction, source;
      std::shared_ptr<const dealii::TensorFunction<2, dim>> diffusion_tensor;
      /// Boundary ids that conditions are given for.
      std::set<dealii::types::boundary_id> boundary_ids;
      bool                                 has_diffusion = false;
      bool                                 has_advection = false;
    };

    /**
     * Sections "Equation" and "Boundary conditions" of a parameter file:
     * coefficients, right-hand side, exact solution and boundary data as
     * expressions of x, y, z.
     *
     * With an exact solution u, the right-hand side -div(a grad u) + b . grad u
     * + c u and boundary data are derived from u, a, b and c unless they are
     * given: u on Dirichlet parts, n . a grad u on Neumann parts, n . a grad u
     * + alpha u on Robin parts.
     */
    class EquationInput
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      /// Parses all expressions, for dimension @p dim.
      void
      parse_parameters(dealii::ParameterHandler &prm, const int dim);

      template <int dim>
      Problem<dim>
      create() const;

    private:
      struct Condition
      {
        BoundaryType            type = BoundaryType::dirichlet;
        std::vector<Expression> value;       // empty or one
        std::vector<Expression> coefficient; // empty or one
      };

      std::vector<Expression> diffusion, advection, reaction, source, exact;
      /// Key -1: all ids without an entry of their own.
      std::map<int, Condition> conditions;
    };
  } // namespace Application
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_parabolic_equation_h
#define tessella_applications_parabolic_equation_h

#include <deal.II/base/function.h>
#include <deal.II/base/parameter_handler.h>

#include <tessella/space_time/space_time_form.h>

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "../common/cell_values_input.h"
#include "../common/expression.h"

namespace Tessella
{
  namespace Application
  {
    /// An initial boundary value problem, ready for space-time slabs.
    template <int dim>
    struct ParabolicProblem
    {
      std::unique_ptr<SpaceTimeForm<dim>> form;
      /// Of dim variables, at the time of set_time(); null if not given.
      std::unique_ptr<dealii::Function<dim>> exact_solution;
      /// At the first time.
      std::unique_ptr<dealii::Function<dim>> initial_value;
      /// Boundary ids that conditions are given for.
      std::set<dealii::types::boundary_id> boundary_ids;
    };

    /**
     * Sections "Equation" and "Boundary conditions" of a parameter file for
     *   du/dt - div(a grad u) + w . grad u + c u = f
     * with expressions of x, y, in space z, and t. From an exact solution
     * follow source, initial value and boundary data that are not given; with
     * values per material or cell (CellValuesInput) the source must be given,
     * on Neumann parts g, too.
     */
    class ParabolicEquation
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      /// @p dim: space dimension, 2 or 3. Files are looked for beside
      /// @p parameter_file, too.
      void
      parse_parameters(dealii::ParameterHandler &prm,
                       const unsigned int        dim,
                       const std::string        &parameter_file);

      /// dim as in parse_parameters(). Values per cell are missing until
      /// cell_values().set_values() is called.
      template <int dim>
      ParabolicProblem<dim>
      create(const double first_time) const;

      /// Diffusion, reaction and source per material or cell.
      const CellValuesInput &
      cell_values() const;

      /// @p text as an expression of the coordinates and t with the equation's
      /// constants.
      Expression
      parse(const std::string &name, const std::string &text) const;

    private:
      struct Condition
      {
        BoundaryType            type = BoundaryType::dirichlet;
        std::vector<Expression> value; // empty or one
      };

      CellValuesInput               present_cell_values;
      std::vector<std::string>      variables;
      std::map<std::string, double> constants;
      std::vector<Expression> diffusion, advection, reaction, source, exact,
        initial;
      /// Key -1: all ids without an entry of their own.
      std::map<int, Condition> conditions;
    };
  } // namespace Application
} // namespace Tessella

#endif

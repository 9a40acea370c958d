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
    /// Initial boundary value problem, ready for space-time slabs.
    template <int dim>
    struct ParabolicProblem
    {
      std::unique_ptr<SpaceTimeForm<dim>> form;
      /// Function of dim variables at the time of set_time(); null if not
      /// given.
      std::unique_ptr<dealii::Function<dim>> exact_solution;
      /// Solution at the first time.
      std::unique_ptr<dealii::Function<dim>> initial_value;
      /// Boundary ids for which conditions are given.
      std::set<dealii::types::boundary_id> boundary_ids;
    };

    /**
     * Sections "Equation" and "Boundary conditions" of a parameter file for
     *   du/dt - div(a grad u) + w . grad u + c u = f
     * The data are expressions of x, y, in 3-D also z, and t. Source, initial
     * value and boundary data that are not given are derived from an exact
     * solution. With values per material or cell (CellValuesInput) the source
     * and the Neumann data g must be given.
     */
    class ParabolicEquation
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      /// @p dim is the space dimension, 2 or 3. Files are also looked for
      /// beside @p parameter_file.
      void
      parse_parameters(dealii::ParameterHandler &prm,
                       const unsigned int        dim,
                       const std::string        &parameter_file);

      /// @p dim must be the value given to parse_parameters(). Values per cell
      /// are missing until cell_values().set_values() is called.
      template <int dim>
      ParabolicProblem<dim>
      create(const double first_time) const;

      /// Diffusion, reaction and source per material or cell.
      const CellValuesInput &
      cell_values() const
      {
        return present_cell_values;
      }

      /// Parses @p text as an expression of the coordinates and t, with the
      /// constants of the equation.
      Expression
      parse(const std::string &name, const std::string &text) const;

    private:
      struct Condition
      {
        BoundaryType            type = BoundaryType::dirichlet;
        std::vector<Expression> value; // at most one entry
      };

      CellValuesInput               present_cell_values;
      std::vector<std::string>      variables;
      std::map<std::string, double> constants;
      std::vector<Expression> diffusion, advection, reaction, source, exact,
        initial;
      /// Key -1: all boundary ids without an entry of their own.
      std::map<int, Condition> conditions;
    };
  } // namespace Application
} // namespace Tessella

#endif

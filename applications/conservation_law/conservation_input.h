// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_conservation_law_conservation_input_h
#define tessella_applications_conservation_law_conservation_input_h

#include <deal.II/base/parameter_handler.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../common/conservation_problem.h"
#include "../common/expression.h"
#include "boundary_data.h"
#include "text_equation.h"

namespace Tessella
{
  namespace Application
  {
    /// A conservation law with its data.
    template <int dim>
    struct ConservationLawProblem : ConservationProblem<dim>
    {
      /// Largest speed of an equation that is given as text, else null.
      std::shared_ptr<const PointwiseTextIntegrand<dim>> speed;
      std::shared_ptr<const BoundaryData<dim>>           boundary;
    };

    /// Sections "Equation", "Boundary conditions", "Time" and "Limiter" of the
    /// parameter file.
    class ConservationInput : public ConservationSettings
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      void
      parse_parameters(dealii::ParameterHandler &prm, const unsigned int dim);

      unsigned int
      n_components() const
      {
        return present_n_components;
      }

      template <int dim>
      ConservationLawProblem<dim>
      create() const;

    private:
      void
      declare_equation(dealii::ParameterHandler &prm);
      void
      parse_equation(dealii::ParameterHandler &prm, const unsigned int dim);
      void
      declare_text(dealii::ParameterHandler &prm);
      void
      parse_text(dealii::ParameterHandler &prm);
      void
      parse_boundary_conditions(dealii::ParameterHandler &prm);

      /// Parses expressions of the coordinates, and of t unless @p stationary.
      /// Their number must be @p n, or zero if @p optional.
      std::vector<Expression>
      parse(const std::string &name,
            const std::string &text,
            const char         separator,
            const unsigned int n,
            const bool         optional,
            const bool         stationary = false) const;
      /// Parses constants.
      std::vector<double>
      parse_numbers(const std::string &name,
                    const std::string &text,
                    const unsigned int n) const;

      template <int dim, typename Equation>
      void
      set_equation(const Equation              &equation,
                   ConservationLawProblem<dim> &problem) const;

      template <int dim>
      void
      set_text(ConservationLawProblem<dim> &problem) const;

      std::string                   type;
      unsigned int                  present_n_components = 1;
      std::vector<std::string>      variables;
      std::map<std::string, double> constants;
      std::vector<double>           velocity, centre;
      TextEquation                  text_equation;
      unsigned int                  flux_degree = 2;
      double                        rotation = 0., gravity = 9.81;
      bool                          upwind = false, by_characteristics = false;
      std::vector<Expression>       initial, exact;
      struct Condition
      {
        BoundaryKind            type = BoundaryKind::inflow;
        std::vector<Expression> state;
      };
      std::map<int, Condition> conditions;
    };
  } // namespace Application
} // namespace Tessella

#endif

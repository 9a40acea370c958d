// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_conservation_law_conservation_input_h
#define tessella_applications_conservation_law_conservation_input_h

#include <deal.II/base/parameter_handler.h>

#include <deal.II/lac/la_parallel_vector.h>

#include <tessella/forms/limiters.h>
#include <tessella/forms/pointwise_integrand.h>
#include <tessella/operators/polytopewise_operator.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../common/expression.h"
#include "boundary_data.h"
#include "text_equation.h"
#include "time_input.h"

namespace Tessella
{
  namespace Application
  {
    using ConservationVector =
      dealii::LinearAlgebra::distributed::Vector<double>;

    /// A conservation law with its data, ready for time stepping.
    template <int dim>
    struct ConservationProblem
    {
      /// Names of the components in VTU files.
      std::vector<std::string> names;
      /// Degree of the flux in the components, for the order of quadrature.
      unsigned int flux_degree = 1;
      /// Whether components 1 .. dim are a vector.
      bool has_vector = false;
      /// Residual of the dG method, see ConservationLaw.
      std::unique_ptr<PointwiseIntegrand<dim>> integrand;
      /// Largest speed of an equation that is given as text, else null.
      std::shared_ptr<const PointwiseTextIntegrand<dim>> speed;
      /// Largest wave speeds of the polytopes, see LargestSpeed.
      std::function<std::vector<double>(PolytopewiseOperator<dim> &,
                                        const ConservationVector &)>
                                               largest_speeds;
      std::shared_ptr<const BoundaryData<dim>> boundary;
      std::shared_ptr<StateFunction<dim>>      initial;
      /// Null if none was given.
      std::shared_ptr<StateFunction<dim>> exact;
      /// A sentence about a polytope whose state is not admissible begins so.
      std::string not_admissible;
    };

    /// Sections "Equation", "Boundary conditions", "Time" and "Limiter" of the
    /// parameter file.
    class ConservationInput
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
      ConservationProblem<dim>
      create() const;

      TimeInput    time;
      bool         limit_slopes = false, limit_bounds = false;
      SlopeLimiter slope_limiter;
      BoundLimiter bound_limiter;

    private:
      void
      declare_equation(dealii::ParameterHandler &prm);
      void
      declare_limiter(dealii::ParameterHandler &prm);
      void
      parse_equation(dealii::ParameterHandler &prm, const unsigned int dim);
      void
      declare_text(dealii::ParameterHandler &prm);
      void
      parse_text(dealii::ParameterHandler &prm);
      void
      parse_boundary_conditions(dealii::ParameterHandler &prm);
      void
      parse_limiter(dealii::ParameterHandler &prm);

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
      set_equation(const Equation           &equation,
                   ConservationProblem<dim> &problem) const;

      template <int dim>
      void
      set_text(ConservationProblem<dim> &problem) const;

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

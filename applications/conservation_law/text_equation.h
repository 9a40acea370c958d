// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_conservation_law_text_equation_h
#define tessella_applications_conservation_law_text_equation_h

#include <tessella/forms/pointwise_text_integrand.h>
#include <tessella/forms/polytope_stencil.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../common/expression.h"
#include "boundary_data.h"

namespace Tessella
{
  namespace Application
  {
    /**
     * A conservation law u_t + div f(u) = 0 that the parameter file gives as
     * text, in the language of PointwiseTextIntegrand. The statements know the
     * components by their names, x[d] (or x, y, z), t and the constants.
     */
    struct TextEquation
    {
      /// Names of the components of u.
      std::vector<std::string> components;
      /// Statements that set f[c][d] for all components and coordinates.
      std::string flux;
      /// Expression: largest speed of waves in the direction of the normal
      /// n[d].
      std::string speed;
      /// Expression: largest speed in any direction.
      std::string                   largest_speed;
      std::map<std::string, double> constants;

      /// State outside of a part of the boundary.
      struct Condition
      {
        BoundaryKind type = BoundaryKind::outflow;
        /// Its components, for an inflow; if there are none, results are not
        /// finite.
        std::vector<Expression> state;
      };

      /// Terms of the dG method, which are those of ConservationLaw. Key -1 of
      /// the conditions stands for all ids without an entry of their own.
      PointwiseTextTerms
      terms(const std::map<int, Condition> &conditions) const;

      /// Terms in the volume whose only component is the largest speed.
      PointwiseTextTerms
      speed_terms() const;

      /// Error: a name that is no name, or that has another meaning.
      void
      check_names() const;

    private:
      /// Statements that set the components from values of @p field.
      std::string
      set_components(const std::string &field) const;
    };



    /// The integrand of an equation that is given as text. On the host, a part
    /// of the boundary without a state is an error, see BoundaryData::check().
    template <int dim>
    class TextIntegrand : public PointwiseTextIntegrand<dim>
    {
    public:
      TextIntegrand(const PointwiseTextTerms                       &terms,
                    const std::shared_ptr<const BoundaryData<dim>> &boundary);

      void
      evaluate(const PointwiseRegion       region,
               const unsigned int          n,
               const OperatorPoint<dim>   *points,
               const double *const *const *in,
               double *const *const       *out) const override;

    private:
      const std::shared_ptr<const BoundaryData<dim>> boundary;
    };



    /// Functor of PolytopewiseOperator: as LargestSpeed, with a speed that is
    /// given as text.
    template <int dim>
    struct LargestSpeedOfText
    {
      static constexpr bool point_values = true;

      const PointwiseTextIntegrand<dim> *speed = nullptr;
      /// Has the time.
      const PointwiseIntegrand<dim> *equation = nullptr;

      double
      operator()(const PolytopeStencil<dim> &stencil, double *) const;
    };
  } // namespace Application
} // namespace Tessella

#endif

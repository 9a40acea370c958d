// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_quasilinear_form_h
#define tessella_applications_quasilinear_form_h

#include <deal.II/base/exceptions.h>
#include <deal.II/base/function.h>

#include <tessella/forms/discrete_field.h>
#include <tessella/forms/form.h>
#include <tessella/forms/run_time_functor.h>

#include <memory>
#include <set>
#include <string>

#include "../common/expression.h"

namespace Tessella
{
  namespace Application
  {
    DeclException5(ExcBadDiffusion,
                   std::string,
                   std::string,
                   double,
                   std::string,
                   double,
                   << arg1 << " = " << arg2 << " is " << arg3
                   << " at the point (" << arg4 << "), where u is " << arg5
                   << ": it must be finite and not negative for all values "
                      "that iterates take. Change the expression, or begin "
                      "with a better initial guess.");

    /// The coefficient a(x, u), an expression of the coordinates and of u.
    template <int dim>
    class QuasilinearCoefficient
    {
    public:
      QuasilinearCoefficient() = default;
      /// The variables of @p expression are the coordinates followed by u.
      explicit QuasilinearCoefficient(const Expression &expression);

      /// Evaluates a and, unless their pointers are null, da/du and the
      /// gradient with respect to x, at @p n points. Throws ExcBadDiffusion.
      void
      evaluate(const unsigned int      n,
               const double *const    *x,
               const double           *u,
               double                 *a,
               double                 *da,
               dealii::Tensor<1, dim> *gradient = nullptr) const;

      /// Returns a, or da/du, as a function of a point whose first field is u.
      typename RunTimeFunctor<dim>::PointFunction
      device_function(const std::string &name, const bool derivative) const;

      /// Throws for a value of a or of da/du that evaluate() does not accept.
      [[noreturn]] void
      throw_bad_value(const bool    derivative,
                      const double  value,
                      const double *x,
                      const double  u) const;

      const Expression &
      text() const
      {
        return expression;
      }

    private:
      Expression expression;
    };

    /// Data of the quasilinear problem.
    template <int dim>
    struct QuasilinearProblem
    {
      QuasilinearCoefficient<dim>                  diffusion;
      std::shared_ptr<const dealii::Function<dim>> source, dirichlet;
      /// Neumann value n . a grad u = neumann + n . neumann_flux; either
      /// function may be null.
      std::shared_ptr<const dealii::Function<dim>> neumann, neumann_flux;
      std::set<dealii::types::boundary_id>         neumann_ids;
      /// Null if not given. Without an initial guess, iterations begin with
      /// zero.
      std::shared_ptr<const dealii::Function<dim>> exact_solution,
        initial_guess;
    };

    /**
     * Interior penalty method for -div(a(x, u) grad u) = f, linearised at a
     * discrete function u by Picard's or Newton's method; see QuasilinearTerms.
     *
     * On the host expressions are evaluated in batches. For a CUDA device they
     * are compiled, and u is evaluated there from its DoFs.
     */
    template <int dim>
    class QuasilinearForm : public Form<dim>
    {
    public:
      enum Linearisation
      {
        picard,
        newton
      };

      QuasilinearForm(const QuasilinearProblem<dim> &problem,
                      const DiscreteField<dim>      &u,
                      const Linearisation            linearisation,
                      const double                   theta,
                      const unsigned int             coefficient_order);

      void
      prepare() const override
      {
        u.prepare();
      }
      std::shared_ptr<const DeviceCoefficients<dim>>
      device_coefficients() const override;
      std::string
      why_not_on_device() const override
      {
        return reason;
      }
      /// Creates the functor that device_coefficients() compiles. Returns
      /// false, and sets why_not_on_device(), if a function of the problem has
      /// no device code.
      bool
      make_functor(RunTimeFunctor<dim> &functor) const;

      VolumeStructure
      volume_structure() const override;
      FacetStructure
      facet_structure() const override;
      unsigned int
      coefficient_order() const override
      {
        return order;
      }
      /// Sets the diffusion to one, so that the penalty depends only on the
      /// geometry.
      void
      evaluate_diffusion(const PointBatch<dim> &points,
                         double *const         *a) const override;
      void
      evaluate_volume(const PointBatch<dim> &points,
                      VolumeBlocks<dim>     &blocks) const override;
      void
      evaluate_interior_facets(const FacetPointBatch<dim> &points,
                               FacetBlocks<dim> &blocks) const override;
      void
      evaluate_boundary_facets(const FacetPointBatch<dim> &points,
                               FacetBlocks<dim> &blocks) const override;
      /// Newton's terms are not symmetric in this way.
      bool
      has_penalty_facets(double &theta) const override;

    private:
      const QuasilinearProblem<dim> &problem;
      const DiscreteField<dim>       u;
      const Linearisation            linearisation;
      const double                   theta;
      const unsigned int             order;
      mutable std::string            reason;
    };
  } // namespace Application
} // namespace Tessella

#endif

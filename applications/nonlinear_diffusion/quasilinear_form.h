// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_applications_quasilinear_form_h
#define tessella_applications_quasilinear_form_h

#include <deal.II/base/exceptions.h>
#include <deal.II/base/function.h>

#include <tessella/forms/discrete_field.h>
#include <tessella/forms/form.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

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

    /// a(x, u), an expression of the coordinates and of u.
    template <int dim>
    class QuasilinearCoefficient
    {
    public:
      QuasilinearCoefficient() = default;
      /// Variables: coordinates, u.
      explicit QuasilinearCoefficient(const Expression &expression);

      /// a and, unless they are null, da/du and the gradient with respect to x,
      /// at @p n points; throws ExcBadDiffusion.
      void
      evaluate(const unsigned int      n,
               const double *const    *x,
               const double           *u,
               double                 *a,
               double                 *da,
               dealii::Tensor<1, dim> *gradient = nullptr) const;

    private:
      Expression expression;
    };

    /// What the iteration solves.
    template <int dim>
    struct QuasilinearProblem
    {
      QuasilinearCoefficient<dim>                  diffusion;
      std::shared_ptr<const dealii::Function<dim>> source, dirichlet;
      /// n . a grad u on Neumann parts: value plus n . flux; both may be null.
      std::shared_ptr<const dealii::Function<dim>> neumann, neumann_flux;
      std::set<dealii::types::boundary_id>         neumann_ids;
    };

    /**
     * The interior penalty method for -div(a(x, u) grad u) = f, linearised at a
     * discrete function u.
     *
     * With averages {.}, jumps [.] and a normal n on a facet, the method is
     *   N(u; v) = int a(u) grad u . grad v
     *     - int_F {a(u) grad u . n} [v] + theta {a(u) grad v . n} [u]
     *             - sigma {a(u)} [u] [v]   =   int f v,
     * where on Dirichlet parts [u] is u - g, and a there is a(x, g): these
     * terms are linear in u, where a(u) (u - g) might not even be monotone. The
     * penalty sigma comes from geometry and degree alone and is multiplied by
     * a(u) at every point: unlike the maximum of a over a polytope, this can be
     * differentiated.
     *
     * <b>Picard</b>: a is taken at u, which gives a matrix A(u), and a
     * vector b that does not depend on u, with N(u; .) - (f, .) = A(u) u - b.
     * These are terms as AdvectionDiffusionReaction has them.
     *
     * <b>Newton</b>: the derivative of N with respect to u in the direction w;
     * to the terms above, those of da = a'(u) w are added,
     *   int da grad u . grad v
     *   - int_F {da grad u . n} [v] + theta {da grad v . n} [u]
     *           - sigma {da} [u] [v].
     * The first is the entry beta = a'(u) grad u of the volume block, the
     * others go to the entries c and beta of the facet blocks; on both sides of
     * a facet, da = a'(u) w is that of the side.
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

      VolumeStructure
      volume_structure() const override;
      FacetStructure
      facet_structure() const override;
      unsigned int
      coefficient_order() const override;
      /// One: the penalty is that of the geometry.
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
      /// Newton's terms do not have that symmetry.
      bool
      has_penalty_facets(double &theta) const override;

    private:
      const QuasilinearProblem<dim> &problem;
      const DiscreteField<dim>       u;
      const Linearisation            linearisation;
      const double                   theta;
      const unsigned int             order;
    };
  } // namespace Application
} // namespace Tessella

#endif

// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_numerics_vector_tools_h
#define tessella_numerics_vector_tools_h

#include <deal.II/base/function.h>
#include <deal.II/base/point.h>

#include <deal.II/lac/vector.h>
#include <deal.II/numerics/vector_tools_common.h>

#include <tessella/forms/form.h>
#include <tessella/grid/agglomeration_handler.h>

#include <vector>

namespace Tessella
{
  /**
   * Functions that connect continuous functions and vectors of degrees of
   * freedom, named after their counterparts in dealii::VectorTools. VectorType:
   * dealii::Vector<double> or TrilinosWrappers::MPI::Vector. Functions have as
   * many components as the handler.
   */
  namespace VectorTools
  {
    /**
     * Discrete L2 projection on the bounding boxes with (p+1)^dim Gauss points:
     * reproduces the polynomial space and needs no linear system, but evaluates
     * @p function in the whole box of each polytope, hence possibly outside the
     * domain.
     */
    template <int dim, typename VectorType>
    void
    interpolate(const AgglomerationHandler<dim> &handler,
                const dealii::Function<dim>     &function,
                VectorType                      &vector);

    /// L2 projection: the mass matrix of every polytope is inverted. Quadrature
    /// of order 2 p + @p extra_order.
    template <int dim, typename VectorType>
    void
    project(const AgglomerationHandler<dim> &handler,
            const dealii::Function<dim>     &function,
            VectorType                      &vector,
            const unsigned int               extra_order = 4);

    /// All components at @p point; throws ExcPointNotInside (with the point)
    /// outside the mesh. On an interface, the value of one of the polytopes.
    template <int dim, typename VectorType>
    void
    point_value(const AgglomerationHandler<dim> &handler,
                const VectorType                &vector,
                const dealii::Point<dim>        &point,
                dealii::Vector<double>          &value);

    /// The same at many points: one search structure for all.
    template <int dim, typename VectorType>
    void
    point_values(const AgglomerationHandler<dim>       &handler,
                 const VectorType                      &vector,
                 const std::vector<dealii::Point<dim>> &points,
                 std::vector<dealii::Vector<double>>   &values);

    /// Norm of (solution - exact) per polytope: L2_norm, L1_norm, Linfty_norm,
    /// H1_seminorm, H1_norm, mean. Quadrature of order 2 p + @p extra_order.
    template <int dim, typename VectorType>
    void
    integrate_difference(const AgglomerationHandler<dim>    &handler,
                         const VectorType                   &solution,
                         const dealii::Function<dim>        &exact,
                         dealii::Vector<float>              &difference,
                         const dealii::VectorTools::NormType norm,
                         const unsigned int                  extra_order = 4);

    /// The norm over all polytopes of what integrate_difference() gave, as
    /// dealii::VectorTools::compute_global_error.
    double
    compute_global_error(const dealii::Vector<float>        &difference,
                         const dealii::VectorTools::NormType norm);

    /// Errors that a convergence table shows, from one sweep.
    struct ErrorNorms
    {
      double L2 = 0., H1_seminorm = 0.;
      /// (sum |sqrt(a) grad_h e|^2 + |sqrt(sigma) [e]|^2 + 1/2 | |b.n|^(1/2)
      /// [e] |^2 + |c_0 e|^2)^(1/2) with c_0^2 replaced by c where no
      /// divergence is at hand: see implementation's documentation.
      double dG = 0.;
    };

    /// L2, broken H1 and dG norm of (solution - exact) for @p form; @p sigma:
    /// penalty per facet, PolytopicAssembler::penalty().
    template <int dim, typename VectorType>
    ErrorNorms
    compute_errors(const AgglomerationHandler<dim> &handler,
                   const Form<dim>                 &form,
                   const std::vector<double>       &sigma,
                   const VectorType                &solution,
                   const dealii::Function<dim>     &exact,
                   const unsigned int               extra_order = 4);
  } // namespace VectorTools
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_vector_tools_h
#define tessella_numerics_vector_tools_h

#include <deal.II/base/exceptions.h>
#include <deal.II/base/function.h>
#include <deal.II/base/point.h>

#include <deal.II/fe/component_mask.h>
#include <deal.II/lac/vector.h>
#include <deal.II/numerics/vector_tools_common.h>

#include <tessella/forms/form.h>
#include <tessella/forms/function_pointer.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/vector_view.h>

#include <string>
#include <vector>

namespace Tessella
{
  /**
   * Functions that connect continuous functions and vectors of degrees of
   * freedom, with the names of their counterparts in dealii::VectorTools.
   * Vectors are of any type that ConstVectorView and VectorView list, on the
   * host or on a device. Functions have as many components as the handler, and
   * may be lambdas: see FunctionPointer. Norms of derivatives need the gradient
   * of the exact solution, as in {value, gradient}.
   *
   * On meshes that are distributed over processes all functions are collective.
   * Each process works on the polytopes that it owns, and vectors hold its own
   * degrees of freedom (no ghosts). Points must be the same on all processes;
   * values at points and the results of compute_errors() are the same on all
   * processes. A vector, or a point, that is wrong on one process is an error
   * on all.
   */
  namespace VectorTools
  {
    DeclException1(ExcPointNotInside,
                   std::string,
                   << "The point (" << arg1
                   << ") lies outside the mesh; values exist only inside.");

    /**
     * Discrete L2 projection on the bounding boxes with (p+1)^dim Gauss points.
     * It reproduces the polynomial space and needs no linear system, but
     * evaluates @p function in the whole box of each polytope, hence possibly
     * outside the domain.
     */
    template <int dim>
    void
    interpolate(const AgglomerationHandler<dim> &handler,
                const FunctionArgument<dim>     &function,
                const VectorView                &vector);

    /**
     * L2 projection: the mass matrix of every polytope is inverted. Quadrature
     * is of order 2 p + @p extra_order. If basis functions are linearly
     * dependent on a polytope up to rounding (full tensor spaces of high degree
     * on thin polytopes), the later ones get the coefficient zero. Throws an
     * exception if the function is not finite.
     */
    template <int dim>
    void
    project(const AgglomerationHandler<dim> &handler,
            const FunctionArgument<dim>     &function,
            const VectorView                &vector,
            const unsigned int               extra_order = 4);

    /// Values of all components at @p point; throws ExcPointNotInside (with the
    /// point) outside the mesh. On an interface, the value of one of the
    /// polytopes is returned.
    template <int dim>
    void
    point_value(const AgglomerationHandler<dim> &handler,
                const ConstVectorView           &vector,
                const dealii::Point<dim>        &point,
                dealii::Vector<double>          &value);

    /// The same at many points, with one search structure for all.
    template <int dim>
    void
    point_values(const AgglomerationHandler<dim>       &handler,
                 const ConstVectorView                 &vector,
                 const std::vector<dealii::Point<dim>> &points,
                 std::vector<dealii::Vector<double>>   &values);

    /**
     * Norm of (solution - exact) per polytope, of the components that @p mask
     * selects together (by default, of all):
     * L2_norm, L1_norm, Linfty_norm (largest value at quadrature points),
     * H1_seminorm, H1_norm, Lp_norm with the power @p exponent, and mean, which
     * is, as in deal.II, the integral of exact - solution. Lp_norm has powers
     * of the Euclidean length of the vector of errors, L1_norm and mean are
     * sums over the components, Linfty_norm is the largest of all. Quadrature
     * is of order 2 p + @p extra_order. Threads share the work; the result does
     * not depend on their number. @p difference is resized to the number of
     * polytopes that this process owns; compute_global_error() computes one
     * value from it.
     */
    template <int dim>
    void
    integrate_difference(const AgglomerationHandler<dim>    &handler,
                         const ConstVectorView              &solution,
                         const FunctionArgument<dim>        &exact,
                         dealii::Vector<float>              &difference,
                         const dealii::VectorTools::NormType norm,
                         const unsigned int                  extra_order = 4,
                         const double                        exponent    = 2.,
                         const dealii::ComponentMask        &mask        = {});

    /**
     * Norm over all polytopes from the result of integrate_difference(), as
     * dealii::VectorTools::compute_global_error(), with the handler in place of
     * the triangulation. @p exponent is used for Lp_norm only.
     *
     * Collective over the processes of the handler's triangulation: the result
     * is that of all processes, with the same bits for any number of them.
     */
    template <int dim>
    double
    compute_global_error(const AgglomerationHandler<dim>    &handler,
                         const dealii::Vector<float>        &cellwise_error,
                         const dealii::VectorTools::NormType norm,
                         const double                        exponent = 2.);

    /// Norm of (solution - exact) over all polytopes: integrate_difference()
    /// and compute_global_error() in one call. Collective.
    template <int dim>
    double
    compute_error(const AgglomerationHandler<dim>    &handler,
                  const ConstVectorView              &solution,
                  const FunctionArgument<dim>        &exact,
                  const dealii::VectorTools::NormType norm,
                  const unsigned int                  extra_order = 4)
    {
      dealii::Vector<float> difference;
      integrate_difference(
        handler, solution, exact, difference, norm, extra_order);
      return compute_global_error(handler, difference, norm);
    }

    /// Errors for a convergence table, from one loop over the mesh: of one
    /// component, or the roots of the sums over components.
    struct ErrorNorms
    {
      double L2 = 0., H1_seminorm = 0.;
      /// See compute_errors().
      double dG = 0.;
    };

    /**
     * L2 norm, broken H1 seminorm and dG norm of e = solution - exact for the
     * scalar @p form; @p sigma is the penalty per facet,
     * PolytopicAssembler::penalty(). With several components, the form stands
     * for each of them, and the squares of the norms are summed over the
     * components that @p mask selects (by default, all of them).
     *
     * The dG norm is that of Dong, Georgoulis and Kappas (2021),
     *   |e|^2 = sum_k |a^(1/2) grad e|^2_k + |c_0 e|^2_k +
     *           sum_F |sigma^(1/2) [e]|^2_F + 1/2 ||b.n|^(1/2) [e]|^2_F,
     * where c_0^2 = c - 1/2 div b and [e] = e on the boundary (sigma acts on
     * Dirichlet parts only). It is computed from the coefficient blocks of
     * @p form at points, for any form, by the energy that they assign to a
     * jump:
     * - interior facets: weight 1/4 (c_00 + c_11 - c_01 - c_10) of [e]^2, where
     *   c_st is the value-value entry with test side s and trial side t: the
     *   form's value for the traces 1/2 and -1/2. This is sigma + 1/2 |b.n| for
     *   interior penalty with upwind advection, in convective and in
     *   conservative form;
     * - boundary: weight c_00 + 1/2 (b + beta).n, where the second term is the
     *   boundary term of the integration by parts of (b + beta).grad e e:
     *   sigma + 1/2 |b.n| on Dirichlet, 1/2 |b.n| on inflow and outflow parts,
     *   the Robin coefficient on Robin parts;
     * - volume: c_0^2 = c - 1/2 div(b + beta), with the divergence of a linear
     *   least-squares fit on each sub-cell, which is exact for fields that are
     *   linear there, and of second order in the size of sub-cells otherwise.
     *
     * Negative weights count as zero. @p exact is assumed to be continuous on
     * interior facets, so that jumps are those of the solution.
     *
     * Results are the same to the last bit for any number of processes and
     * threads, for the same polytopes. Collective.
     */
    template <int dim>
    ErrorNorms
    compute_errors(const AgglomerationHandler<dim> &handler,
                   const Form<dim>                 &form,
                   const std::vector<double>       &sigma,
                   const ConstVectorView           &solution,
                   const FunctionArgument<dim>     &exact,
                   const unsigned int               extra_order = 4,
                   const dealii::ComponentMask     &mask        = {});

    /**
     * The norms of compute_errors() of each component, in their order.
     * @p forms has the scalar form of each component, whose coefficients may
     * differ, and @p sigma their penalties; or both have one entry, for all
     * components. Terms that couple components are not part of the norms.
     *
     * <b>Cost.</b> That of compute_errors() for each form: one loop over the
     * mesh for a common form, one for each component otherwise.
     */
    template <int dim>
    std::vector<ErrorNorms>
    compute_component_errors(const AgglomerationHandler<dim>        &handler,
                             const std::vector<const Form<dim> *>   &forms,
                             const std::vector<std::vector<double>> &sigma,
                             const ConstVectorView                  &solution,
                             const FunctionArgument<dim>            &exact,
                             const unsigned int extra_order = 4);
  } // namespace VectorTools
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_error_estimator_h
#define tessella_numerics_error_estimator_h

#include <deal.II/lac/vector.h>

#include <tessella/backends/assembly_parameters.h>
#include <tessella/forms/system_form.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/vector_view.h>

#include <vector>

namespace Tessella
{
  /**
   * Error indicators of discrete solutions, for adaptive refinement: one value
   * for each polytope that this process owns. They are computed from the
   * coefficient blocks of forms at points, for any Form.
   *
   * <b>Several components.</b> A Form is scalar. Each component u_c has a form
   * of its own with its own diffusion, source and boundary values, or all
   * components have the same one. The square of an indicator is the sum over c
   * of the formulas below with u_c and its form: what is estimated is the error
   * of the system of equations of these forms. Systems whose components are
   * coupled, such as linear elasticity, have a SystemForm: residual() then
   * takes all terms of an equation, and the weights of the form that couples
   * its component with itself. For such systems the terms of jumps() are the
   * jumps of the components, with the diagonal forms.
   *
   * Solutions are vectors of any type that ConstVectorView lists.
   *
   * On distributed meshes all functions are collective (values of ghosts are
   * exchanged once). For the same polytopes, indicators are the same to the
   * last bit for any number of processes and threads.
   */
  namespace ErrorEstimator
  {
    /// Computes the indicators of residual(), or without @p residuals those of
    /// jumps(), with a form and its penalty for each component, or one for all;
    /// internal.
    template <int dim>
    void
    estimate(const AgglomerationHandler<dim>        &handler,
             const std::vector<const Form<dim> *>   &forms,
             const std::vector<std::vector<double>> &sigma,
             const unsigned int                      extra_order,
             const bool                              residuals,
             const ConstVectorView                  &solution,
             dealii::Vector<double>                 &indicators);

    /**
     * Residual-based indicators: with the flux q = a grad u + beta u,
     *   eta_k^2 = int_k rho^2 (f + div q - b . grad u - c u)^2
     *           + 1/2 sum_F int_F h_F / (p a_n) [q . n]^2 + w [u]^2
     *           + sum_{F on the boundary} ...
     * In the flux term p is the larger degree, a_n = n . a n, and h_F the
     * height of the largest simplex on F inside the polytope, as in the penalty
     * (on the side with the larger a_n / h_F, see compute_penalty_factors()).
     * On polytopes with many small facets, h_F is thus the local length, not
     * the diameter. Jumps have the weight w = sigma + 1/2 |b . n|, as in the dG
     * norm (see VectorTools::compute_errors()). On the boundary, Dirichlet and
     * inflow parts add (sigma + |b . n|) (u - g)^2, Neumann and Robin parts h_F
     * / (p a_n) times their residual squared.
     *
     * rho^2 is the smallest of h^2 / (p^2 a), 1 / c_0^2 and h / (p |b|), as far
     * as the form has these terms: h is the diagonal of the bounding box, a the
     * smallest eigenvalue of the diffusion, c_0^2 = c - 1/2 div(b + beta), and
     * p at least 1.
     *
     * Sources: P. Houston, D. Schoetzau, T. Wihler, Math. Models Methods Appl.
     * Sci. 17 (2007), for the hp weights h^2/p^2 and h/p; L. Zhu, D. Schoetzau,
     * IMA J. Numer. Anal. 31 (2011), for the minimum over diffusion and
     * reaction; A. Cangiani, Z. Dong, E. Georgoulis, SIAM J. Numer. Anal. 61
     * (2023), for polytopes. Differences from these sources: the proofs weigh
     * jumps by p^3 instead of p^2, while here jumps count with their part of
     * the error itself; h / (p |b|), the weight of the streamline derivative,
     * keeps the indicator from growing where advection dominates. Constants are
     * 1, so that the ratio to the error (efficiency index) is not 1 but of the
     * order of a few units.
     *
     * Derivatives of variable coefficients are central differences over 1e-6 of
     * a sub-cell's extent; those of u are exact.
     *
     * @p sigma is the penalty per facet, PolytopicAssembler::penalty().
     * Quadrature is of order 2 p + @p extra_order.
     *
     * <b>Cost.</b> About that of compute_errors(): evaluations of the form at
     * the points of all volumes (2 dim + 1 times for variable coefficients) and
     * of both sides of all facets, for each component.
     */
    template <int dim>
    void
    residual(const AgglomerationHandler<dim> &handler,
             const Form<dim>                 &form,
             const std::vector<double>       &sigma,
             const ConstVectorView           &solution,
             dealii::Vector<double>          &indicators,
             const unsigned int               extra_order = 4)
    {
      estimate<dim>(
        handler, {&form}, {sigma}, extra_order, true, solution, indicators);
    }
    /// The same with a form and its penalty for each component.
    template <int dim>
    void
    residual(const AgglomerationHandler<dim>        &handler,
             const std::vector<const Form<dim> *>   &forms,
             const std::vector<std::vector<double>> &sigma,
             const ConstVectorView                  &solution,
             dealii::Vector<double>                 &indicators,
             const unsigned int                      extra_order = 4)
    {
      estimate(handler, forms, sigma, extra_order, true, solution, indicators);
    }

    /**
     * The same for a system: in the equation of component i,
     *   R = f_i + sum_j div q_ij - b_ij . grad u_j - c_ij u_j,
     *   q_ij = a_ij grad u_j + beta_ij u_j,
     * flux jumps are those of sum_j q_ij, and boundary terms those of all forms
     * of the equation. The weights rho^2, h_F / (p a_n) and w are those of the
     * form (i, i); an equation without this form contributes nothing. The
     * penalty is that of the matrix that PolytopicAssembler computes with
     * @p parameters, whose constant it needs.
     *
     * <b>Cost.</b> That of residual() for each pair of components that has a
     * form, and the structure of the matrix once.
     */
    template <int dim>
    void
    residual(const AgglomerationHandler<dim> &handler,
             const SystemForm<dim>           &system,
             const ConstVectorView           &solution,
             dealii::Vector<double>          &indicators,
             const unsigned int               extra_order = 4,
             const AssemblyParameters &parameters = AssemblyParameters());

    /**
     * Jump terms alone: eta_k^2 = 1/2 sum_F int_F w [u]^2 and, on Dirichlet and
     * inflow parts, (sigma + |b . n|) (u - g)^2. They are cheaper than
     * residual(), since neither volumes nor gradients are evaluated. Jumps are
     * part of the error, hence a lower bound of it up to the factor 1/2. They
     * are no upper bound of the error, but in practice they decrease at the
     * same rate.
     */
    template <int dim>
    void
    jumps(const AgglomerationHandler<dim> &handler,
          const Form<dim>                 &form,
          const std::vector<double>       &sigma,
          const ConstVectorView           &solution,
          dealii::Vector<double>          &indicators,
          const unsigned int               extra_order = 4)
    {
      estimate<dim>(
        handler, {&form}, {sigma}, extra_order, false, solution, indicators);
    }
    /// The same with a form and its penalty for each component.
    template <int dim>
    void
    jumps(const AgglomerationHandler<dim>        &handler,
          const std::vector<const Form<dim> *>   &forms,
          const std::vector<std::vector<double>> &sigma,
          const ConstVectorView                  &solution,
          dealii::Vector<double>                 &indicators,
          const unsigned int                      extra_order = 4)
    {
      estimate(handler, forms, sigma, extra_order, false, solution, indicators);
    }

    /// (sum eta_k^2)^(1/2) over the polytopes of all processes, with the same
    /// bits for any number of them. Collective.
    template <int dim>
    double
    global(const AgglomerationHandler<dim> &handler,
           const dealii::Vector<double>    &indicators);
  } // namespace ErrorEstimator
} // namespace Tessella

#endif

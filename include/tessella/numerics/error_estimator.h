// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_error_estimator_h
#define tessella_numerics_error_estimator_h

#include <deal.II/lac/vector.h>

#include <tessella/forms/form.h>
#include <tessella/grid/agglomeration_handler.h>

#include <vector>

namespace Tessella
{
  /**
   * Error indicators of discrete solutions of scalar forms, one number for each
   * polytope that this process owns: what adaptive refinement decides by. They
   * are found from the coefficient blocks that a form gives at points, for any
   * Form. VectorType: dealii::Vector<double>,
   * LinearAlgebra::distributed::Vector<double> or
   * TrilinosWrappers::MPI::Vector.
   *
   * On distributed meshes all functions are collective (values of ghosts are
   * exchanged once); indicators are the same to the last bit for any number of
   * processes and threads, for the same polytopes.
   */
  namespace ErrorEstimator
  {
    /**
     * Residual-based indicators: with the flux q = a grad u + beta u,
     *   eta_k^2 = int_k rho^2 (f + div q - b . grad u - c u)^2
     *           + 1/2 sum_F int_F h_F / (p a_n) [q . n]^2 + w [u]^2
     *           + sum_{F on the boundary} ...
     * In the flux term p is the larger degree, a_n = n . a n, and h_F the
     * height of the largest simplex on F inside the polytope, as in the penalty
     * (of its two sides that with the larger a_n / h_F, see
     * compute_penalty_factors()): on polytopes with many small facets the local
     * length, not the diameter. Jumps have the weight w that the dG norm gives
     * them (see VectorTools::compute_errors()): sigma + 1/2 |b . n|.
     * On the boundary, Dirichlet and inflow parts add (sigma + |b . n|) (u -
     * g)^2, Neumann and Robin parts h_F / (p a_n) times their residual squared.
     *
     * rho^2 is the smallest of h^2 / (p^2 a), 1 / c_0^2 and h / (p |b|), as far
     * as these terms are there: h is the diagonal of the bounding box, a the
     * smallest eigenvalue of the diffusion, c_0^2 = c - 1/2 div(b + beta), and
     * p at least 1.
     *
     * Sources: P. Houston, D. Schoetzau, T. Wihler, Math. Models Methods Appl.
     * Sci. 17 (2007), for the hp weights h^2/p^2 and h/p; L. Zhu, D. Schoetzau,
     * IMA J. Numer. Anal. 31 (2011), for the minimum over diffusion and
     * reaction; A. Cangiani, Z. Dong, E. Georgoulis, SIAM J. Numer. Anal. 61
     * (2023), for polytopes. Differences: those proofs weigh jumps by p^3
     * instead of p^2, here their part of the error itself counts; h / (p |b|),
     * the weight of the streamline derivative, keeps the indicator from
     * growing where advection dominates. Constants are 1: the ratio to the
     * error (efficiency index) is a few units, not 1.
     *
     * Derivatives of coefficients that vary are central differences over
     * 1e-6 of a sub-cell's extent; those of u are exact.
     *
     * @p sigma: penalty per facet, PolytopicAssembler::penalty(). Quadrature of
     * order 2 p + @p extra_order.
     *
     * <b>Cost.</b> About that of compute_errors(): evaluations of the form at
     * the points of all volumes (with coefficients that vary, 2 dim + 1 times)
     * and of both sides of all facets.
     */
    template <int dim, typename VectorType>
    void
    residual(const AgglomerationHandler<dim> &handler,
             const Form<dim>                 &form,
             const std::vector<double>       &sigma,
             const VectorType                &solution,
             dealii::Vector<double>          &indicators,
             const unsigned int               extra_order = 4);

    /**
     * The jump terms alone: eta_k^2 = 1/2 sum_F int_F w [u]^2 and on Dirichlet
     * and inflow parts (sigma + |b . n|) (u - g)^2. Cheaper, since neither
     * volumes nor gradients are evaluated. Jumps are part of the error, hence a
     * lower bound of it up to the factor 1/2; nothing bounds the error from
     * above by them, but in practice they fall as it does.
     */
    template <int dim, typename VectorType>
    void
    jumps(const AgglomerationHandler<dim> &handler,
          const Form<dim>                 &form,
          const std::vector<double>       &sigma,
          const VectorType                &solution,
          dealii::Vector<double>          &indicators,
          const unsigned int               extra_order = 4);

    /// (sum eta_k^2)^(1/2) over the polytopes of all processes, the same on
    /// each. Collective.
    template <int dim>
    double
    global(const AgglomerationHandler<dim> &handler,
           const dealii::Vector<double>    &indicators);
  } // namespace ErrorEstimator
} // namespace Tessella

#endif

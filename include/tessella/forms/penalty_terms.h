// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_penalty_terms_h
#define tessella_forms_penalty_terms_h

#include <tessella/forms/point_data.h>
#include <tessella/portable/host_device.h>

namespace Tessella
{
  /**
   * Terms of an interior penalty and upwind method at one point of a facet,
   * Dong, Georgoulis, Kappas, SIAM J. Sci. Comput. 43 (2021), (2.3)-(2.5), as
   * entries of FacetBlocks, for host and device.
   *
   * Throughout, n points out of the polytope whose rows are computed, conormal
   * is a n, sigma is the penalty, and bn = b.n. The functions do not depend on
   * where values are stored.
   */
  namespace PenaltyTerms
  {
    /// Computes result = a n, where a has one entry (isotropic) or dim * dim,
    /// row by row.
    template <int dim>
    TESSELLA_HOST_DEVICE inline void
    conormal(const bool    tensor,
             const double *a,
             const double *n,
             double       *result)
    {
      for (int d = 0; d < dim; ++d)
        if (!tensor)
          result[d] = a[0] * n[d];
        else
          {
            result[d] = 0.;
            for (int e = 0; e < dim; ++e)
              result[d] += a[d * dim + e] * n[e];
          }
    }

    /// n . a n; for isotropic a, where |n| = 1, without computing a n.
    template <int dim>
    TESSELLA_HOST_DEVICE inline double
    quadratic_form(const bool tensor, const double *a, const double *n)
    {
      if (!tensor)
        return a[0];
      double sum = 0.;
      for (int d = 0; d < dim; ++d)
        for (int e = 0; e < dim; ++e)
          sum += n[d] * a[d * dim + e] * n[e];
      return sum;
    }

    /// c_0 = -c_1 on interior facets.
    TESSELLA_HOST_DEVICE inline double
    interior_c(const double sigma, const double bn)
    {
      return sigma - (bn < 0. ? bn : 0.);
    }

    /// Factor of b_t = interior_b * (a n on side t) and of beta_0 = theta *
    /// interior_b * (a n on side 0) = -beta_1.
    constexpr double interior_b = -0.5;

    /// Reason why boundary terms are not defined at a point.
    enum class BoundaryError
    {
      none,
      negative_diffusion, ///< n.a n < 0
      inflow              ///< b.n < 0 on a Neumann or Robin part
    };

    /// Whether the advection field enters the domain; b.n counts as zero if it
    /// is at rounding level compared with @p b_max, the largest entry of b.
    TESSELLA_HOST_DEVICE inline bool
    is_inflow(const double bn, const double b_max)
    {
      return bn < -1e-10 * b_max;
    }

    /// Terms on the boundary: c, r; b = -flux * conormal, beta = -theta * flux
    /// * conormal and s = -theta * flux * g * conormal.
    struct BoundaryTerms
    {
      double c, r, flux;
    };

    /**
     * Computes the boundary terms at a point. On Dirichlet parts, this function
     * determines whether the point is elliptic (n.a n > 0: Nitsche terms),
     * inflow or outflow. n.a n counts as zero if it is at rounding level
     * compared with @p a_max, the largest entry of a, since the normal of a
     * face parallel to a degenerate direction is not exact; @p b_max has the
     * same meaning for b. @p g: boundary value; @p alpha: coefficient of a
     * Robin part.
     */
    TESSELLA_HOST_DEVICE inline BoundaryError
    boundary(const BoundaryType type,
             const double       nan,
             const double       a_max,
             const double       bn,
             const double       b_max,
             const double       sigma,
             const double       g,
             const double       alpha,
             BoundaryTerms     &terms)
    {
      terms.c = terms.r = terms.flux = 0.;
      if (nan < -1e-12 * a_max)
        return BoundaryError::negative_diffusion;
      const bool elliptic = nan > 1e-12 * a_max;
      if (type == BoundaryType::dirichlet)
        {
          if (elliptic)
            {
              terms.flux = 1.;
              terms.c    = sigma;
              terms.r    = sigma * g;
            }
          if (bn < 0.)
            {
              terms.c -= bn;
              terms.r -= bn * g;
            }
          return BoundaryError::none;
        }
      if (is_inflow(bn, b_max))
        return BoundaryError::inflow;
      if (elliptic)
        {
          terms.r = g;
          if (type == BoundaryType::robin)
            terms.c = alpha;
        }
      return BoundaryError::none;
    }
  } // namespace PenaltyTerms
} // namespace Tessella

#endif

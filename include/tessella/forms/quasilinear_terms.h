// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_quasilinear_terms_h
#define tessella_forms_quasilinear_terms_h

#include <tessella/forms/point_data.h>
#include <tessella/portable/host_device.h>

namespace Tessella
{
  /**
   * Terms on facets of the interior penalty method for -div(a(x, u) grad u) =
   * f, linearised at a discrete function u, for host and device.
   *
   * With averages {.}, jumps [.] and a normal n on a facet, the method is
   *   N(u; v) = int a(u) grad u . grad v
   *     - int_F {a(u) grad u . n} [v] + theta {a(u) grad v . n} [u]
   *             - sigma {a(u)} [u] [v]   =   int f v,
   * where on Dirichlet parts [u] is u - g and a is a(x, g): these terms are
   * linear in u, whereas a(u) (u - g) might not even be monotone. The penalty
   * sigma depends on geometry and degree alone (penalty_diffusion() of a
   * functor returns 1) and is multiplied by a(u) at every point: unlike the
   * maximum of a over a polytope, this can be differentiated.
   *
   * <b>Picard</b>: a is evaluated at u, which yields a matrix A(u), and a
   * vector b that does not depend on u, with N(u; .) - (f, .) = A(u) u - b.
   *
   * <b>Newton</b>: the derivative of N with respect to u in the direction w. It
   * adds the terms of da = a'(u) w to the terms above,
   *   int da grad u . grad v
   *     - int_F {da grad u . n} [v] + theta {da grad v . n} [u]
   *             - sigma {da} [u] [v].
   * The first term is the entry beta = a'(u) grad u of the volume block, the
   * others belong to the entries c and beta of the facet blocks. On each side
   * of a facet, da = a'(u) w is evaluated on that side.
   */
  namespace QuasilinearTerms
  {
    /// Values on one side of a facet: u and n . grad u, and a and da/du at u. A
    /// derivative da/du of zero yields Picard's terms.
    struct Side
    {
      double u, normal_derivative, a, derivative;
    };

    /// Terms on a facet between two polytopes; @p normal points out of the own
    /// one.
    template <int dim>
    TESSELLA_HOST_DEVICE inline void
    interior(const Side              &own,
             const Side              &neighbor,
             const double            *normal,
             const double             sigma,
             const double             theta,
             InteriorFacetTerms<dim> &terms)
    {
      const double jump = own.u - neighbor.u;
      const double mean = 0.5 * (own.a + neighbor.a);
      for (int d = 0; d < dim; ++d)
        {
          terms.b[0][d]     = -0.5 * own.a * normal[d];
          terms.b[1][d]     = -0.5 * neighbor.a * normal[d];
          const double flux = 0.5 * theta * normal[d];
          terms.beta[0][d]  = -flux * (own.a + own.derivative * jump);
          terms.beta[1][d]  = flux * own.a;
        }
      terms.c[0] = sigma * mean + 0.5 * own.derivative *
                                    (sigma * jump - own.normal_derivative);
      terms.c[1] =
        -sigma * mean +
        0.5 * neighbor.derivative * (sigma * jump - neighbor.normal_derivative);
    }

    /// Terms on the boundary where u = g is given; @p a is evaluated at g.
    template <int dim>
    TESSELLA_HOST_DEVICE inline void
    dirichlet(const double             a,
              const double             g,
              const double            *normal,
              const double             sigma,
              const double             theta,
              BoundaryFacetTerms<dim> &terms)
    {
      for (int d = 0; d < dim; ++d)
        {
          const double conormal = a * normal[d];
          terms.b[d]            = -conormal;
          terms.beta[d]         = -theta * conormal;
          terms.s[d]            = -theta * conormal * g;
        }
      terms.c = sigma * a;
      terms.r = sigma * a * g;
    }

    /// Terms on the boundary where n . a grad u = g is given.
    template <int dim>
    TESSELLA_HOST_DEVICE inline void
    neumann(const double g, BoundaryFacetTerms<dim> &terms)
    {
      for (int d = 0; d < dim; ++d)
        terms.b[d] = terms.beta[d] = terms.s[d] = 0.;
      terms.c = 0.;
      terms.r = g;
    }
  } // namespace QuasilinearTerms
} // namespace Tessella

#endif

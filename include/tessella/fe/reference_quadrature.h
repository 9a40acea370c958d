// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_fe_reference_quadrature_h
#define tessella_fe_reference_quadrature_h

#include <vector>

namespace Tessella
{
  /// A quadrature rule on a reference element as plain arrays.
  struct ReferenceRule
  {
    unsigned int dim      = 0;
    unsigned int n_points = 0;
    unsigned int order =
      0; ///< polynomial degree up to which it is exact (total degree on
         ///< simplices, per variable on hypercubes)
    std::vector<double> points; ///< points[d * n_points + q]
    std::vector<double>
      weights; ///< sum: 1 / dim! on the simplex, 1 on the hypercube
  };

  /**
   * The rule with fewest points known to the library that integrates
   * polynomials of total degree @p order exactly on the unit simplex (vertex 0
   * at the origin, vertex d at the d-th unit vector), points inside and weights
   * positive. Any order up to 60: symmetric tabulated rules where there are
   * such, conical products of Gauss-Jacobi rules beyond. dim = 1, 2, 3. Rules
   * are computed once and kept; the function may be called by several threads.
   */
  const ReferenceRule &
  simplex_rule(const unsigned int dim, const unsigned int order);

  /// Gauss rule on [0,1]^dim, exact for degree @p order in each variable:
  /// floor(order/2) + 1 points a direction, the first variable running fastest.
  /// dim = 1, 2, 3.
  const ReferenceRule &
  hypercube_rule(const unsigned int dim, const unsigned int order);
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_quadrature_reference_quadrature_h
#define tessella_quadrature_reference_quadrature_h

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

  /// Largest order that simplex_rule() and hypercube_rule() are asked for.
  constexpr unsigned int max_quadrature_order = 64;

  /**
   * The rule with fewest points known to the library that integrates
   * polynomials of total degree @p order exactly on the unit simplex (vertex 0
   * at the origin, vertex d at the d-th unit vector), points inside and weights
   * positive. Any order up to max_quadrature_order, dim = 1, 2, 3.
   *
   * Triangles and tetrahedra: the symmetric rules that deal.II has tabulated
   * (triangles up to order 14, tetrahedra up to order 10 in 9.4) and, where
   * they have fewer points, rules of our own on tetrahedra, each checked with
   * all monomials before it is used; beyond them, conical products: the simplex
   * is the image of (s, t), s in the simplex of one dimension less, t in [0,1],
   * under (s (1-t), t), which brings the Jacobian (1-t)^(dim-1), so that the
   * best rule for s and the Gauss-Jacobi rule with that weight for t give a
   * rule of the same order with floor(order/2) + 1 times as many points.
   *
   * Rules are computed once and kept; the function may be called by several
   * threads.
   */
  const ReferenceRule &
  simplex_rule(const unsigned int dim, const unsigned int order);

  /// Product of the rules on a simplex of dim - 1 variables and on [0,1], each
  /// exact to @p order; the simplex's points run fastest. dim = 2, 3, 4;
  /// weights sum to 1 / (dim - 1)!.
  const ReferenceRule &
  prism_rule(const unsigned int dim, const unsigned int order);

  /// Gauss rule on [0,1]^dim, exact for degree @p order in each variable:
  /// floor(order/2) + 1 points a direction, the first variable running fastest.
  /// dim = 1, 2, 3, 4; any order up to max_quadrature_order.
  const ReferenceRule &
  hypercube_rule(const unsigned int dim, const unsigned int order);
} // namespace Tessella

#endif

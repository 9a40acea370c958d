// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_quadrature_reference_quadrature_h
#define tessella_quadrature_reference_quadrature_h

#include <vector>

namespace Tessella
{
  /// Quadrature rule on a reference element, as plain arrays.
  struct ReferenceRule
  {
    unsigned int dim      = 0;
    unsigned int n_points = 0;
    /// Polynomial degree up to which the rule is exact (total degree on
    /// simplices, per variable on hypercubes).
    unsigned int        order = 0;
    std::vector<double> points; ///< points[d * n_points + q]
    /// Weights; their sum is 1 / dim! on the simplex, 1 on the hypercube.
    std::vector<double> weights;
  };

  /// Largest order that simplex_rule() and hypercube_rule() support.
  constexpr unsigned int max_quadrature_order = 64;

  /**
   * Rule on the unit simplex (vertex 0 at the origin, vertex d at the d-th unit
   * vector) that integrates polynomials of total degree @p order exactly, with
   * points inside and positive weights. Of all such rules in the library, the
   * one with the fewest points is returned. Any order up to
   * max_quadrature_order, dim = 1, 2, 3.
   *
   * On triangles and tetrahedra these are the symmetric rules that deal.II has
   * tabulated (triangles up to order 14, tetrahedra up to order 10 in 9.4) or,
   * where they have fewer points, rules on tetrahedra that belong to this
   * library, each checked with all monomials before it is used. For higher
   * orders they are conical products. The simplex is the image of (s, t), s in
   * the simplex of one dimension less, t in [0,1], under (s (1-t), t), which
   * has the Jacobian determinant (1-t)^(dim-1). The best rule for s and the
   * Gauss-Jacobi rule with that weight for t therefore yield a rule of the same
   * order with floor(order/2) + 1 times as many points.
   *
   * Rules are computed once and kept; several threads may call the function.
   */
  const ReferenceRule &
  simplex_rule(const unsigned int dim, const unsigned int order);

  /// Product of the rules on a simplex of dim - 1 variables and on [0,1], each
  /// exact to @p order; the simplex's points run fastest. dim = 2, 3, 4;
  /// weights sum to 1 / (dim - 1)!.
  const ReferenceRule &
  prism_rule(const unsigned int dim, const unsigned int order);

  /// Gauss rule on [0,1]^dim, exact for degree @p order in each variable:
  /// floor(order/2) + 1 points per direction, the first variable running
  /// fastest. dim = 1, 2, 3, 4; any order up to max_quadrature_order.
  const ReferenceRule &
  hypercube_rule(const unsigned int dim, const unsigned int order);
} // namespace Tessella

#endif

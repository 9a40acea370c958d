// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_grid_curved_quadrature_h
#define tessella_grid_curved_quadrature_h

namespace Tessella
{
  /**
   * Order of the rules on the reference cell, per variable on hypercubes and in
   * all on simplices, for curved cells and their faces. Functions are
   * polynomials in space, of degree m, so that with a mapping of degree k they
   * have degree k m on the reference cell.
   */
  enum class CurvedQuadrature
  {
    /**
     * Rules integrate polynomials of degree m in space exactly: k m + dim k - 1
     * on hypercubes, where dim k - 1 is the degree of the Jacobian determinant,
     * and k m + dim (k - 1) on simplices; on faces k m + (dim - 1) k and k m +
     * (dim - 1) (k - 1). If that needs more than 60 points a direction in 2-D
     * or 20 in 3-D (on simplices: a rule of order above 60 or 40), the rule of
     * that size is used.
     */
    exact,
    /**
     * The order of a cell that is not curved, with the degree of the
     * determinant: m + dim k - 1 (simplices: m + dim (k - 1)), but at least the
     * order with which the divergence theorem int dv/dx_i = int v n_i holds for
     * the basis functions v of degree p, p k + (dim - 1) k - 1 (simplices: p k
     * + (dim - 1) (k - 1)).
     *
     * On cells of size h that follow a smooth domain, derivatives of order j of
     * the map are of the order of h^j, so that on the reference cell the terms
     * of degree m + j of a polynomial of degree m in space are smaller than its
     * largest ones by a factor of the order of h^j. What the rule neglects is
     * therefore smaller by h^{dim k} than what it integrates, which does not
     * reduce rates of convergence (P. Ciarlet, The Finite Element Method for
     * Elliptic Problems, 1978, section 4.4). With the divergence theorem, a
     * conservation law in weak form keeps constant states and conserves its
     * quantities to rounding, as with exact rules. Integration by parts of
     * products of two functions holds up to that error only.
     */
    consistent
  };
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_grid_penalty_h
#define tessella_grid_penalty_h

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/polytopic_mesh.h>

namespace Tessella
{
  /// Formulas for the geometric factor of the interior penalty.
  enum class PenaltyFormula
  {
    /// Dong, Georgoulis, Kappas (2021), appendix A: min(|k| / sup|K^F|, C_cov)
    /// p^2 |F| / |k|.
    simplex,
    /// p^2 / (extent of the bounding box in the direction of the normal): a
    /// simpler formula, for comparison.
    bounding_box
  };

  /// Parameters of the penalty: sigma on a facet is constant * max over sides
  /// of (factor of that side * a-bar of that side).
  struct PenaltyParameters
  {
    /**
     * C_sigma. The default follows from the study in
     * parameter_files/penalty_constant_*.prm (tables in
     * doc/performance/penalty-constant.md). For the
     * formula simplex, SIPG matrices of Poisson's equation lose positive
     * definiteness below 1.35 at p = 1 and 0.75 at p >= 2 on single cells, 1.2
     * and 0.7 on agglomerates. A single layer of cells with Dirichlet
     * conditions on both sides needs 2 at p = 1. Above these values, errors
     * grow: at p = 1 nearly in proportion to the constant (4 to 6 times at 10,
     * compared with 1 to 2), at higher degrees on agglomerates 2 to 6 times.
     */
    double         constant = 2.5;
    PenaltyFormula formula  = PenaltyFormula::simplex;
  };

  /**
   * Fills PolytopicDoFs::penalty_factor of @p handler, once per formula and
   * degrees; further calls return at once.
   *
   * For facet F of polytope k with degree p (1 if p = 0) the factor of
   * PenaltyFormula::simplex is
   *   p^2 min( |F| / sup |K^F|, C_cov |F| / |k| ),
   * which is appendix A of Dong, Georgoulis and Kappas (SIAM J. Sci. Comput.
   * 43, 2021) with |k| cancelled from the first term.
   *
   * <b>sup |K^F|.</b> K^F is a simplex with facet F inside k; for a
   * quadrilateral F it is the pyramid on F. In both cases |F| / |K^F| = dim / h
   * with h the height of the apex above F's plane, so that the largest h is
   * needed. Along one direction d from the centroid of F the sets K(h) grow
   * with h. For each of the polytope's other facets, the smallest h at which
   * the facet meets the inside of K(h) follows from a small linear program,
   * which is solved exactly. The minimum of these h over all facets is the
   * largest K(h) inside k in that direction, however non-convex k may be. The
   * following directions are tried: the inner normal; to the farthest vertex
   * (simplex) or the centre of the adjacent sub-cell; to the centre of the
   * polytope's bounding box; to the polytope's vertex farthest from F's plane
   * (polytopes of up to 64 facets); and, while h is below 0.55 of the maximum
   * that the polytope's extent allows, a few directions 25 to 50 degrees off
   * the normal. The search ends when h reaches 0.75 of the polytope's extent
   * normal to F. The apex of a convex sub-cell is always admitted, so that h is
   * never below that of the adjacent sub-cell. Bilinear facets are approximated
   * by a plane (as base) or by the hull of their corners (as obstacle). Curved
   * facets are obstacles with their corners and with fixed points of the
   * mapping, and h is then reduced by a tenth. The points depend on the cell
   * and the degree of the mapping alone: handlers of the same degree on the
   * same polytopes have the same factors, whatever tables they have.
   *
   * <b>C_cov</b> = p^(2(dim-1)) for p-coverable polytopes, else infinite. The
   * test for coverability is sufficient and deliberately narrow: all sub-cells
   * (which cover k exactly) have at least half the diameter of k and at least
   * half its inradius (estimated from above by half the smallest extent of the
   * bounding box), and k has at most 2 dim facets. The number of facets enters
   * because the bound behind C_cov counts the whole polytope for every facet
   * and so grows with the number of facets, which the paper's constant hides.
   *
   * <b>Cost.</b> n log n for a polytope of n facets if needles K^F meet only a
   * small number of other facets; n^2 with a small constant up to 64 facets.
   * Polytopes, and the facets of very large polytopes, are distributed over
   * threads; the result does not depend on the number of threads.
   */
  template <int dim>
  void
  compute_penalty_factors(const AgglomerationHandler<dim> &handler,
                          const PenaltyFormula             formula);
} // namespace Tessella

#endif

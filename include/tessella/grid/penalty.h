// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_grid_penalty_h
#define tessella_grid_penalty_h

#include <tessella/grid/agglomeration_handler.h>

namespace Tessella
{
  /// Formulas for the geometric factor of the interior penalty.
  enum class PenaltyFormula
  {
    /// Dong, Georgoulis, Kappas (2021), appendix A: min(|k| / sup|K^F|, C_cov)
    /// p^2 |F| / |k|.
    simplex,
    /// p^2 / (extent of the bounding box in direction of the normal): simpler,
    /// for comparison.
    bounding_box
  };

  /// Penalty: sigma on a facet is constant * max over sides of (factor of that
  /// side * a-bar of that side).
  struct PenaltyParameters
  {
    double constant = 10.; ///< C_sigma (the default is settled by the study in
                           ///< parameter_files/)
    PenaltyFormula formula = PenaltyFormula::simplex;
  };

  /**
   * Fills PolytopicMesh::penalty_factor of @p handler's flat view (once per
   * formula and degrees; later calls return at once).
   */
  template <int dim>
  void
  compute_penalty_factors(const AgglomerationHandler<dim> &handler,
                          const PenaltyFormula             formula);
} // namespace Tessella

#endif

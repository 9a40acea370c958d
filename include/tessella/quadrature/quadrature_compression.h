// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_quadrature_quadrature_compression_h
#define tessella_quadrature_quadrature_compression_h

#include <cstddef>
#include <string>

namespace Tessella
{
  /**
   * Whether assembly replaces the quadrature points of the sub-cells of a
   * polytope by a compressed rule: a subset of these points with other,
   * positive weights that integrates the same polynomials over the polytope.
   * The number of points then depends on the degree, and no longer on the
   * number of sub-cells. Results differ from those of the full rule by rounding
   * if coefficients are polynomials of the order that the form states, and by
   * the error of the quadrature otherwise.
   */
  enum class QuadratureCompression
  {
    never,
    /// The first assembly makes the rules.
    always,
    /// The third assembly of a form of the same order on the same mesh makes
    /// the rules, so that a mesh that changes often does not pay for them.
    automatic
  };

  /// Name for parameters: "never", "always", "automatic".
  std::string
  name(const QuadratureCompression compression);

  /// Points, errors and time of the compressed rules of the last assembly.
  struct CompressionReport
  {
    /// Polytopes with a compressed rule; polytopes that keep their full rule
    /// because no rule with sufficiently few points exists or because it could
    /// not be found to rounding.
    std::size_t n_compressed = 0, n_full = 0;
    /// Number of points of the sub-cells of all polytopes without and with
    /// compression.
    std::size_t n_full_points = 0, n_points = 0;
    /// Largest difference between the integrals of a product of Chebyshev
    /// polynomials on the bounding box by the compressed and by the full rule,
    /// relative to the volume.
    double largest_error = 0.;
    /// Seconds.
    double time = 0.;
  };
} // namespace Tessella

#endif

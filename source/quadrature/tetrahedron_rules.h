// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_quadrature_tetrahedron_rules_h
#define tessella_source_quadrature_tetrahedron_rules_h

#include <array>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /// A quadrature rule on the unit tetrahedron; weights sum up to 1/6.
    struct TetrahedronRule
    {
      std::vector<std::array<double, 3>> points;
      std::vector<double>                weights;
    };

    /**
     * Rules that have fewer points than those of deal.II, or a higher order
     * than the highest of deal.II. They were computed for this library by node
     * elimination (H. Xiao, Z. Gimbutas, Comput. Math. Appl. 59 (2010)): the
     * moment equations are solved by damped Gauss-Newton steps of least norm,
     * the point that matters least is dropped, and both steps are repeated; the
     * last solve uses extended precision. The rules are invariant under the
     * three half turns of the tetrahedron. This symmetry leaves a quarter of
     * the equations and adds hardly any points: order 12 has 120 points,
     * compared with 117 for the published rule with the fewest points and 231
     * for a conical product.
     */
    std::vector<TetrahedronRule>
    tetrahedron_rules();
  } // namespace internal
} // namespace Tessella

#endif

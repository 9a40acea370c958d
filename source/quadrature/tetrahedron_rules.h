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
     * Rules with fewer points than deal.II's tables have, or where those end.
     * They were computed for this library by node elimination (H. Xiao, Z.
     * Gimbutas, Comput. Math. Appl. 59 (2010)): the moment equations are solved
     * by damped Gauss-Newton steps of least norm, the point that matters least
     * is dropped, and so on; the last solve in extended precision. Rules are
     * invariant under the three half turns of the tetrahedron, which leaves a
     * quarter of the equations and costs hardly any points (120 at order 12,
     * where the leanest published rule has 117, and a conical product 231).
     */
    std::vector<TetrahedronRule>
    tetrahedron_rules();
  } // namespace internal
} // namespace Tessella

#endif

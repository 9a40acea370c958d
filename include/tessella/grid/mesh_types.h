// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_grid_mesh_types_h
#define tessella_grid_mesh_types_h

#include <cstdint>

// Types of the flat view that device code needs, too; compiled at run time as
// well (NVRTC), so that no other header of the standard library may stand here.

namespace Tessella
{
  /// How a sub-cell stores its shape, and hence how quadrature points on it are
  /// made.
  enum class SubCellType : std::uint8_t
  {
    simplex,        ///< dim + 1 vertices, affine
    parallelepiped, ///< 2^dim vertices, affine image of the unit hypercube
                    ///< (only the first and its dim edges are needed)
    hypercube, ///< 2^dim vertices in deal.II's lexicographic order, multilinear
               ///< image of the unit hypercube; vertices may coincide, which
               ///< makes it a wedge (0 1 2 2 3 4 5 5) or a pyramid (0 1 2 3 4
               ///< 4 4 4)
    tabulated, ///< curved: points and weights are stored
    prism ///< product of a simplex in all variables but the last one and an
          ///< interval in that: the simplex's dim vertices at the lower end,
          ///< and its first vertex at the upper end; affine
  };

  /// How a facet stores its shape.
  enum class FacetType : std::uint8_t
  {
    simplex,       ///< dim vertices (segment, triangle), planar
    quadrilateral, ///< 3-D: four vertices in lexicographic order, bilinear; the
                   ///< normal may vary; in 4 variables eight, trilinear
    tabulated,     ///< points, weights and a normal per point are stored
    prism ///< as of sub-cells: a simplex's dim - 1 vertices at the lower end of
          ///< an interval in the last variable, and the first one at its upper
          ///< end
  };

  /// Index that stands for "none": the second side of a boundary interface, for
  /// example.
  constexpr unsigned int invalid_index = static_cast<unsigned int>(-1);
} // namespace Tessella

#endif

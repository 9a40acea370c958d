// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_grid_mesh_types_h
#define tessella_grid_mesh_types_h

#include <cstdint>

// Types of the flat view that device code needs, too. They are also compiled at
// run time (NVRTC), so that this file must not include any other header of the
// standard library.

namespace Tessella
{
  /// Type of geometry that a sub-cell stores; it determines how quadrature
  /// points are computed.
  enum class SubCellType : std::uint8_t
  {
    simplex,        ///< dim + 1 vertices, affine
    parallelepiped, ///< 2^dim vertices, affine image of the unit hypercube;
                    ///< only the first vertex and its dim edges are needed
    hypercube, ///< 2^dim vertices in deal.II's lexicographic order, multilinear
               ///< image of the unit hypercube; coinciding vertices make it a
               ///< wedge (0 1 2 2 3 4 5 5) or a pyramid (0 1 2 3 4 4 4 4)
    tabulated, ///< curved: points and weights are stored
    prism ///< product of a simplex in all variables but the last one and an
          ///< interval in the last one; affine. Its vertices are the simplex's
          ///< dim vertices at the lower end and the first of them at the upper
          ///< end
  };

  /// Type of geometry that a facet stores.
  enum class FacetType : std::uint8_t
  {
    simplex,       ///< dim vertices (segment, triangle), planar
    quadrilateral, ///< 3-D: four vertices in lexicographic order, bilinear; the
                   ///< normal may vary. 4 variables: eight vertices, trilinear
    tabulated,     ///< points, weights and a normal per point are stored
    prism ///< as for sub-cells: the simplex's dim - 1 vertices at the lower end
          ///< of an interval in the last variable, and the first of them at the
          ///< upper end
  };

  /// Index that means "none", for example for the second side of a boundary
  /// interface.
  constexpr unsigned int invalid_index = static_cast<unsigned int>(-1);
} // namespace Tessella

#endif

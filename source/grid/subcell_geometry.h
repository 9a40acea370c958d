// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_subcell_geometry_h
#define tessella_source_grid_subcell_geometry_h

#include <tessella/grid/mesh_types.h>

namespace Tessella
{
  namespace internal
  {
    /// Type and measure of a sub-cell.
    struct SubCellGeometry
    {
      SubCellType type;
      double      measure;
      bool        valid; ///< false if it has no volume or is turned inside out
    };

    /// Analyses the corners @p v of a simplex or a multilinear hypercube. A
    /// simplex of the opposite orientation is reordered, which changes only the
    /// sign of its determinant.
    template <int dim>
    SubCellGeometry
    analyse_subcell(const bool is_simplex, double *v);

    /// Mean unit normal and area of a facet with vertices @p v.
    template <int dim>
    void
    facet_geometry(const unsigned int n_vertices,
                   const double      *v,
                   double            *normal,
                   double            &measure);
  } // namespace internal
} // namespace Tessella

#endif

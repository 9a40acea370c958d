// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_point_data_h
#define tessella_forms_point_data_h

#include <tessella/grid/mesh_types.h>
#include <tessella/portable/host_device.h>

// Arguments and results of a user's coefficients, in plain types for host and
// device. This file uses neither deal.II nor the standard library, since it is
// compiled at run time as well (NVRTC).

namespace Tessella
{
  /// Maximum number of discrete fields of a form.
  constexpr int max_fields = 4;
  /// Maximum number of arrays of a form with a value for each sub-cell.
  constexpr int max_cell_values = 16;

  /**
   * Data on which a coefficient may depend at one quadrature point.
   *
   * On facets between two polytopes, coefficients are evaluated once for each
   * side: sub-cell, material and discrete fields are those of that side. At
   * periodic boundaries x is the point in the coordinates of that side.
   */
  template <int dim>
  struct PointData
  {
    double x[dim];
    /// Time, as set by DeviceForm::set_time().
    double t;
    /// Unit normal out of the polytope whose rows are computed; zero inside
    /// polytopes.
    double normal[dim];
    /// On facets: 0 for coefficients on the side of that polytope, 1 for those
    /// on the neighbour's side. Inside polytopes: 0.
    unsigned int side;
    /// Index of the sub-cell into the arrays of PolytopicMesh, and deal.II's
    /// material id of its cell.
    unsigned int subcell, material;
    /// Boundary id on the boundary; invalid_index elsewhere.
    unsigned int boundary_id;
    /// Values and gradients of discrete fields, in the order in which they were
    /// added to the form; further entries are not set.
    double value[max_fields];
    double gradient[max_fields][dim];
    /// Values of the sub-cell, in the order in which the arrays were added to
    /// the form; further entries are not set.
    double cell_value[max_cell_values];
  };

  namespace internal
  {
    /// An array with access to its entries, for host and device.
    template <typename T, int n>
    struct PointArray
    {
      T entry[n];

      TESSELLA_HOST_DEVICE T &
      operator[](const int i)
      {
        return entry[i];
      }
      TESSELLA_HOST_DEVICE const T &
      operator[](const int i) const
      {
        return entry[i];
      }
    };
  } // namespace internal

  /// Vector as a coefficient: advection.
  template <int dim>
  struct PointVector : public internal::PointArray<double, dim>
  {};

  /// Full tensor as a coefficient: diffusion, a[i][j] in row i.
  template <int dim>
  struct PointTensor : public internal::PointArray<double[dim], dim>
  {};

  /// Diagonal tensor as a coefficient: diffusion.
  template <int dim>
  struct DiagonalPointTensor : public internal::PointArray<double, dim>
  {};

  /// Terms at a point of a facet between two polytopes, with test functions of
  /// the own side. As in FacetBlocks, index 0 stands for the own trial
  /// functions, 1 for those of the neighbour.
  template <int dim>
  struct InteriorFacetTerms
  {
    double b[2][dim], beta[2][dim], c[2];
  };

  /// Terms at a point of the boundary, as in FacetBlocks.
  template <int dim>
  struct BoundaryFacetTerms
  {
    double b[dim], beta[dim], c;
    double r, s[dim]; ///< right-hand side
  };

  /// Condition on the part of the boundary with one boundary id.
  enum class BoundaryType
  {
    dirichlet, ///< u = g
    neumann,   ///< n . a grad u = g; b . n < 0 on this part is an error
    robin      ///< n . a grad u + alpha u = g
  };
} // namespace Tessella

#endif

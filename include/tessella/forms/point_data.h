// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_point_data_h
#define tessella_forms_point_data_h

#include <tessella/grid/mesh_types.h>
#include <tessella/portable/host_device.h>

// What a user's coefficients receive and return, in plain types for host and
// device: no deal.II and, as it is compiled at run time as well (NVRTC), no
// standard library.

namespace Tessella
{
  /// Discrete fields that a form may use at once.
  constexpr int max_fields = 4;
  /// Arrays with a value for each sub-cell that a form may use at once.
  constexpr int max_cell_values = 16;

  /**
   * Everything that a coefficient may depend on, at one quadrature point.
   *
   * On facets between two polytopes coefficients are evaluated once for each
   * side: sub-cell, material and discrete fields are those of that side. At
   * periodic boundaries x is the point as that side sees it.
   */
  template <int dim>
  struct PointData
  {
    double x[dim];
    /// Time, as DeviceForm::set_time() says.
    double t;
    /// Unit normal out of the polytope whose rows are computed; zero inside
    /// polytopes.
    double normal[dim];
    /// On facets: 0 for the coefficients of that polytope, 1 for those of its
    /// neighbour; 0 inside.
    unsigned int side;
    /// Index of the sub-cell into the arrays of PolytopicMesh, and deal.II's
    /// material id of its cell.
    unsigned int subcell, material;
    /// invalid_index except on the boundary.
    unsigned int boundary_id;
    /// Values and gradients of discrete fields, in the order in which they were
    /// given to the form; others are not set.
    double value[max_fields];
    double gradient[max_fields][dim];
    /// Values of the sub-cell, in the order in which the arrays were given to
    /// the form; others are not set.
    double cell_value[max_cell_values];
  };

  /// A vector as a coefficient: advection.
  template <int dim>
  struct PointVector
  {
    double entry[dim];

    TESSELLA_HOST_DEVICE double &
    operator[](const int i)
    {
      return entry[i];
    }
    TESSELLA_HOST_DEVICE double
    operator[](const int i) const
    {
      return entry[i];
    }
  };

  /// A full tensor as a coefficient: diffusion, a[i][j] in row i.
  template <int dim>
  struct PointTensor
  {
    double entry[dim][dim];

    TESSELLA_HOST_DEVICE double *
    operator[](const int i)
    {
      return entry[i];
    }
    TESSELLA_HOST_DEVICE const double *
    operator[](const int i) const
    {
      return entry[i];
    }
  };

  /// The diagonal of a tensor that has nothing else.
  template <int dim>
  struct DiagonalPointTensor
  {
    double entry[dim];

    TESSELLA_HOST_DEVICE double &
    operator[](const int i)
    {
      return entry[i];
    }
    TESSELLA_HOST_DEVICE double
    operator[](const int i) const
    {
      return entry[i];
    }
  };

  /// Terms at a point of a facet between two polytopes, with test functions of
  /// the own side: as FacetBlocks, index 0 for the own trial functions, 1 for
  /// those of the neighbour.
  template <int dim>
  struct InteriorFacetTerms
  {
    double b[2][dim], beta[2][dim], c[2];
  };

  /// Terms at a point of the boundary, as FacetBlocks.
  template <int dim>
  struct BoundaryFacetTerms
  {
    double b[dim], beta[dim], c;
    double r, s[dim]; ///< right-hand side
  };

  /// What holds on the part of the boundary with one boundary id.
  enum class BoundaryType
  {
    dirichlet, ///< u = g
    neumann,   ///< n . a grad u = g; b . n < 0 there is an error
    robin      ///< n . a grad u + alpha u = g
  };
} // namespace Tessella

#endif

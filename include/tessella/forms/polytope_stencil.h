// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_polytope_stencil_h
#define tessella_forms_polytope_stencil_h

#include <tessella/grid/mesh_types.h>
#include <tessella/portable/host_device.h>

#ifndef __CUDACC_RTC__
#  include <cmath>
#endif

// Arguments of the functors of PolytopewiseOperator, in plain types for host
// and device. This file uses neither deal.II nor the standard library.

namespace Tessella
{
  /// Interface of a polytope with a neighbour, or its part of the boundary with
  /// one boundary id.
  template <int dim>
  struct StencilInterface
  {
    /// Index of the neighbour in the flat view; invalid_index on the boundary.
    unsigned int neighbor;
    /// Boundary id; invalid_index between polytopes.
    unsigned int boundary_id;
    /// Length or area of the interface.
    double measure;
    /// Centroid of the interface; at periodic boundaries in the coordinates of
    /// the own polytope.
    double centroid[dim];
    /// Volume and centroid of the neighbour, the latter moved by the shift of a
    /// periodic boundary; not set on the boundary.
    double neighbor_measure, neighbor_centroid[dim];
  };

  /**
   * A polytope, the discrete function on it, and the mean values of that
   * function on the neighbours: what the functor of a PolytopewiseOperator may
   * use.
   *
   * Basis functions are those of FE_BoundingBoxLegendre. They are orthonormal
   * on the bounding box but not on the polytope, so that the mean value of a
   * function on the polytope depends on all coefficients; see basis_mean.
   */
  template <int dim>
  struct PolytopeStencil
  {
    /// Index in the flat view of this process.
    unsigned int polytope;
    unsigned int n_components, degree;
    /// Number of scalar basis functions.
    unsigned int n_basis;
    /// Lower and upper corner of the bounding box, 2 dim values.
    const double *box;
    /// Volume of the polytope and measure of its whole boundary.
    double measure, surface;
    /// dim values.
    const double *centroid;
    /// Mean values of the basis functions over the polytope.
    const double *basis_mean;
    /// Gradients of the L2 projections of the basis functions onto the linear
    /// functions on the polytope, dim values each.
    const double *basis_slope;
    /// Index of the basis function that is linear in x_d and constant in the
    /// other variables. Not set for degree 0.
    unsigned int linear[dim];
    /// Coefficients of the function: entry c n_basis + i.
    const double *coefficients;
    /// Mean values of all polytopes of the flat view: entry k n_components + c.
    const double *means;

    /// Interfaces with neighbours in the order of the flat view, then those on
    /// the boundary.
    unsigned int                 n_interfaces;
    const StencilInterface<dim> *interfaces;

    /// Quadrature points of the polytope and of its facets, and the values of
    /// the function there: value[c n_points + q]. Not set unless the functor
    /// has the member point_values = true.
    unsigned int  n_points;
    const double *x[dim];
    const double *values;

    /// Mean value of component @p c on the polytope.
    TESSELLA_HOST_DEVICE double
    mean(const unsigned int c) const
    {
      return means[polytope * n_components + c];
    }
    /// The same on the neighbour behind interface @p j.
    TESSELLA_HOST_DEVICE double
    neighbor_mean(const unsigned int j, const unsigned int c) const
    {
      return means[interfaces[j].neighbor * n_components + c];
    }
    TESSELLA_HOST_DEVICE bool
    at_boundary(const unsigned int j) const
    {
      return interfaces[j].neighbor == invalid_index;
    }
    TESSELLA_HOST_DEVICE double
    value(const unsigned int q, const unsigned int c) const
    {
      return values[c * n_points + q];
    }
    /// Gradient of the L2 projection of component @p c onto the linear
    /// functions on the polytope.
    TESSELLA_HOST_DEVICE void
    slope(const unsigned int c, double *gradient) const
    {
      for (int d = 0; d < dim; ++d)
        gradient[d] = 0.;
      for (unsigned int i = 0; i < n_basis; ++i)
        for (int d = 0; d < dim; ++d)
          gradient[d] +=
            coefficients[c * n_basis + i] * basis_slope[i * dim + d];
    }
    /// Square root of the volume of the bounding box: the coefficient of the
    /// constant one.
    TESSELLA_HOST_DEVICE double
    unit() const
    {
      double volume = 1.;
      for (int d = 0; d < dim; ++d)
        volume *= box[dim + d] - box[d];
      return sqrt(volume);
    }

    // ---- results; @p u are the coefficients of the result
    /// Replaces component @p c by mean + factor (u - mean).
    TESSELLA_HOST_DEVICE void
    scale_towards_mean(const unsigned int c,
                       const double       factor,
                       double            *u) const
    {
      for (unsigned int i = 0; i < n_basis; ++i)
        u[c * n_basis + i] *= factor;
      u[c * n_basis] += (1. - factor) * mean(c) * unit();
    }
    /// Sets component @p c to the linear function with the present mean and
    /// gradient @p gradient.
    TESSELLA_HOST_DEVICE void
    set_linear(const unsigned int c, const double *gradient, double *u) const
    {
      for (unsigned int i = 0; i < n_basis; ++i)
        u[c * n_basis + i] = 0.;
      double       center = mean(c);
      const double root_3 = 1.7320508075688772935, one = unit();
      for (int d = 0; d < dim; ++d)
        {
          const double lower = box[d], upper = box[dim + d];
          center += gradient[d] * (0.5 * (lower + upper) - centroid[d]);
          u[c * n_basis + linear[d]] =
            gradient[d] * (upper - lower) / (2. * root_3) * one;
        }
      u[c * n_basis] = center * one;
    }
  };



  namespace internal
  {
    template <typename F>
    TESSELLA_HOST_DEVICE constexpr auto
    point_values_of(int) -> decltype(F::point_values)
    {
      return F::point_values;
    }
    template <typename F>
    TESSELLA_HOST_DEVICE constexpr bool
    point_values_of(...)
    {
      return false;
    }
  } // namespace internal

  /**
   * Members of the functor @p F of a PolytopewiseOperator, with their defaults.
   *
   *     struct Limiter
   *     {
   *       static constexpr bool point_values = true; // default: false
   *
   *       template <int dim>
   *       TESSELLA_HOST_DEVICE double
   *       operator()(const PolytopeStencil<dim> &s, double *u) const
   *       {
   *         // changes the coefficients u, in the order of s.coefficients,
   *         // which they equal when the function is called
   *         return 1.; // one number for the caller, see apply()
   *       }
   *     };
   *
   * Calls for different polytopes run at the same time: functors write to @p u
   * only. They are copied to the device bit by bit: their data must be plain.
   */
  template <typename F>
  struct PolytopewiseTraits
  {
    /// Whether PolytopeStencil::x and values are set.
    static constexpr bool point_values = internal::point_values_of<F>(0);
  };
} // namespace Tessella

#endif

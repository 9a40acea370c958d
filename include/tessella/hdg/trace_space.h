// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_hdg_trace_space_h
#define tessella_hdg_trace_space_h

#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>

#include <cstdint>
#include <vector>

namespace Tessella
{
  /// Sets on which the polynomials of a trace space are defined.
  enum class TraceSpaceType
  {
    /// Every facet has its own polynomials: the classical spaces. The number of
    /// functions is that of facets times that of polynomials in dim - 1
    /// variables.
    facet,
    /// Every interface (all that two polytopes share, or a polytope and a
    /// boundary id) has its own polynomials: polynomials in dim variables
    /// restricted to it, however many facets it has. On a planar interface
    /// these are the polynomials in dim - 1 variables; on a bent one there are
    /// up to as many as in dim variables.
    interface
  };

  /**
   * Bases of trace spaces on the interfaces of a polytopic mesh as plain
   * arrays, in addition to the flat view.
   *
   * The functions on an interface are numbered 0 .. n_functions[i]-1, patch by
   * patch. A patch is a set with its own polynomials: a facet, or the whole
   * interface (TraceSpaceType). Degrees are the larger one of the two
   * polytopes; with tensor-product elements polynomials are of that degree in
   * each variable, else in all together.
   *
   * <b>Construction.</b> Generators are products of Legendre polynomials in a
   * box around the patch whose last axis is the mean normal. With
   * tensor-product elements the axes are those of space, since these spaces are
   * not the same in other axes. The generators' values at quadrature points
   * times the square roots of the weights are orthonormalised by Gram-Schmidt
   * with column pivoting, each function twice. Generators whose remainder is
   * below 1e-8 of the largest norm depend on the others on the patch and are
   * dropped. The result is a basis, orthonormal in L2 of the patch, as
   * coefficients of generators. Patches without area have no functions.
   *
   * Points are given in the coordinates of side 0 of the interface.
   *
   * <b>Cost.</b> Per patch with n generators and q points 2 n^2 q operations
   * (almost nothing on a single straight edge, where the result is known); 8
   * bytes for each coefficient that can be non-zero.
   */
  template <int dim>
  struct TraceSpace
  {
    TraceSpaceType type           = TraceSpaceType::interface;
    bool           tensor_product = false;

    // ---- interfaces
    /// Number of functions on each interface.
    std::vector<unsigned int> n_functions;
    /// Patches of interface i are patch_offset[i] .. patch_offset[i+1].
    std::vector<unsigned int> patch_offset;

    // ---- patches
    /// Facets of patch p are facet_offset[p] .. facet_offset[p+1].
    std::vector<unsigned int> facet_offset;
    /// Index of the patch's first function within the interface, and number of
    /// the patch's functions.
    std::vector<unsigned int>  first_function;
    std::vector<unsigned int>  n_patch_functions;
    std::vector<unsigned char> degree;
    /// Coordinate system, dim * dim + 2 dim values per patch: axes (row d is
    /// axis d), centre in these axes, reciprocals of half the extents (0 if
    /// there is no extent and the coordinate is not used).
    std::vector<double> frame;
    /// Coefficients of patch p begin at coefficient_offset[p]: for each
    /// function, one coefficient per generator, in the order of
    /// Legendre::exponents().
    std::vector<std::uint64_t> coefficient_offset;
    std::vector<double>        coefficients;

    /**
     * Computes bases for the degrees of @p dofs, less @p reduction.
     * @p order[p] is the order of quadrature for degree p, at least 2 (the
     * degree in space); tabulated facets have their own points. Uses threads;
     * the result does not depend on their number.
     */
    void
    reinit(const PolytopicMesh<dim>        &mesh,
           const PolytopicDoFs             &dofs,
           const TraceSpaceType             type,
           const bool                       tensor_product,
           const std::vector<unsigned int> &order,
           const unsigned int               reduction = 0);

    /**
     * Values of the functions of @p patch: values[m * stride + q] at the points
     * x[d][q] (in the coordinates of side 0), q < n_points. @p scratch is
     * resized.
     */
    void
    evaluate(const unsigned int   patch,
             const double *const *x,
             const unsigned int   n_points,
             double              *values,
             const unsigned int   stride,
             std::vector<double> &scratch) const;
  };
} // namespace Tessella

#endif

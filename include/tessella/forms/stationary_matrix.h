// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_stationary_matrix_h
#define tessella_forms_stationary_matrix_h

namespace Tessella
{
  /**
   * A Form on space-time slabs may also derive from this class, to declare that
   * the coefficients of its matrix, on the boundary and elsewhere, do not
   * depend on the last variable, time. A CUDA device then computes matrices in
   * space; the matrices of slabs are sums of products of these with small
   * matrices in time. This needs the quadrature points of one time only.
   *
   * Time may enter the form only as a positive coefficient of d/dt, that is, as
   * an entry b of the volume with the corresponding term on the bottom of a
   * slab. All other entries of a, beta and b in the direction of time must be
   * zero.
   */
  class StationaryMatrix
  {
  public:
    virtual ~StationaryMatrix() = default;

    /// Whether the matrix is stationary at present. False is always correct.
    virtual bool
    matrix_is_stationary() const = 0;
  };
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_stationary_matrix_h
#define tessella_forms_stationary_matrix_h

namespace Tessella
{
  /**
   * A Form on space-time slabs may derive from this class, too, to say that its
   * matrix has coefficients, on the boundary and elsewhere, that do not depend
   * on the last variable, time. A CUDA device then computes matrices in space,
   * of which those of slabs are sums of products with small ones in time: it
   * needs the quadrature points of one time only.
   *
   * Time itself may be in the form as a positive coefficient of d/dt, an entry
   * b of the volume with what that has on the bottom of a slab, and not
   * otherwise: no other entry of a, beta and b is of time.
   */
  class StationaryMatrix
  {
  public:
    virtual ~StationaryMatrix() = default;

    /// Whether it is so now. False is always right.
    virtual bool
    matrix_is_stationary() const = 0;
  };
} // namespace Tessella

#endif

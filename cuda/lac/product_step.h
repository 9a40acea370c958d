// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_product_step_h
#define tessella_cuda_lac_product_step_h

#include "blocks.h"

// Product with a matrix and step of a polynomial by one kernel, in plain types.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// r = b - A y, followed by a PolynomialStep with this r.
      template <typename Number>
      struct ProductStep
      {
        const Number *values; ///< of A
        /// The old direction d, unless step.alpha is 0.
        const Number *y;
        const Number *b; ///< may be r
        Number       *r;
        /// Its members r and transpose are not read; d and x must be other
        /// arrays than y.
        PolynomialStep<Number> step;
        /// Whether x is left as it is, so that y may be x.
        bool keep = false;
        /// If it is not 0, x is incremented by it times the old direction
        /// first: the part of a step that kept x.
        Number earlier_weight = 0;
      };

      /// Whether product_step() serves such a matrix on one process.
      template <typename Number>
      bool
      has_product_step(const BlockRows &rows);

      /**
       * One kernel in place of two; small matrices take as long as the start of
       * a kernel. Results have the bits of the product of BlockMatrix followed
       * by Blocks::polynomial_step(). All pointers are to device memory, and
       * the operation runs in the present stream.
       */
      template <typename Number>
      void
      product_step(const BlockRows &rows, const ProductStep<Number> &product);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

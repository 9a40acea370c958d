// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_polynomial_entry_h
#define tessella_cuda_lac_polynomial_entry_h

#include "blocks.h"

// Entries of steps of a polynomial, for kernels that have to agree in every
// bit.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Entry @p i of D_k^{-1} x; blocks are stored column by column.
      template <typename Number>
      __device__ inline Number
      diagonal_entry(const Number *__restrict__ block,
                     const unsigned int n,
                     const unsigned int i,
                     const bool         transpose,
                     const Number *__restrict__ x)
      {
        const unsigned int step = transpose ? 1 : n;
        const Number      *p    = block + (transpose ? i * n : i);
        Number             sum  = 0;
#pragma unroll 4
        for (unsigned int j = 0; j < n; ++j, p += step)
          sum = fma(*p, x[j], sum);
        return sum;
      }

      /// Factor beta of a step.
      template <typename Number>
      __device__ inline Number
      factor_of(const PolynomialStep<Number> &step)
      {
        return step.divisor == nullptr
                 ? step.beta
                 : static_cast<Number>(step.factor / *step.divisor);
      }

      /// alpha @p old + beta @p entry, where @p entry is one of D^{-1} r.
      template <typename Number>
      __device__ inline Number
      new_direction(const Number alpha,
                    const Number old,
                    const Number beta,
                    const Number entry)
      {
        return alpha != 0 ? fma(alpha, old, beta * entry) : beta * entry;
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_vector_h
#define tessella_cuda_lac_vector_h

#include <cstddef>

#include "reproducible_sum.h"

// Vector operations in the memory of a CUDA device, in plain types. All
// pointers are to device memory unless stated otherwise, and all operations run
// in the default stream, in the order of the calls.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Allocates uninitialised memory for @p n values; null if @p n is zero.
      template <typename Number>
      Number *
      allocate(const std::size_t n);

      /// Frees memory. Errors are ignored: at the end of a program the runtime
      /// may be gone.
      void
      release(void *memory) noexcept;

      /// Waits for all operations in the default stream, before work in other
      /// streams on the same memory.
      void
      synchronize();

      /// Copies from host memory at @p from; returns when @p from may change.
      template <typename Number>
      void
      upload(Number *to, const Number *from, const std::size_t n);

      /// Copies to host memory at @p to; returns when the values have arrived.
      template <typename Number>
      void
      download(Number *to, const Number *from, const std::size_t n);

      /// Copies, with rounding if the types differ.
      template <typename To, typename From>
      void
      copy(To *to, const From *from, const std::size_t n);

      /// y = a.
      template <typename Number>
      void
      set(Number *y, const std::size_t n, const Number a);

      /// y = s y + a x + b w. Null pointers are left out of the sum; y is not
      /// read if s = 0.
      template <typename Number>
      void
      combine(Number           *y,
              const std::size_t n,
              const Number      s,
              const Number      a,
              const Number     *x,
              const Number      b,
              const Number     *w);

      /// y += a.
      template <typename Number>
      void
      shift(Number *y, const std::size_t n, const Number a);

      /// y_i *= x_i.
      template <typename Number>
      void
      multiply(Number *y, const Number *x, const std::size_t n);

      // Reductions return when the result is on the host. Products and sums are
      // in double precision and independent of the order of summation.

      /// Sum of x_i y_i.
      template <typename Number>
      ReproducibleSum
      dot(const Number *x, const Number *y, const std::size_t n);

      /// y += a x, then the sum of y_i w_i; w may be y.
      template <typename Number>
      ReproducibleSum
      add_and_dot(Number           *y,
                  const Number      a,
                  const Number     *x,
                  const Number     *w,
                  const std::size_t n);

      /// Sum of x_i.
      template <typename Number>
      ReproducibleSum
      sum(const Number *x, const std::size_t n);

      /// Sum of |x_i|.
      template <typename Number>
      ReproducibleSum
      absolute_sum(const Number *x, const std::size_t n);

      /// Largest |x_i|.
      template <typename Number>
      double
      absolute_maximum(const Number *x, const std::size_t n);

      /// Whether x_i = y_i for all i, with y = 0 if @p y is null; false if an
      /// entry is NaN.
      template <typename Number>
      bool
      equal(const Number *x, const Number *y, const std::size_t n);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_vector_h
#define tessella_cuda_lac_vector_h

#include <cstddef>

#include "reproducible_sum.h"

// Vector operations in the memory of a CUDA device, in plain types. All
// pointers are to device memory unless stated otherwise, and all operations run
// in the present stream (graph.h), in the order of the calls.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      // ---- memory, in bytes or in values

      /// Allocates uninitialised memory; null if @p n is zero.
      void *
      allocate_bytes(const std::size_t n);
      template <typename T>
      T *
      allocate(const std::size_t n)
      {
        return static_cast<T *>(allocate_bytes(n * sizeof(T)));
      }

      /// Frees memory. Errors are ignored: at the end of a program the runtime
      /// may be gone.
      void
      release(void *memory) noexcept;

      /// Copies from host memory at @p from; returns when @p from may change.
      void
      upload_bytes(void *to, const void *from, const std::size_t n);
      template <typename T>
      void
      upload(T *to, const T *from, const std::size_t n)
      {
        upload_bytes(to, from, n * sizeof(T));
      }

      /// Copies to host memory at @p to; returns when the values have arrived.
      void
      download_bytes(void *to, const void *from, const std::size_t n);

      /// Waits for all operations in the default stream, before work in other
      /// streams on the same memory.
      void
      synchronize();

      // ---- sums that stay on the device

      /// Factor that follows from a sum s and an earlier one, e.
      enum class SumFactor : unsigned char
      {
        none,
        quotient,            ///< s / e
        negative_reciprocal, ///< -(e / s)
        inverse_root,        ///< 1 / sqrt(s)
        /// e / s if s is positive and the quotient finite, otherwise zero.
        step_length
      };

      /// Largest number of values of a sum that stays on the device.
      constexpr std::size_t max_n_on_device = std::size_t(1) << 31;

      /// Bytes of work memory of a sum that stays on the device.
      constexpr std::size_t n_sum_bytes = 256 + 512 * sizeof(DigitSums);

      /// Place of a sum in device memory.
      struct SumOnDevice
      {
        double       *value;
        SumFactor     kind    = SumFactor::none;
        const double *earlier = nullptr;
        double       *factor  = nullptr;
        /// Work memory of n_sum_bytes, which must be zero before the first sum;
        /// sums in different streams need different memory.
        void *memory = nullptr;
        /// Two numbers in pinned memory of the host, if not null, to which the
        /// value and the factor, or zero without one, are written as well.
        double *on_host = nullptr;
      };

      /// Operations on @p n values. Null pointers are left out of sums.
      template <typename Number>
      struct VectorOperations
      {
        /// Copies to host memory; returns when the values have arrived.
        static void
        download(const std::size_t n, const Number *from, Number *to)
        {
          download_bytes(to, from, n * sizeof(Number));
        }

        /// Copies, with rounding if the types differ.
        template <typename From>
        static void
        copy(const std::size_t n, const From *from, Number *to);

        /// y = a.
        static void
        set(const std::size_t n, const Number a, Number *y);
        static void
        set_zero(const std::size_t n, Number *y)
        {
          set(n, 0, y);
        }

        /// y = s y + a x + b w; y is not read if s = 0.
        static void
        combine(const std::size_t n,
                const Number      s,
                const Number      a,
                const Number     *x,
                const Number      b,
                const Number     *w,
                Number           *y);
        /// y += a x.
        static void
        add(const std::size_t n, const Number a, const Number *x, Number *y)
        {
          combine(n, 1, a, x, 0, nullptr, y);
        }
        /// y = s y + x.
        static void
        scale_add(const std::size_t n,
                  const Number      s,
                  const Number     *x,
                  Number           *y)
        {
          combine(n, s, 1, x, 0, nullptr, y);
        }

        /// y += a.
        static void
        shift(const std::size_t n, const Number a, Number *y);

        /// y_i *= x_i.
        static void
        multiply(const std::size_t n, const Number *x, Number *y);

        // Reductions return when the result is on the host. Products and sums
        // are in double precision and independent of the order of summation.

        /// Sum of x_i y_i.
        static ReproducibleSum
        dot(const std::size_t n, const Number *x, const Number *y);

        /// y += a x, then the sum of y_i w_i; w may be y.
        static ReproducibleSum
        add_and_dot(const std::size_t n,
                    const Number      a,
                    const Number     *x,
                    const Number     *w,
                    Number           *y);

        /// The sum of dot(), to @p to, with its factor. The host does not wait,
        /// so that graphs can hold it. The value has the bits of that of dot().
        /// Throws Error for more than max_n_on_device values; zero values leave
        /// @p to as it is.
        static void
        dot_on_device(const std::size_t  n,
                      const Number      *x,
                      const Number      *y,
                      const SumOnDevice &to);

        /// x += a p and r -= a q with a factor in device memory, which is
        /// rounded to Number first, then the sum of r_i r_i as
        /// dot_on_device(). The bits are those of add() and add_and_dot().
        static void
        step_on_device(const std::size_t  n,
                       const double      *a,
                       const Number      *p,
                       const Number      *q,
                       Number            *x,
                       Number            *r,
                       const SumOnDevice &to);

        /// y = s y + a x with factors in device memory, which are rounded to
        /// Number first; a null pointer stands for 1, and for no x. The bits
        /// are those of combine().
        static void
        combine_by(const std::size_t n,
                   const double     *s,
                   const double     *a,
                   const Number     *x,
                   Number           *y);

        /// Sums of x_i y_i for each of @p n_vectors vectors x. The array of
        /// their addresses and the results are in host memory.
        static void
        dots(const unsigned int   n_vectors,
             const std::size_t    n,
             const Number *const *x,
             const Number        *y,
             ReproducibleSum     *sums);

        /// y += sum of a_m x_m for @p n_vectors vectors x, in their order. The
        /// arrays of addresses and factors are in host memory.
        static void
        add_all(const unsigned int   n_vectors,
                const std::size_t    n,
                const double        *a,
                const Number *const *x,
                Number              *y);

        /**
         * Subtracts the projection on @p n_vectors vectors x from y, as
         * add_all() does with the negative results of dots(), but the host
         * waits only at the end. @p products: products of the vectors and of
         * y, in this order, with y before the subtraction; in host memory.
         */
        static void
        project_out(const unsigned int   n_vectors,
                    const std::size_t    n,
                    const Number *const *x,
                    Number              *y,
                    double              *products);

        /// Sum of x_i.
        static ReproducibleSum
        sum(const std::size_t n, const Number *x);

        /// Sum of |x_i|.
        static ReproducibleSum
        absolute_sum(const std::size_t n, const Number *x);

        /// Largest |x_i|.
        static double
        absolute_maximum(const std::size_t n, const Number *x);

        /// Whether x_i = y_i for all i, with y = 0 if @p y is null; false if an
        /// entry is NaN.
        static bool
        equal(const std::size_t n, const Number *x, const Number *y);
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

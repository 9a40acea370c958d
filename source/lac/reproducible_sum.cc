// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "reproducible_sum.h"

#include <deal.II/base/exceptions.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <type_traits>
#include <vector>

#include "../base/collective.h"
#include "host_blocks.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      // Functions are compiled for several register widths and selected at run
      // time. Only the speed depends on the selection: see CMakeLists.txt.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  define TESSELLA_CLONES \
    __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#  define TESSELLA_CLONES
#endif
#define TESSELLA_INLINE inline __attribute__((always_inline))

      constexpr std::size_t pack_size = 8;
      typedef double        Pack __attribute__((vector_size(64), aligned(8)));
      typedef float         FloatPack
        __attribute__((vector_size(32), aligned(4), may_alias));
      typedef std::int64_t PackOfBits __attribute__((vector_size(64)));

      /// Number of terms whose largest exponent is determined before they are
      /// added.
      constexpr std::size_t chunk = 256;

      double
      number_of_bits(const std::uint64_t bits)
      {
        double x;
        std::memcpy(&x, &bits, sizeof(x));
        return x;
      }

      int
      exponent_of(const double x)
      {
        std::uint64_t bits;
        std::memcpy(&bits, &x, sizeof(x));
        return (bits >> 52) & 0x7ff;
      }

      TESSELLA_INLINE Pack
      load(const double *x)
      {
        return *reinterpret_cast<const Pack *>(x);
      }
      TESSELLA_INLINE Pack
      load(const float *x)
      {
        return __builtin_convertvector(*reinterpret_cast<const FloatPack *>(x),
                                       Pack);
      }

      /// Writes x_i y_i to @p numbers, or x_i or |x_i| if @p y is null, and
      /// pads them with zeros to whole packs; returns the largest exponent.
      template <typename Number>
      TESSELLA_INLINE int
      fill(const std::size_t n,
           const Number     *x,
           const Number     *y,
           const bool        absolute,
           double           *numbers)
      {
        // Compared as integers, magnitudes keep their order, and NaN is the
        // largest.
        constexpr std::int64_t mask = std::numeric_limits<std::int64_t>::max();
        PackOfBits             largest = {};
        const std::size_t      n_whole = n / pack_size * pack_size;
        for (std::size_t i = 0; i < n_whole; i += pack_size)
          {
            Pack p = load(x + i);
            if (y != nullptr)
              p *= load(y + i);
            const PackOfBits bits = (PackOfBits)p & mask;
            if (absolute)
              p = (Pack)bits;
            *reinterpret_cast<Pack *>(numbers + i) = p;
            largest = bits > largest ? bits : largest;
          }
        if (n > n_whole)
          {
            Pack p = {};
            for (std::size_t i = n_whole; i < n; ++i)
              p[i - n_whole] =
                y == nullptr ? double(x[i]) : double(x[i]) * double(y[i]);
            const PackOfBits bits = (PackOfBits)p & mask;
            if (absolute)
              p = (Pack)bits;
            *reinterpret_cast<Pack *>(numbers + n_whole) = p;
            largest = bits > largest ? bits : largest;
          }
        std::int64_t bits = 0;
        for (std::size_t v = 0; v < pack_size; ++v)
          bits = std::max<std::int64_t>(bits, largest[v]);
        return static_cast<int>(bits >> 52);
      }

      TESSELLA_CLONES int
      fill_numbers(const std::size_t n,
                   const double     *x,
                   const double     *y,
                   const bool        absolute,
                   double           *numbers)
      {
        return fill(n, x, y, absolute, numbers);
      }
      TESSELLA_CLONES int
      fill_numbers(const std::size_t n,
                   const float      *x,
                   const float      *y,
                   const bool        absolute,
                   double           *numbers)
      {
        return fill(n, x, y, absolute, numbers);
      }

      /// Adds the digits of @p numbers to @p sums, which has a pack for each
      /// digit.
      TESSELLA_CLONES void
      add_digits(const std::size_t n_packs,
                 const double     *numbers,
                 const double     *rounding,
                 double           *sums)
      {
        static_assert(n_sum_digits == 4, "Written out for speed.");
        Pack *const s  = reinterpret_cast<Pack *>(sums);
        Pack        s0 = s[0], s1 = s[1], s2 = s[2], s3 = s[3];
        const Pack  zero = {}, r0 = zero + rounding[0], r1 = zero + rounding[1],
                   r2 = zero + rounding[2], r3 = zero + rounding[3];
        for (std::size_t i = 0; i < n_packs; ++i)
          {
            Pack       p  = load(numbers + i * pack_size);
            const Pack d0 = (p + r0) - r0;
            s0 += d0;
            p -= d0;
            const Pack d1 = (p + r1) - r1;
            s1 += d1;
            p -= d1;
            const Pack d2 = (p + r2) - r2;
            s2 += d2;
            p -= d2;
            s3 += (p + r3) - r3;
          }
        s[0] = s0;
        s[1] = s1;
        s[2] = s2;
        s[3] = s3;
      }

      /// Sums of the digits of up to 2^22 terms, with a pack for each digit.
      class Adder
      {
      public:
        Adder()
        {
          set_level(lowest_level);
        }

        /// Adds @p n terms, which are padded with zeros to whole packs and may
        /// be modified. @p exponent is their largest exponent.
        void
        add(const std::size_t n, double *numbers, const int exponent)
        {
          if (exponent >= first_exponent_above(level))
            raise(n, numbers, exponent);
          add_digits((n + pack_size - 1) / pack_size, numbers, rounding, sums);
        }

        DigitSums
        result() const
        {
          DigitSums result;
          double    s[n_sum_digits] = {};
          for (int k = 0; k < n_sum_digits; ++k)
            for (std::size_t v = 0; v < pack_size; ++v)
              s[k] += sums[k * pack_size + v];
          result.set(s, level);
          result.special = special;
          return result;
        }

      private:
        void
        set_level(const int to)
        {
          level = to;
          for (int k = 0; k < n_sum_digits; ++k)
            rounding[k] = number_of_bits(rounding_bits(level - k));
        }

        // Raises the level to that of the largest term. Infinities, NaN and
        // terms too large for the highest level are removed from the terms and
        // collected in special.
        void
        raise(const std::size_t n, double *numbers, int exponent)
        {
          if (level_of_exponent(exponent) > highest_level)
            {
              exponent = 0;
              for (std::size_t i = 0; i < n; ++i)
                {
                  const int e = exponent_of(numbers[i]);
                  if (level_of_exponent(e) > highest_level)
                    {
                      special += std::isnan(numbers[i])
                                   ? numbers[i]
                                   : std::copysign(
                                       std::numeric_limits<double>::infinity(),
                                       numbers[i]);
                      numbers[i] = 0.;
                    }
                  else
                    exponent = std::max(exponent, e);
                }
            }
          const int to = level_of_exponent(exponent), from = level;
          if (to <= from)
            return;
          const std::size_t shift =
            std::min(to - from, n_sum_digits) * pack_size;
          std::copy_backward(sums,
                             sums + n_sum_digits * pack_size - shift,
                             sums + n_sum_digits * pack_size);
          std::fill_n(sums, shift, 0.);
          set_level(to);
        }

        int    level;
        double rounding[n_sum_digits], special = 0.;
        double sums[n_sum_digits * pack_size] = {};
      };

      // Adds the terms of each of several vectors x to its sum; y or a null
      // pointer is the same for all of them.
      template <typename Number>
      void
      sum_on_host(const unsigned int   n_vectors,
                  const std::size_t    n,
                  const Number *const *x,
                  const Number        *y,
                  const bool           absolute,
                  ReproducibleSum     *sums)
      {
        constexpr std::size_t piece = 16 * chunk;
        std::mutex            mutex;
        for_block_ranges(
          (n + piece - 1) / piece,
          [&](const unsigned int first, const unsigned int last) {
            std::vector<ReproducibleSum> sums_here(n_vectors);
            double                       numbers[chunk];
            for (std::size_t p = first; p < last; ++p)
              for (unsigned int m = 0; m < n_vectors; ++m)
                {
                  Adder             adder;
                  const std::size_t end = std::min(n, (p + 1) * piece);
                  for (std::size_t i = p * piece; i < end; i += chunk)
                    {
                      const std::size_t size = std::min(chunk, end - i);
                      const int         exponent =
                        fill_numbers(size,
                                     x[m] + i,
                                     y == nullptr ? y : y + i,
                                     absolute,
                                     numbers);
                      adder.add(size, numbers, exponent);
                    }
                  sums_here[m].add(adder.result());
                }
            const std::lock_guard<std::mutex> lock(mutex);
            for (unsigned int m = 0; m < n_vectors; ++m)
              sums[m].add(sums_here[m]);
          });
      }

      template <typename Number>
      ReproducibleSum
      sum_on_host(const std::size_t n,
                  const Number     *x,
                  const Number     *y,
                  const bool        absolute)
      {
        ReproducibleSum sum;
        sum_on_host(1, n, &x, y, absolute, &sum);
        return sum;
      }
    } // namespace



    template <typename Number>
    ReproducibleSum
    host_dot(const std::size_t n, const Number *x, const Number *y)
    {
      return sum_on_host(n, x, y, false);
    }



    template <typename Number>
    void
    host_dots(const unsigned int   n_vectors,
              const std::size_t    n,
              const Number *const *x,
              const Number        *y,
              ReproducibleSum     *sums)
    {
      std::fill(sums, sums + n_vectors, ReproducibleSum());
      sum_on_host(n_vectors, n, x, y, false, sums);
    }



    template <typename Number>
    ReproducibleSum
    host_sum(const std::size_t n, const Number *x)
    {
      return sum_on_host<Number>(n, x, nullptr, false);
    }



    template <typename Number>
    ReproducibleSum
    host_absolute_sum(const std::size_t n, const Number *x)
    {
      return sum_on_host<Number>(n, x, nullptr, true);
    }



    namespace
    {
      void
      add_sums(void *from, void *to, int *n, MPI_Datatype *)
      {
        for (int i = 0; i < *n; ++i)
          static_cast<ReproducibleSum *>(to)[i].add(
            static_cast<const ReproducibleSum *>(from)[i]);
      }
    } // namespace



    void
    values_of_all(const MPI_Comm     communicator,
                  const unsigned int n,
                  ReproducibleSum   *sums,
                  double            *values)
    {
      if (n_processes(communicator) > 1)
        {
          static_assert(std::is_trivially_copyable<ReproducibleSum>::value,
                        "MPI copies it.");
          // A sum is a single element: MPI algorithms cannot split it.
          MPI_Datatype type;
          MPI_Op       operation;
          int ierr = MPI_Type_contiguous(sizeof(*sums), MPI_BYTE, &type);
          AssertThrowMPI(ierr);
          ierr = MPI_Type_commit(&type);
          AssertThrowMPI(ierr);
          ierr = MPI_Op_create(add_sums, 1, &operation);
          AssertThrowMPI(ierr);
          ierr =
            MPI_Allreduce(MPI_IN_PLACE, sums, n, type, operation, communicator);
          AssertThrowMPI(ierr);
          ierr = MPI_Op_free(&operation);
          AssertThrowMPI(ierr);
          ierr = MPI_Type_free(&type);
          AssertThrowMPI(ierr);
        }
      for (unsigned int i = 0; i < n; ++i)
        values[i] = sums[i].value();
    }



    double
    value_of_all(const MPI_Comm communicator, ReproducibleSum sum)
    {
      double value;
      values_of_all(communicator, 1, &sum, &value);
      return value;
    }



#define INSTANTIATE(Number)                                             \
  template ReproducibleSum host_dot(const std::size_t,                  \
                                    const Number *,                     \
                                    const Number *);                    \
  template ReproducibleSum host_sum(const std::size_t, const Number *); \
  template ReproducibleSum host_absolute_sum(const std::size_t,         \
                                             const Number *);           \
  template void            host_dots(const unsigned int,                \
                                     const std::size_t,                 \
                                     const Number *const *,             \
                                     const Number *,                    \
                                     ReproducibleSum *);

    INSTANTIATE(double)
    INSTANTIATE(float)
#undef INSTANTIATE
#undef TESSELLA_CLONES
#undef TESSELLA_INLINE
  } // namespace internal
} // namespace Tessella

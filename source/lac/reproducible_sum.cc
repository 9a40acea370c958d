// SPDX-License-Identifier: LGPL-2.1-or-later

#include "reproducible_sum.h"

#include <deal.II/base/exceptions.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <type_traits>

#include "../base/collective.h"
#include "host_blocks.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      typedef double       Pack __attribute__((vector_size(32)));
      typedef std::int64_t PackOfBits __attribute__((vector_size(32)));

      constexpr std::size_t pack_size = sizeof(Pack) / sizeof(double);
      /// Numbers whose largest one is known before they are added.
      constexpr std::size_t chunk = 128;

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

      Pack
      pack_of(const double x)
      {
        return Pack{x, x, x, x};
      }

      Pack
      magnitude(const Pack &p)
      {
        const std::int64_t mask = std::numeric_limits<std::int64_t>::max();
        const PackOfBits   bits = (PackOfBits)p;
        return (Pack)(bits & PackOfBits{mask, mask, mask, mask});
      }

      /// Sums of digits of up to 2^22 numbers, in a pack for each place.
      class Adder
      {
      public:
        Adder()
        {
          set_level(lowest_level);
        }

        /// @p largest: magnitudes of which one is the largest of the numbers;
        /// those are changed.
        void
        add(Pack *numbers, const std::size_t n_packs, const Pack &largest)
        {
          double m = largest[0];
          for (std::size_t v = 1; v < pack_size; ++v)
            m = std::max(m, largest[v]);
          if (!(m < bound))
            raise(numbers, n_packs, exponent_of(m));
          Pack s[n_sum_digits], r[n_sum_digits];
          for (int k = 0; k < n_sum_digits; ++k)
            {
              s[k] = sums[k];
              r[k] = pack_of(rounding[k]);
            }
          for (std::size_t i = 0; i < n_packs; ++i)
            {
              Pack p = numbers[i];
              for (int k = 0; k < n_sum_digits; ++k)
                {
                  const Pack digit = (p + r[k]) - r[k];
                  s[k] += digit;
                  p -= digit;
                }
            }
          for (int k = 0; k < n_sum_digits; ++k)
            sums[k] = s[k];
        }

        DigitSums
        result() const
        {
          DigitSums result;
          double    s[n_sum_digits];
          for (int k = 0; k < n_sum_digits; ++k)
            {
              s[k] = sums[k][0];
              for (std::size_t v = 1; v < pack_size; ++v)
                s[k] += sums[k][v];
            }
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
          bound =
            number_of_bits(std::uint64_t(first_exponent_above(level)) << 52);
        }

        // To the level of the largest number; takes out what counts as infinite
        // or is not a number.
        void
        raise(Pack *numbers, const std::size_t n_packs, int exponent)
        {
          if (level_of_exponent(exponent) > highest_level)
            {
              exponent = 0;
              for (std::size_t i = 0; i < n_packs; ++i)
                for (std::size_t v = 0; v < pack_size; ++v)
                  {
                    const double x = numbers[i][v];
                    if (level_of_exponent(exponent_of(x)) > highest_level)
                      {
                        special +=
                          std::isnan(x)
                            ? x
                            : std::copysign(
                                std::numeric_limits<double>::infinity(), x);
                        numbers[i][v] = 0.;
                      }
                    else
                      exponent = std::max(exponent, exponent_of(x));
                  }
            }
          const int to = level_of_exponent(exponent), from = level;
          if (to <= from)
            return;
          for (int k = n_sum_digits - 1; k >= 0; --k)
            sums[k] = k >= to - from ? sums[k - (to - from)] : Pack{};
          set_level(to);
        }

        int    level;
        double rounding[n_sum_digits], bound, special = 0.;
        Pack   sums[n_sum_digits] = {};
      };

      // Of numbers read by load(i), a pack from i on, or by one(i).
      template <typename Load, typename One>
      ReproducibleSum
      host_sum(const std::size_t n, const Load &load, const One &one)
      {
        constexpr std::size_t piece = 32 * chunk;
        ReproducibleSum       sum;
        std::mutex            mutex;
        for_block_ranges(
          (n + piece - 1) / piece,
          [&](const unsigned int first, const unsigned int last) {
            ReproducibleSum sum_here;
            Pack            numbers[chunk / pack_size];
            for (std::size_t p = first; p < last; ++p)
              {
                Adder             adder;
                const std::size_t end = std::min(n, (p + 1) * piece);
                for (std::size_t begin = p * piece; begin < end; begin += chunk)
                  {
                    const std::size_t size    = std::min(chunk, end - begin),
                                      n_whole = size / pack_size;
                    Pack       largest        = {};
                    const auto put = [&](const std::size_t m, const Pack &p) {
                      numbers[m]     = p;
                      const Pack abs = magnitude(p);
                      // (what is not a number stays)
                      largest = abs <= largest ? largest : abs;
                    };
                    std::size_t n_packs = n_whole;
                    bool        number  = true;
                    for (std::size_t m = 0; m < n_whole; ++m)
                      put(m, load(begin + m * pack_size));
                    if (size > n_whole * pack_size)
                      {
                        Pack rest = {};
                        for (std::size_t v = n_whole * pack_size; v < size; ++v)
                          rest[v - n_whole * pack_size] = one(begin + v);
                        put(n_packs++, rest);
                      }
                    // (a comparison with it is false, so that it may have been
                    // replaced by a later number)
                    Pack zero = {};
                    for (std::size_t m = 0; m < n_packs; ++m)
                      zero += numbers[m] - numbers[m];
                    for (std::size_t v = 0; v < pack_size; ++v)
                      number = number && zero[v] == 0.;
                    if (!number)
                      largest =
                        pack_of(std::numeric_limits<double>::infinity());
                    adder.add(numbers, n_packs, largest);
                  }
                sum_here.add(adder.result());
              }
            const std::lock_guard<std::mutex> lock(mutex);
            sum.add(sum_here);
          });
        return sum;
      }

      template <typename Number>
      Pack
      load(const Number *x)
      {
        if constexpr (std::is_same<Number, double>::value)
          {
            Pack p;
            std::memcpy(&p, x, sizeof(p));
            return p;
          }
        else
          return Pack{x[0], x[1], x[2], x[3]};
      }
    } // namespace



    template <typename Number>
    ReproducibleSum
    host_dot(const std::size_t n, const Number *x, const Number *y)
    {
      return host_sum(
        n,
        [&](const std::size_t i) { return load(x + i) * load(y + i); },
        [&](const std::size_t i) { return double(x[i]) * double(y[i]); });
    }



    template <typename Number>
    ReproducibleSum
    host_sum(const std::size_t n, const Number *x)
    {
      return host_sum(
        n,
        [&](const std::size_t i) { return load(x + i); },
        [&](const std::size_t i) { return double(x[i]); });
    }



    template <typename Number>
    ReproducibleSum
    host_absolute_sum(const std::size_t n, const Number *x)
    {
      return host_sum(
        n,
        [&](const std::size_t i) { return magnitude(load(x + i)); },
        [&](const std::size_t i) { return std::abs(double(x[i])); });
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



    double
    value_of_all(const MPI_Comm communicator, ReproducibleSum sum)
    {
      if (n_processes(communicator) > 1)
        {
          static_assert(std::is_trivially_copyable<ReproducibleSum>::value,
                        "MPI copies it.");
          // (one element, which no algorithm can split)
          MPI_Datatype type;
          MPI_Op       operation;
          int          ierr = MPI_Type_contiguous(sizeof(sum), MPI_BYTE, &type);
          AssertThrowMPI(ierr);
          ierr = MPI_Type_commit(&type);
          AssertThrowMPI(ierr);
          ierr = MPI_Op_create(add_sums, 1, &operation);
          AssertThrowMPI(ierr);
          ierr =
            MPI_Allreduce(MPI_IN_PLACE, &sum, 1, type, operation, communicator);
          AssertThrowMPI(ierr);
          ierr = MPI_Op_free(&operation);
          AssertThrowMPI(ierr);
          ierr = MPI_Type_free(&type);
          AssertThrowMPI(ierr);
        }
      return sum.value();
    }



#define INSTANTIATE(Number)                                             \
  template ReproducibleSum host_dot(const std::size_t,                  \
                                    const Number *,                     \
                                    const Number *);                    \
  template ReproducibleSum host_sum(const std::size_t, const Number *); \
  template ReproducibleSum host_absolute_sum(const std::size_t, const Number *);

    INSTANTIATE(double)
    INSTANTIATE(float)
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_reproducible_sum_h
#define tessella_cuda_lac_reproducible_sum_h

#include <tessella/portable/host_device.h>

#include <cmath>
#include <cstdint>

// Sums of numbers in double precision that are the same to the last bit in any
// order, and therefore for any number of threads, processes and devices (the
// idea of J. Demmel and H. D. Nguyen, Parallel reproducible summation, IEEE
// Trans. Comput. 64 (2015)).
//
// The axis of numbers has places 2^(32 j). Every number is written as a sum of
// digits d_j 2^(32 j), |d_j| <= 2^31, each the nearest one to what the higher
// ones leave over; the digits depend on the number alone. Of a sum, the digits
// at the highest place that any of its numbers has and at the three places
// below are added, as integers, that is exactly; the rest, at least 2^96 times
// smaller than the largest number, is dropped. What counts as highest is known
// at the end only: until then sums move to higher places and drop digits as
// they meet larger numbers.
//
// A place is called by its level, j + 33. Numbers from 2^991 on count as
// infinite; what is left of numbers below 2^-1056 is dropped.

namespace Tessella
{
  namespace internal
  {
    /// Number of digits that are added.
    constexpr int n_sum_digits = 4;
    /// Of the highest digit.
    constexpr int lowest_level = n_sum_digits - 1, highest_level = 63;

    /// The bits of 1.5 2^52 times the place of @p level: added to a number and
    /// subtracted again, it rounds it to a multiple of that place.
    constexpr TESSELLA_HOST_DEVICE std::uint64_t
                                   rounding_bits(const int level)
    {
      return (std::uint64_t(32 * level + 19) << 52) | (std::uint64_t(1) << 51);
    }

    /// Level of the highest digit of a number; that is more than highest_level
    /// for those that count as infinite or are none. @p exponent: the bits of
    /// its exponent.
    constexpr TESSELLA_HOST_DEVICE int
    level_of_exponent(const int exponent)
    {
      const int level = (exponent + 34) >> 5;
      return level < lowest_level ? lowest_level : level;
    }

    /// Exponents below this one have no higher level.
    constexpr TESSELLA_HOST_DEVICE int
    first_exponent_above(const int level)
    {
      return 32 * (level + 1) - 34;
    }

    /// The sum of fewer than 2^32 numbers.
    struct DigitSums
    {
      /// From the highest one on; number k in units of the place of level - k.
      std::int64_t digit[n_sum_digits] = {};
      /// Sum of what is infinite or not a number.
      double special = 0.;
      int    level   = lowest_level;

      /// From sums of digits as they are.
      TESSELLA_HOST_DEVICE void
      set(const double *sums, const int sums_level)
      {
        level = sums_level;
        for (int k = 0; k < n_sum_digits; ++k)
          digit[k] = static_cast<std::int64_t>(
            scalbn(sums[k], -32 * (sums_level - k - 33)));
      }

      TESSELLA_HOST_DEVICE void
      raise(const int to)
      {
        for (; level < to; ++level)
          {
            for (int k = n_sum_digits - 1; k > 0; --k)
              digit[k] = digit[k - 1];
            digit[0] = 0;
          }
      }

      TESSELLA_HOST_DEVICE void
      add(DigitSums other)
      {
        const int highest = level < other.level ? other.level : level;
        raise(highest);
        other.raise(highest);
        for (int k = 0; k < n_sum_digits; ++k)
          digit[k] += other.digit[k];
        special += other.special;
      }
    };

    /**
     * The sum of any number of numbers, on the host. value() is that of the
     * digits kept, rounded to one or two units in the last place.
     */
    class ReproducibleSum
    {
    public:
      void
      add(const DigitSums &sums)
      {
        // (parts of one digit, which are no carries: what is dropped later must
        // not depend on them)
        ReproducibleSum other;
        other.level   = sums.level;
        other.special = sums.special;
        for (int k = 0; k < n_sum_digits; ++k)
          {
            other.high[k] = sums.digit[k] >> 31;
            other.low[k]  = sums.digit[k] & 0x7fffffff;
          }
        add(other);
      }

      void
      add(ReproducibleSum other)
      {
        const int highest = level < other.level ? other.level : level;
        raise(highest);
        other.raise(highest);
        for (int k = 0; k < n_sum_digits; ++k)
          {
            low[k] += other.low[k];
            high[k] += other.high[k];
          }
        special += other.special;
      }

      double
      value() const
      {
        if (!(special == 0.))
          return special;
        const double positive = magnitude(1);
        return positive >= 0. ? positive : -magnitude(-1);
      }

    private:
      void
      raise(const int to)
      {
        for (; level < to; ++level)
          {
            for (int k = n_sum_digits - 1; k > 0; --k)
              {
                low[k]  = low[k - 1];
                high[k] = high[k - 1];
              }
            low[0] = high[0] = 0;
          }
      }

      // Of the sum times @p sign; -1 if that is negative.
      double
      magnitude(const int sign) const
      {
        std::int64_t carry  = 0;
        double       result = 0.;
        for (int k = n_sum_digits - 1; k >= 0; --k)
          {
            const std::int64_t h   = sign * high[k],
                               sum = sign * low[k] + carry + ((h & 1) << 31);
            const double rest      = static_cast<double>(sum & 0xffffffff);
            carry                  = (h >> 1) + (sum >> 32);
            result                 = result * 0x1p-32 + rest;
          }
        if (carry < 0)
          return -1.;
        return std::scalbn(result * 0x1p-32 + static_cast<double>(carry),
                           32 * (level - 32));
      }

      int    level   = lowest_level;
      double special = 0.;
      /// Digit k is high[k] 2^31 + low[k].
      std::int64_t low[n_sum_digits] = {}, high[n_sum_digits] = {};
    };
  } // namespace internal
} // namespace Tessella

#endif

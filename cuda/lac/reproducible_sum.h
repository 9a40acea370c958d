// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_reproducible_sum_h
#define tessella_cuda_lac_reproducible_sum_h

#include <tessella/portable/host_device.h>

#include <cmath>
#include <cstdint>

// Sums of double precision values that are the same to the last bit for any
// order of summation, and therefore for any number of threads, processes and
// devices (idea: J. Demmel and H. D. Nguyen, Parallel reproducible summation,
// IEEE Trans. Comput. 64 (2015)).
//
// Every value is written as a sum of digits d_j 2^(32 j), |d_j| <= 2^31. Each
// digit is the nearest integer to the remainder that the higher digits leave,
// so that the digits depend on the value alone. A sum keeps only the digits at
// the highest position j that any of its values has and at the three positions
// below. These digits are added as integers, hence exactly; the rest, which is
// at least 2^96 times smaller than the largest value, is dropped. The highest
// position is known at the end only: until then, a sum moves to higher
// positions and drops low digits when it meets larger values.
//
// A position is identified by its level, j + 33. Values from 2^991 on count as
// infinite; remainders below 2^-1056 are dropped.

namespace Tessella
{
  namespace internal
  {
    /// Number of digits that a sum keeps.
    constexpr int n_sum_digits = 4;
    /// Range of levels of the highest digit.
    constexpr int lowest_level = n_sum_digits - 1, highest_level = 63;

    /// Bit pattern of 1.5 2^52 times the power of two of @p level. Addition and
    /// subsequent subtraction of this number rounds a value to a multiple of
    /// that power.
    constexpr TESSELLA_HOST_DEVICE std::uint64_t
                                   rounding_bits(const int level)
    {
      return (std::uint64_t(32 * level + 19) << 52) | (std::uint64_t(1) << 51);
    }

    /// Level of the highest digit of a value; exceeds highest_level for values
    /// that count as infinite and for NaN. @p exponent: exponent bits of the
    /// value.
    constexpr TESSELLA_HOST_DEVICE int
    level_of_exponent(const int exponent)
    {
      const int level = (exponent + 34) >> 5;
      return level < lowest_level ? lowest_level : level;
    }

    /// First exponent whose level is higher than @p level.
    constexpr TESSELLA_HOST_DEVICE int
    first_exponent_above(const int level)
    {
      return 32 * (level + 1) - 34;
    }

    /// Sum of fewer than 2^32 values.
    struct DigitSums
    {
      /// Digits from the highest one on; digit k is in units of level - k.
      std::int64_t digit[n_sum_digits] = {};
      /// Sum of infinite values and NaNs.
      double special = 0.;
      int    level   = lowest_level;

      /// Sets the digits from sums of unscaled digits.
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
     * Sum of any number of values. value() is the sum of the
     * digits kept, with an error of at most two units in the last place.
     */
    class ReproducibleSum
    {
    public:
      TESSELLA_HOST_DEVICE void
      add(const DigitSums &sums)
      {
        // Each digit is split into its own low and high part without a carry to
        // the next digit: digits that are dropped later must not influence the
        // others.
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

      TESSELLA_HOST_DEVICE void
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

      TESSELLA_HOST_DEVICE double
      value() const
      {
        if (!(special == 0.))
          return special;
        const double positive = magnitude(1);
        return positive >= 0. ? positive : -magnitude(-1);
      }

    private:
      TESSELLA_HOST_DEVICE void
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

      // Value of the sum times @p sign; -1 if that is negative.
      TESSELLA_HOST_DEVICE double
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
        return scalbn(result * 0x1p-32 + static_cast<double>(carry),
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

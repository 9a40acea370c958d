// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_portable_lanes_h
#define tessella_portable_lanes_h

#include <cmath>

// Numbers with several lanes, for SIMD units of the host.

#define TESSELLA_LANES_INLINE inline __attribute__((always_inline))

namespace Tessella
{
  namespace internal
  {
    /// Vectors of the compiler with n doubles and n integers, and the former
    /// in memory that is aligned for doubles only. The compiler wants lengths
    /// that do not depend on template arguments.
    template <int n>
    struct LanesVectors;

#define TESSELLA_LANES_VECTORS(n)                                                \
  template <>                                                                    \
  struct LanesVectors<n>                                                         \
  {                                                                              \
    typedef double    Numbers __attribute__((vector_size(8 * n)));               \
    typedef long long Integers __attribute__((vector_size(8 * n)));              \
    typedef double    Unaligned __attribute__((vector_size(8 * n), aligned(8))); \
  };
    TESSELLA_LANES_VECTORS(2)
    TESSELLA_LANES_VECTORS(4)
    TESSELLA_LANES_VECTORS(8)
#undef TESSELLA_LANES_VECTORS
  } // namespace internal



  /// Result of a comparison in each of n lanes: all bits are set where it
  /// holds.
  template <int n>
  struct LanesMask
  {
    using Vector = typename internal::LanesVectors<n>::Integers;

    Vector v;

    friend TESSELLA_LANES_INLINE LanesMask
    operator&(const LanesMask &a, const LanesMask &b)
    {
      return {a.v & b.v};
    }
    friend TESSELLA_LANES_INLINE LanesMask
    operator|(const LanesMask &a, const LanesMask &b)
    {
      return {a.v | b.v};
    }
  };



  /**
   * @p n doubles, on which every operation works at once. A functor that is a
   * template over the number type computes n quadrature points with it in the
   * time of one. Comparisons return a LanesMask, so that a functor takes
   * select(), maximum() and minimum() instead of branches.
   *
   * Lanes do not depend on each other: a point has the same bits in every lane,
   * whatever the others contain.
   *
   * The compiler makes one instruction of an operation if the instruction set
   * of the translation unit has vectors of that length (8 for AVX-512, 4 for
   * AVX2), and several otherwise. Only units of one instruction set should use
   * a number of lanes, since a program keeps one copy of a function alone.
   */
  template <int n>
  struct Lanes
  {
    using Vector = typename internal::LanesVectors<n>::Numbers;
    using Mask   = LanesMask<n>;

    Vector v;

    Lanes() = default;
    TESSELLA_LANES_INLINE
    Lanes(const Vector v)
      : v(v)
    {}
    TESSELLA_LANES_INLINE
    Lanes(const double s)
      : v(Vector{} + s)
    {}

    static TESSELLA_LANES_INLINE Lanes
    load(const double *p)
    {
      return Vector(*reinterpret_cast<
                    const typename internal::LanesVectors<n>::Unaligned *>(p));
    }
    TESSELLA_LANES_INLINE void
    store(double *p) const
    {
      *reinterpret_cast<typename internal::LanesVectors<n>::Unaligned *>(p) = v;
    }

    TESSELLA_LANES_INLINE Lanes &
    operator+=(const Lanes &b)
    {
      v += b.v;
      return *this;
    }
    TESSELLA_LANES_INLINE Lanes &
    operator-=(const Lanes &b)
    {
      v -= b.v;
      return *this;
    }
    TESSELLA_LANES_INLINE Lanes &
    operator*=(const Lanes &b)
    {
      v *= b.v;
      return *this;
    }
    TESSELLA_LANES_INLINE Lanes &
    operator/=(const Lanes &b)
    {
      v /= b.v;
      return *this;
    }
    friend TESSELLA_LANES_INLINE Lanes
    operator+(const Lanes &a, const Lanes &b)
    {
      return a.v + b.v;
    }
    friend TESSELLA_LANES_INLINE Lanes
    operator-(const Lanes &a, const Lanes &b)
    {
      return a.v - b.v;
    }
    friend TESSELLA_LANES_INLINE Lanes
    operator*(const Lanes &a, const Lanes &b)
    {
      return a.v * b.v;
    }
    friend TESSELLA_LANES_INLINE Lanes
    operator/(const Lanes &a, const Lanes &b)
    {
      return a.v / b.v;
    }
    friend TESSELLA_LANES_INLINE Lanes
    operator-(const Lanes &a)
    {
      return -a.v;
    }

#define TESSELLA_LANES_COMPARISON(op)                           \
  friend TESSELLA_LANES_INLINE Mask operator op(const Lanes &a, \
                                                const Lanes &b) \
  {                                                             \
    return {a.v op b.v};                                        \
  }
    TESSELLA_LANES_COMPARISON(<)
    TESSELLA_LANES_COMPARISON(<=)
    TESSELLA_LANES_COMPARISON(>)
    TESSELLA_LANES_COMPARISON(>=)
    TESSELLA_LANES_COMPARISON(==)
    TESSELLA_LANES_COMPARISON(!=)
#undef TESSELLA_LANES_COMPARISON

    /// @p a where the mask holds, else @p b.
    friend TESSELLA_LANES_INLINE Lanes
    select(const Mask &mask, const Lanes &a, const Lanes &b)
    {
      return Vector(mask.v ? a.v : b.v);
    }

    // Those of PointwiseMath, found by the type of their arguments.
    friend TESSELLA_LANES_INLINE Lanes
    maximum(const Lanes &a, const Lanes &b)
    {
      return select((a >= b) | (a != a), a, b);
    }
    friend TESSELLA_LANES_INLINE Lanes
    minimum(const Lanes &a, const Lanes &b)
    {
      return select((a <= b) | (a != a), a, b);
    }

#define TESSELLA_LANES_FUNCTION(name, function)           \
  friend TESSELLA_LANES_INLINE Lanes name(const Lanes &a) \
  {                                                       \
    Lanes r;                                              \
    for (int l = 0; l < n; ++l)                           \
      r.v[l] = function(a.v[l]);                          \
    return r;                                             \
  }
    TESSELLA_LANES_FUNCTION(sqrt, __builtin_sqrt)
    TESSELLA_LANES_FUNCTION(fabs, __builtin_fabs)
#undef TESSELLA_LANES_FUNCTION

    friend TESSELLA_LANES_INLINE Lanes
    pow(const Lanes &a, const double b)
    {
      Lanes r;
      for (int l = 0; l < n; ++l)
        r.v[l] = ::pow(a.v[l], b);
      return r;
    }
  };



  /**
   * Dual numbers, see Dual, with n lanes: a value and its derivatives in @p k
   * directions. Where a function has a kink, each lane has the derivative of
   * its branch.
   */
  template <int k, int n>
  struct LanesDual
  {
    using Number = Lanes<n>;
    using Mask   = LanesMask<n>;

    Number value;
    Number derivative[k];

    LanesDual() = default;
    TESSELLA_LANES_INLINE
    LanesDual(const Number &v)
      : value(v)
    {
      for (int i = 0; i < k; ++i)
        derivative[i] = Number(0.);
    }
    TESSELLA_LANES_INLINE
    LanesDual(const double v)
      : LanesDual(Number(v))
    {}

    /// The value, as a number that is constant.
    TESSELLA_LANES_INLINE const Number &
    val() const
    {
      return value;
    }

    /// f(v) for this number v, from f and its derivative at the value of v,
    /// which may be infinite where v does not vary.
    TESSELLA_LANES_INLINE LanesDual
    chain(const Number &f, const Number &f_v) const
    {
      LanesDual    result;
      const Number zero = 0.;
      result.value      = f;
      for (int i = 0; i < k; ++i)
        result.derivative[i] =
          select(derivative[i] == zero, zero, f_v * derivative[i]);
      return result;
    }

    TESSELLA_LANES_INLINE LanesDual &
    operator+=(const LanesDual &w)
    {
      value += w.value;
      for (int i = 0; i < k; ++i)
        derivative[i] += w.derivative[i];
      return *this;
    }
    TESSELLA_LANES_INLINE LanesDual &
    operator-=(const LanesDual &w)
    {
      value -= w.value;
      for (int i = 0; i < k; ++i)
        derivative[i] -= w.derivative[i];
      return *this;
    }
    TESSELLA_LANES_INLINE LanesDual &
    operator*=(const LanesDual &w)
    {
      return *this = *this * w;
    }
    TESSELLA_LANES_INLINE LanesDual &
    operator/=(const LanesDual &w)
    {
      return *this = *this / w;
    }

    // Those with a Number, to which doubles are converted, spare the operations
    // of derivatives that are zero.
    friend TESSELLA_LANES_INLINE LanesDual
    operator+(LanesDual v, const LanesDual &w)
    {
      return v += w;
    }
    friend TESSELLA_LANES_INLINE LanesDual
    operator-(LanesDual v, const LanesDual &w)
    {
      return v -= w;
    }
    friend TESSELLA_LANES_INLINE LanesDual
    operator-(LanesDual v)
    {
      v.value = -v.value;
      for (int i = 0; i < k; ++i)
        v.derivative[i] = -v.derivative[i];
      return v;
    }
    friend TESSELLA_LANES_INLINE LanesDual
    operator*(const LanesDual &v, const LanesDual &w)
    {
      LanesDual result;
      result.value = v.value * w.value;
      for (int i = 0; i < k; ++i)
        result.derivative[i] =
          w.value * v.derivative[i] + v.value * w.derivative[i];
      return result;
    }
    friend TESSELLA_LANES_INLINE LanesDual
    operator/(const LanesDual &v, const LanesDual &w)
    {
      LanesDual result;
      result.value   = v.value / w.value;
      const Number r = Number(1.) / w.value;
      for (int i = 0; i < k; ++i)
        result.derivative[i] =
          r * (v.derivative[i] - result.value * w.derivative[i]);
      return result;
    }

#define TESSELLA_LANES_MIXED(Constant)                                 \
  friend TESSELLA_LANES_INLINE LanesDual operator+(LanesDual       v,  \
                                                   const Constant &w)  \
  {                                                                    \
    v.value += w;                                                      \
    return v;                                                          \
  }                                                                    \
  friend TESSELLA_LANES_INLINE LanesDual operator+(const Constant &v,  \
                                                   LanesDual       w)  \
  {                                                                    \
    w.value = v + w.value;                                             \
    return w;                                                          \
  }                                                                    \
  friend TESSELLA_LANES_INLINE LanesDual operator-(LanesDual       v,  \
                                                   const Constant &w)  \
  {                                                                    \
    v.value -= w;                                                      \
    return v;                                                          \
  }                                                                    \
  friend TESSELLA_LANES_INLINE LanesDual operator-(const Constant  &v, \
                                                   const LanesDual &w) \
  {                                                                    \
    LanesDual result = -w;                                             \
    result.value     = v - w.value;                                    \
    return result;                                                     \
  }                                                                    \
  friend TESSELLA_LANES_INLINE LanesDual operator*(LanesDual       v,  \
                                                   const Constant &w)  \
  {                                                                    \
    const Number factor = w;                                           \
    v.value *= factor;                                                 \
    for (int i = 0; i < k; ++i)                                        \
      v.derivative[i] *= factor;                                       \
    return v;                                                          \
  }                                                                    \
  friend TESSELLA_LANES_INLINE LanesDual operator*(const Constant  &v, \
                                                   const LanesDual &w) \
  {                                                                    \
    return w * v;                                                      \
  }                                                                    \
  friend TESSELLA_LANES_INLINE LanesDual operator/(LanesDual       v,  \
                                                   const Constant &w)  \
  {                                                                    \
    const Number r = Number(1.) / Number(w);                           \
    v.value /= w;                                                      \
    for (int i = 0; i < k; ++i)                                        \
      v.derivative[i] *= r;                                            \
    return v;                                                          \
  }                                                                    \
  friend TESSELLA_LANES_INLINE LanesDual operator/(const Constant  &v, \
                                                   const LanesDual &w) \
  {                                                                    \
    const Number f = v / w.value;                                      \
    return w.chain(f, -f / w.value);                                   \
  }
    TESSELLA_LANES_MIXED(double)
    TESSELLA_LANES_MIXED(Number)
#undef TESSELLA_LANES_MIXED

#define TESSELLA_LANES_COMPARISON(op)                               \
  friend TESSELLA_LANES_INLINE Mask operator op(const LanesDual &v, \
                                                const LanesDual &w) \
  {                                                                 \
    return v.value op w.value;                                      \
  }
    TESSELLA_LANES_COMPARISON(<)
    TESSELLA_LANES_COMPARISON(<=)
    TESSELLA_LANES_COMPARISON(>)
    TESSELLA_LANES_COMPARISON(>=)
    TESSELLA_LANES_COMPARISON(==)
    TESSELLA_LANES_COMPARISON(!=)
#undef TESSELLA_LANES_COMPARISON

    friend TESSELLA_LANES_INLINE LanesDual
    select(const Mask &mask, const LanesDual &a, const LanesDual &b)
    {
      LanesDual result;
      result.value = select(mask, a.value, b.value);
      for (int i = 0; i < k; ++i)
        result.derivative[i] = select(mask, a.derivative[i], b.derivative[i]);
      return result;
    }

    // Those of PointwiseMath, found by the type of their arguments.
    friend TESSELLA_LANES_INLINE LanesDual
    maximum(const LanesDual &a, const LanesDual &b)
    {
      return select((a >= b) | (a != a), a, b);
    }
    friend TESSELLA_LANES_INLINE LanesDual
    minimum(const LanesDual &a, const LanesDual &b)
    {
      return select((a <= b) | (a != a), a, b);
    }

    friend TESSELLA_LANES_INLINE LanesDual
    sqrt(const LanesDual &v)
    {
      const Number f = sqrt(v.value);
      return v.chain(f, 0.5 / f);
    }
    friend TESSELLA_LANES_INLINE LanesDual
    fabs(const LanesDual &v)
    {
      const Number zero = 0.;
      return v.chain(fabs(v.value),
                     select(v.value > zero,
                            Number(1.),
                            select(v.value < zero, Number(-1.), zero)));
    }
    friend TESSELLA_LANES_INLINE LanesDual
    pow(const LanesDual &v, const double w)
    {
      return v.chain(pow(v.value, w),
                     w == 0. ? Number(0.) : w * pow(v.value, w - 1.));
    }
  };
} // namespace Tessella

#undef TESSELLA_LANES_INLINE

#endif

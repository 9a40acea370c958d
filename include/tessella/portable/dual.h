// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_portable_dual_h
#define tessella_portable_dual_h

#include <tessella/portable/host_device.h>

#ifndef __CUDACC_RTC__
#  include <cmath>
#endif

namespace Tessella
{
  /**
   * Dual number: a value and its first derivatives in @p n directions (forward
   * automatic differentiation). A function template over the number type,
   * called with dual numbers, returns its value and its exact derivatives.
   *
   * The value is computed by the same operations, in the same order, as with
   * Number itself, so that it has the same bits. Comparisons compare values,
   * and where a function has a kink, derivatives are those of the branch taken.
   * The derivative of sqrt() and cbrt() at zero is infinite, unless the
   * argument does not vary: a derivative of zero stays zero.
   *
   * Jet has second derivatives, too, which expressions of a parameter file
   * need; this class is for the tangents of pointwise operators.
   *
   * <b>Cost.</b> A product needs 2 n operations more than one of Number.
   */
  template <int n, typename Number = double>
  struct Dual
  {
    Number value;
    Number derivative[n];

    Dual() = default;

    TESSELLA_HOST_DEVICE
    Dual(const Number v)
      : value(v)
    {
      for (int i = 0; i < n; ++i)
        derivative[i] = Number(0);
    }

    /// Product that is zero if the derivative is zero, so that an infinite
    /// factor does no harm in a direction in which nothing varies.
    TESSELLA_HOST_DEVICE static Number
    times(const Number factor, const Number d)
    {
      return d == Number(0) ? Number(0) : factor * d;
    }

    /// f(v) for this number v, from f and its derivative at the value of v.
    TESSELLA_HOST_DEVICE Dual
    chain(const Number f, const Number f_v) const
    {
      Dual result;
      result.value = f;
      for (int i = 0; i < n; ++i)
        result.derivative[i] = times(f_v, derivative[i]);
      return result;
    }

    /// f(v, w), from f and its derivatives at the values of v and w.
    TESSELLA_HOST_DEVICE static Dual
    chain(const Dual  &v,
          const Dual  &w,
          const Number f,
          const Number f_v,
          const Number f_w)
    {
      Dual result;
      result.value = f;
      for (int i = 0; i < n; ++i)
        result.derivative[i] =
          times(f_v, v.derivative[i]) + times(f_w, w.derivative[i]);
      return result;
    }

    TESSELLA_HOST_DEVICE Dual &
    operator+=(const Dual &w)
    {
      value += w.value;
      for (int i = 0; i < n; ++i)
        derivative[i] += w.derivative[i];
      return *this;
    }
    TESSELLA_HOST_DEVICE Dual &
    operator-=(const Dual &w)
    {
      value -= w.value;
      for (int i = 0; i < n; ++i)
        derivative[i] -= w.derivative[i];
      return *this;
    }
    TESSELLA_HOST_DEVICE Dual &
    operator*=(const Dual &w)
    {
      return *this = *this * w;
    }
    TESSELLA_HOST_DEVICE Dual &
    operator/=(const Dual &w)
    {
      return *this = *this / w;
    }

    // Functions defined as friends convert arguments of type Number. Those of
    // Number and Dual spare the operations of derivatives that are zero.
    friend TESSELLA_HOST_DEVICE Dual
    operator+(Dual v, const Dual &w)
    {
      return v += w;
    }
    friend TESSELLA_HOST_DEVICE Dual
    operator+(Dual v, const Number w)
    {
      v.value += w;
      return v;
    }
    friend TESSELLA_HOST_DEVICE Dual
    operator+(const Number v, Dual w)
    {
      w.value = v + w.value;
      return w;
    }
    friend TESSELLA_HOST_DEVICE Dual
    operator-(Dual v, const Dual &w)
    {
      return v -= w;
    }
    friend TESSELLA_HOST_DEVICE Dual
    operator-(Dual v, const Number w)
    {
      v.value -= w;
      return v;
    }
    friend TESSELLA_HOST_DEVICE Dual
    operator-(const Number v, const Dual &w)
    {
      Dual result  = -w;
      result.value = v - w.value;
      return result;
    }
    friend TESSELLA_HOST_DEVICE Dual
    operator-(Dual v)
    {
      v.value = -v.value;
      for (int i = 0; i < n; ++i)
        v.derivative[i] = -v.derivative[i];
      return v;
    }
    friend TESSELLA_HOST_DEVICE Dual
    operator*(const Dual &v, const Dual &w)
    {
      Dual result;
      result.value = v.value * w.value;
      for (int i = 0; i < n; ++i)
        result.derivative[i] =
          w.value * v.derivative[i] + v.value * w.derivative[i];
      return result;
    }
    friend TESSELLA_HOST_DEVICE Dual
    operator*(Dual v, const Number w)
    {
      v.value *= w;
      for (int i = 0; i < n; ++i)
        v.derivative[i] *= w;
      return v;
    }
    friend TESSELLA_HOST_DEVICE Dual
    operator*(const Number v, const Dual &w)
    {
      return w * v;
    }
    friend TESSELLA_HOST_DEVICE Dual
    operator/(const Dual &v, const Dual &w)
    {
      Dual result;
      result.value   = v.value / w.value;
      const Number r = Number(1) / w.value;
      for (int i = 0; i < n; ++i)
        result.derivative[i] =
          r * (v.derivative[i] - result.value * w.derivative[i]);
      return result;
    }
    friend TESSELLA_HOST_DEVICE Dual
    operator/(Dual v, const Number w)
    {
      v.value /= w;
      const Number r = Number(1) / w;
      for (int i = 0; i < n; ++i)
        v.derivative[i] *= r;
      return v;
    }
    friend TESSELLA_HOST_DEVICE Dual
    operator/(const Number v, const Dual &w)
    {
      const Number f = v / w.value;
      return w.chain(f, -f / w.value);
    }

#define TESSELLA_DUAL_COMPARISON(op)                                         \
  friend TESSELLA_HOST_DEVICE bool operator op(const Dual &v, const Dual &w) \
  {                                                                          \
    return v.value op w.value;                                               \
  }
    TESSELLA_DUAL_COMPARISON(<)
    TESSELLA_DUAL_COMPARISON(<=)
    TESSELLA_DUAL_COMPARISON(>)
    TESSELLA_DUAL_COMPARISON(>=)
    TESSELLA_DUAL_COMPARISON(==)
    TESSELLA_DUAL_COMPARISON(!=)
#undef TESSELLA_DUAL_COMPARISON

    friend TESSELLA_HOST_DEVICE Dual
    pow(const Dual &v, const Number w)
    {
      const Number f = ::pow(v.value, w);
      return v.chain(f,
                     w == Number(0) ? Number(0)
                                    : w * ::pow(v.value, w - Number(1)));
    }
    friend TESSELLA_HOST_DEVICE Dual
    pow(const Dual &v, const Dual &w)
    {
      const Number f      = ::pow(v.value, w.value);
      bool         varies = false;
      for (int i = 0; i < n; ++i)
        varies = varies || w.derivative[i] != Number(0);
      return chain(v,
                   w,
                   f,
                   w.value == Number(0)
                     ? Number(0)
                     : w.value * ::pow(v.value, w.value - Number(1)),
                   varies ? f * ::log(v.value) : Number(0));
    }
    friend TESSELLA_HOST_DEVICE Dual
    atan2(const Dual &v, const Dual &w)
    {
      const Number r = Number(1) / (v.value * v.value + w.value * w.value);
      return chain(v, w, ::atan2(v.value, w.value), w.value * r, -v.value * r);
    }

#define TESSELLA_DUAL_FUNCTION(name, derivative_of_name) \
  friend TESSELLA_HOST_DEVICE Dual name(const Dual &v)   \
  {                                                      \
    const Number x = v.value, f = ::name(x);             \
    (void)x;                                             \
    return v.chain(f, derivative_of_name);               \
  }
    TESSELLA_DUAL_FUNCTION(sin, ::cos(x))
    TESSELLA_DUAL_FUNCTION(cos, -::sin(x))
    TESSELLA_DUAL_FUNCTION(tan, Number(1) + f * f)
    TESSELLA_DUAL_FUNCTION(asin, Number(1) / ::sqrt(Number(1) - x * x))
    TESSELLA_DUAL_FUNCTION(acos, Number(-1) / ::sqrt(Number(1) - x * x))
    TESSELLA_DUAL_FUNCTION(atan, Number(1) / (Number(1) + x * x))
    TESSELLA_DUAL_FUNCTION(sinh, ::cosh(x))
    TESSELLA_DUAL_FUNCTION(cosh, ::sinh(x))
    TESSELLA_DUAL_FUNCTION(tanh, Number(1) - f * f)
    TESSELLA_DUAL_FUNCTION(asinh, Number(1) / ::sqrt(Number(1) + x * x))
    TESSELLA_DUAL_FUNCTION(acosh, Number(1) / ::sqrt(x * x - Number(1)))
    TESSELLA_DUAL_FUNCTION(atanh, Number(1) / (Number(1) - x * x))
    // The factor is 2 / sqrt(pi).
    TESSELLA_DUAL_FUNCTION(erf, Number(1.1283791670955126) * ::exp(-x * x))
    TESSELLA_DUAL_FUNCTION(erfc, Number(-1.1283791670955126) * ::exp(-x * x))
    TESSELLA_DUAL_FUNCTION(exp, f)
    TESSELLA_DUAL_FUNCTION(log, Number(1) / x)
    TESSELLA_DUAL_FUNCTION(sqrt, Number(0.5) / f)
    TESSELLA_DUAL_FUNCTION(cbrt, Number(1) / (Number(3) * f * f))
    TESSELLA_DUAL_FUNCTION(fabs,
                           x > Number(0)   ? Number(1)
                           : x < Number(0) ? Number(-1)
                                           : Number(0))
#undef TESSELLA_DUAL_FUNCTION

    friend TESSELLA_HOST_DEVICE Dual
    abs(const Dual &v)
    {
      return fabs(v);
    }
  };
} // namespace Tessella

#endif

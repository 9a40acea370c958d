// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_portable_jet_h
#define tessella_portable_jet_h

#include <tessella/portable/host_device.h>

#ifndef __CUDACC_RTC__
#  include <cmath>
#endif

namespace Tessella
{
  /**
   * Value with its first and second derivatives in dim variables (forward
   * automatic differentiation). An expression whose variables are jets
   * evaluates to a jet. The class is meant for code that is compiled at run
   * time, where the compiler removes derivatives that are zero by construction.
   *
   * Where a function has a kink, derivatives are those of the branch taken.
   */
  template <int dim>
  struct Jet
  {
    double value = 0., gradient[dim] = {}, hessian[dim][dim] = {};

    TESSELLA_HOST_DEVICE
    Jet(const double v = 0.)
      : value(v)
    {}

    /// Jet of the variable with index @p i and value @p x.
    TESSELLA_HOST_DEVICE static Jet
    variable(const double x, const int i)
    {
      Jet result(x);
      result.gradient[i] = 1.;
      return result;
    }

    /// Product that is zero if the derivative is zero, so that an infinite
    /// factor does no harm in a direction in which nothing varies.
    TESSELLA_HOST_DEVICE static double
    times(const double factor, const double derivative)
    {
      return derivative == 0. ? 0. : factor * derivative;
    }

    /// Jet of f(v) for this jet v, from f and its derivatives at the value of
    /// v.
    TESSELLA_HOST_DEVICE Jet
    chain(const double f, const double f_1, const double f_2) const
    {
      Jet result(f);
      for (int i = 0; i < dim; ++i)
        {
          result.gradient[i] = times(f_1, gradient[i]);
          for (int j = 0; j < dim; ++j)
            result.hessian[i][j] =
              times(f_1, hessian[i][j]) + times(f_2, gradient[i] * gradient[j]);
        }
      return result;
    }

    /// Jet of f(v, w), from f and its derivatives at the values of v and w.
    TESSELLA_HOST_DEVICE static Jet
    chain(const Jet   &v,
          const Jet   &w,
          const double f,
          const double f_v,
          const double f_w,
          const double f_vv,
          const double f_vw,
          const double f_ww)
    {
      Jet result(f);
      for (int i = 0; i < dim; ++i)
        {
          result.gradient[i] =
            times(f_v, v.gradient[i]) + times(f_w, w.gradient[i]);
          for (int j = 0; j < dim; ++j)
            result.hessian[i][j] = times(f_v, v.hessian[i][j]) +
                                   times(f_w, w.hessian[i][j]) +
                                   times(f_vv, v.gradient[i] * v.gradient[j]) +
                                   times(f_vw, v.gradient[i] * w.gradient[j]) +
                                   times(f_vw, w.gradient[i] * v.gradient[j]) +
                                   times(f_ww, w.gradient[i] * w.gradient[j]);
        }
      return result;
    }

    // Functions defined as friends convert double arguments to jets.
    friend TESSELLA_HOST_DEVICE Jet
    operator+(const Jet &v, const Jet &w)
    {
      return chain(v, w, v.value + w.value, 1., 1., 0., 0., 0.);
    }
    friend TESSELLA_HOST_DEVICE Jet
    operator-(const Jet &v, const Jet &w)
    {
      return chain(v, w, v.value - w.value, 1., -1., 0., 0., 0.);
    }
    friend TESSELLA_HOST_DEVICE Jet
    operator*(const Jet &v, const Jet &w)
    {
      return chain(v, w, v.value * w.value, w.value, v.value, 0., 1., 0.);
    }
    friend TESSELLA_HOST_DEVICE Jet
    operator/(const Jet &v, const Jet &w)
    {
      const double r = 1. / w.value;
      return chain(v,
                   w,
                   v.value / w.value,
                   r,
                   -v.value * r * r,
                   0.,
                   -r * r,
                   2. * v.value * r * r * r);
    }
    friend TESSELLA_HOST_DEVICE Jet
    operator-(const Jet &v)
    {
      return v.chain(-v.value, -1., 0.);
    }
    friend TESSELLA_HOST_DEVICE bool
    operator<(const Jet &v, const Jet &w)
    {
      return v.value < w.value;
    }
    friend TESSELLA_HOST_DEVICE bool
    operator<=(const Jet &v, const Jet &w)
    {
      return v.value <= w.value;
    }
    friend TESSELLA_HOST_DEVICE bool
    operator>(const Jet &v, const Jet &w)
    {
      return v.value > w.value;
    }
    friend TESSELLA_HOST_DEVICE bool
    operator>=(const Jet &v, const Jet &w)
    {
      return v.value >= w.value;
    }
    friend TESSELLA_HOST_DEVICE bool
    operator==(const Jet &v, const Jet &w)
    {
      return v.value == w.value;
    }
    friend TESSELLA_HOST_DEVICE bool
    operator!=(const Jet &v, const Jet &w)
    {
      return v.value != w.value;
    }

    friend TESSELLA_HOST_DEVICE Jet
    pow(const Jet &v, const Jet &w)
    {
      const double a = v.value, b = w.value;
      const double f   = ::pow(a, b);
      const double f_v = b == 0. ? 0. : b * ::pow(a, b - 1.),
                   f_vv =
                     b == 0. || b == 1. ? 0. : b * (b - 1.) * ::pow(a, b - 2.);
      bool varies = false;
      for (int i = 0; i < dim; ++i)
        varies = varies || w.gradient[i] != 0.;
      const double l = varies ? ::log(a) : 0.;
      return chain(v,
                   w,
                   f,
                   f_v,
                   f * l,
                   f_vv,
                   varies ? ::pow(a, b - 1.) * (1. + b * l) : 0.,
                   f * l * l);
    }
    friend TESSELLA_HOST_DEVICE Jet
    atan2(const Jet &v, const Jet &w)
    {
      const double a = v.value, b = w.value, r2 = a * a + b * b, r4 = r2 * r2;
      return chain(v,
                   w,
                   ::atan2(a, b),
                   b / r2,
                   -a / r2,
                   -2. * a * b / r4,
                   (a * a - b * b) / r4,
                   2. * a * b / r4);
    }
    friend TESSELLA_HOST_DEVICE Jet
    fmod(const Jet &v, const Jet &w)
    {
      return chain(v,
                   w,
                   ::fmod(v.value, w.value),
                   1.,
                   -::trunc(v.value / w.value),
                   0.,
                   0.,
                   0.);
    }

#define TESSELLA_JET_FUNCTION(name, statements, f_1, f_2) \
  friend TESSELLA_HOST_DEVICE Jet name(const Jet &v)      \
  {                                                       \
    const double x = v.value, f = ::name(x);              \
    statements;                                           \
    return v.chain(f, f_1, f_2);                          \
  }
    TESSELLA_JET_FUNCTION(sin, const double g = ::cos(x), g, -f)
    TESSELLA_JET_FUNCTION(cos, const double g = -::sin(x), g, -f)
    TESSELLA_JET_FUNCTION(tan, const double g = 1. + f * f, g, 2. * f * g)
    TESSELLA_JET_FUNCTION(asin,
                          const double g = 1. / ::sqrt(1. - x * x),
                          g,
                          x *g *g *g)
    TESSELLA_JET_FUNCTION(acos,
                          const double g = -1. / ::sqrt(1. - x * x),
                          g,
                          x *g *g *g)
    TESSELLA_JET_FUNCTION(atan,
                          const double g = 1. / (1. + x * x),
                          g,
                          -2. * x * g * g)
    TESSELLA_JET_FUNCTION(sinh, const double g = ::cosh(x), g, f)
    TESSELLA_JET_FUNCTION(cosh, const double g = ::sinh(x), g, f)
    TESSELLA_JET_FUNCTION(tanh, const double g = 1. - f * f, g, -2. * f * g)
    TESSELLA_JET_FUNCTION(asinh,
                          const double g = 1. / ::sqrt(1. + x * x),
                          g,
                          -x *g *g *g)
    TESSELLA_JET_FUNCTION(acosh,
                          const double g = 1. / ::sqrt(x * x - 1.),
                          g,
                          -x *g *g *g)
    TESSELLA_JET_FUNCTION(atanh,
                          const double g = 1. / (1. - x * x),
                          g,
                          2. * x * g * g)
    TESSELLA_JET_FUNCTION(exp, (void)x, f, f)
    TESSELLA_JET_FUNCTION(log, const double g = 1. / x, g, -g *g)
    TESSELLA_JET_FUNCTION(log2,
                          const double g = 1.4426950408889634074 / x,
                          g,
                          -g / x)
    TESSELLA_JET_FUNCTION(log10,
                          const double g = 0.43429448190325182765 / x,
                          g,
                          -g / x)
    TESSELLA_JET_FUNCTION(sqrt, const double g = 0.5 / f, g, -0.5 * g / x)
    TESSELLA_JET_FUNCTION(cbrt,
                          const double g = 1. / (3. * f * f),
                          g,
                          -2. * g / (3. * x))
    TESSELLA_JET_FUNCTION(fabs,
                          const double g = x > 0.   ? 1.
                                           : x < 0. ? -1.
                                                    : 0.,
                          g,
                          0.)
    TESSELLA_JET_FUNCTION(floor, (void)x, 0., 0.)
    TESSELLA_JET_FUNCTION(ceil, (void)x, 0., 0.)
    TESSELLA_JET_FUNCTION(rint, (void)x, 0., 0.)
    TESSELLA_JET_FUNCTION(round, (void)x, 0., 0.)
    TESSELLA_JET_FUNCTION(erf,
                          const double g = 1.1283791670955125739 *
                                           ::exp(-x * x),
                          g,
                          -2. * x * g)
    TESSELLA_JET_FUNCTION(erfc,
                          const double g = -1.1283791670955125739 *
                                           ::exp(-x * x),
                          g,
                          -2. * x * g)
#undef TESSELLA_JET_FUNCTION
  };
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_flow_lanes_h
#define tessella_tests_flow_lanes_h

#include <cmath>

// A number type with several lanes, as a SIMD library has them: comparisons
// return masks, so that code with a branch on a number does not compile.

struct Mask
{
  bool lane[4];
};

struct Lanes
{
  double lane[4];

  Lanes() = default;
  Lanes(const double v)
    : lane{v, v, v, v}
  {}
};

#define LANES_OPERATOR(op)                                 \
  inline Lanes operator op(const Lanes &a, const Lanes &b) \
  {                                                        \
    Lanes r;                                               \
    for (int i = 0; i < 4; ++i)                            \
      r.lane[i] = a.lane[i] op b.lane[i];                  \
    return r;                                              \
  }                                                        \
  inline Lanes &operator op##=(Lanes &a, const Lanes &b)   \
  {                                                        \
    return a = a op b;                                     \
  }
LANES_OPERATOR(+)
LANES_OPERATOR(-)
LANES_OPERATOR(*)
LANES_OPERATOR(/)
#undef LANES_OPERATOR

#define LANES_COMPARISON(op)                              \
  inline Mask operator op(const Lanes &a, const Lanes &b) \
  {                                                       \
    Mask r;                                               \
    for (int i = 0; i < 4; ++i)                           \
      r.lane[i] = a.lane[i] op b.lane[i];                 \
    return r;                                             \
  }
LANES_COMPARISON(<)
LANES_COMPARISON(>)
LANES_COMPARISON(>=)
#undef LANES_COMPARISON

#define LANES_FUNCTION(name, arguments, expression) \
  inline Lanes name arguments                       \
  {                                                 \
    Lanes r;                                        \
    for (int i = 0; i < 4; ++i)                     \
      r.lane[i] = expression;                       \
    return r;                                       \
  }
LANES_FUNCTION(operator-, (const Lanes &a), -a.lane[i])
LANES_FUNCTION(sqrt, (const Lanes &a), std::sqrt(a.lane[i]))
LANES_FUNCTION(fabs, (const Lanes &a), std::fabs(a.lane[i]))
LANES_FUNCTION(pow, (const Lanes &a, const double b), std::pow(a.lane[i], b))
LANES_FUNCTION(maximum,
               (const Lanes &a, const Lanes &b),
               a.lane[i] >= b.lane[i] ? a.lane[i] : b.lane[i])
LANES_FUNCTION(minimum,
               (const Lanes &a, const Lanes &b),
               a.lane[i] <= b.lane[i] ? a.lane[i] : b.lane[i])
LANES_FUNCTION(select,
               (const Mask &m, const Lanes &a, const Lanes &b),
               m.lane[i] ? a.lane[i] : b.lane[i])
#undef LANES_FUNCTION

#endif

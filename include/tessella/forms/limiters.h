// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_limiters_h
#define tessella_forms_limiters_h

#include <tessella/forms/polytope_stencil.h>

// Limiters for explicit dG methods, as functors of PolytopewiseOperator. Both
// keep the mean values of all components to rounding, so that they change no
// integral. This file uses neither deal.II nor the standard library.

namespace Tessella
{
  /**
   * Limiter that keeps the values of one component in an interval at all points
   * of PolytopeStencil::x. The function is scaled towards its mean,
   *   u <- m + theta (u - m),
   *   theta = min(1, |upper - m| / |max - m|, |lower - m| / |min - m|),
   * where m is the mean and max and min are taken over the points (X. Zhang,
   * C.-W. Shu, J. Comput. Phys. 229, 2010, 3091-3120). Orders of accuracy stay
   * as they are, as long as the mean is inside the interval. For a forward
   * Euler step this follows from a condition on the step size.
   *
   * The result is theta. A mean outside the interval, which scaling cannot
   * cure, or one that is not a number, has the result -1, and the function is
   * left as it is. If rounding errors are to blame, that is, up to the
   * tolerance, the function becomes its mean.
   */
  struct BoundLimiter
  {
    static constexpr bool point_values = true;

    unsigned int component = 0;
    /// Whether the other components are scaled with the same theta, as for the
    /// conserved quantities of a flow (Y. Xing, X. Zhang, C.-W. Shu, Adv. Water
    /// Resour. 33, 2010, 1476-1493).
    bool   all_components = false;
    double lower = 0., upper = 1e300;
    /// Distance from the interval at which a mean is still accepted.
    double tolerance = 1e-12;

    template <int dim>
    TESSELLA_HOST_DEVICE double
    operator()(const PolytopeStencil<dim> &s, double *u) const
    {
      const double m = s.mean(component);
      if (!(m >= lower - tolerance && m <= upper + tolerance))
        return -1.;
      double max = m, min = m;
      for (unsigned int q = 0; q < s.n_points; ++q)
        {
          const double v = s.value(q, component);
          max            = v > max ? v : max;
          min            = v < min ? v : min;
        }
      double theta = 1.;
      if (max > upper)
        theta = (upper - m) / (max - m);
      if (min < lower && (m - lower) < theta * (m - min))
        theta = (m - lower) / (m - min);
      theta = theta < 0. ? 0. : theta;
      if (theta < 1.)
        for (unsigned int c = 0; c < s.n_components; ++c)
          if (all_components || c == component)
            s.scale_towards_mean(c, theta, u);
      return theta;
    }
  };



  /**
   * Slope limiter for polytopes of any shape, with mean values of all
   * neighbours and a threshold that spares smooth extrema. Component by
   * component, let m be the mean of the polytope, m_j those of its neighbours,
   * g the gradient of the L2 projection onto linear functions on the polytope,
   * and d_j the vectors from its centroid to those of its neighbours. With the
   * values of the linear part half-way between centroids,
   *   v_j = g . d_j / 2,
   * and the differences to the extreme means
   *   D+ = max(0, max_j (m_j - m)),  D- = min(0, min_j (m_j - m)),
   * the factor is
   *   alpha = min_j of min(1, D+ / v_j) if v_j > 0, min(1, D- / v_j) if v_j < 0
   * (T. J. Barth, D. C. Jespersen, AIAA paper 89-0366; D. Kuzmin, J. Comput.
   * Appl. Math. 233, 2010, 3077-3085, takes vertices for the test points).
   * Neighbours with |v_j| <= tvb_constant |d_j|^2 do not count (C.-W. Shu,
   * Math. Comp. 49, 1987, 105-121; B. Cockburn, C.-W. Shu, J. Comput. Phys.
   * 141, 1998, 199-224). If alpha < 1, the function becomes m + alpha g . (x -
   * centroid); otherwise it stays as it is, terms of higher degree included.
   *
   * The points half-way to the neighbours make the limiter exact: a linear
   * function takes values between m and m_j there, whatever the shapes of the
   * polytopes are and also at the boundary, so that it is not changed.
   *
   * The result is the smallest alpha of all components.
   */
  struct SlopeLimiter
  {
    /// Bound of the second derivatives of smooth extrema. Zero limits at all
    /// extrema, which reduces the order there.
    double tvb_constant = 0.;

    template <int dim>
    TESSELLA_HOST_DEVICE double
    operator()(const PolytopeStencil<dim> &s, double *u) const
    {
      double least = 1.;
      for (unsigned int c = 0; s.degree > 0 && c < s.n_components; ++c)
        {
          double g[dim];
          s.slope(c, g);
          const double alpha = factor(s, c, g);
          if (alpha < 1.)
            {
              for (int d = 0; d < dim; ++d)
                g[d] *= alpha;
              s.set_linear(c, g, u);
            }
          least = alpha < least ? alpha : least;
        }
      return least;
    }

  private:
    template <int dim>
    TESSELLA_HOST_DEVICE double
    factor(const PolytopeStencil<dim> &s,
           const unsigned int          c,
           const double               *g) const
    {
      const double m    = s.mean(c);
      double       plus = 0., minus = 0.;
      for (unsigned int j = 0; j < s.n_interfaces && !s.at_boundary(j); ++j)
        {
          const double difference = s.neighbor_mean(j, c) - m;
          plus                    = difference > plus ? difference : plus;
          minus                   = difference < minus ? difference : minus;
        }
      // Differences of the size of rounding errors are those of a constant.
      const double rounding = 1e-14 * ((m < 0. ? -m : m) + (plus - minus));
      double       alpha    = 1.;
      for (unsigned int j = 0; j < s.n_interfaces && !s.at_boundary(j); ++j)
        {
          double v = 0., square = 0.;
          for (int d = 0; d < dim; ++d)
            {
              const double difference =
                s.interfaces[j].neighbor_centroid[d] - s.centroid[d];
              v += 0.5 * g[d] * difference;
              square += difference * difference;
            }
          const double size = v < 0. ? -v : v, bound = v < 0. ? -minus : plus;
          if (size > tvb_constant * square + rounding && bound < alpha * size)
            alpha = bound / size;
        }
      return alpha;
    }
  };
} // namespace Tessella

#endif

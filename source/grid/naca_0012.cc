// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/numbers.h>

#include <tessella/base/exceptions.h>
#include <tessella/grid/naca_0012.h>

#include <array>
#include <cmath>
#include <complex>
#include <string>

namespace Tessella
{
  namespace Naca0012
  {
    namespace
    {
      using Complex = std::complex<double>;

      // Radius of the nose: (0.6 * 0.2969)^2 / 2. The segment begins at half of
      // it.
      constexpr double nose   = 0.5 * 0.17814 * 0.17814;
      constexpr double begin  = 0.5 * nose;
      constexpr double middle = 0.5 * (1. + begin);
      constexpr double c      = 0.25 * (1. - begin);

      // Half of the thickness is 0.6 v u (b_0 + b_1 u + ... + b_6 u^6) where
      // x = u^2 and v = 1 - u. The factor v is divided out, for full relative
      // accuracy at the trailing edge: the b_i are sums of the first
      // coefficients of the definition.
      using Quotient = std::array<double, 7>;

      constexpr Quotient closed_quotient = {
        {.2969, .1709, .1709, -.1807, -.1807, .1036, .1036}};

      // The zero of the original thickness is x = r^2, and the scaled one at u
      // is that at r u over r^2.
      Quotient
      make_extended_quotient()
      {
        const auto powers = [](const double r) {
          return std::array<double, 5>{{.2969 * r,
                                        -.1260 * std::pow(r, 2),
                                        -.3516 * std::pow(r, 4),
                                        .2843 * std::pow(r, 6),
                                        -.1015 * std::pow(r, 8)}};
        };
        double low = 1., high = 1.01;
        for (unsigned int i = 0; i < 60; ++i)
          {
            const double r   = .5 * (low + high);
            double       sum = 0.;
            for (const double term : powers(r))
              sum += term;
            (sum > 0. ? low : high) = r;
          }
        const double r    = .5 * (low + high);
        const auto   a    = powers(r);
        const double last = -a[4] / (r * r), b2 = (a[0] + a[1]) / (r * r),
                     b4 = b2 + a[2] / (r * r);
        return {{a[0] / (r * r), b2, b2, b4, b4, last, last}};
      }

      const Quotient &
      quotient(const TrailingEdge edge)
      {
        static const Quotient extended = make_extended_quotient();
        return edge == TrailingEdge::coefficient ? closed_quotient : extended;
      }

      double
      thickness(const double u, const double v, const TrailingEdge edge)
      {
        const Quotient &b = quotient(edge);
        return 0.6 * v * u *
               (b[0] +
                u * (b[1] +
                     u * (b[2] +
                          u * (b[3] + u * (b[4] + u * (b[5] + u * b[6]))))));
      }

      // Image of a point in the upper half plane, given by z - 1 and z - begin.
      Complex
      to_circle(const Complex &from_edge, const Complex &from_nose)
      {
        return .5 * (.5 * (from_edge + from_nose) +
                     std::sqrt(from_edge) * std::sqrt(from_nose));
      }

      // Point of the upper side with 1 - x^(1/2) = w^2, and its image.
      struct ProfilePoint
      {
        ProfilePoint(const double w, const TrailingEdge edge)
        {
          const double v = w * w, u = 1. - v, y = thickness(u, v, edge);
          point = Complex(u * u, y);
          image = to_circle({-v * (1. + u), y}, {u * u - begin, y});
        }

        Complex point, image;
      };

      // Point of the upper side whose image has the angle phi in [0, pi].
      ProfilePoint
      find_profile_point(const double phi, const TrailingEdge edge)
      {
        if (phi <= 0.)
          return ProfilePoint(0., edge);
        double low = 0., high = 1.;
        for (unsigned int i = 0; i < 60; ++i)
          {
            const double w = .5 * (low + high);
            (std::arg(ProfilePoint(w, edge).image) < phi ? low : high) = w;
          }
        return ProfilePoint(phi >= dealii::numbers::PI ? 1. : .5 * (low + high),
                            edge);
      }
    } // namespace



    double
    half_thickness(const double x, const TrailingEdge edge)
    {
      AssertThrow(x >= 0. && x <= 1.,
                  ExcUserInput("The chord of the aerofoil is x = 0 to 1."));
      const double u = std::sqrt(x);
      return thickness(u, 1. - u, edge);
    }



    OGridManifold::OGridManifold(const double       far_field,
                                 const TrailingEdge edge)
      : dealii::ChartManifold<2, 2, 2>(
          dealii::Point<2>(2. * dealii::numbers::PI, 0.))
      , far_field(far_field)
      , edge(edge)
    {
      AssertThrow(far_field >= 1.,
                  ExcUserInput("The far field of the aerofoil must have a "
                               "radius of at least 1 chord, but it is " +
                               std::to_string(far_field) + "."));
    }



    std::unique_ptr<dealii::Manifold<2, 2>>
    OGridManifold::clone() const
    {
      return std::make_unique<OGridManifold>(far_field, edge);
    }



    dealii::Point<2>
    OGridManifold::pull_back(const dealii::Point<2> &point) const
    {
      const double  y = std::abs(point[1]);
      const Complex image =
        to_circle({point[0] - 1., y}, {point[0] - begin, y});
      const double phi   = std::arg(image);
      const double first = std::abs(find_profile_point(phi, edge).image);
      double       s     = (std::abs(image) - first) / (far_field - first);
      // The image of the trailing edge is singular: rounding grows there.
      if (std::abs(s) < 1e-8 / far_field)
        s = 0.;
      const double whole = 2. * dealii::numbers::PI;
      return {point[1] < 0. && phi > 0. && whole - phi < whole ? whole - phi
                                                               : phi,
              s};
    }



    dealii::Point<2>
    OGridManifold::push_forward(const dealii::Point<2> &chart_point) const
    {
      const double pi  = dealii::numbers::PI;
      double       phi = chart_point[0];
      phi -= 2. * pi * std::floor(phi / (2. * pi));
      const bool lower = phi > pi;
      if (lower)
        phi = 2. * pi - phi;
      const ProfilePoint profile = find_profile_point(phi, edge);
      Complex            z       = profile.point;
      if (chart_point[1] != 0.)
        {
          const double  first  = std::abs(profile.image);
          const double  radius = first + chart_point[1] * (far_field - first);
          const Complex zeta   = phi == 0.   ? Complex(radius, 0.)
                                 : phi == pi ? Complex(-radius, 0.)
                                             : std::polar(radius, phi);
          z                    = middle + zeta + c * c / zeta;
        }
      return {z.real(), lower ? -z.imag() : z.imag()};
    }
  } // namespace Naca0012
} // namespace Tessella

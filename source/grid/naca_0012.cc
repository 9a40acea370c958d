// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/numbers.h>

#include <tessella/base/exceptions.h>
#include <tessella/grid/naca_0012.h>

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

      // Half of the thickness where x = u^2 and v = 1 - u. The factor v is
      // divided out, for full relative accuracy at the trailing edge: the
      // coefficients are sums of the first coefficients of the definition.
      double
      thickness(const double u, const double v)
      {
        return 0.6 * v * u *
               (.2969 +
                u *
                  (.1709 +
                   u * (.1709 + u * (-.1807 +
                                     u * (-.1807 + u * (.1036 + u * .1036))))));
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
        explicit ProfilePoint(const double w)
        {
          const double v = w * w, u = 1. - v, y = thickness(u, v);
          point = Complex(u * u, y);
          image = to_circle({-v * (1. + u), y}, {u * u - begin, y});
        }

        Complex point, image;
      };

      // Point of the upper side whose image has the angle phi in [0, pi].
      ProfilePoint
      find_profile_point(const double phi)
      {
        if (phi <= 0.)
          return ProfilePoint(0.);
        double low = 0., high = 1.;
        for (unsigned int i = 0; i < 60; ++i)
          {
            const double w = .5 * (low + high);
            (std::arg(ProfilePoint(w).image) < phi ? low : high) = w;
          }
        return ProfilePoint(phi >= dealii::numbers::PI ? 1.
                                                       : .5 * (low + high));
      }
    } // namespace



    double
    half_thickness(const double x)
    {
      AssertThrow(x >= 0. && x <= 1.,
                  ExcUserInput("The chord of the aerofoil is x = 0 to 1."));
      const double u = std::sqrt(x);
      return thickness(u, 1. - u);
    }



    OGridManifold::OGridManifold(const double far_field)
      : dealii::ChartManifold<2, 2, 2>(
          dealii::Point<2>(2. * dealii::numbers::PI, 0.))
      , far_field(far_field)
    {
      AssertThrow(far_field >= 1.,
                  ExcUserInput("The far field of the aerofoil must have a "
                               "radius of at least 1 chord, but it is " +
                               std::to_string(far_field) + "."));
    }



    std::unique_ptr<dealii::Manifold<2, 2>>
    OGridManifold::clone() const
    {
      return std::make_unique<OGridManifold>(far_field);
    }



    dealii::Point<2>
    OGridManifold::pull_back(const dealii::Point<2> &point) const
    {
      const double  y = std::abs(point[1]);
      const Complex image =
        to_circle({point[0] - 1., y}, {point[0] - begin, y});
      const double phi   = std::arg(image);
      const double first = std::abs(find_profile_point(phi).image);
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
      const ProfilePoint profile = find_profile_point(phi);
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_grid_naca_0012_h
#define tessella_grid_naca_0012_h

#include <deal.II/base/point.h>

#include <deal.II/grid/manifold.h>

#include <memory>

namespace Tessella
{
  /**
   * NACA 0012 aerofoil with a closed trailing edge, of chord 1 from (0,0) to
   * (1,0). The original definition is y = 0.6 (0.2969 x^(1/2) - 0.1260 x -
   * 0.3516 x^2 + 0.2843 x^3 - 0.1015 x^4), whose edge is 0.25 % thick.
   */
  namespace Naca0012
  {
    /// How the trailing edge is closed.
    enum class TrailingEdge
    {
      /// The last coefficient is 0.1036, which makes y(1) = 0.
      coefficient,
      /// The original curve goes on to its zero, x = 1.00893, and is scaled to
      /// chord 1, as by J. C. Vassberg and A. Jameson (J. Aircraft 47, 2010):
      /// it is 11.90 % thick.
      extended
    };

    /// Half of the thickness at @p x between 0 and 1.
    double
    half_thickness(const double       x,
                   const TrailingEdge edge = TrailingEdge::coefficient);

    /**
     * O-grid coordinates of the plane around the aerofoil: the angle phi from 0
     * to 2 pi, counter-clockwise from the trailing edge, and s, which is 0 on
     * the aerofoil and 1 on the far field. The straight rays and circles of
     * the plane of zeta = r exp(i phi) become nearly orthogonal lines by
     * z = m + zeta + c^2 / zeta, which maps the circle of radius c to a
     * segment between the trailing edge and the centre of curvature of the
     * nose halved; the aerofoil is nearly a circle in that plane. There, s is
     * the distance from the aerofoil on a ray, divided by that of the far
     * field. The upper and the lower side are mirror images to the last bit.
     */
    class OGridManifold : public dealii::ChartManifold<2, 2, 2>
    {
    public:
      /// @p far_field is the radius of the far field in chords. It is an
      /// ellipse around x = 0.504, whose semi-axes differ from the radius by
      /// 0.062 / far_field. @p far_field must be at least 1.
      explicit OGridManifold(
        const double       far_field,
        const TrailingEdge edge = TrailingEdge::coefficient);

      std::unique_ptr<dealii::Manifold<2, 2>>
      clone() const override;

      /// (phi, s) of a point.
      dealii::Point<2>
      pull_back(const dealii::Point<2> &point) const override;

      /// Point from (phi, s).
      dealii::Point<2>
      push_forward(const dealii::Point<2> &chart_point) const override;

    private:
      double       far_field;
      TrailingEdge edge;
    };
  } // namespace Naca0012
} // namespace Tessella

#endif

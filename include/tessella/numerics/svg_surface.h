// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_svg_surface_h
#define tessella_numerics_svg_surface_h

#include <iosfwd>
#include <string>
#include <vector>

namespace Tessella
{
  /// Triangle or quadrilateral of a surface in space, with a value.
  struct SurfacePolygon
  {
    unsigned int n_corners = 0;
    /// Counterclockwise as seen from outside.
    double corners[4][3] = {};
    /// Its colour. Those that are not finite are grey.
    double value = 0.;
  };

  /// Options of draw_surface_svg().
  struct SurfaceSvgFlags
  {
    /// Length of the longer side of the drawing, in pixels.
    unsigned int size = 1000;
    /// Line above the drawing; an empty string means none.
    std::string title;
    /// Direction of view, in degrees: rotation around the z axis, and height
    /// above the x-y plane.
    double azimuth = 35., elevation = 25.;
  };

  /**
   * Draws a surface in space in a parallel projection, with colours for the
   * values, a legend of their range, and a little shade for the angle to the
   * view. Polygons that show their back are left out. The others are drawn in
   * the order of the distance of their centres, far ones first, so that near
   * ones cover them: that is right but for polygons that are as large as the
   * distance of two parts of the surface.
   */
  void
  draw_surface_svg(const std::vector<SurfacePolygon> &surface,
                   std::ostream                      &out,
                   const SurfaceSvgFlags             &flags = {});
} // namespace Tessella

#endif

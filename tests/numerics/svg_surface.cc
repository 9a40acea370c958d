// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
// Drawing of surfaces with values: what is hidden, colours, legend.

#include <tessella/numerics/svg_surface.h>

#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "../tests.h"

using namespace Tessella;

namespace
{
  /// Adds the six sides of a cube, each of two triangles, with the values
  /// first, first + 1, ..
  void
  add_cube(const double (&lower)[3],
           const double                 side,
           const double                 first,
           std::vector<SurfacePolygon> &surface)
  {
    for (unsigned int d = 0; d < 3; ++d)
      for (unsigned int upper = 0; upper < 2; ++upper)
        for (unsigned int half = 0; half < 2; ++half)
          {
            // Corners (0,0), (1,0), (1,1), (0,1) of the other coordinates.
            const unsigned int around[2][3] = {{0, 1, 2}, {0, 2, 3}};
            SurfacePolygon     triangle;
            triangle.n_corners = 3;
            triangle.value     = first + 2 * d + upper;
            for (unsigned int v = 0; v < 3; ++v)
              {
                // Counterclockwise from outside.
                const unsigned int c = around[half][upper == 1 ? v : 2 - v];
                double *const      x = triangle.corners[v];
                x[d]                 = lower[d] + upper * side;
                x[(d + 1) % 3] = lower[(d + 1) % 3] + (c == 1 || c == 2) * side;
                x[(d + 2) % 3] = lower[(d + 2) % 3] + (c >= 2) * side;
              }
            surface.push_back(triangle);
          }
  }

  std::string
  drawing(const std::vector<SurfacePolygon> &surface)
  {
    std::ostringstream out;
    SurfaceSvgFlags    flags;
    flags.title = "a < b";
    draw_surface_svg(surface, out, flags);
    return out.str();
  }

  unsigned int
  count(const std::string &text, const std::string &part)
  {
    unsigned int n = 0;
    for (std::size_t i = text.find(part); i != std::string::npos;
         i             = text.find(part, i + 1))
      ++n;
    return n;
  }

  /// Colours of the facets in the order in which they are drawn.
  std::vector<std::string>
  colors(const std::string &text)
  {
    std::vector<std::string> result;
    const std::string        start = "class=\"facet\" fill=\"";
    for (std::size_t i = text.find(start); i != std::string::npos;
         i             = text.find(start, i + 1))
      result.push_back(text.substr(i + start.size(), 7));
    return result;
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram                 program(argc, argv);
  std::vector<SurfacePolygon> surface;
  add_cube({0., 0., 0.}, 1., 0., surface);
  const std::string cube  = drawing(surface);
  const auto        sides = colors(cube);
  check("Three sides of a cube are visible", sides.size() == 6);
  std::map<std::string, unsigned int> n_with_color;
  for (const std::string &color : sides)
    ++n_with_color[color];
  bool pairs = n_with_color.size() == 3;
  for (const auto &color : n_with_color)
    pairs = pairs && color.second == 2;
  check("Both triangles of a side have one colour, sides have three", pairs);
  check("Title and limits of the values",
        count(cube, "a &lt; b") == 1 && count(cube, ">0</text>") == 1 &&
          count(cube, ">5</text>") == 1 && count(cube, "</svg>") == 1);

  // A cube in front, in the direction of view, is drawn last in any order.
  std::vector<SurfacePolygon> both;
  add_cube({4., 3., 2.}, 1., 10., both);
  const auto front = colors(drawing(both));
  both.insert(both.end(), surface.begin(), surface.end());
  const auto                  two = colors(drawing(both));
  std::vector<SurfacePolygon> reversed(both.rbegin(), both.rend());
  check("Two cubes", two.size() == 12 && front.size() == 6);
  check("The order of the polygons does not matter",
        drawing(both).size() == drawing(reversed).size() &&
          colors(drawing(reversed)) == two);
  both.resize(12);
  for (SurfacePolygon &polygon : both)
    polygon.value = 15.;
  both.insert(both.end(), surface.begin(), surface.end());
  for (unsigned int i = 12; i < both.size(); ++i)
    both[i].value = std::numeric_limits<double>::quiet_NaN();
  both[0].value   = 14.;
  const auto grey = colors(drawing(both));
  // Shades of grey have nearly equal parts.
  unsigned int n_grey = 0;
  for (unsigned int i = 0; i < 6; ++i)
    {
      const auto part = [&](const unsigned int c) {
        return std::stoi(grey[i].substr(1 + 2 * c, 2), nullptr, 16);
      };
      n_grey += std::abs(part(0) - part(2)) < 30 ? 1 : 0;
    }
  check("What is not finite is grey, and far sides are drawn first",
        n_grey == 6);
  check("An empty surface", colors(drawing({})).empty());
}

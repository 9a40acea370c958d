// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_svg_h
#define tessella_numerics_svg_h

#include <tessella/grid/agglomeration_handler.h>

#include <string>
#include <vector>

namespace Tessella
{
  /// How write_mesh_svg() draws.
  struct MeshSvgFlags
  {
    /// Pixels of the longer side of the drawing.
    unsigned int size = 1000;
    /// Line above the drawing; empty: none.
    std::string title;
    /// Also the edges of the fine cells, thin.
    bool fine_cells = false;
    /// Index in the middle of each polytope (2-D).
    bool labels = false;
    /// Colour by polynomial degree, with a legend, instead of telling
    /// neighbours apart.
    bool color_by_degree = false;
    /// 3-D: direction of view, in degrees: rotation around the z axis and
    /// height above the x-y plane.
    double azimuth = 35., elevation = 25.;
    /// 3-D: pulls the polytopes apart, so that those inside can be seen: the
    /// distances of their centres grow by this fraction. 0: only the surface of
    /// the domain is drawn.
    double explode = 0.;
  };

  /**
   * Draws a polytopic mesh as SVG; no display and no other program is needed.
   *
   * 2-D: every polytope is one filled path of all its boundary loops, holes and
   * parts included, in one of few light colours such that neighbours differ
   * (greedy colouring in smallest-last order), and outlined; edges between fine
   * cells of one polytope do not appear unless asked for. 3-D: the boundary of
   * the domain in a parallel projection, shaded by the angle to the view, with
   * outlines where the polytope changes or the surface has an edge.
   *
   * The file is there completely or not at all (see write_file()).
   */
  template <int dim>
  void
  write_mesh_svg(const AgglomerationHandler<dim> &handler,
                 const std::string               &file_name,
                 const MeshSvgFlags              &flags = {});

  /// Curve of a plot: y against x. Points that a logarithmic axis cannot show
  /// (zero, negative, not finite) are left out.
  struct PlotCurve
  {
    std::string         label;
    std::vector<double> x, y;
    /// A triangle of this slope is drawn at the last two points; 0: none. For
    /// a decreasing error against the number of unknowns it is negative,
    /// against the mesh size positive.
    double slope = 0.;
    /// Curves of one group have the same colour but different markers and
    /// dashes (say, L2 and H1 errors of one degree); -1: a colour of its own.
    int group = -1;
  };

  /// How write_plot_svg() draws. In the labels of the axes, what follows '^'
  /// (one character, or all in parentheses) is raised.
  struct PlotFlags
  {
    std::string  title, x_label = "mesh size h", y_label = "error";
    unsigned int width = 900, height = 680;
    bool         logarithmic_x = true, logarithmic_y = true;
  };

  /**
   * Draws curves, convergence histories above all, as SVG: axes with decade
   * ticks where logarithmic, grid, markers, legend, slope triangles; colours
   * that remain distinct with colour-blindness and markers that tell curves
   * apart in print. Curves without a point that can be shown remain in the
   * legend. The file is there completely or not at all (see write_file()).
   */
  void
  write_plot_svg(const std::vector<PlotCurve> &curves,
                 const std::string            &file_name,
                 const PlotFlags              &flags = {});
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_svg_h
#define tessella_numerics_svg_h

#include <tessella/grid/agglomeration_handler.h>

#include <iosfwd>
#include <string>
#include <vector>

namespace Tessella
{
  /// Options of write_mesh_svg().
  struct MeshSvgFlags
  {
    /// Length of the longer side of the drawing, in pixels.
    unsigned int size = 1000;
    /// Line above the drawing; an empty string means none.
    std::string title;
    /// Whether the edges of the fine cells are drawn, too, as thin lines.
    bool fine_cells = false;
    /// Whether the index is written in the middle of each polytope (2-D).
    bool labels = false;
    /// Whether colours show the polynomial degree, with a legend; otherwise
    /// they distinguish neighbours.
    bool color_by_degree = false;
    /// Values that are drawn instead of polytopes: one for each sub-cell, in
    /// the order of PolytopicMesh, with a legend of the range of those that are
    /// finite. If empty, the colours are those of polytopes.
    std::vector<double> values;
    /// 3-D: direction of view, in degrees: rotation around the z axis, and
    /// height above the x-y plane.
    double azimuth = 35., elevation = 25.;
    /// 3-D: fraction by which the distances of the polytopes' centres are
    /// enlarged, so that polytopes inside the domain become visible. 0: only
    /// the surface of the domain is drawn.
    double explode = 0.;
  };

  /**
   * Draws a polytopic mesh as SVG; no display and no other program is needed.
   *
   * 2-D: every polytope is one filled path of all its boundary loops, including
   * those of holes and separate parts, with an outline. It has one of a small
   * number of light colours such that neighbours differ (greedy colouring in
   * smallest-last order). Edges between fine cells of one polytope are drawn on
   * request only. 3-D: the boundary of the domain in a parallel projection,
   * shaded by the angle to the view, with outlines where the polytope changes
   * or the surface has an edge.
   *
   * The file is written completely or not at all (see write_file()).
   */
  template <int dim>
  void
  write_mesh_svg(const AgglomerationHandler<dim> &handler,
                 const std::string               &file_name,
                 const MeshSvgFlags              &flags = {});

  /// The same drawing in a stream, such as a part of another document.
  template <int dim>
  void
  draw_mesh_svg(const AgglomerationHandler<dim> &handler,
                std::ostream                    &out,
                const MeshSvgFlags              &flags = {});
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_table_plot_h
#define tessella_applications_common_table_plot_h

#include <iosfwd>
#include <string>
#include <vector>

namespace Tessella
{
  namespace Application
  {
    /// Curve of a plot: y against x. Points that a logarithmic axis cannot show
    /// (zero, negative, not finite) are omitted.
    struct PlotCurve
    {
      std::string         label;
      std::vector<double> x, y;
      /// Slope of a triangle that is drawn at the last two points; 0 means no
      /// triangle. For a decreasing error it is negative against the number of
      /// DoFs, and positive against the mesh size.
      double slope = 0.;
      /// Curves of one group have the same colour but different markers and
      /// dashes (say, L2 and H1 errors of one degree); -1 means a separate
      /// colour.
      int group = -1;
    };

    /// Options of write_plot_svg(). In the labels of the axes, the character
    /// that follows '^', or all characters in parentheses that follow it, are
    /// raised.
    struct PlotFlags
    {
      std::string  title, x_label = "mesh size h", y_label = "error";
      unsigned int width = 900, height = 680;
      bool         logarithmic_x = true, logarithmic_y = true;
    };

    /**
     * Draws curves, in particular convergence histories, as SVG: axes with
     * decade ticks if logarithmic, grid, markers, legend, slope triangles.
     * Colours remain distinct with colour-blindness, and markers distinguish
     * curves in print. A curve of which no point can be shown remains in the
     * legend. The file is written completely or not at all (see write_file()).
     */
    void
    write_plot_svg(const std::vector<PlotCurve> &curves,
                   const std::string            &file_name,
                   const PlotFlags              &flags = {});

    /// The same drawing in a stream.
    void
    draw_plot_svg(const std::vector<PlotCurve> &curves,
                  std::ostream                 &out,
                  const PlotFlags              &flags = {});
  } // namespace Application
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
// Plots of tables: curves, markers, legend, slopes, labels, and ticks.

#include "../../applications/common/table_plot.h"

#include <deal.II/base/exceptions.h>

#include <cmath>
#include <limits>

#include "../numerics/drawing.h"
#include "../tests.h"

using namespace Tessella::Application;

void
plots()
{
  std::vector<PlotCurve> curves(3);
  for (unsigned int i = 0; i < 5; ++i)
    for (unsigned int c = 0; c < 3; ++c)
      {
        curves[c].label = "p < " + std::to_string(c);
        curves[c].slope = c + 1.;
        curves[c].x.push_back(std::pow(.5, i));
        curves[c].y.push_back(std::pow(.5, i * (c + 1.)));
      }
  // A logarithmic axis cannot show this value.
  curves[1].y[1] = 0.;
  curves[1].y[2] = std::numeric_limits<double>::quiet_NaN();
  curves[2].y.assign(5, -1.);
  PlotFlags flags;
  flags.x_label = "n^(1/2) < 1^";
  write_plot_svg(curves, "plot.svg", flags);
  const std::string svg = read("plot.svg");
  check("plot, well-formed", well_formed(svg));
  check("plot, no broken numbers",
        count(svg, "nan") == 0 && count(svg, "inf") == 0);
  check("plot, curves", count(svg, "class=\"curve\"") == 2);
  // First curve: circles; second curve: squares; each has one more in the
  // legend.
  check("plot, markers", count(svg, "<circle") == 6);
  check("plot, legend", count(svg, "p &lt; ") == 3);
  check("plot, slopes",
        count(svg, "class=\"slope\"") >= 1 &&
          count(svg, "class=\"slope\"") <= 2);
  check("plot, raised text",
        count(svg, ">1/2</tspan>") == 1 && count(svg, " &lt; 1^") == 1);
  flags.logarithmic_x = false;
  curves[0].x         = {1., 2., 3., 4., 5.};
  write_plot_svg({curves[0]}, "plot.svg", flags);
  check("plot, ticks at integers",
        count(read("plot.svg"), ">2</text>") == 1 &&
          count(read("plot.svg"), ">1.5</text>") == 0);
  PlotCurve many;
  for (unsigned int i = 1; i <= 1000; ++i)
    {
      many.x.push_back(i);
      many.y.push_back(i);
    }
  write_plot_svg({many}, "plot.svg", flags);
  check("plot, markers of many points",
        count(read("plot.svg"), "<circle") == 21);
  write_plot_svg({}, "plot.svg");
  check("plot, empty", well_formed(read("plot.svg")));
  curves[0].x.pop_back();
  check_throws<dealii::ExceptionBase>("plot, lengths", [&]() {
    write_plot_svg(curves, "plot.svg");
  });
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  plots();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "table_plot.h"

#include <deal.II/base/exceptions.h>

#include <tessella/numerics/svg_elements.h>
#include <tessella/numerics/write_file.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <ostream>
#include <utility>

namespace Tessella
{
  namespace Application
  {
    using namespace Svg;

    namespace
    {
      /// the text in parentheses that follows it.
      std::string
      label_text(const std::string &label)
      {
        std::string       result;
        const std::size_t n = label.size();
        for (std::size_t i = 0; i < n;)
          {
            const std::size_t hat = std::min(label.find('^', i), n);
            result += escape(label.substr(i, hat - i));
            if (hat + 1 >= n)
              {
                result += escape(label.substr(hat));
                break;
              }
            std::size_t begin = hat + 1, end = hat + 2, next = hat + 2;
            if (label[begin] == '(')
              {
                const std::size_t close = label.find(')', begin);
                if (close != std::string::npos)
                  {
                    ++begin;
                    end  = close;
                    next = close + 1;
                  }
              }
            result += "<tspan dy=\"-0.45em\" font-size=\"72%\">" +
                      escape(label.substr(begin, end - begin)) + "</tspan>";
            if (next < n)
              result += "<tspan dy=\"0.32em\">" +
                        label_text(label.substr(next)) + "</tspan>";
            break;
          }
        return result;
      }

      /// Axis of a plot: range, ticks, and transformation to [0,1].
      struct Axis
      {
        bool logarithmic = false;
        /// Whether all values are integers, so that a linear axis has no ticks
        /// in between.
        bool                                        integers = true;
        double                                      low = 0., high = 1.;
        std::vector<std::pair<double, std::string>> ticks;
        std::vector<double>                         minor;

        double
        transform(const double value) const
        {
          return ((logarithmic ? std::log10(value) : value) - low) /
                 (high - low);
        }

        bool
        shows(const double value) const
        {
          return std::isfinite(value) && (!logarithmic || value > 0.);
        }

        static std::string
        power(const int exponent)
        {
          if (exponent == 0)
            return "1";
          if (exponent == 1)
            return "10";
          // A true minus sign, and a raised exponent.
          return "10<tspan dy=\"-0.45em\" font-size=\"72%\">" +
                 std::string(exponent < 0 ? "\xE2\x88\x92" : "") +
                 std::to_string(std::abs(exponent)) + "</tspan>";
        }

        static std::string
        plain(const double value)
        {
          char s[32];
          std::snprintf(s, sizeof(s), "%.6g", value);
          return s;
        }

        void
        set(double minimum, double maximum)
        {
          if (!(minimum <= maximum)) // no values
            {
              minimum = logarithmic ? .1 : 0.;
              maximum = 1.;
            }
          if (logarithmic)
            set_logarithmic(minimum, maximum);
          else
            set_linear(minimum, maximum);
        }

        /// Range and ticks of a logarithmic axis.
        void
        set_logarithmic(const double minimum, const double maximum)
        {
          double l = std::log10(minimum), h = std::log10(maximum);
          // Some room around the curves, and a range of at least 0.7 decades.
          const double room = std::max(.06 * (h - l), .05);
          l -= room;
          h += room;
          if (h - l < .7)
            {
              const double middle = .5 * (l + h);
              l                   = middle - .35;
              h                   = middle + .35;
            }
          low             = l;
          high            = h;
          const int first = static_cast<int>(std::ceil(l - 1e-9)),
                    last  = static_cast<int>(std::floor(h + 1e-9));
          // Decades, thinned out if there are more than eight; for a range
          // below two decades also 2 and 5.
          const int step =
            std::max(1, (last - first) / 8 + ((last - first) % 8 ? 1 : 0));
          const bool few = last - first < 2;
          for (int decade = first - 1; decade <= last; ++decade)
            for (int m = 1; m < 10; ++m)
              {
                const double t = decade + std::log10(m);
                if (t < l - 1e-9 || t > h + 1e-9)
                  continue;
                if (m == 1 && ((decade % step) + step) % step == 0)
                  ticks.emplace_back(t,
                                     few ? label_few(1, decade)
                                         : power(decade));
                else if (few && (m == 2 || m == 5))
                  ticks.emplace_back(t, label_few(m, decade));
                else if (step == 1 || m == 1)
                  minor.push_back(t);
              }
        }

        /// Range and ticks of a linear axis.
        void
        set_linear(const double minimum, const double maximum)
        {
          const double room = maximum > minimum
                                ? .06 * (maximum - minimum)
                                : std::max(.5, .1 * std::abs(maximum));
          low               = minimum - room;
          high              = maximum + room;
          // Four to ten steps of 1, 2 or 5 times a power of ten.
          double       step = std::pow(10., std::floor(std::log10(high - low)));
          const double n    = (high - low) / step;
          step *= n < 2. ? .2 : (n < 5. ? .5 : 1.);
          if (integers)
            step = std::max(step, 1.);
          for (double t = std::ceil(low / step); t * step <= high; t += 1.)
            ticks.emplace_back(t * step,
                               plain(std::abs(t) < .5 ? 0. : t * step));
        }

        static std::string
        label_few(const int m, const int decade)
        {
          if (decade >= -3 && decade <= 4)
            return plain(m * std::pow(10., decade));
          return m == 1 ? power(decade)
                        : std::to_string(m) + "\xC2\xB7" + power(decade);
        }

        double
        position(const double tick) const
        {
          return (tick - low) / (high - low);
        }
      };

      // Colours that remain distinct with all common kinds of colour
      // blindness: the qualitative scheme of M. Okabe and K. Ito without
      // yellow, which is too light for lines.
      const char *const line_colors[7] = {"#0072b2",
                                          "#d55e00",
                                          "#009e73",
                                          "#cc79a7",
                                          "#56b4e9",
                                          "#e69f00",
                                          "#333333"};
      const char *const dashes[4]      = {"", "8 5", "2.5 4", "10 4 2.5 4"};

      void
      line(std::ostream      &out,
           const double       x1,
           const double       y1,
           const double       x2,
           const double       y2,
           const std::string &attributes)
      {
        out << "<line x1=\"" << number(x1) << "\" y1=\"" << number(y1)
            << "\" x2=\"" << number(x2) << "\" y2=\"" << number(y2) << '"'
            << attributes << "/>\n";
      }

      void
      marker(std::ostream      &out,
             const unsigned int shape,
             const double       x,
             const double       y,
             const std::string &color)
      {
        const double r = 5.5;
        auto         polygon =
          [&](const std::vector<std::pair<double, double>> &corners) {
            out << "<polygon points=\"";
            for (const auto &c : corners)
              out << number(x + r * c.first) << ',' << number(y + r * c.second)
                  << ' ';
          };
        switch (shape % 6)
          {
            case 0:
              out << "<circle cx=\"" << number(x) << "\" cy=\"" << number(y)
                  << "\" r=\"" << number(.95 * r);
              break;
            case 1:
              polygon({{-.85, -.85}, {.85, -.85}, {.85, .85}, {-.85, .85}});
              break;
            case 2:
              polygon({{0., -1.2}, {1.1, .8}, {-1.1, .8}});
              break;
            case 3:
              polygon({{0., -1.25}, {1.1, 0.}, {0., 1.25}, {-1.1, 0.}});
              break;
            case 4:
              polygon({{0., 1.2}, {1.1, -.8}, {-1.1, -.8}});
              break;
            default:
              polygon({{-.55, -1.05},
                       {.55, -1.05},
                       {1.1, 0.},
                       {.55, 1.05},
                       {-.55, 1.05},
                       {-1.1, 0.}});
          }
        out << "\" fill=\"" << color
            << "\" stroke=\"#ffffff\" stroke-width=\"1.2\"/>\n";
      }

      using Points = std::vector<std::pair<double, double>>;

      /**
       * Finds positions for slope triangles next to their curves: at one of
       * the last segments, below or above, such that no other curve passes
       * through a triangle and triangles do not overlap. Triangles are
       * smaller if there is little room, and omitted if there is none.
       */
      class SlopePlacement
      {
      public:
        /// Corners in pixels from the lower left corner of the frame, with y
        /// upwards; the last corner has the right angle.
        struct Triangle
        {
          double x[3], y[3];
        };

        SlopePlacement(const Axis                &x_axis,
                       const Axis                &y_axis,
                       const std::vector<Points> &points,
                       const double               width,
                       const double               height)
          : decade_x(width / (x_axis.high - x_axis.low))
          , decade_y(height / (y_axis.high - y_axis.low))
          , width(width)
          , height(height)
        {
          for (const Points &p : points)
            {
              curves.emplace_back();
              for (const auto &q : p)
                curves.back().emplace_back(width * x_axis.transform(q.first),
                                           height * y_axis.transform(q.second));
            }
        }

        bool
        place(const std::size_t c, const double slope, Triangle &result)
        {
          const Points &curve = curves[c];
          const double  rise  = slope * decade_y / decade_x;
          for (const double half : {30., 23., 17.})
            for (unsigned int back = 0; back < 3; ++back)
              for (const bool below : {true, false})
                {
                  if (curve.size() < back + 2)
                    continue;
                  const auto &p   = curve[curve.size() - 2 - back],
                             &q   = curve[curve.size() - 1 - back];
                  const double dx = q.first - p.first;
                  const double h  = std::min(half, .4 * std::abs(dx));
                  if (h < 8. || 2. * h * std::abs(rise) > .45 * height)
                    continue;
                  const double x_m = .5 * (p.first + q.first);
                  // The side of the triangle that is parallel to the curve
                  // keeps a distance from both end points of that piece of
                  // the curve.
                  const double tilt =
                    h * std::abs((q.second - p.second) / dx - rise);
                  const double y_m = .5 * (p.second + q.second) +
                                     (below ? -1. : 1.) * (9. + tilt);
                  Triangle t;
                  t.x[0] = x_m - h;
                  t.x[1] = x_m + h;
                  t.y[0] = y_m - h * rise;
                  t.y[1] = y_m + h * rise;
                  // Below a rising curve, the right angle is at the lower
                  // right; above it, at the upper left.
                  t.x[2] = ((rise > 0.) == below) ? t.x[1] : t.x[0];
                  t.y[2] =
                    below ? std::min(t.y[0], t.y[1]) : std::max(t.y[0], t.y[1]);
                  if (free(t))
                    {
                      taken.push_back(box(t));
                      result = t;
                      return true;
                    }
                }
          return false;
        }

      private:
        struct Box
        {
          double x0, x1, y0, y1;
        };

        /// Bounding box of a triangle with room for its label.
        static Box
        box(const Triangle &t)
        {
          const bool right = t.x[2] > .5 * (t.x[0] + t.x[1]);
          return {t.x[0] - (right ? 2. : 16.),
                  t.x[1] + (right ? 16. : 2.),
                  std::min(t.y[0], t.y[1]) - 3.,
                  std::max(t.y[0], t.y[1]) + 3.};
        }

        bool
        free(const Triangle &t) const
        {
          const Box b = box(t);
          if (b.x0 < 2. || b.x1 > width - 2. || b.y0 < 2. || b.y1 > height - 2.)
            return false;
          for (const Box &o : taken)
            if (b.x0 < o.x1 && o.x0 < b.x1 && b.y0 < o.y1 && o.y0 < b.y1)
              return false;
          // No curve may come near the triangle or its label; points of the
          // curves are tested in steps of two pixels.
          const bool right = t.x[2] > .5 * (t.x[0] + t.x[1]);
          for (const Points &curve : curves)
            for (std::size_t i = 0; i + 1 < curve.size(); ++i)
              {
                const auto  &p = curve[i], &q = curve[i + 1];
                const double length =
                  std::hypot(q.first - p.first, q.second - p.second);
                const unsigned int n =
                  1 + static_cast<unsigned int>(.5 * length);
                for (unsigned int k = 0; k <= n; ++k)
                  {
                    const double s = double(k) / n;
                    const double x = p.first + s * (q.first - p.first),
                                 y = p.second + s * (q.second - p.second);
                    if (x < b.x0 || x > b.x1)
                      continue;
                    // Extent of the triangle at this x, between its slanted
                    // and its horizontal side, or of the label beside the
                    // vertical side.
                    const double z =
                      std::min(std::max((x - t.x[0]) / (t.x[1] - t.x[0]), 0.),
                               1.);
                    double y_a = t.y[0] + z * (t.y[1] - t.y[0]), y_b = t.y[2];
                    if (right ? x > t.x[1] : x < t.x[0])
                      {
                        y_a = .5 * (t.y[0] + t.y[1]) - 6.;
                        y_b = y_a + 12.;
                      }
                    if (y > std::min(y_a, y_b) - 4. &&
                        y < std::max(y_a, y_b) + 4.)
                      return false;
                  }
              }
          return true;
        }

        const double        decade_x, decade_y, width, height;
        std::vector<Points> curves;
        std::vector<Box>    taken;
      };

      /// Approximate width of a text in the requested font.
      double
      text_width(const std::string &s, const double size)
      {
        std::size_t n = 0;
        for (const char c : s)
          n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
        return .56 * size * n;
      }

      /// Drawing of curves in a frame with axes.
      class Plot
      {
      public:
        Plot(const std::vector<PlotCurve> &curves, const PlotFlags &flags)
          : curves(curves)
          , flags(flags)
          , points(curves.size())
          , styles(curves.size())
        {
          set_axes();
          choose_styles();
          double legend_width = 0.;
          for (const PlotCurve &curve : curves)
            legend_width =
              std::max(legend_width, text_width(curve.label, legend_size));
          top          = flags.title.empty() ? 26. : 58.;
          right_margin = legend_width > 0. ? legend_width + 84. : 30.;
          width        = std::max(200., flags.width - left - right_margin);
          height       = std::max(150., flags.height - top - bottom_margin);
        }

        void
        draw(std::ostream &out) const
        {
          write_header(out,
                       left + width + right_margin,
                       top + height + bottom_margin);
          if (!flags.title.empty())
            write_text(out,
                       left,
                       36.,
                       20.,
                       "start",
                       escape(flags.title),
                       "fill=\"#222222\"");
          draw_grid(out);
          draw_frame(out);
          draw_labels(out);
          // Slope triangles come first, so that curves lie above them.
          draw_slopes(out);
          draw_curves(out);
          draw_legend(out);
          out << "</svg>\n";
        }

      private:
        /// How a curve is drawn.
        struct Style
        {
          std::string  color, dash;
          unsigned int shape = 0;

          /// Attributes of lines.
          std::string
          line() const
          {
            return " fill=\"none\" stroke=\"" + color +
                   "\" stroke-width=\"2.2\" stroke-linejoin=\"round\"" +
                   (dash.empty() ? "" : " stroke-dasharray=\"" + dash + "\"");
          }
        };

        /// Collects the points that can be shown, and sets axes that contain
        /// them.
        void
        set_axes()
        {
          x_axis.logarithmic = flags.logarithmic_x;
          y_axis.logarithmic = flags.logarithmic_y;
          double x_min = std::numeric_limits<double>::max(), x_max = -x_min,
                 y_min = x_min, y_max = -x_min;
          for (std::size_t c = 0; c < curves.size(); ++c)
            for (std::size_t i = 0; i < curves[c].x.size(); ++i)
              {
                const double x = curves[c].x[i], y = curves[c].y[i];
                if (!x_axis.shows(x) || !y_axis.shows(y))
                  continue;
                points[c].emplace_back(x, y);
                x_axis.integers = x_axis.integers && x == std::floor(x);
                y_axis.integers = y_axis.integers && y == std::floor(y);
                x_min           = std::min(x_min, x);
                x_max           = std::max(x_max, x);
                y_min           = std::min(y_min, y);
                y_max           = std::max(y_max, y);
              }
          x_axis.set(x_min, x_max);
          y_axis.set(y_min, y_max);
        }

        /// There is one colour per group, and one per curve outside of
        /// groups.
        void
        choose_styles()
        {
          std::map<int, unsigned int> group_color, group_members;
          unsigned int                n_colors = 0;
          for (std::size_t c = 0; c < curves.size(); ++c)
            {
              const int    group = curves[c].group;
              unsigned int index, member = 0;
              if (group < 0)
                index = n_colors++;
              else
                {
                  const auto it = group_color.find(group);
                  index = it != group_color.end() ? it->second : n_colors++;
                  group_color[group] = index;
                  member             = group_members[group]++;
                }
              styles[c].color = line_colors[index % 7];
              styles[c].shape = group < 0 ? index : member;
              styles[c].dash  = dashes[(member + index / 7) % 4];
            }
        }

        /// Pixels of a position between 0 and 1 on an axis.
        double
        pixel_x(const double position) const
        {
          return left + width * position;
        }
        double
        pixel_y(const double position) const
        {
          return top + height * (1. - position);
        }

        void
        draw_grid(std::ostream &out) const
        {
          const auto vertical = [&](const double tick, const char *color) {
            const double x = pixel_x(x_axis.position(tick));
            line(out, x, top, x, top + height, color);
          };
          const auto horizontal = [&](const double tick, const char *color) {
            const double y = pixel_y(y_axis.position(tick));
            line(out, left, y, left + width, y, color);
          };
          out << "<g id=\"grid\" stroke-width=\"1\">\n";
          if (x_axis.high - x_axis.low < 4.)
            for (const double t : x_axis.minor)
              vertical(t, " stroke=\"#f2f4f6\"");
          if (y_axis.high - y_axis.low < 4.)
            for (const double t : y_axis.minor)
              horizontal(t, " stroke=\"#f2f4f6\"");
          for (const auto &t : x_axis.ticks)
            vertical(t.first, " stroke=\"#dfe4e8\"");
          for (const auto &t : y_axis.ticks)
            horizontal(t.first, " stroke=\"#dfe4e8\"");
          out << "</g>\n";
        }

        void
        draw_frame(std::ostream &out) const
        {
          out << "<g id=\"axes\" stroke=\"#4a5560\" fill=\"none\">\n"
              << "<rect x=\"" << number(left) << "\" y=\"" << number(top)
              << "\" width=\"" << number(width) << "\" height=\""
              << number(height) << "\" stroke-width=\"1.2\"/>\n";
          const auto tick = [&](const double x,
                                const double y,
                                const double length_x,
                                const double length_y) {
            line(out, x, y, x + length_x, y - length_y, "");
          };
          for (const auto &t : x_axis.ticks)
            tick(pixel_x(x_axis.position(t.first)), top + height, 0., 7.);
          for (const double t : x_axis.minor)
            tick(pixel_x(x_axis.position(t)), top + height, 0., 4.);
          for (const auto &t : y_axis.ticks)
            tick(left, pixel_y(y_axis.position(t.first)), 7., 0.);
          for (const double t : y_axis.minor)
            tick(left, pixel_y(y_axis.position(t)), 4., 0.);
          out << "</g>\n";
        }

        /// Labels of the ticks and of the axes.
        void
        draw_labels(std::ostream &out) const
        {
          constexpr double tick_size = 15.5, label_size = 17.;
          out << "<g id=\"tick_labels\" fill=\"#333333\">\n";
          for (const auto &t : x_axis.ticks)
            write_text(out,
                       pixel_x(x_axis.position(t.first)),
                       top + height + 23.,
                       tick_size,
                       "middle",
                       t.second);
          for (const auto &t : y_axis.ticks)
            write_text(out,
                       left - 9.,
                       pixel_y(y_axis.position(t.first)) + 5.5,
                       tick_size,
                       "end",
                       t.second);
          out << "</g>\n";
          write_text(out,
                     left + .5 * width,
                     top + height + 52.,
                     label_size,
                     "middle",
                     label_text(flags.x_label),
                     "fill=\"#222222\"");
          write_text(out,
                     0.,
                     0.,
                     label_size,
                     "middle",
                     label_text(flags.y_label),
                     "fill=\"#222222\" transform=\"translate(26 " +
                       number(top + .5 * height) + ") rotate(-90)\"");
        }

        void
        draw_slopes(std::ostream &out) const
        {
          out << "<g id=\"slopes\">\n";
          if (flags.logarithmic_x && flags.logarithmic_y)
            {
              SlopePlacement placement(x_axis, y_axis, points, width, height);
              for (std::size_t c = 0; c < curves.size(); ++c)
                {
                  const double             slope = curves[c].slope;
                  SlopePlacement::Triangle t;
                  if (slope != 0. && std::isfinite(slope) &&
                      placement.place(c, slope, t))
                    draw_slope(out, t, slope, styles[c].color);
                }
            }
          out << "</g>\n";
        }

        void
        draw_slope(std::ostream                   &out,
                   const SlopePlacement::Triangle &t,
                   const double                    slope,
                   const std::string              &color) const
        {
          double x[3], y[3];
          for (unsigned int i = 0; i < 3; ++i)
            {
              x[i] = left + t.x[i];
              y[i] = top + height - t.y[i];
            }
          out << "<polygon class=\"slope\" points=\"" << number(x[0]) << ','
              << number(y[0]) << ' ' << number(x[1]) << ',' << number(y[1])
              << ' ' << number(x[2]) << ',' << number(y[2]) << "\" fill=\""
              << color << "\" fill-opacity=\"0.12\" stroke=\"" << color
              << "\" stroke-opacity=\"0.75\" stroke-width=\"1\"/>\n";
          // The label is beside the vertical leg.
          const bool label_right = t.x[2] > .5 * (t.x[0] + t.x[1]);
          write_text(out,
                     x[2] + (label_right ? 5. : -5.),
                     .5 * (y[0] + y[1]) + 5.,
                     13.5,
                     label_right ? "start" : "end",
                     escape(Axis::plain(std::abs(slope))),
                     "fill=\"" + color + "\"");
        }

        void
        draw_curves(std::ostream &out) const
        {
          out << "<g id=\"curves\">\n";
          for (std::size_t c = 0; c < curves.size(); ++c)
            {
              if (points[c].size() > 1)
                {
                  out << "<polyline class=\"curve\"" << styles[c].line()
                      << " points=\"";
                  for (const auto &p : points[c])
                    out << number(pixel_x(x_axis.transform(p.first))) << ','
                        << number(pixel_y(y_axis.transform(p.second))) << ' ';
                  out << "\"/>\n";
                }
              // Markers of all points would cover a curve of many points.
              const std::size_t every =
                points[c].size() > 100 ? points[c].size() / 20 : 1;
              for (std::size_t i = 0; i < points[c].size(); i += every)
                marker(out,
                       styles[c].shape,
                       pixel_x(x_axis.transform(points[c][i].first)),
                       pixel_y(y_axis.transform(points[c][i].second)),
                       styles[c].color);
            }
          out << "</g>\n";
        }

        void
        draw_legend(std::ostream &out) const
        {
          out << "<g id=\"legend\" fill=\"#222222\">\n";
          for (std::size_t c = 0; c < curves.size(); ++c)
            {
              const double x = left + width + 18., y = top + 12. + 25. * c;
              line(out, x, y, x + 38., y, styles[c].line());
              marker(out, styles[c].shape, x + 19., y, styles[c].color);
              write_text(out,
                         x + 47.,
                         y + 5.5,
                         legend_size,
                         "start",
                         escape(curves[c].label));
            }
          out << "</g>\n";
        }

        static constexpr double left = 86., bottom_margin = 66.,
                                legend_size = 15.5;

        const std::vector<PlotCurve> &curves;
        const PlotFlags              &flags;
        Axis                          x_axis, y_axis;
        std::vector<Points>           points;
        std::vector<Style>            styles;
        /// Size of the frame and of the space around it, in pixels.
        double top, right_margin, width, height;
      };
    } // namespace



    void
    draw_plot_svg(const std::vector<PlotCurve> &curves,
                  std::ostream                 &out,
                  const PlotFlags              &flags)
    {
      for (const PlotCurve &curve : curves)
        AssertThrow(curve.x.size() == curve.y.size(),
                    dealii::ExcMessage(
                      "The curve \"" + curve.label + "\" has " +
                      std::to_string(curve.x.size()) + " abscissas, but " +
                      std::to_string(curve.y.size()) + " ordinates."));
      Plot(curves, flags).draw(out);
    }



    void
    write_plot_svg(const std::vector<PlotCurve> &curves,
                   const std::string            &file_name,
                   const PlotFlags              &flags)
    {
      // Not the collective function of the programs.
      Tessella::write_file(file_name, [&](std::ostream &out) {
        draw_plot_svg(curves, out, flags);
      });
    }
  } // namespace Application
} // namespace Tessella

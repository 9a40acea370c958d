// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>

#include <tessella/numerics/svg.h>
#include <tessella/numerics/write_file.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <ostream>
#include <utility>

#include "../base/collective.h"
#include "polytope_outlines.h"

namespace Tessella
{
  using namespace internal;

  namespace
  {
    constexpr double pi = 3.14159265358979323846;

    /// Number with at most @p digits decimals and no trailing zeros, as text.
    std::string
    number(const double value, const int digits = 2)
    {
      char text[64];
      std::snprintf(text, sizeof(text), "%.*f", digits, value);
      std::string s(text);
      if (s.find('.') != std::string::npos)
        {
          s.erase(s.find_last_not_of('0') + 1);
          if (s.back() == '.')
            s.pop_back();
        }
      return s == "-0" ? "0" : s;
    }

    /// Text with the characters that XML reserves replaced.
    std::string
    escape(const std::string &text)
    {
      std::string result;
      for (const char c : text)
        switch (c)
          {
            case '&':
              result += "&amp;";
              break;
            case '<':
              result += "&lt;";
              break;
            case '>':
              result += "&gt;";
              break;
            case '"':
              result += "&quot;";
              break;
            default:
              // XML does not allow control characters.
              result += (static_cast<unsigned char>(c) < 32) ? ' ' : c;
          }
      return result;
    }

    /// Text of a label with superscripts: a '^' raises the next character, or
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
            result += "<tspan dy=\"0.32em\">" + label_text(label.substr(next)) +
                      "</tspan>";
          break;
        }
      return result;
    }

    struct Color
    {
      double r, g, b;

      std::string
      text() const
      {
        auto byte = [](const double v) {
          return static_cast<int>(
            std::lround(255. * std::min(std::max(v, 0.), 1.)));
        };
        char s[8];
        std::snprintf(s, sizeof(s), "#%02x%02x%02x", byte(r), byte(g), byte(b));
        return s;
      }
      Color
      mix(const Color &other, const double t) const
      {
        return {r + t * (other.r - r),
                g + t * (other.g - g),
                b + t * (other.b - b)};
      }
    };

    Color
    rgb(const unsigned int hex)
    {
      return {((hex >> 16) & 255) / 255.,
              ((hex >> 8) & 255) / 255.,
              (hex & 255) / 255.};
    }

    /// Light colours for polytopes. Beyond the table, the colours repeat in
    /// darker shades.
    Color
    tile_color(const unsigned int c)
    {
      constexpr unsigned int n        = 6;
      const Color            table[n] = {rgb(0xa9cfe5),
                                         rgb(0xf7dcb0),
                                         rgb(0xbfe0c8),
                                         rgb(0xd5cbe6),
                                         rgb(0xf5c4b4),
                                         rgb(0xe9ecef)};
      return table[c % n].mix(rgb(0x4a5568), .25 * std::min(c / n, 3U));
    }

    /// Colour of degree @p p in the range lowest .. highest, from light to
    /// dark.
    Color
    degree_color(const unsigned int p,
                 const unsigned int lowest,
                 const unsigned int highest)
    {
      const Color  table[5] = {rgb(0xf6eeb4),
                               rgb(0xb5dea0),
                               rgb(0x66c0a3),
                               rgb(0x3f95b0),
                               rgb(0x5b7db8)};
      const double t =
        highest > lowest ? 4. * (p - lowest) / (highest - lowest) : 1.;
      const int i = std::min(static_cast<int>(t), 3);
      return table[i].mix(table[i + 1], t - i);
    }

    constexpr const char *font =
      "font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', "
      "sans-serif\"";

    void
    header(std::ostream &out, const double width, const double height)
    {
      out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\""
          << number(width) << "\" height=\"" << number(height)
          << "\" viewBox=\"0 0 " << number(width) << ' ' << number(height)
          << "\">\n"
          << "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
    }

    void
    text(std::ostream      &out,
         const double       x,
         const double       y,
         const double       size,
         const std::string &anchor,
         const std::string &content,
         const std::string &more = "")
    {
      out << "<text x=\"" << number(x) << "\" y=\"" << number(y) << "\" "
          << font << " font-size=\"" << number(size) << "\" text-anchor=\""
          << anchor << "\" " << more << '>' << content << "</text>\n";
    }

    /// Transformation of coordinates to pixels; y points upwards in the mesh.
    struct View
    {
      double scale = 1., x0 = 0., y0 = 0., width = 0., height = 0., top = 0.;

      View(const double lower_x,
           const double lower_y,
           const double upper_x,
           const double upper_y,
           const double size,
           const double top,
           const double margin)
        : top(top)
      {
        const double dx = upper_x - lower_x, dy = upper_y - lower_y;
        scale  = (size - 2. * margin) / std::max({dx, dy, 1e-300});
        width  = dx * scale + 2. * margin;
        height = dy * scale + 2. * margin + top;
        x0     = margin - lower_x * scale;
        y0     = height - margin + lower_y * scale;
      }
      double
      x(const double value) const
      {
        return x0 + scale * value;
      }
      double
      y(const double value) const
      {
        return y0 - scale * value;
      }
      std::string
      point(const double px, const double py) const
      {
        return number(x(px)) + ' ' + number(y(py));
      }
    };

    template <int dim>
    std::vector<Color>
    polytope_colors(const PolytopicMesh<dim> &mesh, const MeshSvgFlags &flags)
    {
      std::vector<Color> colors(mesh.n_polytopes());
      if (flags.color_by_degree)
        {
          const auto range =
            std::minmax_element(mesh.degree.begin(), mesh.degree.end());
          for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
            colors[k] =
              degree_color(mesh.degree[k], *range.first, *range.second);
        }
      else
        {
          const std::vector<unsigned int> color = color_polytopes(mesh);
          for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
            colors[k] = tile_color(color[k]);
        }
      return colors;
    }

    /// Draws squares with the degrees in a row at the top right.
    template <int dim>
    void
    degree_legend(std::ostream             &out,
                  const PolytopicMesh<dim> &mesh,
                  const double              right,
                  const double              y)
    {
      const auto range =
        std::minmax_element(mesh.degree.begin(), mesh.degree.end());
      const unsigned int low = *range.first, high = *range.second;
      const double       step = 44.;
      double             x    = right - step * (high - low + 1);
      text(out, x - 8., y, 18., "end", "degree", "fill=\"#333333\"");
      for (unsigned int p = low; p <= high; ++p, x += step)
        {
          out << "<rect class=\"legend\" x=\"" << number(x) << "\" y=\""
              << number(y - 14.)
              << "\" width=\"17\" height=\"17\" rx=\"2\" fill=\""
              << degree_color(p, low, high).text()
              << "\" stroke=\"#555555\" stroke-width=\"0.6\"/>\n";
          text(out,
               x + 21.,
               y,
               17.,
               "start",
               std::to_string(p),
               "fill=\"#333333\"");
        }
    }

    template <int dim>
    double
    top_margin(const MeshSvgFlags &flags, const PolytopicMesh<dim> &)
    {
      return (flags.title.empty() && !flags.color_by_degree) ? 0. : 34.;
    }

    template <int dim>
    void
    caption(std::ostream             &out,
            const MeshSvgFlags       &flags,
            const PolytopicMesh<dim> &mesh,
            const View               &view)
    {
      if (!flags.title.empty())
        text(
          out, 18., 34., 22., "start", escape(flags.title), "fill=\"#222222\"");
      if (flags.color_by_degree)
        degree_legend(out, mesh, view.width - 14., 34.);
    }

    // ------------------------------------------------------------- 2-D

    void
    draw_mesh(std::ostream                  &out,
              const AgglomerationHandler<2> &handler,
              const MeshSvgFlags            &flags)
    {
      const PolytopicMesh<2>  &mesh = handler.polytopic_mesh();
      const PolygonOutlines    outlines(handler);
      const auto               box    = mesh_box(mesh);
      const std::vector<Color> colors = polytope_colors(mesh, flags);
      const View               view(box[0],
                      box[1],
                      box[2],
                      box[3],
                      flags.size,
                      top_margin(flags, mesh),
                      18.);

      // Smaller polytopes get thinner lines.
      double area = 0.;
      for (const double m : mesh.measure)
        area += m;
      const double typical =
        view.scale * std::sqrt(area / std::max(1U, mesh.n_polytopes()));
      const double width = std::min(std::max(.05 * typical, .35), 1.8);

      header(out, view.width, view.height);
      caption(out, flags, mesh, view);

      // Each filled shape has a thin line of its own colour; otherwise the
      // white background would shine through between neighbours.
      out << "<g id=\"polytopes\" fill-rule=\"evenodd\" stroke-width=\"0.5\" "
             "stroke-linejoin=\"round\">\n";
      for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
        {
          const std::string color = colors[k].text();
          out << "<path class=\"polytope\" fill=\"" << color << "\" stroke=\""
              << color << "\" d=\"";
          for (const OutlineLoop &loop : outlines.loops(k))
            {
              const std::size_t n         = loop.points.size();
              const char       *separator = "M";
              for (std::size_t i = 0; i < n; ++i)
                {
                  const unsigned int a   = loop.points[(i + n - 1) % n],
                                     b   = loop.points[i],
                                     c   = loop.points[(i + 1) % n];
                  const double *const x  = outlines.points.data();
                  const double        ux = x[2 * b] - x[2 * a],
                               uy        = x[2 * b + 1] - x[2 * a + 1],
                               vx        = x[2 * c] - x[2 * b],
                               vy        = x[2 * c + 1] - x[2 * b + 1];
                  // Points in the middle of a straight line are left out.
                  if (std::abs(ux * vy - uy * vx) <
                        1e-9 * (ux * ux + uy * uy + vx * vx + vy * vy) &&
                      ux * vx + uy * vy > 0.)
                    continue;
                  out << separator << view.point(x[2 * b], x[2 * b + 1]);
                  separator = "L";
                }
              out << 'Z';
            }
          out << "\"/>\n";
        }
      out << "</g>\n";

      if (flags.fine_cells)
        {
          out << "<path id=\"fine_cells\" fill=\"none\" stroke=\"#ffffff\" "
                 "stroke-opacity=\"0.75\" stroke-width=\""
              << number(.55 * width) << "\" d=\"";
          for (unsigned int s = 0; s < mesh.n_subcells(); ++s)
            {
              const std::vector<double> line = subcell_line(handler, s);
              for (std::size_t i = 0; i < line.size(); i += 2)
                out << (i == 0 ? 'M' : 'L') << view.point(line[i], line[i + 1]);
              out << 'Z';
            }
          out << "\"/>\n";
        }

      // Draw the interfaces, then the boundary of the domain.
      for (const bool boundary : {false, true})
        {
          out << "<path id=\"" << (boundary ? "boundary" : "interfaces")
              << "\" fill=\"none\" stroke=\""
              << (boundary ? "#1f2933" : "#37474f") << "\" stroke-width=\""
              << number(boundary ? 1.6 * width : width)
              << "\" stroke-linecap=\"round\" d=\"";
          for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
            {
              const bool at_boundary =
                mesh.interface_polytope[2 * i + 1] == invalid_index;
              const bool periodic = mesh.interface_shift[i] != 0;
              if ((at_boundary || periodic) != boundary)
                continue;
              for (unsigned int side = 0; side < (periodic ? 2U : 1U); ++side)
                for (unsigned int f = mesh.facet_offset[i];
                     f < mesh.facet_offset[i + 1];
                     ++f)
                  {
                    const std::vector<double> line =
                      facet_line(handler, i, f, side);
                    for (std::size_t j = 0; j < line.size(); j += 2)
                      out << (j == 0 ? 'M' : 'L')
                          << view.point(line[j], line[j + 1]);
                  }
            }
          out << "\"/>\n";
        }

      if (flags.labels)
        {
          out << "<g id=\"labels\" fill=\"#222222\">\n";
          for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
            {
              // The label is at the mean of the centres of the sub-cells, or at
              // the nearest of these centres if that is farther away than half
              // of the square root of the measure, as for polytopes that
              // surround the mean.
              double       cx = 0., cy = 0., sum = 0.;
              const double size =
                std::min(26., .38 * view.scale * std::sqrt(mesh.measure[k]));
              for (unsigned int pass = 0; pass < 2; ++pass)
                {
                  double best_distance = std::numeric_limits<double>::max();
                  double bx = cx, by = cy;
                  for (unsigned int s = mesh.subcell_offset[k];
                       s < mesh.subcell_offset[k + 1];
                       ++s)
                    {
                      double             x = 0., y = 0.;
                      const unsigned int begin = mesh.subcell_vertex_offset[s],
                                         end =
                                           mesh.subcell_vertex_offset[s + 1];
                      for (unsigned int v = begin; v < end; ++v)
                        {
                          x += mesh.subcell_vertices[2 * std::size_t(v)];
                          y += mesh.subcell_vertices[2 * std::size_t(v) + 1];
                        }
                      x /= end - begin;
                      y /= end - begin;
                      if (pass == 0)
                        {
                          cx += x;
                          cy += y;
                          sum += 1.;
                        }
                      else if (std::hypot(x - cx, y - cy) < best_distance)
                        {
                          best_distance = std::hypot(x - cx, y - cy);
                          bx            = x;
                          by            = y;
                        }
                    }
                  if (pass == 0)
                    {
                      cx /= sum;
                      cy /= sum;
                    }
                  else if (best_distance > .5 * std::sqrt(mesh.measure[k]))
                    {
                      cx = bx;
                      cy = by;
                    }
                }
              if (size >= 3.)
                text(out,
                     view.x(cx),
                     view.y(cy) + .35 * size,
                     size,
                     "middle",
                     std::to_string(k));
            }
          out << "</g>\n";
        }
      out << "</svg>\n";
    }

    // ------------------------------------------------------------- 3-D

    struct Vector3
    {
      double x, y, z;
      Vector3
      operator-(const Vector3 &o) const
      {
        return {x - o.x, y - o.y, z - o.z};
      }
      double
      operator*(const Vector3 &o) const
      {
        return x * o.x + y * o.y + z * o.z;
      }
      Vector3
      cross(const Vector3 &o) const
      {
        return {y * o.z - z * o.y, z * o.x - x * o.z, x * o.y - y * o.x};
      }
      double
      norm() const
      {
        return std::sqrt(*this * *this);
      }
    };

    struct DrawnFacet
    {
      unsigned int                polytope, n;
      std::array<unsigned int, 4> points;
      Vector3                     normal;
      double                      depth;
      bool                        visible;
    };

    void
    draw_mesh(std::ostream                  &out,
              const AgglomerationHandler<3> &handler,
              const MeshSvgFlags            &flags)
    {
      const PolytopicMesh<3>  &mesh   = handler.polytopic_mesh();
      const std::vector<Color> colors = polytope_colors(mesh, flags);
      const double             a      = flags.azimuth * pi / 180.,
                   e                  = flags.elevation * pi / 180.;
      // Directions of the screen, direction towards the viewer and that of the
      // light.
      const Vector3 right  = {-std::sin(a), std::cos(a), 0.},
                    toward = {std::cos(e) * std::cos(a),
                              std::cos(e) * std::sin(a),
                              std::sin(e)},
                    up     = toward.cross(right),
                    light  = {toward.x * .62 + up.x * .66 - right.x * .42,
                              toward.y * .62 + up.y * .66 - right.y * .42,
                              toward.z * .62 + up.z * .66 - right.z * .42};

      // Polytopes may be pulled apart: each one has its own shift.
      const bool exploded = flags.explode > 0.;
      auto       offset   = [&](const unsigned int k) -> Vector3 {
        if (!exploded)
          return {0., 0., 0.};
        const double *const b = &mesh.box[std::size_t(k) * 6];
        return {.5 * flags.explode * (b[0] + b[3]),
                .5 * flags.explode * (b[1] + b[4]),
                .5 * flags.explode * (b[2] + b[5])};
      };

      PointNumbering<3>       numbering(point_tolerance(mesh));
      std::vector<DrawnFacet> facets;
      for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
        {
          const bool outer =
            mesh.interface_polytope[2 * i + 1] == invalid_index ||
            mesh.interface_shift[i] != 0;
          if (!outer && !exploded)
            continue;
          for (unsigned int side = 0; side < 2; ++side)
            {
              const unsigned int k = mesh.interface_polytope[2 * i + side];
              if (k == invalid_index)
                continue;
              const Vector3 shift = offset(k);
              for (unsigned int f = mesh.facet_offset[i];
                   f < mesh.facet_offset[i + 1];
                   ++f)
                {
                  double     corners[4][3];
                  DrawnFacet facet;
                  facet.polytope    = k;
                  facet.n           = facet_corners(mesh, i, f, side, corners);
                  const double sign = side == 0 ? 1. : -1.;
                  facet.normal      = {sign * mesh.facet_normal[3 * f],
                                       sign * mesh.facet_normal[3 * f + 1],
                                       sign * mesh.facet_normal[3 * f + 2]};
                  facet.depth       = 0.;
                  for (unsigned int v = 0; v < facet.n; ++v)
                    {
                      corners[v][0] += shift.x;
                      corners[v][1] += shift.y;
                      corners[v][2] += shift.z;
                      facet.points[v] = numbering.number(corners[v]);
                      facet.depth +=
                        (Vector3{corners[v][0], corners[v][1], corners[v][2]} *
                         toward) /
                        facet.n;
                    }
                  facet.visible = facet.normal * toward > 1e-9;
                  facets.push_back(facet);
                }
            }
        }

      // An edge is drawn if its two facets belong to different polytopes, form
      // an angle, or lie on opposite sides of the silhouette.
      std::map<std::array<unsigned int, 3>, std::vector<unsigned int>> edges;
      auto key = [&](const DrawnFacet &facet, const unsigned int v) {
        const unsigned int p = facet.points[v],
                           q = facet.points[(v + 1) % facet.n];
        // Polytopes that are pulled apart do not share edges.
        return std::array<unsigned int, 3>{
          {std::min(p, q), std::max(p, q), exploded ? facet.polytope : 0U}};
      };
      for (unsigned int f = 0; f < facets.size(); ++f)
        for (unsigned int v = 0; v < facets[f].n; ++v)
          edges[key(facets[f], v)].push_back(f);

      auto coordinates = [&](const unsigned int p) -> Vector3 {
        return {numbering.points[3 * std::size_t(p)],
                numbering.points[3 * std::size_t(p) + 1],
                numbering.points[3 * std::size_t(p) + 2]};
      };
      double lower_x = std::numeric_limits<double>::max(), lower_y = lower_x,
             upper_x = std::numeric_limits<double>::lowest(), upper_y = upper_x;
      for (unsigned int p = 0; p < numbering.points.size() / 3; ++p)
        {
          const Vector3 x = coordinates(p);
          lower_x         = std::min(lower_x, x * right);
          upper_x         = std::max(upper_x, x * right);
          lower_y         = std::min(lower_y, x * up);
          upper_y         = std::max(upper_y, x * up);
        }
      if (numbering.points.empty())
        lower_x = lower_y = upper_x = upper_y = 0.;
      const View view(lower_x,
                      lower_y,
                      upper_x,
                      upper_y,
                      flags.size,
                      top_margin(flags, mesh),
                      22.);

      // Painter's algorithm: far facets first.
      std::vector<unsigned int> order;
      for (unsigned int f = 0; f < facets.size(); ++f)
        if (facets[f].visible)
          order.push_back(f);
      std::stable_sort(order.begin(),
                       order.end(),
                       [&](const unsigned int f, const unsigned int g) {
                         return facets[f].depth < facets[g].depth;
                       });

      header(out, view.width, view.height);
      caption(out, flags, mesh, view);
      const double typical = (view.width + view.height) /
                             std::sqrt(std::max<double>(1., order.size()));
      const double width = std::min(std::max(.05 * typical, .5), 1.6);
      out << "<g id=\"polytopes\" stroke-linejoin=\"round\" "
             "stroke-linecap=\"round\">\n";
      for (const unsigned int f : order)
        {
          const DrawnFacet &facet = facets[f];
          const double      shade = std::max(0., facet.normal * light);
          const Color       color = colors[facet.polytope].mix(
            shade > .75 ? rgb(0xffffff) : rgb(0x26323f),
            shade > .75 ? .8 * (shade - .75) : .42 * (.75 - shade));
          out << "<path class=\"facet\" fill=\"" << color.text()
              << "\" stroke=\"" << color.text() << "\" stroke-width=\"1\" d=\"";
          for (unsigned int v = 0; v < facet.n; ++v)
            {
              const Vector3 x = coordinates(facet.points[v]);
              out << (v == 0 ? 'M' : 'L') << view.point(x * right, x * up);
            }
          out << "Z\"/>\n";

          std::string lines, fine;
          for (unsigned int v = 0; v < facet.n; ++v)
            {
              bool        outline = false;
              const auto &sharing = edges[key(facet, v)];
              if (sharing.size() < 2)
                outline = true;
              for (const unsigned int g : sharing)
                outline = outline || facets[g].polytope != facet.polytope ||
                          facets[g].normal * facet.normal < .9 ||
                          !facets[g].visible;
              if (!outline && !flags.fine_cells)
                continue;
              const Vector3 x = coordinates(facet.points[v]),
                            y = coordinates(facet.points[(v + 1) % facet.n]);
              (outline ? lines : fine) += 'M' + view.point(x * right, x * up) +
                                          'L' + view.point(y * right, y * up);
            }
          if (!fine.empty())
            out << "<path fill=\"none\" stroke=\"#ffffff\" "
                   "stroke-opacity=\"0.7\" stroke-width=\""
                << number(.6 * width) << "\" d=\"" << fine << "\"/>\n";
          if (!lines.empty())
            out << "<path fill=\"none\" stroke=\"#2f3b45\" stroke-width=\""
                << number(width) << "\" d=\"" << lines << "\"/>\n";
        }
      out << "</g>\n</svg>\n";
    }
  } // namespace



  template <int dim>
  void
  write_mesh_svg(const AgglomerationHandler<dim> &handler,
                 const std::string               &file_name,
                 const MeshSvgFlags              &flags)
  {
    const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
    AssertThrow(internal::n_processes(handler.get_communicator()) == 1,
                dealii::ExcMessage(
                  "A drawing of the mesh is made by one process: use "
                  "PolytopicDataOut on a distributed mesh."));
    AssertThrow(mesh.n_polytopes() > 0,
                dealii::ExcMessage(
                  "There are no polytopes to draw; call agglomerate() first."));
    AssertThrow(!flags.color_by_degree ||
                  mesh.degree.size() == mesh.n_polytopes(),
                dealii::ExcMessage(
                  "Colours by degree need degrees; call distribute_dofs() "
                  "first."));
    write_file(file_name,
               [&](std::ostream &out) { draw_mesh(out, handler, flags); });
  }



  // ----------------------------------------------------------------- plots

  namespace
  {
    /// Axis of a plot: range, ticks, and transformation to [0,1].
    struct Axis
    {
      bool logarithmic = false;
      /// Whether all values are integers, so that a linear axis has no ticks in
      /// between.
      bool                                        integers = true;
      double                                      low = 0., high = 1.;
      std::vector<std::pair<double, std::string>> ticks;
      std::vector<double>                         minor;

      double
      transform(const double value) const
      {
        return ((logarithmic ? std::log10(value) : value) - low) / (high - low);
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
        else
          {
            const double room = maximum > minimum
                                  ? .06 * (maximum - minimum)
                                  : std::max(.5, .1 * std::abs(maximum));
            low               = minimum - room;
            high              = maximum + room;
            // Four to ten steps of 1, 2 or 5 times a power of ten.
            double step    = std::pow(10., std::floor(std::log10(high - low)));
            const double n = (high - low) / step;
            step *= n < 2. ? .2 : (n < 5. ? .5 : 1.);
            if (integers)
              step = std::max(step, 1.);
            for (double t = std::ceil(low / step); t * step <= high; t += 1.)
              ticks.emplace_back(t * step,
                                 plain(std::abs(t) < .5 ? 0. : t * step));
          }
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

    // Colours that remain distinct with all common kinds of colour blindness:
    // the qualitative scheme of M. Okabe and K. Ito without yellow, which is
    // too light for lines.
    const unsigned int line_colors[7] = {
      0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0x56b4e9, 0xe69f00, 0x333333};
    const char *const dashes[4] = {"", "8 5", "2.5 4", "10 4 2.5 4"};

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

    /**
     * Finds positions for slope triangles next to their curves: at one of the
     * last segments, below or above, such that no other curve passes through a
     * triangle and triangles do not overlap. Triangles are smaller if there is
     * little room, and omitted if there is none.
     */
    class SlopePlacement
    {
    public:
      using Points = std::vector<std::pair<double, double>>;

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
                // The side of the triangle that is parallel to the curve keeps
                // a distance from both end points of that piece of the curve.
                const double tilt =
                  h * std::abs((q.second - p.second) / dx - rise);
                const double y_m =
                  .5 * (p.second + q.second) + (below ? -1. : 1.) * (9. + tilt);
                Triangle t;
                t.x[0] = x_m - h;
                t.x[1] = x_m + h;
                t.y[0] = y_m - h * rise;
                t.y[1] = y_m + h * rise;
                // Below a rising curve, the right angle is at the lower right;
                // above it, at the upper left.
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
              const unsigned int n = 1 + static_cast<unsigned int>(.5 * length);
              for (unsigned int k = 0; k <= n; ++k)
                {
                  const double s = double(k) / n;
                  const double x = p.first + s * (q.first - p.first),
                               y = p.second + s * (q.second - p.second);
                  if (x < b.x0 || x > b.x1)
                    continue;
                  // Extent of the triangle at this x, between its slanted and
                  // its horizontal side, or of the label beside the vertical
                  // side.
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
  } // namespace



  void
  write_plot_svg(const std::vector<PlotCurve> &curves,
                 const std::string            &file_name,
                 const PlotFlags              &flags)
  {
    for (const PlotCurve &curve : curves)
      AssertThrow(curve.x.size() == curve.y.size(),
                  dealii::ExcMessage(
                    "The curve \"" + curve.label + "\" has " +
                    std::to_string(curve.x.size()) + " abscissas, but " +
                    std::to_string(curve.y.size()) + " ordinates."));
    Axis x_axis, y_axis;
    x_axis.logarithmic = flags.logarithmic_x;
    y_axis.logarithmic = flags.logarithmic_y;

    // Points that can be shown.
    using Points = std::vector<std::pair<double, double>>;
    std::vector<Points> points(curves.size());
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

    const double label_size = 17., tick_size = 15.5, legend_size = 15.5;
    double       legend_width = 0.;
    for (const PlotCurve &curve : curves)
      legend_width =
        std::max(legend_width, text_width(curve.label, legend_size));
    const double left = 86., bottom = 66.,
                 top          = flags.title.empty() ? 26. : 58.,
                 right_margin = legend_width > 0. ? legend_width + 84. : 30.;
    const double plot_w = std::max(200., flags.width - left - right_margin),
                 plot_h = std::max(150., flags.height - top - bottom);
    auto px             = [&](const double x) { return left + plot_w * x; };
    auto py = [&](const double y) { return top + plot_h * (1. - y); };

    write_file(file_name, [&](std::ostream &out) {
      header(out, left + plot_w + right_margin, top + plot_h + bottom);
      if (!flags.title.empty())
        text(out,
             left,
             36.,
             20.,
             "start",
             escape(flags.title),
             "fill=\"#222222\"");

      // Grid lines.
      out << "<g id=\"grid\" stroke-width=\"1\">\n";
      auto vertical = [&](const double p, const char *color) {
        out << "<line x1=\"" << number(px(p)) << "\" y1=\"" << number(top)
            << "\" x2=\"" << number(px(p)) << "\" y2=\"" << number(top + plot_h)
            << "\" stroke=\"" << color << "\"/>\n";
      };
      auto horizontal = [&](const double p, const char *color) {
        out << "<line x1=\"" << number(left) << "\" y1=\"" << number(py(p))
            << "\" x2=\"" << number(left + plot_w) << "\" y2=\""
            << number(py(p)) << "\" stroke=\"" << color << "\"/>\n";
      };
      const bool few_decades_x = x_axis.high - x_axis.low < 4.,
                 few_decades_y = y_axis.high - y_axis.low < 4.;
      if (few_decades_x)
        for (const double t : x_axis.minor)
          vertical(x_axis.position(t), "#f2f4f6");
      if (few_decades_y)
        for (const double t : y_axis.minor)
          horizontal(y_axis.position(t), "#f2f4f6");
      for (const auto &t : x_axis.ticks)
        vertical(x_axis.position(t.first), "#dfe4e8");
      for (const auto &t : y_axis.ticks)
        horizontal(y_axis.position(t.first), "#dfe4e8");
      out << "</g>\n";

      // Frame, ticks and labels.
      out << "<g id=\"axes\" stroke=\"#4a5560\" fill=\"none\">\n"
          << "<rect x=\"" << number(left) << "\" y=\"" << number(top)
          << "\" width=\"" << number(plot_w) << "\" height=\"" << number(plot_h)
          << "\" stroke-width=\"1.2\"/>\n";
      auto tick =
        [&](const double x, const double y, const bool up, const double l) {
          out << "<line x1=\"" << number(x) << "\" y1=\"" << number(y)
              << "\" x2=\"" << number(up ? x : x + l) << "\" y2=\""
              << number(up ? y - l : y) << "\"/>\n";
        };
      for (const auto &t : x_axis.ticks)
        tick(px(x_axis.position(t.first)), top + plot_h, true, 7.);
      for (const double t : x_axis.minor)
        tick(px(x_axis.position(t)), top + plot_h, true, 4.);
      for (const auto &t : y_axis.ticks)
        tick(left, py(y_axis.position(t.first)), false, 7.);
      for (const double t : y_axis.minor)
        tick(left, py(y_axis.position(t)), false, 4.);
      out << "</g>\n<g id=\"tick_labels\" fill=\"#333333\">\n";
      for (const auto &t : x_axis.ticks)
        text(out,
             px(x_axis.position(t.first)),
             top + plot_h + 23.,
             tick_size,
             "middle",
             t.second);
      for (const auto &t : y_axis.ticks)
        text(out,
             left - 9.,
             py(y_axis.position(t.first)) + 5.5,
             tick_size,
             "end",
             t.second);
      out << "</g>\n";
      text(out,
           left + .5 * plot_w,
           top + plot_h + 52.,
           label_size,
           "middle",
           label_text(flags.x_label),
           "fill=\"#222222\"");
      text(out,
           0.,
           0.,
           label_size,
           "middle",
           label_text(flags.y_label),
           "fill=\"#222222\" transform=\"translate(26 " +
             number(top + .5 * plot_h) + ") rotate(-90)\"");

      // Colours: one per group, and one per curve outside of groups.
      std::map<int, unsigned int> group_color, group_members;
      unsigned int                n_colors = 0;
      std::vector<std::string>    color(curves.size()), dash(curves.size());
      std::vector<unsigned int>   shape(curves.size());
      for (std::size_t c = 0; c < curves.size(); ++c)
        {
          unsigned int index, member = 0;
          if (curves[c].group < 0)
            index = n_colors++;
          else
            {
              const auto it = group_color.find(curves[c].group);
              index         = it != group_color.end() ? it->second : n_colors++;
              group_color[curves[c].group] = index;
              member                       = group_members[curves[c].group]++;
            }
          color[c] = rgb(line_colors[index % 7]).text();
          shape[c] = curves[c].group < 0 ? index : member;
          dash[c]  = dashes[(member + index / 7) % 4];
        }
      auto style = [&](const std::size_t c) {
        return " fill=\"none\" stroke=\"" + color[c] +
               "\" stroke-width=\"2.2\" stroke-linejoin=\"round\"" +
               (dash[c].empty() ? "" : " stroke-dasharray=\"" + dash[c] + "\"");
      };

      // Slope triangles come first, so that curves lie above them.
      out << "<g id=\"slopes\">\n";
      if (flags.logarithmic_x && flags.logarithmic_y)
        {
          SlopePlacement placement(x_axis, y_axis, points, plot_w, plot_h);
          for (std::size_t c = 0; c < curves.size(); ++c)
            {
              const double             slope = curves[c].slope;
              SlopePlacement::Triangle t;
              if (slope == 0. || !std::isfinite(slope) ||
                  !placement.place(c, slope, t))
                continue;
              auto X = [&](const double v) { return left + v; };
              auto Y = [&](const double v) { return top + plot_h - v; };
              out << "<polygon class=\"slope\" points=\"" << number(X(t.x[0]))
                  << ',' << number(Y(t.y[0])) << ' ' << number(X(t.x[1])) << ','
                  << number(Y(t.y[1])) << ' ' << number(X(t.x[2])) << ','
                  << number(Y(t.y[2])) << "\" fill=\"" << color[c]
                  << "\" fill-opacity=\"0.12\" stroke=\"" << color[c]
                  << "\" stroke-opacity=\"0.75\" stroke-width=\"1\"/>\n";
              // The label is beside the vertical leg.
              const bool label_right = t.x[2] > .5 * (t.x[0] + t.x[1]);
              text(out,
                   X(t.x[2]) + (label_right ? 5. : -5.),
                   .5 * (Y(t.y[0]) + Y(t.y[1])) + 5.,
                   13.5,
                   label_right ? "start" : "end",
                   escape(Axis::plain(std::abs(slope))),
                   "fill=\"" + color[c] + "\"");
            }
        }
      out << "</g>\n<g id=\"curves\">\n";
      for (std::size_t c = 0; c < curves.size(); ++c)
        {
          if (points[c].size() > 1)
            {
              out << "<polyline class=\"curve\"" << style(c) << " points=\"";
              for (const auto &p : points[c])
                out << number(px(x_axis.transform(p.first))) << ','
                    << number(py(y_axis.transform(p.second))) << ' ';
              out << "\"/>\n";
            }
          for (const auto &p : points[c])
            marker(out,
                   shape[c],
                   px(x_axis.transform(p.first)),
                   py(y_axis.transform(p.second)),
                   color[c]);
        }
      out << "</g>\n<g id=\"legend\" fill=\"#222222\">\n";
      for (std::size_t c = 0; c < curves.size(); ++c)
        {
          const double x = left + plot_w + 18., y = top + 12. + 25. * c;
          out << "<line x1=\"" << number(x) << "\" y1=\"" << number(y)
              << "\" x2=\"" << number(x + 38.) << "\" y2=\"" << number(y) << '"'
              << style(c) << "/>\n";
          marker(out, shape[c], x + 19., y, color[c]);
          text(out,
               x + 47.,
               y + 5.5,
               legend_size,
               "start",
               escape(curves[c].label));
        }
      out << "</g>\n</svg>\n";
    });
  }



  template void
  write_mesh_svg<2>(const AgglomerationHandler<2> &,
                    const std::string &,
                    const MeshSvgFlags &);
  template void
  write_mesh_svg<3>(const AgglomerationHandler<3> &,
                    const std::string &,
                    const MeshSvgFlags &);
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>
#include <deal.II/base/tensor.h>

#include <tessella/numerics/svg.h>
#include <tessella/numerics/svg_elements.h>
#include <tessella/numerics/svg_surface.h>
#include <tessella/numerics/write_file.h>

#include <algorithm>
#include <array>
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
  using namespace Svg;

  namespace
  {
    constexpr double pi = 3.14159265358979323846;

    struct Color
    {
      double r, g, b;

      std::string
      text() const
      {
        auto byte = [](const double v) {
          return static_cast<int>(std::lround(255. * std::clamp(v, 0., 1.)));
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

    /// Colour of @p t, from light (0) to dark (1).
    Color
    scale_color(const double t)
    {
      const Color table[5] = {rgb(0xf6eeb4),
                              rgb(0xb5dea0),
                              rgb(0x66c0a3),
                              rgb(0x3f95b0),
                              rgb(0x5b7db8)};
      const int   i        = std::min(static_cast<int>(4. * t), 3);
      return table[i].mix(table[i + 1], 4. * t - i);
    }

    /// Colour of degree @p p in the range lowest .. highest.
    Color
    degree_color(const unsigned int p,
                 const unsigned int lowest,
                 const unsigned int highest)
    {
      return scale_color(
        highest > lowest ? double(p - lowest) / (highest - lowest) : .25);
    }

    /// Colours of MeshSvgFlags::values. Values that are not finite are grey.
    class ValueColors
    {
    public:
      explicit ValueColors(const std::vector<double> &values)
        : values(values)
      {
        for (const double value : values)
          if (std::isfinite(value))
            {
              low  = std::min(low, value);
              high = std::max(high, value);
            }
      }

      Color
      operator[](const unsigned int s) const
      {
        if (!std::isfinite(values[s]))
          return rgb(0x9aa0a6);
        // Halves, because the difference of the limits may overflow.
        const double range = .5 * high - .5 * low;
        return scale_color(range > 0. ? (.5 * values[s] - .5 * low) / range
                                      : .25);
      }

      /// Draws the scale with the smallest and the largest value at the top
      /// right.
      void
      legend(std::ostream &out, const double right, const double y) const
      {
        if (low > high)
          return;
        constexpr unsigned int n    = 24;
        constexpr double       step = 6., space = 96.;
        const double           begin = right - space - n * step;
        for (unsigned int i = 0; i < n; ++i)
          out << "<rect class=\"legend\" x=\"" << number(begin + i * step)
              << "\" y=\"" << number(y - 14.) << "\" width=\""
              << number(step + .5) << "\" height=\"17\" fill=\""
              << scale_color((i + .5) / n).text() << "\"/>\n";
        const auto limit =
          [&](const double value, const double x, const std::string &anchor) {
            char text[32];
            std::snprintf(text, sizeof(text), "%.4g", value);
            write_text(out, x, y, 17., anchor, text, "fill=\"#333333\"");
          };
        limit(low, begin - 8., "end");
        limit(high, right - space + 8., "start");
      }

    private:
      const std::vector<double> &values;
      double                     low = std::numeric_limits<double>::infinity(),
             high                    = -std::numeric_limits<double>::infinity();
    };

    /// Transformation of coordinates to pixels; y points upwards in the mesh.
    struct View
    {
      double scale, x0, y0, width, height;

      /// @p box: lower and upper corner of the section of the mesh; @p top:
      /// height of the line above the drawing.
      View(const std::array<double, 4> &box,
           const double                 size,
           const double                 top,
           const double                 margin)
      {
        const double dx = box[2] - box[0], dy = box[3] - box[1];
        scale  = (size - 2. * margin) / std::max({dx, dy, 1e-300});
        width  = dx * scale + 2. * margin;
        height = dy * scale + 2. * margin + top;
        x0     = margin - box[0] * scale;
        y0     = height - margin + box[1] * scale;
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
    polytope_colors(const PolytopicMesh<dim> &mesh,
                    const PolytopicDoFs      &dofs,
                    const MeshSvgFlags       &flags)
    {
      std::vector<Color> colors(mesh.n_polytopes());
      if (flags.color_by_degree)
        {
          const auto range =
            std::minmax_element(dofs.degree.begin(), dofs.degree.end());
          for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
            colors[k] =
              degree_color(dofs.degree[k], *range.first, *range.second);
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
    void
    degree_legend(std::ostream        &out,
                  const PolytopicDoFs &dofs,
                  const double         right,
                  const double         y)
    {
      const auto range =
        std::minmax_element(dofs.degree.begin(), dofs.degree.end());
      const unsigned int low = *range.first, high = *range.second;
      const double       step = 44.;
      double             x    = right - step * (high - low + 1);
      write_text(out, x - 8., y, 18., "end", "degree", "fill=\"#333333\"");
      for (unsigned int p = low; p <= high; ++p, x += step)
        {
          out << "<rect class=\"legend\" x=\"" << number(x) << "\" y=\""
              << number(y - 14.)
              << "\" width=\"17\" height=\"17\" rx=\"2\" fill=\""
              << degree_color(p, low, high).text()
              << "\" stroke=\"#555555\" stroke-width=\"0.6\"/>\n";
          write_text(out,
                     x + 21.,
                     y,
                     17.,
                     "start",
                     std::to_string(p),
                     "fill=\"#333333\"");
        }
    }

    /// Height of the line above the drawing.
    double
    top_margin(const MeshSvgFlags &flags)
    {
      return flags.title.empty() && !flags.color_by_degree &&
                 flags.values.empty()
               ? 0.
               : 34.;
    }

    void
    caption(std::ostream        &out,
            const MeshSvgFlags  &flags,
            const PolytopicDoFs &dofs,
            const View          &view)
    {
      if (!flags.title.empty())
        write_text(
          out, 18., 34., 22., "start", escape(flags.title), "fill=\"#222222\"");
      if (!flags.values.empty())
        ValueColors(flags.values).legend(out, view.width - 14., 34.);
      else if (flags.color_by_degree)
        degree_legend(out, dofs, view.width - 14., 34.);
    }

    // ------------------------------------------------------------- 2-D

    /// Adds a line of points, two coordinates per point, to a path.
    void
    add_line(std::ostream              &out,
             const View                &view,
             const std::vector<double> &line)
    {
      for (std::size_t i = 0; i < line.size(); i += 2)
        out << (i == 0 ? 'M' : 'L') << view.point(line[i], line[i + 1]);
    }

    /// Adds a closed loop to a path. Points in the middle of a straight line
    /// are left out.
    void
    add_loop(std::ostream              &out,
             const View                &view,
             const std::vector<double> &points,
             const OutlineLoop         &loop)
    {
      const std::size_t   n         = loop.points.size();
      const char         *separator = "M";
      const double *const x         = points.data();
      for (std::size_t i = 0; i < n; ++i)
        {
          const unsigned int a = loop.points[(i + n - 1) % n],
                             b = loop.points[i], c = loop.points[(i + 1) % n];
          const double ux = x[2 * b] - x[2 * a],
                       uy = x[2 * b + 1] - x[2 * a + 1],
                       vx = x[2 * c] - x[2 * b],
                       vy = x[2 * c + 1] - x[2 * b + 1];
          if (std::abs(ux * vy - uy * vx) <
                1e-9 * (ux * ux + uy * uy + vx * vx + vy * vy) &&
              ux * vx + uy * vy > 0.)
            continue;
          out << separator << view.point(x[2 * b], x[2 * b + 1]);
          separator = "L";
        }
      out << 'Z';
    }

    /// Fills the polytopes. Each shape has a thin line of its own colour;
    /// otherwise the white background would shine through between neighbours.
    void
    draw_polytopes(std::ostream                  &out,
                   const AgglomerationHandler<2> &handler,
                   const std::vector<Color>      &colors,
                   const View                    &view)
    {
      const PolygonOutlines outlines(handler);
      out << "<g id=\"polytopes\" fill-rule=\"evenodd\" stroke-width=\"0.5\" "
             "stroke-linejoin=\"round\">\n";
      for (unsigned int k = 0; k < colors.size(); ++k)
        {
          const std::string color = colors[k].text();
          out << "<path class=\"polytope\" fill=\"" << color << "\" stroke=\""
              << color << "\" d=\"";
          for (const OutlineLoop &loop : outlines.loops(k))
            add_loop(out, view, outlines.points, loop);
          out << "\"/>\n";
        }
      out << "</g>\n";
    }

    /// Fills the sub-cells with the colours of values.
    void
    draw_values(std::ostream                  &out,
                const AgglomerationHandler<2> &handler,
                const std::vector<double>     &values,
                const View                    &view)
    {
      const ValueColors colors(values);
      out << "<g id=\"values\" stroke-width=\"0.5\" "
             "stroke-linejoin=\"round\">\n";
      for (unsigned int s = 0; s < values.size(); ++s)
        {
          const std::string color = colors[s].text();
          out << "<path class=\"value\" fill=\"" << color << "\" stroke=\""
              << color << "\" d=\"";
          add_line(out, view, subcell_line(handler, s));
          out << "Z\"/>\n";
        }
      out << "</g>\n";
    }

    void
    draw_fine_cells(std::ostream                  &out,
                    const AgglomerationHandler<2> &handler,
                    const View                    &view,
                    const double                   line_width)
    {
      out << "<path id=\"fine_cells\" fill=\"none\" stroke=\"#ffffff\" "
             "stroke-opacity=\"0.75\" stroke-width=\""
          << number(line_width) << "\" d=\"";
      for (unsigned int s = 0; s < handler.polytopic_mesh().n_subcells(); ++s)
        {
          add_line(out, view, subcell_line(handler, s));
          out << 'Z';
        }
      out << "\"/>\n";
    }

    /// Draws the interfaces inside the domain, or those at its boundary,
    /// periodic ones included.
    void
    draw_interfaces(std::ostream                  &out,
                    const AgglomerationHandler<2> &handler,
                    const View                    &view,
                    const bool                     boundary,
                    const double                   line_width)
    {
      const PolytopicMesh<2> &mesh = handler.polytopic_mesh();
      out << "<path id=\"" << (boundary ? "boundary" : "interfaces")
          << "\" fill=\"none\" stroke=\"" << (boundary ? "#1f2933" : "#37474f")
          << "\" stroke-width=\"" << number(line_width)
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
              add_line(out, view, facet_line(handler, i, f, side));
        }
      out << "\"/>\n";
    }

    /// Position of the label of polytope @p k: the mean of the centres of its
    /// sub-cells, or the nearest of these centres if that is farther away than
    /// half of the square root of the measure, as for polytopes that surround
    /// the mean.
    std::array<double, 2>
    label_position(const PolytopicMesh<2> &mesh, const unsigned int k)
    {
      const auto center = [&](const unsigned int s) {
        double             x = 0., y = 0.;
        const unsigned int begin = mesh.subcell_vertex_offset[s],
                           end   = mesh.subcell_vertex_offset[s + 1];
        for (unsigned int v = begin; v < end; ++v)
          {
            x += mesh.subcell_vertices[2 * std::size_t(v)];
            y += mesh.subcell_vertices[2 * std::size_t(v) + 1];
          }
        return std::array<double, 2>{{x / (end - begin), y / (end - begin)}};
      };
      const unsigned int begin   = mesh.subcell_offset[k],
                         end     = mesh.subcell_offset[k + 1];
      std::array<double, 2> mean = {{0., 0.}};
      for (unsigned int s = begin; s < end; ++s)
        {
          const std::array<double, 2> x = center(s);
          mean[0] += x[0];
          mean[1] += x[1];
        }
      mean[0] /= end - begin;
      mean[1] /= end - begin;

      double                best_distance = std::numeric_limits<double>::max();
      std::array<double, 2> best          = mean;
      for (unsigned int s = begin; s < end; ++s)
        {
          const std::array<double, 2> x = center(s);
          const double distance = std::hypot(x[0] - mean[0], x[1] - mean[1]);
          if (distance < best_distance)
            {
              best_distance = distance;
              best          = x;
            }
        }
      return best_distance > .5 * std::sqrt(mesh.measure[k]) ? best : mean;
    }

    /// Writes the index of each polytope that has room for it.
    void
    draw_labels(std::ostream           &out,
                const PolytopicMesh<2> &mesh,
                const View             &view)
    {
      out << "<g id=\"labels\" fill=\"#222222\">\n";
      for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
        {
          const double size =
            std::min(26., .38 * view.scale * std::sqrt(mesh.measure[k]));
          if (size < 3.)
            continue;
          const std::array<double, 2> x = label_position(mesh, k);
          write_text(out,
                     view.x(x[0]),
                     view.y(x[1]) + .35 * size,
                     size,
                     "middle",
                     std::to_string(k));
        }
      out << "</g>\n";
    }

    void
    draw_mesh(std::ostream                  &out,
              const AgglomerationHandler<2> &handler,
              const MeshSvgFlags            &flags)
    {
      const PolytopicMesh<2> &mesh = handler.polytopic_mesh();
      const PolytopicDoFs    &dofs = handler.polytopic_dofs();
      const View view(mesh_box(mesh), flags.size, top_margin(flags), 18.);

      // Smaller polytopes get thinner lines.
      double area = 0.;
      for (const double m : mesh.measure)
        area += m;
      const double typical =
        view.scale * std::sqrt(area / std::max(1U, mesh.n_polytopes()));
      const double width = std::clamp(.05 * typical, .35, 1.8);

      write_header(out, view.width, view.height);
      caption(out, flags, dofs, view);
      if (flags.values.empty())
        draw_polytopes(out, handler, polytope_colors(mesh, dofs, flags), view);
      else
        draw_values(out, handler, flags.values, view);
      if (flags.fine_cells)
        draw_fine_cells(out, handler, view, .55 * width);
      draw_interfaces(out, handler, view, /*boundary=*/false, width);
      draw_interfaces(out, handler, view, /*boundary=*/true, 1.6 * width);
      if (flags.labels)
        draw_labels(out, mesh, view);
      out << "</svg>\n";
    }

    // ------------------------------------------------------------- 3-D

    using Vector3 = dealii::Tensor<1, 3>;

    /// Directions of the screen, direction towards the viewer and that of the
    /// light.
    struct Projection
    {
      Vector3 right, up, toward, light;

      /// Angles are those of MeshSvgFlags.
      Projection(const double azimuth, const double elevation)
      {
        const double a = azimuth * pi / 180., e = elevation * pi / 180.;
        right  = Vector3({-std::sin(a), std::cos(a), 0.});
        toward = Vector3(
          {std::cos(e) * std::cos(a), std::cos(e) * std::sin(a), std::sin(e)});
        up    = dealii::cross_product_3d(toward, right);
        light = .62 * toward + .66 * up - .42 * right;
      }

      /// Colour of a facet with the normal vector @p normal.
      Color
      shaded(const Color &color, const Vector3 &normal) const
      {
        const double shade = std::max(0., normal * light);
        return color.mix(shade > .75 ? rgb(0xffffff) : rgb(0x26323f),
                         shade > .75 ? .8 * (shade - .75)
                                     : .42 * (.75 - shade));
      }
    };

    /// Makes @p box the least one that contains itself and the point (x, y).
    void
    enlarge(std::array<double, 4> &box, const double x, const double y)
    {
      box = {{std::min(box[0], x),
              std::min(box[1], y),
              std::max(box[2], x),
              std::max(box[3], y)}};
    }

    constexpr double largest_double       = std::numeric_limits<double>::max();
    const std::array<double, 4> empty_box = {
      {largest_double, largest_double, -largest_double, -largest_double}};

    /// A polygon of a surface on the screen.
    struct ProjectedPolygon
    {
      unsigned int index;
      double       depth;
      Vector3      normal;
    };

    /// Those polygons of a surface that show their front, far ones first.
    std::vector<ProjectedPolygon>
    visible_polygons(const std::vector<SurfacePolygon> &surface,
                     const Projection                  &projection)
    {
      std::vector<ProjectedPolygon> result;
      for (unsigned int i = 0; i < surface.size(); ++i)
        {
          const SurfacePolygon &polygon = surface[i];
          const unsigned int    n       = polygon.n_corners;
          const Vector3         first(polygon.corners[0]);
          Vector3               normal, centre;
          for (unsigned int v = 0; v < n; ++v)
            {
              const Vector3 a(polygon.corners[v]),
                b(polygon.corners[(v + 1) % n]);
              normal += dealii::cross_product_3d(a - first, b - first);
              centre += a / n;
            }
          const double length = normal.norm();
          if (length > 0. && normal * projection.toward > 1e-9 * length)
            result.push_back({i, centre * projection.toward, normal / length});
        }
      std::stable_sort(result.begin(),
                       result.end(),
                       [](const ProjectedPolygon &a,
                          const ProjectedPolygon &b) {
                         return a.depth < b.depth;
                       });
      return result;
    }

    /// The surface of the domain, or the surfaces of all polytopes that are
    /// pulled apart, in a parallel projection.
    class SurfaceDrawing
    {
    public:
      SurfaceDrawing(const PolytopicMesh<3> &mesh,
                     const PolytopicDoFs    &dofs,
                     const MeshSvgFlags     &flags)
        : mesh(mesh)
        , dofs(dofs)
        , flags(flags)
        , exploded(flags.explode > 0.)
        , projection(flags.azimuth, flags.elevation)
        , numbering(point_tolerance(mesh))
      {
        collect_facets();
        for (unsigned int f = 0; f < facets.size(); ++f)
          for (unsigned int v = 0; v < facets[f].n; ++v)
            edges[edge_key(facets[f], v)].push_back(f);
      }

      void
      draw(std::ostream &out) const
      {
        const View         view = make_view();
        const ValueColors  value_colors(flags.values);
        std::vector<Color> colors;
        if (flags.values.empty())
          colors = polytope_colors(mesh, dofs, flags);
        const std::vector<unsigned int> order   = drawing_order();
        const double                    typical = (view.width + view.height) /
                               std::sqrt(std::max<double>(1., order.size()));
        const double width = std::clamp(.05 * typical, .5, 1.6);

        write_header(out, view.width, view.height);
        caption(out, flags, dofs, view);
        out << "<g id=\"polytopes\" stroke-linejoin=\"round\" "
               "stroke-linecap=\"round\">\n";
        for (const unsigned int f : order)
          {
            fill_facet(out,
                       view,
                       facets[f],
                       colors.empty() ? value_colors[facets[f].subcell]
                                      : colors[facets[f].polytope]);
            draw_edges(out, view, facets[f], width);
          }
        out << "</g>\n</svg>\n";
      }

    private:
      struct Facet
      {
        unsigned int                polytope, subcell, n;
        std::array<unsigned int, 4> points;
        Vector3                     normal;
        double                      depth;
        bool                        visible;
      };

      /// Two points, and the polytope if polytopes are pulled apart: then they
      /// do not share edges.
      using EdgeKey = std::array<unsigned int, 3>;

      EdgeKey
      edge_key(const Facet &facet, const unsigned int v) const
      {
        const unsigned int p = facet.points[v],
                           q = facet.points[(v + 1) % facet.n];
        return {
          {std::min(p, q), std::max(p, q), exploded ? facet.polytope : 0U}};
      }

      /// Shift of a polytope if the polytopes are pulled apart.
      Vector3
      shift(const unsigned int k) const
      {
        Vector3 result;
        if (exploded)
          {
            const double *const b = &mesh.box[std::size_t(k) * 6];
            for (unsigned int d = 0; d < 3; ++d)
              result[d] = .5 * flags.explode * (b[d] + b[3 + d]);
          }
        return result;
      }

      Vector3
      coordinates(const unsigned int p) const
      {
        const double *const x = &numbering.points[3 * std::size_t(p)];
        return Vector3({x[0], x[1], x[2]});
      }

      /// Fills @p facets with those facets that may be visible.
      void
      collect_facets()
      {
        for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
          {
            const bool outer =
              mesh.interface_polytope[2 * i + 1] == invalid_index ||
              mesh.interface_shift[i] != 0;
            if (!outer && !exploded)
              continue;
            for (unsigned int side = 0; side < 2; ++side)
              if (mesh.interface_polytope[2 * i + side] != invalid_index)
                for (unsigned int f = mesh.facet_offset[i];
                     f < mesh.facet_offset[i + 1];
                     ++f)
                  facets.push_back(make_facet(i, f, side));
          }
      }

      Facet
      make_facet(const unsigned int interface,
                 const unsigned int f,
                 const unsigned int side)
      {
        double corners[4][3];
        Facet  facet;
        facet.polytope       = mesh.interface_polytope[2 * interface + side];
        facet.subcell        = mesh.facet_subcell[2 * f + side];
        facet.n              = facet_corners(mesh, interface, f, side, corners);
        const Vector3 offset = shift(facet.polytope);
        const double  sign   = side == 0 ? 1. : -1.;
        for (unsigned int d = 0; d < 3; ++d)
          facet.normal[d] = sign * mesh.facet_normal[3 * f + d];
        facet.depth = 0.;
        for (unsigned int v = 0; v < facet.n; ++v)
          {
            for (unsigned int d = 0; d < 3; ++d)
              corners[v][d] += offset[d];
            facet.points[v] = numbering.number(corners[v]);
            facet.depth += (Vector3(corners[v]) * projection.toward) / facet.n;
          }
        facet.visible = facet.normal * projection.toward > 1e-9;
        return facet;
      }

      /// The section of the screen that contains all points.
      View
      make_view() const
      {
        std::array<double, 4> box = empty_box;
        for (unsigned int p = 0; p < numbering.points.size() / 3; ++p)
          enlarge(box,
                  coordinates(p) * projection.right,
                  coordinates(p) * projection.up);
        if (numbering.points.empty())
          box.fill(0.);
        return View(box, flags.size, top_margin(flags), 22.);
      }

      /// Visible facets for the painter's algorithm: far facets first.
      std::vector<unsigned int>
      drawing_order() const
      {
        std::vector<unsigned int> order;
        for (unsigned int f = 0; f < facets.size(); ++f)
          if (facets[f].visible)
            order.push_back(f);
        std::stable_sort(order.begin(),
                         order.end(),
                         [&](const unsigned int f, const unsigned int g) {
                           return facets[f].depth < facets[g].depth;
                         });
        return order;
      }

      /// Position of a point on the screen.
      std::string
      project(const View &view, const unsigned int p) const
      {
        const Vector3 x = coordinates(p);
        return view.point(x * projection.right, x * projection.up);
      }

      void
      fill_facet(std::ostream &out,
                 const View   &view,
                 const Facet  &facet,
                 const Color  &polytope_color) const
      {
        const std::string color =
          projection.shaded(polytope_color, facet.normal).text();
        out << "<path class=\"facet\" fill=\"" << color << "\" stroke=\""
            << color << "\" stroke-width=\"1\" d=\"";
        for (unsigned int v = 0; v < facet.n; ++v)
          out << (v == 0 ? 'M' : 'L') << project(view, facet.points[v]);
        out << "Z\"/>\n";
      }

      /// Whether an edge is part of an outline: its two facets belong to
      /// different polytopes, form an angle, or lie on opposite sides of the
      /// silhouette.
      bool
      is_outline(const Facet &facet, const unsigned int v) const
      {
        const auto &sharing = edges.at(edge_key(facet, v));
        return sharing.size() < 2 ||
               std::any_of(sharing.begin(),
                           sharing.end(),
                           [&](const unsigned int g) {
                             return facets[g].polytope != facet.polytope ||
                                    facets[g].normal * facet.normal < .9 ||
                                    !facets[g].visible;
                           });
      }

      void
      draw_edges(std::ostream &out,
                 const View   &view,
                 const Facet  &facet,
                 const double  width) const
      {
        std::string lines, fine;
        for (unsigned int v = 0; v < facet.n; ++v)
          {
            const bool outline = is_outline(facet, v);
            if (outline || flags.fine_cells)
              (outline ? lines : fine) +=
                'M' + project(view, facet.points[v]) + 'L' +
                project(view, facet.points[(v + 1) % facet.n]);
          }
        if (!fine.empty())
          out << "<path fill=\"none\" stroke=\"#ffffff\" "
                 "stroke-opacity=\"0.7\" stroke-width=\""
              << number(.6 * width) << "\" d=\"" << fine << "\"/>\n";
        if (!lines.empty())
          out << "<path fill=\"none\" stroke=\"#2f3b45\" stroke-width=\""
              << number(width) << "\" d=\"" << lines << "\"/>\n";
      }

      const PolytopicMesh<3> &mesh;
      const PolytopicDoFs    &dofs;
      const MeshSvgFlags     &flags;
      const bool              exploded;
      const Projection        projection;
      PointNumbering<3>       numbering;
      std::vector<Facet>      facets;
      /// For each edge the facets that have it.
      std::map<EdgeKey, std::vector<unsigned int>> edges;
    };

    void
    draw_mesh(std::ostream                  &out,
              const AgglomerationHandler<3> &handler,
              const MeshSvgFlags            &flags)
    {
      SurfaceDrawing(handler.polytopic_mesh(), handler.polytopic_dofs(), flags)
        .draw(out);
    }
  } // namespace



  void
  draw_surface_svg(const std::vector<SurfacePolygon> &surface,
                   std::ostream                      &out,
                   const SurfaceSvgFlags             &flags)
  {
    const Projection      projection(flags.azimuth, flags.elevation);
    std::vector<double>   values;
    std::array<double, 4> box = empty_box;
    for (const SurfacePolygon &polygon : surface)
      {
        values.push_back(polygon.value);
        for (unsigned int v = 0; v < polygon.n_corners; ++v)
          {
            const Vector3 x(polygon.corners[v]);
            enlarge(box, x * projection.right, x * projection.up);
          }
      }
    if (surface.empty())
      box.fill(0.);
    const View        view(box, flags.size, 34., 22.);
    const ValueColors colors(values);
    write_header(out, view.width, view.height);
    if (!flags.title.empty())
      write_text(
        out, 18., 34., 22., "start", escape(flags.title), "fill=\"#222222\"");
    colors.legend(out, view.width - 14., 34.);
    out << "<g id=\"surface\" stroke-width=\"0.5\" "
           "stroke-linejoin=\"round\">\n";
    for (const ProjectedPolygon &visible :
         visible_polygons(surface, projection))
      {
        const SurfacePolygon &polygon = surface[visible.index];
        // Shades would hide differences of values.
        const Color       plain = colors[visible.index];
        const std::string color =
          plain.mix(projection.shaded(plain, visible.normal), .5).text();
        out << "<path class=\"facet\" fill=\"" << color << "\" stroke=\""
            << color << "\" d=\"";
        for (unsigned int v = 0; v < polygon.n_corners; ++v)
          {
            const Vector3 x(polygon.corners[v]);
            out << (v == 0 ? 'M' : 'L')
                << view.point(x * projection.right, x * projection.up);
          }
        out << "Z\"/>\n";
      }
    out << "</g>\n</svg>\n";
  }



  template <int dim>
  void
  draw_mesh_svg(const AgglomerationHandler<dim> &handler,
                std::ostream                    &out,
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
                  handler.polytopic_dofs().degree.size() == mesh.n_polytopes(),
                dealii::ExcMessage(
                  "Colours by degree need degrees; call distribute_dofs() "
                  "first."));
    AssertThrow(flags.values.empty() ||
                  flags.values.size() == mesh.n_subcells(),
                dealii::ExcMessage("The drawing of " +
                                   std::to_string(mesh.n_subcells()) +
                                   " sub-cells needs one value for each, but "
                                   "there are " +
                                   std::to_string(flags.values.size()) + "."));
    draw_mesh(out, handler, flags);
  }



  template <int dim>
  void
  write_mesh_svg(const AgglomerationHandler<dim> &handler,
                 const std::string               &file_name,
                 const MeshSvgFlags              &flags)
  {
    write_file(file_name,
               [&](std::ostream &out) { draw_mesh_svg(handler, out, flags); });
  }



  template void
  draw_mesh_svg<2>(const AgglomerationHandler<2> &,
                   std::ostream &,
                   const MeshSvgFlags &);
  template void
  write_mesh_svg<2>(const AgglomerationHandler<2> &,
                    const std::string &,
                    const MeshSvgFlags &);
  template void
  draw_mesh_svg<3>(const AgglomerationHandler<3> &,
                   std::ostream &,
                   const MeshSvgFlags &);
  template void
  write_mesh_svg<3>(const AgglomerationHandler<3> &,
                    const std::string &,
                    const MeshSvgFlags &);
} // namespace Tessella

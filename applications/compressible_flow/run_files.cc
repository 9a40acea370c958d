// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "run_files.h"

#include <deal.II/base/data_out_base.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "../common/html_report.h"
#include "../common/program.h"
#include "../common/screen.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      /// The text between name=" and the next quotation mark.
      std::string
      attribute(const std::string &line, const std::string &name)
      {
        const std::string start = name + "=\"";
        const std::size_t begin = line.find(start);
        if (begin == std::string::npos)
          return "";
        const std::size_t first = begin + start.size();
        return line.substr(first, line.find('"', first) - first);
      }

      /// Lines of the file @p name, which the first process reads; none if it
      /// does not exist. Collective.
      std::vector<std::string>
      read_lines(const std::string &name)
      {
        std::string text;
        if (is_first_process())
          {
            std::ifstream in(name);
            text.assign(std::istreambuf_iterator<char>(in), {});
          }
        text = Utilities::MPI::broadcast(MPI_COMM_WORLD, text);
        std::vector<std::string> lines;
        std::istringstream       in(text);
        for (std::string line; std::getline(in, line);)
          lines.push_back(line);
        return lines;
      }

      /// Distance below which two times are the same. Times that were read
      /// from a PVD file are rounded there.
      double
      tolerance(const double time, const bool was_read)
      {
        return 1e-9 + (was_read ? 1e-5 * std::abs(time) : 0.);
      }

      /// Name of a file without its folder: files of a list are beside it.
      std::string
      file_name(const std::string &path)
      {
        return path.substr(path.rfind('/') + 1);
      }

      PlotFlags
      linear_plot(const std::string &x_label, const std::string &y_label)
      {
        PlotFlags result;
        result.x_label       = x_label;
        result.y_label       = y_label;
        result.logarithmic_x = result.logarithmic_y = false;
        return result;
      }

      /// -C_p over x of both sides of a body.
      void
      draw_surface(const OutputInput                  &output,
                   const std::string                  &stem,
                   const std::vector<SurfacePoint<2>> &points)
      {
        PlotCurve curve[2];
        for (const SurfacePoint<2> &point : points)
          {
            PlotCurve &side = curve[point.x[1] < 0. ? 1 : 0];
            side.x.push_back(point.x[0]);
            side.y.push_back(-point.pressure_coefficient);
          }
        curve[0].label = "y > 0";
        curve[1].label = "y < 0";
        output.write_plot({curve[0], curve[1]},
                          stem + "-surface.svg",
                          linear_plot("x", "-C_p"));
      }

      /// The bodies with colours of C_p.
      void
      draw_surface(const OutputInput                 &output,
                   const std::string                 &stem,
                   const std::vector<SurfacePolygon> &polygons)
      {
        SurfaceSvgFlags flags;
        flags.title = output.name + ": C_p";
        // From ahead, x < 0, above, and the side of the tip of half a wing.
        double side = 0., size = 0.;
        for (const SurfacePolygon &polygon : polygons)
          {
            side += polygon.corners[0][1];
            size += std::abs(polygon.corners[0][1]);
          }
        flags.azimuth   = side < -1e-6 * size ? 225. : 135.;
        flags.elevation = 35.;
        const auto draw = [&](std::ostream &out) {
          draw_surface_svg(polygons, out, flags);
        };
        html_report().add_drawing(title_of_ending(stem + "-surface.svg"), draw);
        if (output.write_svg)
          write_file(output.file(stem + "-surface.svg"), draw);
      }

      /// Adds curves of the points at a section from Forces/Section data.
      void
      add_section_data(const std::vector<KnownSectionPoint> &points,
                       const double                          station,
                       const int                             group,
                       std::vector<PlotCurve>               &curves)
      {
        if (points.empty())
          return;
        for (const int side : {1, -1})
          {
            std::vector<KnownSectionPoint> part;
            std::copy_if(points.begin(),
                         points.end(),
                         std::back_inserter(part),
                         [&](const KnownSectionPoint &point) {
                           return point.side == side &&
                                  is_same_station(point.station, station);
                         });
            std::stable_sort(part.begin(),
                             part.end(),
                             [](const KnownSectionPoint &a,
                                const KnownSectionPoint &b) {
                               return a.chord < b.chord;
                             });
            PlotCurve curve;
            curve.label = short_text(station) + ", data, " +
                          (side > 0 ? "upper side" : "lower side");
            curve.group = group;
            for (const KnownSectionPoint &point : part)
              {
                curve.x.push_back(point.chord);
                curve.y.push_back(-point.pressure_coefficient);
              }
            curves.push_back(curve);
          }
      }

      /// Sections of a wing as table and drawing, with one colour for each.
      void
      write_sections(const OutputInput        &output,
                     const std::string        &stem,
                     const ForceInput         &forces,
                     const FlowEvaluation<3>  &evaluation,
                     const ConservationVector &u)
      {
        std::vector<std::vector<SectionPoint>> sections;
        std::vector<PlotCurve>                 curves;
        for (const double station : forces.stations)
          {
            sections.push_back(evaluation.section(u, station));
            for (const int side : {1, -1})
              {
                PlotCurve curve;
                curve.label = short_text(station) +
                              (side > 0 ? ", upper side" : ", lower side");
                curve.group = sections.size() - 1;
                for (const SectionPoint &point : sections.back())
                  if (point.side == side)
                    {
                      curve.x.push_back(point.chord);
                      curve.y.push_back(-point.pressure_coefficient);
                    }
                curves.push_back(curve);
              }
            add_section_data(forces.section_data,
                             station,
                             sections.size() - 1,
                             curves);
          }
        if (output.write_csv)
          write_file(output.file(stem + "-sections.csv"),
                     [&](std::ostream &out) {
                       out.precision(10);
                       out << "station,side,chord,x,y,z,C_p,Mach_number\n";
                       for (unsigned int i = 0; i < sections.size(); ++i)
                         for (const SectionPoint &point : sections[i])
                           out << forces.stations[i] << ',' << point.side << ','
                               << point.chord << ',' << point.x[0] << ','
                               << point.x[1] << ',' << point.x[2] << ','
                               << point.pressure_coefficient << ','
                               << point.mach_number << '\n';
                     });
        output.write_plot(curves,
                          stem + "-sections.svg",
                          linear_plot("part of the chord", "-C_p"));
      }
    } // namespace



    FieldSeries::FieldSeries(const OutputInput &output,
                             const std::string &stem,
                             const bool         continued)
      : output(output)
      , stem(stem)
    {
      if (!continued)
        return;
      for (const std::string &line : read_lines(output.file(stem + ".pvd")))
        if (line.find("<DataSet ") != std::string::npos)
          files.emplace_back(std::atof(attribute(line, "timestep").c_str()),
                             attribute(line, "file"));
      n_read = files.size();
    }



    void
    FieldSeries::remove_after(const double time, const bool with_this)
    {
      while (!files.empty())
        {
          const double later = files.back().first - time,
                       same  = tolerance(time, files.size() <= n_read);
          if (with_this ? later <= -same : later <= same)
            break;
          files.pop_back();
          n_read = std::min(n_read, files.size());
        }
    }



    bool
    FieldSeries::has_file(const std::string &path) const
    {
      return std::any_of(files.begin(), files.end(), [&](const auto &entry) {
        return entry.second == file_name(path);
      });
    }



    std::string
    FieldSeries::append(const double time, const std::string &name)
    {
      const std::string path = output.file(name);
      // A file that a run before has listed is written again.
      for (std::size_t i = files.size(); i-- > 0;)
        if (files[i].second == file_name(path))
          {
            files.erase(files.begin() + i);
            n_read -= i < n_read ? 1 : 0;
          }
      files.emplace_back(time, file_name(path));
      write_file(output.file(stem + ".pvd"), [&](std::ostream &out) {
        DataOutBase::write_pvd_record(out, files);
      });
      return path;
    }



    std::string
    FieldSeries::add(const double time)
    {
      remove_after(time, true);
      const auto name = [&](const std::size_t number) {
        return stem + "-" + Utilities::int_to_string(number, 4) + ".vtu";
      };
      std::size_t number = files.size();
      while (has_file(output.file(name(number))))
        ++number;
      return append(time, name(number));
    }



    std::string
    FieldSeries::add_last(const double time, const std::string &ending)
    {
      remove_after(time, false);
      if (!files.empty() &&
          files.back().first > time - tolerance(time, files.size() <= n_read))
        return output.file(stem + ending);
      return append(time, stem + ending);
    }



    ForceHistory::ForceHistory(const OutputInput &output,
                               const std::string &stem,
                               const std::string &variable,
                               const bool         continued)
      : output(output)
      , stem(stem)
      , variable(variable)
    {
      if (!continued)
        return;
      const auto text = read_lines(output.file(stem + "-history.csv"));
      // The first line has the names of the columns.
      for (std::size_t i = 1; i < text.size(); ++i)
        {
          const auto numbers = Utilities::string_to_double(
            Utilities::split_string_list(text[i], ','));
          if (numbers.size() == 4)
            lines.push_back({numbers[0], {numbers[1], numbers[2], numbers[3]}});
        }
    }



    void
    ForceHistory::add(const double time, const ForceCoefficients &forces)
    {
      while (!lines.empty() && lines.back().time > time - 1e-9)
        lines.pop_back();
      lines.push_back({time, forces});
      if (output.write_csv)
        write_file(output.file(stem + "-history.csv"), [&](std::ostream &out) {
          out.precision(12);
          out << variable << ",C_l,C_d,C_m\n";
          for (const Line &line : lines)
            out << line.time << ',' << line.forces.lift << ','
                << line.forces.drag << ',' << line.forces.moment << '\n';
        });
    }



    void
    ForceHistory::draw() const
    {
      if (lines.size() < 2)
        return;
      std::vector<PlotCurve> curves(3);
      curves[0].label = "C_l";
      curves[1].label = "C_d";
      curves[2].label = "C_m";
      for (const Line &line : lines)
        {
          for (PlotCurve &curve : curves)
            curve.x.push_back(line.time);
          curves[0].y.push_back(line.forces.lift);
          curves[1].y.push_back(line.forces.drag);
          curves[2].y.push_back(line.forces.moment);
        }
      output.write_plot(curves,
                        stem + "-forces.svg",
                        linear_plot(variable, "coefficient"));
    }



    void
    draw_residuals(const OutputInput                            &output,
                   const std::string                            &stem,
                   const std::vector<Flow::PseudoTransientStep> &steps)
    {
      PlotCurve residual;
      residual.label = "residual / first one";
      for (const Flow::PseudoTransientStep &step : steps)
        {
          residual.x.push_back(step.step);
          residual.y.push_back(step.reduction);
        }
      PlotFlags flags     = linear_plot("step", "residual");
      flags.logarithmic_y = true;
      output.write_plot({residual}, stem + "-residuals.svg", flags);
    }



    template <int dim>
    void
    write_surface(const OutputInput         &output,
                  const std::string         &stem,
                  const ForceInput          &forces,
                  const FlowEvaluation<dim> &evaluation,
                  const ConservationVector  &u)
    {
      const auto points = evaluation.surface(u);
      if (output.write_csv)
        write_file(output.file(stem + "-surface.csv"), [&](std::ostream &out) {
          out.precision(10);
          out << (dim == 2 ? "x,y" : "x,y,z") << ",C_p,Mach_number\n";
          for (const auto &point : points)
            {
              for (int d = 0; d < dim; ++d)
                out << point.x[d] << ',';
              out << point.pressure_coefficient << ',' << point.mach_number
                  << '\n';
            }
        });
      if constexpr (dim == 2)
        draw_surface(output, stem, points);
      else
        {
          draw_surface(output, stem, evaluation.surface_polygons(u));
          if (!forces.stations.empty())
            write_sections(output, stem, forces, evaluation, u);
        }
    }



    template void
    write_surface(const OutputInput &,
                  const std::string &,
                  const ForceInput &,
                  const FlowEvaluation<2> &,
                  const ConservationVector &);
    template void
    write_surface(const OutputInput &,
                  const std::string &,
                  const ForceInput &,
                  const FlowEvaluation<3> &,
                  const ConservationVector &);
  } // namespace Application
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "study_table.h"

#include <deal.II/base/exceptions.h>

#include <tessella/base/on_all_processes.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <limits>
#include <sstream>

#include "program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      const char *const norm_names[]  = {"L2", "H1", "dG"};
      const char *const norm_titles[] = {"L2 error", "H1 error", "dG error"};
      const char *const stage_names[] = {"mesh",
                                         "agglomeration",
                                         "handler",
                                         "structure",
                                         "assembly",
                                         "solve",
                                         "errors",
                                         "output"};

      std::string
      fixed(const double number, const int digits)
      {
        if (!std::isfinite(number))
          return "-";
        std::ostringstream stream;
        stream << std::fixed << std::setprecision(digits) << number;
        return stream.str();
      }
    } // namespace

    StudyTable::StudyTable(const int  dim,
                           const bool in_degree,
                           const bool with_errors)
      : dim(dim)
      , in_degree(in_degree)
      , with_errors(with_errors)
    {}

    std::string
    StudyTable::describe(const StudyRow &row) const
    {
      std::string line = "degree " + std::to_string(row.degree) + ": " +
                         std::to_string(row.n_dofs) + " unknowns";
      if (row.n_iterations > 0)
        line += ", " + std::to_string(row.n_iterations) + " iterations";
      if (with_errors)
        line += ", L2 error " + scientific_text(row.error[StudyRow::L2], 2);
      return line;
    }

    std::vector<StudyTable::Group>
    StudyTable::groups() const
    {
      std::vector<Group>        result;
      std::vector<unsigned int> keys;
      for (const StudyRow &row : rows)
        {
          const unsigned int key   = in_degree ? row.level : row.degree;
          const auto         found = std::find(keys.begin(), keys.end(), key);
          if (found == keys.end())
            {
              keys.push_back(key);
              result.push_back({&row});
            }
          else
            result[found - keys.begin()].push_back(&row);
        }
      return result;
    }

    std::string
    StudyTable::title(const Group &group) const
    {
      return in_degree ? "Level " + std::to_string(group[0]->level)
                       : "Degree " + std::to_string(group[0]->degree);
    }

    double
    StudyTable::rate(const Group       &group,
                     const unsigned int row,
                     const unsigned int norm) const
    {
      if (row == 0)
        return std::numeric_limits<double>::quiet_NaN();
      const StudyRow &old = *group[row - 1], &now = *group[row];
      const double    factor = old.error[norm] / now.error[norm];
      return in_degree
               ? factor
               : dim * std::log(factor) /
                   std::log(static_cast<double>(now.n_dofs) / old.n_dofs);
    }

    namespace
    {
      using Cells = std::vector<std::vector<std::string>>;

      void
      print_cells(std::ostream &out, const Cells &cells)
      {
        std::vector<std::size_t> width;
        for (const auto &row : cells)
          for (std::size_t c = 0; c < row.size(); ++c)
            {
              width.resize(std::max(width.size(), row.size()));
              width[c] = std::max(width[c], row[c].size());
            }
        for (const auto &row : cells)
          {
            for (std::size_t c = 0; c < row.size(); ++c)
              out << (c > 0 ? "  " : "") << std::setw(width[c]) << row[c];
            out << '\n';
          }
      }
    } // namespace

    void
    StudyTable::print(std::ostream &out, const bool with_times) const
    {
      const std::string first = in_degree ? "p" : "level";
      for (const Group &group : groups())
        {
          out << '\n' << title(group) << '\n';
          Cells cells(1,
                      {first,
                       "cells",
                       "polytopes",
                       "unknowns",
                       "non-zeros",
                       "iterations"});
          if (with_errors)
            for (const char *norm : norm_titles)
              {
                cells[0].push_back(norm);
                cells[0].push_back(in_degree ? "factor" : "rate");
              }
          for (unsigned int i = 0; i < group.size(); ++i)
            {
              const StudyRow          &row  = *group[i];
              std::vector<std::string> line = {
                std::to_string(in_degree ? row.degree : row.level),
                std::to_string(row.n_cells),
                std::to_string(row.n_polytopes),
                std::to_string(row.n_dofs),
                std::to_string(row.n_nonzero),
                std::to_string(row.n_iterations)};
              if (with_errors)
                for (unsigned int n = 0; n < StudyRow::n_norms; ++n)
                  {
                    line.push_back(scientific_text(row.error[n], 3));
                    line.push_back(fixed(rate(group, i, n), 2));
                  }
              cells.push_back(line);
            }
          print_cells(out, cells);
        }
      if (with_times)
        for (const Group &group : groups())
          {
            out << '\n' << title(group) << ", seconds\n";
            Cells cells(1, {first});
            for (const char *stage : stage_names)
              cells[0].push_back(stage);
            for (const StudyRow *row : group)
              {
                std::vector<std::string> line = {
                  std::to_string(in_degree ? row->degree : row->level)};
                for (const double time : row->times)
                  line.push_back(fixed(time, 3));
                cells.push_back(line);
              }
            print_cells(out, cells);
          }
      out << std::endl;
    }

    void
    StudyTable::write_csv(std::ostream &out) const
    {
      out << "level,degree,cells,polytopes,unknowns,nonzeros,iterations";
      if (with_errors)
        for (const char *norm : norm_names)
          out << ',' << norm << "_error," << norm
              << (in_degree ? "_factor" : "_rate");
      for (const char *stage : stage_names)
        out << ',' << stage << "_seconds";
      out << '\n';
      for (const Group &group : groups())
        for (unsigned int i = 0; i < group.size(); ++i)
          {
            const StudyRow &row = *group[i];
            out << row.level << ',' << row.degree << ',' << row.n_cells << ','
                << row.n_polytopes << ',' << row.n_dofs << ',' << row.n_nonzero
                << ',' << row.n_iterations;
            if (with_errors)
              for (unsigned int n = 0; n < StudyRow::n_norms; ++n)
                {
                  const double r = rate(group, i, n);
                  out << ',' << scientific_text(row.error[n], 8) << ','
                      << (std::isfinite(r) ? fixed(r, 4) : "");
                }
            for (const double time : row.times)
              out << ',' << scientific_text(time, 4);
            out << '\n';
          }
    }

    void
    StudyTable::write_latex(std::ostream &out, const std::string &name) const
    {
      std::string caption;
      for (const char c : name)
        caption += c == '_' ? std::string("\\_") : std::string(1, c);
      for (const Group &group : groups())
        {
          out << "\\begin{table}\n  \\centering\n  \\caption{" << caption
              << ": " << title(group) << "}\n  \\begin{tabular}{rrrr"
              << (with_errors ? "rrrrrr" : "") << "}\n    \\hline\n    "
              << (in_degree ? "$p$" : "level")
              << " & polytopes & unknowns & iterations";
          if (with_errors)
            for (const char *norm :
                 {"$\\|u-u_h\\|_{L^2}$", "$|u-u_h|_{H^1}$", "$|||u-u_h|||$"})
              out << " & " << norm << " & " << (in_degree ? "factor" : "rate");
          out << " \\\\\n    \\hline\n";
          for (unsigned int i = 0; i < group.size(); ++i)
            {
              const StudyRow &row = *group[i];
              out << "    " << (in_degree ? row.degree : row.level) << " & "
                  << row.n_polytopes << " & " << row.n_dofs << " & "
                  << row.n_iterations;
              if (with_errors)
                for (unsigned int n = 0; n < StudyRow::n_norms; ++n)
                  {
                    const std::string number = scientific_text(row.error[n], 3);
                    const auto        e      = number.find('e');
                    const double      r      = rate(group, i, n);
                    out << " & $" << number.substr(0, e) << " \\cdot 10^{"
                        << std::stoi(number.substr(e + 1)) << "}$ & "
                        << (std::isfinite(r) ? fixed(r, 2) : "--");
                  }
              out << " \\\\\n";
            }
          out << "    \\hline\n  \\end{tabular}\n\\end{table}\n\n";
        }
    }

    std::vector<PlotCurve>
    StudyTable::curves(PlotFlags &flags) const
    {
      std::vector<PlotCurve> result;
      const auto             all = groups();
      flags.x_label              = in_degree  ? "polynomial degree p"
                                   : dim == 2 ? "(number of unknowns)^(1/2)"
                                              : "(number of unknowns)^(1/3)";
      flags.y_label              = "error";
      flags.logarithmic_x        = !in_degree;
      for (unsigned int g = 0; g < all.size(); ++g)
        for (const StudyRow::Norm norm : {StudyRow::L2, StudyRow::H1})
          {
            PlotCurve curve;
            curve.label = title(all[g]) + ", " + norm_names[norm];
            curve.group = g;
            for (const StudyRow *row : all[g])
              {
                curve.x.push_back(
                  in_degree
                    ? row->degree
                    : std::pow(static_cast<double>(row->n_dofs), 1. / dim));
                curve.y.push_back(row->error[norm]);
              }
            if (!in_degree && all[g].size() > 1)
              {
                const double p = all[g][0]->degree;
                // The reference slope is the order of convergence for smooth
                // solutions.
                curve.slope = -(norm == StudyRow::L2 ? p + 1. : p);
              }
            result.push_back(curve);
          }
      return result;
    }

    void
    declare_report(ParameterHandler &prm, bool &write_report)
    {
      prm.add_parameter("Report",
                        write_report,
                        "NAME-report.html: one page with tables, curves, "
                        "pictures, times, parameters and versions, which a "
                        "browser shows without network.");
    }

    void
    OutputInput::declare_parameters(ParameterHandler &prm)
    {
      prm.enter_subsection("Output");
      prm.add_parameter("Directory",
                        directory,
                        "Folder of all files; it is made if it is not there.");
      prm.add_parameter("Name",
                        name,
                        "Beginning of all file names; empty: name of the "
                        "parameter file.");
      prm.add_parameter("Text", write_text, "Tables as text.");
      prm.add_parameter("CSV", write_csv, "All results, comma-separated.");
      prm.add_parameter("LaTeX", write_latex, "Tables for LaTeX.");
      prm.add_parameter("Solution",
                        write_solution,
                        "VTU of the solution on the fine cells.");
      prm.add_parameter("Polytopes",
                        write_polytopes,
                        "VTU of the polytopes as polygons or polyhedra; of "
                        "several processes one file each, and a .pvtu file.");
      prm.add_parameter("SVG",
                        write_svg,
                        "Drawings of the errors and, on one process, of the "
                        "polytopic mesh.");
      prm.add_parameter("Levels",
                        levels,
                        "Meshes for which solution, polytopes and their "
                        "drawing are written.",
                        Patterns::Selection("last|all|none"));
      prm.add_parameter("Times",
                        print_times,
                        "Print times and the machine's properties; without "
                        "them the output is the same in every run.");
      declare_report(prm, write_report);
      prm.leave_subsection();
    }

    void
    OutputInput::parse_parameters(const std::string &parameter_file)
    {
      if (name.empty())
        name = std::filesystem::path(parameter_file).stem().string();
      AssertThrow(name.find('/') == std::string::npos,
                  ExcMessage("Output/Name must not contain '/': folders belong "
                             "into Output/Directory."));
      check_folder("Output/Directory", directory);
      if (write_report)
        html_report().open(name, file("-report.html"), print_times);
    }

    std::string
    OutputInput::file(const std::string &ending) const
    {
      const std::filesystem::path folder = directory.empty() ? "." : directory;
      std::error_code             error;
      if (!run_mode().validate)
        std::filesystem::create_directories(folder, error);
      AssertThrow(!error,
                  ExcMessage("The folder '" + directory +
                             "' (Output/Directory) cannot be made: " +
                             error.message() + "."));
      return (folder / (name + ending)).string();
    }

    bool
    OutputInput::fields_of_level(const unsigned int level,
                                 const unsigned int n_levels) const
    {
      return levels == "all" || (levels == "last" && level + 1 == n_levels);
    }

    void
    OutputInput::print(const std::string &line) const
    {
      screen() << line << std::endl;
    }

    void
    OutputInput::print_written(const std::string &ending) const
    {
      print("Wrote " + file(ending) + ".");
    }

    void
    OutputInput::write_plot(const std::vector<PlotCurve> &curves,
                            const std::string            &ending,
                            PlotFlags                     flags,
                            const bool                    announce) const
    {
      if (run_mode().validate)
        return;
      flags.title = name;
      html_report().add_drawing(title_of_ending(ending),
                                [&](std::ostream &out) {
                                  draw_plot_svg(curves, out, flags);
                                });
      if (!write_svg)
        return;
      const std::string plotted = file(ending);
      on_all_processes(MPI_COMM_WORLD, [&]() {
        if (is_first_process())
          write_plot_svg(curves, plotted, flags);
      });
      if (announce)
        print_written(ending);
    }

    void
    OutputInput::print_machine(const std::string &line) const
    {
      if (!print_times)
        return;
      print(line);
      html_report().add_note(line);
    }
  } // namespace Application
} // namespace Tessella

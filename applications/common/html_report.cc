// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "html_report.h"

#include <tessella/numerics/svg_elements.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "ends_with.h"
#include "program.h"

namespace Tessella
{
  namespace Application
  {
    using Svg::escape;
    using Svg::number;

    namespace
    {
      const char *const style =
        "body{font:16px/1.5 system-ui,'Liberation Sans','DejaVu Sans',Arial,"
        "sans-serif;color:#222;background:#fff;margin:0 auto;max-width:72rem;"
        "padding:1rem}\n"
        "h1,h2,h3{line-height:1.25;overflow-wrap:anywhere}\n"
        "h2{border-bottom:1px solid #ccd;margin-top:2rem}\n"
        ".wide{overflow-x:auto}\n"
        "table{border-collapse:collapse;font-size:.9rem}\n"
        "th,td{padding:.15rem .6rem;border-bottom:1px solid #dde;"
        "text-align:left}\n"
        "th{background:#f2f5f7}\n"
        "td.n{text-align:right;font-variant-numeric:tabular-nums;"
        "white-space:nowrap}\n"
        "td.v{overflow-wrap:anywhere}\n"
        "figure{margin:1rem 0}\n"
        "figure svg{max-width:100%;height:auto}\n"
        "summary{cursor:pointer;margin:.5rem 0}\n";

      /// Colours of the parts of a bar, distinct with colour-blindness.
      const char *const bar_colors[] = {"#0072b2",
                                        "#e69f00",
                                        "#009e73",
                                        "#cc79a7",
                                        "#56b4e9",
                                        "#d55e00",
                                        "#b8a800",
                                        "#6b7280"};

      /// Longest table that is written completely; of longer ones, the middle
      /// is left out.
      constexpr std::size_t max_rows = 400;

      /// Longest table that is not folded.
      constexpr std::size_t max_open_rows = 40;

      std::string
      with_blanks(std::string name)
      {
        std::replace(name.begin(), name.end(), '_', ' ');
        return name;
      }

      /// Whether a column has times; sets the factor to seconds.
      bool
      is_time(const std::string &column, double &factor)
      {
        factor = ends_with(column, "_ms") ? 1e-3 : 1.;
        return ends_with(column, "_ms") || ends_with(column, "_s") ||
               ends_with(column, "[s]") || ends_with(column, "seconds") ||
               column.compare(0, 8, "seconds_") == 0;
      }

      bool
      is_number(const std::string &text, double &value)
      {
        char *end = nullptr;
        value     = std::strtod(text.c_str(), &end);
        return !text.empty() && end == text.c_str() + text.size();
      }

      /// Replaces bytes that are no UTF-8 by question marks.
      std::string
      valid_utf8(const std::string &text)
      {
        const auto follows = [&](const std::size_t i, const unsigned int n) {
          for (std::size_t k = i + 1; k <= i + n; ++k)
            if (k >= text.size() ||
                (static_cast<unsigned char>(text[k]) & 0xc0) != 0x80)
              return false;
          return true;
        };
        std::string result;
        for (std::size_t i = 0; i < text.size();)
          {
            const unsigned char c = text[i];
            const unsigned int  second =
              i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
            unsigned int n     = 0;
            bool         valid = c < 0x80;
            if (c >= 0xc2 && c < 0xe0)
              valid = follows(i, n = 1);
            else if (c >= 0xe0 && c < 0xf0)
              // no long forms of short characters, no surrogates
              valid = follows(i, n = 2) && (c != 0xe0 || second >= 0xa0) &&
                      (c != 0xed || second < 0xa0);
            else if (c >= 0xf0 && c < 0xf5)
              valid = follows(i, n = 3) && (c != 0xf0 || second >= 0x90) &&
                      (c != 0xf4 || second < 0x90);
            if (valid)
              result += text.substr(i, n + 1);
            else
              result += '?';
            i += valid ? n + 1 : 1;
          }
        return result;
      }

      /// A cell of a table. Long numbers are rounded, and shown completely
      /// where the pointer rests.
      void
      write_cell(std::ostream &out, const std::string &text)
      {
        double value;
        if (!is_number(text, value))
          {
            out << "<td class=\"v\">" << escape(text) << "</td>";
            return;
          }
        const std::size_t e = text.find('e');
        out << "<td class=\"n\"";
        if (e != std::string::npos && e > 6)
          out << " title=\"" << escape(text) << "\">"
              << scientific_text(value, 3);
        else
          out << '>' << escape(text);
        out << "</td>";
      }

      template <typename Table>
      void
      write_table(std::ostream                    &out,
                  const Table                     &table,
                  const std::vector<unsigned int> &columns)
      {
        const std::size_t n_rows = table.size() - 1;
        const bool        folded = n_rows > max_open_rows;
        if (folded)
          out << "<details><summary>" << n_rows << " rows"
              << (n_rows > max_rows ? ", the middle of which is left out" : "")
              << "</summary>\n";
        out << "<div class=\"wide\"><table>\n<tr>";
        for (const unsigned int c : columns)
          out << "<th>" << escape(with_blanks(table[0][c])) << "</th>";
        out << "</tr>\n";
        for (std::size_t r = 1; r <= n_rows; ++r)
          {
            if (n_rows > max_rows && r > max_rows / 2 &&
                r <= n_rows - max_rows / 2)
              continue;
            out << "<tr>";
            for (const unsigned int c : columns)
              write_cell(out, c < table[r].size() ? table[r][c] : "");
            out << "</tr>\n";
          }
        out << "</table></div>\n" << (folded ? "</details>\n" : "");
      }

      /// Bars of one row of a table.
      struct Bar
      {
        std::string         label;
        std::vector<double> seconds; ///< one for each column of times
        double              sum = 0.;
      };

      template <typename Row>
      Bar
      make_bar(const Row                       &names,
               const Row                       &row,
               const std::vector<unsigned int> &columns,
               const std::size_t                index)
      {
        Bar bar;
        for (std::size_t c = 0; c < std::min(names.size(), row.size()); ++c)
          if (names[c] == "level" || names[c] == "degree")
            bar.label +=
              (bar.label.empty() ? "" : ", ") + names[c] + " " + row[c];
        if (bar.label.empty())
          bar.label = row.empty() || row[0].empty()
                        ? "row " + std::to_string(index)
                        : with_blanks(names[0]) + " " + row[0];
        for (const unsigned int c : columns)
          {
            double factor, value = 0.;
            is_time(names[c], factor);
            if (c >= row.size() || !is_number(row[c], value) ||
                !std::isfinite(value) || value < 0.)
              value = 0.;
            bar.seconds.push_back(factor * value);
            bar.sum += bar.seconds.back();
          }
        return bar;
      }

      /// Draws one bar for each row, whose parts are the columns.
      void
      draw_bars(std::ostream                   &out,
                const std::vector<Bar>         &bars,
                const std::vector<std::string> &names)
      {
        constexpr double left = 190., width = 580., right = 90., height = 22.,
                         row = 30., entry = 24.;
        constexpr unsigned int n_colors =
          sizeof(bar_colors) / sizeof(bar_colors[0]);
        double largest = 0.;
        for (const Bar &bar : bars)
          largest = std::max(largest, bar.sum);
        const double legend = entry * ((names.size() + 3) / 4) + 12.;
        Svg::write_header(out,
                          left + width + right,
                          legend + row * bars.size() + 10.);
        const auto rectangle = [&](const double       x,
                                   const double       y,
                                   const double       length,
                                   const double       thickness,
                                   const unsigned int c,
                                   const std::string &text) {
          out << "<rect class=\"bar\" x=\"" << number(x) << "\" y=\""
              << number(y) << "\" width=\"" << number(length) << "\" height=\""
              << number(thickness) << "\" fill=\"" << bar_colors[c % n_colors]
              << "\"><title>" << escape(text) << "</title></rect>\n";
        };
        for (unsigned int c = 0; c < names.size(); ++c)
          {
            const double x = 16. + 208. * (c % 4), y = 8. + entry * (c / 4);
            rectangle(x, y, 14., 14., c, names[c]);
            Svg::write_text(
              out, x + 20., y + 12.5, 15., "start", escape(names[c]));
          }
        for (std::size_t b = 0; b < bars.size(); ++b)
          {
            double       x = left;
            const double y = legend + row * b;
            Svg::write_text(
              out, left - 10., y + 16., 15., "end", escape(bars[b].label));
            for (unsigned int c = 0; c < names.size(); ++c)
              {
                const double length =
                  largest > 0. ? width * bars[b].seconds[c] / largest : 0.;
                if (length > 0.)
                  rectangle(x,
                            y,
                            length,
                            height,
                            c,
                            names[c] + ": " + short_text(bars[b].seconds[c]) +
                              " s");
                x += length;
              }
            std::ostringstream sum;
            sum.precision(3);
            sum << bars[b].sum << " s";
            Svg::write_text(out, x + 8., y + 16., 15., "start", sum.str());
          }
        out << "</svg>\n";
      }

      /// Puts a drawing into the page. @p index makes the ids of its elements
      /// unique.
      void
      write_drawing(std::ostream      &out,
                    const std::string &caption,
                    const std::string &svg,
                    const std::size_t  index)
      {
        std::string text = svg.substr(std::min(svg.find("<svg"), svg.size()));
        const std::string name = " xmlns=\"http://www.w3.org/2000/svg\"";
        const std::size_t at   = text.find(name);
        // HTML knows the elements of SVG without their namespace.
        if (at != std::string::npos)
          text.erase(at, name.size());
        const std::string id     = " id=\"",
                          prefix = "d" + std::to_string(index) + "-";
        for (std::size_t i = text.find(id); i != std::string::npos;
             i             = text.find(id, i + id.size()))
          text.insert(i + id.size(), prefix);
        out << "<figure>\n<figcaption>" << escape(caption) << "</figcaption>\n"
            << text << "</figure>\n";
      }

      /// Writes "Section/Name = value" as rows of a table.
      void
      write_parameters(std::ostream                   &out,
                       const std::vector<std::string> &parameters)
      {
        out << "<div class=\"wide\"><table>\n"
               "<tr><th>parameter</th><th>value</th></tr>\n";
        for (const std::string &parameter : parameters)
          {
            const std::size_t equal =
              std::min(parameter.find(" ="), parameter.size());
            std::string value =
              parameter.substr(std::min(equal + 3, parameter.size()));
            out << "<tr><td>" << escape(parameter.substr(0, equal))
                << "</td><td class=\"v\">" << escape(value) << "</td></tr>\n";
          }
        out << "</table></div>\n";
      }

      void
      write_run(std::ostream &out, const RunDescription &run)
      {
        std::vector<std::string> changed;
        for (const std::string &parameter : run.parameters)
          if (std::find(run.defaults.begin(), run.defaults.end(), parameter) ==
              run.defaults.end())
            changed.push_back(parameter);
        out << "<h2>Parameters that are not the default</h2>\n";
        if (changed.empty())
          out << "<p>All parameters have their default values.</p>\n";
        else
          write_parameters(out, changed);
        out << "<details><summary>All " << run.parameters.size()
            << " parameters</summary>\n";
        write_parameters(out, run.parameters);
        out << "</details>\n<h2>Versions</h2>\n<pre>";
        std::istringstream versions(run.versions);
        for (std::string line; std::getline(versions, line);)
          out << escape(line) << '\n';
        out << "</pre>\n";
      }

      template <typename Content>
      void
      replace_or_add(std::vector<std::pair<std::string, Content>> &list,
                     const std::string                            &title,
                     Content                                       content)
      {
        for (auto &entry : list)
          if (entry.first == title)
            {
              entry.second = std::move(content);
              return;
            }
        list.emplace_back(title, std::move(content));
      }
    } // namespace



    void
    HtmlReport::open(const std::string &report_title,
                     const std::string &file_name,
                     const bool         times)
    {
      title      = report_title;
      file       = file_name;
      with_times = times;
    }



    void
    HtmlReport::add_note(const std::string &line)
    {
      if (is_open())
        notes.push_back(line);
    }



    void
    HtmlReport::add_table(const std::string &table_title,
                          const std::function<void(std::ostream &)> &write_csv)
    {
      if (!is_open())
        return;
      std::stringstream csv;
      write_csv(csv);
      Table table;
      for (std::string line; std::getline(csv, line);)
        {
          Row row(1);
          for (const char c : line)
            if (c == ',')
              row.emplace_back();
            else
              row.back() += c;
          table.push_back(std::move(row));
        }
      if (table.size() > 1)
        replace_or_add(tables, table_title, std::move(table));
    }



    void
    HtmlReport::add_drawing(
      const std::string                         &drawing_title,
      const std::function<void(std::ostream &)> &write_svg)
    {
      if (!is_open())
        return;
      std::ostringstream svg;
      write_svg(svg);
      replace_or_add(drawings, drawing_title, svg.str());
    }



    void
    HtmlReport::write_results(std::ostream &out) const
    {
      std::ostringstream times;
      std::size_t        index = 0;
      out << "<h2>Tables</h2>\n";
      if (tables.empty())
        out << "<p>The program made no table.</p>\n";
      for (const auto &entry : tables)
        {
          const Table              &table = entry.second;
          std::vector<unsigned int> shown, time_columns;
          std::vector<std::string>  names;
          for (unsigned int c = 0; c < table[0].size(); ++c)
            {
              double factor;
              if (!is_time(table[0][c], factor))
                shown.push_back(c);
              else if (with_times)
                {
                  shown.push_back(c);
                  // A total would count its parts twice.
                  if (table[0][c].find("total") == std::string::npos)
                    {
                      time_columns.push_back(c);
                      names.push_back(with_blanks(table[0][c]));
                    }
                }
            }
          out << "<h3>" << escape(entry.first) << "</h3>\n";
          write_table(out, table, shown);
          // More bars than this are no picture.
          if (time_columns.empty() || table.size() > max_open_rows + 1)
            continue;
          std::vector<Bar> bars;
          for (std::size_t r = 1; r < table.size(); ++r)
            bars.push_back(make_bar(table[0], table[r], time_columns, r));
          std::ostringstream drawing;
          draw_bars(drawing, bars, names);
          write_drawing(times, entry.first, drawing.str(), index++);
        }
      if (!drawings.empty())
        out << "<h2>Curves and pictures</h2>\n";
      for (const auto &drawing : drawings)
        write_drawing(out, drawing.first, drawing.second, index++);
      if (!times.str().empty())
        out << "<h2>Times</h2>\n" << times.str();
    }



    void
    HtmlReport::write(std::ostream &out, const RunDescription &run) const
    {
      std::ostringstream page;
      page << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
              "<meta charset=\"utf-8\"/>\n"
              "<meta name=\"viewport\" "
              "content=\"width=device-width, initial-scale=1\"/>\n"
              // Without it, browsers look for an icon beside the page.
              "<link rel=\"icon\" href=\"data:,\"/>\n<title>"
           << escape(title) << "</title>\n<style>\n"
           << style << "</style>\n</head>\n<body>\n<h1>" << escape(title)
           << "</h1>\n<p>Report of " << escape(run.program);
      if (with_times)
        page << ", which ran for " << short_text(run.seconds) << " s";
      page << ".</p>\n";
      if (!notes.empty())
        {
          page << "<ul>\n";
          for (const std::string &note : notes)
            page << "<li>" << escape(note) << "</li>\n";
          page << "</ul>\n";
        }
      write_results(page);
      write_run(page, run);
      page << "</body>\n</html>\n";
      out << valid_utf8(page.str());
    }



    HtmlReport &
    html_report()
    {
      static HtmlReport report;
      return report;
    }



    std::string
    title_of_ending(const std::string &ending)
    {
      std::string title = ending.substr(0, ending.rfind('.'));
      std::replace(title.begin(), title.end(), '-', ' ');
      const std::size_t begin = title.find_first_not_of(' ');
      return begin == std::string::npos ? "results" : title.substr(begin);
    }
  } // namespace Application
} // namespace Tessella

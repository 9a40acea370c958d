// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "text_table.h"

#include <deal.II/base/exceptions.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "program.h"

namespace Tessella
{
  namespace Application
  {
    void
    TextTable::start_row(const std::uint64_t level, const std::uint64_t degree)
    {
      start_row();
      add("level", level);
      add("degree", degree);
    }

    void
    TextTable::add(const std::string &column, const std::string &value)
    {
      Assert(!rows.empty(), dealii::ExcInternalError());
      const std::size_t index =
        std::find(columns.begin(), columns.end(), column) - columns.begin();
      if (index == columns.size())
        columns.push_back(column);
      std::vector<std::string> &row = rows.back();
      if (row.size() <= index)
        row.resize(index + 1);
      row[index] = value;
    }

    void
    TextTable::add(const std::string &column, const std::uint64_t value)
    {
      add(column, std::to_string(value));
    }

    void
    TextTable::add(const std::string &column,
                   const double       value,
                   const unsigned int digits)
    {
      if (!std::isfinite(value))
        {
          add(column, std::string());
          return;
        }
      // Fixed notation makes the values of a column comparable.
      const int order =
        value == 0. ? 0
                    : static_cast<int>(std::floor(std::log10(std::abs(value))));
      std::ostringstream text;
      text << std::fixed
           << std::setprecision(
                std::clamp(static_cast<int>(digits) - 1 - order, 0, 12))
           << value;
      add(column, text.str());
    }

    void
    TextTable::add_scientific(const std::string &column, const double value)
    {
      add(column, std::isfinite(value) ? scientific_text(value) : "");
    }

    void
    TextTable::print(std::ostream &out) const
    {
      std::vector<std::size_t> width;
      for (const std::string &column : columns)
        width.push_back(column.size());
      for (const auto &row : rows)
        for (std::size_t c = 0; c < row.size(); ++c)
          width[c] = std::max(width[c], row[c].size());

      const auto print_row = [&](const std::vector<std::string> &row) {
        out << '|';
        for (std::size_t c = 0; c < columns.size(); ++c)
          out << ' ' << std::left << std::setw(width[c])
              << (c < row.size() ? row[c] : std::string()) << " |";
        out << '\n';
      };
      print_row(columns);
      for (const auto &row : rows)
        print_row(row);
    }

    void
    TextTable::write_csv(std::ostream &out) const
    {
      for (std::size_t c = 0; c < columns.size(); ++c)
        {
          std::string name = columns[c];
          std::replace(name.begin(), name.end(), ' ', '_');
          out << (c > 0 ? "," : "") << name;
        }
      out << '\n';
      for (const auto &row : rows)
        {
          for (std::size_t c = 0; c < columns.size(); ++c)
            {
              std::string value = c < row.size() ? row[c] : std::string();
              std::replace(value.begin(), value.end(), ',', ';');
              out << (c > 0 ? "," : "") << value;
            }
          out << '\n';
        }
    }
  } // namespace Application
} // namespace Tessella

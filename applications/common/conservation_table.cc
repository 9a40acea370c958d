// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "conservation_table.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "program.h"

namespace Tessella
{
  namespace Application
  {
    ConservationTable::ConservationTable(
      const int                       dim,
      const bool                      in_degree,
      const std::vector<std::string> &error_names,
      const bool                      with_times,
      const bool                      with_drift)
      : dim(dim)
      , in_degree(in_degree)
      , error_names(error_names)
      , with_times(with_times)
      , with_drift(with_drift)
    {}



    std::vector<ConservationTable::Group>
    ConservationTable::groups() const
    {
      std::map<unsigned int, Group> by_key;
      for (const ConservationRow &row : rows)
        by_key[in_degree ? row.level : row.degree].push_back(&row);
      std::vector<Group> result;
      for (const auto &group : by_key)
        result.push_back(group.second);
      return result;
    }



    void
    ConservationTable::add_rows(const Group &group, TextTable &table) const
    {
      // Order with respect to n_dofs^(-1/dim), or the factor by which the error
      // decreases.
      const auto rate = [&](const unsigned int i, const unsigned int error) {
        if (i == 0)
          return std::numeric_limits<double>::quiet_NaN();
        const ConservationRow &old = *group[i - 1], &now = *group[i];
        const double           factor = old.errors[error] / now.errors[error];
        return in_degree ? factor
                         : dim * std::log(factor) /
                             std::log(double(now.n_dofs) / old.n_dofs);
      };
      const std::string name = in_degree ? "factor" : "rate";
      for (unsigned int i = 0; i < group.size(); ++i)
        {
          const ConservationRow &row = *group[i];
          table.start_row(row.level, row.degree);
          table.add("cells", std::uint64_t(row.n_cells));
          table.add("polytopes", std::uint64_t(row.n_polytopes));
          table.add("unknowns", row.n_dofs);
          table.add("steps", std::uint64_t(row.n_steps));
          for (unsigned int e = 0; e < error_names.size(); ++e)
            {
              table.add(error_names[e] + " error",
                        scientific_text(row.errors[e], 3));
              table.add(error_names[e] + " " + name, rate(i, e));
            }
          // Rounding errors depend on the machine.
          if (with_drift)
            table.add("drift",
                      with_times || row.drift > row.drift_bound
                        ? scientific_text(row.drift, 1)
                        : "< " + scientific_text(row.drift_bound, 0));
          for (const auto &column : row.more)
            table.add(column.first, column.second);
          if (with_times)
            table.add_scientific("seconds a step", row.step_seconds);
        }
    }



    void
    ConservationTable::print(std::ostream &out) const
    {
      for (const Group &group : groups())
        {
          TextTable table;
          add_rows(group, table);
          out << '\n'
              << (in_degree ? "Level " + std::to_string(group[0]->level)
                            : "Degree " + std::to_string(group[0]->degree))
              << '\n';
          table.print(out);
        }
      out << std::endl;
    }



    void
    ConservationTable::write_csv(std::ostream &out) const
    {
      TextTable table;
      for (const Group &group : groups())
        add_rows(group, table);
      table.write_csv(out);
    }



    std::vector<PlotCurve>
    ConservationTable::curves(PlotFlags &flags) const
    {
      flags.x_label = "unknowns^(1/" + std::to_string(dim) + ")";
      std::vector<PlotCurve> result;
      int                    index = 0;
      for (const Group &group : groups())
        {
          for (unsigned int e = 0; e < error_names.size(); ++e)
            {
              PlotCurve curve;
              curve.label =
                error_names[e] + ", " +
                (in_degree ? "level " + std::to_string(group[0]->level)
                           : "degree " + std::to_string(group[0]->degree));
              curve.group = index;
              for (const ConservationRow *row : group)
                {
                  curve.x.push_back(std::pow(double(row->n_dofs), 1. / dim));
                  curve.y.push_back(row->errors[e]);
                }
              if (e == 0 && !in_degree)
                curve.slope = -1. - group[0]->degree;
              result.push_back(curve);
            }
          ++index;
        }
      return result;
    }
  } // namespace Application
} // namespace Tessella

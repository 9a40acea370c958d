// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "stage_times.h"

#include <numeric>

#include "text_table.h"

namespace Tessella
{
  namespace Application
  {
    StageTimes::StageTimes(const std::vector<std::string> &names)
      : names(names)
      , seconds(names.size(), 0.)
      , since(std::chrono::steady_clock::now())
    {}

    StageTimes::Scope::Scope(StageTimes &times, const unsigned int stage)
      : times(times)
      , before(times.present)
    {
      times.start(stage);
    }

    StageTimes::Scope::~Scope()
    {
      times.start(before);
    }

    void
    StageTimes::start(const unsigned int stage)
    {
      const auto now = std::chrono::steady_clock::now();
      seconds[present] += std::chrono::duration<double>(now - since).count();
      since   = now;
      present = stage;
    }

    void
    StageTimes::move(const unsigned int from,
                     const unsigned int to,
                     const double       time)
    {
      seconds[from] -= time;
      seconds[to] += time;
    }

    void
    StageTimes::print(std::ostream &out)
    {
      start(present);
      const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.);
      TextTable    table;
      const auto   add = [&](const std::string &name, const double time) {
        table.start_row();
        table.add("stage", name);
        table.add("wall s", time);
        table.add("%", 100. * time / sum);
      };
      for (unsigned int stage = 1; stage < names.size(); ++stage)
        add(names[stage], seconds[stage]);
      add(names[0], seconds[0]);
      add("sum", sum);
      table.print(out);
    }
  } // namespace Application
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "screen.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      using Clock = std::chrono::steady_clock;

      struct Progress
      {
        const Clock::time_point start = Clock::now();
        Clock::time_point       last  = start;
        bool                    shown = false;
        /// Present part of the work.
        double begin = 0., end = 1.;
      };

      Progress &
      progress()
      {
        static Progress present;
        return present;
      }

      double
      seconds_since(const Clock::time_point &time)
      {
        return std::chrono::duration<double>(Clock::now() - time).count();
      }

      /// Text such as "42 s", "5 min" or "3.1 h".
      std::string
      duration(const double seconds)
      {
        std::ostringstream text;
        if (seconds < 90.)
          text << std::ceil(seconds) << " s";
        else if (seconds < 5400.)
          text << std::ceil(seconds / 60.) << " min";
        else
          text << std::ceil(seconds / 360.) / 10. << " h";
        return text.str();
      }

      double
      work(const int          dim,
           const unsigned int level,
           const unsigned int degree,
           const bool         time_steps)
      {
        double n_basis = 1.;
        for (int d = 1; d <= dim; ++d)
          n_basis *= static_cast<double>(degree + d) / d;
        return std::pow(2., static_cast<double>(dim * level)) * n_basis *
               n_basis *
               (time_steps ? std::ldexp(2. * degree + 1., level) : 1.);
      }
    } // namespace



    RunMode &
    run_mode()
    {
      static RunMode mode;
      return mode;
    }



    bool
    is_first_process()
    {
      return Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0;
    }



    std::ostream &
    screen()
    {
      static std::ostream nowhere(nullptr);
      const RunMode      &mode = run_mode();
      if (mode.quiet || mode.validate || !is_first_process())
        return nowhere;
      erase_progress();
      return std::cout;
    }



    void
    show_progress(const double fraction)
    {
      Progress &present = progress();
      if (run_mode().quiet || !is_first_process() ||
          ::isatty(STDERR_FILENO) == 0)
        return;
      const double seconds = seconds_since(present.start);
      const double done =
        present.begin + (present.end - present.begin) * fraction;
      if (!(done > 0.) || seconds < 1. || seconds_since(present.last) < 0.2)
        return;
      present.last  = Clock::now();
      present.shown = true;
      // Text on the standard output comes before it.
      std::cout.flush();
      std::cerr << "\r\033[K" << std::floor(100. * std::min(done, 1.))
                << " % done, about " << duration(seconds * (1. - done) / done)
                << " remain" << std::flush;
    }



    void
    erase_progress()
    {
      if (!progress().shown)
        return;
      progress().shown = false;
      std::cerr << "\r\033[K" << std::flush;
    }



    std::pair<double, double>
    part_of_study(const int                        dim,
                  const unsigned int               n_levels,
                  const std::vector<unsigned int> &degrees,
                  const unsigned int               level,
                  const unsigned int               index,
                  const bool                       time_steps)
    {
      double before = 0., own = 0., sum = 0.;
      for (unsigned int l = 0; l < n_levels; ++l)
        for (unsigned int i = 0; i < degrees.size(); ++i)
          {
            const double w = work(dim, l, degrees[i], time_steps);
            sum += w;
            if (l < level || (l == level && i < index))
              before += w;
            else if (l == level && i == index)
              own = w;
          }
      return {before / sum, (before + own) / sum};
    }



    ProgressPart::ProgressPart(const std::pair<double, double> &range)
      : begin_before(progress().begin)
      , end_before(progress().end)
    {
      const double length = end_before - begin_before;
      progress().begin    = begin_before + length * range.first;
      progress().end      = begin_before + length * range.second;
      show_progress(0.);
    }



    ProgressPart::~ProgressPart()
    {
      progress().begin = begin_before;
      progress().end   = end_before;
    }
  } // namespace Application
} // namespace Tessella

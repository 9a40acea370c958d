// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_stage_times_h
#define tessella_applications_common_stage_times_h

#include <deal.II/base/timer.h>

#include <chrono>
#include <ostream>
#include <string>
#include <vector>

namespace Tessella
{
  namespace Application
  {
    /// Returns the wall time in seconds since the timer was started, and starts
    /// it again.
    inline double
    lap(dealii::Timer &timer)
    {
      const double seconds = timer.wall_time();
      timer.restart();
      return seconds;
    }

    /**
     * Wall times of the stages of a program on this process. Exactly one stage
     * runs at any time, so that the sum of all times is the time since
     * construction. Construct the object at the beginning of main().
     */
    class StageTimes
    {
    public:
      /// The first entry of @p names is the stage that runs outside of all
      /// Scopes.
      explicit StageTimes(const std::vector<std::string> &names);

      /// Runs stage number @p stage until the end of the block; afterwards the
      /// preceding stage continues.
      class Scope
      {
      public:
        Scope(StageTimes &times, const unsigned int stage);
        ~Scope();
        Scope(const Scope &) = delete;
        Scope &
        operator=(const Scope &) = delete;

      private:
        StageTimes        &times;
        const unsigned int before;
      };

      /// Moves @p seconds, which were measured inside stage @p from, to stage
      /// @p to.
      void
      move(const unsigned int from,
           const unsigned int to,
           const double       seconds);

      /// Prints a table of seconds and per cent. The first stage and the sum
      /// are the last rows.
      void
      print(std::ostream &out);

    private:
      void
      start(const unsigned int stage);

      const std::vector<std::string>        names;
      std::vector<double>                   seconds;
      unsigned int                          present = 0;
      std::chrono::steady_clock::time_point since;
    };
  } // namespace Application
} // namespace Tessella

#endif

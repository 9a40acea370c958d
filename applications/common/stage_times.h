// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_stage_times_h
#define tessella_applications_common_stage_times_h

#include <chrono>
#include <ostream>
#include <string>
#include <vector>

namespace Tessella
{
  namespace Application
  {
    /**
     * Wall time of the stages of a program on this process. At any time exactly
     * one stage runs, so that the sum of all is the time since construction:
     * construct the object at the beginning of main().
     */
    class StageTimes
    {
    public:
      /// The first one of @p names is that of the time outside of all Scopes.
      explicit StageTimes(const std::vector<std::string> &names);

      /// Stage number @p stage runs from here to the end of the block, then the
      /// one that ran before goes on.
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

      /// @p seconds, measured inside of stage @p from, belong to stage @p to.
      void
      move(const unsigned int from,
           const unsigned int to,
           const double       seconds);

      /// A table of seconds and per cent; the first stage and the sum are the
      /// last rows.
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

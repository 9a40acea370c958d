// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_pipeline_times_h
#define tessella_cuda_device_pipeline_times_h

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "pipeline.h"
#include "times.h"

// Times of the stages of a pipeline, and the time in which the device was idle.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Measures the stages of one computation that uses the streams of a
      /// workspace, and collects the intervals in which the device was busy.
      class PipelineTimes
      {
      public:
        using Clock = std::chrono::steady_clock;
        using Slot  = Workspace::Implementation::Slot;

        PipelineTimes(Workspace::Implementation &workspace, Times &times)
          : times(times)
          , workspace(workspace)
        {}

        /// Begins with the measurement.
        void
        start()
        {
          start_time = Clock::now();
          workspace.start.record(workspace.kernel_stream);
        }

        /// Adds the time between two events to @p sum; waits for them.
        void
        note(const Event &begin, const Event &end, double &sum)
        {
          const double from = begin.since(workspace.start),
                       to   = end.since(workspace.start);
          sum += to - from;
          busy.emplace_back(from, to);
        }

        /// Adds a copy to the host that ended at @p end. Copies follow each
        /// other; this one did not begin before @p ready.
        void
        note_download(const Event &ready, const Clock::time_point end)
        {
          const double arrival = seconds(end - start_time),
                       begin =
                         std::max(last_arrival, ready.since(workspace.start));
          if (arrival > begin)
            {
              times.download += arrival - begin;
              busy.emplace_back(begin, arrival);
              last_arrival = arrival;
            }
        }

        /// Waits for the copy of a slot's tables to the device, if there is
        /// one.
        void
        finish_upload(Slot &slot)
        {
          if (slot.uploads)
            {
              slot.upload_end.wait();
              note(slot.upload_begin, slot.upload_end, times.upload);
              slot.uploads = false;
            }
        }

        /// Calls @p function, in which the host evaluates coefficients.
        template <typename Function>
        void
        tabulate(const Function &function)
        {
          const auto before = Clock::now();
          function();
          times.tabulation += seconds(Clock::now() - before);
        }

        /// Sets the total time and the time in which the device was idle.
        void
        finish()
        {
          times.loop = times.idle = seconds(Clock::now() - start_time);
          std::sort(busy.begin(), busy.end());
          double end = 0.;
          for (const auto &interval : busy)
            {
              times.idle -=
                std::max(0., interval.second - std::max(end, interval.first));
              end = std::max(end, interval.second);
            }
        }

        Times &times;

      private:
        static double
        seconds(const Clock::duration duration)
        {
          return std::chrono::duration<double>(duration).count();
        }

        Workspace::Implementation &workspace;
        Clock::time_point          start_time;
        /// In seconds since the start.
        std::vector<std::pair<double, double>> busy;
        double                                 last_arrival = 0.;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <vector>

#include "../device/memory.h"
#include "scalars.h"
#include "vector.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        class ScalarsInMemory : public Scalars
        {
        public:
          ScalarsInMemory()
            : device(current_device())
          {
            numbers.resize(n_values);
            pinned.resize(n_values);
            sums = Array<char>(std::vector<char>(n_sum_bytes, 0));
          }

          double *
          values() const override
          {
            return numbers.data();
          }
          double *
          on_host() const override
          {
            return pinned.data();
          }
          void *
          sum_memory() const override
          {
            return sums.data();
          }

          void
          mark() override
          {
            event.record(current_stream());
          }
          void
          wait() const override
          {
            check(cudaEventSynchronize(event),
                  "an iteration of a solver on the device");
          }

          /// The device that has the memory.
          const int device;

        private:
          Array<double>       numbers;
          Array<double, true> pinned;
          Array<char>         sums;
          Event               event;
        };
      } // namespace



      std::shared_ptr<Scalars>
      take_scalars()
      {
        refuse_recording("an iterative solver");
        // The one other owner of those that nobody uses is this list.
        static thread_local std::vector<std::shared_ptr<ScalarsInMemory>> all;
        for (const auto &scalars : all)
          if (scalars.use_count() == 1 && scalars->device == current_device())
            return scalars;
        all.push_back(std::make_shared<ScalarsInMemory>());
        return all.back();
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_throughput_report_h
#define tessella_applications_throughput_report_h

#include <tessella/base/backend.h>

#include <ostream>
#include <vector>

#include "../common/device_rates.h"
#include "../common/text_table.h"
#include "throughput_case.h"

namespace Tessella
{
  namespace Application
  {
    /// Results of all cases as tables. The help of the program explains their
    /// columns.
    class ThroughputReport
    {
    public:
      /// Sets the device rates measured in the same run, summed over the
      /// devices of all processes; zeros without a device.
      void
      set_rates(const DeviceRates &rates);

      void
      add(const ThroughputResult &result);

      bool
      empty() const;

      /// Prints tables of all cases, of those on a device, and of their
      /// kernels.
      void
      print(std::ostream &out) const;
      /// Writes all cases with all columns.
      void
      write_csv(std::ostream &out) const;
      bool
      has_kernels() const;
      /// Returns a table of all kernels of all cases.
      TextTable
      kernels() const;

    private:
      /// Adds the columns that identify the case.
      void
      start_row(TextTable &table, const ThroughputResult &result) const;
      void
      add_sizes(TextTable &table, const ThroughputResult &result) const;
      void
      add_times(TextTable &table, const ThroughputResult &result) const;
      /// Case that differs from @p result only in having constant coefficients,
      /// or null.
      const ThroughputResult *
      find_constant(const ThroughputResult &result) const;
      void
      add_device(TextTable &table, const ThroughputResult &result) const;
      /// Adds the columns of a kernel, or of all kernels, that needed @p
      /// seconds for this work.
      void
      add_rates(TextTable              &table,
                const ThroughputResult &result,
                const double            seconds,
                const double            flops,
                const double            bytes) const;

      DeviceRates                   rates;
      std::vector<ThroughputResult> results;
    };
  } // namespace Application
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_operator_throughput_host_rates_h
#define tessella_applications_operator_throughput_host_rates_h

#include <tessella/base/backend.h>

/// Maximal rates of several cores of the host, as a yardstick for measured
/// times.
struct ProcessorRates
{
  double flops = 0.; ///< double precision, multiplications and additions/second
  /// Memory, bytes read and written per second.
  double bandwidth = 0.;
};

/// Measures @p n_threads threads at the same time in about 0.2 s: chains of
/// multiply-adds in registers with @p instruction_set, which must be one that
/// the processor has, and copies of 64 MiB in total.
ProcessorRates
measure_host_rates(const unsigned int             n_threads,
                   const Tessella::InstructionSet instruction_set);

#endif

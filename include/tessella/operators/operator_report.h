// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_operators_operator_report_h
#define tessella_operators_operator_report_h

#include <tessella/base/backend.h>

#include <string>

namespace Tessella
{
  /// Report of the last call of a PointwiseOperator. Times are in seconds.
  struct OperatorReport
  {
    Backend        backend         = Backend::host;
    InstructionSet instruction_set = InstructionSet::automatic;
    unsigned int   n_threads       = 1;
    /// How the integrand was evaluated, and why not on the device.
    std::string integrand, why;
    /// The kernels of residuals and tangents: "affine simplices" or "all
    /// polytopes, since ..." with the reason; empty where the host evaluates an
    /// integrand for the backend of a device.
    std::string kernels;
    /// Rules, structure and exchange of ghosts that were not kept from the call
    /// before.
    double setup_time = 0.;
    /// Whole call, and the kernels of a device in it.
    double time = 0., kernel_time = 0.;
  };
} // namespace Tessella

#endif

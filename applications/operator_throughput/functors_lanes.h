// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/flow/euler.h>
#include <tessella/forms/lanes_evaluation.h>

// Functors of the program that LanesIntegrand evaluates. Each file
// functors_lanes_*.cc includes this one, with the instruction set as
// TESSELLA_LANES_SET.

namespace Tessella
{
  template LanesFunctions<3, Flow::Euler<3>>
  LanesFunctions<3, Flow::Euler<3>>::TESSELLA_LANES_SET();
} // namespace Tessella

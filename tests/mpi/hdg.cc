// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Runs on the host; tests/cuda/hdg_parallel.cc runs the same on devices.

#include "hdg.h"

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv, 1);
  test<2>(Backend::host);
  test<3>(Backend::host);
}

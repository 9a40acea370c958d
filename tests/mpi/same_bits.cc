// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Runs on the host; tests/cuda/same_bits.cc runs the same on devices.

#include "same_bits.h"

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv, 1);
  test<2>(Backend::host, parse<2>);
  test<3>(Backend::host, parse<3>);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
// Memory of a device that is too small for a computation.

#include <tessella/device/device_memory.h>

#include "../messages.h"
#include "../tests.h"

using Tessella::check_device_memory;

int
main(int argc, char **argv)
{
  TestProgram       program(argc, argv);
  const std::size_t limit = 1 << 20;
  const auto        said  = [&](const double bytes) {
    return message_of([&]() {
      check_device_memory(MPI_COMM_WORLD, bytes, limit, "The flow", "Do less");
    });
  };
  check("enough memory", said(limit) == "no exception");
  check("too little memory",
        contains(said(limit + 1.),
                 "The flow needs at least 1048577 bytes of memory on a CUDA "
                 "device, but 1048576 are available: Do less."));
  check("no limit",
        message_of([]() {
          check_device_memory(MPI_COMM_WORLD, 1., 0, "The flow", "Do less");
        }) == "no exception");
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
// Memory of a device that is too small for a computation.

#include "../../applications/common/memory_check.h"
#include "../messages.h"
#include "../tests.h"

using Tessella::Application::check_device_memory;

int
main(int argc, char **argv)
{
  TestProgram       program(argc, argv);
  const std::size_t limit = 1 << 20;
  const auto        said  = [&](const double bytes) {
    return message_of(
      [&]() { check_device_memory(bytes, limit, "The flow", "Do less"); });
  };
  check("enough memory", said(limit) == "no exception");
  check("too little memory",
        contains(said(limit + 1.),
                 "The flow needs at least 1048577 bytes of memory on a CUDA "
                 "device for each process, but Execution/Device memory allows "
                 "1048576 for it: Do less."));
  check("no limit", message_of([]() {
                      check_device_memory(1., 0, "The flow", "Do less");
                    }) == "no exception");
}

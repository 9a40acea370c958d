// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Set-ups of multigrid that keep the structures of an earlier one, on the host.

#include "../tests.h"
#include "check_update.h"

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  MultigridTest::check_rescaled_updates<Tessella::HostBlockMatrix<double>,
                                        Tessella::HostBlockMatrix<float>>(
    [](const std::string &name, const bool good, const std::string &text) {
      dealii::deallog << name << ": " << (good ? "ok" : "wrong: " + text)
                      << std::endl;
    });
}

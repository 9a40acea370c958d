// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "program.h"

int
main(int argc, char **argv)
{
  using namespace Tessella::Application;

  return main_function(argc, argv, info);
}

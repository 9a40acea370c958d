// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_cuda_checks_h
#define tessella_tests_cuda_checks_h

#include <iostream>
#include <string>

#include "../messages.h"

// Checks for programs that print only failures.

inline unsigned int n_checks = 0, n_failures = 0;

inline void
verify(const std::string &name, const bool good, const std::string &text = "")
{
  ++n_checks;
  if (good)
    return;
  ++n_failures;
  std::cout << name << ": FAILED " << text << std::endl;
}

#endif

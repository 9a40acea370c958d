// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/forms/form.h>

#include <memory>

std::unique_ptr<Tessella::Form<3>>
make_heat(const double k);

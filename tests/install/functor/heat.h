// SPDX-License-Identifier: LGPL-2.1-or-later
#include <tessella/forms/form.h>

#include <memory>

std::unique_ptr<Tessella::Form<3>>
make_heat(const double k);

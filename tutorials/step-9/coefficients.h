// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tutorials_step_9_coefficients_h
#define tutorials_step_9_coefficients_h

#include <tessella/forms/form.h>

#include <memory>

/// The form whose coefficients are a functor, see coefficients.cu. Only this
/// declaration is visible to the rest of the program.
std::unique_ptr<Tessella::Form<3>>
make_form(const double contrast);

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_cuda_elasticity_functor_h
#define tessella_tests_cuda_elasticity_functor_h

#include <tessella/forms/system_form.h>

#include <memory>

/// Linear elasticity with the coefficients and data of Elasticity::make_form(),
/// as a functor.
template <int dim>
std::unique_ptr<Tessella::SystemForm<dim>>
make_elasticity_functor(const double theta);

#endif

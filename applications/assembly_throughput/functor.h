// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_throughput_functor_h
#define tessella_applications_throughput_functor_h

#include <tessella/forms/form.h>

#include <memory>

namespace Tessella
{
  namespace Application
  {
    /// Returns the equation of throughput_coefficients.prm as a functor, with
    /// homogeneous Dirichlet conditions.
    template <int dim>
    std::unique_ptr<Form<dim>>
    make_functor_form(const unsigned int coefficient_order, const double theta);
  } // namespace Application
} // namespace Tessella

#endif

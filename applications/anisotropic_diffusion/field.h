// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_anisotropic_diffusion_field_h
#define tessella_applications_anisotropic_diffusion_field_h

#include <tessella/forms/form.h>

#include <memory>

namespace Tessella
{
  namespace Application
  {
    /**
     * Form with diffusion along the circles of a magnetic field w = (-y, x, 0),
     * and weak diffusion across them,
     *   -div((epsilon I + w w^T) grad u) = f,   u = prod_d sin(pi x_d),
     * given by a functor. Only this declaration is visible to the rest of the
     * program.
     */
    template <int dim>
    std::unique_ptr<Form<dim>>
    make_anisotropic_diffusion(const double       epsilon,
                               const double       theta,
                               const unsigned int coefficient_order);
  } // namespace Application
} // namespace Tessella

#endif

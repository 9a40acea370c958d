// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/forms/coefficient_error.h>

#include <cstdlib>
#include <string>

namespace Tessella
{
  namespace internal
  {
    void
    throw_coefficient_error(const CoefficientError &error, const int dim)
    {
      std::string point;
      for (int d = 0; d < dim; ++d)
        point += (d > 0 ? ", " : "") + std::to_string(error.x[d]);
      const char *const names[] = {"diffusion coefficient",
                                   "diffusion tensor",
                                   "advection",
                                   "reaction coefficient",
                                   "right-hand side",
                                   "boundary value",
                                   "Robin coefficient",
                                   "n.a n",
                                   "coefficient beta",
                                   "coefficient of the facet terms"};
      AssertThrow(error.kind != CoefficientError::not_finite,
                  ExcCoefficientNotFinite(names[error.quantity],
                                          point,
                                          error.value));
      AssertThrow(error.kind != CoefficientError::inflow,
                  ExcInflowOnNeumann(error.boundary_id, point, error.value));
      AssertThrow(false,
                  ExcNegativeDiffusion(
                    point,
                    error.value,
                    error.quantity == CoefficientError::diffusion ? "its value"
                    : error.quantity == CoefficientError::diffusion_tensor
                      ? "a diagonal entry"
                      : "n.a n"));
      std::abort(); // not reached
    }



    void
    throw_message(const char *message)
    {
      AssertThrow(false, dealii::ExcMessage(message));
      std::abort(); // not reached
    }
  } // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_coefficient_error_h
#define tessella_forms_coefficient_error_h

#include <tessella/forms/point_data.h>

// Errors of a coefficient at a point, in plain types for host and device.

namespace Tessella
{
  /// Value that a form cannot use, with the point at which it occurs.
  struct CoefficientError
  {
    enum Kind : unsigned int
    {
      none,
      not_finite,
      negative_diffusion,
      inflow ///< b.n < 0 on a Neumann or Robin part
    };
    enum Quantity : unsigned int
    {
      diffusion,
      diffusion_tensor,
      advection,
      reaction,
      source,
      boundary_value,
      robin_coefficient,
      normal_diffusion, ///< n.a n
      beta,
      facet_terms
    };

    unsigned int kind = none, quantity = diffusion;
    /// Index of the entry of a vector or tensor, row by row.
    unsigned int component   = 0;
    unsigned int boundary_id = static_cast<unsigned int>(-1);
    double       value = 0., x[4] = {0., 0., 0., 0.};
    /// Values of the discrete fields at this point.
    double field[max_fields] = {};
  };

  namespace internal
  {
    /// Throws the exception of AdvectionDiffusionReaction for this error:
    /// ExcCoefficientNotFinite, ExcNegativeDiffusion or ExcInflowOnNeumann.
    [[noreturn]] void
    throw_coefficient_error(const CoefficientError &error, const int dim);

    /// Throws an exception of deal.II's type with this sentence; for headers
    /// without deal.II.
    [[noreturn]] void
    throw_message(const char *message);
  } // namespace internal
} // namespace Tessella

#endif

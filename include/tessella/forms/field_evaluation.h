// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_field_evaluation_h
#define tessella_forms_field_evaluation_h

#include <tessella/portable/host_device.h>
#include <tessella/portable/legendre.h>

#ifndef __CUDACC_RTC__
#  include <cmath>
#endif

namespace Tessella
{
  namespace internal
  {
    /**
     * Value and gradient of a discrete function at a point of a polytope, for
     * host and device. @p box: lower and upper corner; @p exponents: exponents
     * of the space's functions, see Legendre::exponents(); @p coefficients:
     * coefficients of the polytope's functions.
     */
    template <int dim>
    TESSELLA_HOST_DEVICE inline void
    evaluate_field(const double        *box,
                   const unsigned int   degree,
                   const unsigned int   n_functions,
                   const unsigned char *exponents,
                   const double        *coefficients,
                   const double        *x,
                   double              &value,
                   double              *gradient)
    {
      constexpr int n = Legendre::max_degree + 1;
      double        v[dim][n], g[dim][n], scale[dim], factor = 1.;
      for (int d = 0; d < dim; ++d)
        {
          const double lower = box[d], upper = box[dim + d];
          scale[d] = 2. / (upper - lower);
          factor *= 0.5 * scale[d];
          Legendre::evaluate(degree,
                             (x[d] - 0.5 * (lower + upper)) * scale[d],
                             v[d],
                             g[d]);
          gradient[d] = 0.;
        }
      factor = sqrt(factor);
      value  = 0.;
      for (unsigned int i = 0; i < n_functions; ++i)
        {
          const unsigned char *k       = exponents + i * dim;
          const double         u       = factor * coefficients[i];
          double               product = u;
          for (int d = 0; d < dim; ++d)
            product *= v[d][k[d]];
          value += product;
          for (int d = 0; d < dim; ++d)
            {
              double derivative = u * scale[d];
              for (int e = 0; e < dim; ++e)
                derivative *= e == d ? g[e][k[e]] : v[e][k[e]];
              gradient[d] += derivative;
            }
        }
    }
  } // namespace internal
} // namespace Tessella

#endif

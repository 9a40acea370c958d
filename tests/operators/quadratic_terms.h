// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_operators_quadratic_terms_h
#define tessella_tests_operators_quadratic_terms_h

#include <tessella/forms/pointwise_text_integrand.h>

#include <string>

/// Terms that couple component c with c + 1, in all rows.
inline Tessella::PointwiseTextTerms
quadratic_terms(const unsigned int m)
{
  Tessella::PointwiseTextTerms terms;
  terms.name             = "Equation";
  terms.field_components = {m};
  terms.n_components     = m;
  for (unsigned int c = 0; c < m; ++c)
    {
      const std::string i = "[" + std::to_string(c) + "]",
                        j = "[" + std::to_string((c + 1) % m) + "]";
      terms.volume += "r.value" + i + " = u.value" + i + " * u.value" + j +
                      "; for (int d = 0; d < dim; ++d) r.gradient" + i +
                      "[d] = (1 + x[0] * u.value" + i + ") * u.gradient" + j +
                      "[d];";
      terms.interior_facet +=
        "flux = p.penalty * (u0.value" + i + " - u1.value" + i +
        ") + 0.5 * n[0] * (u0.value" + i + " * u0.value" + j + " + u1.value" +
        i + " * u1.value" + j +
        "); for (int d = 0; d < dim; ++d) flux -= 0.5 * n[d] * (u0.gradient" +
        j + "[d] + u1.gradient" + j + "[d]); r0.value" + i +
        " = flux; r1.value" + i + " = -flux;";
      terms.boundary_facet += "r.value" + i + " = p.penalty * u.value" + i +
                              " * u.value" + j + " - n[0] * u.gradient" + i +
                              "[0];";
    }
  return terms;
}

#endif

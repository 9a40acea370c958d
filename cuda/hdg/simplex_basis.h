// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_simplex_basis_h
#define tessella_cuda_hdg_simplex_basis_h

#include <tessella/portable/host_device.h>

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Recurrence of Jacobi polynomials with parameters alpha and 0 in y / s:
      /// the next polynomial times s^(n + 1) is the present one times (of_y y +
      /// of_s s), minus the previous one times (of_previous s^2).
      struct JacobiStep
      {
        double of_y, of_s, of_previous;

        TESSELLA_HOST_DEVICE static JacobiStep
        make(const unsigned int n, const unsigned int alpha)
        {
          if (n == 0)
            return {0.5 * (alpha + 2.), 0.5 * alpha, 0.};
          const double m = 2. * n + alpha,
                       c = 1. / (2. * (n + 1.) * (n + alpha + 1.) * m);
          return {(m + 1.) * (m + 2.) * m * c,
                  (m + 1.) * alpha * alpha * c,
                  2. * (n + alpha) * n * (m + 2.) * c};
        }
      };

      /**
       * Polynomials that are orthonormal on the unit simplex (Proriol,
       * Koornwinder, Dubiner). They are products of Jacobi polynomials in
       * collapsed coordinates, by recurrences without denominators, so that
       * they can be evaluated at any point. Calls visit(i, value without its
       * factor, factor) for all functions of total degree up to @p degree.
       * Number: double, or a type with derivatives. @p step (n, alpha):
       * JacobiStep::make(), or an entry of a table, for n <= degree, alpha <= 2
       * degree + 2.
       */
#ifdef __CUDACC__
#  pragma nv_exec_check_disable
#endif
      template <int dim, typename Number, typename Visitor, typename Step>
      TESSELLA_HOST_DEVICE inline void
      visit_simplex_basis(const unsigned int degree,
                          const Number (&x)[dim],
                          const Visitor &visit,
                          const Step    &step)
      {
        const auto next = [&](const unsigned int n,
                              const unsigned int alpha,
                              const Number      &y,
                              const Number      &s,
                              const Number      &present,
                              const Number      &previous) {
          const JacobiStep c = step(n, alpha);
          return (y * c.of_y + s * c.of_s) * present -
                 s * s * previous * c.of_previous;
        };
        const Number one   = x[0] * 0. + 1.;
        unsigned int index = 0;
        // Scale of x_0: 1 minus the sum of the other coordinates.
        Number s0 = one;
        for (int d = 1; d < dim; ++d)
          s0 = s0 - x[d];
        const Number y0 = x[0] * 2. - s0;
        Number       a = one, a_previous = one;
        for (unsigned int i = 0; i <= degree; ++i)
          {
            const Number s1 = dim == 3 ? one - x[dim - 1] : one;
            const Number y1 = x[1] * 2. - s1;
            Number       b = a, b_previous = a;
            for (unsigned int j = 0; i + j <= degree; ++j)
              {
                const double factor = (2. * i + 1.) * (2. * (i + j) + 2.);
                if (dim == 2)
                  visit(index++, b, factor);
                else
                  {
                    const Number y2 = x[dim - 1] * 2. - 1.;
                    Number       c = b, c_previous = b;
                    for (unsigned int k = 0; i + j + k <= degree; ++k)
                      {
                        visit(index++, c, factor * (2. * (i + j + k) + 3.));
                        const Number c_next =
                          next(k, 2 * (i + j) + 2, y2, one, c, c_previous);
                        c_previous = c;
                        c          = c_next;
                      }
                  }
                const Number b_next = next(j, 2 * i + 1, y1, s1, b, b_previous);
                b_previous          = b;
                b                   = b_next;
              }
            const Number a_next = next(i, 0, y0, s0, a, a_previous);
            a_previous          = a;
            a                   = a_next;
          }
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_portable_legendre_h
#define tessella_portable_legendre_h

#include <tessella/portable/host_device.h>

namespace Tessella
{
  /// Type of a space of scalar polynomials; its degree p is given separately.
  enum class PolynomialSpaceType
  {
    total_degree,   ///< P_p: total degree at most p
    tensor_product, ///< Q_p: degree at most p in each variable
    /// PQ_p: total degree at most p in all variables but the last one, times
    /// degree at most p in the last one; for prisms and space-time elements.
    prismatic
  };

  /**
   * Legendre polynomials and the order of their tensor products, shared by host
   * code, SIMD kernels and device code. The header uses neither deal.II nor the
   * standard library.
   *
   * The basis of a polytope with bounding box prod [l_d, u_d] is
   *   phi_k(x) = prod_d sqrt((2 k_d + 1) / (u_d - l_d)) P_{k_d}(xi_d),
   *   xi_d = (2 x_d - l_d - u_d) / (u_d - l_d),
   * which is orthonormal in L2 of the box. The space is the span of all k of
   * grade at most p, where the grade is |k|_1 (total degree), |k|_inf (tensor
   * product) or max(k_1 + .. + k_(dim-1), k_dim) (prismatic).
   *
   * <b>Order.</b> The order is graded: k comes before k' if its grade is lower.
   * Equal grades are sorted lexicographically with the first variable's
   * exponent decreasing fastest: of two tuples (k_1, ..., k_dim), the larger
   * one comes first. A space of lower degree is therefore a prefix of every
   * space of higher degree, which hp interfaces and p-multigrid use.
   */
  namespace Legendre
  {
    /// Largest polynomial degree that the tables and kernels of the library
    /// support.
    constexpr unsigned int max_degree = 10;

    /// Number of functions: binomial(p + dim, dim), or (p + 1)^dim.
    TESSELLA_HOST_DEVICE constexpr unsigned int
    n_functions(const int          dim,
                const unsigned int degree,
                const bool         tensor_product)
    {
      unsigned int n = 1;
      for (int d = 1; d <= dim; ++d)
        n = tensor_product ? n * (degree + 1) : n * (degree + d) / d;
      return n;
    }

    /// Number of functions of any space; prismatic: binomial(p + dim - 1,
    /// dim - 1) (p + 1).
    TESSELLA_HOST_DEVICE constexpr unsigned int
    n_functions(const int                 dim,
                const unsigned int        degree,
                const PolynomialSpaceType space)
    {
      return space == PolynomialSpaceType::prismatic
               ? n_functions(dim - 1, degree, false) * (degree + 1)
               : n_functions(dim,
                             degree,
                             space == PolynomialSpaceType::tensor_product);
    }

    /**
     * Values P_n(xi) sqrt(2n+1), n = 0 .. degree, by the three-term recurrence.
     * On [-1,1] with weight 1/2 these polynomials are orthonormal. Number may
     * be a SIMD vector type. @p degree is at most max_degree. On a device the
     * loop over degrees is unrolled, since tables with a variable index would
     * be copied to the local memory of each thread.
     */
    template <typename Number>
    TESSELLA_HOST_DEVICE inline void
    evaluate(const unsigned int degree, const Number &xi, Number *values);

    /// Values as in the function above, and their derivatives with respect to
    /// xi.
    template <typename Number>
    TESSELLA_HOST_DEVICE inline void
    evaluate(const unsigned int degree,
             const Number      &xi,
             Number            *values,
             Number            *derivatives);

    /**
     * Writes the exponents of all functions in the order described above:
     * exponents[i * dim + d]. Cost: proportional to (degree + 1)^dim.
     */
    TESSELLA_HOST_DEVICE inline void
    exponents(const int                 dim,
              const unsigned int        degree,
              const PolynomialSpaceType space,
              unsigned char            *exponents);

    /// Exponents for the full tensor space or the total-degree space.
    TESSELLA_HOST_DEVICE inline void
    exponents(const int          dim,
              const unsigned int degree,
              const bool         tensor_product,
              unsigned char     *exponents);
  } // namespace Legendre
} // namespace Tessella

// ---------------------------------------------------------------------------------------------------------------------------

namespace Tessella
{
  namespace Legendre
  {
    namespace internal
    {
      // sqrt(2 n + 1). The function is static since translation units compiled
      // for different instruction sets must not share one copy.
      TESSELLA_HOST_DEVICE static constexpr double
      scale(const unsigned int n)
      {
        constexpr double table[max_degree + 1] = {1.,
                                                  1.7320508075688772935,
                                                  2.2360679774997896964,
                                                  2.6457513110645905905,
                                                  3.,
                                                  3.3166247903553998491,
                                                  3.6055512754639892931,
                                                  3.8729833462074168852,
                                                  4.1231056256176605498,
                                                  4.3588989435406735522,
                                                  4.5825756949558400066};
        return table[n];
      }

      // Coefficients (2 n + 1) / (n + 1) and n / (n + 1) of the recurrence,
      // from tables since divisions are slow.
      TESSELLA_HOST_DEVICE static constexpr double
      forward(const unsigned int n)
      {
        constexpr double table[max_degree] = {1.,
                                              3. / 2.,
                                              5. / 3.,
                                              7. / 4.,
                                              9. / 5.,
                                              11. / 6.,
                                              13. / 7.,
                                              15. / 8.,
                                              17. / 9.,
                                              19. / 10.};
        return table[n];
      }

      TESSELLA_HOST_DEVICE static constexpr double
      backward(const unsigned int n)
      {
        constexpr double table[max_degree] = {0.,
                                              1. / 2.,
                                              2. / 3.,
                                              3. / 4.,
                                              4. / 5.,
                                              5. / 6.,
                                              6. / 7.,
                                              7. / 8.,
                                              8. / 9.,
                                              9. / 10.};
        return table[n];
      }
    } // namespace internal

    template <typename Number>
    TESSELLA_HOST_DEVICE inline void
    evaluate(const unsigned int degree, const Number &xi, Number *values)
    {
      Number previous = xi - xi + 1., current = xi;
      values[0] = previous;
      if (degree == 0)
        return;
      values[1] = current * internal::scale(1);
      TESSELLA_UNROLL_ON_DEVICE
      for (unsigned int n = 1; n < max_degree; ++n)
        {
          if (n >= degree)
            break;
          const Number next = (xi * current) * internal::forward(n) -
                              previous * internal::backward(n);
          previous      = current;
          current       = next;
          values[n + 1] = current * internal::scale(n + 1);
        }
    }

    template <typename Number>
    TESSELLA_HOST_DEVICE inline void
    evaluate(const unsigned int degree,
             const Number      &xi,
             Number            *values,
             Number            *derivatives)
    {
      // P'_{n+1} = P'_{n-1} + (2n+1) P_n
      Number previous = xi - xi + 1., current = xi;
      Number d_previous = xi - xi, d_current = previous;
      values[0]      = previous;
      derivatives[0] = d_previous;
      if (degree == 0)
        return;
      values[1]      = current * internal::scale(1);
      derivatives[1] = d_current * internal::scale(1);
      TESSELLA_UNROLL_ON_DEVICE
      for (unsigned int n = 1; n < max_degree; ++n)
        {
          if (n >= degree)
            break;
          const Number next = (xi * current) * internal::forward(n) -
                              previous * internal::backward(n);
          const Number d_next = d_previous + current * (2. * n + 1.);
          previous            = current;
          current             = next;
          d_previous          = d_current;
          d_current           = d_next;
          values[n + 1]       = current * internal::scale(n + 1);
          derivatives[n + 1]  = d_current * internal::scale(n + 1);
        }
    }

    TESSELLA_HOST_DEVICE inline void
    exponents(const int          dim,
              const unsigned int degree,
              const bool         tensor_product,
              unsigned char     *exponents)
    {
      Legendre::exponents(dim,
                          degree,
                          tensor_product ? PolynomialSpaceType::tensor_product
                                         : PolynomialSpaceType::total_degree,
                          exponents);
    }

    TESSELLA_HOST_DEVICE inline void
    exponents(const int                 dim,
              const unsigned int        degree,
              const PolynomialSpaceType space,
              unsigned char            *exponents)
    {
      // Scalars instead of small arrays, for which GCC 12 generates MMX
      // instructions without emms: after these, every long double computation
      // (deal.II's QGauss, for example) results in NaN.
      unsigned char *e = exponents;
      for (int grade = 0; grade <= static_cast<int>(degree); ++grade)
        for (int k0 = grade; k0 >= 0; --k0)
          for (int k1 = (dim > 1 ? grade : 0); k1 >= 0; --k1)
            for (int k2 = (dim > 2 ? grade : 0); k2 >= 0; --k2)
              for (int k3 = (dim > 3 ? grade : 0); k3 >= 0; --k3)
                {
                  // prismatic: exponent of the last variable, and sum of the
                  // others
                  const int sum  = k0 + k1 + k2 + k3,
                            last = dim == 1   ? k0
                                   : dim == 2 ? k1
                                   : dim == 3 ? k2
                                              : k3,
                            rest = sum - last;
                  const bool in_grade =
                    space == PolynomialSpaceType::total_degree ? sum == grade
                    : space == PolynomialSpaceType::tensor_product
                      ? (k0 == grade || k1 == grade || k2 == grade ||
                         k3 == grade)
                      : rest <= grade && (rest == grade || last == grade);
                  if (!in_grade)
                    continue;
                  *e++ = static_cast<unsigned char>(k0);
                  if (dim > 1)
                    *e++ = static_cast<unsigned char>(k1);
                  if (dim > 2)
                    *e++ = static_cast<unsigned char>(k2);
                  if (dim > 3)
                    *e++ = static_cast<unsigned char>(k3);
                }
    }
  } // namespace Legendre
} // namespace Tessella

#endif

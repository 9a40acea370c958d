// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <cmath>

#include "hdg_tables.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      // P_n' is the sum of (2 k + 1) P_k, k = n - 1, n - 3, ...
      HDGDerivatives
      make_derivatives(const unsigned int                dim,
                       const std::vector<unsigned char> &exponents,
                       const unsigned int                n_basis)
      {
        HDGDerivatives result;
        result.derivative_begin.assign(1, 0);
        for (unsigned int d = 0; d < dim; ++d)
          for (unsigned int l = 0; l < n_basis; ++l)
            {
              const unsigned char *low = &exponents[std::size_t(dim) * l];
              for (unsigned int m = 0; m < n_basis; ++m)
                {
                  const unsigned char *high = &exponents[std::size_t(dim) * m];
                  bool occurs = high[d] > low[d] && (high[d] - low[d]) % 2;
                  for (unsigned int e = 0; e < dim; ++e)
                    occurs = occurs && (e == d || high[e] == low[e]);
                  if (!occurs)
                    continue;
                  result.derivative_function.push_back(m);
                  result.derivative_factor.push_back(
                    std::sqrt((2. * high[d] + 1.) * (2. * low[d] + 1.)));
                }
              result.derivative_begin.push_back(
                result.derivative_function.size());
            }
        return result;
      }



      namespace
      {
        /// Factor of P_n, n = a + b - 2 r, in the product of the normalised
        /// Legendre functions a and b: P_a P_b = sum over r <= min(a, b) of A_r
        /// A_(a-r) A_(b-r) / A_(a+b-r) (2 n + 1) / (2 n + 2 r + 1) P_n, A_m = 1
        /// 3 ... (2 m - 1) / m! (Adams, 1878).
        double
        product_factor(const unsigned int a,
                       const unsigned int b,
                       const unsigned int r)
        {
          const auto A = [](const unsigned int m) {
            double value = 1.;
            for (unsigned int i = 1; i <= m; ++i)
              value *= (2. * i - 1.) / i;
            return value;
          };
          const unsigned int n = a + b - 2 * r;
          return A(r) * A(a - r) * A(b - r) / A(a + b - r) * (2. * n + 1.) /
                 (2. * (n + r) + 1.) *
                 std::sqrt((2. * a + 1.) * (2. * b + 1.) / (2. * n + 1.));
        }



        /// Calls use(moment exponents, factor) for all terms of the product of
        /// two functions with the given exponents.
        template <typename Use>
        void
        visit_product(const unsigned int (&first)[3],
                      const unsigned int (&second)[3],
                      const Use &use)
        {
          unsigned int r[3], e[3];
          for (r[0] = 0; r[0] <= std::min(first[0], second[0]); ++r[0])
            for (r[1] = 0; r[1] <= std::min(first[1], second[1]); ++r[1])
              for (r[2] = 0; r[2] <= std::min(first[2], second[2]); ++r[2])
                {
                  double product = 1.;
                  for (unsigned int d = 0; d < 3; ++d)
                    {
                      product *= product_factor(first[d], second[d], r[d]);
                      e[d] = first[d] + second[d] - 2 * r[d];
                    }
                  use(e, product);
                }
        }
      } // namespace



      HDGMoments
      make_moments(const unsigned int                dim,
                   const std::vector<unsigned char> &exponents,
                   const unsigned int                n_basis,
                   const unsigned int                max_degree,
                   const bool                        tensor_product)
      {
        HDGMoments                result;
        const unsigned int        width = 2 * max_degree + 1;
        std::vector<unsigned int> row_of(width * width, invalid_index);
        // Rows of lower degree come first.
        for (unsigned int degree = 0; degree < width; ++degree)
          {
            for (unsigned int c = 0; c <= (dim > 2 ? degree : 0); ++c)
              for (unsigned int b = 0; b <= degree; ++b)
                if ((tensor_product ? std::max(b, c) : b + c) == degree)
                  {
                    row_of[c * width + b] = result.moment_row.size();
                    result.moment_row.push_back(
                      (width + b) | (dim > 2 ? 2 * width + c : 0) << 10);
                  }
            if (degree == max_degree)
              result.n_source_rows = result.moment_row.size();
          }
        const auto index = [&](const unsigned int(&e)[3]) {
          return row_of[e[2] * width + e[1]] * width + e[0];
        };
        result.product_begin.assign(1, 0);
        for (unsigned int i = 0; i < n_basis; ++i)
          {
            unsigned int first[3] = {}, second[3] = {};
            for (unsigned int d = 0; d < dim; ++d)
              first[d] = exponents[std::size_t(dim) * i + d];
            result.function_moment.push_back(index(first));
            for (unsigned int j = 0; j <= i; ++j)
              {
                for (unsigned int d = 0; d < dim; ++d)
                  second[d] = exponents[std::size_t(dim) * j + d];
                visit_product(first,
                              second,
                              [&](const unsigned int(&e)[3],
                                  const double factor) {
                                result.product_moment.push_back(index(e));
                                result.product_factor.push_back(factor);
                              });
                result.product_begin.push_back(result.product_moment.size());
              }
          }
        return result;
      }



      namespace
      {
        /// Writes points and weights of the one-dimensional rule to @p line if
        /// a rule of dimension dim is a product of it with itself.
        bool
        find_line_rule(const unsigned int   dim,
                       const RuleTables    &rules,
                       const RuleEntry     &rule,
                       std::vector<double> &line)
        {
          const unsigned int of_all = rule.n_points;
          unsigned int       n = 0, product = 0;
          while (product < of_all)
            {
              ++n;
              product = n;
              for (unsigned int d = 1; d < dim; ++d)
                product *= n;
            }
          if (product != of_all)
            return false;
          const double *const data = rules.data.data() + rule.offset;
          line.assign(2 * std::size_t(n), 0.);
          for (unsigned int q = 0; q < of_all; ++q)
            {
              line[q % n] = data[q % n];
              line[n + q % n] += data[dim * of_all + q];
            }
          for (unsigned int q = 0; q < of_all; ++q)
            {
              double       weight = 1.;
              unsigned int rest   = q;
              for (unsigned int d = 0; d < dim; ++d, rest /= n)
                {
                  weight *= line[n + rest % n];
                  if (data[d * of_all + q] != line[rest % n])
                    return false;
                }
              if (!(std::abs(weight - data[dim * of_all + q]) < 1e-15))
                return false;
            }
          return true;
        }
      } // namespace



      HDGLineRules
      make_line_rules(const unsigned int dim, const RuleTables &rules)
      {
        HDGLineRules        result;
        std::vector<double> lines[11];
        for (unsigned int p = 0; p <= 10; ++p)
          {
            if (!find_line_rule(dim,
                                rules,
                                rules.subcell[static_cast<unsigned int>(
                                  SubCellType::parallelepiped)][p],
                                lines[p]))
              return result;
            const unsigned int n    = lines[p].size() / 2;
            result.n_line_points[p] = static_cast<unsigned char>(n);
            result.line_stride      = std::max(result.line_stride, n);
          }
        result.line_rule.assign(2 * 11 * std::size_t(result.line_stride), 0.);
        for (unsigned int p = 0; p <= 10; ++p)
          for (unsigned int i = 0; i < 2; ++i)
            std::copy_n(lines[p].begin() + i * result.n_line_points[p],
                        result.n_line_points[p],
                        result.line_rule.begin() +
                          (2 * p + i) * result.line_stride);
        result.valid = true;
        return result;
      }

    } // namespace Device
  }   // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>
#include <deal.II/base/numbers.h>
#include <deal.II/base/quadrature_lib.h>

#include <tessella/quadrature/reference_quadrature.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <string>

#include "tetrahedron_rules.h"

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    /**
     * Jacobi polynomial P_n^(alpha,0) and its derivative at x, by the
     * three-term recurrence (Abramowitz and Stegun 22.7.1) and the identity
     * (2n+alpha)(1-x^2) P_n' = n (alpha - (2n+alpha) x) P_n + 2 (n+alpha) n
     * P_{n-1} (22.8.1 with beta = 0).
     */
    void
    jacobi(const unsigned int n,
           const long double  alpha,
           const long double  x,
           long double       &value,
           long double       &derivative)
    {
      long double previous = 0.L, current = 1.L;
      for (unsigned int k = 0; k < n; ++k)
        {
          const long double s = 2.L * k + alpha;
          long double       next;
          if (k == 0)
            next = 0.5L * (alpha + (alpha + 2.L) * x);
          else
            next = ((s + 1.L) * (alpha * alpha + s * (s + 2.L) * x) * current -
                    2.L * (k + alpha) * k * (s + 2.L) * previous) /
                   (2.L * (k + 1.L) * (k + alpha + 1.L) * s);
          previous = current;
          current  = next;
        }
      value               = current;
      const long double s = 2.L * n + alpha;
      derivative =
        (n * (alpha - s * x) * current + 2.L * (n + alpha) * n * previous) /
        (s * (1.L - x * x));
    }

    /**
     * Gauss rule with n points for int_0^1 (1-t)^alpha f(t) dt: zeros of
     * P_n^(alpha,0) by Newton's method with deflation, weights 1 / ((1-x^2)
     * P_n'(x)^2), t = (1+x)/2, points ascending.
     */
    void
    gauss_jacobi(const unsigned int   n,
                 const unsigned int   alpha,
                 std::vector<double> &points,
                 std::vector<double> &weights)
    {
      std::vector<long double> zeros(n);
      points.resize(n);
      weights.resize(n);
      for (unsigned int i = 0; i < n; ++i)
        {
          // The zeros of the Chebyshev polynomial are the initial guesses. Each
          // is moved towards the zero found last, because the zeros of Jacobi
          // polynomials lie lower.
          long double x = -std::cos(numbers::PI * (2.L * i + 1.L) / (2.L * n));
          if (i > 0)
            x = 0.5L * (x + zeros[i - 1]);
          long double value, derivative;
          for (unsigned int step = 0; step < 100; ++step)
            {
              jacobi(n, alpha, x, value, derivative);
              long double deflation = 0.L;
              for (unsigned int j = 0; j < i; ++j)
                deflation += 1.L / (x - zeros[j]);
              const long double dx = value / (derivative - deflation * value);
              x -= dx;
              if (std::abs(dx) < 1e-17L)
                break;
            }
          zeros[i] = x;
          jacobi(n, alpha, x, value, derivative);
          points[i]  = static_cast<double>(0.5L * (1.L + x));
          weights[i] = static_cast<double>(
            1.L / ((1.L - x * x) * derivative * derivative));
          Assert(weights[i] > 0. && points[i] > 0. && points[i] < 1. &&
                   (i == 0 || points[i] > points[i - 1]),
                 ExcInternalError());
        }
    }

    ReferenceRule
    tensor_product(const unsigned int dim, const unsigned int order)
    {
      const unsigned int  n = order / 2 + 1;
      std::vector<double> points, weights;
      gauss_jacobi(n, 0, points, weights);

      ReferenceRule rule;
      rule.dim      = dim;
      rule.order    = 2 * n - 1;
      rule.n_points = 1;
      for (unsigned int d = 0; d < dim; ++d)
        rule.n_points *= n;
      rule.points.resize(dim * rule.n_points);
      rule.weights.resize(rule.n_points);
      for (unsigned int q = 0; q < rule.n_points; ++q)
        {
          double weight = 1.;
          for (unsigned int d = 0, rest = q; d < dim; ++d, rest /= n)
            {
              rule.points[d * rule.n_points + q] = points[rest % n];
              weight *= weights[rest % n];
            }
          rule.weights[q] = weight;
        }
      return rule;
    }

    ReferenceRule
    conical_product(const ReferenceRule &base, const unsigned int order)
    {
      const unsigned int  dim = base.dim + 1;
      const unsigned int  n   = order / 2 + 1;
      std::vector<double> points, weights;
      gauss_jacobi(n, dim - 1, points, weights);

      ReferenceRule rule;
      rule.dim      = dim;
      rule.order    = std::min(base.order, 2 * n - 1);
      rule.n_points = base.n_points * n;
      rule.points.resize(dim * rule.n_points);
      rule.weights.resize(rule.n_points);
      for (unsigned int i = 0, q = 0; i < n; ++i)
        for (unsigned int j = 0; j < base.n_points; ++j, ++q)
          {
            for (unsigned int d = 0; d + 1 < dim; ++d)
              rule.points[d * rule.n_points + q] =
                base.points[d * base.n_points + j] * (1. - points[i]);
            rule.points[(dim - 1) * rule.n_points + q] = points[i];
            rule.weights[q] = base.weights[j] * weights[i];
          }
      return rule;
    }

    /**
     * Largest order that the rule integrates exactly, found by trying all
     * monomials of each degree; -1 if the rule does not even integrate
     * constants, or if a point is outside of the simplex or a weight is not
     * positive. Exact values: int x^a y^b z^c = a! b! c! / (a+b+c+dim)!.
     */
    template <int dim>
    int
    exactness_on_simplex(const Quadrature<dim> &rule)
    {
      constexpr int    limit     = 20;
      constexpr double tolerance = 1e-14;
      for (unsigned int q = 0; q < rule.size(); ++q)
        {
          double last = 1.;
          for (unsigned int d = 0; d < dim; ++d)
            {
              if (!(rule.point(q)[d] > 0.))
                return -1;
              last -= rule.point(q)[d];
            }
          if (!(last > 0. && rule.weight(q) > 0.))
            return -1;
        }

      std::array<double, limit + dim + 1> factorial;
      factorial[0] = 1.;
      for (int i = 1; i <= limit + dim; ++i)
        factorial[i] = factorial[i - 1] * i;

      for (int degree = 0; degree <= limit; ++degree)
        for (int a = 0; a <= degree; ++a)
          for (int b = (dim == 2 ? degree - a : 0); b <= degree - a; ++b)
            {
              const int c   = degree - a - b;
              double    sum = 0.;
              for (unsigned int q = 0; q < rule.size(); ++q)
                sum += rule.weight(q) * std::pow(rule.point(q)[0], a) *
                       std::pow(rule.point(q)[1], b) *
                       std::pow(rule.point(q)[dim - 1], c);
              const double exact = factorial[a] * factorial[b] * factorial[c] /
                                   factorial[degree + dim];
              if (!(std::abs(sum - exact) <= tolerance * exact))
                return degree - 1;
            }
      return limit;
    }

    /// Tabulated rules of deal.II and of Tessella, each with its true order of
    /// exactness.
    template <int dim>
    std::vector<ReferenceRule>
    make_tabulated_rules()
    {
      std::vector<ReferenceRule> rules;
      const auto                 add = [&](const Quadrature<dim> &quadrature) {
        const int order = exactness_on_simplex(quadrature);
        if (order < 0)
          return;
        ReferenceRule rule;
        rule.dim      = dim;
        rule.order    = order;
        rule.n_points = quadrature.size();
        rule.weights  = quadrature.get_weights();
        rule.points.resize(dim * rule.n_points);
        for (unsigned int q = 0; q < rule.n_points; ++q)
          for (unsigned int d = 0; d < dim; ++d)
            rule.points[d * rule.n_points + q] = quadrature.point(q)[d];
        rules.push_back(std::move(rule));
      };
      for (unsigned int n = 1; n <= (dim == 2 ? 7 : 5); ++n)
        {
          add(QWitherdenVincentSimplex<dim>(n, true));
          add(QWitherdenVincentSimplex<dim>(n, false));
        }
      for (unsigned int n = 1; n <= 4; ++n)
        if (n < 4 || dim == 3)
          add(QGaussSimplex<dim>(n));
      if constexpr (dim == 3)
        for (const internal::TetrahedronRule &rule :
             internal::tetrahedron_rules())
          {
            std::vector<Point<dim>> points;
            for (const std::array<double, 3> &x : rule.points)
              points.emplace_back(x[0], x[1], x[2]);
            add(Quadrature<dim>(points, rule.weights));
          }
      return rules;
    }

    const std::vector<ReferenceRule> &
    tabulated_rules(const unsigned int dim)
    {
      // Thread-safe, since the initialisation of local statics is.
      if (dim == 2)
        {
          static const std::vector<ReferenceRule> rules =
            make_tabulated_rules<2>();
          return rules;
        }
      static const std::vector<ReferenceRule> rules = make_tabulated_rules<3>();
      return rules;
    }

    /// Cache of the rules made so far. A rule keeps its address until the
    /// program ends.
    struct Cache
    {
      struct Entry
      {
        std::once_flag flag;
        ReferenceRule  rule;
      };
      std::array<std::array<Entry, max_quadrature_order + 1>, 4> entries;

      template <typename Make>
      const ReferenceRule &
      get(const unsigned int dim,
          const unsigned int largest_dim,
          const unsigned int order,
          const Make        &make)
      {
        AssertThrow(dim >= 1 && dim <= largest_dim,
                    ExcMessage("There are quadrature rules for 1 to " +
                               std::to_string(largest_dim) +
                               " dimensions, not for " + std::to_string(dim) +
                               "."));
        AssertThrow(order <= max_quadrature_order,
                    ExcMessage("Quadrature of order " + std::to_string(order) +
                               " was asked for; the largest order is " +
                               std::to_string(max_quadrature_order) +
                               ": choose a lower polynomial degree or "
                               "coefficient order."));
        Entry &entry = entries[dim - 1][order];
        std::call_once(entry.flag, [&]() { entry.rule = make(); });
        return entry.rule;
      }
    };
  } // namespace



  const ReferenceRule &
  simplex_rule(const unsigned int dim, const unsigned int order)
  {
    static Cache cache;
    return cache.get(dim, 3, order, [&]() {
      if (dim == 1)
        return tensor_product(1, order);
      const ReferenceRule &base = simplex_rule(dim - 1, order);

      const ReferenceRule *best          = nullptr;
      unsigned int         best_n_points = base.n_points * (order / 2 + 1);
      for (const ReferenceRule &rule : tabulated_rules(dim))
        if (rule.order >= order && rule.n_points <= best_n_points)
          {
            best          = &rule;
            best_n_points = rule.n_points;
          }
      return best != nullptr ? *best : conical_product(base, order);
    });
  }



  const ReferenceRule &
  prism_rule(const unsigned int dim, const unsigned int order)
  {
    static Cache cache;
    return cache.get(dim - 1, 3, order, [&]() {
      const ReferenceRule &base     = simplex_rule(dim - 1, order);
      const ReferenceRule &interval = simplex_rule(1, order);

      ReferenceRule rule;
      rule.dim      = dim;
      rule.order    = std::min(base.order, interval.order);
      rule.n_points = base.n_points * interval.n_points;
      rule.points.reserve(dim * rule.n_points);
      for (unsigned int d = 0; d < dim; ++d)
        for (unsigned int t = 0; t < interval.n_points; ++t)
          for (unsigned int q = 0; q < base.n_points; ++q)
            rule.points.push_back(d + 1 < dim
                                    ? base.points[d * base.n_points + q]
                                    : interval.points[t]);
      for (unsigned int t = 0; t < interval.n_points; ++t)
        for (unsigned int q = 0; q < base.n_points; ++q)
          rule.weights.push_back(base.weights[q] * interval.weights[t]);
      return rule;
    });
  }



  const ReferenceRule &
  hypercube_rule(const unsigned int dim, const unsigned int order)
  {
    static Cache cache;
    return cache.get(dim, 4, order, [&]() {
      return tensor_product(dim, order);
    });
  }
} // namespace Tessella

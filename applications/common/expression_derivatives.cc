// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <algorithm>
#include <array>
#include <cmath>

#include "expression_program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      using namespace ExpressionProgram;

      // Product that is zero if the derivative is zero, so that an infinite
      // derivative in a direction in which nothing varies does no harm.
      inline double
      times(const double factor, const double derivative)
      {
        return derivative == 0. ? 0. : factor * derivative;
      }

      /*
       * Values, gradients and Hessians of a batch of points on the evaluation
       * stack. The components are the value, dim first derivatives, and the
       * second derivatives (i, j) with j <= i. Each component has a bit that
       * says whether it may be non-zero; components without that bit are
       * neither computed nor read.
       */
      template <int dim>
      struct Jets
      {
        static constexpr unsigned int n_components =
          1 + dim + dim * (dim + 1) / 2;

        double       component[n_components][batch_size];
        unsigned int mask;

        static constexpr unsigned int
        second(const int i, const int j)
        {
          return 1 + dim + i * (i + 1) / 2 + j;
        }
        bool
        has(const unsigned int c) const
        {
          return (mask >> c) & 1u;
        }
        bool
        varies() const
        {
          return (mask >> 1) != 0;
        }
      };

      // Replaces x by f(x); f[k] is the k-th derivative.
      template <int dim>
      void
      chain(Jets<dim>         &x,
            const unsigned int n,
            const bool         hessian,
            const double (&f)[3][batch_size])
      {
        unsigned int mask = x.mask;
        // Second derivatives come first, since they need the first derivatives
        // of x.
        for (int i = 0; hessian && i < dim; ++i)
          for (int j = 0; j <= i; ++j)
            {
              const unsigned int k    = Jets<dim>::second(i, j);
              const bool         old  = x.has(k);
              const bool         more = x.has(1 + i) && x.has(1 + j);
              if (!old && !more)
                continue;
              double       *h  = x.component[k];
              const double *gi = x.component[1 + i], *gj = x.component[1 + j];
              for (unsigned int q = 0; q < n; ++q)
                h[q] = (old ? times(f[1][q], h[q]) : 0.) +
                       (more ? times(f[2][q], gi[q] * gj[q]) : 0.);
              mask |= 1u << k;
            }
        for (int i = 1; i <= dim; ++i)
          if (x.has(i))
            for (unsigned int q = 0; q < n; ++q)
              x.component[i][q] = times(f[1][q], x.component[i][q]);
        std::copy(f[0], f[0] + n, x.component[0]);
        x.mask = mask;
      }

      // Replaces x by f(x, y). d holds f, f_x, f_y, f_xx, f_xy, f_yy; entries
      // without a bit in `used` are zero.
      template <int dim>
      void
      chain(Jets<dim>         &x,
            const Jets<dim>   &y,
            const unsigned int n,
            const bool         hessian,
            const double (&d)[6][batch_size],
            const unsigned int used)
      {
        const auto has = [used](const unsigned int k) {
          return (used >> k) & 1u;
        };
        unsigned int mask = x.mask | y.mask;
        double       sum[batch_size];
        const auto   add = [&](const double *factor, const double *g) {
          for (unsigned int q = 0; q < n; ++q)
            sum[q] += times(factor[q], g[q]);
        };
        const auto add_product =
          [&](const double *factor, const double *g, const double *h) {
            for (unsigned int q = 0; q < n; ++q)
              sum[q] += times(factor[q], g[q] * h[q]);
          };
        for (int i = 0; hessian && i < dim; ++i)
          for (int j = 0; j <= i; ++j)
            {
              const unsigned int k = Jets<dim>::second(i, j);
              const double *xi = x.component[1 + i], *xj = x.component[1 + j],
                           *yi = y.component[1 + i], *yj = y.component[1 + j];
              const bool hxi = x.has(1 + i), hxj = x.has(1 + j),
                         hyi = y.has(1 + i), hyj = y.has(1 + j);
              const bool xx = has(3) && hxi && hxj, xy = has(4) && hxi && hyj,
                         yx = has(4) && hxj && hyi, yy = has(5) && hyi && hyj;
              if (!(x.has(k) || y.has(k) || xx || xy || yx || yy))
                continue;
              std::fill(sum, sum + n, 0.);
              if (has(1) && x.has(k))
                add(d[1], x.component[k]);
              if (has(2) && y.has(k))
                add(d[2], y.component[k]);
              if (xx)
                add_product(d[3], xi, xj);
              if (xy)
                add_product(d[4], xi, yj);
              if (yx)
                add_product(d[4], xj, yi);
              if (yy)
                add_product(d[5], yi, yj);
              std::copy(sum, sum + n, x.component[k]);
              mask |= 1u << k;
            }
        for (int i = 1; i <= dim; ++i)
          if (x.has(i) || y.has(i))
            {
              std::fill(sum, sum + n, 0.);
              if (has(1) && x.has(i))
                add(d[1], x.component[i]);
              if (has(2) && y.has(i))
                add(d[2], y.component[i]);
              std::copy(sum, sum + n, x.component[i]);
            }
        std::copy(d[0], d[0] + n, x.component[0]);
        x.mask = mask;
      }

      // Where condition[q] is false, x takes the components of y.
      template <int dim>
      void
      select(Jets<dim>         &x,
             const Jets<dim>   &y,
             const unsigned int n,
             const bool (&condition)[batch_size])
      {
        for (unsigned int c = 0; c < Jets<dim>::n_components; ++c)
          if (x.has(c) || y.has(c))
            for (unsigned int q = 0; q < n; ++q)
              {
                const double vx   = x.has(c) ? x.component[c][q] : 0.;
                const double vy   = y.has(c) ? y.component[c][q] : 0.;
                x.component[c][q] = condition[q] ? vx : vy;
              }
        x.mask |= y.mask;
      }

      // A function f(v, w), f_v, f_w, f_vv, f_vw and f_ww.
      using Values = std::array<double, 6>;

      // v^w
      inline Values
      power_derivatives(const double v, const double w)
      {
        const double power = std::pow(v, w), l = std::log(v),
                     less = std::pow(v, w - 1.);
        return {{power,
                 w == 0. ? 0. : w * less,
                 power * l,
                 (w == 0. || w == 1.) ? 0. : w * (w - 1.) * std::pow(v, w - 2.),
                 less * (1. + w * l),
                 power * l * l}};
      }

      // v^w where w does not vary
      inline Values
      constant_power_derivatives(const double v, const double w)
      {
        if (w == 2.)
          return {{v * v, 0. + 2. * v, 0., 2., 0., 0.}};
        return {{std::pow(v, w),
                 w == 0. ? 0. : w * std::pow(v, w - 1.),
                 0.,
                 (w == 0. || w == 1.) ? 0. : w * (w - 1.) * std::pow(v, w - 2.),
                 0.,
                 0.}};
      }

      template <int dim>
      void
      binary(const unsigned int operation,
             Jets<dim>         &x,
             const Jets<dim>   &y,
             const unsigned int n,
             const bool         hessian)
      {
        const double *a = x.component[0], *b = y.component[0];
        double        d[6][batch_size];
        unsigned int  used = 0;
        const auto fill = [&](const unsigned int bits, const auto &function) {
          used = bits;
          for (unsigned int q = 0; q < n; ++q)
            {
              const Values values = function(a[q], b[q]);
              for (unsigned int k = 0; k < 6; ++k)
                d[k][q] = values[k];
            }
        };
        switch (operation)
          {
            case op_add:
              fill(0b000110, [](const double v, const double w) {
                return Values{{v + w, 1., 1., 0., 0., 0.}};
              });
              break;
            case op_subtract:
              fill(0b000110, [](const double v, const double w) {
                return Values{{v - w, 1., -1., 0., 0., 0.}};
              });
              break;
            case op_multiply:
              fill(0b010110, [](const double v, const double w) {
                return Values{{v * w, w, v, 0., 1., 0.}};
              });
              break;
            case op_divide:
              fill(0b110110, [](const double v, const double w) {
                const double r = 1. / w;
                return Values{
                  {v / w, r, -v * r * r, 0., -r * r, 2. * v * r * r * r}};
              });
              break;
            case op_power:
              if (y.varies())
                fill(0b111110, [](const double v, const double w) {
                  return power_derivatives(v, w);
                });
              else
                fill(0b001010, [](const double v, const double w) {
                  return constant_power_derivatives(v, w);
                });
              break;
            case op_atan2: // arguments (y, x) = (v, w)
              fill(0b111110, [](const double v, const double w) {
                const double r2 = v * v + w * w, r4 = r2 * r2;
                return Values{{std::atan2(v, w),
                               w / r2,
                               -v / r2,
                               -2. * v * w / r4,
                               (v * v - w * w) / r4,
                               2. * v * w / r4}};
              });
              break;
            case op_mod:
              fill(0b000110, [](const double v, const double w) {
                return Values{
                  {std::fmod(v, w), 1., -std::trunc(v / w), 0., 0., 0.}};
              });
              break;
            case op_min:
              case op_max: {
                bool condition[batch_size];
                for (unsigned int q = 0; q < n; ++q)
                  condition[q] =
                    operation == op_min ? a[q] <= b[q] : a[q] >= b[q];
                select(x, y, n, condition);
                return;
              }
            default:
              for (unsigned int q = 0; q < n; ++q)
                x.component[0][q] = compare(operation, a[q], b[q]);
              x.mask = 1u;
              return;
          }
        chain(x, y, n, hessian, d, used);
      }
    } // namespace

    template <int dim>
    void
    Expression::derivatives(const std::vector<Point<dim>> &points,
                            double                        *values,
                            Tensor<1, dim>                *gradients,
                            SymmetricTensor<2, dim>       *hessians) const
    {
      // One stack per thread, which is large enough for common expressions.
      static thread_local std::vector<Jets<dim>> stack(8);
      if (stack.size() < stack_size)
        stack.resize(stack_size);
      const bool hessian = hessians != nullptr;

      for (std::size_t begin = 0; begin < points.size(); begin += batch_size)
        {
          const unsigned int n =
            std::min<std::size_t>(batch_size, points.size() - begin);
          Jets<dim> *top = stack.data(); // points behind the last entry
          for (const Instruction &instruction : program)
            {
              const unsigned int operation = instruction.operation;
              if (operation == op_number)
                {
                  std::fill_n(top->component[0], n, instruction.number);
                  top->mask = 1u;
                  ++top;
                }
              else if (operation == op_variable)
                {
                  const unsigned int d = instruction.variable;
                  for (unsigned int q = 0; q < n; ++q)
                    top->component[0][q] = points[begin + q][d];
                  std::fill_n(top->component[1 + d], n, 1.);
                  top->mask = 1u | (2u << d);
                  ++top;
                }
              else if (operation == op_if)
                {
                  top -= 2;
                  bool condition[batch_size];
                  for (unsigned int q = 0; q < n; ++q)
                    condition[q] = top[-1].component[0][q] != 0.;
                  select(top[0], top[1], n, condition);
                  top[-1] = top[0];
                }
              else if (operation == op_negate)
                {
                  for (unsigned int c = 0; c < Jets<dim>::n_components; ++c)
                    if (top[-1].has(c))
                      for (unsigned int q = 0; q < n; ++q)
                        top[-1].component[c][q] = -top[-1].component[c][q];
                }
              else if (operation == op_not)
                {
                  for (unsigned int q = 0; q < n; ++q)
                    top[-1].component[0][q] = top[-1].component[0][q] == 0.;
                  top[-1].mask = 1u;
                }
              else if (operation >= op_first_function)
                {
                  const UnaryFunction &function =
                    functions[operation - op_first_function];
                  double f[3][batch_size];
                  for (unsigned int q = 0; q < n; ++q)
                    {
                      double one[3];
                      function.derivatives(top[-1].component[0][q], one);
                      for (unsigned int k = 0; k < 3; ++k)
                        f[k][q] = one[k];
                    }
                  chain(top[-1], n, hessian, f);
                }
              else
                {
                  --top;
                  binary(operation, top[-1], top[0], n, hessian);
                }
            }

          const Jets<dim> &result = top[-1];
          const auto get = [&](const unsigned int c, const unsigned int q) {
            return result.has(c) ? result.component[c][q] : 0.;
          };
          for (unsigned int q = 0; q < n; ++q)
            {
              if (values != nullptr)
                values[begin + q] = get(0, q);
              if (gradients != nullptr)
                for (int i = 0; i < dim; ++i)
                  gradients[begin + q][i] = get(1 + i, q);
              if (hessian)
                for (int i = 0; i < dim; ++i)
                  for (int j = 0; j <= i; ++j)
                    hessians[begin + q][i][j] = get(Jets<dim>::second(i, j), q);
            }
        }
    }

    template void
    Expression::derivatives(const std::vector<Point<2>> &,
                            double *,
                            Tensor<1, 2> *,
                            SymmetricTensor<2, 2> *) const;
    template void
    Expression::derivatives(const std::vector<Point<3>> &,
                            double *,
                            Tensor<1, 3> *,
                            SymmetricTensor<2, 3> *) const;
    // Three coordinates and u of a quasilinear coefficient.
    template void
    Expression::derivatives(const std::vector<Point<4>> &,
                            double *,
                            Tensor<1, 4> *,
                            SymmetricTensor<2, 4> *) const;
  } // namespace Application
} // namespace Tessella

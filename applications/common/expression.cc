// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "expression.h"

#include <deal.II/base/numbers.h>
#include <deal.II/base/vectorization.h>

#include <deal.II/lac/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <locale>
#include <memory>
#include <sstream>

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      enum Operation : unsigned short
      {
        op_number,
        op_variable,
        // binary
        op_add,
        op_subtract,
        op_multiply,
        op_divide,
        op_power,
        op_atan2,
        op_min,
        op_max,
        op_mod,
        op_less,
        op_less_equal,
        op_greater,
        op_greater_equal,
        op_equal,
        op_not_equal,
        op_and,
        op_or,
        // ternary
        op_if,
        // unary
        op_negate,
        op_not,
        op_first_function // the index into functions is added
      };

      // Computes f, f' and f'' of a function of one variable.
      using UnaryDerivatives = void (*)(const double, double (&)[3]);

      struct UnaryFunction
      {
        const char *name;
        double (*value)(const double);
        UnaryDerivatives derivatives;
      };

      constexpr double two_over_sqrt_pi = 1.1283791670955125739;


      const UnaryFunction functions[] = {
        {"sin",
         [](const double x) { return std::sin(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::sin(x);
           f[1] = std::cos(x);
           f[2] = -f[0];
         }},
        {"cos",
         [](const double x) { return std::cos(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::cos(x);
           f[1] = -std::sin(x);
           f[2] = -f[0];
         }},
        {"tan",
         [](const double x) { return std::tan(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::tan(x);
           f[1] = 1. + f[0] * f[0];
           f[2] = 2. * f[0] * f[1];
         }},
        {"cot",
         [](const double x) { return 1. / std::tan(x); },
         [](const double x, double (&f)[3]) {
           f[0] = 1. / std::tan(x);
           f[1] = -1. - f[0] * f[0];
           f[2] = -2. * f[0] * f[1];
         }},
        {"sec",
         [](const double x) { return 1. / std::cos(x); },
         [](const double x, double (&f)[3]) {
           const double t = std::tan(x);
           f[0]           = 1. / std::cos(x);
           f[1]           = f[0] * t;
           f[2]           = f[0] * (1. + 2. * t * t);
         }},
        {"csc",
         [](const double x) { return 1. / std::sin(x); },
         [](const double x, double (&f)[3]) {
           const double t = 1. / std::tan(x);
           f[0]           = 1. / std::sin(x);
           f[1]           = -f[0] * t;
           f[2]           = f[0] * (1. + 2. * t * t);
         }},
        {"asin",
         [](const double x) { return std::asin(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::asin(x);
           f[1] = 1. / std::sqrt(1. - x * x);
           f[2] = x * f[1] * f[1] * f[1];
         }},
        {"acos",
         [](const double x) { return std::acos(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::acos(x);
           f[1] = -1. / std::sqrt(1. - x * x);
           f[2] = x * f[1] * f[1] * f[1];
         }},
        {"atan",
         [](const double x) { return std::atan(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::atan(x);
           f[1] = 1. / (1. + x * x);
           f[2] = -2. * x * f[1] * f[1];
         }},
        {"sinh",
         [](const double x) { return std::sinh(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::sinh(x);
           f[1] = std::cosh(x);
           f[2] = f[0];
         }},
        {"cosh",
         [](const double x) { return std::cosh(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::cosh(x);
           f[1] = std::sinh(x);
           f[2] = f[0];
         }},
        {"tanh",
         [](const double x) { return std::tanh(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::tanh(x);
           f[1] = 1. - f[0] * f[0];
           f[2] = -2. * f[0] * f[1];
         }},
        {"asinh",
         [](const double x) { return std::asinh(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::asinh(x);
           f[1] = 1. / std::sqrt(1. + x * x);
           f[2] = -x * f[1] * f[1] * f[1];
         }},
        {"acosh",
         [](const double x) { return std::acosh(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::acosh(x);
           f[1] = 1. / std::sqrt(x * x - 1.);
           f[2] = -x * f[1] * f[1] * f[1];
         }},
        {"atanh",
         [](const double x) { return std::atanh(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::atanh(x);
           f[1] = 1. / (1. - x * x);
           f[2] = 2. * x * f[1] * f[1];
         }},
        {"exp",
         [](const double x) { return std::exp(x); },
         [](const double x, double (&f)[3]) {
           f[0] = f[1] = f[2] = std::exp(x);
         }},
        {"log",
         [](const double x) { return std::log(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::log(x);
           f[1] = 1. / x;
           f[2] = -f[1] * f[1];
         }},
        {"ln",
         [](const double x) { return std::log(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::log(x);
           f[1] = 1. / x;
           f[2] = -f[1] * f[1];
         }},
        {"log2",
         [](const double x) { return std::log2(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::log2(x);
           f[1] = 1. / (x * numbers::LN2);
           f[2] = -f[1] / x;
         }},
        {"log10",
         [](const double x) { return std::log10(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::log10(x);
           f[1] = 1. / (x * numbers::LN10);
           f[2] = -f[1] / x;
         }},
        {"sqrt",
         [](const double x) { return std::sqrt(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::sqrt(x);
           f[1] = 0.5 / f[0];
           f[2] = -0.5 * f[1] / x;
         }},
        {"cbrt",
         [](const double x) { return std::cbrt(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::cbrt(x);
           f[1] = 1. / (3. * f[0] * f[0]);
           f[2] = -2. * f[1] / (3. * x);
         }},
        {"abs",
         [](const double x) { return std::fabs(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::fabs(x);
           f[1] = (x > 0) - (x < 0);
           f[2] = 0.;
         }},
        {"sign",
         [](const double x) -> double { return (x > 0) - (x < 0); },
         [](const double x, double (&f)[3]) {
           f[0] = (x > 0) - (x < 0);
           f[1] = f[2] = 0.;
         }},
        {"floor",
         [](const double x) { return std::floor(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::floor(x);
           f[1] = f[2] = 0.;
         }},
        {"ceil",
         [](const double x) { return std::ceil(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::ceil(x);
           f[1] = f[2] = 0.;
         }},
        {"rint",
         [](const double x) { return std::rint(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::rint(x);
           f[1] = f[2] = 0.;
         }},
        {"int",
         [](const double x) { return std::round(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::round(x);
           f[1] = f[2] = 0.;
         }},
        {"erf",
         [](const double x) { return std::erf(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::erf(x);
           f[1] = two_over_sqrt_pi * std::exp(-x * x);
           f[2] = -2. * x * f[1];
         }},
        {"erfc",
         [](const double x) { return std::erfc(x); },
         [](const double x, double (&f)[3]) {
           f[0] = std::erfc(x);
           f[1] = -two_over_sqrt_pi * std::exp(-x * x);
           f[2] = -2. * x * f[1];
         }}};
      constexpr unsigned int n_functions =
        sizeof(functions) / sizeof(functions[0]);

      // Recursive descent parser that writes postfix instructions.
      class Parser
      {
      public:
        Parser(const std::string                    &name,
               const std::string                    &text,
               const std::vector<std::string>       &variables,
               const std::map<std::string, double>  &constants,
               std::vector<Expression::Instruction> &program)
          : name(name)
          , text(text)
          , variables(variables)
          , constants(constants)
          , program(program)
        {
          skip();
          if (at_end())
            fail("it is empty");
          condition();
          if (!at_end())
            fail(std::string("unexpected '") + text[position] + "'");
        }

        unsigned int stack_size    = 0;
        bool         uses_variable = false;

      private:
        const std::string                    &name;
        const std::string                    &text;
        const std::vector<std::string>       &variables;
        const std::map<std::string, double>  &constants;
        std::vector<Expression::Instruction> &program;
        std::size_t                           position = 0;
        unsigned int                          depth = 0, nesting = 0;

        [[noreturn]] void
        fail(const std::string &reason) const
        {
          AssertThrow(false,
                      Expression::ExcSyntax(text, name, reason, position + 1));
          std::abort(); // not reached
        }

        bool
        at_end() const
        {
          return position >= text.size();
        }

        void
        skip()
        {
          while (!at_end() &&
                 std::isspace(static_cast<unsigned char>(text[position])))
            ++position;
        }

        bool
        accept(const char *token)
        {
          const std::size_t n = std::strlen(token);
          if (text.compare(position, n, token) != 0)
            return false;
          position += n;
          skip();
          return true;
        }

        void
        expect(const char *token)
        {
          if (!accept(token))
            fail(std::string("expected '") + token + "'" +
                 (at_end() ? " but the text ends" : ""));
        }

        // Emits an operation that pops n_arguments entries and pushes one.
        void
        emit(const unsigned int operation,
             const unsigned int n_arguments,
             const double       number   = 0.,
             const unsigned int variable = 0)
        {
          program.push_back({static_cast<unsigned short>(operation),
                             static_cast<unsigned short>(variable),
                             number});
          depth      = depth + 1 - n_arguments;
          stack_size = std::max(stack_size, depth);
        }

        void
        condition()
        {
          if (++nesting > 200)
            fail("parentheses nested too deeply");
          disjunction();
          if (accept("?"))
            {
              condition();
              expect(":");
              condition();
              emit(op_if, 3);
            }
          --nesting;
        }

        void
        disjunction()
        {
          conjunction();
          while (accept("||"))
            {
              conjunction();
              emit(op_or, 2);
            }
        }

        void
        conjunction()
        {
          comparison();
          while (accept("&&"))
            {
              comparison();
              emit(op_and, 2);
            }
        }

        void
        comparison()
        {
          sum();
          for (;;)
            {
              unsigned int operation;
              if (accept("<="))
                operation = op_less_equal;
              else if (accept(">="))
                operation = op_greater_equal;
              else if (accept("=="))
                operation = op_equal;
              else if (accept("!="))
                operation = op_not_equal;
              else if (accept("<"))
                operation = op_less;
              else if (accept(">"))
                operation = op_greater;
              else
                return;
              sum();
              emit(operation, 2);
            }
        }

        void
        sum()
        {
          product();
          for (;;)
            if (accept("+"))
              {
                product();
                emit(op_add, 2);
              }
            else if (accept("-"))
              {
                product();
                emit(op_subtract, 2);
              }
            else
              return;
        }

        void
        product()
        {
          sign();
          for (;;)
            if (text.compare(position, 2, "**") != 0 && accept("*"))
              {
                sign();
                emit(op_multiply, 2);
              }
            else if (accept("/"))
              {
                sign();
                emit(op_divide, 2);
              }
            else
              return;
        }

        // -x^2 is -(x^2); 2^-1 is allowed.
        void
        sign()
        {
          if (++nesting > 200)
            fail("too many signs or powers");
          if (accept("-"))
            {
              sign();
              emit(op_negate, 1);
            }
          else if (accept("+"))
            sign();
          else if (text.compare(position, 2, "!=") != 0 && accept("!"))
            {
              sign();
              emit(op_not, 1);
            }
          else
            {
              primary();
              if (accept("^") || accept("**"))
                {
                  sign();
                  emit(op_power, 2);
                }
            }
          --nesting;
        }

        void
        primary()
        {
          if (at_end())
            fail("the text ends where a number, a variable or '(' should be");
          if (accept("("))
            {
              condition();
              expect(")");
              return;
            }

          const char c = text[position];
          if (std::isdigit(static_cast<unsigned char>(c)) || c == '.')
            {
              // Hexadecimal numbers and other formats of strtod() are rejected.
              std::size_t end    = position;
              const auto  digits = [&]() {
                const std::size_t first = end;
                while (end < text.size() &&
                       std::isdigit(static_cast<unsigned char>(text[end])))
                  ++end;
                return end - first;
              };
              std::size_t n = digits();
              if (end < text.size() && text[end] == '.')
                {
                  ++end;
                  n += digits();
                }
              if (n == 0)
                fail("'.' is no number");
              if (end < text.size() && (text[end] == 'e' || text[end] == 'E'))
                {
                  const std::size_t before = end;
                  ++end;
                  if (end < text.size() &&
                      (text[end] == '+' || text[end] == '-'))
                    ++end;
                  if (digits() == 0)
                    end = before;
                }
              double             number = 0.;
              std::istringstream stream(text.substr(position, end - position));
              stream.imbue(std::locale::classic());
              stream >> number;
              if (stream.fail())
                fail("the number is out of range");
              position = end;
              skip();
              emit(op_number, 0, number);
              return;
            }

          if (!std::isalpha(static_cast<unsigned char>(c)) && c != '_')
            fail(std::string("unexpected '") + c + "'");

          const std::size_t start = position;
          while (!at_end() &&
                 (std::isalnum(static_cast<unsigned char>(text[position])) ||
                  text[position] == '_'))
            ++position;
          const std::string word = text.substr(start, position - start);
          const std::size_t end  = position;
          skip();

          const auto variable =
            std::find(variables.begin(), variables.end(), word);
          if (variable != variables.end())
            {
              uses_variable = true;
              emit(op_variable, 0, 0., variable - variables.begin());
              return;
            }
          const auto constant = constants.find(word);
          if (constant != constants.end())
            {
              emit(op_number, 0, constant->second);
              return;
            }

          // Functions with their numbers of arguments.
          constexpr unsigned int unknown   = static_cast<unsigned int>(-1);
          unsigned int           operation = unknown;
          int                    n_wanted  = 1; // -1: any number
          static const std::pair<const char *, std::pair<unsigned int, int>>
            others[] = {{"pow", {op_power, 2}},
                        {"atan2", {op_atan2, 2}},
                        {"mod", {op_mod, 2}},
                        {"min", {op_min, -1}},
                        {"max", {op_max, -1}},
                        {"if", {op_if, 3}}};
          for (unsigned int i = 0; i < n_functions; ++i)
            if (word == functions[i].name)
              operation = op_first_function + i;
          if (operation == unknown)
            {
              for (const auto &other : others)
                if (word == other.first)
                  {
                    operation = other.second.first;
                    n_wanted  = other.second.second;
                  }
              if (operation == unknown)
                {
                  position = start;
                  std::string known;
                  for (const std::string &v : variables)
                    known += (known.empty() ? "" : ", ") + v;
                  fail("'" + word +
                       "' is no function, constant or variable (variables: " +
                       known + ")");
                }
            }
          if (!accept("("))
            {
              position = end;
              fail("the function " + word + " needs '('");
            }
          int n_arguments = 0;
          do
            {
              condition();
              ++n_arguments;
              if (n_wanted == -1 && n_arguments > 1)
                emit(operation, 2);
          } while (accept(","));
          expect(")");
          if (n_wanted != -1)
            {
              if (n_arguments != n_wanted)
                fail("the function " + word + " has " +
                     std::to_string(n_wanted) + " argument" +
                     (n_wanted > 1 ? "s" : ""));
              emit(operation, n_wanted);
            }
        }
      };

      // Number of points in a batch.
      constexpr unsigned int batch_size = 64;

      // Product that is zero if the derivative is zero, so that an infinite
      // derivative in a direction in which nothing varies does no harm.
      inline double
      times(const double factor, const double derivative)
      {
        return derivative == 0. ? 0. : factor * derivative;
      }

      double
      compare(const unsigned int operation, const double a, const double b)
      {
        switch (operation)
          {
            case op_less:
              return a < b;
            case op_less_equal:
              return a <= b;
            case op_greater:
              return a > b;
            case op_greater_equal:
              return a >= b;
            case op_equal:
              return a == b;
            case op_not_equal:
              return a != b;
            case op_and:
              return (a != 0.) && (b != 0.);
            default:
              return (a != 0.) || (b != 0.);
          }
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
              const std::array<double, 6> values = function(a[q], b[q]);
              for (unsigned int k = 0; k < 6; ++k)
                d[k][q] = values[k];
            }
        };
        using Values = std::array<double, 6>;
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
                  const double power = std::pow(v, w), l = std::log(v),
                               less = std::pow(v, w - 1.);
                  return Values{{power,
                                 w == 0. ? 0. : w * less,
                                 power * l,
                                 (w == 0. || w == 1.)
                                   ? 0.
                                   : w * (w - 1.) * std::pow(v, w - 2.),
                                 less * (1. + w * l),
                                 power * l * l}};
                });
              else
                fill(0b001010, [](const double v, const double w) {
                  if (w == 2.)
                    return Values{{v * v, 0. + 2. * v, 0., 2., 0., 0.}};
                  return Values{{std::pow(v, w),
                                 w == 0. ? 0. : w * std::pow(v, w - 1.),
                                 0.,
                                 (w == 0. || w == 1.)
                                   ? 0.
                                   : w * (w - 1.) * std::pow(v, w - 2.),
                                 0.,
                                 0.}};
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

    Expression::Expression()
      : present_text("0")
      , program(1, {op_number, 0, 0.})
      , stack_size(1)
      , constant(true)
    {}

    Expression::Expression(const std::string                   &name,
                           const std::string                   &text,
                           const std::vector<std::string>      &variables,
                           const std::map<std::string, double> &constants)
      : present_name(name)
      , present_text(text)
    {
      const Parser parser(present_name, text, variables, constants, program);
      stack_size = parser.stack_size;
      constant   = !parser.uses_variable;
    }

    bool
    Expression::is_constant() const
    {
      return constant;
    }

    const std::string &
    Expression::name() const
    {
      return present_name;
    }

    const std::string &
    Expression::text() const
    {
      return present_text;
    }

    double
    Expression::value(const double *x) const
    {
      const double *coordinates[16];
      unsigned int  n_used = 0;
      for (const Instruction &i : program)
        if (i.operation == op_variable)
          n_used = std::max<unsigned int>(n_used, i.variable + 1);
      Assert(n_used <= 16, ExcInternalError());
      for (unsigned int d = 0; d < n_used; ++d)
        coordinates[d] = x + d;
      double result;
      values(1, coordinates, &result);
      return result;
    }

    void
    Expression::values(const unsigned int   n,
                       const double *const *x,
                       double              *result) const
    {
      std::array<double, 8 * batch_size> small;
      std::unique_ptr<double[]>          large;
      double                            *stack = small.data();
      if (stack_size > 8)
        {
          large.reset(new double[stack_size * batch_size]);
          stack = large.get();
        }

      for (unsigned int begin = 0; begin < n; begin += batch_size)
        {
          const unsigned int m   = std::min(batch_size, n - begin);
          double            *top = stack; // points behind the last entry
          for (const Instruction &instruction : program)
            {
              const unsigned int operation = instruction.operation;
              double *const      last      = top - batch_size;
              double *const      before    = top - 2 * batch_size;
              switch (operation)
                {
                  case op_number:
                    std::fill(top, top + m, instruction.number);
                    top += batch_size;
                    break;
                  case op_variable:
                    std::copy(x[instruction.variable] + begin,
                              x[instruction.variable] + begin + m,
                              top);
                    top += batch_size;
                    break;
                  case op_add:
                    for (unsigned int q = 0; q < m; ++q)
                      before[q] += last[q];
                    top = last;
                    break;
                  case op_subtract:
                    for (unsigned int q = 0; q < m; ++q)
                      before[q] -= last[q];
                    top = last;
                    break;
                  case op_multiply:
                    for (unsigned int q = 0; q < m; ++q)
                      before[q] *= last[q];
                    top = last;
                    break;
                  case op_divide:
                    for (unsigned int q = 0; q < m; ++q)
                      before[q] /= last[q];
                    top = last;
                    break;
                  case op_power:
                    for (unsigned int q = 0; q < m; ++q)
                      before[q] = last[q] == 2. ? before[q] * before[q]
                                                : std::pow(before[q], last[q]);
                    top = last;
                    break;
                  case op_atan2:
                    for (unsigned int q = 0; q < m; ++q)
                      before[q] = std::atan2(before[q], last[q]);
                    top = last;
                    break;
                  case op_min:
                    for (unsigned int q = 0; q < m; ++q)
                      before[q] = before[q] <= last[q] ? before[q] : last[q];
                    top = last;
                    break;
                  case op_max:
                    for (unsigned int q = 0; q < m; ++q)
                      before[q] = before[q] >= last[q] ? before[q] : last[q];
                    top = last;
                    break;
                  case op_mod:
                    for (unsigned int q = 0; q < m; ++q)
                      before[q] = std::fmod(before[q], last[q]);
                    top = last;
                    break;
                    case op_if: {
                      double *const test = top - 3 * batch_size;
                      for (unsigned int q = 0; q < m; ++q)
                        test[q] = test[q] != 0. ? before[q] : last[q];
                      top = before;
                      break;
                    }
                  case op_negate:
                    for (unsigned int q = 0; q < m; ++q)
                      last[q] = -last[q];
                    break;
                  case op_not:
                    for (unsigned int q = 0; q < m; ++q)
                      last[q] = last[q] == 0.;
                    break;
                  default:
                    if (operation >= op_first_function)
                      {
                        const auto f =
                          functions[operation - op_first_function].value;
                        for (unsigned int q = 0; q < m; ++q)
                          last[q] = f(last[q]);
                      }
                    else
                      {
                        for (unsigned int q = 0; q < m; ++q)
                          before[q] = compare(operation, before[q], last[q]);
                        top = last;
                      }
                }
            }
          std::copy(stack, stack + m, result + begin);
        }
    }

    std::string
    Expression::device_code(const std::vector<std::string> &variables) const
    {
      // Texts of the entries on the stack. Each operand must occur only once in
      // a text, or the texts would grow exponentially. Lambdas give an operand
      // a name.
      std::vector<std::string> stack;
      const auto               pop = [&stack]() {
        const std::string text = stack.back();
        stack.pop_back();
        return text;
      };
      const auto number_text = [](const double number) {
        std::ostringstream text;
        text.imbue(std::locale::classic());
        text << std::hexfloat << '(' << number << ')';
        return text.str();
      };
      double last_number = 0.; // value of the entry on top, if it is a number
      bool   is_number   = false;
      for (const Instruction &instruction : program)
        {
          const unsigned int operation = instruction.operation;
          const bool         before    = is_number;
          is_number                    = operation == op_number;
          if (operation == op_number)
            {
              last_number = instruction.number;
              stack.push_back(number_text(instruction.number));
              continue;
            }
          if (operation == op_variable)
            {
              AssertIndexRange(instruction.variable, variables.size());
              stack.push_back(variables[instruction.variable]);
              continue;
            }
          const std::string b = pop();
          if (operation == op_negate)
            stack.push_back("(-" + b + ")");
          else if (operation == op_not)
            stack.push_back("(" + b + " == 0. ? 1. : 0.)");
          else if (operation >= op_first_function)
            {
              const std::string name =
                functions[operation - op_first_function].name;
              static const std::map<std::string, std::string> other = {
                {"cot", "1. / tan"},
                {"sec", "1. / cos"},
                {"csc", "1. / sin"},
                {"ln", "log"},
                {"abs", "fabs"},
                {"int", "round"},
                {"sign",
                 "[](const auto v) { return v > 0. ? 1. : v < 0. ? -1. : 0.; }"}};
              const auto it = other.find(name);
              stack.push_back("(" + (it == other.end() ? name : it->second) +
                              "(" + b + "))");
            }
          else if (operation == op_if)
            {
              const std::string a = pop(), test = pop();
              stack.push_back("(" + test + " != 0. ? " + a + " : " + b + ")");
            }
          else
            {
              const std::string a     = pop();
              const auto        infix = [&](const char *symbol) {
                return "(" + a + " " + symbol + " " + b + ")";
              };
              const auto lambda = [&](const std::string &result) {
                return "([](const auto v, const auto w) { return " + result +
                       "; }(" + a + ", " + b + "))";
              };
              const auto test = [&](const char *symbol) {
                return infix(symbol) + " ? 1. : 0.)";
              };
              std::string result;
              switch (operation)
                {
                  case op_add:
                    result = infix("+");
                    break;
                  case op_subtract:
                    result = infix("-");
                    break;
                  case op_multiply:
                    result = infix("*");
                    break;
                  case op_divide:
                    result = infix("/");
                    break;
                  case op_power:
                    // Small integer powers become products.
                    if (before && last_number == 0.5)
                      result = "sqrt(" + a + ")";
                    else if (before && last_number == std::floor(last_number) &&
                             last_number >= 1. && last_number <= 8.)
                      {
                        std::string product = "v";
                        for (int i = 1; i < last_number; ++i)
                          product += " * v";
                        result = "([](const auto v) { return " + product +
                                 "; }(" + a + "))";
                      }
                    else
                      result = "pow(" + a + ", " + b + ")";
                    break;
                  case op_atan2:
                    result = "atan2(" + a + ", " + b + ")";
                    break;
                  case op_mod:
                    result = "fmod(" + a + ", " + b + ")";
                    break;
                  case op_min:
                    result = lambda("v <= w ? v : w");
                    break;
                  case op_max:
                    result = lambda("v >= w ? v : w");
                    break;
                  case op_less:
                    result = "(" + test("<");
                    break;
                  case op_less_equal:
                    result = "(" + test("<=");
                    break;
                  case op_greater:
                    result = "(" + test(">");
                    break;
                  case op_greater_equal:
                    result = "(" + test(">=");
                    break;
                  case op_equal:
                    result = "(" + test("==");
                    break;
                  case op_not_equal:
                    result = "(" + test("!=");
                    break;
                  case op_and:
                    result = "(" + a + " != 0. && " + b + " != 0. ? 1. : 0.)";
                    break;
                  default:
                    result = "(" + a + " != 0. || " + b + " != 0. ? 1. : 0.)";
                }
              stack.push_back(result);
            }
        }
      return stack.back();
    }

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

    std::vector<std::string>
    split(const std::string &text, const char separator)
    {
      std::vector<std::string> parts;
      std::string              part;
      int                      depth       = 0;
      const auto               end_of_part = [&]() {
        const auto first = part.find_first_not_of(" \t\n\r");
        const auto last  = part.find_last_not_of(" \t\n\r");
        parts.push_back(first == std::string::npos
                          ? ""
                          : part.substr(first, last - first + 1));
        part.clear();
      };
      for (const char c : text)
        {
          depth += (c == '(') - (c == ')');
          if (c == separator && depth <= 0)
            end_of_part();
          else
            part += c;
        }
      end_of_part();
      if (parts.size() == 1 && parts[0].empty())
        parts.clear();
      return parts;
    }

    std::map<std::string, double>
    parse_constants(const std::string &name, const std::string &text)
    {
      std::map<std::string, double> constants = {{"pi", numbers::PI},
                                                 {"e", numbers::E}};
      for (const std::string &entry : split(text, ','))
        {
          const auto        equal = entry.find('=');
          const std::string key =
            equal == std::string::npos ? "" : split(entry, '=')[0];
          bool good =
            !key.empty() && !std::isdigit(static_cast<unsigned char>(key[0]));
          for (const char c : key)
            good =
              good && (std::isalnum(static_cast<unsigned char>(c)) || c == '_');
          AssertThrow(good,
                      ExcMessage("The entry '" + entry + "' of " + name +
                                 " is not of the form 'name = value'."));
          constants[key] =
            Expression(name, entry.substr(equal + 1), {}, constants)
              .value(nullptr);
        }
      return constants;
    }

    std::vector<std::string>
    coordinate_names(const int dim)
    {
      const std::vector<std::string> names = {"x", "y", "z", "t"};
      return {names.begin(), names.begin() + dim};
    }

    namespace
    {
      template <int dim>
      std::string
      text_of(const Point<dim> &p)
      {
        std::ostringstream stream;
        for (int d = 0; d < dim; ++d)
          stream << (d > 0 ? ", " : "") << p[d];
        return stream.str();
      }

      template <int dim>
      double
      checked(const double      value,
              const Expression &expression,
              const Point<dim> &p)
      {
        AssertThrow(std::isfinite(value),
                    Expression::ExcNotFinite(expression.text(),
                                             expression.name(),
                                             std::isnan(value)
                                               ? std::fabs(value)
                                               : value,
                                             text_of(p)));
        return value;
      }

      // Throws for the first value that is not finite.
      template <int dim>
      void
      check_batch(const double      *values,
                  const unsigned int n,
                  const Expression  &expression,
                  const Point<dim>  *points)
      {
        // A sum of products v * 0 is zero unless a value is not finite. Several
        // sums are independent of each other and hide latency.
        constexpr unsigned int  width = VectorizedArray<double>::size();
        VectorizedArray<double> sum[4], v;
        for (VectorizedArray<double> &s : sum)
          s = 0.;
        unsigned int q = 0;
        for (; q + 4 * width <= n; q += 4 * width)
          for (unsigned int l = 0; l < 4; ++l)
            {
              v.load(values + q + l * width);
              sum[l] += v * 0.;
            }
        bool finite = true;
        for (; q < n; ++q)
          finite = finite && std::isfinite(values[q]);
        sum[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        for (unsigned int l = 0; l < width; ++l)
          finite = finite && sum[0][l] == 0.;
        if (!finite)
          for (q = 0; q < n; ++q)
            checked(values[q], expression, points[q]);
      }

      // Calls function(begin, n, coordinates) for batches of points.
      template <int dim, typename Function>
      void
      for_batches(const std::vector<Point<dim>> &points,
                  const Function                &function)
      {
        double        x[dim][batch_size];
        const double *pointers[dim];
        for (int d = 0; d < dim; ++d)
          pointers[d] = x[d];
        for (std::size_t begin = 0; begin < points.size(); begin += batch_size)
          {
            const unsigned int n =
              std::min<std::size_t>(batch_size, points.size() - begin);
            for (unsigned int q = 0; q < n; ++q)
              for (int d = 0; d < dim; ++d)
                x[d][q] = points[begin + q][d];
            function(begin, n, pointers);
          }
      }
    } // namespace

    template <int dim>
    ExpressionFunction<dim>::ExpressionFunction(
      const std::vector<Expression> &components)
      : Function<dim>(components.size())
      , components(components)
    {}

    template <int dim>
    double
    ExpressionFunction<dim>::value(const Point<dim>  &p,
                                   const unsigned int component) const
    {
      AssertIndexRange(component, components.size());
      return checked(components[component].value(&p[0]),
                     components[component],
                     p);
    }

    template <int dim>
    void
    ExpressionFunction<dim>::vector_value(const Point<dim> &p,
                                          Vector<double>   &values) const
    {
      for (unsigned int c = 0; c < components.size(); ++c)
        values(c) = value(p, c);
    }

    template <int dim>
    void
    ExpressionFunction<dim>::value_list(const std::vector<Point<dim>> &points,
                                        std::vector<double>           &values,
                                        const unsigned int component) const
    {
      AssertDimension(points.size(), values.size());
      const Expression &expression = components[component];
      for_batches<dim>(points,
                       [&](const std::size_t    begin,
                           const unsigned int   n,
                           const double *const *x) {
                         expression.values(n, x, values.data() + begin);
                         check_batch(values.data() + begin,
                                     n,
                                     expression,
                                     points.data() + begin);
                       });
    }

    template <int dim>
    Tensor<1, dim>
    ExpressionFunction<dim>::gradient(const Point<dim>  &p,
                                      const unsigned int component) const
    {
      Tensor<1, dim> result;
      components[component].template derivatives<dim>({p},
                                                      nullptr,
                                                      &result,
                                                      nullptr);
      return result;
    }

    template <int dim>
    void
    ExpressionFunction<dim>::gradient_list(
      const std::vector<Point<dim>> &points,
      std::vector<Tensor<1, dim>>   &gradients,
      const unsigned int             component) const
    {
      AssertDimension(points.size(), gradients.size());
      components[component].template derivatives<dim>(points,
                                                      nullptr,
                                                      gradients.data(),
                                                      nullptr);
    }

    template <int dim>
    void
    ExpressionFunction<dim>::vector_gradient(
      const Point<dim> &p, std::vector<Tensor<1, dim>> &gradients) const
    {
      for (unsigned int c = 0; c < components.size(); ++c)
        gradients[c] = gradient(p, c);
    }

    template <int dim>
    SymmetricTensor<2, dim>
    ExpressionFunction<dim>::hessian(const Point<dim>  &p,
                                     const unsigned int component) const
    {
      SymmetricTensor<2, dim> result;
      components[component].template derivatives<dim>({p},
                                                      nullptr,
                                                      nullptr,
                                                      &result);
      return result;
    }

    template <int dim>
    ExpressionTensorFunction<dim>::ExpressionTensorFunction(
      const std::vector<Expression> &components)
      : components(components)
    {
      AssertDimension(components.size(), dim * dim);
      for (int i = 0; i < dim; ++i)
        for (int j = 0; j < dim; ++j)
          same_as_transposed[i * dim + j] =
            components[i * dim + j].text() == components[j * dim + i].text();
    }

    template <int dim>
    Tensor<2, dim>
    ExpressionTensorFunction<dim>::value(const Point<dim> &p) const
    {
      Tensor<2, dim> result;
      for (int i = 0; i < dim; ++i)
        for (int j = 0; j < dim; ++j)
          result[i][j] = checked(components[i * dim + j].value(&p[0]),
                                 components[i * dim + j],
                                 p);
      return result;
    }

    template <int dim>
    void
    ExpressionTensorFunction<dim>::value_list(
      const std::vector<Point<dim>> &points,
      std::vector<Tensor<2, dim>>   &values) const
    {
      AssertDimension(points.size(), values.size());
      double v[batch_size];
      for_batches<dim>(
        points,
        [&](const std::size_t    begin,
            const unsigned int   n,
            const double *const *x) {
          for (int i = 0; i < dim; ++i)
            for (int j = 0; j < dim; ++j)
              {
                if (j < i && same_as_transposed[i * dim + j])
                  continue;
                const Expression &expression = components[i * dim + j];
                expression.values(n, x, v);
                check_batch(v, n, expression, points.data() + begin);
                for (unsigned int q = 0; q < n; ++q)
                  values[begin + q][i][j] = v[q];
                if (j > i && same_as_transposed[j * dim + i])
                  for (unsigned int q = 0; q < n; ++q)
                    values[begin + q][j][i] = v[q];
              }
        });
    }

    template <int dim>
    std::string
    ExpressionFunction<dim>::device_code(const unsigned int component) const
    {
      AssertIndexRange(component, components.size());
      return "return " +
             components[component].device_code(coordinate_names(dim)) + ";";
    }

    template <int dim>
    std::string
    ExpressionFunction<dim>::origin(const unsigned int component) const
    {
      return "the expression '" + components[component].text() + "' of " +
             components[component].name();
    }

    template <int dim>
    void
    ExpressionFunction<dim>::throw_not_finite(const unsigned int component,
                                              const double       value,
                                              const double      *x) const
    {
      Point<dim> p;
      for (int d = 0; d < dim; ++d)
        p[d] = x[d];
      checked(value, components[component], p);
      std::abort(); // not reached
    }

    template <int dim>
    std::string
    ExpressionTensorFunction<dim>::device_code(
      const unsigned int component) const
    {
      AssertIndexRange(component, components.size());
      return "return " +
             components[component].device_code(coordinate_names(dim)) + ";";
    }

    template <int dim>
    std::string
    ExpressionTensorFunction<dim>::origin(const unsigned int component) const
    {
      return "the expression '" + components[component].text() + "' of " +
             components[component].name();
    }

    template <int dim>
    void
    ExpressionTensorFunction<dim>::throw_not_finite(
      const unsigned int component, const double value, const double *x) const
    {
      Point<dim> p;
      for (int d = 0; d < dim; ++d)
        p[d] = x[d];
      checked(value, components[component], p);
      std::abort(); // not reached
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
    template class ExpressionFunction<2>;
    template class ExpressionFunction<3>;
    template class ExpressionFunction<4>;
    template class ExpressionTensorFunction<2>;
    template class ExpressionTensorFunction<3>;
  } // namespace Application
} // namespace Tessella

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "expression.h"

#include <deal.II/base/numbers.h>

#include <deal.II/lac/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
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
        op_first_function // index into functions follows
      };

      // f, f' and f'' of a function of one variable
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

      // Recursive descent; writes postfix instructions.
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

        // n_arguments entries are taken from the stack, one is put on it
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

        // -x^2 is -(x^2), 2^-1 is allowed
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
              // hexadecimal numbers and the like are not wanted here
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

          // functions
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

      // Values of a batch of points
      constexpr unsigned int batch_size = 64;

      // Value, gradient and Hessian at one point. Products with a zero
      // derivative are skipped, so that an infinite derivative in a direction
      // in which nothing varies does no harm.
      double
      times(const double factor, const double derivative)
      {
        return derivative == 0. ? 0. : factor * derivative;
      }

      template <int dim, int order>
      struct Jet
      {
        double                                                  value = 0.;
        std::array<double, dim>                                 gradient{};
        std::array<double, order == 2 ? dim *(dim + 1) / 2 : 0> hessian{};

        Jet() = default;
        Jet(const double v)
          : value(v)
        {}
      };

      template <int dim, int order>
      Jet<dim, order>
      chain(const Jet<dim, order> &x, const double (&f)[3])
      {
        Jet<dim, order> result(f[0]);
        for (int i = 0; i < dim; ++i)
          result.gradient[i] = times(f[1], x.gradient[i]);
        if (order == 2)
          for (int i = 0, k = 0; i < dim; ++i)
            for (int j = 0; j <= i; ++j, ++k)
              result.hessian[k] = times(f[1], x.hessian[k]) +
                                  times(f[2], x.gradient[i] * x.gradient[j]);
        return result;
      }

      // f(x,y); derivatives f_x, f_y, f_xx, f_xy, f_yy
      template <int dim, int order>
      Jet<dim, order>
      chain(const Jet<dim, order> &x,
            const Jet<dim, order> &y,
            const double           f,
            const double (&d)[5])
      {
        Jet<dim, order> result(f);
        for (int i = 0; i < dim; ++i)
          result.gradient[i] =
            times(d[0], x.gradient[i]) + times(d[1], y.gradient[i]);
        if (order == 2)
          for (int i = 0, k = 0; i < dim; ++i)
            for (int j = 0; j <= i; ++j, ++k)
              result.hessian[k] = times(d[0], x.hessian[k]) +
                                  times(d[1], y.hessian[k]) +
                                  times(d[2], x.gradient[i] * x.gradient[j]) +
                                  times(d[3],
                                        x.gradient[i] * y.gradient[j] +
                                          x.gradient[j] * y.gradient[i]) +
                                  times(d[4], y.gradient[i] * y.gradient[j]);
        return result;
      }

      template <int dim, int order>
      bool
      varies(const Jet<dim, order> &x)
      {
        for (const double g : x.gradient)
          if (g != 0.)
            return true;
        for (const double h : x.hessian)
          if (h != 0.)
            return true;
        return false;
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

      template <int dim, int order>
      Jet<dim, order>
      binary(const unsigned int     operation,
             const Jet<dim, order> &x,
             const Jet<dim, order> &y)
      {
        const double a = x.value, b = y.value;
        switch (operation)
          {
            case op_add:
              return chain(x, y, a + b, {1., 1., 0., 0., 0.});
            case op_subtract:
              return chain(x, y, a - b, {1., -1., 0., 0., 0.});
            case op_multiply:
              return chain(x, y, a * b, {b, a, 0., 1., 0.});
            case op_divide:
              return chain(x,
                           y,
                           a / b,
                           {1. / b,
                            -a / (b * b),
                            0.,
                            -1. / (b * b),
                            2. * a / (b * b * b)});
              case op_power: {
                const double v    = std::pow(a, b);
                double       d[5] = {b == 0. ? 0. : b * std::pow(a, b - 1.),
                               0.,
                               (b == 0. || b == 1.)
                                 ? 0.
                                 : b * (b - 1.) * std::pow(a, b - 2.),
                               0.,
                               0.};
                if (varies(y))
                  {
                    const double l = std::log(a);
                    d[1]           = v * l;
                    d[3]           = std::pow(a, b - 1.) * (1. + b * l);
                    d[4]           = v * l * l;
                  }
                return chain(x, y, v, d);
              }
              case op_atan2: {
                // of (y, x) = (a, b)
                const double r2 = a * a + b * b, r4 = r2 * r2;
                return chain(x,
                             y,
                             std::atan2(a, b),
                             {b / r2,
                              -a / r2,
                              -2. * a * b / r4,
                              (a * a - b * b) / r4,
                              2. * a * b / r4});
              }
            case op_min:
              return a <= b ? x : y;
            case op_max:
              return a >= b ? x : y;
            case op_mod:
              return chain(x,
                           y,
                           std::fmod(a, b),
                           {1., -std::trunc(a / b), 0., 0., 0.});
            default:
              return Jet<dim, order>(compare(operation, a, b));
          }
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
          double            *top = stack; // one behind the last entry
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

    template <typename JetType>
    void
    Expression::evaluate(const JetType *variables, JetType &result) const
    {
      std::array<JetType, 12>    small;
      std::unique_ptr<JetType[]> large;
      JetType                   *top = small.data(); // one behind the last
      if (stack_size > small.size())
        {
          large.reset(new JetType[stack_size]);
          top = large.get();
        }
      for (const Instruction &instruction : program)
        {
          const unsigned int operation = instruction.operation;
          if (operation == op_number)
            *top++ = JetType(instruction.number);
          else if (operation == op_variable)
            *top++ = variables[instruction.variable];
          else if (operation == op_if)
            {
              top -= 2;
              top[-1] = top[-1].value != 0. ? top[0] : top[1];
            }
          else if (operation == op_negate)
            top[-1] = chain(top[-1], {-top[-1].value, -1., 0.});
          else if (operation == op_not)
            top[-1] = JetType(top[-1].value == 0.);
          else if (operation >= op_first_function)
            {
              double f[3];
              functions[operation - op_first_function].derivatives(
                top[-1].value, f);
              top[-1] = chain(top[-1], f);
            }
          else
            {
              --top;
              top[-1] = binary(operation, top[-1], top[0]);
            }
        }
      result = top[-1];
    }

    template <int dim>
    void
    Expression::derivatives(const Point<dim>        &x,
                            double                  &value,
                            Tensor<1, dim>          &gradient,
                            SymmetricTensor<2, dim> &hessian) const
    {
      std::array<Jet<dim, 2>, dim> variables;
      for (int d = 0; d < dim; ++d)
        {
          variables[d].value       = x[d];
          variables[d].gradient[d] = 1.;
        }
      Jet<dim, 2> result;
      evaluate(variables.data(), result);
      value = result.value;
      for (int i = 0, k = 0; i < dim; ++i)
        {
          gradient[i] = result.gradient[i];
          for (int j = 0; j <= i; ++j, ++k)
            hessian[i][j] = result.hessian[k];
        }
    }

    template <int dim>
    void
    Expression::derivatives(const Point<dim> &x,
                            double           &value,
                            Tensor<1, dim>   &gradient) const
    {
      std::array<Jet<dim, 1>, dim> variables;
      for (int d = 0; d < dim; ++d)
        {
          variables[d].value       = x[d];
          variables[d].gradient[d] = 1.;
        }
      Jet<dim, 1> result;
      evaluate(variables.data(), result);
      value = result.value;
      for (int i = 0; i < dim; ++i)
        gradient[i] = result.gradient[i];
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
      const std::vector<std::string> names = {"x", "y", "z"};
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

      // calls function(begin, n, coordinates) for batches of points
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
                         for (unsigned int q = 0; q < n; ++q)
                           checked(values[begin + q],
                                   expression,
                                   points[begin + q]);
                       });
    }

    template <int dim>
    Tensor<1, dim>
    ExpressionFunction<dim>::gradient(const Point<dim>  &p,
                                      const unsigned int component) const
    {
      double         value;
      Tensor<1, dim> result;
      components[component].derivatives(p, value, result);
      return result;
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
      double                  value;
      Tensor<1, dim>          gradient;
      SymmetricTensor<2, dim> result;
      components[component].derivatives(p, value, gradient, result);
      return result;
    }

    template <int dim>
    ExpressionTensorFunction<dim>::ExpressionTensorFunction(
      const std::vector<Expression> &components)
      : components(components)
    {
      AssertDimension(components.size(), dim * dim);
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
      for_batches<dim>(points,
                       [&](const std::size_t    begin,
                           const unsigned int   n,
                           const double *const *x) {
                         for (int i = 0; i < dim; ++i)
                           for (int j = 0; j < dim; ++j)
                             {
                               const Expression &expression =
                                 components[i * dim + j];
                               expression.values(n, x, v);
                               for (unsigned int q = 0; q < n; ++q)
                                 values[begin + q][i][j] =
                                   checked(v[q], expression, points[begin + q]);
                             }
                       });
    }

    template void
    Expression::derivatives(const Point<2> &,
                            double &,
                            Tensor<1, 2> &,
                            SymmetricTensor<2, 2> &) const;
    template void
    Expression::derivatives(const Point<3> &,
                            double &,
                            Tensor<1, 3> &,
                            SymmetricTensor<2, 3> &) const;
    template void
    Expression::derivatives(const Point<2> &, double &, Tensor<1, 2> &) const;
    template void
    Expression::derivatives(const Point<3> &, double &, Tensor<1, 3> &) const;
    template class ExpressionFunction<2>;
    template class ExpressionFunction<3>;
    template class ExpressionTensorFunction<2>;
    template class ExpressionTensorFunction<3>;
  } // namespace Application
} // namespace Tessella

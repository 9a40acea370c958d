// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>

#include <cmath>
#include <locale>
#include <map>
#include <sstream>

#include "expression_program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      using namespace ExpressionProgram;

      std::string
      number_text(const double number)
      {
        std::ostringstream text;
        text.imbue(std::locale::classic());
        text << std::hexfloat << '(' << number << ')';
        return text.str();
      }

      // Text of a function of one variable at @p argument.
      std::string
      function_text(const std::string &name, const std::string &argument)
      {
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
        return "(" + (it == other.end() ? name : it->second) + "(" + argument +
               "))";
      }

      // Text of a power. Small integer powers become products. @p exponent is
      // null if the exponent @p b is no number.
      std::string
      power_text(const std::string &a,
                 const std::string &b,
                 const double      *exponent)
      {
        if (exponent != nullptr && *exponent == 0.5)
          return "sqrt(" + a + ")";
        if (exponent == nullptr || *exponent != std::floor(*exponent) ||
            *exponent < 1. || *exponent > 8.)
          return "pow(" + a + ", " + b + ")";
        std::string product = "v";
        for (int i = 1; i < *exponent; ++i)
          product += " * v";
        return "([](const auto v) { return " + product + "; }(" + a + "))";
      }

      // Text of a binary operation other than a power. Each operand must occur
      // only once in a text, or the texts would grow exponentially. Lambdas
      // give an operand a name.
      std::string
      binary_text(const unsigned int operation,
                  const std::string &a,
                  const std::string &b)
      {
        struct Parts
        {
          std::string before, between, after;
        };
        const auto lambda = [](const std::string &result) {
          return Parts{"([](const auto v, const auto w) { return " + result +
                         "; }(",
                       ", ",
                       "))"};
        };
        const auto test = [](const std::string &symbol) {
          return Parts{"((", " " + symbol + " ", ") ? 1. : 0.)"};
        };
        const auto both = [](const std::string &symbol) {
          return Parts{"(", " != 0. " + symbol + " ", " != 0. ? 1. : 0.)"};
        };
        static const std::map<unsigned int, Parts> texts = {
          {op_add, {"(", " + ", ")"}},
          {op_subtract, {"(", " - ", ")"}},
          {op_multiply, {"(", " * ", ")"}},
          {op_divide, {"(", " / ", ")"}},
          {op_atan2, {"atan2(", ", ", ")"}},
          {op_mod, {"fmod(", ", ", ")"}},
          {op_min, lambda("v <= w ? v : w")},
          {op_max, lambda("v >= w ? v : w")},
          {op_less, test("<")},
          {op_less_equal, test("<=")},
          {op_greater, test(">")},
          {op_greater_equal, test(">=")},
          {op_equal, test("==")},
          {op_not_equal, test("!=")},
          {op_and, both("&&")},
          {op_or, both("||")}};
        const Parts &parts = texts.at(operation);
        return parts.before + a + parts.between + b + parts.after;
      }
    } // namespace

    std::string
    Expression::device_code(const std::vector<std::string> &variables) const
    {
      std::vector<std::string> stack; // texts of its entries
      const auto               pop = [&stack]() {
        const std::string text = stack.back();
        stack.pop_back();
        return text;
      };
      const double *last_number = nullptr; // the entry on top, if it is one
      for (const Instruction &instruction : program)
        {
          const unsigned int  operation = instruction.operation;
          const double *const exponent  = last_number;
          last_number = operation == op_number ? &instruction.number : nullptr;
          if (operation == op_number)
            {
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
            stack.push_back(
              function_text(functions[operation - op_first_function].name, b));
          else if (operation == op_if)
            {
              const std::string a = pop(), test = pop();
              stack.push_back("(" + test + " != 0. ? " + a + " : " + b + ")");
            }
          else
            {
              const std::string a = pop();
              stack.push_back(operation == op_power
                                ? power_text(a, b, exponent)
                                : binary_text(operation, a, b));
            }
        }
      return stack.back();
    }
  } // namespace Application
} // namespace Tessella

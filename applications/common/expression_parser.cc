// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>
#include <deal.II/base/numbers.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <locale>
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

      // Recursive descent parser that writes postfix instructions.
      class Parser
      {
      public:
        Parser(const std::string                   &name,
               const std::string                   &text,
               const std::vector<std::string>      &variables,
               const std::map<std::string, double> &constants)
          : name(name)
          , text(text)
          , variables(variables)
          , constants(constants)
        {
          skip();
          if (at_end())
            fail("it is empty");
          condition();
          if (!at_end())
            fail(std::string("unexpected '") + text[position] + "'");
        }

        std::vector<Expression::Instruction> instructions;
        /// Largest number of entries on the stack.
        unsigned int stack_size    = 0;
        bool         uses_variable = false;

      private:
        const std::string                   &name;
        const std::string                   &text;
        const std::vector<std::string>      &variables;
        const std::map<std::string, double> &constants;
        std::size_t                          position = 0;
        unsigned int                         depth = 0, nesting = 0;

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
          instructions.push_back({static_cast<unsigned short>(operation),
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

        struct BinaryOperator
        {
          const char  *token;
          unsigned int operation;
        };

        // Parses operands that are joined, from left to right, by operators of
        // one precedence. Of these, the first one in the list that fits is
        // taken.
        void
        chain(void (Parser::*const operand)(),
              const std::vector<BinaryOperator> &operators)
        {
          (this->*operand)();
          for (;;)
            {
              const auto found =
                std::find_if(operators.begin(),
                             operators.end(),
                             [this](const BinaryOperator &candidate) {
                               return accept(candidate.token);
                             });
              if (found == operators.end())
                return;
              (this->*operand)();
              emit(found->operation, 2);
            }
        }

        void
        disjunction()
        {
          chain(&Parser::conjunction, {{"||", op_or}});
        }

        void
        conjunction()
        {
          chain(&Parser::comparison, {{"&&", op_and}});
        }

        void
        comparison()
        {
          chain(&Parser::sum,
                {{"<=", op_less_equal},
                 {">=", op_greater_equal},
                 {"==", op_equal},
                 {"!=", op_not_equal},
                 {"<", op_less},
                 {">", op_greater}});
        }

        void
        sum()
        {
          chain(&Parser::product, {{"+", op_add}, {"-", op_subtract}});
        }

        // A factor takes the ** behind it.
        void
        product()
        {
          chain(&Parser::sign, {{"*", op_multiply}, {"/", op_divide}});
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
            number();
          else if (std::isalpha(static_cast<unsigned char>(c)) || c == '_')
            word();
          else
            fail(std::string("unexpected '") + c + "'");
        }

        void
        number()
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
              if (end < text.size() && (text[end] == '+' || text[end] == '-'))
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
        }

        // A variable, a constant, or the call of a function.
        void
        word()
        {
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
          const Function function = find_function(word, start);
          if (!accept("("))
            {
              position = end;
              fail("the function " + word + " needs '('");
            }
          arguments(word, function);
        }

        struct Function
        {
          unsigned int operation;
          int          n_arguments; // -1: any number
        };

        Function
        find_function(const std::string &word, const std::size_t start)
        {
          static const std::map<std::string, Function> others = {
            {"pow", {op_power, 2}},
            {"atan2", {op_atan2, 2}},
            {"mod", {op_mod, 2}},
            {"min", {op_min, -1}},
            {"max", {op_max, -1}},
            {"if", {op_if, 3}}};
          for (unsigned int i = 0; i < n_functions; ++i)
            if (word == functions[i].name)
              return {op_first_function + i, 1};
          const auto other = others.find(word);
          if (other != others.end())
            return other->second;
          position = start;
          std::string known;
          for (const std::string &v : variables)
            known += (known.empty() ? "" : ", ") + v;
          fail("'" + word +
               "' is no function, constant or variable (variables: " + known +
               ")");
        }

        // Arguments behind the opening parenthesis, and the operation.
        void
        arguments(const std::string &word, const Function &function)
        {
          const int n_wanted    = function.n_arguments;
          int       n_arguments = 0;
          do
            {
              condition();
              ++n_arguments;
              if (n_wanted == -1 && n_arguments > 1)
                emit(function.operation, 2);
          } while (accept(","));
          expect(")");
          if (n_wanted == -1)
            return;
          if (n_arguments != n_wanted)
            fail("the function " + word + " has " + std::to_string(n_wanted) +
                 " argument" + (n_wanted > 1 ? "s" : ""));
          emit(function.operation, n_wanted);
        }
      };
    } // namespace

    Expression::Expression(const std::string                   &name,
                           const std::string                   &text,
                           const std::vector<std::string>      &variables,
                           const std::map<std::string, double> &constants)
      : present_name(name)
      , present_text(text)
    {
      const Parser parser(name, text, variables, constants);
      program    = parser.instructions;
      stack_size = parser.stack_size;
      constant   = !parser.uses_variable;
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

  } // namespace Application
} // namespace Tessella

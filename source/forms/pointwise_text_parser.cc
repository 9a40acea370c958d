// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "pointwise_text_parser.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/numbers.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <locale>
#include <sstream>
#include <utility>

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    namespace
    {
      // Recursive descent parser that carries out loops and adds operations to
      // a program.
      class StatementParser
      {
      public:
        using Operation = PointwiseProgram::Operation;
        using Input     = PointwiseProgram::Input;

        StatementParser(const std::string        &text,
                        const PointwiseTextScope &scope,
                        PointwiseProgram         &program)
          : text(text)
          , scope(scope)
          , program(program)
        {
          skip();
          while (!at_end())
            statement();
        }

        std::map<unsigned int, unsigned int>
        results() const
        {
          std::map<unsigned int, unsigned int> result;
          for (const auto &entry : present_results)
            if (entry.second != PointwiseProgram::zero)
              result.insert(entry);
          return result;
        }

      private:
        const std::string                   &text;
        const PointwiseTextScope            &scope;
        PointwiseProgram                    &program;
        std::size_t                          position = 0;
        unsigned int                         nesting = 0, n_statements = 0;
        std::map<std::string, unsigned int>  variables;
        std::map<unsigned int, unsigned int> present_results;
        static constexpr unsigned int nothing = static_cast<unsigned int>(-1);

        // A name with its members and indices: u[0].value[2].
        struct Path
        {
          std::size_t position = 0;
          /// Words and numbers; a number is the index of what precedes it.
          std::vector<std::string> parts;
          std::vector<bool>        is_index;

          bool
          is(const std::size_t i, const char *word) const
          {
            return i < parts.size() && !is_index[i] && parts[i] == word;
          }
          std::string
          written() const
          {
            std::string result;
            for (std::size_t i = 0; i < parts.size(); ++i)
              result += is_index[i] ? "[" + parts[i] + "]"
                                    : (i > 0 ? "." : "") + parts[i];
            return result;
          }
        };

        // ---- text

        [[noreturn]] void
        fail(const std::string &reason)
        {
          fail(reason, position);
        }

        [[noreturn]] void
        fail(const std::string &reason, const std::size_t where) const
        {
          std::size_t  begin = 0;
          unsigned int line  = 1;
          for (std::size_t i = 0; i < where && i < text.size(); ++i)
            if (text[i] == '\n')
              {
                ++line;
                begin = i + 1;
              }
          // The rest of the line helps to find the place.
          const std::size_t end =
            std::min({text.find('\n', where), text.size(), where + 20});
          AssertThrow(false,
                      ExcMessage(
                        "The text for the " + scope.name + " is not correct: " +
                        reason + ", in line " + std::to_string(line) +
                        " at character " + std::to_string(where - begin + 1) +
                        (where < end
                           ? ", '" + text.substr(where, end - where) + "'."
                           : std::string("."))));
          std::abort(); // not reached
        }

        bool
        at_end() const
        {
          return position >= text.size();
        }

        bool
        begins(const char *token) const
        {
          return text.compare(position, std::strlen(token), token) == 0;
        }

        // Blanks and comments.
        void
        skip()
        {
          for (;;)
            if (!at_end() &&
                std::isspace(static_cast<unsigned char>(text[position])))
              ++position;
            else if (begins("//"))
              position = std::min(text.find('\n', position), text.size());
            else if (begins("/*"))
              {
                const std::size_t end = text.find("*/", position + 2);
                if (end == std::string::npos)
                  fail("a comment does not end");
                position = end + 2;
              }
            else
              return;
        }

        bool
        accept(const char *token)
        {
          if (!begins(token))
            return false;
          position += std::strlen(token);
          skip();
          return true;
        }

        void
        expect(const char *token)
        {
          if (!accept(token))
            fail(std::string("'") + token + "' is expected " +
                 (at_end() ? std::string("where the text ends")
                           : std::string("before '") + text[position] + "'"));
        }

        static bool
        is_letter(const char c)
        {
          return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
        }

        // The word that begins here; empty if none does.
        std::string
        word() const
        {
          std::size_t end = position;
          while (end < text.size() &&
                 (is_letter(text[end]) ||
                  (end > position &&
                   std::isdigit(static_cast<unsigned char>(text[end])))))
            ++end;
          return text.substr(position, end - position);
        }

        bool
        accept_word(const char *wanted)
        {
          if (word() != wanted)
            return false;
          position += std::strlen(wanted);
          skip();
          return true;
        }

        // Guards against recursion that exceeds the stack.
        struct Level
        {
          explicit Level(StatementParser &parser)
            : parser(parser)
          {
            if (++parser.nesting > 200)
              parser.fail("the text is nested too deeply");
          }
          ~Level()
          {
            --parser.nesting;
          }
          StatementParser &parser;
        };

        // ---- statements

        void
        statement()
        {
          const Level level(*this);
          if (++n_statements > 100000)
            fail("loops carry out more than 100000 statements");
          if (accept(";"))
            return;
          if (accept("{"))
            {
              while (!accept("}"))
                {
                  if (at_end())
                    fail("'}' is expected where the text ends");
                  statement();
                }
              return;
            }
          if (accept_word("for"))
            return loop();
          if (accept_word("if"))
            return branch();
          bool declaration = false;
          while (accept_word("const") || accept_word("double") ||
                 accept_word("auto") || accept_word("int"))
            declaration = true;
          do
            assignment(declaration);
          while (declaration && accept(","));
          expect(";");
        }

        void
        assignment(const bool declaration)
        {
          const Path  to           = path();
          const char *tokens[]     = {"+=", "-=", "*=", "/="};
          Operation   operations[] = {Operation::add,
                                      Operation::subtract,
                                      Operation::multiply,
                                      Operation::divide};
          for (unsigned int i = 0; i < 4; ++i)
            if (accept(tokens[i]))
              {
                const unsigned int before = read(to);
                return assign(
                  to, program.apply(operations[i], before, condition()));
              }
          if (declaration && (begins(";") || begins(",")))
            return;
          if (begins("==") || !begins("="))
            fail("'=' is expected behind '" + to.written() + "'");
          accept("=");
          assign(to, condition());
        }

        // for (int i = begin; i < end; ++i) statement
        void
        loop()
        {
          expect("(");
          accept_word("const");
          if (!accept_word("int") && !accept_word("unsigned"))
            fail("a loop begins with 'for (int'");
          accept_word("int");
          const Path variable = path();
          if (variable.parts.size() != 1 || is_reserved(variable.parts[0]))
            fail("'" + variable.written() +
                   "' cannot be the variable of a loop",
                 variable.position);
          const std::string name = variable.parts[0];
          if (variables.count(name) != 0)
            fail("'" + name + "' is already a variable", variable.position);
          expect("=");
          int i = integer();
          expect(";");
          if (!accept_word(name.c_str()))
            fail("the condition of the loop must be '" + name + " < end'");
          const bool equal = accept("<=");
          if (!equal)
            expect("<");
          const int end = integer() + (equal ? 1 : 0);
          expect(";");
          const bool before = accept("++");
          if (!accept_word(name.c_str()) || (!before && !accept("++")))
            fail("the step of the loop must be '++" + name + "'");
          expect(")");
          const std::size_t body = position;
          if (i >= end)
            skip_statement();
          for (; i < end; ++i)
            {
              position        = body;
              variables[name] = program.number(i);
              statement();
            }
          variables.erase(name);
        }

        // if (condition) statement else statement
        void
        branch()
        {
          expect("(");
          const unsigned int a = condition();
          expect(")");
          if (program.is_number(a))
            {
              const bool yes = a != PointwiseProgram::zero;
              if (yes)
                statement();
              else
                skip_statement();
              if (accept_word("else"))
                {
                  if (yes)
                    skip_statement();
                  else
                    statement();
                }
              return;
            }
          const auto variables_before = variables;
          const auto results_before   = present_results;
          statement();
          auto variables_if = variables;
          auto results_if   = present_results;
          variables         = variables_before;
          present_results   = results_before;
          if (accept_word("else"))
            statement();
          // A variable that one of the branches does not set has no value
          // behind them.
          for (auto it = variables.begin(); it != variables.end();)
            {
              const auto other = variables_if.find(it->first);
              if (other == variables_if.end())
                it = variables.erase(it);
              else
                {
                  it->second = program.apply(Operation::select,
                                             a,
                                             other->second,
                                             it->second);
                  ++it;
                }
            }
          for (const auto &entry : results_if)
            present_results.insert({entry.first, PointwiseProgram::zero});
          for (auto &entry : present_results)
            {
              const auto other = results_if.find(entry.first);
              entry.second =
                program.apply(Operation::select,
                              a,
                              other == results_if.end() ? PointwiseProgram::zero
                                                        : other->second,
                              entry.second);
            }
        }

        // Skips a statement that is not carried out.
        void
        skip_statement()
        {
          const Level level(*this);
          const auto  skip_to_end = [&](const char open, const char close) {
            unsigned int depth = 0;
            do
              {
                if (at_end())
                  fail(std::string("'") + close +
                       "' is expected where the text ends");
                depth += text[position] == open ? 1 : 0;
                depth -= text[position] == close ? 1 : 0;
                ++position;
                skip();
            } while (depth > 0);
          };
          if (accept_word("for"))
            {
              skip_to_end('(', ')');
              skip_statement();
            }
          else if (accept_word("if"))
            {
              skip_to_end('(', ')');
              skip_statement();
              if (accept_word("else"))
                skip_statement();
            }
          else if (begins("{"))
            skip_to_end('{', '}');
          else
            {
              while (!at_end() && text[position] != ';')
                {
                  ++position;
                  skip();
                }
              expect(";");
            }
        }

        // ---- names

        Path
        path()
        {
          Path result;
          result.position  = position;
          std::string name = word();
          if (name.empty())
            fail(at_end()
                   ? std::string("a name is expected where the text ends")
                   : std::string("a name is expected before '") +
                       text[position] + "'");
          const auto add = [&](const std::string &part, const bool is_index) {
            result.parts.push_back(part);
            result.is_index.push_back(is_index);
          };
          add(name, false);
          position += name.size();
          skip();
          for (;;)
            if (accept("["))
              {
                add(std::to_string(integer()), true);
                expect("]");
              }
            else if (begins(".") && is_letter(text[position + 1]))
              {
                accept(".");
                name = word();
                // Members of the point p can be written without it.
                if (result.parts.size() == 1 && result.is(0, "p"))
                  {
                    result.parts.clear();
                    result.is_index.clear();
                    name = name == "normal" ? "n" : name;
                    name = name == "x" || name == "n" || name == "t"
                             ? name
                             : "p." + name;
                  }
                add(name, false);
                position += word().size();
                skip();
              }
            else
              break;
          // u0 and r0 are u[0] and r[0].
          if (result.parts.size() > 1)
            for (const std::string field : {"u", "r"})
              for (const std::string side : {"0", "1"})
                if (result.is(0, (field + side).c_str()))
                  {
                    result.parts[0] = field;
                    result.parts.insert(result.parts.begin() + 1, side);
                    result.is_index.insert(result.is_index.begin() + 1, true);
                  }
          return result;
        }

        static bool
        is_reserved(const std::string &name)
        {
          for (const char *other :
               {"x", "y", "z", "t", "dim", "pi", "for", "if", "else"})
            if (name == other)
              return true;
          return false;
        }

        // Whether a path is that of a field or of a result.
        static bool
        is_terms(const Path &name)
        {
          return name.parts.size() > 2 &&
                 (name.is(0, "u") || name.is(0, "r")) &&
                 (!name.is_index[1] || !name.is_index[2]);
        }

        // Index i of a path, which must be below n.
        unsigned int
        index(const Path        &name,
              const std::size_t  i,
              const unsigned int n,
              const std::string &of) const
        {
          if (i >= name.parts.size() || !name.is_index[i])
            fail("'" + name.written() + "' needs an index of " + of,
                 name.position);
          const int result = std::stoi(name.parts[i]);
          if (result < 0 || result >= static_cast<int>(n))
            fail("the index " + name.parts[i] + " of " + of + " in '" +
                   name.written() + "' must be at least 0 and below " +
                   std::to_string(n),
                 name.position);
          return result;
        }

        // Side and row of a field or a result.
        std::pair<unsigned int, unsigned int>
        row(const Path &name) const
        {
          const unsigned int dim  = scope.dim;
          const bool         read = name.is(0, "u");
          std::size_t        i    = 1;
          unsigned int       side = 0;
          if (name.is_index[1])
            side = index(name, i++, scope.n_sides, "the sides");
          else if (scope.n_sides == 2)
            fail("'" + name.written() + "' needs a side: " + name.parts[0] +
                   "0 or " + name.parts[0] + "1",
                 name.position);
          const bool gradient = name.is(i, "gradient");
          if (!gradient && !name.is(i, "value"))
            fail("the members of '" + name.parts[0] +
                   "' are value[c] and gradient[c][d]",
                 name.position);
          const unsigned int c =
            index(name,
                  ++i,
                  read ? scope.n_inputs : scope.n_outputs,
                  read ? "the components of the fields"
                       : "the components of the test functions");
          unsigned int result = c * (dim + 1);
          if (gradient)
            result += 1 + index(name, ++i, dim, "the derivatives");
          if (i + 1 != name.parts.size())
            fail("'" + name.written() + "' has too many indices or members",
                 name.position);
          return {side, result};
        }

        unsigned int
        result_index(const Path &name) const
        {
          const auto r = row(name);
          return r.first * scope.n_outputs * (scope.dim + 1) + r.second;
        }

        // Value of a name, or nothing if it is no datum of a point.
        unsigned int
        datum(const Path &name)
        {
          const auto input = [&](const Input::Kind  kind,
                                 const unsigned int side,
                                 const unsigned int i) {
            Input result;
            result.kind  = kind;
            result.side  = side;
            result.index = i;
            return program.input(result);
          };
          const std::size_t n     = name.parts.size();
          const char       *xyz[] = {"x", "y", "z"};
          if (n == 1)
            {
              for (unsigned int d = 0; d < scope.dim; ++d)
                if (name.is(0, xyz[d]))
                  return input(Input::position, 0, d);
              if (name.is(0, "t"))
                return input(Input::time, 0, 0);
              if (name.is(0, "dim"))
                return program.number(scope.dim);
              if (name.is(0, "pi"))
                return program.number(numbers::PI);
            }
          if (n == 2 && name.is_index[1] && name.is(0, "x"))
            return input(Input::position,
                         0,
                         index(name, 1, scope.dim, "the coordinates"));
          if (n == 2 && name.is_index[1] && name.is(0, "n"))
            {
              if (!scope.on_facet)
                fail("there is no normal inside polytopes", name.position);
              return input(Input::normal,
                           0,
                           index(name, 1, scope.dim, "the coordinates"));
            }
          if (name.is(0, "p.penalty") && n == 1)
            {
              if (!scope.on_facet)
                fail("there is no penalty inside polytopes", name.position);
              return input(Input::penalty, 0, 0);
            }
          if (name.is(0, "p.h") && n == 2)
            return input(Input::length,
                         index(name, 1, scope.n_sides, "the sides"),
                         0);
          if (name.is(0, "p.material") && n == 2)
            return input(Input::material,
                         index(name, 1, scope.n_sides, "the sides"),
                         0);
          if (name.is(0, "p.boundary_id") && n == 1)
            {
              if (!scope.on_boundary)
                fail("there is a boundary id on the boundary only",
                     name.position);
              return input(Input::boundary_id, 0, 0);
            }
          if (name.parts[0].compare(0, 2, "p.") == 0)
            fail(
              "the members of p are x[d], t, normal[d], penalty, h[s], "
              "material[s] and boundary_id",
              name.position);
          for (unsigned int i = 0; n == 1 && i < scope.parameters.size(); ++i)
            if (name.parts[0] == scope.parameters[i])
              return input(Input::parameter, 0, i);
          return nothing;
        }

        unsigned int
        read(const Path &name)
        {
          if (is_terms(name))
            {
              if (name.is(0, "r"))
                {
                  const auto found = present_results.find(result_index(name));
                  return found == present_results.end() ? PointwiseProgram::zero
                                                        : found->second;
                }
              Input input;
              input.kind                        = Input::field;
              std::tie(input.side, input.index) = row(name);
              return program.input(input);
            }
          const unsigned int value = datum(name);
          if (value != nothing)
            return value;
          const auto found = variables.find(name.written());
          if (found != variables.end())
            return found->second;
          fail("'" + name.written() + "' has no value", name.position);
        }

        void
        assign(const Path &name, const unsigned int value)
        {
          if (is_terms(name))
            {
              if (name.is(0, "u"))
                fail("the field '" + name.written() + "' cannot be changed",
                     name.position);
              present_results[result_index(name)] = value;
              return;
            }
          for (std::size_t i = 1; i < name.parts.size(); ++i)
            if (!name.is_index[i])
              fail("'" + name.written() + "' cannot be set", name.position);
          if (is_reserved(name.parts[0]) || datum(name) != nothing)
            fail("'" + name.written() + "' is given and cannot be set",
                 name.position);
          variables[name.written()] = value;
        }

        // ---- expressions

        int
        integer()
        {
          const std::size_t  where = position;
          const unsigned int value = condition();
          const double       x     = program.values()[value].number;
          if (!program.is_number(value) || x != std::floor(x) ||
              std::fabs(x) > 10000.)
            fail(
              "an index or a limit of a loop must be an integer that is "
              "known when the text is read",
              where);
          return static_cast<int>(x);
        }

        unsigned int
        condition()
        {
          const Level        level(*this);
          const unsigned int a = disjunction();
          if (!accept("?"))
            return a;
          const unsigned int b = condition();
          expect(":");
          const unsigned int c = condition();
          return program.apply(Operation::select, a, b, c);
        }

        unsigned int
        disjunction()
        {
          unsigned int a = conjunction();
          while (accept("||"))
            {
              const unsigned int b = conjunction();
              a                    = program.apply(Operation::logical_or, a, b);
            }
          return a;
        }

        unsigned int
        conjunction()
        {
          unsigned int a = comparison();
          while (accept("&&"))
            {
              const unsigned int b = comparison();
              a = program.apply(Operation::logical_and, a, b);
            }
          return a;
        }

        unsigned int
        comparison()
        {
          unsigned int a = sum();
          for (;;)
            if (accept("<="))
              a = program.apply(Operation::less_equal, a, sum());
            else if (accept(">="))
              a = program.apply(Operation::less_equal, sum(), a);
            else if (accept("=="))
              a = program.apply(Operation::equal, a, sum());
            else if (accept("!="))
              a = program.apply(Operation::not_equal, a, sum());
            else if (accept("<"))
              a = program.apply(Operation::less, a, sum());
            else if (accept(">"))
              a = program.apply(Operation::less, sum(), a);
            else
              return a;
        }

        unsigned int
        sum()
        {
          unsigned int a = product();
          for (;;)
            if (accept("+"))
              a = program.apply(Operation::add, a, product());
            else if (accept("-"))
              a = program.apply(Operation::subtract, a, product());
            else
              return a;
        }

        unsigned int
        product()
        {
          unsigned int a = sign();
          for (;;)
            if (accept("*"))
              a = program.apply(Operation::multiply, a, sign());
            else if (accept("/"))
              a = program.apply(Operation::divide, a, sign());
            else
              return a;
        }

        // -x^2 is -(x^2); 2^-1 is allowed.
        unsigned int
        sign()
        {
          const Level level(*this);
          if (accept("-"))
            return program.apply(Operation::negate, sign());
          if (accept("+"))
            return sign();
          if (!begins("!=") && accept("!"))
            return program.apply(Operation::logical_not, sign());
          const unsigned int a = primary();
          if (accept("^") || accept("**"))
            return program.apply(Operation::power, a, sign());
          return a;
        }

        unsigned int
        primary()
        {
          if (accept("("))
            {
              const unsigned int a = condition();
              expect(")");
              return a;
            }
          if (at_end())
            fail("a number, a name or '(' is expected where the text ends");
          const char c = text[position];
          if (std::isdigit(static_cast<unsigned char>(c)) || c == '.')
            return literal();
          const std::size_t start = position;
          const std::string name  = word();
          if (name.empty())
            fail(std::string("'") + c + "' is unexpected");
          position += name.size();
          skip();
          if (accept("("))
            return call(name, start);
          position = start;
          return read(path());
        }

        unsigned int
        literal()
        {
          const std::size_t start  = position;
          const auto        digits = [&]() {
            while (!at_end() &&
                   std::isdigit(static_cast<unsigned char>(text[position])))
              ++position;
          };
          digits();
          if (begins("."))
            {
              ++position;
              digits();
            }
          if (begins("e") || begins("E"))
            {
              ++position;
              if (begins("+") || begins("-"))
                ++position;
              digits();
            }
          double             number = 0.;
          std::istringstream stream(text.substr(start, position - start));
          stream.imbue(std::locale::classic());
          stream >> number;
          if (stream.fail() || !stream.eof() ||
              (!at_end() && is_letter(text[position])))
            fail("a number is not correct", start);
          skip();
          return program.number(number);
        }

        // A function, behind its opening parenthesis.
        unsigned int
        call(const std::string &name, const std::size_t start)
        {
          std::vector<unsigned int> a;
          do
            a.push_back(condition());
          while (accept(","));
          expect(")");
          const auto check = [&](const std::size_t n) {
            if (a.size() != n)
              fail("the function " + name + " has " + std::to_string(n) +
                     (n == 1 ? " argument" : " arguments"),
                   start);
          };
          for (const char *extremum : {"min", "fmin", "minimum"})
            if (name == extremum)
              return extreme(Operation::minimum, a);
          for (const char *extremum : {"max", "fmax", "maximum"})
            if (name == extremum)
              return extreme(Operation::maximum, a);
          if (name == "pow" || name == "atan2")
            {
              check(2);
              return program.apply(name == "pow" ? Operation::power
                                                 : Operation::atan2,
                                   a[0],
                                   a[1]);
            }
          if (name == "if")
            {
              check(3);
              return program.apply(Operation::select, a[0], a[1], a[2]);
            }
          const std::pair<const char *, const char *> others[] = {
            {"abs", "fabs"}, {"ln", "log"}, {"int", "round"}};
          std::string known = name;
          for (const auto &other : others)
            if (name == other.first)
              known = other.second;
          if (PointwiseProgram::find_function(known) != nothing)
            {
              check(1);
              return program.apply(known, a[0]);
            }
          const auto quotient = [&](const unsigned int x,
                                    const unsigned int y) {
            check(1);
            return program.apply(Operation::divide, x, y);
          };
          const unsigned int one = PointwiseProgram::one;
          if (name == "log2")
            return quotient(program.apply("log", a[0]),
                            program.number(std::log(2.)));
          if (name == "log10")
            return quotient(program.apply("log", a[0]),
                            program.number(std::log(10.)));
          if (name == "cot")
            return quotient(one, program.apply("tan", a[0]));
          if (name == "sec")
            return quotient(one, program.apply("cos", a[0]));
          if (name == "csc")
            return quotient(one, program.apply("sin", a[0]));
          if (name == "sign")
            {
              check(1);
              const unsigned int zero = PointwiseProgram::zero;
              return program.apply(Operation::subtract,
                                   program.apply(Operation::less, zero, a[0]),
                                   program.apply(Operation::less, a[0], zero));
            }
          fail("there is no function '" + name + "'", start);
        }

        unsigned int
        extreme(const Operation operation, const std::vector<unsigned int> &a)
        {
          unsigned int result = a[0];
          for (std::size_t i = 1; i < a.size(); ++i)
            result = program.apply(operation, result, a[i]);
          return result;
        }
      };
    } // namespace



    std::map<unsigned int, unsigned int>
    parse_pointwise_text(const std::string        &text,
                         const PointwiseTextScope &scope,
                         PointwiseProgram         &program)
    {
      return StatementParser(text, scope, program).results();
    }
  } // namespace internal
} // namespace Tessella

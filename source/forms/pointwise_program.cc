// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "pointwise_program.h"

#include <deal.II/base/exceptions.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;
    using Operation = PointwiseProgram::Operation;

    namespace
    {
      // Largest number of operations of a text with its derivatives.
      constexpr std::size_t max_program_size = 1000000;

      const PointwiseProgram::Function functions[] = {
#define TESSELLA_FUNCTION(name, constant)                                  \
  {                                                                        \
#    name, [](const double x) -> double { return std::name(x); }, constant \
  }
        TESSELLA_FUNCTION(sin, false),   TESSELLA_FUNCTION(cos, false),
        TESSELLA_FUNCTION(tan, false),   TESSELLA_FUNCTION(asin, false),
        TESSELLA_FUNCTION(acos, false),  TESSELLA_FUNCTION(atan, false),
        TESSELLA_FUNCTION(sinh, false),  TESSELLA_FUNCTION(cosh, false),
        TESSELLA_FUNCTION(tanh, false),  TESSELLA_FUNCTION(asinh, false),
        TESSELLA_FUNCTION(acosh, false), TESSELLA_FUNCTION(atanh, false),
        TESSELLA_FUNCTION(exp, false),   TESSELLA_FUNCTION(log, false),
        TESSELLA_FUNCTION(sqrt, false),  TESSELLA_FUNCTION(cbrt, false),
        TESSELLA_FUNCTION(fabs, false),  TESSELLA_FUNCTION(erf, false),
        TESSELLA_FUNCTION(erfc, false),  TESSELLA_FUNCTION(floor, true),
        TESSELLA_FUNCTION(ceil, true),   TESSELLA_FUNCTION(rint, true),
        TESSELLA_FUNCTION(round, true)};
#undef TESSELLA_FUNCTION

      // Result of an operation with operands, except of a function.
      template <Operation operation>
      inline double
      result_of(const double a, const double b, const double c)
      {
        (void)b;
        (void)c;
        if constexpr (operation == Operation::negate)
          return -a;
        else if constexpr (operation == Operation::add)
          return a + b;
        else if constexpr (operation == Operation::subtract)
          return a - b;
        else if constexpr (operation == Operation::multiply)
          return a * b;
        else if constexpr (operation == Operation::divide)
          return a / b;
        else if constexpr (operation == Operation::times)
          return b == 0. ? 0. : a * b;
        else if constexpr (operation == Operation::power)
          return std::pow(a, b);
        else if constexpr (operation == Operation::atan2)
          return std::atan2(a, b);
        else if constexpr (operation == Operation::minimum)
          return a <= b || a != a ? a : b;
        else if constexpr (operation == Operation::maximum)
          return a >= b || a != a ? a : b;
        else if constexpr (operation == Operation::less)
          return a < b ? 1. : 0.;
        else if constexpr (operation == Operation::less_equal)
          return a <= b ? 1. : 0.;
        else if constexpr (operation == Operation::equal)
          return a == b ? 1. : 0.;
        else if constexpr (operation == Operation::not_equal)
          return a != b ? 1. : 0.;
        else if constexpr (operation == Operation::logical_and)
          return a != 0. && b != 0. ? 1. : 0.;
        else if constexpr (operation == Operation::logical_or)
          return a != 0. || b != 0. ? 1. : 0.;
        else if constexpr (operation == Operation::logical_not)
          return a == 0. ? 1. : 0.;
        else
          {
            static_assert(operation == Operation::select, "");
            return a != 0. ? b : c;
          }
      }

      // Calls work(operation) with the type of an operation of result_of().
      template <Operation operation>
      struct OperationType
      {
        static constexpr Operation value = operation;
      };
      template <typename Work>
      void
      for_operation(const Operation operation, const Work &work)
      {
#define TESSELLA_OPERATION(name)            \
  case Operation::name:                     \
    work(OperationType<Operation::name>()); \
    return;
        switch (operation)
          {
            TESSELLA_OPERATION(negate)
            TESSELLA_OPERATION(add)
            TESSELLA_OPERATION(subtract)
            TESSELLA_OPERATION(multiply)
            TESSELLA_OPERATION(divide)
            TESSELLA_OPERATION(times)
            TESSELLA_OPERATION(power)
            TESSELLA_OPERATION(atan2)
            TESSELLA_OPERATION(minimum)
            TESSELLA_OPERATION(maximum)
            TESSELLA_OPERATION(less)
            TESSELLA_OPERATION(less_equal)
            TESSELLA_OPERATION(equal)
            TESSELLA_OPERATION(not_equal)
            TESSELLA_OPERATION(logical_and)
            TESSELLA_OPERATION(logical_or)
            TESSELLA_OPERATION(logical_not)
            TESSELLA_OPERATION(select)
            case Operation::number:
            case Operation::input:
            case Operation::function:
              return;
          }
#undef TESSELLA_OPERATION
      }
    } // namespace



    unsigned int
    PointwiseProgram::find_function(const std::string &name)
    {
      for (unsigned int i = 0; i < sizeof(functions) / sizeof(Function); ++i)
        if (name == functions[i].name)
          return i;
      return static_cast<unsigned int>(-1);
    }



    const PointwiseProgram::Function &
    PointwiseProgram::function(const unsigned int index)
    {
      return functions[index];
    }



    unsigned int
    PointwiseProgram::n_operands(const Operation operation)
    {
      switch (operation)
        {
          case Operation::number:
          case Operation::input:
            return 0;
          case Operation::negate:
          case Operation::logical_not:
          case Operation::function:
            return 1;
          case Operation::select:
            return 3;
          default:
            return 2;
        }
    }



    void
    PointwiseProgram::operands(const Value &value, unsigned int (&result)[3])
    {
      const bool is_function = value.operation == Operation::function;
      result[0]              = is_function ? value.b : value.a;
      result[1]              = value.b;
      result[2]              = value.c;
    }



    double
    PointwiseProgram::compute(const Value &value,
                              const double a,
                              const double b,
                              const double c)
    {
      double result = value.number;
      if (value.operation == Operation::function)
        result = functions[value.a].value(a);
      else
        for_operation(value.operation, [&](const auto type) {
          result = result_of<decltype(type)::value>(a, b, c);
        });
      return result;
    }



    PointwiseProgram::PointwiseProgram()
    {
      number(0.);
      number(1.);
    }



    unsigned int
    PointwiseProgram::add(const Value &value)
    {
      unsigned long long bits = 0;
      std::memcpy(&bits, &value.number, sizeof(double));
      const Key  key(value.operation, value.a, value.b, value.c, bits);
      const auto found = known.find(key);
      if (found != known.end())
        return found->second;
      AssertThrow(list.size() < max_program_size,
                  ExcMessage("The terms of a PointwiseTextIntegrand have more "
                             "than a million operations with their "
                             "derivatives."));
      list.push_back(value);
      return known[key] = list.size() - 1;
    }



    unsigned int
    PointwiseProgram::number(const double x)
    {
      Value value;
      value.number = x;
      return add(value);
    }



    unsigned int
    PointwiseProgram::input(const Input &input)
    {
      const auto found = known_inputs.find(input);
      if (found != known_inputs.end())
        return found->second;
      Value value;
      value.operation = Operation::input;
      value.a         = present_inputs.size();
      present_inputs.push_back(input);
      return known_inputs[input] = add(value);
    }



    unsigned int
    PointwiseProgram::apply(const Operation    operation,
                            const unsigned int a,
                            const unsigned int b,
                            const unsigned int c)
    {
      Value value;
      value.operation      = operation;
      value.a              = a;
      value.b              = b;
      value.c              = c;
      const unsigned int n = n_operands(operation);
      unsigned int       from[3];
      operands(value, from);
      bool numbers = true;
      for (unsigned int i = 0; i < n; ++i)
        numbers = numbers && is_number(from[i]);
      const auto of = [&](const unsigned int i) {
        return i < n ? list[from[i]].number : 0.;
      };
      if (numbers)
        return number(compute(value, of(0), of(1), of(2)));
      switch (operation)
        {
          case Operation::add:
            if (a == zero)
              return b;
            if (b == zero)
              return a;
            break;
          case Operation::subtract:
            if (b == zero)
              return a;
            if (a == zero)
              return apply(Operation::negate, b);
            break;
          case Operation::multiply:
          case Operation::times:
            if (a == one)
              return b;
            if (b == one)
              return a;
            break;
          case Operation::divide:
            if (b == one)
              return a;
            break;
          case Operation::power:
            if (b == one)
              return a;
            if (is_number(b) && list[b].number == 2.)
              return apply(Operation::multiply, a, a);
            break;
          case Operation::select:
            if (is_number(a))
              return a != zero ? b : c;
            if (b == c)
              return b;
            break;
          default:
            break;
        }
      return add(value);
    }



    unsigned int
    PointwiseProgram::apply(const std::string &function, const unsigned int a)
    {
      return apply(Operation::function, find_function(function), a);
    }



    std::vector<bool>
    PointwiseProgram::needed(const std::vector<unsigned int> &results) const
    {
      std::vector<bool> result(list.size(), false);
      for (const unsigned int i : results)
        result[i] = true;
      for (std::size_t i = list.size(); i-- > 0;)
        if (result[i])
          {
            unsigned int from[3];
            operands(list[i], from);
            for (unsigned int j = 0; j < n_operands(list[i].operation); ++j)
              result[from[j]] = true;
          }
      return result;
    }



    std::vector<bool>
    PointwiseProgram::active() const
    {
      std::vector<bool> result(list.size(), false);
      for (std::size_t i = 0; i < list.size(); ++i)
        {
          const Value &value = list[i];
          unsigned int from[3];
          operands(value, from);
          switch (value.operation)
            {
              case Operation::input:
                result[i] = present_inputs[value.a].kind == Input::field;
                break;
              case Operation::less:
              case Operation::less_equal:
              case Operation::equal:
              case Operation::not_equal:
              case Operation::logical_and:
              case Operation::logical_or:
              case Operation::logical_not:
                break;
              case Operation::function:
                result[i] = !functions[value.a].constant && result[value.b];
                break;
              case Operation::select:
                result[i] = result[value.b] || result[value.c];
                break;
              default:
                for (unsigned int j = 0; j < n_operands(value.operation); ++j)
                  result[i] = result[i] || result[from[j]];
            }
        }
      return result;
    }



    std::vector<unsigned int>
    PointwiseProgram::differentiate(const std::map<Input, unsigned int> &seeds)
    {
      const std::size_t         n = list.size();
      std::vector<unsigned int> changes(n, zero);
      for (unsigned int i = 0; i < n; ++i)
        if (list[i].operation == Operation::input)
          {
            const auto seed = seeds.find(present_inputs[list[i].a]);
            if (seed != seeds.end())
              changes[i] = seed->second;
          }
        else
          changes[i] = derivative(i, changes);
      return changes;
    }



    unsigned int
    PointwiseProgram::derivative(const unsigned int               i,
                                 const std::vector<unsigned int> &changes)
    {
      // A copy, since the list grows.
      const Value        v = list[i];
      const unsigned int n = n_operands(v.operation);
      unsigned int       from[3];
      operands(v, from);
      unsigned int d[3] = {zero, zero, zero};
      bool         any  = false;
      for (unsigned int j = 0; j < n; ++j)
        {
          d[j] = changes[from[j]];
          any  = any ||
                (d[j] != zero && !(v.operation == Operation::select && j == 0));
        }
      if (!any)
        return zero;
      // Products with the number zero are zero.
      const auto product = [&](const unsigned int a, const unsigned int b) {
        return b == zero ? zero : apply(Operation::multiply, a, b);
      };
      const auto times = [&](const unsigned int a, const unsigned int b) {
        return b == zero ? zero : apply(Operation::times, a, b);
      };
      const unsigned int a = from[0], b = from[1];
      switch (v.operation)
        {
          case Operation::negate:
            return apply(Operation::negate, d[0]);
          case Operation::add:
          case Operation::subtract:
            return apply(v.operation, d[0], d[1]);
          case Operation::multiply:
            return apply(Operation::add, product(b, d[0]), product(a, d[1]));
          case Operation::times:
            return apply(Operation::add, times(b, d[0]), times(a, d[1]));
          case Operation::divide:
            return product(apply(Operation::divide, one, b),
                           apply(Operation::subtract, d[0], product(i, d[1])));
            case Operation::power: {
              const unsigned int less_one = apply(Operation::subtract, b, one);
              const unsigned int factor =
                apply(Operation::select,
                      apply(Operation::equal, b, zero),
                      zero,
                      apply(Operation::multiply,
                            b,
                            apply(Operation::power, a, less_one)));
              return apply(Operation::add,
                           times(factor, d[0]),
                           d[1] == zero ? zero
                                        : times(apply(Operation::multiply,
                                                      i,
                                                      apply("log", a)),
                                                d[1]));
            }
            case Operation::atan2: {
              const unsigned int r =
                apply(Operation::divide,
                      one,
                      apply(Operation::add,
                            apply(Operation::multiply, a, a),
                            apply(Operation::multiply, b, b)));
              return apply(Operation::subtract,
                           times(apply(Operation::multiply, b, r), d[0]),
                           times(apply(Operation::multiply, a, r), d[1]));
            }
          case Operation::minimum:
          case Operation::maximum:
            return apply(Operation::select,
                         apply(Operation::logical_or,
                               v.operation == Operation::minimum
                                 ? apply(Operation::less_equal, a, b)
                                 : apply(Operation::less_equal, b, a),
                               apply(Operation::not_equal, a, a)),
                         d[0],
                         d[1]);
          case Operation::select:
            return apply(Operation::select, a, d[1], d[2]);
          case Operation::function:
            return functions[v.a].constant
                     ? zero
                     : times(derivative_of_function(i), d[0]);
          default:
            return zero;
        }
    }



    // The derivative f'(x) of a value f(x).
    unsigned int
    PointwiseProgram::derivative_of_function(const unsigned int f)
    {
      const std::string  name = functions[list[f].a].name;
      const unsigned int x    = list[f].b;
      const auto         mul = [&](const unsigned int a, const unsigned int b) {
        return apply(Operation::multiply, a, b);
      };
      const auto add_one = [&](const unsigned int a) {
        return apply(Operation::add, a, one);
      };
      const auto one_minus = [&](const unsigned int a) {
        return apply(Operation::subtract, one, a);
      };
      const auto inverse = [&](const unsigned int a) {
        return apply(Operation::divide, one, a);
      };
      if (name == "sin")
        return apply("cos", x);
      if (name == "cos")
        return apply(Operation::negate, apply("sin", x));
      if (name == "tan")
        return add_one(mul(f, f));
      if (name == "asin")
        return inverse(apply("sqrt", one_minus(mul(x, x))));
      if (name == "acos")
        return apply(Operation::negate,
                     inverse(apply("sqrt", one_minus(mul(x, x)))));
      if (name == "atan")
        return inverse(add_one(mul(x, x)));
      if (name == "sinh")
        return apply("cosh", x);
      if (name == "cosh")
        return apply("sinh", x);
      if (name == "tanh")
        return one_minus(mul(f, f));
      if (name == "asinh")
        return inverse(apply("sqrt", add_one(mul(x, x))));
      if (name == "acosh")
        return inverse(
          apply("sqrt", apply(Operation::subtract, mul(x, x), one)));
      if (name == "atanh")
        return inverse(one_minus(mul(x, x)));
      if (name == "exp")
        return f;
      if (name == "log")
        return inverse(x);
      if (name == "sqrt")
        return apply(Operation::divide, number(0.5), f);
      if (name == "cbrt")
        return inverse(mul(number(3.), mul(f, f)));
      if (name == "fabs")
        return apply(Operation::select,
                     apply(Operation::less, zero, x),
                     one,
                     apply(Operation::select,
                           apply(Operation::less, x, zero),
                           number(-1.),
                           zero));
      Assert(name == "erf" || name == "erfc", ExcInternalError());
      return mul(number((name == "erf" ? 2. : -2.) / std::sqrt(numbers::PI)),
                 apply("exp", apply(Operation::negate, mul(x, x))));
    }



    // ---- evaluation

    PointwiseEvaluator::PointwiseEvaluator(
      const PointwiseProgram &program, const std::vector<unsigned int> &results)
      : inputs(program.inputs())
    {
      using Program                     = PointwiseProgram;
      const std::vector<bool>   needed  = program.needed(results);
      const auto               &values  = program.values();
      constexpr unsigned int    nowhere = static_cast<unsigned int>(-1);
      std::vector<unsigned int> last_use(values.size(), 0),
        step_of(values.size(), nowhere), register_of(values.size(), nowhere);
      for (unsigned int i = 0; i < values.size(); ++i)
        if (needed[i])
          {
            unsigned int from[3];
            Program::operands(values[i], from);
            for (unsigned int j = 0;
                 j < Program::n_operands(values[i].operation);
                 ++j)
              last_use[from[j]] = i;
          }
      // Numbers are set once, and results are read at the end: their registers
      // are not used again.
      for (unsigned int i = 0; i < values.size(); ++i)
        if (needed[i] && program.is_number(i))
          last_use[i] = nowhere;
      for (const unsigned int i : results)
        last_use[i] = nowhere;
      std::vector<unsigned int> free;
      for (unsigned int i = 0; i < values.size(); ++i)
        if (needed[i])
          {
            Step step;
            step.value = values[i];
            unsigned int from[3];
            Program::operands(values[i], from);
            for (unsigned int j = 0;
                 j < Program::n_operands(values[i].operation);
                 ++j)
              {
                step.from[j]  = register_of[from[j]];
                step.needs[j] = step_of[from[j]];
                if (last_use[from[j]] == i)
                  {
                    free.push_back(register_of[from[j]]);
                    last_use[from[j]] = nowhere; // an operand can occur twice
                  }
              }
            // An operation may overwrite its operands: each lane is read
            // before it is written.
            if (free.empty() || program.is_number(i))
              register_of[i] = n_registers++;
            else
              {
                register_of[i] = free.back();
                free.pop_back();
              }
            step.to    = register_of[i];
            step_of[i] = steps.size();
            steps.push_back(step);
          }
      for (const unsigned int i : results)
        {
          result_step.push_back(step_of[i]);
          result_register.push_back(register_of[i]);
        }
    }



    std::vector<bool>
    PointwiseEvaluator::wanted_steps(double *const *const results) const
    {
      std::vector<bool> wanted(steps.size(), false);
      for (std::size_t i = 0; i < result_step.size(); ++i)
        if (results[i] != nullptr)
          wanted[result_step[i]] = true;
      for (std::size_t i = steps.size(); i-- > 0;)
        if (wanted[i])
          for (unsigned int j = 0;
               j < PointwiseProgram::n_operands(steps[i].value.operation);
               ++j)
            wanted[steps[i].needs[j]] = true;
      return wanted;
    }



    void
    PointwiseEvaluator::carry_out(const Step &step, double *const registers)
    {
      const auto at = [&](const unsigned int index) {
        return registers + std::size_t(index) * n_lanes;
      };
      double *const       to = at(step.to);
      const double *const a = at(step.from[0]), *const b = at(step.from[1]),
                          *const c         = at(step.from[2]);
      const Operation            operation = step.value.operation;
      if (operation == Operation::number)
        std::fill(to, to + n_lanes, step.value.number);
      else if (operation == Operation::function)
        {
          const auto function = PointwiseProgram::function(step.value.a).value;
          for (unsigned int q = 0; q < n_lanes; ++q)
            to[q] = function(a[q]);
        }
      else
        for_operation(operation, [&](const auto type) {
          for (unsigned int q = 0; q < n_lanes; ++q)
            to[q] = result_of<decltype(type)::value>(a[q], b[q], c[q]);
        });
    }
  } // namespace internal
} // namespace Tessella

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "expression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "expression_program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    using namespace ExpressionProgram;

    namespace
    {
      // Replaces the last two entries of the stack, of which @p before is the
      // first one, by the result of a binary operation.
      inline void
      apply_binary(const unsigned int operation,
                   const unsigned int m,
                   double *const      before)
      {
        const double *const last  = before + batch_size;
        const auto          apply = [=](const auto &function) {
          for (unsigned int q = 0; q < m; ++q)
            before[q] = function(before[q], last[q]);
        };
        switch (operation)
          {
            case op_add:
              return apply([](double v, double w) { return v + w; });
            case op_subtract:
              return apply([](double v, double w) { return v - w; });
            case op_multiply:
              return apply([](double v, double w) { return v * w; });
            case op_divide:
              return apply([](double v, double w) { return v / w; });
            case op_power:
              return apply([](double v, double w) {
                return w == 2. ? v * v : std::pow(v, w);
              });
            case op_atan2:
              return apply([](double v, double w) { return std::atan2(v, w); });
            case op_min:
              return apply([](double v, double w) { return v <= w ? v : w; });
            case op_max:
              return apply([](double v, double w) { return v >= w ? v : w; });
            case op_mod:
              return apply([](double v, double w) { return std::fmod(v, w); });
            default:
              return apply([operation](double v, double w) {
                return compare(operation, v, w);
              });
          }
      }
    } // namespace

    Expression::Expression()
      : present_text("0")
      , program(1, {op_number, 0, 0.})
      , stack_size(1)
      , constant(true)
    {}

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
                        apply_binary(operation, m, before);
                        top = last;
                      }
                }
            }
          std::copy(stack, stack + m, result + begin);
        }
    }
  } // namespace Application
} // namespace Tessella

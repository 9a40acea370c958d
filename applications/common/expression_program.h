// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_expression_program_h
#define tessella_applications_common_expression_program_h

#include "expression.h"

namespace Tessella
{
  namespace Application
  {
    /// The instructions of a compiled expression, which the parser writes in
    /// postfix order, and what evaluates them.
    namespace ExpressionProgram
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

      /// Computes f, f' and f'' of a function of one variable.
      using UnaryDerivatives = void (*)(const double, double (&)[3]);

      struct UnaryFunction
      {
        const char *name;
        double (*value)(const double);
        UnaryDerivatives derivatives;
      };

      constexpr unsigned int     n_functions = 30;
      extern const UnaryFunction functions[n_functions];

      /// Number of points in a batch.
      constexpr unsigned int batch_size = 64;

      /// Value of a comparison or of a logical operation.
      inline double
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
    } // namespace ExpressionProgram
  }   // namespace Application
} // namespace Tessella

#endif

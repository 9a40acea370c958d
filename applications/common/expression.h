// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_expression_h
#define tessella_applications_common_expression_h

#include <deal.II/base/exceptions.h>
#include <deal.II/base/function.h>
#include <deal.II/base/symmetric_tensor.h>
#include <deal.II/base/tensor.h>
#include <deal.II/base/tensor_function.h>

#include <tessella/forms/device_function.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace Tessella
{
  namespace Application
  {
    /**
     * An arithmetic expression given as text, in the syntax of deal.II's
     * FunctionParser: numbers, variables, constants, + - * / ^ (or **), unary
     * minus, comparisons, && || !, "condition ? a : b", if(condition, a, b),
     * and the usual functions (sin, exp, sqrt, pow, atan2, erf, min, max, ...).
     *
     * Unlike FunctionParser it evaluates its first and second derivatives by
     * forward differentiation, exactly up to rounding. A study needs them for
     * the error in H1 and for the right-hand side that belongs to an exact
     * solution. Where an expression has a kink, the derivative is that of the
     * branch taken.
     *
     * Evaluation is const and thread-safe.
     */
    class Expression
    {
    public:
      /// The constant zero.
      Expression();

      /**
       * @param name origin of the text, for messages, e.g. "Equation/Source".
       * @param variables names in the order of the coordinates in calls of
       * value().
       */
      Expression(const std::string                   &name,
                 const std::string                   &text,
                 const std::vector<std::string>      &variables,
                 const std::map<std::string, double> &constants = {});

      /// Whether no variable occurs in the expression.
      bool
      is_constant() const
      {
        return constant;
      }

      /// Value at one point; @p x has one entry per variable.
      double
      value(const double *x) const;

      /// Values at @p n points; variable d of point q is x[d][q].
      void
      values(const unsigned int   n,
             const double *const *x,
             double              *result) const;

      /// Values, gradients and second derivatives at @p points; those whose
      /// pointers are null are not computed. The variables are the dim
      /// coordinates.
      template <int dim>
      void
      derivatives(const std::vector<dealii::Point<dim>> &points,
                  double                                *values,
                  dealii::Tensor<1, dim>                *gradients,
                  dealii::SymmetricTensor<2, dim>       *hessians) const;

      /// C++ code that computes the value on a CUDA device, with the given
      /// names for the variables, which may be of type double or Jet.
      std::string
      device_code(const std::vector<std::string> &variables) const;

      const std::string &
      name() const
      {
        return present_name;
      }
      const std::string &
      text() const
      {
        return present_text;
      }

      DeclException4(ExcSyntax,
                     std::string,
                     std::string,
                     std::string,
                     unsigned int,
                     << "The expression '" << arg1 << "' of " << arg2
                     << " does not parse: " << arg3 << " at character " << arg4
                     << ".");
      DeclException4(ExcNotFinite,
                     std::string,
                     std::string,
                     double,
                     std::string,
                     << "The expression '" << arg1 << "' of " << arg2 << " is "
                     << arg3 << " at the point (" << arg4
                     << "); it must be finite in the whole domain.");

      /// One instruction of the compiled expression: operation and operand.
      struct Instruction
      {
        unsigned short operation;
        unsigned short variable;
        double         number;
      };

    private:
      std::string              present_name, present_text;
      std::vector<Instruction> program;
      unsigned int             stack_size;
      bool                     constant;
    };

    /// Splits @p text at each @p separator outside of parentheses, and trims
    /// the parts.
    std::vector<std::string>
    split(const std::string &text, const char separator);

    /// Parses "a = 1, b = 2*a": every value may use the constants before it. pi
    /// and e are always defined.
    std::map<std::string, double>
    parse_constants(const std::string &name, const std::string &text);

    /// The first @p dim of the names x, y, z; the fourth name is t.
    std::vector<std::string>
    coordinate_names(const int dim);

    /// Whether no variable occurs in any of these expressions.
    bool
    is_constant(const std::vector<Expression> &expressions);

    /// Code for a CUDA device of functions whose components are expressions of
    /// the coordinates.
    template <int dim>
    class ExpressionCode : public DeviceFunction
    {
    public:
      explicit ExpressionCode(const std::vector<Expression> &components);

      std::string
      device_code(const unsigned int component) const override;
      std::string
      origin(const unsigned int component) const override;
      [[noreturn]] void
      throw_not_finite(const unsigned int component,
                       const double       value,
                       const double      *x) const override;

    protected:
      const std::vector<Expression> components;
    };

    /// deal.II function whose components are expressions of the coordinates.
    /// Values that are not finite throw Expression::ExcNotFinite. Forms compile
    /// the expressions for a CUDA device.
    template <int dim>
    class ExpressionFunction : public dealii::Function<dim>,
                               public ExpressionCode<dim>
    {
    public:
      explicit ExpressionFunction(const std::vector<Expression> &components);

      double
      value(const dealii::Point<dim> &p,
            const unsigned int        component = 0) const override;
      void
      value_list(const std::vector<dealii::Point<dim>> &points,
                 std::vector<double>                   &values,
                 const unsigned int component = 0) const override;
      dealii::Tensor<1, dim>
      gradient(const dealii::Point<dim> &p,
               const unsigned int        component = 0) const override;
      void
      gradient_list(const std::vector<dealii::Point<dim>> &points,
                    std::vector<dealii::Tensor<1, dim>>   &gradients,
                    const unsigned int component = 0) const override;
    };

    /// Tensor-valued function of dim * dim expressions, row by row.
    template <int dim>
    class ExpressionTensorFunction : public dealii::TensorFunction<2, dim>,
                                     public ExpressionCode<dim>
    {
    public:
      explicit ExpressionTensorFunction(
        const std::vector<Expression> &components);

      dealii::Tensor<2, dim>
      value(const dealii::Point<dim> &p) const override;
      void
      value_list(const std::vector<dealii::Point<dim>> &points,
                 std::vector<dealii::Tensor<2, dim>>   &values) const override;

    private:
      bool same_as_transposed[dim * dim];
    };
  } // namespace Application
} // namespace Tessella

#endif
